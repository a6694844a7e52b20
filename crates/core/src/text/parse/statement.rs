//! Statements: by their first word, or else by their first `=`.

use super::Parser;
use super::slice::Slice;
use crate::suggest::shown;
use crate::text::expression::is_reserved;
use crate::text::layout::{Kind, Line};
use crate::text::tree::{Expr, Extent, Handler, Sleep, Statement, StatementKind, Value, Word, Work};
use crate::time::Millis;

/// What assigns: alone, or with an operator before it.
pub(super) const ASSIGN: [&str; 6] = ["=", "+=", "-=", "*=", "/=", "%="];

impl Parser<'_, '_, '_> {
    /// Reads the current line and the blocks below it.
    pub(super) fn statement(&mut self) -> Option<Statement> {
        let slice = self.line_slice();
        let at = self.extent(slice);
        let Line { bad, semicolon, .. } = self.layout.lines[self.at];
        self.at += 1;
        if bad {
            return None;
        }
        if let Some(semicolon) = semicolon.then(|| self.find(slice, &[";"])).flatten() {
            let token = Slice { from: semicolon, to: semicolon + 1 };
            self.error(self.extent(token), "not_supported", "`;` does not separate statements")
                .help(Some("write each statement on a line of its own".into()));
            return None;
        }
        let kind = self.statement_kind(slice, at)?;
        Some(Statement { at, kind })
    }

    fn statement_kind(&mut self, slice: Slice, at: Extent) -> Option<StatementKind> {
        let word = self.layout.word(slice.from);
        let assigned = self.layout.tokens.get(slice.from + 1).is_some()
            && slice.len() > 1
            && (ASSIGN.contains(&self.layout.word(slice.from + 1)) || self.layout.word(slice.from + 1) == ",");
        if self.kind(slice, slice.from) == Some(Kind::Name) && !assigned {
            match word {
                "if" => return self.if_chain(slice),
                "for" => return self.for_loop(slice),
                "while" => return self.while_loop(slice),
                "try" => return self.try_block(slice, at),
                "break" => return self.alone(slice, StatementKind::Break),
                "continue" => return self.alone(slice, StatementKind::Continue),
                "pass" => return self.alone(slice, StatementKind::Pass),
                "return" => return self.return_value(slice),
                "raise" => return self.raise(slice),
                "sleep" => return self.sleep(slice).map(StatementKind::Sleep),
                "elif" | "else" | "except" => return self.orphan(slice, word),
                "flow" if !self.is(slice, slice.to - 1, ":") => {}
                "flow" | "fn" => return self.inner_block(slice, word),
                _ if self.refuse_statement(slice) => return None,
                _ => {}
            }
        }
        match self.find(slice, &ASSIGN) {
            Some(equals) => self.assignment(slice, equals),
            None => match self.value(slice, "the line")? {
                Value::Work(work) => Some(StatementKind::Do(work)),
                Value::Expr(_) => {
                    let message = "the value of this expression goes nowhere";
                    let help =
                        format!("keep it, as in `result = {}`, or remove the line", super::brief(self.text(slice)));
                    self.error(at, "unused_value", message).help(Some(help));
                    None
                }
            },
        }
    }

    fn alone(&mut self, slice: Slice, kind: StatementKind) -> Option<StatementKind> {
        let rest = slice.after(slice.from);
        if rest.is_empty() {
            return Some(kind);
        }
        let message = format!("`{}` stands alone on its line", self.layout.word(slice.from));
        self.error(self.extent(rest), "unexpected", message).help(Some("remove what follows it".into()));
        None
    }

    fn orphan(&mut self, slice: Slice, word: &str) -> Option<StatementKind> {
        let first = if word == "except" { "try" } else { "if" };
        let message = format!("`{word}` has no `{first}` before it at the same indentation");
        let at = self.extent(slice);
        self.error(at, "unexpected", message).help(Some(format!("indent it like the `{first}` it belongs to")));
        self.skip_block();
        None
    }

    fn inner_block(&mut self, slice: Slice, word: &str) -> Option<StatementKind> {
        let message = format!("a `{word}` cannot stand within another block");
        self.error(self.extent(slice), "unexpected", message).help(Some("start it at the beginning of a line".into()));
        self.skip_block();
        None
    }

    fn skip_block(&mut self) {
        let indent = self.layout.lines[self.at - 1].indent;
        self.skip(indent);
    }

    fn if_chain(&mut self, first: Slice) -> Option<StatementKind> {
        let indent = self.layout.lines[self.at - 1].indent;
        let mut arms: Vec<Option<(Expr, Vec<Statement>)>> = Vec::new();
        arms.push(self.arm(first, "if"));
        let mut otherwise = None;
        while let Some((word, slice)) = self.next_at(indent, &["elif", "else"]) {
            self.at += 1;
            if let (Some(_), at) = (&otherwise, self.extent(slice)) {
                let message = format!("`{word}` follows `else`");
                self.error(at, "unexpected", message).help(Some("put `else` last".into()));
            }
            if word == "elif" {
                arms.push(self.arm(slice, "elif"));
            } else if self.is(slice, slice.from + 1, "if") {
                let at = self.extent(Slice { to: slice.from + 2, ..slice });
                self.error(at, "not_supported", "`else if` is one word here").help(Some("write `elif`".into()));
                arms.push(self.arm(slice.after(slice.from), "elif"));
            } else {
                otherwise = Some(self.plain_block(slice, "else"));
            }
        }
        let arms = arms.into_iter().collect::<Option<Vec<_>>>()?;
        Some(StatementKind::If { arms, otherwise })
    }

    fn arm(&mut self, slice: Slice, word: &str) -> Option<(Expr, Vec<Statement>)> {
        let condition = self.until_colon(slice, word);
        let condition = self.expression(condition, "the condition");
        let body = self.block(&format!("`{word}`"));
        Some((condition?, body))
    }

    /// A block whose line is one word and a colon.
    fn plain_block(&mut self, slice: Slice, word: &str) -> Vec<Statement> {
        let rest = self.until_colon(slice, word);
        if !rest.is_empty() {
            let at = self.extent(rest);
            self.error(at, "unexpected", format!("`:` follows `{word}` directly"))
                .help(Some(format!("write `{word}:`")));
        }
        self.block(&format!("`{word}`"))
    }

    /// The next line, if it is at this indentation and starts with one of these words.
    fn next_at(&self, indent: u32, words: &[&str]) -> Option<(&'static str, Slice)> {
        const KNOWN: [&str; 5] = ["elif", "else", "except", "finally", "catch"];
        let line = self.layout.lines.get(self.at).filter(|line| line.indent == indent && !line.bad)?;
        let word = self.layout.word(line.from);
        let known = KNOWN.into_iter().find(|known| *known == word && words.contains(known))?;
        Some((known, self.line_slice()))
    }

    fn for_loop(&mut self, slice: Slice) -> Option<StatementKind> {
        let rest = self.until_colon(slice, "for");
        let within = self.tops(rest).find(|t| self.layout.word(*t) == "in");
        let head = match within {
            Some(within) => {
                let names = rest.before(within);
                let item = if self.find(names, &[","]).is_some() {
                    let help = "take the pair as one name: `for pair in …:`, then `a, b = pair`";
                    self.error(self.extent(names), "not_supported", "`for` names one item").help(Some(help.into()));
                    None
                } else {
                    self.named(names, "an item")
                };
                (item, self.expression(rest.after(within), "the list"))
            }
            None => {
                let at = self.extent(rest);
                self.error(at, "bad_for", "`for` needs a name and a list")
                    .help(Some("write `for item in list:`".into()));
                (None, None)
            }
        };
        let body = self.block("`for`");
        Some(StatementKind::For { item: head.0?, list: head.1?, body })
    }

    fn while_loop(&mut self, slice: Slice) -> Option<StatementKind> {
        let (condition, body) = self.arm(slice, "while")?;
        Some(StatementKind::While { condition, body })
    }

    fn try_block(&mut self, slice: Slice, at: Extent) -> Option<StatementKind> {
        let indent = self.layout.lines[self.at - 1].indent;
        let body = self.plain_block(slice, "try");
        let mut handlers = Vec::new();
        let mut refused = false;
        while let Some((word, slice)) = self.next_at(indent, &["except", "finally", "else", "catch"]) {
            self.at += 1;
            if word == "except" {
                handlers.push(self.handler(slice));
                continue;
            }
            let help = match word {
                "finally" => "write what is always done behind the `try`, and again in a handler that ends in `raise`",
                "catch" => "write `except Type as name:`",
                _ => "write it at the end of the `try` body",
            };
            let message = format!("`try` has no `{word}`");
            self.error(self.extent(slice), "not_supported", message).help(Some(help.into()));
            self.block(&format!("`{word}`"));
            refused = true;
        }
        if handlers.is_empty() && !refused {
            let help = "add `except Type as e:`, or `except:` for every error";
            self.error(at, "missing_handler", "`try` has no `except`").help(Some(help.into()));
        }
        let handlers = handlers.into_iter().collect::<Option<Vec<_>>>()?;
        (!handlers.is_empty()).then_some(StatementKind::Try { body, handlers })
    }

    /// `except:`, `except A:`, `except A, B as e:`.
    fn handler(&mut self, slice: Slice) -> Option<Handler> {
        let at = self.extent(slice);
        let mut rest = self.until_colon(slice, "except");
        let mut name = Some(None);
        if let Some(token) = self.tops(rest).find(|t| self.layout.word(*t) == "as") {
            name = self.named(rest.after(token), "an error").map(Some);
            rest = rest.before(token);
        }
        // Types in parentheses are read as types without them.
        if rest.len() > 1 && self.is(rest, rest.from, "(") && self.mate(rest.from) == rest.to - 1 {
            let at = self.extent(rest);
            let types = super::brief(self.text(Slice { from: rest.from + 1, to: rest.to - 1 }));
            let help = format!("write `except {types}`");
            self.error(at, "not_supported", "the types of `except` stand without parentheses").help(Some(help));
            rest = Slice { from: rest.from + 1, to: rest.to - 1 };
        }
        let pieces = self.pieces(rest);
        let types = pieces.into_iter().map(|piece| self.error_type(piece)).collect::<Option<Vec<_>>>();
        let body = self.block("`except`");
        Some(Handler { at, types: types?, name: name?, body })
    }

    /// The name of an error type: a word, or words with dots between them.
    pub(super) fn error_type(&mut self, slice: Slice) -> Option<Word> {
        let (at, text) = (self.extent(slice), self.text(slice));
        let dotted = slice.len() % 2 == 1
            && (slice.from..slice.to).all(|t| match (t - slice.from) % 2 {
                0 => self.kind(slice, t) == Some(Kind::Name) && !is_reserved(self.layout.word(t)),
                _ => self.layout.word(t) == ".",
            });
        if dotted && text.len() <= crate::limits::NAME_BYTES && !text.contains(char::is_whitespace) {
            return Some(Word { text: text.to_owned(), at });
        }
        let message = if slice.is_empty() {
            "the type of the error is missing".to_owned()
        } else {
            format!("{} is not the type of an error", shown(text))
        };
        self.error(at, "bad_name", message).help(Some("a type is a word, such as `NetworkError`".into()));
        None
    }

    /// `raise`, `raise Type`, `raise Type("message")`.
    fn raise(&mut self, slice: Slice) -> Option<StatementKind> {
        let rest = slice.after(slice.from);
        if rest.is_empty() {
            return Some(StatementKind::Reraise);
        }
        if let Some(from) = self.tops(rest).find(|t| self.layout.word(*t) == "from") {
            let help = "leave it out: an error raised in a handler carries the handled one as its cause";
            self.error(self.extent(Slice { from, ..rest }), "not_supported", "`raise` has no `from`")
                .help(Some(help.into()));
            return None;
        }
        let Some(open) = self.tops(rest).find(|t| self.layout.word(*t) == "(") else {
            return Some(StatementKind::Raise { kind: self.error_type(rest)?, message: None });
        };
        let kind = self.error_type(rest.before(open))?;
        let close = self.mate(open);
        let inner = Slice { from: open + 1, to: close };
        let behind = rest.after(close);
        if !behind.is_empty() || self.pieces(inner).len() > 1 {
            let at = if behind.is_empty() { inner } else { behind };
            let message = "an error is raised with a type and one message";
            self.error(self.extent(at), "unexpected", message).help(Some("write `raise Type(\"message\")`".into()));
            return None;
        }
        let message = if inner.is_empty() { None } else { Some(self.expression(inner, "the message")?) };
        Some(StatementKind::Raise { kind, message })
    }

    fn return_value(&mut self, slice: Slice) -> Option<StatementKind> {
        let rest = slice.after(slice.from);
        if rest.is_empty() {
            return Some(StatementKind::Return(None));
        }
        self.value(rest, "`return`").map(|value| StatementKind::Return(Some(value)))
    }

    /// `sleep 1h` or `sleep expression`.
    fn sleep(&mut self, slice: Slice) -> Option<Sleep> {
        let rest = slice.after(slice.from);
        if rest.len() == 1 && self.kind(rest, rest.from) == Some(Kind::Number) {
            let text = self.text(rest);
            if text.ends_with(|c: char| c.is_ascii_alphabetic()) {
                return self.accept(Millis::parse(text), self.extent(rest)).map(Sleep::For);
            }
        }
        self.expression(rest, "the time to sleep").map(Sleep::Value)
    }

    fn assignment(&mut self, slice: Slice, equals: usize) -> Option<StatementKind> {
        let (left, right) = (slice.before(equals), slice.after(equals));
        let operator = self.layout.word(equals);
        if self.kind(left, left.from) == Some(Kind::Action) {
            let action = self.layout.word(left.from);
            let help = format!("write `{action}(key=value)`");
            self.error(self.extent(left), "bad_call", "an action is called with parentheses").help(Some(help));
            return None;
        }
        let targets = self.targets(left, operator);
        if operator != "=" {
            let targets = targets?;
            return self.augmented(slice, equals).map(|sum| StatementKind::Assign { targets, value: Value::Expr(sum) });
        }
        if let Some(second) = self.find(right, &ASSIGN) {
            let (a, b, value) = (left, right.before(second), right.after(second));
            let [a, b, value] = [a, b, value].map(|slice| super::brief(self.text(slice)));
            let help = format!("write two lines: `{b} = {value}` and `{a} = {b}`");
            let token = Slice { from: second, to: second + 1 };
            self.error(self.extent(token), "not_supported", "a line assigns once").help(Some(help));
            return None;
        }
        let count = targets.as_ref().map_or(1, Vec::len);
        let value = self.value(right, "`=`")?;
        let targets = targets?;
        if let Value::Work(Work::Parallel(parallel)) = &value {
            let calls = parallel.calls.len();
            if count > 1 && count != calls && calls > 0 {
                let at = self.extent(left);
                let message = format!("{count} names are assigned, but {calls} calls are made in parallel");
                self.error(at, "bad_count", message)
                    .help(Some("name each result, or take all of them as one list".into()));
                return None;
            }
        }
        Some(StatementKind::Assign { targets, value })
    }

    fn targets(&mut self, slice: Slice, operator: &str) -> Option<Vec<Word>> {
        if slice.len() == 1 && self.kind(slice, slice.from) == Some(Kind::Name) {
            return Some(vec![self.named(slice, "a variable")?]);
        }
        let at = self.extent(if slice.is_empty() { Slice { to: slice.to + 1, ..slice } } else { slice });
        let text = super::brief(self.text(slice));
        let refused = if slice.is_empty() {
            Some((format!("there is no name before `{operator}`"), "write `name = value`".to_owned()))
        } else if self.is(slice, slice.from, "(") {
            Some(("names are assigned without brackets around them".to_owned(), "write `a, b = …`".to_owned()))
        } else if self.find(slice, &[":"]).is_some() {
            let name = self.layout.word(slice.from);
            Some(("variables have no types".to_owned(), format!("write `{name} {operator} …`")))
        } else if self.find(slice, &["."]).is_some() || self.tops(slice).any(|t| self.layout.word(t) == "[") {
            let name = self.layout.word(slice.from);
            let help = format!("assign a whole new value to `{name}`; lists are joined with `+`");
            Some((format!("`{text}` is a part of a value, and values do not change"), help))
        } else if self.find(slice, &[","]).is_some() && operator != "=" {
            Some((format!("`{operator}` takes one name"), "write a line for each name".to_owned()))
        } else {
            None
        };
        if let Some((message, help)) = refused {
            self.error(at, "bad_target", message).help(Some(help));
            return None;
        }
        let pieces = self.few(slice, "names")?;
        let words = pieces.into_iter().map(|piece| self.named(piece, "a variable")).collect::<Option<Vec<_>>>()?;
        for (n, word) in words.iter().enumerate() {
            if words[..n].iter().any(|earlier| earlier.text == word.text) {
                self.error(word.at, "duplicate_name", format!("`{}` is assigned twice in one line", word.text))
                    .help(Some("give each result a name of its own".into()));
                return None;
            }
        }
        Some(words)
    }
}
