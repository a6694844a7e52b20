//! Reading nodes as what they should be. Each reader says what it expected and what it found, once.

use super::problem::{Problem, Sink};
use super::scalar::{is_text, resolve};
use super::source::Span;
use super::tree::{Entry, Kind, Node};
use crate::name::Name;
use crate::suggest::shown;
use crate::time::Millis;
use serde_json::Value;
use std::ops::RangeInclusive;

/// The keys a map may have.
pub(super) struct Keys {
    /// Whose they are, for messages: `a task`.
    pub(super) owner: &'static str,
    /// All that are understood.
    pub(super) known: &'static [&'static str],
    /// Keys that are known, but belong elsewhere, with where that is.
    pub(super) elsewhere: &'static [(&'static str, &'static str)],
}

/// A map whose keys were checked.
pub(super) struct Fields<'n, 'a> {
    entries: &'n [Entry<'a>],
}

impl<'n, 'a> Fields<'n, 'a> {
    /// Checks the keys of a map; `None` if it is no map.
    pub(super) fn read(node: &'n Node<'a>, what: &str, keys: &Keys, sink: &mut Sink<'_>) -> Option<Self> {
        let entries = map(node, what, sink)?;
        for entry in entries.iter().filter(|e| !keys.known.contains(&&*e.key)) {
            if sink.only_counts() {
                continue;
            }
            let key = &*entry.key;
            if let Some((_, place)) = keys.elsewhere.iter().find(|(known, _)| *known == key) {
                let message = format!("`{key}` does not belong to {}", keys.owner);
                sink.error(entry.at, "misplaced_key", message).help(Some((*place).to_owned()));
                continue;
            }
            let help = sink.meant(key, keys.known.iter().copied()).unwrap_or_else(|| {
                let known: Vec<String> = keys.known.iter().map(|k| format!("`{k}`")).collect();
                format!("{} can have {}", keys.owner, known.join(", "))
            });
            sink.error(entry.at, "unknown_key", format!("{} has no key {}", keys.owner, shown(key))).help(help);
        }
        Some(Self { entries })
    }

    /// The same for an entry: `what` and its key say in messages what it is.
    pub(super) fn of(entry: &'n Entry<'a>, what: &str, keys: &Keys, sink: &mut Sink<'_>) -> Option<Self> {
        match &entry.value.kind {
            Kind::Map(_) => Self::read(&entry.value, what, keys, sink),
            _ => Self::read(&entry.value, &format!("{what} {}", shown(&entry.key)), keys, sink),
        }
    }

    /// The entry of a key, if it is there.
    pub(super) fn entry(&self, key: &str) -> Option<&'n Entry<'a>> {
        self.entries.iter().find(|e| e.key == key)
    }

    /// The value of a key, if it is there.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node<'a>> {
        self.entry(key).map(|e| &e.value)
    }
}

/// Says that something else was expected.
pub(super) fn wrong<'s>(node: &Node<'_>, what: &str, expected: &str, sink: &'s mut Sink<'_>) -> &'s mut Problem {
    sink.error(node.span, "wrong_type", format!("{what} expects {expected}, found {}", found(node)))
}

fn found(node: &Node<'_>) -> String {
    let (text, style) = match &node.kind {
        Kind::List(_) => return "a list".into(),
        Kind::Map(_) => return "a map".into(),
        Kind::Scalar(text, style) => (text, *style),
    };
    match resolve(text, style) {
        Ok(Value::Null) => "nothing".into(),
        Ok(Value::Bool(_)) => shown(text),
        Ok(Value::String(_)) => format!("the text {}", shown(text)),
        _ => format!("the number {}", shown(text)),
    }
}

