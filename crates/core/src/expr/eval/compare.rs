//! Equality, order and membership.

use super::math::{Num, precisely};
use super::stop::Stop;
use super::{Evaluated, Machine, Why, kind};
use crate::expr::tree::{Id, Op};
use serde_json::Value;
use std::cmp::Ordering;

impl Machine<'_, '_> {
    /// Values of different kinds are not equal, which is no error; numbers are equal by size.
    pub(super) fn equal(&self, id: Id, a: &Value, b: &Value) -> Evaluated<bool> {
        self.step(id, 1)?;
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => Ok(Num::of(a).order(Num::of(b)) == Ordering::Equal),
            (Value::String(a), Value::String(b)) => {
                self.step(id, cost(a.len().min(b.len())))?;
                Ok(a == b)
            }
            (Value::Array(a), Value::Array(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(b) {
                    if !self.equal(id, a, b)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Object(a), Value::Object(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (key, a) in a {
                    self.step(id, 1 + cost(key.len()))?;
                    let Some(b) = b.get(key) else { return Ok(false) };
                    if !self.equal(id, a, b)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (a, b) => Ok(a == b),
        }
    }

    pub(super) fn order(&self, id: Id, a: &Value, b: &Value) -> Evaluated<Ordering> {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => Ok(Num::of(a).order(Num::of(b))),
            (Value::String(a), Value::String(b)) => {
                self.step(id, cost(a.len().min(b.len())))?;
                Ok(a.cmp(b))
            }
            (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
            (a, b) => {
                let words = format!("compares {} and {}, which have no order", precisely(a), precisely(b));
                Err(Stop::says("TypeMismatch", id, words))
            }
        }
    }

    pub(super) fn ordered(&self, id: Id, op: Op, a: &Value, b: &Value) -> Evaluated<bool> {
        let order = self.order(id, a, b)?;
        Ok(match op {
            Op::Lt => order.is_lt(),
            Op::Le => order.is_le(),
            Op::Gt => order.is_gt(),
            _ => order.is_ge(),
        })
    }

    /// An item in a list, or a key in a map.
    pub(super) fn within(&self, id: Id, right: Id, item: &Value, of: &Value) -> Evaluated<bool> {
        match (item, of) {
            (_, Value::Array(list)) => {
                for other in list {
                    if self.equal(id, item, other)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Value::String(key), Value::Object(map)) => Ok(map.contains_key(key)),
            // No map has such a key.
            (Value::Bool(_) | Value::Number(_), Value::Object(_)) => Ok(false),
            (_, Value::Object(_)) => Err(Stop::new("TypeMismatch", id, Why::BadKey(kind(item)))),
            (_, other) => Err(Stop::says(
                "TypeMismatch",
                right,
                format!("stands after `in`, so it must be a list or a map, but it is {}", kind(other)),
            )),
        }
    }
}

/// Steps for looking at so many bytes.
pub(super) fn cost(bytes: usize) -> u64 {
    bytes as u64 / 64
}
