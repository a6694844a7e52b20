//! Functions of texts. Places in a text are counted in characters, from 0.

use super::call::needs;
use super::compare::cost;
use super::lists::list;
use super::stop::Stop;
use super::{Evaluated, Machine};
use crate::expr::function::Function;
use crate::expr::tree::Id;
use crate::pattern::Pattern;
use serde_json::Value;
use std::borrow::Cow;

impl Machine<'_, '_> {
    pub(super) fn text_function(
        &self,
        id: Id,
        function: Function,
        ids: &[Id],
        args: &[Cow<'_, Value>],
    ) -> Evaluated<Value> {
        let text = |n: usize| text(ids[n], &args[n]);
        let this = text(0)?;
        self.step(id, cost(this.len()))?;
        Ok(match function {
            Function::StartsWith => this.starts_with(text(1)?).into(),
            Function::EndsWith => this.ends_with(text(1)?).into(),
            Function::Contains => this.contains(text(1)?).into(),
            Function::Matches => self.matched(id, this, text(1)?, ids[1])?,
            Function::LowerAscii | Function::UpperAscii | Function::Trim => {
                self.make(id, this.len())?;
                Value::String(match function {
                    Function::LowerAscii => this.to_ascii_lowercase(),
                    Function::UpperAscii => this.to_ascii_uppercase(),
                    _ => this.trim().to_owned(),
                })
            }
            Function::Split => self.split(id, this, text(1)?, count(ids, args, 2)?)?,
            Function::Replace => self.replaced(id, this, [text(1)?, text(2)?], count(ids, args, 3)?)?,
            Function::Substring => self.substring(id, this, ids, args)?,
            _ => self.index_of(id, this, text(1)?, count(ids, args, 2)?)?,
        })
    }

    fn matched(&self, id: Id, this: &str, pattern: &str, at: Id) -> Evaluated<Value> {
        let bad = |why: String| Stop::says("BadValue", at, format!("is no pattern: {why}"));
        let (pattern, steps) = Pattern::read(pattern);
        // Also for one that cannot be read: `exists` and `||` go on after that, and would read it again for nothing.
        if self.values.rules() >= 2 {
            self.step(id, steps)?;
        }
        let pattern = pattern.map_err(bad)?;
        self.step(id, pattern.cost(this.len()))?;
        Ok(pattern.is_match(this).into())
    }

    fn split(&self, id: Id, this: &str, by: &str, most: Option<i64>) -> Evaluated<Value> {
        let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut list = Vec::new();
        let mut piece = |piece: &str| -> Evaluated<()> {
            self.step(id, 1)?;
            self.make(id, piece.len() + size_of::<Value>())?;
            list.push(Value::from(piece));
            Ok(())
        };
        match (most, by) {
            (0, _) => {}
            (most, "") => {
                let cut = this.char_indices().nth(most - 1).map_or(this.len(), |(at, _)| at);
                this[..cut].chars().try_for_each(|c| piece(c.encode_utf8(&mut [0; 4])))?;
                if cut < this.len() {
                    piece(&this[cut..])?;
                }
            }
            (most, by) => this.splitn(most, by).try_for_each(&mut piece)?,
        }
        Ok(Value::Array(list))
    }

    fn replaced(&self, id: Id, this: &str, [part, with]: [&str; 2], most: Option<i64>) -> Evaluated<Value> {
        let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let count = this.matches(part).count().min(most);
        self.make(id, this.len().saturating_add(count.saturating_mul(with.len())))?;
        Ok(Value::String(this.replacen(part, with, count)))
    }

    fn substring(&self, id: Id, this: &str, ids: &[Id], args: &[Cow<'_, Value>]) -> Evaluated<Value> {
        let length = this.chars().count();
        let place = |n: usize| count(ids, args, n);
        let (from, to) = (place(1)?.unwrap_or(0), place(2)?.unwrap_or(length as i64));
        if from < 0 || from > to || to > length as i64 {
            let words = format!("cuts from {from} to {to}, but the text has {length} characters");
            return Err(Stop::says("IndexOutOfRange", id, words));
        }
        let byte = |at: i64| this.char_indices().nth(at as usize).map_or(this.len(), |(byte, _)| byte);
        let cut = &this[byte(from)..byte(to)];
        self.make(id, cut.len())?;
        Ok(cut.into())
    }

    fn index_of(&self, id: Id, this: &str, part: &str, from: Option<i64>) -> Evaluated<Value> {
        let from = from.unwrap_or(0);
        let length = this.chars().count();
        if from < 0 || from > length as i64 {
            let words = format!("starts at {from}, but the text has {length} characters");
            return Err(Stop::says("IndexOutOfRange", id, words));
        }
        let byte = this.char_indices().nth(from as usize).map_or(this.len(), |(byte, _)| byte);
        Ok(match this[byte..].find(part) {
            Some(at) => this[..byte + at].chars().count().into(),
            None => Value::from(-1),
        })
    }

    pub(super) fn join(&self, id: Id, ids: &[Id], args: &[Cow<'_, Value>]) -> Evaluated<Value> {
        let items = list(ids[0], &args[0])?;
        let between = args.get(1).map_or(Ok(""), |arg| text(ids[1], arg))?;
        let mut joined = String::new();
        for (n, item) in items.iter().enumerate() {
            self.step(id, 1)?;
            let Value::String(item) = item else { return Err(needs(ids[0], "a list of texts", item)) };
            self.make(id, item.len() + between.len())?;
            joined.extend([if n > 0 { between } else { "" }, item]);
        }
        Ok(Value::String(joined))
    }
}

fn text(id: Id, value: &Value) -> Evaluated<&str> {
    value.as_str().ok_or_else(|| needs(id, "a text", value))
}

/// An argument that need not be there.
fn count(ids: &[Id], args: &[Cow<'_, Value>], n: usize) -> Evaluated<Option<i64>> {
    let Some(arg) = args.get(n) else { return Ok(None) };
    arg.as_i64().map(Some).ok_or_else(|| needs(ids[n], "an integer", arg))
}
