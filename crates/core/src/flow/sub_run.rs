//! `flow:` in a task: a run of another flow, pinned to the plan that it has now.

use super::compose::{Child, Composer, Fault};
use super::holes::Holes;
use super::policy::{retry, timeouts};
use super::problem::Sink;
use super::read::{Fields, name};
use super::tree::{Entry, Kind, Node};
use crate::plan::{Spec, SubRun, Timeouts, Work};
use crate::retry::Retry;
use crate::template::Template;
use serde_json::Value;
use std::collections::BTreeMap;

/// The flows that the tasks of a file name.
pub(super) type Children = BTreeMap<String, Result<Child, Fault>>;

/// Compiles every flow that a task names.
pub(super) fn children(tasks: &[Entry<'_>], file: &str, composer: &mut Composer<'_>) -> Children {
    let mut children = Children::new();
    for entry in tasks {
        let Kind::Map(fields) = &entry.value.kind else { continue };
        let Some(Kind::Scalar(name, _)) = fields.iter().find(|e| e.key == "flow").map(|e| &e.value.kind) else {
            continue;
        };
        if !children.contains_key(&**name) {
            let child = composer.child(name, file).and_then(|child| {
                super::compose::nests(std::iter::once(&child))?;
                Ok(child)
            });
            children.insert(name.to_string(), child);
        }
    }
    children
}

/// Reads `flow: name` and its `with`.
pub(super) fn read(
    work: &Entry<'_>,
    fields: &Fields<'_, '_>,
    flows: &Children,
    holes: &mut Holes<'_, '_>,
    sink: &mut Sink<'_>,
) -> Option<SubRun> {
    let given = fields.get("with");
    let with = given.map(|node| holes.template(node, sink)).unwrap_or_default();
    let flow = name(&work.value, "`flow`", sink)?;
    match flows.get(flow.as_str())? {
        Err(Fault { code, message, help }) => {
            sink.error(work.value.span, code, message.clone()).help(help.clone());
            None
        }
        Ok(child) => {
            check_inputs(&work.value, given, &with, child, sink);
            Some(SubRun { flow, plan: child.hash, with })
        }
    }
}

/// Holds what is given beside what the flow declares, as far as it is written here.
fn check_inputs(flow: &Node<'_>, given: Option<&Node<'_>>, with: &Template, child: &Child, sink: &mut Sink<'_>) {
    let literals: Vec<(&str, Option<&Value>)> = match with {
        Template::Value(Value::Null) => Vec::new(),
        Template::Value(Value::Object(map)) => map.iter().map(|(key, value)| (key.as_str(), Some(value))).collect(),
        Template::Map(map) => map.iter().map(|(key, value)| (key.as_str(), literal(value))).collect(),
        // Computed as a whole: it is known when the run is started.
        Template::Expr(_) => return,
        _ => {
            let node = given.unwrap_or(flow);
            super::read::wrong(node, "`with` of a flow", "a map of its inputs", sink);
            return;
        }
    };
    let names: Vec<&str> = literals.iter().map(|(name, _)| *name).collect();
    for misfit in child.misfits(literals.into_iter()) {
        let entry = misfit.at.and_then(|at| entry_of(given?, names[at]));
        let span = entry.map_or(flow.span, |entry| entry.at);
        sink.error(span, misfit.fault.code, misfit.fault.message).help(misfit.fault.help);
    }
}

fn literal(template: &Template) -> Option<&Value> {
    match template {
        Template::Value(value) => Some(value),
        _ => None,
    }
}

fn entry_of<'n, 'a>(given: &'n Node<'a>, name: &str) -> Option<&'n Entry<'a>> {
    match &given.kind {
        Kind::Map(entries) => entries.iter().find(|entry| entry.key == name),
        _ => None,
    }
}

/// Timeouts that speak of what a worker does.
const WORKERS: [&str; 2] = ["queue", "heartbeat"];

/// A sub-run is tried once and takes as long as it likes, unless it says otherwise itself: its tasks have attempts
/// and bounds of their own, and what `defaults` say is meant for those.
pub(super) fn policies(fields: &Fields<'_, '_>, base: &Retry, spec: &mut Spec, sink: &mut Sink<'_>) {
    let once = Retry { max_attempts: 1, ..base.clone() };
    spec.retry = fields.get("retry").map_or(once, |node| retry(node, base, sink));
    if let Some(Kind::Map(given)) = fields.get("timeout").map(|node| &node.kind) {
        for entry in given.iter().filter(|entry| WORKERS.contains(&&*entry.key)) {
            let (given, help) = match spec.work {
                Work::Item(_) => ("an item", "use `attempt` or `overall`".to_owned()),
                _ => ("a run", format!("put `timeout: {{ {}: … }}` at the tasks of that flow", entry.key)),
            };
            let beside = spec.work.kind();
            let message = format!("`{}` has no meaning beside `{beside}`: no worker is given {given}", entry.key);
            sink.error(entry.at, "misplaced_key", message).help(Some(help));
        }
    }
    spec.timeouts = fields.get("timeout").map_or_else(Timeouts::default, |n| timeouts(n, &Timeouts::default(), sink));
}
