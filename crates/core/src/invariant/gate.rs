//! Gates and timers: what waits on the world opens once, by those who may, at its time.

use super::{Held, Step, broken, tasks};
use crate::event::{Event, TaskIx, TimerKey, TimerKind};
use crate::fold::Verdict;
use crate::gate::Wait;
use crate::history::Stream;
use crate::plan::Work;
use crate::run::Run;
use crate::state::{Move, TaskState};
use crate::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// A gate opens at most once in a generation, by its timer, its deadline, its last approval or a word from outside.
pub fn gate_opens_once(stream: &Stream<'_>) -> Held {
    let mut opened: BTreeSet<(TaskIx, u16)> = BTreeSet::new();
    stream.walk(|run, entry, changes, _| {
        for m in changes.moves.iter().filter(|m| m.by == Move::Succeeded) {
            let Work::Gate(gate) = &run.spec_of(m.task).work else { continue };
            let given = run.approvals.get(&m.task).map_or(0, Vec::len);
            let may = match (&gate.wait, &entry.event) {
                (_, Event::TimerFired(fired)) => fired.timer.task == m.task,
                (Wait::Approval { count, .. }, Event::ApprovalGiven(_)) => given >= *count as usize,
                (Wait::Webhook | Wait::External { .. }, Event::GateSatisfied(said)) => said.task == m.task,
                (Wait::Shared { .. }, Event::LinkResolved(told)) => told.link.task == m.task,
                (
                    Wait::After(_)
                    | Wait::Until(_)
                    | Wait::Approval { .. }
                    | Wait::Webhook
                    | Wait::External { .. }
                    | Wait::Shared { .. },
                    _,
                ) => false,
            };
            let generation = run.tasks[m.task.0 as usize].generation;
            if !may || !opened.insert((m.task, generation)) {
                let message = format!("{} opened it in generation {generation}", entry.event.name());
                return broken("gate_opens_once", run, Some(m.task), message);
            }
        }
        Ok(())
    })
}

/// Approvals of one gate are of different people, each of whom may approve it, and no more than it takes.
pub fn approvers_differ(run: &Run) -> Held {
    for (ix, given) in &run.approvals {
        let Work::Gate(gate) = &run.spec_of(*ix).work else {
            return broken("approvers_differ", run, Some(*ix), "it is no gate and has approvals");
        };
        let Wait::Approval { from, count } = &gate.wait else {
            return broken("approvers_differ", run, Some(*ix), "it does not ask people and has approvals");
        };
        let people: BTreeSet<&str> = given.iter().map(|a| a.by.as_str()).collect();
        let reached = run.tasks[ix.0 as usize].ready_at;
        let permitted = given.iter().all(|a| gate.may_speak(&a.by, reached, a.at));
        let waits = run.tasks[ix.0 as usize].state == TaskState::InProgress;
        let enough = given.len() >= *count as usize;
        if people.len() != given.len() || !permitted || given.is_empty() || (waits && enough) {
            let message = format!("{count} of {from:?} may approve, {given:?} did");
            return broken("approvers_differ", run, Some(*ix), message);
        }
    }
    Ok(())
}

/// A gate that waits has a timer for the first step of its `escalate` that nobody was told of, and no other; what was told
/// was told in its order and not before its time.
pub fn escalation_waits(run: &Run) -> Held {
    let mut set: BTreeMap<TaskIx, Vec<Time>> = BTreeMap::new();
    for (key, due) in run.timers.iter().filter(|(key, _)| key.kind == TimerKind::Escalation) {
        set.entry(key.task).or_default().push(*due);
    }
    for ix in tasks(run) {
        let fail = |message: String| broken("escalation_waits", run, Some(ix), message);
        let task = &run.tasks[ix.0 as usize];
        let steps = if let Work::Gate(gate) = &run.spec_of(ix).work { gate.escalate.as_slice() } else { &[] };
        let told = run.escalated.get(&ix).map_or(&[][..], Vec::as_slice);
        let waits = task.state == TaskState::InProgress;
        let next = steps.get(told.len()).filter(|_| waits).map(|step| task.ready_at.plus(step.after));
        let timers = set.remove(&ix).unwrap_or_default();
        if timers != Vec::from_iter(next) {
            return fail(format!("its next step is due at {next:?}, its timers at {timers:?}"));
        }
        let in_time = steps.iter().zip(told).all(|(step, at)| task.ready_at.plus(step.after) <= *at);
        if told.len() > steps.len() || !in_time {
            return fail(format!("it told {told:?} of {} steps, reached at {}", steps.len(), task.ready_at));
        }
    }
    Ok(())
}

/// A timer fires when it is set and due, is gone with that, and none outlives what it stands for.
pub fn timer_fires_once(step: &Step<'_>) -> Held {
    let fail = |task, message: String| broken("timer_fires_once", step.after, Some(task), message);
    if let (Event::GateEscalated(told), Verdict::Applied) = (step.event, step.verdict) {
        let due = |run: &Run| {
            let mut set = run.timers.range(TimerKey::all_of(told.task));
            set.find(|(key, _)| key.kind == TimerKind::Escalation).map(|(_, due)| *due)
        };
        let (was, is) = (due(step.before), due(step.after));
        if was.is_none_or(|due| due > step.stamp.at) || is == was {
            return fail(told.task, format!("step {} was told with a timer for {was:?}, then {is:?}", told.step));
        }
    }
    if let (Event::TimerFired(fired), Verdict::Applied) = (step.event, step.verdict) {
        let set = step.before.timers.get(&fired.timer);
        if set != Some(&fired.due) || fired.due > step.stamp.at {
            return fail(fired.timer.task, format!("{:?} fired and was set for {set:?}", fired.timer));
        }
        let again = step.changes.timers_set.iter().any(|(key, _)| *key == fired.timer);
        if step.after.timers.contains_key(&fired.timer) && !again {
            return fail(fired.timer.task, format!("{:?} fired and is still set", fired.timer));
        }
    }
    for key in step.after.timers.keys() {
        let task = step.after.tasks.get(key.task.0 as usize);
        let alive = task.is_some_and(|t| {
            t.generation == key.generation
                && key.attempt <= t.attempt
                && !t.state.is_done()
                && t.state != TaskState::Pending
        });
        if !alive {
            return fail(key.task, format!("{key:?} outlived what it stands for"));
        }
    }
    let mut gone = step.before.timers.keys().filter(|k| !step.after.timers.contains_key(k));
    let said: BTreeSet<_> = step.changes.timers_gone.iter().collect();
    if let Some(key) = gone.find(|k| !said.contains(k)) {
        return fail(key.task, format!("{key:?} went without a word"));
    }
    let new =
        step.after.timers.iter().find(|(k, due)| {
            step.before.timers.get(k) != Some(due) && !step.changes.timers_set.contains(&(**k, **due))
        });
    match new {
        Some((key, _)) => fail(key.task, format!("{key:?} was set without a word")),
        None if tasks(step.after).next().is_none() && !step.after.timers.is_empty() => {
            fail(TaskIx(0), "there are timers and no tasks".into())
        }
        None => Ok(()),
    }
}
