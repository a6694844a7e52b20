//! Gates: `gate: { timer: 5m }`, `{ until: … }`, `{ approval: … }`, `{ webhook: {} }`, `{ external: … }` or
//! `{ shared: ew-g1 }`, with a deadline if wanted.

use super::holes::Holes;
use super::problem::Sink;
use super::read::{Fields, Keys, choice, duration, list, name, some_time, text, whole, wrong};
use super::scalar::resolve;
use super::source::Span;
use super::tree::{Entry, Kind, Node};
use crate::gate::{Escalation, Gate, OnDeadline, Wait};
use crate::limits;
use crate::name::Name;
use crate::suggest::shown;
use crate::template::Template;
use crate::time::{Millis, Time};
use crate::work::ItemId;
use serde_json::Value;

pub(super) const GATE: Keys = Keys {
    owner: "a gate",
    known: &[
        "timer",
        "until",
        "approval",
        "webhook",
        "external",
        "shared",
        "deadline",
        "on_deadline",
        "escalate",
        "evidence",
    ],
    elsewhere: &[],
};
pub(super) const ESCALATE: Keys = Keys { owner: "`escalate`", known: &["after", "to"], elsewhere: &[] };
pub(super) const APPROVAL: Keys = Keys { owner: "`approval`", known: &["from", "count"], elsewhere: &[] };
pub(super) const EXTERNAL: Keys = Keys { owner: "`external`", known: &["system", "id"], elsewhere: &[] };

/// What a gate waits for; it has one of them.
const WAITS: [&str; 6] = ["timer", "until", "approval", "webhook", "external", "shared"];

