//! The `inputs` of a flow: what whoever starts it must or may give.

use super::problem::Sink;
use super::read::{Fields, Keys, choice, flag, map, parse_name, text};
use super::scalar::literal;
use super::tree::{Entry, Node};
use crate::input::{Input, InputType};
use crate::suggest::shown;

pub(super) const INPUT: Keys = Keys {
    owner: "an input",
    known: &["type", "required", "default", "description"],
    later: &[("pattern", "check the value in the first task for now")],
};

pub(super) fn inputs(node: &Node<'_>, sink: &mut Sink<'_>) -> Vec<Input> {
    let entries = map(node, "`inputs`", sink).unwrap_or_default();
    entries.iter().filter_map(|entry| input(entry, sink)).collect()
}

fn input(entry: &Entry<'_>, sink: &mut Sink<'_>) -> Option<Input> {
    let name = parse_name(&entry.key, entry.at, sink);
    let fields = Fields::of(entry, "input", &INPUT, sink)?;
    let kind = fields.get("type").map_or(Some(InputType::Any), |n| choice(n, "`type`", &InputType::ALL, sink));
    let description = fields.get("description").and_then(|n| text(n, "`description`", sink)).map(str::to_owned);
    let default = fields.get("default").map(|n| literal(n, sink));
    if let (Some(value), Some(kind), Some(node)) = (&default, kind, fields.get("default"))
        && !kind.holds(value)
        && !value.is_null()
    {
        let message =
            format!("the default of {} is {}, which is no {kind}", shown(&entry.key), shown(&value.to_string()));
        sink.error(node.span, "bad_default", message);
    }
    let mut required = default.is_none();
    if let Some(entry) = fields.entry("required") {
        required = flag(&entry.value, "`required`", sink).unwrap_or(required);
        if required && default.is_some() {
            let message = "an input with a default is never missing, so it cannot be required";
            sink.error(entry.at, "bad_default", message).help(Some("remove `required` or `default`".into()));
        }
    }
    let default = default.filter(|value| !value.is_null());
    Some(Input { name: name?, kind: kind?, required, default, description })
}
