//! Composites of programs: what they begin with, and what they make of the way a scope ended.
//!
//! The whole table of exits is [`Fold::scope_exited`]. Loops forget a scope when its successor begins, so a
//! long loop is no larger than a short one.

use crate::event::{Failure, TaskIx};
use crate::fold::Fold;
use crate::limits;
use crate::plan::{Branch, Call, For, Try, Var, While, Work};
use crate::rule::chain::{Exit, take_apart};
use crate::rule::spread::too_many_tasks;
use crate::run::{Chain, Chunk, Composite, Reason};
use crate::state::{Move, TaskState};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

type Vars = BTreeMap<Var, Arc<Value>>;

impl Fold<'_> {
    /// A composite of a program begins.
    pub(crate) fn begin_composite(&mut self, task: TaskIx, work: &Work) {
        let begun = match work {
            Work::Branch(branch) => self.begin_branch(task, branch),
            Work::For(each) => self.begin_for(task, each),
            Work::While(each) => self.run_composite(task, Composite::default()).next_round(task, each),
            Work::Try(_) => self.run_composite(task, Composite::default()).open_scope(task, 0, Vars::new()),
            Work::Call(call) => self.begin_call(task, call),
            _ => Ok(()),
        };
        if let Err(failure) = begun {
            self.give_up(task, *failure);
        }
    }

    fn run_composite(&mut self, task: TaskIx, state: Composite) -> &mut Self {
        self.begin(task);
        self.run.composites.insert(task, state);
        self.give(task);
        self
    }

    fn begin_branch(&mut self, task: TaskIx, branch: &Branch) -> Result<(), Box<Failure>> {
        let number = self.run.tasks[task.0 as usize].scope;
        for (index, arm) in (0..).zip(&branch.arms) {
            let taken = match &arm.when {
                Some(when) => self.seen(number).holds(when)?,
                None => true,
            };
            if taken {
                return self.run_composite(task, Composite::default()).open_scope(task, index, Vars::new());
            }
        }
        self.begin(task);
        self.succeed(task, Value::Null);
        Ok(())
    }

    fn begin_for(&mut self, task: TaskIx, each: &For) -> Result<(), Box<Failure>> {
        let number = self.run.tasks[task.0 as usize].scope;
        let items = self.seen(number).list(&each.items)?;
        let total = items.len() as u32;
        self.run_composite(task, Composite { items, total, ..Composite::default() });
        self.next_item(task, each)
    }

    fn begin_call(&mut self, task: TaskIx, call: &Call) -> Result<(), Box<Failure>> {
        let number = self.run.tasks[task.0 as usize].scope;
        let mut vars = Vars::new();
        for (var, arg) in &call.args {
            let value = self.seen(number).kept_value_of(arg)?;
            vars.insert(*var, value);
        }
        self.run_composite(task, Composite::default()).open_scope(task, 0, vars)
    }

    /// The next iteration of a `for`, or its end.
    fn next_item(&mut self, task: TaskIx, each: &For) -> Result<(), Box<Failure>> {
        let state = &self.run.composites[&task];
        let index = state.made();
        let Some(item) = state.items.get(index as usize) else {
            self.succeed(task, Value::Null);
            return Ok(());
        };
        let vars = take_apart(&each.to, &Arc::new(item.clone()))?.into_iter().collect();
        self.open_scope(task, index, vars)
    }

    /// The next iteration of a `while`, or its end.
    fn next_round(&mut self, task: TaskIx, each: &While) -> Result<(), Box<Failure>> {
        let number = self.run.tasks[task.0 as usize].scope;
        if self.seen(number).holds(&each.when)? {
            let index = self.run.composites[&task].made();
            self.open_scope(task, index, Vars::new())
        } else {
            self.succeed(task, Value::Null);
            Ok(())
        }
    }

    /// Makes one scope of a composite, with these variables.
    fn open_scope(&mut self, task: TaskIx, index: u32, vars: Vars) -> Result<(), Box<Failure>> {
        let work = &self.run.spec_of(task).work;
        let Some(region) = work.region_at(index) else { return Ok(()) };
        let loops = matches!(work, Work::For(_) | Work::While(_));
        if !self.has_room(1, region) {
            return Err(Box::new(too_many_tasks()));
        }
        let number = self.run.add_scope(region, task, index);
        let scope = &self.run.scopes[number as usize];
        let generation = scope.generation;
        let chunk = Chunk { scope: number, task: scope.task, edge: scope.edge, index, count: 1, generation };
        let outer = self.run.tasks[task.0 as usize].scope;
        let handed = self.run.chains.get(&outer).map(Chain::since).unwrap_or_default();
        if let Some(state) = self.run.composites.get_mut(&task) {
            state.handed = handed;
            if loops {
                self.run.over.extend(state.chunks.drain(..).map(|chunk| chunk.scope));
            }
            state.chunks.push(chunk);
        }
        self.touch(task);
        self.begin_chain(number, vars);
        Ok(())
    }

    /// What a composite makes of the way a scope of it ended.
    pub(crate) fn scope_exited(&mut self, task: TaskIx, work: &Work, number: u32, exit: Exit) {
        if matches!(work, Work::Spread(_) | Work::Parallel(_)) {
            return self.ended.push_back(number);
        }
        if self.state(task).is_done() {
            return;
        }
        let index = self.run.scopes[number as usize].index;
        match (work, exit) {
            (_, Exit::Cancelled(because)) => {
                self.because(task, Reason::BecauseOf { task: because });
                self.finish(task, Move::Cancelled, TaskState::Cancelled);
            }
            (Work::Call(_), Exit::Return(value)) => self.succeed(task, value),
            (Work::For(each), Exit::Normal | Exit::Continue) => {
                let next = self.next_item(task, each);
                next.unwrap_or_else(|failure| self.give_up(task, *failure));
            }
            (Work::While(each), Exit::Normal | Exit::Continue) => {
                let next = self.next_round(task, each);
                next.unwrap_or_else(|failure| self.give_up(task, *failure));
            }
            (Work::For(_) | Work::While(_), Exit::Break) | (_, Exit::Normal) => self.succeed(task, Value::Null),
            (Work::Try(tried), Exit::Fail(failure)) => self.handle(task, tried, index, failure),
            (_, Exit::Fail(failure)) => self.fail(task, *failure),
            (_, exit) => {
                self.exits.insert(task, exit);
                self.succeed(task, Value::Null);
            }
        }
    }

    /// The body of a `try` failed: the first handler that fits, else the failure goes on. What fails in a
    /// handler goes on as well, with what was being handled as its cause.
    fn handle(&mut self, task: TaskIx, tried: &Try, index: u32, mut failure: Box<Failure>) {
        if index > 0 {
            let caught = self.run.composites.get(&task).and_then(|state| state.caught.clone());
            if failure.cause.is_none() && caught.as_ref() != Some(&failure) {
                failure.cause = caught;
                if self.run.rules() >= 2 {
                    failure.cut_causes();
                }
            }
            return self.fail(task, *failure);
        }
        let fits = |kinds: &[String]| kinds.is_empty() || kinds.iter().any(|kind| failure.is_a(kind));
        let Some(at) = tried.handlers.iter().position(|h| fits(&h.kinds)) else {
            return self.fail(task, *failure);
        };
        let named = tried.handlers[at].to.map(|var| (var, Arc::new(as_value(&failure))));
        if let Some(state) = self.run.composites.get_mut(&task) {
            state.caught = Some(failure);
        }
        let opened = self.open_scope(task, at as u32 + 1, named.into_iter().collect());
        opened.unwrap_or_else(|failure| self.give_up(task, *failure));
    }

    /// A composite that cannot begin or go on.
    fn give_up(&mut self, task: TaskIx, failure: Failure) {
        match self.state(task) {
            TaskState::Pending => self.fail_for_good(task, failure, Move::InputFailed),
            _ => self.fail(task, failure),
        }
    }

    /// Whether a run may have so many scopes of a region more.
    pub(crate) fn has_room(&self, scopes: usize, region: u32) -> bool {
        let nodes = self.run.plan.regions[region as usize].len() as usize;
        self.run.tasks.len() + scopes * nodes <= limits::RUN_TASKS && self.run.scopes.len() + scopes < u32::MAX as usize
    }
}

/// A failure as flows see it, in a handler or at its place among the results of a spread.
pub(crate) fn as_value(failure: &Failure) -> Value {
    let mut value = json!({ "type": failure.kind, "message": failure.message, "is": failure.is });
    if let Some(cause) = &failure.cause {
        value["cause"] = as_value(cause);
    }
    if !failure.errors.is_empty() {
        value["errors"] = failure.errors.iter().map(as_value).collect();
    }
    value
}
