//! Chains at work: where a program body stands, and what its variables are.
//!
//! Variables are outputs, not a frame that is changed: a scope holds what was assigned in it, and sees what its
//! outer scopes hold. Those stand still while it is at work, so nothing needs to be copied or frozen.
//! What was assigned before a task began is kept beside that task, once; that is what rows have of it.

use super::Run;
use crate::event::{Failure, TaskIx};
use crate::plan::{Var, Work};
use crate::state::TaskState;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A chain scope that has not ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chain {
    /// The statement it stands at.
    pub at: u32,
    /// What was assigned in this scope, the latest of each.
    pub vars: BTreeMap<Var, Variable>,
    /// Those that were assigned after the task it stands at began.
    pub fresh: BTreeSet<Var>,
}

/// A value under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The value.
    pub value: Arc<Value>,
    /// The task of the same scope whose output it is, if it is just that: then it is stored there alone.
    pub of: Option<TaskIx>,
}

/// A variable as rows have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// The output of a task.
    Output(TaskIx),
    /// A value of its own.
    Value(Arc<Value>),
}

/// How a chain that is the root of its run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// With a value.
    Returned(Arc<Value>),
    /// With a failure that nothing in it handled.
    Failed(Box<Failure>),
    /// Because something in it was cancelled.
    Cancelled,
}

impl Chain {
    /// A chain at its first statement.
    pub(crate) fn new(vars: BTreeMap<Var, Arc<Value>>) -> Self {
        let mut chain = Self::default();
        for (var, value) in vars {
            chain.assign(var, Variable { value, of: None });
        }
        chain
    }

    pub(crate) fn assign(&mut self, var: Var, variable: Variable) {
        self.vars.insert(var, variable);
        self.fresh.insert(var);
    }

    /// What was assigned after the task it stands at began, as rows have it.
    pub(crate) fn since(&self) -> Vec<(Var, Held)> {
        let held = |variable: &Variable| match variable.of {
            Some(task) => Held::Output(task),
            None => Held::Value(Arc::clone(&variable.value)),
        };
        self.fresh.iter().filter_map(|var| Some((*var, held(self.vars.get(var)?)))).collect()
    }
}

impl Run {
    /// The value of a variable as a scope sees it: its own, else that of the nearest outer scope of the same body.
    pub(crate) fn variable(&self, mut number: u32, var: Var) -> Option<&Arc<Value>> {
        loop {
            if let Some(found) = self.chains.get(&number)?.vars.get(&var) {
                return Some(&found.value);
            }
            if number == 0 {
                return None;
            }
            let parent = self.scopes[number as usize].parent;
            if matches!(self.spec_of(parent).work, Work::Call(_)) {
                return None;
            }
            number = self.tasks[parent.0 as usize].scope;
        }
    }

    /// The failure that a program ended with, which nothing in it handled.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.end {
            Some(End::Failed(failure)) => Some(failure),
            _ => None,
        }
    }

    /// Whether the run is a program rather than a graph.
    pub fn is_program(&self) -> bool {
        self.plan.root().script().is_some()
    }

    /// Whether a task is a statement of a program.
    pub fn in_chain(&self, task: TaskIx) -> bool {
        self.region_of(self.scope_of(task)).script().is_some()
    }

    /// Whether a statement's program ended, or went another way, before it came to it.
    pub fn was_not_reached(&self, task: TaskIx) -> bool {
        self.tasks[task.0 as usize].state == TaskState::Skipped
            && !self.reasons.contains_key(&task)
            && self.in_chain(task)
    }

    /// Whether a scope has nothing left to do.
    pub fn has_ended(&self, number: u32) -> bool {
        let scope = &self.scopes[number as usize];
        match self.region_of(scope).script() {
            Some(_) => !self.chains.contains_key(&number),
            None => scope.open == 0,
        }
    }

    /// Whether its fold stopped at the bound on inline work and has more to do.
    pub fn is_advancing(&self) -> bool {
        !self.advancing.is_empty() || !self.stalled.is_empty()
    }

    /// The statement of a chain at which a task is started.
    pub(crate) fn is_at(&self, number: u32, task: TaskIx) -> bool {
        let scope = &self.scopes[number as usize];
        let script = self.region_of(scope).script();
        let at = self.chains.get(&number).and_then(|chain| script?.get(chain.at as usize)?.node());
        at == Some(task.0 - scope.task)
    }

    /// A variable as it was before it became a row.
    pub(crate) fn unheld(&self, held: Held) -> Variable {
        match held {
            Held::Value(value) => Variable { value, of: None },
            Held::Output(task) => {
                let value = self.outputs.get(&task).cloned().unwrap_or_default();
                Variable { value, of: Some(task) }
            }
        }
    }
}
