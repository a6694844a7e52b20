//! Where a space stands between two tokens of one line.

use crate::text::expression::is_reserved;
use crate::text::layout::{Kind, Layout, Line};
use crate::text::parse::Notes;

/// What a bracket holds, as far as spaces go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The line itself, outside of all brackets.
    Line,
    /// Arguments: `key=value` without spaces.
    Arguments,
    /// Parameters, and whether the one at hand has a type: `a: int = 1`, but `a=1`.
    Parameters(bool),
    Other,
}

struct Spaces<'s, 'a> {
    layout: &'s Layout<'a>,
    notes: &'s Notes,
    line: &'s Line,
    /// The open brackets, each with how many `?` wait for their `:`.
    open: Vec<(Holds, usize)>,
    /// Whether the token before is a sign of what follows it.
    unary: bool,
}

/// For each token of the line, whether a space stands before it.
pub(super) fn before(layout: &Layout<'_>, notes: &Notes, line: &Line) -> Vec<bool> {
    let mut spaces = Spaces { layout, notes, line, open: vec![(Holds::Line, 0)], unary: false };
    let mut found = Vec::with_capacity(line.to - line.from);
    for token in line.from..line.to {
        found.push(token > line.from && spaces.between(token));
        spaces.pass(token);
    }
    found
}

impl Spaces<'_, '_> {
    fn between(&self, token: usize) -> bool {
        let (kind, word) = (self.layout.tokens[token].kind, self.layout.word(token));
        let (kind_before, word_before) = (self.layout.tokens[token - 1].kind, self.layout.word(token - 1));
        let dot = |kind: Kind, word: &str| kind == Kind::Op && word == ".";
        if kind_before == Kind::Open || kind == Kind::Close || self.unary || self.is_heading(token) {
            return false;
        }
        if (kind == Kind::Op && word == ",") || dot(kind, word) || dot(kind_before, word_before) {
            return false;
        }
        if kind_before == Kind::Op && self.notes.items.contains(&(token - 1)) {
            return false;
        }
        if kind_before == Kind::Op && word_before == "=" {
            return self.equals_is_wide();
        }
        match (kind, word) {
            (Kind::Open, "(") => !self.is_value(token - 1),
            (Kind::Open, "[") => self.notes.policies.contains(&token) || !self.is_value(token - 1),
            (Kind::Op, ":") => {
                self.open.last().is_some_and(|(_, asked)| *asked > 0) && !self.notes.items.contains(&token)
            }
            (Kind::Op, "=") => self.equals_is_wide(),
            _ => true,
        }
    }

    /// Whether the token stands within the name of a flow, which may have `-`, `.` and `/` in it.
    fn is_heading(&self, token: usize) -> bool {
        if self.is_started(token) {
            return true;
        }
        let header = self.is_header();
        header && self.open.len() == 1 && token > self.line.from + 1 && !self.seen_parameters(token)
    }

    /// Whether the token stands within the name of a flow that is started: behind `flow`, and behind its first word.
    fn is_started(&self, token: usize) -> bool {
        let in_name = |t: &usize| {
            let word = self.layout.word(*t);
            word != "flow" && (self.layout.tokens[*t].kind == Kind::Name || matches!(word, "-" | "." | "/"))
        };
        let words = (self.line.from..token).rev().take_while(in_name).count();
        let before = (token - words).checked_sub(1).filter(|t| *t >= self.line.from);
        words > 0 && in_name(&token) && before.is_some_and(|t| self.layout.word(t) == "flow")
    }

    fn seen_parameters(&self, token: usize) -> bool {
        (self.line.from..token).any(|t| self.layout.tokens[t].kind == Kind::Close)
    }

    fn equals_is_wide(&self) -> bool {
        !matches!(self.open.last(), Some((Holds::Arguments | Holds::Parameters(false), _)))
    }

    /// Whether the line declares a flow or a function. Starting a flow looks the same but for the colon.
    fn is_header(&self) -> bool {
        matches!(self.layout.word(self.line.from), "flow" | "fn") && self.layout.word(self.line.to - 1) == ":"
    }

    /// Whether a bracket behind this token belongs to it.
    fn is_value(&self, token: usize) -> bool {
        let (kind, word) = (self.layout.tokens[token].kind, self.layout.word(token));
        match kind {
            Kind::Name if is_reserved(word) && !matches!(word, "true" | "false" | "null") => {
                token > self.line.from && self.layout.word(token - 1) == "."
            }
            Kind::Op | Kind::Open => false,
            _ => true,
        }
    }

    /// Takes note of a token.
    fn pass(&mut self, token: usize) {
        let (kind, word) = (self.layout.tokens[token].kind, self.layout.word(token));
        let value_before = token > self.line.from && self.is_value(token - 1);
        self.unary = kind == Kind::Op && (word == "!" || (word == "-" && !value_before));
        let depth = self.open.len();
        match (kind, word) {
            (Kind::Open, "(") if depth == 1 && self.is_header() => {
                self.open.push((Holds::Parameters(false), 0));
            }
            (Kind::Open, "(") if value_before => self.open.push((Holds::Arguments, 0)),
            (Kind::Open, _) => self.open.push((Holds::Other, 0)),
            (Kind::Close, _) if depth > 1 => {
                self.open.pop();
            }
            (Kind::Op, _) => {
                if let Some((holds, asked)) = self.open.last_mut() {
                    match word {
                        "?" => *asked += 1,
                        ":" if *asked > 0 => *asked -= 1,
                        ":" if *holds == Holds::Parameters(false) => *holds = Holds::Parameters(true),
                        "," if *holds == Holds::Parameters(true) => *holds = Holds::Parameters(false),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}
