//! What spreads and parallels come to, and how much of it can be kept.
//!
//! A value that is stored must be readable again, which what is nested too deep is not; and a program that gathers what it
//! has gathered before doubles it with every round.

use super::{Run, Scope};
use crate::event::{Failure, TaskIx};
use crate::expr::EVAL_ERROR;
use crate::limits;
use serde_json::{Value, json};

impl Run {
    /// The list a spread comes to: outputs in the order of the items; what failed stands there as its error.
    pub(crate) fn gather(&self, spread: TaskIx) -> Result<Value, Failure> {
        let Some(state) = self.composites.get(&spread) else { return Ok(Value::Null) };
        // A graph gathers only what workers made; a program may gather the same again and again.
        let mut left = if self.in_chain(spread) { limits::EVAL_BYTES } else { usize::MAX };
        let mut list = Vec::new();
        for number in state.scopes() {
            let one = self.gathered(&self.scopes[number as usize]);
            if self.rules() >= 2 {
                fits(&one, limits::FILLED_DEPTH - 1, &mut left)?;
            }
            list.push(one);
        }
        Ok(Value::Array(list))
    }

    /// What one scope of a spread comes to.
    fn gathered(&self, scope: &Scope) -> Value {
        if self.region_of(scope).len() > 1 {
            return self.sinks(scope);
        }
        let task = TaskIx(scope.task);
        match self.failure_of(task) {
            Some(failure) => json!({ "error": crate::rule::as_value(failure) }),
            None => self.output(task).clone(),
        }
    }
}

/// Whether a value that was put together can be stored: it is not nested too deep.
pub(super) fn is_readable(value: &Value) -> Result<(), Failure> {
    let mut left = usize::MAX;
    fits(value, limits::FILLED_DEPTH, &mut left)
}

/// Takes what a value needs off what is left.
fn fits(value: &Value, depth: usize, left: &mut usize) -> Result<(), Failure> {
    let within =
        || depth.checked_sub(1).ok_or_else(|| exhausted("nested deeper than the", limits::FILLED_DEPTH, "levels"));
    let own = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(list) => {
            let depth = within()?;
            list.iter().try_for_each(|item| fits(item, depth, left))?;
            0
        }
        Value::Object(map) => {
            let depth = within()?;
            map.values().try_for_each(|item| fits(item, depth, left))?;
            map.keys().map(|key| key.len() + size_of::<String>()).sum()
        }
    };
    let room = left.checked_sub(own + size_of::<Value>());
    *left = room.ok_or_else(|| exhausted("larger than the", limits::EVAL_BYTES, "bytes"))?;
    Ok(())
}

fn exhausted(what: &str, most: usize, unit: &str) -> Failure {
    let message = format!("what was put together is {what} {most} {unit} allowed");
    Failure { is: vec![EVAL_ERROR.into()], ..Failure::permanent("BudgetExhausted", message) }
}