/// A map.
pub(super) fn map<'n, 'a>(node: &'n Node<'a>, what: &str, sink: &mut Sink<'_>) -> Option<&'n [Entry<'a>]> {
    match &node.kind {
        Kind::Map(entries) => Some(entries),
        _ => {
            wrong(node, what, "a map", sink);
            None
        }
    }
}

/// A text. A number or boolean is not one: what is printed would not be what was written.
pub(super) fn text<'n>(node: &'n Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<&'n str> {
    match &node.kind {
        Kind::Scalar(text, style) if is_text(text, *style) => return Some(text),
        Kind::Scalar(text, style) => match resolve(text, *style) {
            Ok(Value::Null) => drop(wrong(node, what, "a text", sink)),
            _ => wrong(node, what, "a text", sink).help(Some(format!("put quotes around it: '{text}'"))),
        },
        _ => drop(wrong(node, what, "a text", sink)),
    }
    None
}

/// A whole number in a range.
pub(super) fn whole(node: &Node<'_>, what: &str, range: RangeInclusive<u64>, sink: &mut Sink<'_>) -> Option<u64> {
    let number = match &node.kind {
        Kind::Scalar(text, style) => resolve(text, *style).ok().and_then(|v| v.as_u64()),
        _ => None,
    };
    let within = number.filter(|n| range.contains(n));
    if within.is_none() {
        wrong(node, what, &format!("a whole number from {} to {}", range.start(), range.end()), sink);
    }
    within
}

/// `true` or `false`.
pub(super) fn flag(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<bool> {
    let flag = match &node.kind {
        Kind::Scalar(text, style) => resolve(text, *style).ok().and_then(|v| v.as_bool()),
        _ => None,
    };
    if flag.is_none() {
        wrong(node, what, "`true` or `false`", sink);
    }
    flag
}

/// One of a few words.
pub(super) fn choice<T: Copy>(
    node: &Node<'_>,
    what: &str,
    words: &[(&'static str, T)],
    sink: &mut Sink<'_>,
) -> Option<T> {
    if let Kind::Scalar(text, _) = &node.kind {
        if let Some((_, value)) = words.iter().find(|(word, _)| word == text) {
            return Some(*value);
        }
        let help = sink.meant(text, words.iter().map(|(word, _)| *word));
        let message = format!("{what} expects {}, found {}", one_of(words), found(node));
        sink.error(node.span, "bad_value", message).help(help);
        return None;
    }
    wrong(node, what, &one_of(words), sink);
    None
}

fn one_of<T>(words: &[(&'static str, T)]) -> String {
    let quoted: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A duration such as `5m`.
pub(super) fn duration(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Millis> {
    let Kind::Scalar(text, style) = &node.kind else {
        wrong(node, what, "a duration such as `30s` or `5m`", sink);
        return None;
    };
    match Millis::parse(text) {
        Ok(span) => Some(span),
        Err(_) if matches!(resolve(text, *style), Ok(Value::Number(_) | Value::Null)) => {
            let number = text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty();
            let help = number.then(|| format!("give it a unit: `{text}s`, `{text}m` or `{text}h`"));
            wrong(node, what, "a duration such as `30s` or `5m`", sink).help(help);
            None
        }
        Err(_) if text.len() > 100 => {
            wrong(node, what, "a duration such as `30s` or `5m`", sink);
            None
        }
        Err(error) => {
            sink.error(node.span, error.code, format!("{what}: {}", error.message));
            None
        }
    }
}

/// A duration that is not zero.
pub(super) fn some_time(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Millis> {
    let span = duration(node, what, sink)?;
    if span.0 == 0 {
        let message = format!("{what} must be longer than zero");
        sink.error(node.span, "bad_duration", message).help(Some("leave it out for no bound".into()));
        return None;
    }
    Some(span)
}

/// A name of a flow, task, action or person.
pub(super) fn name(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Name> {
    parse_name(text(node, what, sink)?, node.span, sink)
}

/// A text that must be a name.
pub(super) fn parse_name(text: &str, span: Span, sink: &mut Sink<'_>) -> Option<Name> {
    sink.accept(Name::parse(text), span)
}

/// A list.
pub(super) fn list<'n, 'a>(
    node: &'n Node<'a>,
    what: &str,
    expected: &str,
    sink: &mut Sink<'_>,
) -> Option<&'n [Node<'a>]> {
    match &node.kind {
        Kind::List(list) => Some(list),
        _ => {
            wrong(node, what, expected, sink);
            None
        }
    }
}
