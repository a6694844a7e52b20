//! What other languages have and this one does not, by the word a statement starts with.

use super::Parser;
use super::slice::Slice;
use crate::suggest::{nearest, shown};
use crate::text::layout::Kind;

/// First words of statements, what they would be, and what to write instead.
const FOREIGN: [(&str, &str, &str); 25] = [
    ("import", "nothing is imported", "call what workers offer as `@name(…)`, and functions of this file by name"),
    ("from", "nothing is imported", "call what workers offer as `@name(…)`, and functions of this file by name"),
    ("def", "functions are declared with `fn`", "write `fn name(…):`"),
    ("function", "functions are declared with `fn`", "write `fn name(…):`"),
    ("func", "functions are declared with `fn`", "write `fn name(…):`"),
    ("class", "there are no classes", "keep values in maps: `{\"name\": value}`"),
    ("with", "there is no `with`", "acquire and release in actions of their own, with `try` around what is between"),
    ("async", "there is no `async`", "leave it out; `parallel:` and `spread` do things at once"),
    ("await", "there is no `await`", "leave it out: every call is waited for"),
    ("yield", "there is no `yield`", "return a list"),
    ("lambda", "there are no lambdas", "declare a `fn`, or use `list.map(x, …)`"),
    ("global", "variables belong to their flow", "pass the value to the function and return it"),
    ("nonlocal", "variables belong to their flow", "pass the value to the function and return it"),
    ("del", "variables are not deleted", "leave the line out"),
    ("assert", "there is no `assert`", "write `if !(condition):` and `raise Type(\"message\")` below it"),
    ("match", "there is no `match`", "write `if`, `elif` and `else`"),
    ("switch", "there is no `switch`", "write `if`, `elif` and `else`"),
    ("let", "a variable needs no word before it", "write `name = value`"),
    ("var", "a variable needs no word before it", "write `name = value`"),
    ("const", "a variable needs no word before it", "write `name = value`"),
    ("do", "there is no `do`", "write `while condition:`"),
    ("until", "there is no `until`", "write `while !(condition):`, or `wait until \"2027-01-31T12:00:00Z\"`"),
    ("throw", "errors are raised", "write `raise Type(\"message\")`"),
    ("foreach", "there is no `foreach`", "write `for item in list:`"),
    (
        "finally",
        "`try` has no `finally`",
        "write what is always done behind the `try`, and again in a handler that ends in `raise`",
    ),
];

/// What statements and values begin with.
const WORDS: [&str; 17] = [
    "if", "elif", "else", "for", "while", "try", "except", "break", "continue", "pass", "return", "raise", "sleep",
    "wait", "spread", "parallel", "flow",
];

impl Parser<'_, '_, '_> {
    /// Whether the line starts like a statement of another language; then that was said.
    pub(super) fn refuse_statement(&mut self, slice: Slice) -> bool {
        let word = self.layout.word(slice.from);
        let Some((_, message, help)) = FOREIGN.iter().find(|(foreign, _, _)| *foreign == word) else {
            if word == "@" || self.kind(slice, slice.from) == Some(Kind::Action) && slice.len() == 1 && self.decorates()
            {
                let at = self.extent(slice);
                self.error(at, "not_supported", "there are no decorators")
                    .help(Some("put policies in brackets behind a call".into()));
                return true;
            }
            return self.refuse_misspelt(slice, word);
        };
        // A variable may have such a name, unless it is one of the words of the language.
        let next = if slice.len() > 1 { self.layout.word(slice.from + 1) } else { "" };
        if matches!(next, "=" | "." | "[" | "," | "(") || super::statement::ASSIGN.contains(&next) {
            return false;
        }
        let at = self.extent(Slice { to: slice.from + 1, ..slice });
        self.error(at, "not_supported", *message).help(Some((*help).into()));
        true
    }

    /// Whether the line starts with what must be a word of the language, and is none; then that was said.
    fn refuse_misspelt(&mut self, slice: Slice, word: &str) -> bool {
        let follows = match self.kind(slice, slice.from + 1) {
            None => true,
            Some(Kind::Name) => !self.is(slice, slice.from + 1, "in"),
            Some(Kind::Text | Kind::Number | Kind::Action) => true,
            Some(_) => slice.len() == 2 && self.is(slice, slice.from + 1, ":"),
        };
        // Of very many problems most are only counted, however they are called.
        if !follows || WORDS.contains(&word) || self.sink.is_full() {
            return false;
        }
        let Some(meant) = nearest(word, WORDS) else { return false };
        let at = self.extent(Slice { to: slice.from + 1, ..slice });
        let message = format!("no statement begins with {}", shown(word));
        self.error(at, "unknown_statement", message).help(Some(format!("did you mean `{meant}`?")));
        true
    }

    /// Whether the next line declares something.
    fn decorates(&self) -> bool {
        let next = self.layout.lines.get(self.at).map(|line| self.layout.word(line.from));
        matches!(next, Some("flow" | "fn" | "def"))
    }
}

/// A piece of the author's text as help quotes it: on one line, and not too long.
pub(in crate::text) fn brief(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words += word;
        if words.len() > 60 {
            break;
        }
    }
    let shown = crate::suggest::shown(&words);
    shown[1..shown.len() - 1].to_owned()
}
