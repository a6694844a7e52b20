//! Numbers: exact integers of 64 bits, doubles that are numbers, and JSON's larger integers, which can be
//! compared but not computed with.

use super::stop::Stop;
use super::{Env, Evaluated, Machine, kind};
use crate::expr::tree::{Id, Op};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

/// A number as it is computed with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Num {
    Int(i64),
    /// An integer beyond 64 bits with a sign.
    Large(u64),
    Double(f64),
}

impl Num {
    pub(super) fn of(number: &Number) -> Self {
        match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Self::Int(int),
            (_, Some(large)) => Self::Large(large),
            _ => Self::Double(number.as_f64().unwrap_or_default()),
        }
    }

    /// By size, whatever they are. Integers are compared exactly; an integer and a double as doubles, as CEL does.
    pub(super) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Double(_), _) | (_, Self::Double(_)) => {
                self.as_double().partial_cmp(&other.as_double()).unwrap_or(Ordering::Equal)
            }
            (a, b) => a.wide().cmp(&b.wide()),
        }
    }

    fn wide(self) -> i128 {
        match self {
            Self::Int(n) => n.into(),
            Self::Large(n) => n.into(),
            Self::Double(n) => n as i128,
        }
    }

    fn as_double(self) -> f64 {
        match self {
            Self::Int(n) => n as f64,
            Self::Large(n) => n as f64,
            Self::Double(n) => n,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Int(_) => "an integer",
            Self::Large(_) => "an integer beyond 64 bits",
            Self::Double(_) => "a double",
        }
    }
}

/// The place in a list that a number names, if it is whole.
pub(super) fn place(number: &Number) -> Option<i64> {
    match Num::of(number) {
        Num::Int(n) => Some(n),
        Num::Large(_) => Some(i64::MAX),
        Num::Double(n) => (n.trunc() == n).then_some(n as i64),
    }
}

/// What a value is, in words that tell integers from doubles.
pub(super) fn precisely(value: &Value) -> &'static str {
    match value {
        Value::Number(number) => Num::of(number).word(),
        other => kind(other),
    }
}

impl<'v> Machine<'_, 'v> {
    pub(super) fn negative<'e>(&self, id: Id, of: Id, env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        let value = self.eval(of, env)?;
        match &*value {
            Value::Number(number) => match Num::of(number) {
                Num::Int(n) => Ok(Cow::Owned(n.checked_neg().ok_or_else(|| overflow(id))?.into())),
                Num::Double(n) => self.double(id, -n).map(Cow::Owned),
                Num::Large(_) => Err(too_large(id)),
            },
            other => {
                Err(Stop::says("TypeMismatch", id, format!("negates {}, only numbers have a negative", kind(other))))
            }
        }
    }

    pub(super) fn arithmetic<'e>(&self, id: Id, op: Op, a: Cow<'e, Value>, b: &Value) -> Evaluated<Cow<'e, Value>> {
        let value = match (&*a, b) {
            (Value::Number(a), Value::Number(b)) => {
                return self.numbers(id, op, Num::of(a), Num::of(b)).map(Cow::Owned);
            }
            (Value::String(a), Value::String(b)) if op == Op::Add => {
                self.make(id, a.len() + b.len())?;
                Value::String([a.as_str(), b].concat())
            }
            (Value::Array(_), Value::Array(b)) if op == Op::Add => {
                self.make(id, b.len() * size_of::<Value>())?;
                let Value::Array(mut list) = self.own(id, a)? else { return Ok(Cow::Owned(Value::Null)) };
                for item in b {
                    self.pay(id, item)?;
                    list.push(item.clone());
                }
                Value::Array(list)
            }
            (a, b) => return Err(mismatch(id, op, precisely(a), precisely(b))),
        };
        Ok(Cow::Owned(value))
    }

    pub(super) fn numbers(&self, id: Id, op: Op, a: Num, b: Num) -> Evaluated<Value> {
        match (a, b) {
            (Num::Int(a), Num::Int(b)) => {
                let result = match op {
                    Op::Add => a.checked_add(b),
                    Op::Sub => a.checked_sub(b),
                    Op::Mul => a.checked_mul(b),
                    _ if b == 0 => return Err(Stop::says("DivisionByZero", id, "divides by zero")),
                    Op::Div => a.checked_div(b),
                    _ => a.checked_rem(b),
                };
                result.map(Value::from).ok_or_else(|| overflow(id))
            }
            (Num::Double(a), Num::Double(b)) => match op {
                Op::Add => self.double(id, a + b),
                Op::Sub => self.double(id, a - b),
                Op::Mul => self.double(id, a * b),
                Op::Div if b == 0.0 => Err(Stop::says("DivisionByZero", id, "divides by zero")),
                Op::Div => self.double(id, a / b),
                _ => Err(Stop::says("TypeMismatch", id, "takes the rest of doubles; only integers have one")),
            },
            (Num::Large(_), _) | (_, Num::Large(_)) => Err(too_large(id)),
            (a, b) => Err(mismatch(id, op, a.word(), b.word())),
        }
    }

    /// A double, if it is one that JSON can hold.
    pub(super) fn double(&self, id: Id, number: f64) -> Evaluated<Value> {
        let held = Number::from_f64(number).map(Value::Number);
        held.ok_or_else(|| Stop::says("Overflow", id, "comes to more than a double can hold"))
    }
}

fn overflow(id: Id) -> Box<Stop> {
    Stop::says("Overflow", id, "comes to more than an integer of 64 bits can hold")
}

fn too_large(id: Id) -> Box<Stop> {
    Stop::says("Overflow", id, "computes with an integer beyond 64 bits; use `double(x)` if it need not be exact")
}

fn mismatch(id: Id, op: Op, a: &str, b: &str) -> Box<Stop> {
    let (does, between) = match op {
        Op::Add => ("adds", "and"),
        Op::Sub => ("subtracts", "and"),
        Op::Mul => ("multiplies", "and"),
        _ => ("divides", "and"),
    };
    let numbers = |word: &str| word == "an integer" || word == "a double";
    let help = match (numbers(a), numbers(b)) {
        (true, true) => "; make both the same with `double(x)` or `int(x)`",
        _ if a == "a text" || b == "a text" => "; make a text of the other with `string(x)`",
        _ => "",
    };
    Stop::says("TypeMismatch", id, format!("{does} {a} {between} {b}, which cannot be{help}"))
}
