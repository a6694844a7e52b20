//! `publish:` of a flow or a task, and `emit:` in a task: what the outside world is told.

use super::holes::Holes;
use super::problem::Sink;
use super::read::{Fields, Keys, choice, list, name, parse_name, wrong};
use super::tree::{Kind, Node};
use crate::limits;
use crate::plan::{Condition, Delivery, Emit, Publish};
use std::collections::BTreeSet;

pub(super) const PUBLISH: Keys =
    Keys { owner: "an entry of `publish`", known: &["name", "condition", "delivery", "payload"], elsewhere: &[] };

pub(super) const EMIT: Keys = Keys { owner: "`emit`", known: &["name", "delivery", "payload"], elsewhere: &[] };

/// Whose events they are: a run is not retried by itself, so some conditions make no sense for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Flow,
    Task,
}

/// Reads the domain events of a flow or a task. A name stands for an event that is told on success.
pub(super) fn publish(node: &Node<'_>, of: Of, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Vec<Publish> {
    let entries = list(node, "`publish`", "a list of domain events", sink).unwrap_or_default();
    if entries.len() > limits::PUBLISHED {
        let message =
            format!("{} domain events are published, at most {} are allowed", entries.len(), limits::PUBLISHED);
        sink.error(node.span, "too_many_events", message);
        return Vec::new();
    }
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for entry in entries {
        let Some(one) = event(entry, of, holes, sink) else { continue };
        // The name is part of the id, so that two of one name would be taken for the same event.
        if names.insert(one.name.clone()) {
            found.push(one);
        } else {
            sink.error(entry.span, "duplicate_name", format!("the domain event `{}` is published twice", one.name))
                .help(Some("give one of them another name".into()));
        }
    }
    found
}

fn event(node: &Node<'_>, of: Of, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Publish> {
    if let Kind::Scalar(text, _) = &node.kind {
        let name = parse_name(text, node.span, sink)?;
        return Some(Publish { name, condition: Condition::default(), delivery: Delivery::default(), payload: None });
    }
    let fields = Fields::read(node, "an entry of `publish`", &PUBLISH, sink)?;
    let name = named(node, &fields, "an entry of `publish`", sink);
    let condition = fields.get("condition").map(|n| choice(n, "`condition`", &Condition::ALL, sink));
    if of == Of::Flow && condition == Some(Some(Condition::RetryableFailure)) {
        let span = fields.get("condition").map_or(node.span, |n| n.span);
        sink.error(span, "bad_condition", "a run has no further attempt, so it never ends with `retryable_failure`")
            .help(Some("use `failure` here, or publish it from a task".into()));
    }
    let delivery = delivery(&fields, sink);
    let payload = fields.get("payload").map(|n| holes.template(n, sink));
    Some(Publish {
        name: name?,
        condition: condition.unwrap_or(Some(Condition::default()))?,
        delivery: delivery?,
        payload,
    })
}

/// Reads what a task tells when the flow comes to it; a name alone tells nothing more.
pub(super) fn emit(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Emit> {
    match &node.kind {
        Kind::Scalar(text, _) => {
            let name = parse_name(text, node.span, sink)?;
            Some(Emit { name, delivery: Delivery::default(), payload: Default::default() })
        }
        Kind::Map(_) => {
            let fields = Fields::read(node, "`emit`", &EMIT, sink)?;
            let name = named(node, &fields, "`emit`", sink);
            let delivery = delivery(&fields, sink);
            let payload = fields.get("payload").map(|n| holes.template(n, sink)).unwrap_or_default();
            Some(Emit { name: name?, delivery: delivery?, payload })
        }
        Kind::List(_) => {
            wrong(node, "`emit`", "the name of a domain event, or a map with `name`", sink);
            None
        }
    }
}

fn named(node: &Node<'_>, fields: &Fields<'_, '_>, what: &str, sink: &mut Sink<'_>) -> Option<crate::name::Name> {
    match fields.get("name") {
        Some(node) => name(node, "`name`", sink),
        None => {
            sink.error(node.span, "missing_key", format!("{what} has no `name`"))
                .help(Some("say what consumers see, such as `name: order.shipped`".into()));
            None
        }
    }
}

fn delivery(fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> Option<Delivery> {
    match fields.get("delivery") {
        Some(node) => choice(node, "`delivery`", &Delivery::ALL, sink),
        None => Some(Delivery::default()),
    }
}
