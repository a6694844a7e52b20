//! What is still held: whether finished work can be opened by itself, or only with what is around it.
//!
//! A program goes on from what is done in it. A loop keeps its last round, a try goes on to its handler, a spread
//! that ended well keeps its list: what they went on from has no place any more to which it could hand anything.

use super::Run;
use crate::event::TaskIx;
use crate::fold::Refusal;
use crate::plan::Work;
use crate::state::TaskState;

impl Run {
    /// Why a task cannot be opened by itself, with the better choice; nothing if it can.
    pub(crate) fn sealed(&self, task: TaskIx) -> Option<Refusal> {
        let mut number = self.task(task)?.scope;
        while number != 0 {
            let parent = self.scopes[number as usize].parent;
            if let Some(why) = self.sealed_by(parent, number) {
                return Some(why);
            }
            number = self.tasks[parent.0 as usize].scope;
        }
        None
    }

    /// The same of one scope and the composite that made it.
    fn sealed_by(&self, parent: TaskIx, number: u32) -> Option<Refusal> {
        if self.task(parent).is_none() {
            return Some(Refusal::DONE_ANEW);
        }
        let Some(state) = self.composites.get(&parent) else { return Some(Refusal::DONE_ANEW) };
        let is_last = state.chunks.last().is_some_and(|chunk| chunk.scope + chunk.count == number + 1);
        match &self.spec_of(parent).work {
            Work::For(_) | Work::While(_) => (!is_last).then_some(Refusal::ROUND_OVER),
            Work::Try(_) => (!is_last).then_some(Refusal::HANDLED),
            Work::Spread(_) | Work::Parallel(_) => {
                let index = self.scopes[number as usize].index;
                (state.scope_at(index) != Some(number)).then_some(Refusal::GIVEN_BACK)
            }
            _ => (!is_last).then_some(Refusal::DONE_ANEW),
        }
    }

    /// Whether a statement was begun in this generation.
    pub(crate) fn has_begun(&self, task: TaskIx) -> bool {
        self.tasks[task.0 as usize].ready_at.known().is_some()
    }

    /// Whether a program stopped at a statement that did not succeed, so that it can go on from just there.
    pub(crate) fn stopped_at(&self, task: TaskIx) -> bool {
        let entry = &self.tasks[task.0 as usize];
        let ended_badly = matches!(entry.state, TaskState::Error | TaskState::Cancelled);
        if !ended_badly || !self.has_begun(task) || self.chains.contains_key(&entry.scope) {
            return false;
        }
        if entry.scope == 0 {
            return true;
        }
        let parent = self.scopes[entry.scope as usize].parent;
        !self.tasks[parent.0 as usize].state.is_done() || self.stopped_at(parent)
    }
}
