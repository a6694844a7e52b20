//! Streams: dense, said once, and the same run whichever way it is come by.

use super::{Held, Step, Violation, broken, tasks};
use crate::event::{Event, TaskIx};
use crate::fold::{Changes, Stamp, Verdict, fold};
use crate::history::Stream;
use crate::rows::{GivenRow, OutboxRow, RunRow, TaskRow, TimerRow};
use crate::run::Run;
use std::collections::BTreeSet;

/// Seqs are dense from 1, and ids never go back.
pub fn seq_is_dense(stream: &Stream<'_>) -> Held {
    let mut last = None;
    for (expected, entry) in (1..).zip(stream.entries) {
        if entry.seq != expected || last.is_some_and(|id| entry.stamp.id <= id) {
            let message = format!("expected seq {expected}, found seq {} with id {}", entry.seq, entry.stamp.id);
            return Err(Violation { invariant: "seq_is_dense", run: stream.run, task: None, message });
        }
        last = Some(entry.stamp.id);
    }
    Ok(())
}

/// A key is used up once: one trigger, one plan, one lease for an attempt unless it came back, one lease for a token.
pub fn idempotency_is_unique(stream: &Stream<'_>) -> Held {
    let mut said = BTreeSet::new();
    let mut tokens = BTreeSet::new();
    let mut leases = BTreeSet::new();
    stream.walk(|run, entry, _, verdict| {
        if verdict != Verdict::Applied {
            return Ok(());
        }
        let fresh = match &entry.event {
            Event::RunTriggered(_) | Event::PlanCreated(_) => said.insert((entry.event.name().to_owned(), 1)),
            // Once in a generation: work that is opened again can be cancelled again.
            Event::RunCancelRequested(_) => said.insert((entry.event.name().to_owned(), run.generation)),
            Event::DispatchEnqueued(e) => {
                tokens.insert((e.task, e.token)) && leases.insert((e.task, e.generation, e.attempt))
            }
            Event::DispatchReturned(e) => leases.remove(&(e.task, e.generation, e.attempt)),
            _ => true,
        };
        if fresh {
            return Ok(());
        }
        let message = format!("{} at seq {} counted again", entry.event.name(), entry.seq);
        broken("idempotency_is_unique", run, entry.event.task(), message)
    })
}

/// A longer prefix never says less: seq and ids grow, nothing that exists goes away, generations do not fall, and
/// no task is ahead of its run.
pub fn prefix_is_monotone(step: &Step<'_>) -> Held {
    let (before, after) = (step.before, step.after);
    let fell = tasks(before).find(|t| {
        let (was, is) = (before.tasks.get(t.0 as usize), after.tasks.get(t.0 as usize));
        is.is_none() || is.map(|t| (t.generation, t.version)) < was.map(|t| (t.generation, t.version))
    });
    let grew = after.seq == before.seq + 1
        && after.last == step.stamp.id
        && after.last > before.last
        && after.scopes.len() >= before.scopes.len()
        && after.edges.len() >= before.edges.len()
        && after.unknown >= before.unknown
        && after.generation >= before.generation
        && (after.planned || !before.planned)
        && (after.about == before.about || before.about.is_none());
    let ahead = tasks(after).find(|t| after.tasks[t.0 as usize].generation > after.generation);
    if grew && fell.is_none() && ahead.is_none() {
        return Ok(());
    }
    let fell = fell.or(ahead);
    broken("prefix_is_monotone", after, fell, format!("{} took something back", step.event.name()))
}

/// What is ignored changes nothing; what was applied and is said again at once moves nothing.
pub fn duplicate_is_noop(step: &Step<'_>) -> Held {
    let fail = |message: String| broken("duplicate_is_noop", step.after, step.event.task(), message);
    if let Verdict::Ignored(why) = step.verdict {
        let mut expected = step.before.clone();
        (expected.seq, expected.last) = (step.after.seq, step.after.last);
        expected.unknown += u32::from(matches!(step.event, Event::Unknown(_)));
        if expected != *step.after || !is_empty(step.changes) {
            return fail(format!("{} was ignored as {why:?} and changed the run", step.event.name()));
        }
        return Ok(());
    }
    said_again((step.stamp, step.event), step.after, &mut step.after.clone())
}

/// What was applied moves nothing when it is said again: to a copy of the run after it, for who keeps one anyway.
pub fn said_again((stamp, event): (Stamp, &Event), after: &Run, copy: &mut Run) -> Held {
    if matches!(event, Event::RunAdvanced(_)) {
        // "Go on" may be said as often as there is something left to do.
        return Ok(());
    }
    let mut changes = Changes::default();
    fold(copy, Stamp { id: stamp.id.plus(1), at: stamp.at }, event, &mut changes);
    if !is_empty(&changes) || copy.tasks != after.tasks {
        return broken("duplicate_is_noop", after, event.task(), format!("{} said twice counted twice", event.name()));
    }
    Ok(())
}

