//! Values: what references in templates come to, read off facts that are already there.

use super::gathered::is_readable;
use super::{End, Run, Scope};
use crate::event::{Failure, TaskIx};
use crate::expr::Expr;
use crate::limits;
use crate::name::Name;
use crate::plan::{Body, Http, Items, SubRun, Var, Work};
use crate::template::{Root, Template, Values, kind, list_of};
use crate::time::Millis;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

static NULL: Value = Value::Null;

/// What is shown in place of a secret.
pub const MASK: &str = "***";

/// What stands in place of a secret until whoever does the work puts its value there.
pub fn sealed(seal: &str, name: &str) -> String {
    format!("{seal}{name};")
}

/// The values a scope sees: the run's input, outputs of its own and outer regions, the items of its spreads.
pub(crate) struct Seen<'r> {
    run: &'r Run,
    number: u32,
    /// What evaluating has cost so far, where somebody counts it.
    cost: Option<&'r Cell<u64>>,
    /// What stands before the name of a secret for whoever puts its value there; without it a secret is masked.
    seal: Option<&'r str>,
}

impl<'r> Seen<'r> {
    fn scope(&self) -> &'r Scope {
        &self.run.scopes[self.number as usize]
    }

    fn outwards(&self, up: u32) -> Option<&'r Scope> {
        let mut scope = self.scope();
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
            Root::Secret(name) => {
                let text = self.seal.map_or_else(|| MASK.to_owned(), |seal| sealed(seal, name));
                return Some(Cow::Owned(Value::String(text)));
            }
            Root::Var(var) => self.run.variable(self.number, *var)?,
            Root::Item { up } => {
                let scope = self.outwards(*up)?;
                self.run.composites.get(&scope.parent)?.items.get(scope.index as usize)?
            }
        };
        Some(Cow::Borrowed(value))
    }

    fn spent(&self, steps: u64) {
        if let Some(cost) = self.cost {
            cost.set(cost.get() + steps);
        }
    }

    fn rules(&self) -> u32 {
        self.run.rules()
    }
}

impl<'r> Seen<'r> {
    /// The value of an expression.
    pub(crate) fn value_of(&self, expr: &'r Expr) -> Result<Cow<'r, Value>, Box<Failure>> {
        expr.eval(self).map_err(Box::new)
    }

    /// The same for keeping: what is just a variable is passed on, not copied.
    pub(crate) fn kept_value_of(&self, expr: &'r Expr) -> Result<Arc<Value>, Box<Failure>> {
        let variable = match expr.as_root() {
            Some(Root::Var(var)) => self.run.variable(self.number, *var),
            _ => None,
        };
        match variable {
            Some(value) => Ok(Arc::clone(value)),
            None => Ok(Arc::new(self.value_of(expr)?.into_owned())),
        }
    }

    /// Whether a condition holds.
    pub(crate) fn holds(&self, when: &'r Expr) -> Result<bool, Box<Failure>> {
        match &*self.value_of(when)? {
            Value::Bool(holds) => Ok(*holds),
            other => {
                let message = format!("a condition is true or false, but `{}` is {}", when.text(), kind(other));
                Err(Box::new(Failure::mismatch(message)))
            }
        }
    }

    /// A list to go over.
    pub(crate) fn list(&self, items: &'r Expr) -> Result<Arc<Vec<Value>>, Box<Failure>> {
        let list = list_of(items, self).map_err(Box::new)?;
        Ok(Arc::new(list.into_owned()))
    }

    /// How long to sleep: seconds, or a duration as a text.
    pub(crate) fn span(&self, span: &'r Expr) -> Result<Millis, Box<Failure>> {
        let wrong = |found: &str| {
            let message = format!(
                "`sleep` takes seconds or a duration such as \"5m\", at most {} of them, but `{}` is {found}",
                Millis(limits::DURATION_MS),
                span.text()
            );
            Box::new(Failure::mismatch(message))
        };
        let found = self.value_of(span)?;
        let millis = match &*found {
            Value::Number(seconds) => seconds.as_f64().map(|s| s * 1_000.0).filter(|ms| *ms >= 0.0).map(|ms| ms as u64),
            Value::String(text) => Millis::parse(text).ok().map(|span| span.0),
            _ => None,
        };
        let known = millis.filter(|ms| *ms <= limits::DURATION_MS).map(Millis);
        known.ok_or_else(|| match &*found {
            Value::Number(number) => wrong(&number.to_string()),
            Value::String(text) => wrong(&crate::suggest::shown(text)),
            other => wrong(kind(other)),
        })
    }
}

impl Run {
    /// What a task's output is; null if it made none.
    pub fn output(&self, task: TaskIx) -> &Value {
        self.outputs.get(&task).map_or(&NULL, |v| &**v)
    }

    /// Evaluates a template as it stands at a task, secrets masked.
    pub fn evaluate<'r>(&'r self, task: TaskIx, template: &'r Template) -> Result<Cow<'r, Value>, Failure> {
        self.evaluate_for(task, template, None)
    }

