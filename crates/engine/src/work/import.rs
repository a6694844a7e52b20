//! Import: a graph as it was elsewhere, with who closed, approved and has what. One commit, all of it or nothing.
//!
//! It is a command of its own and no operation, since it speaks for others: whoever lets strangers in gives them
//! operations, which are done in their own names, and keeps this one.

use crate::command::Answer;
use crate::desk::Desk;
use crate::enqueue::overdue::overdue;
use crate::nesting;
use edgewise_core::Result;
use edgewise_core::id::Token;
use edgewise_core::work::{Dependency, DependencyKind, Done, Item, RunEnded, RunGateEnded, WorkEvent, WorkGate};
use serde::{Deserialize, Serialize};

/// A work graph from elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// Its items. The token of a claim stays where it was shown: what is said of it here is not looked at.
    pub items: Vec<Item>,
    /// Its gates.
    pub gates: Vec<WorkGate>,
    /// How runs ended that its items wait for.
    pub runs: Vec<RunEnded>,
    /// How gates of runs ended that its items wait for.
    #[serde(default)]
    pub run_gates: Vec<RunGateEnded>,
    /// What waits for what.
    pub dependencies: Vec<Dependency>,
}

/// Brings a graph in.
pub(crate) fn import(desk: &mut Desk, asked: &Import) -> Result<Answer> {
    check_depth(asked)?;
    desk.newest_work()?;
    overdue(desk);
    let mark = desk.work.mark();
    desk.work.remember();
    let events = events(desk, asked);
    match events.into_iter().try_for_each(|event| desk.record_work(event)) {
        Ok(()) => {
            desk.leave_work();
            let id = asked.items.last().map(|item| item.id.clone());
            Ok(Answer::Worked(vec![Done { id, ..Done::default() }]))
        }
        Err(error) => {
            desk.take_work_back(&mark);
            Err(error)
        }
    }
}

/// What is brought in is read back with all of the work graph.
fn check_depth(asked: &Import) -> Result<()> {
    let of_items =
        asked.items.iter().flat_map(|item| &item.fields.details).flat_map(|details| details.metadata.values());
    let of_gates = asked.gates.iter().filter_map(|gate| gate.ended.as_ref()?.evidence.as_ref());
    let of_dependencies = asked.dependencies.iter().filter_map(|dependency| dependency.metadata.as_ref());
    let mut all = of_items.chain(of_gates).chain(of_dependencies);
    all.try_for_each(|value| nesting::check("a value of an item, a gate or a dependency", value))
}

/// In an order in which something only ever comes to be in the way: whoever is blocked for a moment and then is not
/// might close by itself.
fn events(desk: &mut Desk, asked: &Import) -> Vec<WorkEvent> {
    let mut events = Vec::new();
    for item in &asked.items {
        let mut item = item.clone();
        if let Some(claim) = &mut item.claim {
            claim.token = Token(desk.entropy.bits()).hash();
        }
        events.push(WorkEvent::ItemImported(Box::new(item)));
    }
    events.extend(asked.gates.iter().map(|gate| WorkEvent::GateImported(Box::new(gate.clone()))));
    let news = |ended: &&RunEnded| desk.work.state.run_end(ended.run) != ended.state;
    events.extend(asked.runs.iter().filter(news).map(|ended| WorkEvent::RunEnded(ended.clone())));
    let news = |ended: &&RunGateEnded| desk.work.state.run_gate_end(ended.run, &ended.task) != ended.end;
    events.extend(asked.run_gates.iter().filter(news).map(|ended| WorkEvent::RunGateEnded(ended.clone())));
    let (parents, others): (Vec<_>, Vec<_>) =
        asked.dependencies.iter().partition(|dependency| dependency.kind == DependencyKind::ParentChild);
    let dependencies = parents.into_iter().chain(others);
    events.extend(dependencies.map(|dependency| WorkEvent::DependencyImported(Box::new(dependency.clone()))));
    events
}
