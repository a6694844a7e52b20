//! The `inputs` of a flow: what whoever starts it must or may give.

use super::problem::Sink;
use super::read::{Fields, Keys, choice, flag, list, map, parse_name, text};
use super::scalar::literal;
use super::tree::{Entry, Node};
use crate::input::{Input, InputType};
use crate::limits;
use crate::pattern::Pattern;
use crate::suggest::shown;
use std::collections::BTreeSet;

pub(super) const INPUT: Keys =
    Keys { owner: "an input", known: &["type", "required", "default", "pattern", "description"], elsewhere: &[] };

pub(super) fn inputs(node: &Node<'_>, sink: &mut Sink<'_>) -> Vec<Input> {
    let entries = map(node, "`inputs`", sink).unwrap_or_default();
    entries.iter().filter_map(|entry| input(entry, sink)).collect()
}

/// Whether a secret can be called so.
pub(crate) fn is_secret(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && (1..=limits::NAME_BYTES).contains(&name.len())
}

/// The names of secrets: letters, digits and `_`, because the environment has them.
pub(super) fn secrets<'n>(node: &'n Node<'_>, sink: &mut Sink<'_>) -> BTreeSet<&'n str> {
    let mut names = BTreeSet::new();
    for node in list(node, "`secrets`", "a list of names", sink).unwrap_or_default() {
        let Some(name) = text(node, "a secret", sink) else { continue };
        if !is_secret(name) {
            let message = format!("{} cannot be the name of a secret", shown(name));
            sink.error(node.span, "bad_name", message).help(Some("use letters, digits and `_`".into()));
        } else if !names.insert(name) {
            sink.error(node.span, "duplicate_name", format!("the secret `{name}` is declared twice"));
        }
    }
    names
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
    let pattern = fields.get("pattern").and_then(|n| pattern(n, kind, sink));
    let input = Input { name: name?, kind: kind?, required, default, pattern, description };
    if let (Some(why), Some(node)) =
        (input.default.as_ref().and_then(|value| input.misfit(value)), fields.get("default"))
    {
        sink.error(node.span, "bad_default", why);
    }
    Some(input)
}

/// What a text must fit.
fn pattern(node: &Node<'_>, kind: Option<InputType>, sink: &mut Sink<'_>) -> Option<String> {
    let text = text(node, "`pattern`", sink)?;
    if kind.is_some_and(|kind| kind != InputType::String) {
        let message = "only a text can fit a pattern";
        sink.error(node.span, "misplaced_key", message).help(Some("add `type: string`, or remove `pattern`".into()));
        return None;
    }
    if let Err(why) = Pattern::parse(text) {
        let help = "patterns are written as in RE2; put them in single quotes";
        sink.error(node.span, "bad_pattern", format!("{} is no pattern: {why}", shown(text))).help(Some(help.into()));
        return None;
    }
    Some(text.to_owned())
}
