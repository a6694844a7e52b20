//! Timers of a task: set and taken away with what they stand for, so none outlives its meaning.

use crate::event::{TaskIx, TimerKey, TimerKind};
use crate::fold::Fold;
use crate::time::Time;

impl Fold<'_> {
    pub(crate) fn set_timer(&mut self, task: TaskIx, kind: TimerKind, due: Time) {
        let entry = &self.run.tasks[task.0 as usize];
        let key = TimerKey { task, kind, generation: entry.generation, attempt: entry.attempt };
        self.run.timers.insert(key, due);
        self.changes.timers_set.push((key, due));
    }

    /// The next step of a gate's `escalate` is waited for, if there is one.
    pub(crate) fn await_escalation(&mut self, gate: TaskIx) {
        self.clear_timers_of(gate, TimerKind::Escalation);
        if let Some(due) = self.run.escalates_at(gate, self.run.next_step(gate)) {
            self.set_timer(gate, TimerKind::Escalation, due);
        }
    }

    pub(crate) fn clear_timer(&mut self, key: TimerKey) {
        if self.run.timers.remove(&key).is_some() {
            self.changes.timers_gone.push(key);
        }
    }

    pub(crate) fn clear_timers_of(&mut self, task: TaskIx, kind: TimerKind) {
        self.clear_where(task, |k| k.kind == kind);
    }

    pub(crate) fn clear_timers(&mut self, task: TaskIx) {
        self.clear_where(task, |_| true);
    }

    fn clear_where(&mut self, task: TaskIx, which: impl FnMut(&TimerKey) -> bool) {
        if self.run.timers.is_empty() {
            return;
        }
        let keys: Vec<TimerKey> =
            self.run.timers.range(TimerKey::all_of(task)).map(|(k, _)| *k).filter(which).collect();
        for key in keys {
            self.clear_timer(key);
        }
    }
}
