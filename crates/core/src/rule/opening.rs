//! What a rerun opens: a task and all that follows it in its region, then the composite that holds it and all that
//! follows that, up to the root. Only read here; [`crate::rule::rerun`] does it.
//!
//! What follows is done anew, from its beginning: it goes over what its upstreams make now. What only holds
//! something goes on with the items and the scopes that it has, so that nothing else in it is done twice.

use crate::event::TaskIx;
use crate::plan::Work;
use crate::run::{Adopted, Asked, Run};
use crate::state::TaskState;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What is opened together.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// Whether it is all there is: a program then starts with what it was given.
    pub whole: bool,
    /// Done from their beginning; what composites of them made before is dropped.
    pub anew: BTreeSet<TaskIx>,
    /// Composites that go on, because something in them is opened.
    pub holders: BTreeSet<TaskIx>,
    /// Those that it began with and that had begun: they keep the facts they were ready by.
    pub kept: BTreeSet<TaskIx>,
    /// Children that had failed and that go on, by the task that waits for them again.
    pub adopts: BTreeMap<TaskIx, Adopted>,
    /// Whether somebody has let the failures stand that are not opened: what was decided on them holds.
    pub stands: bool,
}

impl Opening {
    /// Everything in the root.
    pub fn whole(run: &Run) -> Self {
        let root = (0..run.plan.root().len()).map(TaskIx);
        let anew = root.filter(|task| run.tasks[task.0 as usize].state != TaskState::Pending).collect();
        Self { whole: true, anew, ..Self::default() }
    }

    /// One task, with what follows and what holds it.
    pub fn of(run: &Run, first: TaskIx) -> Self {
        Self::from(run, &Firsts { anew: vec![first], on: Vec::new() })
    }

    /// What failed and nobody answered, and what was stopped; `None` if there is no such task.
    pub fn of_failure(run: &Run) -> Option<Self> {
        let mut firsts = Firsts::default();
        match firsts.look_in(run, 0) {
            Found::Some => Some(Self::from(run, &firsts)),
            Found::Lost => Some(Self::whole(run)),
            Found::Nothing if run.is_program() && run.state == crate::state::RunState::Cancelled => {
                Some(Self::whole(run))
            }
            Found::Nothing => None,
        }
    }

    fn from(run: &Run, firsts: &Firsts) -> Self {
        let mut search = Search { run, opening: Self::default(), queue: VecDeque::new() };
        for task in &firsts.anew {
            if run.has_begun(*task) {
                search.opening.kept.insert(*task);
            }
            search.add(*task);
        }
        firsts.on.iter().for_each(|task| search.hold(*task));
        while let Some(task) = search.queue.pop_front() {
            search.follow(task);
            search.climb(task);
        }
        search.pruned()
    }

    /// With the children that had failed, instead of new ones: what they have done is not done again.
    pub fn adopting(self, run: &Run, asked: &Asked) -> Self {
        let begun = self.anew.intersection(&self.kept).copied();
        let failed = begun.filter(|task| !self.is_behind(run, *task)).filter_map(|task| {
            let child = run.failed_child(task)?;
            Some((task, Adopted { run: child, asked: asked.clone() }))
        });
        let adopts = failed.collect();
        Self { adopts, ..self }
    }

    /// Whether a task follows something that is opened: it may be given something else then.
    fn is_behind(&self, run: &Run, task: TaskIx) -> bool {
        let scope = run.scope_of(task);
        let mut ups = run.region_of(scope).needs(task.0 - scope.task).map(|(_, need)| TaskIx(scope.task + need.up));
        ups.any(|up| self.anew.contains(&up) || self.holders.contains(&up))
    }

    /// How many tasks it opens.
    pub fn len(&self, run: &Run) -> u32 {
        let done = |task: &&TaskIx| run.tasks[task.0 as usize].state.is_done();
        (self.anew.len() + self.holders.iter().filter(done).count()) as u32
    }
}

struct Search<'r> {
    run: &'r Run,
    opening: Opening,
    queue: VecDeque<TaskIx>,
}