fn is_empty(changes: &Changes) -> bool {
    changes.moves.is_empty()
        && changes.run_moves.is_empty()
        && changes.touched.is_empty()
        && changes.given.is_empty()
        && changes.ready.is_empty()
        && changes.revoked.is_empty()
        && changes.timers_set.is_empty()
        && changes.timers_gone.is_empty()
        && changes.escalated.is_empty()
}

/// A run loaded from its rows is the run they were written from.
pub fn load_equals_fold(run: &Run) -> Held {
    let Some(row) = run.row() else { return Ok(()) };
    let rows = tasks(run).filter(|t| run.has_row(*t)).map(|t| run.task_row(t)).collect();
    let mut expected = std::borrow::Cow::Borrowed(run);
    if !run.over.is_empty() {
        let over = std::mem::take(&mut expected.to_mut().over);
        expected.to_mut().release(over);
    }
    match Run::from_rows(&row, rows, run.given_rows().collect(), run.plan.clone()) {
        Ok(loaded) if loaded == *expected => Ok(()),
        Ok(loaded) => {
            let (task, what) = difference(&loaded, &expected);
            broken("load_equals_fold", run, task, format!("the loaded run differs in {what}"))
        }
        Err(error) => broken("load_equals_fold", run, None, error.message),
    }
}

fn difference(one: &Run, other: &Run) -> (Option<TaskIx>, String) {
    let mut tasks = one.tasks.iter().zip(other.tasks.iter()).enumerate();
    if let Some((at, (loaded, folded))) = tasks.find(|(_, (loaded, folded))| loaded != folded) {
        return (Some(TaskIx(at as u32)), format!("a task: it is {loaded:?}, and was {folded:?}"));
    }
    let what = match () {
        () if one.scopes != other.scopes => "its scopes",
        () if one.edges != other.edges => "its edges",
        () if one.timers != other.timers => "its timers",
        () if one.composites != other.composites => "its composites",
        () if one.chains != other.chains => "where its chains stand",
        () if one.before != other.before => "what was assigned before a task",
        () if one.stalled != other.stalled => "what its fold has still to run",
        () if one.advancing != other.advancing => "what still advances",
        () if one.outputs != other.outputs => "its outputs",
        () if one.reasons != other.reasons => "its reasons",
        () if one.kept != other.kept => "the facts it kept",
        () if one.approvals != other.approvals => "its approvals",
        () if one.escalated != other.escalated => "how far its gates escalated",
        () if one.frozen != other.frozen => "who froze it",
        () if one.counts != other.counts || one.leased != other.leased => "its counts",
        () => "itself",
    };
    (None, what.to_owned())
}

/// The rows that a store holds of one run.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The run's own row.
    pub run: &'a RunRow,
    /// Its tasks that have left their first state, in order.
    pub tasks: &'a [TaskRow],
    /// What its composites and itself began with, in order.
    pub given: &'a [GivenRow],
    /// Its timers, in the order of their keys.
    pub timers: &'a [TimerRow],
    /// Its tasks that wait for a worker, in order.
    pub outbox: &'a [OutboxRow],
}

/// The rows are those of the ledger folded up to the seq they name.
pub fn refold_equals_projection(stream: &Stream<'_>, rows: &Rows<'_>) -> Held {
    rows_are_of(&stream.refold(rows.run.applied_seq), rows)
}

/// The rows are those of a run that was folded up to the seq they name.
pub fn rows_are_of(run: &Run, rows: &Rows<'_>) -> Held {
    let fail = |task, message: String| broken("refold_equals_projection", run, task, message);
    if run.seq != rows.run.applied_seq || run.row().as_ref() != Some(rows.run) {
        return fail(None, format!("its row says seq {}, the ledger gives another row there", rows.run.applied_seq));
    }
    let expected = || tasks(run).filter(|t| run.has_row(*t)).map(|t| run.task_row(t));
    if let Some((row, _)) = expected().zip(rows.tasks).find(|(a, b)| a != *b) {
        return fail(Some(row.task), format!("the ledger says {:?}, the row something else", row.state));
    }
    let (folded, stored) = (expected().count(), rows.tasks.len());
    if folded != stored {
        return fail(None, format!("the ledger gives {folded} tasks with rows, there are {stored}"));
    }
    if !run.given_rows().eq(rows.given.iter().cloned()) {
        return fail(None, "what its composites or itself began with is not in the rows".into());
    }
    if !run.timers.iter().map(|(key, due)| TimerRow { key: *key, due: *due }).eq(rows.timers.iter().copied()) {
        return fail(None, "its timer rows are not those of the ledger".into());
    }
    let whole = run.disowned_row().into_iter().chain(run.stall_row());
    let outbox = tasks(run).filter_map(|t| run.outbox_row(t)).chain(whole);
    if !outbox.eq(rows.outbox.iter().cloned()) {
        return fail(None, "its outbox rows are not those of the ledger".into());
    }
    Ok(())
}
