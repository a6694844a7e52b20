//! Expressions within program text: where they end is known already, so they are only looked through for what
//! belongs to other languages, and then read by the expression language itself.

use super::layout::{Kind, STATEMENTS};
use super::parse::{Parser, Slice, brief};
use super::tree::{Expr, Extent};
use crate::expr::{self, Hyphens};
use crate::mark::mark;
use crate::suggest::shown;
use std::borrow::Cow;

/// Words that name nothing, beside those that begin statements.
const WORDS: [&str; 23] = [
    "in",
    "as",
    "true",
    "false",
    "null",
    "and",
    "or",
    "not",
    "is",
    "True",
    "False",
    "None",
    "lambda",
    "const",
    "function",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "var",
    "void",
    "await",
];

/// Longest text of an expression that is looked up before it is read.
const SHORT: usize = 32;

/// Functions that authors expect from elsewhere.
const EXPECTED: [(&str, &str); 8] = [
    ("len", "write `size(x)`"),
    ("str", "write `string(x)`"),
    ("float", "write `double(x)`"),
    ("print", "what happens is in the ledger; to tell somebody, call an action"),
    ("list", "write `[…]`, or `range(n)` for numbers"),
    ("dict", "write `{\"key\": value}`"),
    ("sorted", "sort in an action"),
    ("filter", "write `list.filter(x, condition)`"),
];

const WRONG: [(&str, &str, &str); 17] = [
    ("//", "there is no `//`", "`/` of two whole numbers is whole; comments start with `#`"),
    ("**", "there is no `**`", "multiply, or compute it in an action"),
    (":=", "an expression assigns nothing", "assign on a line of its own before it"),
    ("<>", "there is no `<>`", "write `!=`"),
    ("??", "there is no `??`", "write `has(x.key) ? x.key : other`"),
    ("++", "there is no `++`", "write `x = x + 1`"),
    ("&", "there is no `&`", "write `&&` for and"),
    ("|", "there is no `|`", "write `||` for or"),
    ("^", "there is no `^`", "bits are not computed with here: do it in an action"),
    ("~", "there is no `~`", "bits are not computed with here: do it in an action"),
    ("$", "`$` has no meaning here", "write the name alone"),
    ("`", "a backtick has no meaning here", "write texts in `\"` or `'`"),
    ("->", "`->` has no meaning here", "it stands in `spread list:item -> call` and in policies"),
    ("=", "`=` stands in a value", "compare with `==`"),
    ("+=", "`+=` stands in a value", "assign on a line of its own"),
    ("-=", "`-=` stands in a value", "assign on a line of its own"),
    (";", "`;` does not separate statements", "write each statement on a line of its own"),
];

const NAMES: [(&str, &str, &str); 11] = [
    ("and", "there is no `and`", "write `&&`"),
    ("or", "there is no `or`", "write `||`"),
    ("not", "there is no `not`", "write `!`, and `!(x in list)` for `not in`"),
    ("is", "there is no `is`", "write `==`, and `x == null` for `is None`"),
    ("True", "`True` is written small", "write `true`"),
    ("False", "`False` is written small", "write `false`"),
    ("None", "there is no `None`", "write `null`"),
    ("lambda", "there are no lambdas", "declare a `fn`, or use `list.map(x, …)`"),
    ("await", "there is no `await`", "leave it out: every call is waited for"),
    ("if", "a condition in a value is written with `?`", "write `condition ? this : that`"),
    ("for", "there are no comprehensions", "write `list.map(x, …)`, and `list.filter(x, condition)` for the `if`"),
];

const COMPARE: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// Whether a word belongs to the language, so that nothing can be called by it.
pub(super) fn is_reserved(word: &str) -> bool {
    // Most names are told apart by their length alone.
    (2..=9).contains(&word.len()) && (STATEMENTS.contains(&word) || WORDS.contains(&word))
}

/// Whether expressions have a function with this name.
pub(super) fn is_function(name: &str) -> bool {
    expr::called().any(|known| known == name)
}

/// What to write instead of a function that authors expect from elsewhere.
pub(super) fn expected(name: &str) -> Option<String> {
    EXPECTED.iter().find(|(known, _)| *known == name).map(|(_, help)| (*help).to_owned())
}

