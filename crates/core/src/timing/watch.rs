//! The ledger watched move by move: when each task became ready, waited, ran and was done.

use crate::event::TaskIx;
use crate::fold::{Changes, TaskMove, fold};
use crate::history::{Entry, Stream};
use crate::plan::Work;
use crate::run::{GONE_SCOPE, Run};
use crate::state::{Move, TaskState};
use crate::time::{Millis, Time};
use std::collections::BTreeMap;

/// A run, and when its tasks were what.
pub(super) struct Watched {
    pub run: Run,
    /// By number.
    pub tasks: Vec<Times>,
    /// The scopes of each composite in the order in which they were made, also those of rounds that are over.
    pub inner: BTreeMap<TaskIx, Vec<u32>>,
    pub from: Time,
    pub until: Time,
    moves: u64,
}

/// When a task was what, in its newest generation. Places are counted over all moves: of two things in one event, the
/// cause has the lower one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub ready_place: u64,
    pub ready_at: Time,
    pub done_place: u64,
    pub done_at: Time,
    /// The event by which it was done.
    pub done_seq: u64,
    pub waited: Millis,
    pub ran: Millis,
    since: Time,
}

impl Times {
    pub(super) fn was_ready(&self) -> bool {
        self.ready_place > 0
    }

    pub(super) fn is_done(&self) -> bool {
        self.done_place > 0
    }

    /// Where it was decided that it begins, or that it will not.
    pub(super) fn decided_place(&self) -> u64 {
        if self.was_ready() { self.ready_place } else { self.done_place }
    }
}

impl Watched {
    pub(super) fn of(stream: &Stream<'_>, now: Time) -> Self {
        let run = Run::new(stream.run, stream.plan_hash, std::sync::Arc::clone(stream.plan));
        let (tasks, inner) = (Vec::new(), BTreeMap::new());
        let mut watched = Self { run, tasks, inner, from: now, until: now, moves: 0 };
        let mut changes = Changes::default();
        for entry in stream.entries {
            changes.clear();
            fold(&mut watched.run, entry.stamp, &entry.event, &mut changes);
            watched.tasks.resize(watched.run.tasks.len(), Times::default());
            changes.moves.iter().for_each(|step| watched.see(step, entry));
        }
        watched.close(now);
        watched
    }

    fn see(&mut self, step: &TaskMove, entry: &Entry) {
        self.moves += 1;
        let at = entry.stamp.at;
        self.pass(step.task, step.from, at);
        let times = &mut self.tasks[step.task.0 as usize];
        times.since = at;
        if step.by == Move::Reopened {
            *times = Times { since: at, ..Times::default() };
            return;
        }
        // What was left out never was ready; what failed before it began was, for no time at all.
        if step.from == TaskState::Pending && !matches!(step.to, TaskState::Skipped | TaskState::Cancelled) {
            (times.ready_place, times.ready_at) = (self.moves, at);
        }
        if step.to.is_done() {
            (times.done_place, times.done_at, times.done_seq) = (self.moves, at, entry.seq);
        }
    }

    /// Counts the time since a task's last move.
    fn pass(&mut self, task: TaskIx, state: TaskState, at: Time) {
        let works = match &self.run.spec_of(task).work {
            Work::Gate(_) | Work::Sleep(_) => false,
            _ => state == TaskState::InProgress,
        };
        let times = &mut self.tasks[task.0 as usize];
        let span = at.since(times.since).0;
        if works {
            times.ran.0 += span;
        } else if !matches!(state, TaskState::Pending) && !state.is_done() {
            times.waited.0 += span;
        }
    }

    /// What is not over goes on until now.
    fn close(&mut self, now: Time) {
        self.from = self.run.about.as_ref().map_or(now, |about| about.at);
        self.until = self.run.completed_at.known().unwrap_or(now).max(self.from);
        for n in 0..self.tasks.len() {
            let task = TaskIx(n as u32);
            if self.run.task(task).is_some() && self.tasks[n].was_ready() && !self.tasks[n].is_done() {
                let (state, until) = (self.run.tasks[n].state, self.until);
                self.pass(task, state, until);
            }
        }
        for (number, scope) in self.run.scopes.iter().enumerate().skip(1).filter(|(_, scope)| **scope != GONE_SCOPE) {
            self.inner.entry(scope.parent).or_default().push(number as u32);
        }
    }

    /// When it ended; what is at work ends now.
    pub(super) fn end_of(&self, task: TaskIx) -> Time {
        let times = &self.tasks[task.0 as usize];
        if times.is_done() { times.done_at } else { self.until }
    }

    /// Whether the scopes of a composite follow each other.
    pub(super) fn in_turn(&self, composite: TaskIx) -> bool {
        matches!(self.run.spec_of(composite).work, Work::For(_) | Work::While(_) | Work::Try(_))
    }

    /// The tasks of a scope.
    pub(super) fn tasks_of(&self, scope: u32) -> impl DoubleEndedIterator<Item = TaskIx> + use<> {
        let scope = self.run.scopes[scope as usize];
        (scope.task..scope.task + self.run.region_of(&scope).len()).map(TaskIx)
    }

    /// The scopes of the same composite that were made before this one, the latest first.
    pub(super) fn scopes_before(&self, scope: u32) -> impl Iterator<Item = u32> + '_ {
        let siblings = self.siblings(scope);
        let at = siblings.partition_point(|other| *other < scope);
        siblings[..at].iter().rev().copied()
    }

    /// The scopes of the same composite that were made after this one, the earliest first.
    pub(super) fn scopes_after(&self, scope: u32) -> impl Iterator<Item = u32> + '_ {
        let siblings = self.siblings(scope);
        let at = siblings.partition_point(|other| *other <= scope);
        siblings[at..].iter().copied()
    }

    fn siblings(&self, scope: u32) -> &[u32] {
        let parent = self.run.scopes[scope as usize].parent;
        self.inner.get(&parent).map_or(&[], Vec::as_slice)
    }
}
