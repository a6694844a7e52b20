//! Opening finished work again: the next generation of a task and of all that was left out because of it.
//!
//! Done is final within a generation; this is the only way out of it. Other finished work is kept, and so
//! are the facts it was decided on, even where their upstream is being done anew.

use crate::event::TaskIx;
use crate::fold::Fold;
use crate::plan::Resolution;
use crate::run::Reason;
use crate::state::{Move, TaskState};
use crate::time::Time;
use std::collections::{BTreeSet, VecDeque};

impl Fold<'_> {
    /// Opens the next generation of `first` and of what follows from it; `first` is Pending afterwards, and the caller's.
    pub(crate) fn reopen(&mut self, first: TaskIx) {
        let set = self.left_out_because_of(first);
        for task in &set {
            self.open_again(*task);
        }
        for task in &set {
            self.reset_edges(*task, &set);
        }
        self.recount_spreads(&set);
        self.run.completed_at = Time::NEVER;
        for task in set.into_iter().filter(|t| *t != first) {
            self.decide_again(task);
        }
    }

    /// The task, what was skipped or cancelled because of it, the composites that hold these, and so on.
    fn left_out_because_of(&self, first: TaskIx) -> BTreeSet<TaskIx> {
        let mut set = BTreeSet::from([first]);
        let mut queue = VecDeque::from([first]);
        while let Some(task) = queue.pop_front() {
            let scope = self.run.scope_of(task);
            let region = self.run.region_of(scope);
            let behind = region.needed_by(task.0 - scope.task).iter().map(|out| TaskIx(scope.task + out.down));
            let mut next: Vec<TaskIx> = behind
                .filter(|d| matches!(self.run.reasons.get(d), Some(Reason::Upstream { task: t, .. }) if *t == task))
                .collect();
            let stopped = self.run.reasons.iter().filter(|(_, r)| **r == Reason::BecauseOf { task });
            next.extend(stopped.map(|(t, _)| *t));
            if self.run.tasks[task.0 as usize].scope != 0 && self.state(scope.parent).is_done() {
                next.push(scope.parent);
            }
            queue.extend(next.into_iter().filter(|t| set.insert(*t)));
        }
        set
    }

    fn open_again(&mut self, task: TaskIx) {
        let was = self.state(task);
        self.step(task, Move::Reopened, TaskState::Pending);
        let entry = self.task_mut(task);
        entry.generation = entry.generation.saturating_add(1);
        entry.attempt = 0;
        entry.token = Default::default();
        entry.ready_at = Time::NEVER;
        entry.started_at = Time::NEVER;
        entry.completed_at = Time::NEVER;
        let scope = entry.scope as usize;
        self.run.scopes[scope].open += 1;
        self.run.scopes[scope].bad -= u32::from(matches!(was, TaskState::Error | TaskState::Cancelled));
        self.run.outputs.remove(&task);
        self.run.reasons.remove(&task);
        self.run.approvals.remove(&task);
    }

    /// In-edges are read off their upstreams anew; out-edges of what is kept stay as they were decided on.
    fn reset_edges(&mut self, task: TaskIx, set: &BTreeSet<TaskIx>) {
        let scope = *self.run.scope_of(task);
        let plan = std::sync::Arc::clone(&self.run.plan);
        let region = &plan.regions[scope.region as usize];
        let node = task.0 - scope.task;
        for (edge, need) in region.needs(node) {
            let up = TaskIx(scope.task + need.up);
            let fact = if set.contains(&up) { None } else { self.run.fact_of(up) };
            self.run.edges[(scope.edge + edge) as usize] = fact.map_or(0, |r| r as u8);
            self.run.kept.remove(&(scope.edge + edge));
        }
        self.recount(task);
        for out in region.needed_by(node) {
            let down = TaskIx(scope.task + out.down);
            if set.contains(&down) {
                continue;
            }
            let edge = scope.edge + out.edge;
            match Resolution::from_byte(self.run.edges[edge as usize]) {
                Some(fact) if self.state(down).is_done() => {
                    self.run.kept.insert(edge, fact);
                }
                _ => {
                    self.run.edges[edge as usize] = 0;
                    self.recount(down);
                }
            }
        }
    }

    fn recount(&mut self, task: TaskIx) {
        let (accepted, refused) = self.run.count_edges(task);
        let entry = self.task_mut(task);
        entry.accepted = accepted;
        entry.refused = refused;
    }

    fn recount_spreads(&mut self, set: &BTreeSet<TaskIx>) {
        let holders: BTreeSet<TaskIx> = set
            .iter()
            .filter(|t| self.run.tasks[t.0 as usize].scope != 0)
            .map(|t| self.run.scope_of(*t).parent)
            .chain(set.iter().copied().filter(|t| self.run.spreads.contains_key(t)))
            .collect();
        for spread in holders {
            self.run.recount_spread(spread);
            let Some(state) = self.run.spreads.get_mut(&spread) else { continue };
            state.total = state.items.len() as u32;
            if state.made() < state.total {
                self.run.advancing.insert(spread);
            }
        }
    }

    fn decide_again(&mut self, task: TaskIx) {
        let scope = *self.run.scope_of(task);
        let plan = std::sync::Arc::clone(&self.run.plan);
        let region = &plan.regions[scope.region as usize];
        let node = task.0 - scope.task;
        if region.in_degree(node) == 0 || self.run.spreads.contains_key(&task) {
            return self.ready(task);
        }
        let refusing = region.needs(node).find_map(|(edge, need)| {
            let fact = self.run.resolution(&scope, edge)?;
            (!need.accepts.contains(fact)).then_some((TaskIx(scope.task + need.up), fact))
        });
        let (up, fact) = refusing.unwrap_or((task, Resolution::Success));
        self.decide(task, up, fact);
    }
}
