//! Evaluation: a tree and the values its roots stand for become one value, or one failure.
//!
//! What is selected from a value that is already there is borrowed, never copied; a variable of a macro lends
//! its item. Every look at a node costs a step and everything made costs bytes. Running out of either cannot
//! be absorbed by `||` or `exists`, and neither can anything else that would hide it.

mod call;
mod compare;
mod each;
mod lists;
mod math;
mod stop;
mod texts;

pub use stop::{EVAL_ERROR, KINDS};

use super::Expr;
use super::tree::{Id, Kind, Op, Tree};
use crate::event::Failure;
use crate::limits;
use crate::template::{Root, Values};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use stop::{Stop, Why};

type Evaluated<T> = Result<T, Box<Stop>>;

/// What does not change while an expression is evaluated.
pub(super) struct Machine<'m, 'v> {
    tree: &'v Tree,
    roots: &'v [(String, Root)],
    values: &'m dyn Values<'v>,
    steps: Cell<u64>,
    bytes: Cell<usize>,
}

/// The variables in reach: the innermost first.
#[derive(Clone, Copy)]
struct Env<'e> {
    value: &'e Value,
    outer: Option<&'e Env<'e>>,
}

/// Nothing: what an expression without roots is evaluated with.
struct Nowhere;

impl<'v> Values<'v> for Nowhere {
    fn value(&self, _: &Root) -> Option<Cow<'v, Value>> {
        None
    }
}

impl Expr {
    /// The value of an expression that names nothing, if it takes only a few steps to find.
    pub(crate) fn constant(&self) -> Option<Result<Value, Failure>> {
        if !self.0.roots.is_empty() {
            return None;
        }
        match self.run(&Nowhere, limits::CONSTANT_STEPS, limits::EXPR_BYTES) {
            Err(failure) if failure.kind == "BudgetExhausted" => None,
            found => Some(found.map(Cow::into_owned)),
        }
    }

    /// The value of this expression. What goes wrong is a failure whose type is one of [`KINDS`].
    pub fn eval<'v>(&'v self, values: &dyn Values<'v>) -> Result<Cow<'v, Value>, Failure> {
        self.run(values, limits::EVAL_STEPS, limits::EVAL_BYTES)
    }

    fn run<'v>(&'v self, values: &dyn Values<'v>, steps: u64, bytes: usize) -> Result<Cow<'v, Value>, Failure> {
        let bound = &*self.0;
        let machine = Machine {
            tree: &bound.tree,
            roots: &bound.roots,
            values,
            steps: Cell::new(steps),
            bytes: Cell::new(bytes),
        };
        let value = machine.eval(bound.tree.top, None).and_then(|value| machine.shallow(value));
        values.spent(steps - machine.steps.get().min(steps));
        value.map_err(|stop| stop.failure(&bound.text, &bound.tree))
    }
}

