//! Calls of functions, and the conversions.

use super::math::{Num, precisely};
use super::stop::Stop;
use super::{Env, Evaluated, Machine, kind};
use crate::expr::function::Function;
use crate::expr::tree::Id;
use serde_json::{Number, Value};
use std::borrow::Cow;

impl<'v> Machine<'_, 'v> {
    pub(super) fn call<'e>(
        &self,
        id: Id,
        function: Function,
        ids: &[Id],
        env: Option<&'e Env<'e>>,
    ) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        use Function as F;
        let mut args = Vec::with_capacity(ids.len());
        for arg in ids {
            args.push(self.eval(*arg, env)?);
        }
        let value = match function {
            F::Size => self.size(id, ids[0], &args[0])?,
            F::String | F::Int | F::Double | F::Bool => return self.converted(id, function, args.swap_remove(0)),
            F::Json => {
                self.pay(id, &args[0])?;
                Value::String(args[0].to_string())
            }
            F::Range | F::Enumerate | F::Zip | F::Sum | F::Flatten | F::Keys | F::Values => {
                self.listed(id, function, ids, &args)?
            }
            F::Min | F::Max => return self.extreme(id, function, ids, args),
            F::Join => self.join(id, ids, &args)?,
            _ => self.text_function(id, function, ids, &args)?,
        };
        Ok(Cow::Owned(value))
    }

    fn size(&self, id: Id, of: Id, value: &Value) -> Evaluated<Value> {
        Ok(match value {
            Value::String(text) => {
                self.step(id, super::compare::cost(text.len()))?;
                text.chars().count().into()
            }
            Value::Array(list) => list.len().into(),
            Value::Object(map) => map.len().into(),
            other => return Err(needs(of, "a text, a list or a map", other)),
        })
    }

    fn converted<'e>(&self, id: Id, to: Function, value: Cow<'e, Value>) -> Evaluated<Cow<'e, Value>> {
        let made = match (to, &*value) {
            (Function::String, Value::String(_)) | (Function::Bool, Value::Bool(_)) => return Ok(value),
            // As a text with a hole prints it.
            (Function::String, other) => {
                self.pay(id, other)?;
                Value::String(other.to_string())
            }
            (Function::Bool, Value::String(text)) => match text.as_str() {
                "true" | "True" | "TRUE" | "t" | "1" => Value::Bool(true),
                "false" | "False" | "FALSE" | "f" | "0" => Value::Bool(false),
                _ => return Err(bad_value(id, text, "a boolean")),
            },
            (Function::Int, Value::Number(number)) => match Num::of(number) {
                Num::Int(_) => return Ok(value),
                // A double cannot tell the largest integers apart, so the bounds themselves are left out.
                Num::Double(n) if n > i64::MIN as f64 && n < i64::MAX as f64 => Value::from(n as i64),
                _ => return Err(Stop::says("Overflow", id, "comes to more than an integer of 64 bits can hold")),
            },
            (Function::Int, Value::String(text)) => match text.parse::<i64>() {
                Ok(int) if !text.starts_with('+') => int.into(),
                _ => return Err(bad_value(id, text, "an integer")),
            },
            (Function::Double, Value::Number(number)) => match Num::of(number) {
                Num::Double(_) => return Ok(value),
                Num::Int(n) => self.double(id, n as f64)?,
                Num::Large(n) => self.double(id, n as f64)?,
            },
            (Function::Double, Value::String(text)) => {
                // Rust would also read `inf` and `NaN`, which JSON cannot hold.
                let digits = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
                let number = text.parse::<f64>().ok().filter(|_| digits);
                let number = number.ok_or_else(|| bad_value(id, text, "a double"))?;
                Number::from_f64(number).map(Value::Number).ok_or_else(|| bad_value(id, text, "a double"))?
            }
            (_, other) => {
                let words = format!("cannot be made of {}", precisely(other));
                return Err(Stop::says("TypeMismatch", id, words));
            }
        };
        self.make(id, size_of::<Value>())?;
        Ok(Cow::Owned(made))
    }
}

fn bad_value(id: Id, text: &str, what: &str) -> Box<Stop> {
    Stop::says("BadValue", id, format!("has no value: {} is not {what}", crate::suggest::shown(text)))
}

/// Something else was needed.
pub(super) fn needs(of: Id, what: &str, found: &Value) -> Box<Stop> {
    Stop::says("TypeMismatch", of, format!("must be {what} here, but it is {}", kind(found)))
}