    /// The same for whoever does the work: with a seal, [`sealed`] names stand in place of secrets. The seal is a
    /// text that nobody could have known before, so that no input and no output can pretend to be a secret.
    pub fn evaluate_for<'r>(
        &'r self,
        task: TaskIx,
        template: &'r Template,
        seal: Option<&'r str>,
    ) -> Result<Cow<'r, Value>, Failure> {
        template.eval(&Seen { run: self, number: self.tasks[task.0 as usize].scope, cost: None, seal })
    }

    /// What a scope sees, to evaluate expressions with; what they cost is added up.
    pub(crate) fn seen<'r>(&'r self, number: u32, cost: &'r Cell<u64>) -> Seen<'r> {
        Seen { run: self, number, cost: Some(cost), seal: None }
    }

    /// What the parameters of a program are: its inputs, in the order in which they are declared.
    pub(crate) fn parameters(&self) -> BTreeMap<Var, Arc<Value>> {
        let input = self.about.as_ref().map_or(&NULL, |about| &*about.input);
        let value = |name: &str| Arc::new(input.get(name).cloned().unwrap_or_default());
        (0..).zip(&self.plan.inputs).map(|(var, declared)| (var, value(&declared.name))).collect()
    }

    /// Whether what a task will be given can be evaluated; asked when it becomes ready, so that it fails
    /// without spending an attempt. The grant evaluates again and gets the same: outputs are facts.
    pub(crate) fn check_input(&self, task: TaskIx) -> Result<(), Failure> {
        self.limit_key(task)?;
        let work = &self.spec_of(task).work;
        if !work.has_expressions() {
            return Ok(());
        }
        match work {
            Work::Action { with, .. } | Work::SubRun(SubRun { with, .. }) => self.evaluate(task, with).map(|_| ()),
            Work::Command(command) => command.env.iter().try_for_each(|(_, t)| self.evaluate(task, t).map(|_| ())),
            Work::Item(_) => self.item_fields(task).map(drop),
            Work::Http(http) => http.templates().try_for_each(|t| self.evaluate(task, t).map(|_| ())),
            _ => Ok(()),
        }
    }

    /// The request that a task makes, as one value: `method`, `url`, `headers`, and `json` or `body`.
    pub fn http_request(&self, task: TaskIx, http: &Http, seal: Option<&str>) -> Result<Value, Failure> {
        let value = |template: &Template| self.evaluate_for(task, template, seal).map(Cow::into_owned);
        let mut request = serde_json::Map::new();
        request.insert("method".into(), http.method.as_str().into());
        request.insert("url".into(), value(&http.url)?);
        request.insert("headers".into(), value(&http.headers)?);
        match &http.body {
            Some(Body::Json(template)) => drop(request.insert("json".into(), value(template)?)),
            Some(Body::Text(template)) => drop(request.insert("body".into(), value(template)?)),
            None => {}
        }
        request.retain(|key, value| key == "json" || !value.is_null());
        Ok(Value::Object(request))
    }

    /// The key that a task's limit counts by; `None` for a task without a limit. A number is the text of it.
    pub fn limit_key(&self, task: TaskIx) -> Result<Option<String>, Failure> {
        let Some(limit) = &self.spec_of(task).share.limit else { return Ok(None) };
        let found =
            limit.key.eval(&Seen { run: self, number: self.tasks[task.0 as usize].scope, cost: None, seal: None })?;
        let wrong = |what: String| {
            let most = limits::LIMIT_KEY_BYTES;
            let message = format!(
                "the key of a limit is a text of at most {most} bytes or a number, but `{}` {what}",
                limit.key.text()
            );
            Err(Failure::mismatch(message))
        };
        match found.into_owned() {
            Value::String(key) if key.len() > limits::LIMIT_KEY_BYTES => wrong(format!("has {} bytes", key.len())),
            Value::String(key) => Ok(Some(key)),
            Value::Number(number) => Ok(Some(number.to_string())),
            Value::Bool(truth) => Ok(Some(truth.to_string())),
            other => wrong(format!("is {}", kind(&other))),
        }
    }

    /// The run's own output: what the flow says, or the outputs of the tasks that nobody needs.
    pub fn final_output(&self) -> Result<Value, Failure> {
        let Some(scope) = self.scopes.get(0) else { return Ok(Value::Null) };
        if self.is_program() {
            return Ok(match &self.end {
                Some(End::Returned(value)) => (**value).clone(),
                _ => Value::Null,
            });
        }
        let output = match &self.plan.output {
            Some(template) => {
                template.eval(&Seen { run: self, number: 0, cost: None, seal: None }).map(Cow::into_owned)?
            }
            None => self.sinks(scope),
        };
        // Whoever waits for the run stores it.
        is_readable(&output).map(|()| output)
    }

    /// The items of a spread, evaluated where it stands.
    pub(crate) fn spread_items(&self, task: TaskIx, items: &Items) -> Result<Arc<Vec<Value>>, Box<Failure>> {
        let seen = Seen { run: self, number: self.tasks[task.0 as usize].scope, cost: None, seal: None };
        items.eval(&seen).map(|list| Arc::new(list.into_owned())).map_err(Box::new)
    }

    pub(super) fn sinks(&self, scope: &Scope) -> Value {
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
    /// The secrets that whoever does the work is given.
    pub fn secrets(&self) -> BTreeSet<Name> {
        let mut found = BTreeSet::new();
        self.expressions(&mut |expr| {
            expr.roots(&mut |root| {
                if let Root::Secret(name) = root {
                    found.insert(name.clone());
                }
            });
        });
        found
    }

    /// Whether what is given to a worker is computed, and so could fail.
    pub fn has_expressions(&self) -> bool {
        let mut any = false;
        self.expressions(&mut |_| any = true);
        any
    }
}
