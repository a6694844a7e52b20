//! What expressions come to, and what statements make of values that are not what they need.

use super::{Env, Exit, Ran, fail, mismatch};
use edgewise_core::limits;
use edgewise_core::template::{Root, Values};
use edgewise_core::text::tree::Expr;
use edgewise_core::time::Millis;
use serde_json::Value;
use std::borrow::Cow;

/// Values and letters in one list that was gathered, at most.
const GATHERED: usize = 20_000;

/// The names of an expression, numbered, and what they are.
struct Seen<'e> {
    names: Vec<String>,
    env: &'e Env,
}

impl<'e> Values<'e> for Seen<'e> {
    fn value(&self, root: &Root) -> Option<Cow<'e, Value>> {
        let Root::Var(number) = root else { return None };
        self.env.get(&self.names[*number as usize]).map(Cow::Borrowed)
    }
}

pub(super) fn eval(expr: &Expr, env: &Env) -> Ran<Value> {
    let mut names: Vec<String> = Vec::new();
    let bound = expr.ast.clone().bind(&mut |path, _| {
        let known = names.iter().position(|name| name == path[0]).unwrap_or_else(|| {
            names.push(path[0].to_owned());
            names.len() - 1
        });
        Ok((1, Root::Var(known as u32)))
    });
    let Ok(bound) = bound else { unreachable!("every name is bound") };
    let value = bound.eval(&Seen { names, env }).map(Cow::into_owned);
    value.or_else(fail)
}

pub(super) fn holds(condition: &Expr, env: &Env) -> Ran<bool> {
    let found = eval(condition, env)?;
    let Some(holds) = found.as_bool() else {
        return mismatch(format!("a condition is true or false, but `{}` is {}", condition.ast, kind(&found)));
    };
    Ok(holds)
}

pub(super) fn items(list: &Expr, env: &Env) -> Ran<Vec<Value>> {
    match eval(list, env)? {
        Value::Array(items) => Ok(items),
        other => mismatch(format!("a list is needed to go over, but `{}` is {}", list.ast, kind(&other))),
    }
}

pub(super) fn slept(span: &Expr, found: &Value) -> Ran<()> {
    let millis = match found {
        Value::Number(seconds) => seconds.as_f64().map(|s| s * 1_000.0).filter(|ms| *ms >= 0.0).map(|ms| ms as u64),
        Value::String(text) => Millis::parse(text).ok().map(|span| span.0),
        _ => None,
    };
    if millis.is_some_and(|ms| ms <= limits::DURATION_MS) {
        return Ok(());
    }
    let found = match found {
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("`{text}`"),
        other => kind(other).to_owned(),
    };
    let most = Millis(limits::DURATION_MS);
    let takes = format!("`sleep` takes seconds or a duration such as \"5m\", at most {most} of them");
    mismatch(format!("{takes}, but `{}` is {found}", span.ast))
}

/// What was gathered, if it is of a size that can be gathered again a few times.
pub(super) fn bounded(value: Value) -> Ran<Value> {
    fn fits(value: &Value, depth: usize, left: &mut usize) -> bool {
        let own = if let Value::String(text) = value { text.len() } else { 1 };
        let Some(room) = left.checked_sub(own) else { return false };
        *left = room;
        match value {
            Value::Array(list) => depth > 0 && list.iter().all(|item| fits(item, depth - 1, left)),
            Value::Object(map) => depth > 0 && map.values().all(|item| fits(item, depth - 1, left)),
            _ => true,
        }
    }
    let mut left = GATHERED;
    if fits(&value, limits::DEPTH, &mut left) { Ok(value) } else { Err(Exit::Endless) }
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
