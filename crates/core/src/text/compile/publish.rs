//! `[publish: "order.shipped"]` behind a flow or a call, or a list of such names and of maps as `publish:` has in YAML.
//!
//! Everything in it is known beforehand: when a task is told of, its program has gone on, and a variable may be another.

use super::{error, say_all};
use crate::expr;
use crate::flow::problem::Sink;
use crate::limits;
use crate::name::Name;
use crate::plan::{Condition, Delivery, Publish};
use crate::suggest::{nearest, shown};
use crate::template::Template;
use crate::text::tree::Expr;
use serde_json::{Map, Value};

const KEYS: [&str; 4] = ["name", "condition", "delivery", "payload"];

const EXAMPLE: &str = "such as `publish: [\"loaded\", {\"name\": \"load.failed\", \"condition\": \"failure\"}]`";

/// What is told when a task or a run ends; nothing, and what is wrong is said, if it cannot be read.
pub(super) fn publish(given: &Expr, of_flow: bool, sink: &mut Sink<'_>) -> Option<Vec<Publish>> {
    let mut none = |_: &[&str], span: expr::Span| {
        let fault = expr::Fault::new(span, "not_constant", "what is published is known beforehand, names in quotes");
        Err(fault.help("tell what is computed with `@emit(name=\"loaded\", payload=…)` behind the call"))
    };
    let bound = given.ast.clone().bind(&mut none).map_err(|faults| say_all(sink, given.at, faults)).ok()?;
    let entries = match bound.constant() {
        Some(Ok(Value::Array(entries))) => entries,
        Some(Ok(one)) => vec![one],
        _ => return refuse(given, "bad_value", "`publish` is a list of domain events".into(), Some(EXAMPLE), sink),
    };
    if entries.len() > limits::PUBLISHED {
        let message =
            format!("{} domain events are published, at most {} are allowed", entries.len(), limits::PUBLISHED);
        return refuse(given, "too_many_events", message, None, sink);
    }
    let mut found: Vec<Publish> = Vec::new();
    for entry in entries {
        let one = event(entry, given, sink)?;
        if of_flow && one.condition == Condition::RetryableFailure {
            let message = "a run has no further attempt, so it never ends with `retryable_failure`";
            let help = "use `failure` here, or publish it behind a call";
            return refuse(given, "bad_condition", message.into(), Some(help), sink);
        }
        // The name is part of the id, so that two of one name would be taken for the same event.
        if found.iter().any(|other| other.name == one.name) {
            let message = format!("the domain event `{}` is published twice", one.name);
            return refuse(given, "duplicate_name", message, Some("give one of them another name"), sink);
        }
        found.push(one);
    }
    Some(found)
}

/// A name stands for an event that is told on success.
fn event(entry: Value, given: &Expr, sink: &mut Sink<'_>) -> Option<Publish> {
    let mut fields = match entry {
        Value::String(name) => Map::from_iter([("name".to_owned(), Value::String(name))]),
        Value::Object(fields) => fields,
        other => {
            let message = format!("a domain event is a name or a map, not {}", shown(&other.to_string()));
            return refuse(given, "bad_value", message, Some(EXAMPLE), sink);
        }
    };
    if let Some(other) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let help = nearest(other, KEYS).map(|near| format!("did you mean {}?", shown(near)));
        let help = help.unwrap_or_else(|| "it has `name`, `condition`, `delivery` and `payload`".into());
        let message = format!("an entry of `publish` has no key {}", shown(other));
        return refuse(given, "unknown_key", message, Some(&help), sink);
    }
    let name = match fields.get("name").and_then(Value::as_str).map(Name::parse) {
        Some(Ok(name)) => name,
        Some(Err(wrong)) => return refuse(given, wrong.code, wrong.message, None, sink),
        None => return refuse(given, "missing_key", "an entry of `publish` has no `name`".into(), Some(EXAMPLE), sink),
    };
    let condition = word(fields.get("condition"), "condition", &Condition::ALL, given, sink)?;
    let delivery = word(fields.get("delivery"), "delivery", &Delivery::ALL, given, sink)?;
    Some(Publish { name, condition, delivery, payload: fields.remove("payload").map(Template::Value) })
}

fn word<T: Copy + Default>(
    value: Option<&Value>,
    key: &str,
    words: &[(&str, T)],
    given: &Expr,
    sink: &mut Sink<'_>,
) -> Option<T> {
    let Some(value) = value else { return Some(T::default()) };
    if let Some((_, known)) = words.iter().find(|(word, _)| Some(*word) == value.as_str()) {
        return Some(*known);
    }
    let all: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    let message = format!("`{key}` is one of {}, not {}", all.join(", "), shown(&value.to_string()));
    refuse(given, "bad_value", message, None, sink)
}

fn refuse<T>(given: &Expr, code: &'static str, message: String, help: Option<&str>, sink: &mut Sink<'_>) -> Option<T> {
    error(sink, given.at, code, message).help(help.map(str::to_owned));
    None
}
