//! Values and work: what stands on the right of `=`, behind `return`, or alone as a statement.

use super::Parser;
use super::policy::Owner;
use super::slice::Slice;
use crate::text::expression;
use crate::text::layout::Kind;
use crate::text::tree::{Call, Gather, Parallel, Spread, Value, Work};

impl Parser<'_, '_, '_> {
    /// A value, with the block below it if it opens one. `place` says where it stands.
    pub(super) fn value(&mut self, slice: Slice, place: &str) -> Option<Value> {
        let first = if slice.is_empty() { "" } else { self.layout.word(slice.from) };
        match first {
            "spread" => return self.spread(slice).map(|spread| Value::Work(Work::Spread(Box::new(spread)))),
            "parallel" => return self.parallel(slice).map(|p| Value::Work(Work::Parallel(p))),
            "wait" => {
                return self.wait(slice.after(slice.from)).map(|wait| Value::Work(Work::Wait(Box::new(wait))));
            }
            _ => {}
        }
        if self.is_call(slice) {
            let (call, gather) = self.call(slice, Owner::Call)?;
            debug_assert_eq!(gather, Gather::default(), "only spreads gather");
            return Some(Value::Work(Work::Call(call)));
        }
        if matches!(first, "sleep" | "raise" | "return" | "if" | "for" | "while" | "try") {
            let message = format!("`{first}` is a statement and has no value");
            let help = format!("write `{first}` on a line of its own");
            self.error(self.extent(slice), "unexpected", message).help(Some(help));
            return None;
        }
        if let Some(comma) = self.find(slice, &[","]) {
            let help = format!("write a list: `[{}]`", super::brief(self.text(slice)));
            let token = Slice { from: comma, to: comma + 1 };
            self.error(self.extent(token), "not_supported", "there are no tuples").help(Some(help));
            return None;
        }
        self.expression(slice, place).map(Value::Expr)
    }

    /// Whether the slice is one call and nothing else but policies: `@a(…)`, or the name of something that is not a
    /// function of expressions.
    fn is_call(&self, slice: Slice) -> bool {
        match self.kind(slice, slice.from) {
            Some(Kind::Name) if self.layout.word(slice.from) == "flow" => true,
            Some(Kind::Action) => {
                // A word behind it was meant as a policy.
                let end = self.call_end(slice, slice.from + 1);
                end.is_none_or(|end| end == slice.to || self.kind(slice, end) == Some(Kind::Name))
            }
            Some(Kind::Name) => {
                let name = self.layout.word(slice.from);
                let plain = !expression::is_function(name) && !expression::is_reserved(name);
                // A bracket behind a function's value could be an index as well; functions take no policies.
                plain && self.is(slice, slice.from + 1, "(") && self.call_end(slice, slice.from + 1) == Some(slice.to)
            }
            _ => false,
        }
    }

    /// Where a call ends whose parenthesis is here: behind it and the brackets that follow it.
    fn call_end(&self, slice: Slice, open: usize) -> Option<usize> {
        if !self.is(slice, open, "(") {
            return None;
        }
        let mut end = self.mate(open) + 1;
        while self.is(slice, end, "[") {
            end = self.mate(end) + 1;
        }
        Some(end)
    }

    /// `spread list:item -> call`.
    fn spread(&mut self, slice: Slice) -> Option<Spread> {
        let rest = slice.after(slice.from);
        let Some(arrow) = self.find(rest, &["->"]) else {
            let at = self.extent(rest);
            self.error(at, "bad_spread", "`spread` needs `->` and a call")
                .help(Some("write `spread list:item -> @action(key=item)`".into()));
            return None;
        };
        let head = rest.before(arrow);
        let colon = self.tops(head).filter(|t| self.layout.word(*t) == ":").last();
        let Some(colon) = colon else {
            let mut help = "write `spread list:item -> …`".to_owned();
            if let Some(within) = self.tops(head).find(|t| self.layout.word(*t) == "in") {
                let [item, list] = [head.before(within), head.after(within)].map(|part| super::brief(self.text(part)));
                help = format!("write `spread {list}:{item} -> …`");
            }
            self.error(self.extent(head), "bad_spread", "`spread` needs a list and the name of an item")
                .help(Some(help));
            return None;
        };
        self.notes.items.insert(colon);
        let list = self.expression(head.before(colon), "the list");
        let item = self.named(head.after(colon), "an item");
        let behind = rest.after(arrow);
        if !self.is_call(behind) {
            self.not_a_call(behind, "behind `->` stands one call");
            return None;
        }
        let (call, gather) = self.call(behind, Owner::Spread)?;
        Some(Spread { list: list?, item: item?, call, gather })
    }

    fn not_a_call(&mut self, slice: Slice, message: &str) {
        let first = if slice.is_empty() { "" } else { self.layout.word(slice.from) };
        let help = match first {
            "spread" | "parallel" | "if" | "for" | "while" | "try" | "sleep" | "wait" | "raise" => {
                "put it into a `fn` and call that"
            }
            "return" | "break" | "continue" => {
                "a call cannot end what is around it: decide by its result, behind the block"
            }
            _ if self.find(slice, &super::statement::ASSIGN).is_some() => {
                "name the results in front: `a, b = parallel:`"
            }
            _ => "write `@action(key=value)`, `flow name(key=value)` or `function(value)`",
        };
        self.error(self.extent(slice), "not_a_call", message.to_owned()).help(Some(help.into()));
    }

    /// `parallel:` or `parallel [policies]:`, and a call in each line below it.
    fn parallel(&mut self, slice: Slice) -> Option<Parallel> {
        let rest = self.until_colon(slice, "parallel");
        let brackets = self.policies(rest, Owner::Parallel);
        let header = self.at - 1;
        let outer = self.layout.lines[header].indent;
        let Some(indent) = self.deeper(outer) else {
            let message = "`parallel` has no calls";
            let help = "write one call in each line below it, indented by 4 spaces";
            let at = self.extent(slice);
            self.error(at, "empty_block", message).help(Some(help.into()));
            return None;
        };
        let mut calls = Vec::new();
        while let Some(found) = self.deeper(outer) {
            let line = self.line_slice();
            let bad = self.layout.lines[self.at].bad;
            self.at += 1;
            if bad {
                calls.push(None);
            } else if found != indent {
                let at = self.extent(Slice { to: line.from + 1, ..line });
                let message = format!("this line is indented by {found} spaces, its block by {indent}");
                self.error(at, "bad_indent", message).help(Some(format!("indent it by {indent} spaces")));
                calls.push(None);
            } else if self.is_call(line) {
                let call = self.call(line, Owner::Call);
                calls.push(call.map(|(call, _)| call));
            } else {
                self.not_a_call(line, "each line of `parallel` is one call");
                self.skip(indent);
                calls.push(None);
            }
        }
        let calls: Vec<Call> = calls.into_iter().collect::<Option<_>>()?;
        Some(Parallel { calls, gather: brackets?.gather })
    }
}
