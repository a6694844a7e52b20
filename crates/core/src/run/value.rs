//! Values: what references in templates come to, read off facts that are already there.

use super::{Run, Scope};
use crate::event::{Failure, TaskIx};
use crate::plan::{Items, Work};
use crate::template::{Root, Template, Values};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

static NULL: Value = Value::Null;

/// The values a scope sees: the run's input, outputs of its own and outer regions, the items of its spreads.
struct Seen<'r> {
    run: &'r Run,
    scope: &'r Scope,
}

impl<'r> Seen<'r> {
    fn outwards(&self, up: u32) -> Option<&'r Scope> {
        let mut scope = self.scope;
        for _ in 0..up {
            if scope.task == 0 {
                return None;
            }
            scope = self.run.scope_of(scope.parent);
        }
        Some(scope)
    }
}

impl<'r> Values<'r> for Seen<'r> {
    fn value(&self, root: &Root) -> Option<Cow<'r, Value>> {
        let value = match root {
            Root::Input => self.run.about.as_ref().map_or(&NULL, |a| &*a.input),
            Root::Output { up, node } => {
                let task = TaskIx(self.outwards(*up)?.task + node);
                self.run.outputs.get(&task).map_or(&NULL, |v| &**v)
            }
            Root::Item { up } => {
                let scope = self.outwards(*up)?;
                self.run.spreads.get(&scope.parent)?.items.get(scope.index as usize)?
            }
        };
        Some(Cow::Borrowed(value))
    }

    fn written(&self, root: &Root) -> String {
        let mut regions = vec![self.scope.region];
        let mut scope = self.scope;
        while scope.task != 0 {
            scope = self.run.scope_of(scope.parent);
            regions.push(scope.region);
        }
        self.run.plan.written(&regions, root)
    }
}

impl Run {
    /// What a task's output is; null if it made none.
    pub fn output(&self, task: TaskIx) -> &Value {
        self.outputs.get(&task).map_or(&NULL, |v| &**v)
    }

    /// Evaluates a template as it stands at a task.
    pub fn evaluate<'r>(&'r self, task: TaskIx, template: &'r Template) -> Result<Cow<'r, Value>, Failure> {
        template.eval(&Seen { run: self, scope: self.scope_of(task) })
    }

    /// Whether what a task will be given can be evaluated; asked when it becomes ready, so that it fails
    /// without spending an attempt. The grant evaluates again and gets the same: outputs are facts.
    pub(crate) fn check_input(&self, task: TaskIx) -> Result<(), Failure> {
        let work = &self.spec_of(task).work;
        if !work.has_expressions() {
            return Ok(());
        }
        match work {
            Work::Action { with, .. } => self.evaluate(task, with).map(|_| ()),
            Work::Command(command) => command.env.iter().try_for_each(|(_, t)| self.evaluate(task, t).map(|_| ())),
            Work::Gate(_) | Work::Spread(_) => Ok(()),
        }
    }

    /// The run's own output: what the flow says, or the outputs of the tasks that nobody needs.
    pub fn final_output(&self) -> Result<Value, Failure> {
        let Some(scope) = self.scopes.first() else { return Ok(Value::Null) };
        match &self.plan.output {
            Some(template) => template.eval(&Seen { run: self, scope }).map(Cow::into_owned),
            None => Ok(self.sinks(scope)),
        }
    }

    /// The items of a spread, evaluated where it stands.
    pub(crate) fn spread_items(&self, task: TaskIx, items: &Items) -> Result<Arc<Vec<Value>>, Failure> {
        let seen = Seen { run: self, scope: self.scope_of(task) };
        items.eval(&seen).map(|list| Arc::new(list.into_owned()))
    }

    /// The list a spread comes to: outputs in the order of the items; what failed stands there as its error.
    pub(crate) fn gather(&self, spread: TaskIx) -> Value {
        let Some(state) = self.spreads.get(&spread) else { return Value::Null };
        let one = |number: u32| {
            let scope = &self.scopes[number as usize];
            if self.region_of(scope).len() > 1 {
                return self.sinks(scope);
            }
            let task = TaskIx(scope.task);
            match self.failure_of(task) {
                Some(failure) => serde_json::json!({ "error": failure }),
                None => self.output(task).clone(),
            }
        };
        Value::Array(state.scopes().map(one).collect())
    }

    fn sinks(&self, scope: &Scope) -> Value {
        let region = self.region_of(scope);
        let sinks = (0..region.len()).filter(|n| region.needed_by(*n).is_empty());
        let named = sinks.filter_map(|n| {
            let output = self.outputs.get(&TaskIx(scope.task + n))?;
            Some((region.name(n).to_owned(), (**output).clone()))
        });
        Value::Object(named.collect())
    }
}

impl Work {
    /// Whether what is given to a worker is computed, and so could fail.
    pub fn has_expressions(&self) -> bool {
        let mut any = false;
        self.expressions(&mut |_| any = true);
        any
    }
}
