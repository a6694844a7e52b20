//! Rerun: finished work is opened again together, in one fold, and goes on from there.
//!
//! Everything opened is Pending in its next generation before anything is decided, so that no order among
//! them matters. Chains stand again at the first statement that was opened in them, with the variables as they
//! were before it; composites that only hold something go on with the scopes that they have.

use crate::event::TaskIx;
use crate::fold::Fold;
use crate::plan::{OnFailure, Resolution, Work};
use crate::rule::opening::Opening;
use crate::run::{Asked, Chain, Composite, Reason, Run};
use crate::state::TaskState;
use crate::time::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Fold<'_> {
    /// Opens the run's end: nobody's cancel or word that it was dealt with holds any more.
    pub(crate) fn forget_end(&mut self) {
        let marks = [self.run.cancel.take(), self.run.resolved.take()];
        let Some(asked) = marks.into_iter().flatten().next() else { return };
        self.explain_stops(&asked);
        self.keep_failures();
    }

    /// What fails now is held again, until somebody gives it up anew. Whether something was given up.
    pub(crate) fn forget_give_up(&mut self) -> bool {
        let given_up = self.run.given_up.take().is_some();
        if given_up {
            self.keep_failures();
        }
        given_up
    }

    /// What the whole run was stopped for is now the reason of each task that was stopped.
    fn explain_stops(&mut self, asked: &Asked) {
        let unexplained = |run: &Run, task: TaskIx| {
            run.tasks[task.0 as usize].state == TaskState::Cancelled
                && matches!(run.reasons.get(&task), None | Some(Reason::Failed(_) | Reason::When))
                && run.sealed(task).is_none()
        };
        let stopped: Vec<TaskIx> = self.run.present().filter(|t| unexplained(self.run, *t)).collect();
        for task in stopped {
            self.because(task, Reason::Operator(Box::new(asked.clone())));
            self.touch(task);
        }
    }

    /// Failures hold again what is not yet decided on them; what was decided when they were let stand stays so.
    fn keep_failures(&mut self) {
        if self.run.plan.on_failure != OnFailure::Hold {
            return;
        }
        let plan = Arc::clone(&self.run.plan);
        let failed = |t: &TaskIx| self.state(*t) == TaskState::Error && self.run.sealed(*t).is_none();
        let failed: Vec<TaskIx> = self.run.present().filter(failed).collect();
        for up in failed {
            let scope = *self.run.scope_of(up);
            for out in plan.regions[scope.region as usize].needed_by(up.0 - scope.task) {
                let edge = scope.edge + out.edge;
                if let Some(fact) = Resolution::from_byte(self.run.edges[edge as usize]) {
                    self.run.kept.insert(edge, fact);
                }
            }
        }
    }

    /// Opens all of it. What is opened in a chain is begun when this event is settled, but for `own`, which is the
    /// caller's.
    pub(crate) fn open(&mut self, opening: &Opening, own: Option<TaskIx>) {
        self.run.generation = self.run.generation.saturating_add(1);
        self.run.completed_at = Time::NEVER;
        opening.anew.iter().for_each(|task| self.drop_scopes(*task));
        let done: BTreeSet<TaskIx> = opening.holders.iter().copied().filter(|t| self.state(*t).is_done()).collect();
        for task in opening.anew.iter().chain(&done) {
            self.open_again(*task);
        }
        self.run.adopted.extend(opening.adopts.iter().map(|(task, child)| (*task, child.clone())));
        for task in &opening.anew {
            self.read_in_edges(*task, opening);
        }
        for task in opening.anew.iter().chain(&done) {
            self.unresolve_out_edges(*task, opening);
        }
        self.rewind(opening, &done, own);
        for task in &opening.holders {
            self.hold_again(*task, done.contains(task));
        }
        for task in opening.anew.iter().filter(|t| Some(**t) != own) {
            if !self.run.in_chain(*task) {
                self.decide_again(*task);
            }
        }
    }

    /// What a composite made is given up: it will make its scopes anew. Whoever keeps rows gives the old ones back.
    fn drop_scopes(&mut self, task: TaskIx) {
        self.stop_within(task);
        while let Some(stopped) = self.done.pop_front() {
            self.resolve_out_edges(stopped);
        }
        self.ended.clear();
        let Some(state) = self.run.composites.remove(&task) else { return };
        self.give(task);
        let mut within: Vec<u32> = state.scopes().collect();
        self.run.over.extend(&within);
        // What is done anew is not counted twice.
        while let Some(number) = within.pop() {
            let scope = self.run.scopes[number as usize];
            for task in (scope.task..scope.task + self.run.region_of(&scope).len()).map(TaskIx) {
                self.run.counts[self.state(task) as usize] -= 1;
                if self.run.makes_all_at_once(task) {
                    self.run.recount_spread(task);
                }
                within.extend(self.run.composites.get(&task).into_iter().flat_map(Composite::scopes));
            }
        }
    }

    /// Edges from what is not opened are there at once, edges from what is opened are open.
    fn read_in_edges(&mut self, task: TaskIx, opening: &Opening) {
        let scope = *self.run.scope_of(task);
        let plan = Arc::clone(&self.run.plan);
        let region = &plan.regions[scope.region as usize];
        for (edge, need) in region.needs(task.0 - scope.task) {
            let (up, edge) = (TaskIx(scope.task + need.up), scope.edge + edge);
            let opened = opening.anew.contains(&up) || opening.holders.contains(&up);
            if !opened && opening.kept.contains(&task) {
                continue;
            }
            let fact = if opened { None } else { self.run.fact_of(up) };
            if !opened && opening.stands && fact.is_none() && self.run.kept.contains_key(&edge) {
                continue;
            }
            self.run.edges[edge as usize] = fact.map_or(0, |r| r as u8);
            self.run.kept.remove(&edge);
        }
        self.recount(task);
    }

    /// Who still waits, waits for the next generation.
    fn unresolve_out_edges(&mut self, task: TaskIx, opening: &Opening) {
        let scope = *self.run.scope_of(task);
        let plan = Arc::clone(&self.run.plan);
        for out in plan.regions[scope.region as usize].needed_by(task.0 - scope.task) {
            let (down, edge) = (TaskIx(scope.task + out.down), scope.edge + out.edge);
            if !opening.anew.contains(&down) {
                self.run.edges[edge as usize] = 0;
                self.run.kept.remove(&edge);
                self.recount(down);
            }
        }
    }

    /// Chains stand again where the first of what was opened in them stands.
    fn rewind(&mut self, opening: &Opening, holders: &BTreeSet<TaskIx>, own: Option<TaskIx>) {
        if opening.whole && self.run.is_program() {
            return self.begin_again();
        }
        let mut places: BTreeMap<u32, (u32, TaskIx)> = BTreeMap::new();
        for task in opening.anew.iter().chain(holders) {
            let number = self.run.tasks[task.0 as usize].scope;
            let scope = &self.run.scopes[number as usize];
            let region = self.run.region_of(scope);
            if region.script().is_none() {
                continue;
            }
            let Some(at) = region.statement_of(task.0 - scope.task) else { continue };
            let place = places.entry(number).or_insert((at, *task));
            *place = (*place).min((at, *task));
        }
        for (number, (at, task)) in places {
            let holds = !opening.anew.contains(&task);
            self.rewind_to(number, at, task, holds);
            if !holds && own != Some(task) {
                self.moving.push_back(number);
            }
        }
    }

    fn rewind_to(&mut self, number: u32, at: u32, place: TaskIx, holds: bool) {
        let scope = self.run.scopes[number as usize];
        let mut chain = Chain { at, ..Chain::default() };
        for node in 0..self.run.region_of(&scope).len() {
            let task = TaskIx(scope.task + node);
            if self.run.region_of(&scope).statement_of(node) > Some(at) {
                self.run.before.remove(&task);
                self.give(task);
                continue;
            }
            for (var, held) in self.run.before.get(&task).cloned().into_iter().flatten() {
                chain.vars.insert(var, self.run.unheld(held));
            }
        }
        let handed = self.run.composites.get(&place).filter(|_| holds).map(|state| state.handed.clone());
        for (var, held) in handed.into_iter().flatten() {
            chain.assign(var, self.run.unheld(held));
        }
        self.run.chains.insert(number, chain);
        self.run.stalled.remove(&number);
        if number == 0 {
            self.run.end = None;
        }
    }

    /// A composite goes on with what it has; what it did not come to make, it makes now.
    fn hold_again(&mut self, task: TaskIx, was_done: bool) {
        let at_once = self.run.makes_all_at_once(task);
        if at_once {
            self.run.recount_spread(task);
        }
        if !was_done {
            return;
        }
        let at = self.stamp.at;
        self.task_mut(task).ready_at = at;
        self.begin(task);
        let total = self.run.full_total(task);
        let Some(state) = self.run.composites.get_mut(&task).filter(|_| at_once) else { return };
        state.total = total;
        if state.made() < total {
            self.run.advancing.insert(task);
        }
    }

    /// The whole program again, with the parameters that it was given.
    fn begin_again(&mut self) {
        for task in (0..self.run.plan.root().len()).map(TaskIx) {
            self.run.before.remove(&task);
            self.give(task);
        }
        self.run.end = None;
        self.run.stalled.remove(&0);
        let vars = self.run.parameters();
        self.begin_chain(0, vars);
    }
}

impl Run {
    /// Whether a task is a composite that waits for several scopes at once, and so counts them.
    fn makes_all_at_once(&self, task: TaskIx) -> bool {
        matches!(self.spec_of(task).work, Work::Spread(_) | Work::Parallel(_))
    }

    /// How many scopes a composite takes if nothing stops it.
    pub(crate) fn full_total(&self, task: TaskIx) -> u32 {
        match (&self.spec_of(task).work, self.composites.get(&task)) {
            (Work::Parallel(parallel), _) => parallel.arms.len() as u32,
            (_, Some(state)) => state.items.len() as u32,
            _ => 0,
        }
    }
}
