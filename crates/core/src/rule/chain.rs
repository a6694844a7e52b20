//! Chains: one statement after the other, as far as nobody has to be waited for.
//!
//! When a task is done, everything inline after it runs in the same event, until the next task begins or
//! the scope ends. How it ends is its exit; what a composite makes of that is its own rule.

use crate::event::{Failure, TaskIx};
use crate::fold::Fold;
use crate::limits;
use crate::plan::{Statement, Var, Work};
use crate::run::{Chain, End, Seen, Variable};
use crate::state::{Move, TaskState};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a chain scope ends.
#[derive(Debug, Clone)]
pub(crate) enum Exit {
    /// Its last statement is done.
    Normal,
    /// The flow or function has its value.
    Return(Arc<Value>),
    /// The loop is over.
    Break,
    /// The loop's next iteration is due.
    Continue,
    /// Something failed.
    Fail(Box<Failure>),
    /// Something was cancelled, by this task's end.
    Cancelled(TaskIx),
}

impl Fold<'_> {
    /// What a scope sees; evaluating with it is charged to this event.
    pub(crate) fn seen(&self, number: u32) -> Seen<'_> {
        self.run.seen(number, &self.cost)
    }

    /// Takes what evaluating has cost from what this event may still do.
    fn charge(&mut self) {
        let statements = self.cost.replace(0) / limits::STEPS_A_STATEMENT;
        self.budget = self.budget.saturating_sub(u32::try_from(statements).unwrap_or(u32::MAX));
    }

    /// A chain scope begins with these variables; settling runs it.
    pub(crate) fn begin_chain(&mut self, number: u32, vars: BTreeMap<Var, Arc<Value>>) {
        self.run.chains.insert(number, Chain::new(vars));
        self.moving.push_back(number);
    }

    /// Runs a scope's statements until one waits, the scope ends, or the event's bound is reached.
    pub(crate) fn run_chain(&mut self, number: u32) {
        let plan = Arc::clone(&self.run.plan);
        let region = self.run.scopes[number as usize].region;
        let Some(script) = plan.regions[region as usize].script() else { return };
        while self.run.chains.contains_key(&number) {
            if self.budget == 0 {
                self.run.stalled.insert(number);
                return;
            }
            self.budget -= 1;
            self.charge();
            let Some(chain) = self.run.chains.get_mut(&number) else { return };
            let Some(statement) = script.get(chain.at as usize) else {
                return self.end_chain(number, Exit::Normal);
            };
            match statement {
                Statement::Do { node, .. } => return self.start(number, *node),
                Statement::Let { to, value } => match self.compute(number, to, value) {
                    Ok(()) => self.step_on(number),
                    Err(failure) => return self.end_chain(number, Exit::Fail(failure)),
                },
                other => {
                    let exit = self.exit_of(number, other);
                    return self.end_chain(number, exit);
                }
            }
        }
    }

    fn step_on(&mut self, number: u32) {
        if let Some(chain) = self.run.chains.get_mut(&number) {
            chain.at += 1;
        }
    }

    /// Begins the task of a node. What was assigned since the last one is kept beside it.
    fn start(&mut self, number: u32, node: u32) {
        let task = TaskIx(self.run.scopes[number as usize].task + node);
        if let Some(chain) = self.run.chains.get_mut(&number) {
            let since = chain.since();
            chain.fresh.clear();
            if !since.is_empty() {
                self.run.before.insert(task, since);
            }
        }
        self.give(task);
        self.ready(task);
    }

    fn compute(&mut self, number: u32, to: &[Var], value: &crate::expr::Expr) -> Result<(), Box<Failure>> {
        let value = self.seen(number).kept_value_of(value)?;
        self.assign(number, to, &value, None)
    }

    /// Gives a value its name, or its parts their names.
    fn assign(&mut self, number: u32, to: &[Var], value: &Arc<Value>, of: Option<TaskIx>) -> Result<(), Box<Failure>> {
        let parts = take_apart(to, value)?;
        if let Some(chain) = self.run.chains.get_mut(&number) {
            for (var, value) in parts {
                let of = of.filter(|_| to.len() == 1);
                chain.assign(var, Variable { value, of });
            }
        }
        Ok(())
    }

    /// The exit that a statement is.
    fn exit_of(&self, number: u32, statement: &Statement) -> Exit {
        match statement {
            Statement::Return(value) => match self.seen(number).kept_value_of(value) {
                Ok(value) => Exit::Return(value),
                Err(failure) => Exit::Fail(failure),
            },
            Statement::Break => Exit::Break,
            Statement::Continue => Exit::Continue,
            Statement::Raise { kind, message } => Exit::Fail(match self.seen(number).value_of(message) {
                Ok(message) => Box::new(Failure::permanent(kind.clone(), printed(&message))),
                Err(failure) => failure,
            }),
            Statement::RaiseAgain => Exit::Fail(self.being_handled(number)),
            Statement::Do { .. } | Statement::Let { .. } => Exit::Normal,
        }
    }

    /// The failure that the nearest handler around a scope deals with.
    fn being_handled(&self, mut number: u32) -> Box<Failure> {
        while number != 0 {
            let parent = self.run.scopes[number as usize].parent;
            if let Some(caught) = self.run.composites.get(&parent).and_then(|c| c.caught.clone()) {
                return caught;
            }
            number = self.run.tasks[parent.0 as usize].scope;
        }
        Box::new(Failure::permanent("NothingToRaise", "`raise` without a type stands in a handler"))
    }

    /// A task of a chain is done: its output gets its name, and the statements after it are next.
    pub(crate) fn chain_on(&mut self, task: TaskIx) {
        let number = self.run.tasks[task.0 as usize].scope;
        let exit = self.exits.remove(&task);
        if !self.run.is_at(number, task) {
            return;
        }
        match (self.state(task), exit) {
            (TaskState::Error, _) => {
                let failure = self.run.failure_of(task).cloned().unwrap_or_else(|| Failure::new("failed", ""));
                self.end_chain(number, Exit::Fail(Box::new(failure)));
            }
            (TaskState::Cancelled, _) => self.end_chain(number, Exit::Cancelled(task)),
            (_, Some(exit)) => self.end_chain(number, exit),
            (_, None) => match self.name_output(number, task) {
                Ok(()) => {
                    self.step_on(number);
                    self.moving.push_back(number);
                }
                Err(failure) => self.end_chain(number, Exit::Fail(failure)),
            },
        }
    }

    fn name_output(&mut self, number: u32, task: TaskIx) -> Result<(), Box<Failure>> {
        let plan = Arc::clone(&self.run.plan);
        let region = self.run.scopes[number as usize].region;
        let at = self.run.chains[&number].at;
        let statement = plan.regions[region as usize].script().and_then(|script| script.get(at as usize));
        let Some(Statement::Do { to, .. }) = statement else { return Ok(()) };
        let output = self.run.outputs.get(&task).cloned().unwrap_or_default();
        self.assign(number, to, &output, Some(task))
    }

    /// A chain scope is over. What was not started in it never will be.
    fn end_chain(&mut self, number: u32, exit: Exit) {
        let Some(chain) = self.run.chains.remove(&number) else { return };
        self.run.stalled.remove(&number);
        let scope = self.run.scopes[number as usize];
        for task in (scope.task..scope.task + self.run.region_of(&scope).len()).map(TaskIx) {
            if self.state(task) == TaskState::Pending {
                self.leave(task);
            }
        }
        if number == 0 {
            self.run.end = Some(match exit {
                Exit::Return(value) => End::Returned(value),
                Exit::Fail(failure) => End::Failed(failure),
                Exit::Cancelled(_) => End::Cancelled,
                Exit::Normal | Exit::Break | Exit::Continue => End::Returned(Arc::new(Value::Null)),
            });
            return;
        }
        let plan = Arc::clone(&self.run.plan);
        let holder = self.run.scope_of(scope.parent);
        let work = &plan.spec(holder.region, scope.parent.0 - holder.task).work;
        if !matches!(work, Work::Call(_) | Work::Spread(_) | Work::Parallel(_)) {
            self.hand_up(scope.parent, chain);
        }
        self.scope_exited(scope.parent, work, number, exit);
    }

    /// The results of a composite are the variables that its regions assign, however they end.
    fn hand_up(&mut self, composite: TaskIx, chain: Chain) {
        let outer = self.run.tasks[composite.0 as usize].scope;
        if let Some(outer) = self.run.chains.get_mut(&outer) {
            for (var, Variable { value, .. }) in chain.vars {
                outer.assign(var, Variable { value, of: None });
            }
        }
    }

    /// A task that its chain never came to.
    fn leave(&mut self, task: TaskIx) {
        self.step(task, Move::NotReached, TaskState::Skipped);
        let at = self.stamp.at;
        let entry = self.task_mut(task);
        entry.completed_at = at;
        let scope = entry.scope as usize;
        self.run.scopes[scope].open -= 1;
    }
}

/// One name takes the value, several names take a list of as many apart.
pub(crate) fn take_apart(to: &[Var], value: &Arc<Value>) -> Result<Vec<(Var, Arc<Value>)>, Box<Failure>> {
    match (to, &**value) {
        ([], _) => Ok(Vec::new()),
        ([var], _) => Ok(vec![(*var, Arc::clone(value))]),
        (many, Value::Array(list)) if list.len() == many.len() => {
            Ok(many.iter().copied().zip(list.iter().map(|v| Arc::new(v.clone()))).collect())
        }
        (many, other) => {
            let found = match other {
                Value::Array(list) => format!("a list of {}", list.len()),
                other => crate::template::kind(other).to_owned(),
            };
            let message = format!("{} names need a list of {0} values, this is {found}", many.len());
            Err(Box::new(Failure::mismatch(message)))
        }
    }
}

fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