pub(super) fn gate(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Gate> {
    let fields = Fields::read(node, "`gate`", &GATE, sink)?;
    let errors = sink.errors();
    let wait = wait(node, &fields, holes, sink);
    let (deadline, on_deadline) = bounds(&fields, sink);
    let evidence = fields.get("evidence").map(|node| evidence(node, holes, sink)).unwrap_or_default();
    let wait = wait?;
    let escalate = fields.entry("escalate").map(|entry| escalate(entry, &wait, sink)).unwrap_or_default();
    if let Wait::Approval { from, count } = &wait {
        let may = from.len() + escalate.iter().map(|step| step.to.len()).sum::<usize>();
        // With names that cannot be read nobody knows how many may.
        if sink.errors() == errors && !from.is_empty() && *count as usize > may {
            let message = format!("{count} approvals are needed, but only {may} may approve");
            sink.error(count_of(&fields).unwrap_or(node.span), "bad_count", message)
                .help(Some("name more people or lower `count`".into()));
        }
    }
    Some(Gate { wait, deadline, on_deadline, escalate, evidence })
}

/// The one thing that a gate waits for.
fn wait(node: &Node<'_>, fields: &Fields<'_, '_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Wait> {
    let kinds: Vec<_> = WAITS.into_iter().filter_map(|k| fields.entry(k)).collect();
    match kinds[..] {
        [entry] => match &*entry.key {
            "timer" => duration(&entry.value, "`timer`", sink).map(Wait::After),
            "until" => instant(&entry.value, sink).map(Wait::Until),
            "approval" => approval(&entry.value, sink),
            "webhook" => webhook(&entry.value, sink),
            "shared" => shared(&entry.value, holes, sink),
            _ => external(&entry.value, holes, sink),
        },
        [] => {
            let help = "such as `gate: { timer: 5m }` or `gate: { approval: { count: 1 } }`";
            let message = "a gate waits for one of `timer`, `until`, `approval`, `webhook`, `external` or `shared`";
            sink.error(node.span, "missing_key", message).help(Some(help.into()));
            None
        }
        [first, second, ..] => {
            let message = format!("a gate waits for one thing, but has `{}` and `{}`", first.key, second.key);
            sink.error(second.at, "several_waits", message).help(Some("make two tasks of it".into()));
            None
        }
    }
}

/// How long it may stay closed, and what happens then.
fn bounds(fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> (Option<Millis>, OnDeadline) {
    let deadline = fields.get("deadline").and_then(|n| some_time(n, "`deadline`", sink));
    let mut on_deadline = OnDeadline::default();
    if let Some(entry) = fields.entry("on_deadline") {
        let words = [("reject", OnDeadline::Reject), ("open", OnDeadline::Open)];
        on_deadline = choice(&entry.value, "`on_deadline`", &words, sink).unwrap_or_default();
        if fields.entry("deadline").is_none() {
            let message = "`on_deadline` has no meaning without `deadline`";
            sink.error(entry.at, "misplaced_key", message).help(Some("add a `deadline`, such as `2d`".into()));
        }
    }
    (deadline, on_deadline)
}

/// `webhook: {}`: there is nothing to say about an address.
fn webhook(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Wait> {
    match &node.kind {
        Kind::Map(entries) => {
            for entry in entries {
                let message = format!("`webhook` has no key {}", shown(&entry.key));
                let help = "write `webhook: {}`; a deadline stands beside it";
                sink.error(entry.at, "unknown_key", message).help(Some(help.into()));
            }
            entries.is_empty().then_some(Wait::Webhook)
        }
        Kind::Scalar(text, style) if resolve(text, *style) == Ok(Value::Null) => Some(Wait::Webhook),
        _ => {
            wrong(node, "`webhook`", "nothing", sink).help(Some("write `webhook: {}`".into()));
            None
        }
    }
}

/// `external: { system: jira, id: 'ABC-1' }`.
fn external(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Wait> {
    let fields = Fields::read(node, "`external`", &EXTERNAL, sink)?;
    let (Some(system), Some(id)) = (fields.get("system"), fields.get("id")) else {
        let help = "such as `external: { system: jira, id: 'ABC-1' }`";
        sink.error(node.span, "missing_key", "`external` needs `system` and `id`").help(Some(help.into()));
        return None;
    };
    let system = name(system, "`system`", sink);
    let template = holes.words(id, &|| "`id`".into(), sink);
    if matches!(&template, Template::Value(Value::String(text)) if text.is_empty()) {
        sink.error(id.span, "bad_value", "`id` is empty")
            .help(Some("say what it is called in the other system".into()));
    }
    Some(Wait::External { system: system?, id: template })
}

/// `shared: ew-g1`: a gate of the work graph.
fn shared(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Wait> {
    let gate = holes.words(node, &|| "`shared`".into(), sink);
    if let Template::Value(Value::String(id)) = &gate {
        sink.accept(ItemId::parse(id), node.span)?;
    }
    Some(Wait::Shared { gate })
}

/// `evidence: [test, scan]`: tasks of the flow.
fn evidence(node: &Node<'_>, holes: &Holes<'_, '_>, sink: &mut Sink<'_>) -> Vec<Name> {
    let mut named: Vec<Name> = Vec::new();
    for node in list(node, "`evidence`", "a list of tasks", sink).unwrap_or_default() {
        let Some(task) = text(node, "a task", sink) else { continue };
        if holes.names.tasks.get(task).is_none() {
            let help = sink.meant(task, holes.names.tasks.sorted());
            sink.error(node.span, "unknown_task", format!("there is no task {}", shown(task))).help(help);
        } else if named.iter().any(|known| known.as_str() == task) {
            sink.error(node.span, "duplicate_name", format!("{} is named twice", shown(task)));
        } else {
            named.extend(sink.accept(Name::parse(task), node.span));
        }
    }
    named
}

/// Where the number of approvals is said.
fn count_of(fields: &Fields<'_, '_>) -> Option<Span> {
    match &fields.get("approval")?.kind {
        Kind::Map(entries) => entries.iter().find(|entry| entry.key == "count").map(|entry| entry.value.span),
        _ => None,
    }
}

/// `escalate: { after: 1d, to: [boss] }`, or several of them, each later than the one before.
fn escalate(entry: &Entry<'_>, wait: &Wait, sink: &mut Sink<'_>) -> Vec<Escalation> {
    let named = match wait {
        Wait::Approval { from, .. } if !from.is_empty() => from.clone(),
        _ => {
            let message = "`escalate` has a meaning only where `approval` names people with `from`";
            sink.error(entry.at, "misplaced_key", message).help(Some("name who is asked first".into()));
            return Vec::new();
        }
    };
    let nodes = match &entry.value.kind {
        Kind::List(nodes) => nodes.as_slice(),
        _ => std::slice::from_ref(&entry.value),
    };
    let mut steps: Vec<Escalation> = Vec::new();
    for node in nodes {
        let Some(fields) = Fields::read(node, "`escalate`", &ESCALATE, sink) else { continue };
        let after = fields.get("after").and_then(|n| some_time(n, "`after`", sink));
        let to = fields.get("to").and_then(|n| list(n, "`to`", "a list of names", sink)).unwrap_or_default();
        let to: Vec<Name> = to.iter().filter_map(|n| name(n, "an approver", sink)).collect();
        let (Some(after), false) = (after, to.is_empty()) else {
            let help = "such as `escalate: { after: 1d, to: [boss] }`";
            sink.error(node.span, "missing_key", "`escalate` needs `after` and `to`").help(Some(help.into()));
            continue;
        };
        let known: Vec<&Name> = named.iter().chain(steps.iter().flat_map(|step| &step.to)).collect();
        if let Some(twice) = to.iter().find(|person| known.contains(person)) {
            sink.error(node.span, "duplicate_name", format!("`{twice}` is named twice"));
        }
        if steps.last().is_some_and(|last| last.after >= after) {
            sink.error(node.span, "bad_duration", "each step of `escalate` comes later than the one before");
        }
        steps.push(Escalation { after, to });
    }
    steps
}

fn instant(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Time> {
    let Kind::Scalar(text, _) = &node.kind else {
        wrong(node, "`until`", "an instant such as 2027-01-31T12:00:00Z", sink);
        return None;
    };
    if text.len() > 100 {
        wrong(node, "`until`", "an instant such as 2027-01-31T12:00:00Z", sink);
        return None;
    }
    sink.accept(Time::parse(text), node.span)
}

fn approval(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Wait> {
    let fields = Fields::read(node, "`approval`", &APPROVAL, sink)?;
    let mut from = Vec::new();
    if let Some(node) = fields.get("from") {
        let people = list(node, "`from`", "a list of names", sink)?;
        if people.len() > limits::APPROVERS {
            let message = format!("{} people may approve, at most {} are allowed", people.len(), limits::APPROVERS);
            sink.error(node.span, "too_many_approvers", message);
            return None;
        }
        for node in people {
            match name(node, "an approver", sink) {
                Some(person) if from.contains(&person) => {
                    sink.error(node.span, "duplicate_name", format!("`{person}` is named twice"));
                }
                Some(person) => from.push(person),
                None => {}
            }
        }
    }
    let mut count = from.len().max(1) as u32;
    if let Some(node) = fields.get("count") {
        count = whole(node, "`count`", 1..=limits::APPROVERS as u64, sink)? as u32;
    }
    Some(Wait::Approval { from, count })
}
