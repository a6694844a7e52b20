//! Expectations: what should come of a case.

use super::super::problem::Sink;
use super::super::read::{Fields, Keys, choice, duration, list, map, text, whole, wrong};
use super::super::scalar::literal;
use super::super::tree::{Kind, Node};
use super::{Scene, fits};
use crate::limits;
use crate::rehearsal::{Attempt, Expect, Failed, Task};
use crate::state::Phase;
use crate::suggest::shown;

pub(in crate::flow) const EXPECT: Keys = Keys {
    owner: "`expect`",
    known: &["state", "output", "failure", "tasks", "effects", "elapsed", "within"],
    elsewhere: &[],
};
pub(in crate::flow) const EXPECTED: Keys =
    Keys { owner: "an expected task", known: &["state", "attempts", "output", "failure"], elsewhere: &[] };
pub(in crate::flow) const FAILURE: Keys = Keys { owner: "`failure`", known: &["type", "message"], elsewhere: &[] };

/// Where a run can be when nothing moves any more.
pub(in crate::flow) const RUN: [(&str, Phase); 5] = [
    ("succeeded", Phase::Succeeded),
    ("failed", Phase::Failed),
    ("cancelled", Phase::Cancelled),
    ("waiting", Phase::Waiting),
    ("blocked", Phase::Blocked),
];
/// Where a task can be then.
pub(in crate::flow) const STATES: [(&str, Phase); 6] = [
    ("succeeded", Phase::Succeeded),
    ("failed", Phase::Failed),
    ("skipped", Phase::Skipped),
    ("cancelled", Phase::Cancelled),
    ("waiting", Phase::Waiting),
    ("blocked", Phase::Blocked),
];

pub(super) fn read(node: &Node<'_>, scene: &Scene, sink: &mut Sink<'_>) -> Expect {
    let Some(fields) = Fields::read(node, "`expect`", &EXPECT, sink) else { return Expect::default() };
    Expect {
        state: fields.get("state").and_then(|node| choice(node, "`state`", &RUN, sink)),
        output: fields.get("output").map(|node| literal(node, sink)),
        failure: fields.get("failure").and_then(|node| failed(node, sink)),
        tasks: fields.get("tasks").map(|node| tasks(node, scene, sink)).unwrap_or_default(),
        effects: fields.get("effects").map(|node| effects(node, scene, sink)),
        elapsed: fields.get("elapsed").and_then(|node| duration(node, "`elapsed`", sink)),
        within: fields.get("within").and_then(|node| duration(node, "`within`", sink)),
    }
}

/// `failure: NetworkError`, or a map.
fn failed(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Failed> {
    if !matches!(node.kind, Kind::Map(_)) {
        let kind = text(node, "`failure`", sink)?.to_owned();
        return Some(Failed { kind: Some(kind), message: None });
    }
    let fields = Fields::read(node, "`failure`", &FAILURE, sink)?;
    let mut read =
        |key: &str| fields.get(key).and_then(|node| text(node, &format!("`{key}`"), sink)).map(str::to_owned);
    Some(Failed { kind: read("type"), message: read("message") })
}

fn tasks(node: &Node<'_>, scene: &Scene, sink: &mut Sink<'_>) -> Vec<(String, Task)> {
    let mut tasks = Vec::new();
    for entry in map(node, "`tasks`", sink).unwrap_or_default() {
        let known = scene.path(&entry.key, entry.at, |_| true, "task", sink);
        if known && entry.key.contains('*') {
            let message = "here one task is meant, and `*` stands for several";
            sink.error(entry.at, "bad_path", message).help(Some(entry.key.replacen('*', "0", 1)));
        }
        tasks.extend(task(&entry.value, sink).filter(|_| known).map(|task| (entry.key.to_string(), task)));
    }
    tasks
}

/// `build: succeeded`, or a map.
fn task(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Task> {
    if !matches!(node.kind, Kind::Map(_)) {
        let state = choice(node, "a task", &STATES, sink)?;
        return Some(Task { state: Some(state), ..Task::default() });
    }
    let fields = Fields::read(node, "an expected task", &EXPECTED, sink)?;
    let most = u64::from(limits::MAX_ATTEMPTS);
    Some(Task {
        state: fields.get("state").and_then(|node| choice(node, "`state`", &STATES, sink)),
        attempts: fields.get("attempts").and_then(|n| whole(n, "`attempts`", 0..=most, sink)).map(|n| n as u16),
        output: fields.get("output").map(|node| literal(node, sink)),
        failure: fields.get("failure").and_then(|node| failed(node, sink)),
    })
}

fn effects(node: &Node<'_>, scene: &Scene, sink: &mut Sink<'_>) -> Vec<Attempt> {
    let mut effects = Vec::new();
    for node in list(node, "`effects`", "a list of actions or paths", sink).unwrap_or_default() {
        let (who, with, at) = match &node.kind {
            Kind::Map(entries) => match entries.as_slice() {
                [one] => (one.key.to_string(), Some(literal(&one.value, sink)), one.at),
                _ => {
                    wrong(node, "an effect", "an action or a path, or one with what it is given", sink);
                    continue;
                }
            },
            _ => match text(node, "an effect", sink) {
                Some(who) => (who.to_owned(), None, node.span),
                None => continue,
            },
        };
        let known =
            scene.actions().any(|action| action == who) || scene.places.iter().any(|place| fits(&place.path, &who));
        if !known {
            let all = scene.actions().chain(scene.places.iter().map(|place| place.path.as_str()));
            let help = sink.meant(&who, all);
            let message = format!("no action and no task of the flow is called {}", shown(&who));
            sink.error(at, "unknown_task", message).help(help);
        }
        effects.push(Attempt { who, with });
    }
    effects
}