impl<'a> Parser<'_, 'a, '_> {
    /// The expression that a slice is; `what` says what it is for.
    pub(super) fn expression(&mut self, slice: Slice, what: &str) -> Option<Expr> {
        if slice.is_empty() {
            let message = format!("a value is missing: {what} has none");
            self.error(self.extent(slice), "missing_value", message).help(Some("write an expression".into()));
            return None;
        }
        self.read_once(slice, |parser| {
            if parser.refuse_foreign(slice) {
                return None;
            }
            let at = parser.extent(slice);
            let text = parser.without_comments(at);
            parser.read_expression(at, &text)
        })
    }

    /// What `read` makes of a slice, unless the same text was read lately: what is wrong with an expression is in
    /// its text, so what was good once is good again.
    fn read_once(&mut self, slice: Slice, read: impl FnOnce(&mut Self) -> Option<Expr>) -> Option<Expr> {
        let at = self.extent(slice);
        let text = &self.layout.text[at.range()];
        if text.len() > SHORT {
            return read(self);
        }
        let mark = mark(text);
        if let Some((_, ast)) = self.read.get(mark, |(known, _)| *known == text) {
            return Some(Expr { at, ast: ast.clone() });
        }
        let expr = read(self)?;
        self.read.put(mark, (text, expr.ast.clone()));
        Some(expr)
    }

    /// `x += e` is read as `x +( e)`: every part keeps its place in the text.
    pub(super) fn augmented(&mut self, slice: Slice, equals: usize) -> Option<Expr> {
        let right = slice.after(equals);
        if right.is_empty() {
            return self.expression(right, &format!("`{}`", self.layout.word(equals)));
        }
        self.read_once(slice, |parser| {
            if parser.refuse_foreign(right) {
                return None;
            }
            let at = parser.extent(slice);
            let mut text = parser.without_comments(at).into_owned();
            let sign = (parser.layout.tokens[equals].end - at.start) as usize - 1;
            text.replace_range(sign..=sign, "(");
            text.push(')');
            parser.read_expression(at, &text)
        })
    }

    /// The one place where the expression language is asked.
    fn read_expression(&mut self, at: Extent, text: &str) -> Option<Expr> {
        let faults = match expr::parse(text, Hyphens::Refused) {
            Ok(ast) => return Some(Expr { at, ast }),
            Err(faults) => faults,
        };
        for fault in faults {
            let within = |place: u32| (at.start + place).min(at.end);
            let at = Extent { start: within(fault.span.from), end: within(fault.span.to) };
            self.error(at, fault.code, fault.message).help(fault.help);
        }
        None
    }