impl Search<'_> {
    fn state(&self, task: TaskIx) -> TaskState {
        self.run.tasks[task.0 as usize].state
    }

    /// What has not begun is open already, and nothing came of it that something else could have been decided on.
    fn add(&mut self, task: TaskIx) {
        if self.state(task) != TaskState::Pending && self.opening.anew.insert(task) {
            self.queue.push_back(task);
        }
    }

    /// What stands behind a task in its region.
    fn follow(&mut self, task: TaskIx) {
        let run = self.run;
        let scope = run.scope_of(task);
        let region = run.region_of(scope);
        let node = task.0 - scope.task;
        match region.statement_of(node).filter(|_| region.script().is_some()) {
            Some(at) => {
                let later = (0..region.len()).filter(|n| region.statement_of(*n).is_some_and(|s| s > at));
                let later = later.map(|n| TaskIx(scope.task + n));
                // What is behind these is behind the first of them as well.
                self.opening.anew.extend(later.filter(|t| run.tasks[t.0 as usize].state != TaskState::Pending));
            }
            None => region.needed_by(node).iter().for_each(|out| self.add(TaskIx(scope.task + out.down))),
        }
    }

    fn climb(&mut self, task: TaskIx) {
        let number = self.run.tasks[task.0 as usize].scope;
        if number != 0 {
            self.hold(self.run.scopes[number as usize].parent);
        }
    }

    /// A composite goes on; if it was done, what follows it is opened too.
    fn hold(&mut self, composite: TaskIx) {
        if self.opening.holders.insert(composite) && self.state(composite).is_done() {
            self.follow(composite);
            self.climb(composite);
        }
    }

    /// What is inside of something that is done anew is not opened: it is dropped.
    fn pruned(self) -> Opening {
        let Opening { whole, anew, holders, kept, adopts, stands } = self.opening;
        let within = |mut task: TaskIx| loop {
            let number = self.run.tasks[task.0 as usize].scope;
            if number == 0 {
                return false;
            }
            task = self.run.scopes[number as usize].parent;
            if anew.contains(&task) {
                return true;
            }
        };
        let holders = holders.iter().copied().filter(|t| !anew.contains(t) && !within(*t)).collect();
        let outermost = anew.iter().copied().filter(|t| !within(*t)).collect();
        Opening { whole, anew: outermost, holders, kept, adopts, stands }
    }
}

/// What a rerun from failure begins with.
#[derive(Default)]
struct Firsts {
    anew: Vec<TaskIx>,
    /// Composites that were stopped before all their scopes were made.
    on: Vec<TaskIx>,
}

/// What was found in a scope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Some,
    Nothing,
    /// It was stopped between two statements: where it stood is not known any more.
    Lost,
}

impl Firsts {
    fn look_in(&mut self, run: &Run, number: u32) -> Found {
        let scope = run.scopes[number as usize];
        if scope.bad == 0 {
            return Found::Nothing;
        }
        let mut bad = (scope.task..scope.task + run.region_of(&scope).len()).map(TaskIx).filter(|t| is_bad(run, *t));
        if run.region_of(&scope).script().is_some() {
            return match bad.rfind(|t| run.has_begun(*t)) {
                Some(task) => self.look_at(run, task),
                None => Found::Lost,
            };
        }
        let mut found = Found::Nothing;
        for task in bad.collect::<Vec<_>>() {
            if self.look_at(run, task) == Found::Some {
                found = Found::Some;
            }
        }
        found
    }

    fn look_at(&mut self, run: &Run, task: TaskIx) -> Found {
        let Some(state) = run.composites.get(&task).filter(|state| !state.chunks.is_empty()) else {
            return self.anew(task);
        };
        let stopped = run.tasks[task.0 as usize].state == TaskState::Cancelled;
        let found = match &run.spec_of(task).work {
            Work::Spread(_) | Work::Parallel(_) => {
                let all: Vec<Found> = state.scopes().map(|number| self.look_in(run, number)).collect();
                match (all.contains(&Found::Lost), all.contains(&Found::Some)) {
                    (true, _) => Found::Lost,
                    (_, true) => Found::Some,
                    _ if stopped && state.made() < run.full_total(task) => {
                        self.on.push(task);
                        Found::Some
                    }
                    _ => Found::Nothing,
                }
            }
            _ => state.scopes().last().map_or(Found::Nothing, |number| self.look_in(run, number)),
        };
        match found {
            Found::Some => Found::Some,
            Found::Nothing if !stopped && state.caught.is_none() => Found::Nothing,
            // Stopped between two statements, or a handler raised what it was given: all of it again.
            Found::Nothing | Found::Lost => self.anew(task),
        }
    }

    fn anew(&mut self, task: TaskIx) -> Found {
        self.anew.push(task);
        Found::Some
    }
}

/// Whether a task is one of those because of which its scope went badly. What was cancelled because of another one
/// behind which it stands follows that one.
fn is_bad(run: &Run, task: TaskIx) -> bool {
    use crate::run::Reason;
    let answers = !run.in_chain(task);
    match (run.tasks[task.0 as usize].state, run.reasons.get(&task)) {
        (TaskState::Error, _) => !(answers && super::is_handled(run, task)),
        (TaskState::Cancelled, Some(Reason::Upstream { .. })) => false,
        (TaskState::Cancelled, Some(Reason::Operator(_))) => run.state == crate::state::RunState::Cancelled,
        (TaskState::Cancelled, _) => true,
        _ => false,
    }
}