impl<'v> Machine<'_, 'v> {
    fn eval<'e>(&self, id: Id, env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        self.step(id, 1)?;
        match &self.tree.node(id).kind {
            Kind::Literal(value) => Ok(Cow::Borrowed(value)),
            Kind::Var(up, _) => self.variable(id, *up, env),
            Kind::Root(number) => self.root(id, *number),
            Kind::Name(_) => Err(Stop::new("NoValue", id, Why::NothingMade)),
            Kind::Select(of, key) => {
                let from = self.eval(*of, env)?;
                self.select(id, from, *of, key)
            }
            Kind::Has(of, key) => self.has(*of, key, env),
            Kind::Index(of, at) => self.index(id, *of, *at, env),
            Kind::Not(of) => self.flag(*of, env).map(|flag| boolean(!flag)),
            Kind::Neg(of) => self.negative(id, *of, env),
            Kind::Binary(op, left, right) => self.binary(id, *op, [*left, *right], env),
            Kind::And(row) => self.row(row, false, env),
            Kind::Or(row) => self.row(row, true, env),
            Kind::Cond([condition, yes, no]) => {
                let taken = if self.flag(*condition, env)? { yes } else { no };
                self.eval(*taken, env)
            }
            Kind::List(items) => self.list(id, items, env),
            Kind::Map(entries) => self.map(id, entries, env),
            Kind::Call(function, args, _) => self.call(id, *function, args, env),
            Kind::Each(each) => self.each(id, each, env),
        }
    }

    fn root<'e>(&self, id: Id, number: u32) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        let root = self.roots.get(number as usize).and_then(|(_, root)| self.values.value(root));
        root.ok_or_else(|| Stop::new("NoValue", id, Why::NothingMade))
    }

    fn has<'e>(&self, of: Id, key: &str, env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        match &*self.eval(of, env)? {
            Value::Object(map) => Ok(boolean(map.contains_key(key))),
            other => Err(Stop::new("TypeMismatch", of, Why::NeedsMap(kind(other)))),
        }
    }

    /// Takes steps off the budget.
    fn step(&self, id: Id, steps: u64) -> Evaluated<()> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.ok_or_else(|| Stop::new("BudgetExhausted", id, Why::Steps))?);
        Ok(())
    }

    /// Takes bytes off the budget, before they are made.
    fn make(&self, id: Id, bytes: usize) -> Evaluated<()> {
        let left = self.bytes.get().checked_sub(bytes);
        self.bytes.set(left.ok_or_else(|| Stop::new("BudgetExhausted", id, Why::Bytes))?);
        Ok(())
    }

    /// A value to be kept in another: copied, and paid for, if it is only lent.
    fn own(&self, id: Id, value: Cow<'_, Value>) -> Evaluated<Value> {
        if let Cow::Borrowed(value) = value {
            self.pay(id, value)?;
        }
        Ok(value.into_owned())
    }

    /// Pays for a copy of a value.
    fn pay(&self, id: Id, value: &Value) -> Evaluated<()> {
        self.make(id, size_of::<Value>())?;
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
            Value::String(text) => self.make(id, text.len()),
            Value::Array(list) => list.iter().try_for_each(|item| self.pay(id, item)),
            Value::Object(map) => map.iter().try_for_each(|(key, item)| {
                self.make(id, key.len() + size_of::<String>())?;
                self.pay(id, item)
            }),
        }
    }

    /// A value that is stored must be readable again, which what is nested too deep is not.
    fn shallow<'e>(&self, value: Cow<'e, Value>) -> Evaluated<Cow<'e, Value>> {
        if let Cow::Owned(made) = &value
            && !crate::input::shallow(made, limits::DEPTH)
        {
            return Err(Stop::new("BudgetExhausted", self.tree.top, Why::Deep));
        }
        Ok(value)
    }

    fn variable<'e>(&self, id: Id, up: u32, env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>> {
        let mut at = env;
        for _ in 0..up {
            at = at.and_then(|env| env.outer);
        }
        at.map(|env| Cow::Borrowed(env.value)).ok_or_else(|| Stop::new("NoValue", id, Why::NothingMade))
    }

    fn select<'e>(&self, id: Id, from: Cow<'e, Value>, of: Id, key: &str) -> Evaluated<Cow<'e, Value>> {
        let why = match &from {
            Cow::Borrowed(Value::Object(map)) => match map.get(key) {
                Some(value) => return Ok(Cow::Borrowed(value)),
                None => Why::NoKey(of, key.into()),
            },
            Cow::Borrowed(other) => Why::Is(of, kind(other)),
            Cow::Owned(Value::Object(map)) if !map.contains_key(key) => Why::NoKey(of, key.into()),
            Cow::Owned(Value::Object(_)) => {
                let Value::Object(mut map) = from.into_owned() else { return Ok(Cow::Owned(Value::Null)) };
                return Ok(Cow::Owned(map.remove(key).unwrap_or_default()));
            }
            Cow::Owned(other) => Why::Is(of, kind(other)),
        };
        let name = if matches!(why, Why::NoKey(..)) { "NoSuchKey" } else { "TypeMismatch" };
        Err(Stop::new(name, id, why))
    }

    fn index<'e>(&self, id: Id, of: Id, at: Id, env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        let from = self.eval(of, env)?;
        let at_value = self.eval(at, env)?;
        let place = match (&*from, &*at_value) {
            (Value::Object(_), Value::String(key)) => return self.select(id, from, of, key),
            (Value::Object(_), other) => return Err(Stop::new("TypeMismatch", at, Why::BadKey(kind(other)))),
            (Value::Array(list), Value::Number(number)) => match math::place(number) {
                Some(at) if (at as usize) < list.len() && at >= 0 => at as usize,
                Some(_) => return Err(Stop::new("IndexOutOfRange", id, Why::OutOfRange(of, list.len()))),
                None => return Err(Stop::new("TypeMismatch", at, Why::BadIndex("a number with a fraction"))),
            },
            (Value::Array(_), other) => return Err(Stop::new("TypeMismatch", at, Why::BadIndex(kind(other)))),
            (other, _) => return Err(Stop::new("TypeMismatch", id, Why::Is(of, kind(other)))),
        };
        Ok(match from {
            Cow::Borrowed(list) => Cow::Borrowed(&list[place]),
            Cow::Owned(mut list) => Cow::Owned(list[place].take()),
        })
    }

    /// A truth value.
    fn flag<'e>(&self, id: Id, env: Option<&'e Env<'e>>) -> Evaluated<bool>
    where
        'v: 'e,
    {
        match &*self.eval(id, env)? {
            Value::Bool(flag) => Ok(*flag),
            other => Err(Stop::new("TypeMismatch", id, Why::NeedsFlag(kind(other)))),
        }
    }

    /// `&&` and `||`: an operand that decides wins, even over an error before or after it.
    fn row<'e>(&self, row: &[Id], decides: bool, env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        let mut first = None;
        for id in row {
            match self.flag(*id, env) {
                Ok(flag) if flag == decides => return Ok(boolean(decides)),
                Ok(_) => {}
                Err(stop) if stop.is_final() => return Err(stop),
                Err(stop) => first = first.or(Some(stop)),
            }
        }
        first.map_or(Ok(boolean(!decides)), Err)
    }

    fn binary<'e>(&self, id: Id, op: Op, [left, right]: [Id; 2], env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        let a = self.eval(left, env)?;
        let b = self.eval(right, env)?;
        match op {
            Op::Eq => Ok(boolean(self.equal(id, &a, &b)?)),
            Op::Ne => Ok(boolean(!self.equal(id, &a, &b)?)),
            Op::Lt | Op::Le | Op::Gt | Op::Ge => Ok(boolean(self.ordered(id, op, &a, &b)?)),
            Op::In => Ok(boolean(self.within(id, right, &a, &b)?)),
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem => self.arithmetic(id, op, a, &b),
        }
    }

    fn list<'e>(&self, id: Id, items: &[Id], env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            list.push(self.own(id, self.eval(*item, env)?)?);
        }
        self.make(id, items.len() * size_of::<Value>())?;
        Ok(Cow::Owned(Value::Array(list)))
    }

    fn map<'e>(&self, id: Id, entries: &[(Id, Id)], env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        let mut map = serde_json::Map::new();
        for (key, value) in entries {
            let name = match self.eval(*key, env)?.into_owned() {
                Value::String(name) => name,
                other => return Err(Stop::new("TypeMismatch", *key, Why::BadKey(kind(&other)))),
            };
            self.make(id, name.len() + 2 * size_of::<Value>())?;
            let value = self.own(id, self.eval(*value, env)?)?;
            if map.insert(name, value).is_some() {
                return Err(Stop::new("DuplicateKey", *key, Why::Twice));
            }
        }
        Ok(Cow::Owned(Value::Object(map)))
    }
}

fn boolean(flag: bool) -> Cow<'static, Value> {
    Cow::Owned(Value::Bool(flag))
}

/// What a value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
