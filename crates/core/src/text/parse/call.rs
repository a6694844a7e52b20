//! Calls: `@action(key=value) [policies]`, `flow name(key=value) [policies]` and `function(value, key=value)`.

use super::Parser;
use super::policy::Owner;
use super::slice::Slice;
use crate::name::Name;
use crate::suggest::shown;
use crate::text::layout::Kind;
use crate::text::tree::{ActionCall, Call, Expr, FunctionCall, Gather, Word};

/// Arguments with their names.
type Named = Vec<(Word, Expr)>;

impl Parser<'_, '_, '_> {
    /// A call; the slice is one, as far as its brackets go. How failures are gathered is said for a spread only.
    pub(super) fn call(&mut self, slice: Slice, owner: Owner) -> Option<(Call, Gather)> {
        if self.is(slice, slice.from, "flow") {
            return self.flow_call(slice, owner);
        }
        let is_action = self.kind(slice, slice.from) == Some(Kind::Action);
        let open = slice.from + 1;
        if !self.is(slice, open, "(") {
            let help = format!("write `{}(key=value)`", self.layout.word(slice.from));
            let at = self.extent(Slice { from: slice.from, to: slice.from + 1 });
            self.error(at, "bad_call", "an action is called with parentheses").help(Some(help));
            return None;
        }
        let close = self.mate(open);
        let inner = Slice { from: open + 1, to: close };
        let owner = match (owner, is_action) {
            (Owner::Spread, false) => Owner::FunctionSpread,
            (_, false) => Owner::Function,
            (owner, true) => owner,
        };
        let brackets = self.policies(slice.after(close), owner);
        if is_action {
            let arguments = self.action_arguments(inner, self.layout.word(slice.from));
            let at = self.extent(slice.before(open));
            let name = self.accept(Name::parse(&self.layout.word(slice.from)[1..]), at)?;
            let brackets = brackets?;
            let call = ActionCall { name, at, arguments: arguments?, policies: brackets.policies.into() };
            return Some((Call::Action(Box::new(call)), brackets.gather));
        }
        let name = Word { text: self.layout.word(slice.from).to_owned(), at: self.extent(slice.before(open)) };
        let (positional, named) = self.function_arguments(inner)?;
        Some((Call::Function(FunctionCall { name, positional, named }), brackets?.gather))
    }

    /// `flow name(key=value) [policies]`.
    fn flow_call(&mut self, slice: Slice, owner: Owner) -> Option<(Call, Gather)> {
        let rest = slice.after(slice.from);
        let Some(open) = self.tops(rest).find(|t| self.layout.word(*t) == "(") else {
            let name = if rest.is_empty() { "name".to_owned() } else { super::brief(self.text(rest)) };
            let help = format!("write `flow {name}(key=value)`");
            self.error(self.extent(slice), "bad_call", "a flow is started with parentheses").help(Some(help));
            return None;
        };
        let close = self.mate(open);
        let (named, inner) = (rest.before(open), Slice { from: open + 1, to: close });
        let brackets = self.policies(slice.after(close), owner);
        let arguments = self.action_arguments(inner, &format!("flow {}", self.text(named)));
        let at = self.extent(named);
        let name = self.accept(Name::parse(self.text(named)), at)?;
        let brackets = brackets?;
        if let Some(key) = brackets.policies.for_workers() {
            let message = format!("`{key}` has no meaning behind a flow: no worker is given a run");
            let help = format!("put `{key}` behind the actions in flow {name}");
            self.error(at, "misplaced_key", message).help(Some(help));
            return None;
        }
        let call = ActionCall { name, at, arguments: arguments?, policies: brackets.policies.into() };
        Some((Call::Flow(Box::new(call)), brackets.gather))
    }

    fn action_arguments(&mut self, slice: Slice, action: &str) -> Option<Named> {
        let mut arguments = Some(Vec::new());
        for piece in self.few(slice, "arguments")? {
            match self.argument(piece) {
                Some(Some((name, value))) => {
                    if let Some(list) = self.once(arguments.as_mut(), &name) {
                        list.push((name, value));
                        continue;
                    }
                }
                Some(None) => self.positional(piece, action),
                None => {}
            }
            arguments = None;
        }
        arguments
    }

    /// Complains if the name is taken.
    fn once<'l>(&mut self, list: Option<&'l mut Named>, name: &Word) -> Option<&'l mut Named> {
        let list = list?;
        if list.iter().any(|(earlier, _)| earlier.text == name.text) {
            let message = format!("the argument `{}` is given twice", name.text);
            self.error(name.at, "duplicate_name", message).help(Some("remove one of the two".into()));
            return None;
        }
        Some(list)
    }

    /// `key=value`; `Some(None)` if it is a value alone, `None` if it is wrong.
    fn argument(&mut self, slice: Slice) -> Option<Option<(Word, Expr)>> {
        if slice.is_empty() {
            let at = self.extent(slice);
            self.error(at, "unexpected", "there is nothing before this comma").help(Some("remove one comma".into()));
            return None;
        }
        if self.is(slice, slice.from, "*") || self.is(slice, slice.from, "**") {
            let message = "a map cannot be unpacked into arguments";
            self.error(self.extent(slice), "not_supported", message).help(Some("name each argument".into()));
            return None;
        }
        if !self.is(slice, slice.from + 1, "=") {
            return Some(None);
        }
        let name = Slice { from: slice.from, to: slice.from + 1 };
        if self.kind(slice, slice.from) != Some(Kind::Name) {
            self.named(name, "an argument");
            return None;
        }
        let name = Word { text: self.text(name).to_owned(), at: self.extent(name) };
        if let Some(second) = self.find(slice.after(slice.from + 1), &["="]).filter(|second| *second > slice.from + 3) {
            let next = Slice { from: second - 1, to: second };
            let message = format!("a comma is missing before {}", shown(self.text(next)));
            self.error(self.extent(next), "missing_comma", message).help(Some("put `,` between two arguments".into()));
            return None;
        }
        let value = slice.after(slice.from + 1);
        // Said only if there is nothing.
        let what = if value.is_empty() { format!("`{}=`", name.text) } else { String::new() };
        let value = self.expression(value, &what)?;
        Some(Some((name, value)))
    }

    fn positional(&mut self, slice: Slice, action: &str) {
        let text = super::brief(self.text(slice));
        let name = if self.kind(slice, slice.from) == Some(Kind::Name) && slice.len() == 1 { &text } else { "name" };
        let help = format!("name it: `{action}({name}={text})`");
        let message = "the arguments of an action or a flow have names";
        self.error(self.extent(slice), "positional_argument", message).help(Some(help));
    }

    fn function_arguments(&mut self, slice: Slice) -> Option<(Vec<Expr>, Named)> {
        let mut positional = Vec::new();
        let mut named = Vec::new();
        let mut good = true;
        for piece in self.few(slice, "arguments")? {
            match self.argument(piece) {
                Some(Some((name, value))) => match self.once(Some(&mut named), &name) {
                    Some(list) => list.push((name, value)),
                    None => good = false,
                },
                Some(None) if !named.is_empty() => {
                    let message = "an argument without a name stands before those with one";
                    self.error(self.extent(piece), "positional_argument", message)
                        .help(Some("move it to the front or name it".into()));
                    good = false;
                }
                Some(None) => match self.expression(piece, "the argument") {
                    Some(value) => positional.push(value),
                    None => good = false,
                },
                None => good = false,
            }
        }
        good.then_some((positional, named))
    }
}
