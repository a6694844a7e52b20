//! Whether a task is wanted: its own `when`, over what is known of the values that it names, which is how long lists are.

use super::Ends;
use edgewise_core::plan::Resolution::Success;
use edgewise_core::template::{Root, Values};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Lists of nothing, as long as those that the run has.
struct Known {
    input: Option<usize>,
    outputs: Vec<Option<usize>>,
}

fn list(len: usize) -> Value {
    Value::Array(vec![Value::Null; len])
}

impl<'v> Values<'v> for Known {
    fn value(&self, root: &Root) -> Option<Cow<'v, Value>> {
        let value = match root {
            Root::Input => self.input.map_or_else(|| json!({}), |len| json!({ "list": list(len) })),
            Root::Output { node, .. } => self.outputs[*node as usize].map_or(Value::Null, list),
            _ => return None,
        };
        Some(Cow::Owned(value))
    }
}

impl Ends<'_> {
    /// Asked once, when its in-edges allow it; nothing if what it says is neither true nor false.
    pub(super) fn is_wanted(&self, n: usize, beside: &[usize]) -> Option<bool> {
        let Some(when) = &self.plan.spec(self.nodes[n].region, self.nodes[n].node).when else { return Some(true) };
        let output = |n: &usize| self.nodes[*n].items.filter(|_| self.nodes[*n].end == Some(Success));
        let known = Known { input: self.input, outputs: beside.iter().map(output).collect() };
        when.eval(&known).ok()?.as_bool()
    }
}
