//! Macros: a variable stands for each item of a list, or each key of a map, in turn.

use super::stop::Stop;
use super::{Env, Evaluated, Machine, boolean, kind};
use crate::expr::function::Macro;
use crate::expr::tree::{Each, Id};
use serde_json::Value;
use std::borrow::Cow;

impl<'v> Machine<'_, 'v> {
    pub(super) fn each<'e>(&self, id: Id, each: &Each, env: Option<&'e Env<'e>>) -> Evaluated<Cow<'e, Value>>
    where
        'v: 'e,
    {
        let over = self.eval(each.over, env)?;
        let keys;
        let items: &[Value] = match &*over {
            Value::Array(list) => list,
            Value::Object(map) => {
                self.make(id, map.iter().map(|(key, _)| key.len() + size_of::<Value>()).sum())?;
                keys = map.keys().map(|key| Value::from(key.as_str())).collect::<Vec<_>>();
                &keys
            }
            other => {
                let words = format!("must be a list or a map for `{}`, but it is {}", each.name.name(), kind(other));
                return Err(Stop::says("TypeMismatch", each.over, words));
            }
        };
        match each.name {
            Macro::All => self.decided(items, each, false, env),
            Macro::Exists => self.decided(items, each, true, env),
            Macro::ExistsOne => self.one(items, each, env),
            Macro::Map => self.mapped(id, items, each, env),
            Macro::Filter => self.filtered(id, items, each, env),
        }
    }

    /// `all` and `exists`: an item that decides wins, even over an error before or after it.
    fn decided(
        &self,
        items: &[Value],
        each: &Each,
        decides: bool,
        env: Option<&Env<'_>>,
    ) -> Evaluated<Cow<'static, Value>> {
        let mut first = None;
        for value in items {
            match self.flag(each.body, Some(&Env { value, outer: env })) {
                Ok(flag) if flag == decides => return Ok(boolean(decides)),
                Ok(_) => {}
                Err(stop) if stop.is_final() => return Err(stop),
                Err(stop) => first = first.or(Some(stop)),
            }
        }
        first.map_or(Ok(boolean(!decides)), Err)
    }

    fn one(&self, items: &[Value], each: &Each, env: Option<&Env<'_>>) -> Evaluated<Cow<'static, Value>> {
        let mut count = 0usize;
        for value in items {
            count += usize::from(self.flag(each.body, Some(&Env { value, outer: env }))?);
        }
        Ok(boolean(count == 1))
    }

    fn mapped(&self, id: Id, items: &[Value], each: &Each, env: Option<&Env<'_>>) -> Evaluated<Cow<'static, Value>> {
        let mut list = Vec::new();
        for value in items {
            let env = Env { value, outer: env };
            if each.filter.map_or(Ok(true), |filter| self.flag(filter, Some(&env)))? {
                list.push(self.kept(id, self.eval(each.body, Some(&env))?)?);
            }
        }
        Ok(Cow::Owned(Value::Array(list)))
    }

    fn filtered(&self, id: Id, items: &[Value], each: &Each, env: Option<&Env<'_>>) -> Evaluated<Cow<'static, Value>> {
        let mut list = Vec::new();
        for value in items {
            if self.flag(each.body, Some(&Env { value, outer: env }))? {
                list.push(self.kept(id, Cow::Borrowed(value))?);
            }
        }
        Ok(Cow::Owned(Value::Array(list)))
    }

    fn kept(&self, id: Id, value: Cow<'_, Value>) -> Evaluated<Value> {
        if let Cow::Owned(_) = value {
            self.make(id, size_of::<Value>())?;
        }
        self.own(id, value)
    }
}
