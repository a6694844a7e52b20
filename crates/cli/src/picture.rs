//! From a run to what is to be seen of it: tasks in the order of the plan, each with the one thing worth saying.
//!
//! A spread is one line with a bar. The items of a small one have lines of their own from the beginning, so that
//! nothing moves while they run; of a large one only those that failed or wait for somebody are shown.

mod beside;
mod note;

pub use beside::Beside;
pub(crate) use note::failure;

use crate::live::{Counts, Picture, SpreadCount, TaskLine};
use edgewise_core::event::TaskIx;
use edgewise_core::plan::Work;
use edgewise_core::run::{Composite, Run};
use edgewise_core::state::{Phase, TaskState};
use edgewise_core::time::Time;

/// Spreads with at most so many items show all of them.
const SMALL_SPREAD: u32 = 8;
/// Of a larger one, so many items at most are worth a line.
const ITEM_LINES: usize = 8;

/// What is to be seen of a run now, with what is known of it from elsewhere.
pub fn picture(run: &Run, now: Time, beside: &Beside) -> Option<Picture> {
    let about = run.about.as_ref()?;
    let mut gather = Gather { run, now, beside, lines: Vec::new(), counts: Counts::default() };
    if !run.scopes.is_empty() {
        gather.scope(0, 0, true);
    }
    Some(Picture {
        run: run.id,
        flow: about.flow.clone(),
        state: run.state,
        paused: run.paused,
        started_at: run.started_at.known().unwrap_or(about.at),
        completed_at: run.completed_at,
        expected: beside.run,
        counts: gather.counts,
        tasks: gather.lines,
    })
}

struct Gather<'r> {
    run: &'r Run,
    now: Time,
    beside: &'r Beside,
    lines: Vec<TaskLine>,
    counts: Counts,
}

impl Gather<'_> {
    /// Counts the tasks of a scope; with lines for all, or only for those that somebody must see.
    fn scope(&mut self, number: u32, depth: usize, all: bool) {
        let scope = self.run.scopes[number as usize];
        let len = self.run.region_of(&scope).len();
        for task in (scope.task..scope.task + len).map(TaskIx) {
            // What a program did not come to is no news, and there may be much of it.
            if self.run.was_not_reached(task) {
                continue;
            }
            let phase = self.run.phase_of(task);
            *self.counts.of(phase) += 1;
            if all || matches!(phase, Phase::Failed | Phase::Waiting) {
                let line = self.line(task, phase, depth);
                self.lines.push(line);
            }
            if let Some(state) = self.run.composites.get(&task) {
                self.items(task, state, depth + 1, all);
            }
        }
    }

    fn items(&mut self, spread: TaskIx, state: &Composite, depth: usize, all: bool) {
        // Of a loop only the round that it is in is there, however many there are.
        let forks = matches!(self.run.spec_of(spread).work, Work::Spread(_) | Work::Parallel(_));
        let all = all && (!forks || state.total <= SMALL_SPREAD);
        let at = self.lines.len();
        let (mut running, mut waiting) = (0, 0);
        for scope in state.scopes() {
            let before = self.counts;
            self.scope(scope, depth, all);
            let runs = self.counts.running > before.running;
            running += u32::from(runs);
            waiting += u32::from(!runs && self.counts.waiting > before.waiting);
            if !all {
                self.lines.truncate(at + ITEM_LINES);
            }
        }
        let path = self.run.path(spread);
        let Some(line) = self.lines[..at].iter_mut().rev().find(|line| line.path == path) else { return };
        let (failed, total) = (state.failed, state.total);
        line.spread = match &self.run.spec_of(spread).work {
            Work::Spread(_) | Work::Parallel(_) => {
                Some(SpreadCount { done: state.done - failed, failed, running, waiting, total })
            }
            // The round that a loop is in is at work, those before it are done.
            Work::For(_) => {
                let at_work = u32::from(self.run.tasks[spread.0 as usize].state != TaskState::Complete);
                Some(SpreadCount { done: state.made().saturating_sub(at_work), failed, running, waiting, total })
            }
            _ => None,
        };
    }

    fn line(&self, task: TaskIx, phase: Phase, depth: usize) -> TaskLine {
        let (entry, spec) = (&self.run.tasks[task.0 as usize], self.run.spec_of(task));
        let is_attempt = self.run.has_attempts(task);
        // A gate or a spread has no attempts: it begins when it is reached. What was left out never began.
        let began = if is_attempt { entry.started_at } else { entry.ready_at };
        let shown = !matches!(phase, Phase::Skipped | Phase::Blocked);
        let path = self.run.path(task);
        TaskLine {
            expected: self.beside.tasks.get(&path).copied(),
            path,
            phase,
            attempt: if is_attempt { entry.attempt } else { 0 },
            max_attempts: spec.retry.max_attempts,
            note: note::note(self.run, task, phase, (self.now, self.beside)),
            started_at: if shown { began } else { Time::NEVER },
            completed_at: entry.completed_at,
            spread: None,
            depth,
        }
    }
}

#[cfg(test)]
mod tests;
