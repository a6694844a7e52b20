//! Values for expressions to name, and helpers that evaluate them.

use edgewise_core::event::Failure;
use edgewise_core::expr::{Expr, Fault, Hyphens, parse};
use edgewise_core::template::{Root, Values};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Values by name; a name may have dots in it. They are lent or given away, which must make no difference.
pub struct Named {
    names: Vec<(String, Value)>,
    pub lend: bool,
}

impl Named {
    pub fn new(names: Map<String, Value>) -> Self {
        Self { names: names.into_iter().collect(), lend: true }
    }

    /// The number of a name, which is its node.
    pub fn number(&self, name: &str) -> u32 {
        self.names.iter().position(|(known, _)| known == name).unwrap_or_else(|| panic!("{name}")) as u32
    }

    /// Binds as many segments as a name has; what is not there is refused.
    pub fn bind(&self, text: &str) -> Result<Expr, Vec<Fault>> {
        parse(text, Hyphens::Refused)?.bind(&mut |path, span| {
            let find = |count: usize| self.names.iter().position(|(name, _)| *name == path[..count].join("."));
            let found = (1..=path.len()).rev().find_map(|count| find(count).map(|node| (count, node as u32)));
            let found = found.map(|(count, node)| (count, Root::Output { up: 0, node }));
            found.ok_or_else(|| Fault::new(span, "unknown_reference", format!("`{}` names nothing", path.join("."))))
        })
    }
}

impl<'v> Values<'v> for &'v Named {
    fn value(&self, root: &Root) -> Option<Cow<'v, Value>> {
        let Root::Output { node, .. } = root else { return None };
        let (_, value) = &self.names[*node as usize];
        Some(if self.lend { Cow::Borrowed(value) } else { Cow::Owned(value.clone()) })
    }
}

/// What an expression comes to, lent and given away, before and after it was stored.
pub fn eval(text: &str, names: &Value) -> Result<Value, Failure> {
    let mut named = Named::new(names.as_object().cloned().unwrap_or_default());
    let expr = named.bind(text).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let stored = serde_json::to_string(&expr).unwrap();
    let loaded: Expr = serde_json::from_str(&stored).unwrap_or_else(|e| panic!("{text} as {stored}: {e}"));
    assert_eq!(expr, loaded, "{text}");
    assert_eq!(serde_json::to_string(&loaded).unwrap(), stored, "{text}");
    let found = expr.eval(&&named).map(Cow::into_owned);
    assert_eq!(found, loaded.eval(&&named).map(Cow::into_owned), "{text}");
    named.lend = false;
    assert_eq!(found, expr.eval(&&named).map(Cow::into_owned), "{text}");
    found
}
