//! Opening finished work again: the next generation of a task and of all that was left out because of it.
//!
//! Done is final within a generation; this is the only way out of it. Other work that is done or under
//! way is kept, and so are the facts it was decided on, even where their upstream is being done anew.

use crate::event::TaskIx;
use crate::fold::Fold;
use crate::plan::{Join, OutEdge, Resolution};
use crate::rule::Opening;
use crate::run::{Reason, Scope};
use crate::state::{Move, TaskState};
use crate::time::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

impl Fold<'_> {
    /// Opens the next generation of `first` and of what follows from it; `first` is Pending afterwards, and the caller's.
    pub(crate) fn reopen(&mut self, first: TaskIx) {
        if self.run.in_chain(first) {
            let opening = Opening::of(self.run, first);
            return self.open(&opening, Some(first));
        }
        self.run.generation = self.run.generation.saturating_add(1);
        let set = self.left_out_because_of(first);
        for task in &set {
            self.open_again(*task);
        }
        for task in &set {
            self.reset_in_edges(*task, *task == first, &set);
            self.reset_out_edges(*task, &set);
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
        let stopped = self.stopped_because_of();
        while let Some(task) = queue.pop_front() {
            let scope = self.run.scope_of(task);
            let region = self.run.region_of(scope);
            let behind = region.needed_by(task.0 - scope.task).iter();
            let mut next: Vec<TaskIx> = behind
                .filter(|out| self.is_lost_with(scope, out, task))
                .map(|out| TaskIx(scope.task + out.down))
                .collect();
            next.extend(stopped.get(&task).into_iter().flatten());
            if self.run.tasks[task.0 as usize].scope != 0 && self.state(scope.parent).is_done() {
                next.push(scope.parent);
            }
            queue.extend(next.into_iter().filter(|t| set.insert(*t)));
        }
        set
    }

    /// The tasks that were stopped because of another, by that other.
    fn stopped_because_of(&self) -> BTreeMap<TaskIx, Vec<TaskIx>> {
        let mut stopped: BTreeMap<TaskIx, Vec<TaskIx>> = BTreeMap::new();
        for (task, reason) in &self.run.reasons {
            if let Reason::BecauseOf { task: cause } = reason
                && self.run.sealed(*task).is_none()
            {
                stopped.entry(*cause).or_default().push(*task);
            }
        }
        stopped
    }

    /// Whether the task behind an edge was left out because of `up`. One upstream decides against `all`; an
    /// `any` or a number is lost with each of those it had to do without.
    fn is_lost_with(&self, scope: &Scope, out: &OutEdge, up: TaskIx) -> bool {
        let Some(Reason::Upstream { task, .. }) = self.run.reasons.get(&TaskIx(scope.task + out.down)) else {
            return false;
        };
        let region = self.run.region_of(scope);
        let refused = self.run.resolution(scope, out.edge).is_some_and(|r| !region.edge(out.edge).accepts.contains(r));
        *task == up || (region.join(out.down) != Join::All && refused)
    }

    /// The next generation of a task begins bare. A lease of the old one is over.
    pub(crate) fn open_again(&mut self, task: TaskIx) {
        let was = self.state(task);
        if was == TaskState::InProgress {
            self.revoke(task);
        }
        self.clear_timers(task);
        self.run.returned.remove(&task);
        self.step(task, Move::Reopened, TaskState::Pending);
        let entry = self.task_mut(task);
        entry.generation = entry.generation.saturating_add(1);
        entry.attempt = 0;
        entry.token = Default::default();
        entry.ready_at = Time::NEVER;
        entry.started_at = Time::NEVER;
        entry.completed_at = Time::NEVER;
        let scope = entry.scope as usize;
        self.run.scopes[scope].open += u32::from(was.is_done());
        self.run.scopes[scope].bad -= u32::from(matches!(was, TaskState::Error | TaskState::Cancelled));
        self.run.outputs.remove(&task);
        self.run.reasons.remove(&task);
        self.run.approvals.remove(&task);
        self.run.escalated.remove(&task);
        self.run.adopted.remove(&task);
    }

    /// In-edges are read off their upstreams anew. But the first is ready already, and a spread that has begun
    /// goes on: both keep the facts they had.
    fn reset_in_edges(&mut self, task: TaskIx, is_first: bool, set: &BTreeSet<TaskIx>) {
        let scope = *self.run.scope_of(task);
        let plan = std::sync::Arc::clone(&self.run.plan);
        let region = &plan.regions[scope.region as usize];
        let node = task.0 - scope.task;
        let keeps = is_first || self.run.composites.contains_key(&task);
        for (edge, need) in region.needs(node) {
            let up = TaskIx(scope.task + need.up);
            if keeps {
                if set.contains(&up)
                    && let Some(fact) = self.run.resolution(&scope, edge)
                {
                    self.run.kept.insert(scope.edge + edge, fact);
                }
                continue;
            }
            let fact = if set.contains(&up) { None } else { self.run.fact_of(up) };
            self.run.edges[(scope.edge + edge) as usize] = fact.map_or(0, |r| r as u8);
            self.run.kept.remove(&(scope.edge + edge));
        }
        self.recount(task);
    }

    /// Whoever still waits for the task waits for its next generation; who was decided on it before keeps that fact.
    fn reset_out_edges(&mut self, task: TaskIx, set: &BTreeSet<TaskIx>) {
        let scope = *self.run.scope_of(task);
        let plan = std::sync::Arc::clone(&self.run.plan);
        let region = &plan.regions[scope.region as usize];
        for out in region.needed_by(task.0 - scope.task) {
            let down = TaskIx(scope.task + out.down);
            if set.contains(&down) {
                continue;
            }
            let edge = scope.edge + out.edge;
            match Resolution::from_byte(self.run.edges[edge as usize]) {
                Some(fact) if self.state(down) != TaskState::Pending => {
                    self.run.kept.insert(edge, fact);
                }
                _ => {
                    self.run.edges[edge as usize] = 0;
                    self.run.kept.remove(&edge);
                    self.recount(down);
                }
            }
        }
    }

    pub(crate) fn recount(&mut self, task: TaskIx) {
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
            .chain(set.iter().copied().filter(|t| self.run.composites.contains_key(t)))
            .collect();
        for spread in holders {
            self.run.recount_spread(spread);
            let Some(state) = self.run.composites.get_mut(&spread) else { continue };
            state.total = state.items.len() as u32;
            if state.made() < state.total {
                self.run.advancing.insert(spread);
            }
        }
    }

    pub(crate) fn decide_again(&mut self, task: TaskIx) {
        if self.state(task) != TaskState::Pending {
            // A failure of another one has stopped it already.
            return;
        }
        let scope = *self.run.scope_of(task);
        let plan = std::sync::Arc::clone(&self.run.plan);
        let region = &plan.regions[scope.region as usize];
        let node = task.0 - scope.task;
        if region.in_degree(node) == 0 || self.run.composites.contains_key(&task) {
            return self.ready(task);
        }
        let mut refusing = region.needs(node).filter_map(|(edge, need)| {
            let fact = self.run.resolution(&scope, edge)?;
            (!need.accepts.contains(fact)).then_some((TaskIx(scope.task + need.up), fact))
        });
        // The first refusal decides against `all`, the last one against `any` or a number.
        let refusing = if region.join(node) == Join::All { refusing.next() } else { refusing.last() };
        let (up, fact) = refusing.unwrap_or((task, Resolution::Success));
        self.decide(task, up, fact);
    }
}