    /// The text of a place, with spaces where comments stand.
    fn without_comments(&self, at: Extent) -> Cow<'a, str> {
        let whole = &self.layout.text[at.range()];
        let from = self.layout.comments.partition_point(|comment| comment.at.start < at.start);
        let to = self.layout.comments.partition_point(|comment| comment.at.start < at.end);
        if from == to {
            return Cow::Borrowed(whole);
        }
        let mut text = whole.to_owned();
        for comment in &self.layout.comments[from..to] {
            let (start, end) = ((comment.at.start - at.start) as usize, (comment.at.end - at.start) as usize);
            text.replace_range(start..end, &" ".repeat(end - start));
        }
        Cow::Owned(text)
    }

    /// Whether something in the slice belongs to another language; then the first of it was said.
    fn refuse_foreign(&mut self, slice: Slice) -> bool {
        // Whether a comparison was seen, a bit for each bracket that is open; the layout has bounded their number.
        let mut compared: u128 = 0;
        for token in slice.from..slice.to {
            let refused = match self.layout.tokens[token].kind {
                Kind::Action => Some(self.nested_action(token)),
                Kind::Name => self.foreign_name(slice, token),
                Kind::Number => self.foreign_number(slice, token),
                Kind::Text => None,
                Kind::Open => {
                    compared <<= 1;
                    self.foreign_bracket(slice, token)
                }
                Kind::Close => {
                    compared >>= 1;
                    None
                }
                Kind::Op => self.foreign_operator(token, &mut compared),
            };
            if let Some((to, code, message, help)) = refused {
                let at = self.layout.extent(token, to);
                self.error(at, code, message).help(Some(help));
                return true;
            }
        }
        false
    }

    fn nested_action(&self, token: usize) -> Refused {
        let word = self.layout.word(token);
        let name = word.rsplit(['.', '/', '@']).next().unwrap_or_default().replace('-', "_");
        let name = if name.is_empty() || is_reserved(&name) { "result".to_owned() } else { name };
        let help = format!("give its result a name first: `{name} = {word}(…)`, then use `{name}` here");
        (token + 1, "nested_call", format!("`{word}` is called within an expression"), help)
    }

    fn foreign_name(&mut self, slice: Slice, token: usize) -> Option<Refused> {
        let word = self.layout.word(token);
        if token > slice.from && self.layout.word(token - 1) == "." {
            return None;
        }
        // Most names are told apart by their length alone.
        if !(2..=9).contains(&word.len()) && !self.is(slice, token + 1, "(") {
            return None;
        }
        if let Some((_, message, help)) = NAMES.iter().find(|(name, _, _)| *name == word) {
            return Some((token + 1, "not_supported", (*message).to_owned(), (*help).to_owned()));
        }
        if STATEMENTS.contains(&word) {
            let message = format!("`{word}` is a word of the language and not a value");
            return Some((token + 1, "unexpected", message, format!("write `{word}` as a statement of its own")));
        }
        if !self.is(slice, token + 1, "(") || is_function(word) || is_reserved(word) {
            return None;
        }
        if self.functions.contains(word) {
            let call = brief(&self.layout.text[self.layout.extent(token, self.mate(token + 1) + 1).range()]);
            let help = format!("give its result a name first: `result = {call}`, then use `result` here");
            return Some((token + 1, "nested_call", format!("`{word}` is called within an expression"), help));
        }
        let known = self.functions.iter().copied().chain(expr::called().map(|name| -> &str { name }));
        let near = expected(word).or_else(|| self.sink.meant(word, known));
        let help = near.unwrap_or_else(|| format!("declare it with `fn {word}(…):`, or call an action: `@{word}(…)`"));
        Some((token + 1, "unknown_function", format!("there is no function `{word}`"), help))
    }

    fn foreign_number(&self, slice: Slice, token: usize) -> Option<Refused> {
        let word = self.layout.word(token);
        if token > slice.from && self.layout.word(token - 1) == "." {
            let message = "a list is indexed with brackets".to_owned();
            return Some((token + 1, "not_supported", message, format!("write `[{word}]`")));
        }
        let unit = word.ends_with(|c: char| c.is_ascii_lowercase());
        (unit && crate::time::Millis::parse(word).is_ok()).then(|| {
            let message = format!("`{word}` is a duration and not a value");
            (token + 1, "not_supported", message, format!("write a number of seconds, or the text `\"{word}\"`"))
        })
    }

    fn foreign_bracket(&self, slice: Slice, token: usize) -> Option<Refused> {
        let close = self.mate(token);
        let inner = Slice { from: token + 1, to: close };
        let behind = token > slice.from && self.is_operand(token - 1);
        let comma = self.find(inner, &[","]);
        match self.layout.word(token) {
            "[" if behind && self.find(inner, &[":"]).is_some() && self.find(inner, &["?"]).is_none() => {
                let help = "take what is needed: `range(2).map(n, list[n])` for the first two";
                Some((close + 1, "not_supported", "there are no slices".to_owned(), help.to_owned()))
            }
            "[" if behind && comma.is_some() => {
                let message = "a list is indexed by one number".to_owned();
                Some((close + 1, "not_supported", message, "write `list[1][2]` for a list of lists".to_owned()))
            }
            "(" if !behind && (comma.is_some() || inner.is_empty()) => {
                let help = format!(
                    "write a list: `[{}]`",
                    brief(&self.layout.text[self.layout.extent(token + 1, close).range()])
                );
                Some((close + 1, "not_supported", "there are no tuples".to_owned(), help))
            }
            _ => None,
        }
    }

    fn is_operand(&self, token: usize) -> bool {
        let word = self.layout.word(token);
        match self.layout.tokens[token].kind {
            Kind::Name => word != "in",
            Kind::Op | Kind::Open => false,
            _ => true,
        }
    }

    fn foreign_operator(&self, token: usize, compared: &mut u128) -> Option<Refused> {
        let word = self.layout.word(token);
        if matches!(word, "+" | "-" | "*" | "/" | "%" | "." | "!") {
            return None;
        }
        if let Some((_, message, help)) = WRONG.iter().find(|(op, _, _)| *op == word) {
            return Some((token + 1, "not_supported", (*message).to_owned(), (*help).to_owned()));
        }
        if COMPARE.contains(&word) {
            if *compared & 1 == 1 {
                let message = format!("{} compares the result of a comparison", shown(word));
                return Some((token + 1, "not_supported", message, "join two with `&&`: `a < b && b < c`".to_owned()));
            }
            *compared |= 1;
        } else if matches!(word, "&&" | "||" | "?" | ":" | ",") {
            *compared &= !1;
        }
        None
    }
}

/// Behind which token the problem ends, its code, its message and its help.
type Refused = (usize, &'static str, String, String);
