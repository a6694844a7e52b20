//! Functions that make, look through or take apart lists and maps.

use super::call::needs;
use super::math::Num;
use super::stop::Stop;
use super::{Evaluated, Machine};
use crate::expr::function::Function;
use crate::expr::tree::{Id, Op};
use serde_json::Value;
use std::borrow::Cow;

impl Machine<'_, '_> {
    pub(super) fn listed(&self, id: Id, function: Function, ids: &[Id], args: &[Cow<'_, Value>]) -> Evaluated<Value> {
        match function {
            Function::Range => self.range(id, ids, args),
            Function::Keys | Function::Values => {
                let Value::Object(map) = &*args[0] else { return Err(needs(ids[0], "a map", &args[0])) };
                let mut list = Vec::new();
                for (key, value) in map {
                    match function {
                        Function::Keys => list.push(self.copied(id, &Value::from(key.as_str()))?),
                        _ => list.push(self.copied(id, value)?),
                    }
                }
                Ok(Value::Array(list))
            }
            Function::Enumerate => {
                let items = list(ids[0], &args[0])?.iter().enumerate();
                let pairs: Evaluated<_> = items.map(|(n, item)| self.pair(id, Value::from(n), item)).collect();
                Ok(Value::Array(pairs?))
            }
            Function::Zip => self.zip(id, ids, args),
            Function::Flatten => {
                let mut flat = Vec::new();
                for item in list(ids[0], &args[0])? {
                    match item {
                        Value::Array(inner) => {
                            for item in inner {
                                flat.push(self.copied(id, item)?);
                            }
                        }
                        item => flat.push(self.copied(id, item)?),
                    }
                }
                Ok(Value::Array(flat))
            }
            _ => {
                let mut items = list(ids[0], &args[0])?.iter();
                let Some(first) = items.next() else { return Ok(Value::from(0)) };
                let Value::Number(number) = first else { return Err(needs(ids[0], "a list of numbers", first)) };
                let mut sum = Num::of(number);
                for item in items {
                    self.step(id, 1)?;
                    let Value::Number(number) = item else { return Err(needs(ids[0], "a list of numbers", item)) };
                    if let Value::Number(next) = self.numbers(id, Op::Add, sum, Num::of(number))? {
                        sum = Num::of(&next);
                    }
                }
                self.numbers(id, Op::Add, sum, if let Num::Double(_) = sum { Num::Double(0.0) } else { Num::Int(0) })
            }
        }
    }

    /// A copy that is paid for, by bytes and by a step.
    fn copied(&self, id: Id, value: &Value) -> Evaluated<Value> {
        self.step(id, 1)?;
        self.pay(id, value)?;
        Ok(value.clone())
    }

    fn pair(&self, id: Id, first: Value, second: &Value) -> Evaluated<Value> {
        self.make(id, 2 * size_of::<Value>())?;
        Ok(Value::Array(vec![first, self.copied(id, second)?]))
    }

    fn range(&self, id: Id, ids: &[Id], args: &[Cow<'_, Value>]) -> Evaluated<Value> {
        let mut numbers = [0; 3];
        for (n, arg) in args.iter().enumerate() {
            numbers[n] = arg.as_i64().ok_or_else(|| needs(ids[n], "an integer", arg))?;
        }
        let (from, to, by) = match args.len() {
            1 => (0, numbers[0], 1),
            2 => (numbers[0], numbers[1], 1),
            _ => (numbers[0], numbers[1], numbers[2]),
        };
        if by == 0 {
            return Err(Stop::says("BadValue", id, "has no end: it goes by 0"));
        }
        let mut list = Vec::new();
        let mut next = Some(from);
        while let Some(n) = next.filter(|n| if by > 0 { *n < to } else { *n > to }) {
            self.step(id, 1)?;
            self.make(id, size_of::<Value>())?;
            list.push(Value::from(n));
            next = n.checked_add(by);
        }
        Ok(Value::Array(list))
    }

    fn zip(&self, id: Id, ids: &[Id], args: &[Cow<'_, Value>]) -> Evaluated<Value> {
        let lists: Evaluated<Vec<&[Value]>> = ids.iter().zip(args).map(|(id, arg)| list(*id, arg)).collect();
        let lists = lists?;
        let len = lists[0].len();
        if let Some(other) = lists.iter().find(|list| list.len() != len) {
            let words = format!("takes lists of the same length, but one has {len} items and one has {}", other.len());
            return Err(Stop::says("BadValue", id, words));
        }
        let mut rows = Vec::new();
        for n in 0..len {
            self.make(id, (1 + lists.len()) * size_of::<Value>())?;
            let row: Evaluated<Vec<Value>> = lists.iter().map(|list| self.copied(id, &list[n])).collect();
            rows.push(Value::Array(row?));
        }
        Ok(Value::Array(rows))
    }

    /// The smallest or largest of some values, or of the items of one list; the first of equals.
    pub(super) fn extreme<'e>(
        &self,
        id: Id,
        function: Function,
        ids: &[Id],
        mut args: Vec<Cow<'e, Value>>,
    ) -> Evaluated<Cow<'e, Value>> {
        let pick = |items: &mut dyn Iterator<Item = &Value>| -> Evaluated<usize> {
            let mut best: Option<(usize, &Value)> = None;
            for (n, item) in items.enumerate() {
                self.step(id, 1)?;
                let better = match best {
                    None => self.order(id, item, item).map(|_| true)?,
                    Some((_, best)) if function == Function::Min => self.order(id, item, best)?.is_lt(),
                    Some((_, best)) => self.order(id, item, best)?.is_gt(),
                };
                if better {
                    best = Some((n, item));
                }
            }
            best.map(|(n, _)| n).ok_or_else(|| Stop::says("BadValue", id, "has no value: the list is empty"))
        };
        if args.len() > 1 {
            let n = pick(&mut args.iter().map(|arg| &**arg))?;
            return Ok(args.swap_remove(n));
        }
        let n = pick(&mut list(ids[0], &args[0])?.iter())?;
        Ok(match args.swap_remove(0) {
            Cow::Borrowed(list) => Cow::Borrowed(&list[n]),
            Cow::Owned(mut list) => Cow::Owned(list[n].take()),
        })
    }
}

/// The items of what must be a list.
pub(super) fn list(id: Id, value: &Value) -> Evaluated<&[Value]> {
    match value {
        Value::Array(list) => Ok(list),
        other => Err(needs(id, "a list", other)),
    }
}
