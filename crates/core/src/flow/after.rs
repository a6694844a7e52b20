//! `after` and `join`: which tasks a task waits for, and which of their ends it accepts.

use super::problem::Sink;
use super::read::{choice, whole, wrong};
use super::reference::Names;
use super::source::Span;
use super::tree::{Kind, Node};
use crate::limits;
use crate::plan::{Accepts, Join, Resolution};
use crate::suggest::shown;

pub(super) const ENDS: [(&str, Accepts); 5] = [
    ("ok", Accepts::SUCCESS),
    ("failed", Accepts::of(Resolution::Failed)),
    ("skipped", Accepts::of(Resolution::Skipped)),
    ("cancelled", Accepts::of(Resolution::Cancelled)),
    ("done", Accepts::DONE),
];

/// Words that other tools use for these ends.
const SYNONYMS: [(&str, &str); 8] = [
    ("success", "ok"),
    ("succeeded", "ok"),
    ("complete", "ok"),
    ("failure", "failed"),
    ("error", "failed"),
    ("canceled", "cancelled"),
    ("always", "done"),
    ("any", "done"),
];

/// The edges an `after` asks for: upstream node and what is accepted.
pub(super) fn after(node: &Node<'_>, me: u32, names: &Names<'_>, sink: &mut Sink<'_>) -> Vec<(u32, Accepts)> {
    let mut edges = Vec::new();
    match &node.kind {
        Kind::Map(entries) => {
            for entry in entries {
                let up = upstream(&entry.key, entry.at, me, names, sink);
                let accepts = accepts(&entry.value, sink);
                edges.extend(up.zip(accepts));
            }
        }
        Kind::List(list) => {
            for node in list {
                let up = name(node, "an entry of `after`", "the name of a task", sink)
                    .and_then(|name| upstream(name, node.span, me, names, sink));
                edges.extend(up.map(|up| (up, Accepts::SUCCESS)));
            }
        }
        Kind::Scalar(..) => {
            let expected = "the name of a task, a list of them, or a map such as `{ build: failed }`";
            let up = name(node, "`after`", expected, sink);
            let up = up.and_then(|name| upstream(name, node.span, me, names, sink));
            edges.extend(up.map(|up| (up, Accepts::SUCCESS)));
        }
    }
    edges
}

fn name<'n>(node: &'n Node<'_>, what: &str, expected: &str, sink: &mut Sink<'_>) -> Option<&'n str> {
    match &node.kind {
        Kind::Scalar(text, _) if !text.is_empty() => Some(text),
        _ => {
            wrong(node, what, expected, sink);
            None
        }
    }
}

fn upstream(name: &str, at: Span, me: u32, names: &Names<'_>, sink: &mut Sink<'_>) -> Option<u32> {
    let Some(up) = names.tasks.get(name) else {
        if sink.only_counts() {
            return None;
        }
        let help = sink.meant(name, names.tasks.sorted());
        sink.error(at, "unknown_task", format!("there is no task {}", shown(name))).help(help);
        return None;
    };
    if up == Some(me) {
        let help = "remove it from its own `after`";
        sink.error(at, "self_edge", format!("{} cannot wait for itself", shown(name))).help(Some(help.into()));
        return None;
    }
    up
}

fn accepts(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Accepts> {
    let list = match &node.kind {
        Kind::List(list) => list.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut set: Option<Accepts> = None;
    for node in list {
        let end = end(node, sink)?;
        set = Some(set.map_or(end, |set| set.or(end)));
    }
    if set.is_none() {
        let message = "an edge must accept at least one of `ok`, `failed`, `skipped`, `cancelled`";
        sink.error(node.span, "bad_accepts", message).help(Some("write `done` to accept them all".into()));
    }
    set
}

fn end(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Accepts> {
    if let Kind::Scalar(text, _) = &node.kind
        && let Some((_, word)) = SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(text))
    {
        let message = format!("{} is not how a task ends here", shown(text));
        sink.error(node.span, "bad_value", message).help(Some(format!("did you mean `{word}`?")));
        return None;
    }
    choice(node, "`after`", &ENDS, sink)
}

/// `join: all`, `any` or a number.
pub(super) fn join(node: &Node<'_>, sink: &mut Sink<'_>) -> Join {
    match &node.kind {
        Kind::Scalar(text, _) if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() => {
            whole(node, "`join`", 1..=limits::PLAN_EDGES as u64, sink).map_or(Join::All, |n| Join::Count(n as u32))
        }
        _ => choice(node, "`join` (or a number)", &[("all", Join::All), ("any", Join::Any)], sink).unwrap_or_default(),
    }
}
