//! Lines and layout: a text cut into tokens, the tokens gathered into logical lines.
//!
//! A line ends where the text's line ends, unless a bracket is open: brackets join lines, and so do triple quotes.
//! What a line means is decided by its indentation and its tokens alone. Comments are kept beside the tokens, so
//! that nothing of a file is lost on its way through the formatter.
//!
//! A bracket that is never closed would swallow the rest of the file. So a line that can only be a new statement
//! ends the one before it, and the bracket is said to be open.

mod token;

use super::tree::Extent;
use crate::flow::problem::Sink;
use crate::limits;
use token::Step;
pub(super) use token::{Kind, Token};

/// Words that begin a statement, and so name nothing.
pub(super) const STATEMENTS: [&str; 18] = [
    "flow", "fn", "if", "elif", "else", "for", "while", "break", "continue", "try", "except", "raise", "return",
    "sleep", "wait", "spread", "parallel", "pass",
];

/// A statement's line, however many lines of the text it takes.
#[derive(Debug)]
pub(super) struct Line {
    /// Spaces before it.
    pub(super) indent: u32,
    /// Its first token.
    pub(super) from: usize,
    /// Behind its last token.
    pub(super) to: usize,
    /// Whether an empty line stands before it.
    pub(super) gap: bool,
    /// Whether it has a problem already, so that its tokens are not worth reading.
    pub(super) bad: bool,
    /// Whether there is a `;` in it somewhere.
    pub(super) semicolon: bool,
}

/// A comment, with its `#`.
#[derive(Debug)]
pub(super) struct Comment {
    pub(super) at: Extent,
    /// The token behind it.
    pub(super) before: usize,
    /// Whether it has a line of its own.
    pub(super) own: bool,
    /// Spaces before it, if it has.
    pub(super) indent: u32,
    /// Whether an empty line stands before it.
    pub(super) gap: bool,
}

/// A text as tokens, comments and lines.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
    pub(super) lines: Vec<Line>,
}

impl<'a> Layout<'a> {
    pub(super) fn scan(text: &'a str, sink: &mut Sink<'_>) -> Self {
        let layout = Self { text, tokens: Vec::new(), comments: Vec::new(), lines: Vec::new() };
        let mut scanner = Scanner { layout, sink, at: 0, open: Vec::new(), bad: false, semicolon: false, tabs: None };
        scanner.file();
        scanner.layout
    }

    /// The text of a token.
    pub(super) fn word(&self, token: usize) -> &'a str {
        let token = &self.tokens[token];
        &self.text[token.start as usize..token.end as usize]
    }

    /// Where some tokens stand; if there are none, where they would.
    pub(super) fn extent(&self, from: usize, to: usize) -> Extent {
        match (self.tokens.get(from), to.checked_sub(1).and_then(|last| self.tokens.get(last))) {
            (Some(first), Some(last)) if from < to => Extent { start: first.start, end: last.end },
            (_, Some(last)) => Extent { start: last.end, end: last.end },
            (Some(first), None) => Extent { start: first.start, end: first.start },
            (None, None) => Extent::default(),
        }
    }
}

struct Scanner<'s, 'a, 'k> {
    layout: Layout<'a>,
    sink: &'s mut Sink<'k>,
    at: usize,
    /// The tokens of the brackets that are open.
    open: Vec<usize>,
    /// Whether the line has a problem. One is enough: the rest would be about the same slip.
    bad: bool,
    /// Whether a `;` was met in the line.
    semicolon: bool,
    /// The first tab that indents, and how many lines have one.
    tabs: Option<(usize, usize)>,
}

impl Scanner<'_, '_, '_> {
    fn file(&mut self) {
        if self.layout.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        let mut gap = false;
        while self.at < self.layout.text.len() {
            let indent = self.indentation();
            match self.peek() {
                None => {}
                Some(b'\n' | b'\r') => {
                    self.newline();
                    gap = true;
                    continue;
                }
                Some(b'#') => self.comment(true, indent, gap),
                Some(_) => self.line(indent, gap),
            }
            self.newline();
            gap = false;
        }
        if let Some((at, lines)) = self.tabs {
            let message = match lines {
                1 => "this line is indented with a tab".to_owned(),
                lines => format!("this line and {} more are indented with tabs", lines - 1),
            };
            self.sink.error(self.place(at, at + 1), "tab", message).help(Some("indent with 4 spaces".into()));
        }
    }

    fn line(&mut self, indent: u32, gap: bool) {
        let from = self.layout.tokens.len();
        (self.bad, self.semicolon) = (false, false);
        self.open.clear();
        loop {
            match self.step() {
                Step::Token => {}
                Step::Newline if self.open.is_empty() => break,
                Step::Newline => {
                    self.newline();
                    if self.resumes(indent) {
                        break;
                    }
                }
                Step::End => break,
            }
        }
        if let Some(open) = self.open.first().copied() {
            let token = self.layout.tokens[open];
            let bracket = self.layout.word(open).to_owned();
            let close = token::closing(&bracket);
            let help = format!("add `{close}`, or a `,` if the list goes on in the next line");
            let at = (token.start as usize, token.end as usize);
            self.wrong(at, "open_bracket", format!("`{bracket}` is never closed"), Some(help));
        }
        let to = self.layout.tokens.len();
        if from < to {
            self.layout.lines.push(Line { indent, from, to, gap, bad: self.bad, semicolon: self.semicolon });
        }
    }

    /// Whether the next line can only be a new statement though a bracket is open: it starts with a word that
    /// starts statements, or, not indented further, with a name where an operator or comma would have to stand.
    fn resumes(&mut self, indent: u32) -> bool {
        let start = self.at;
        let rest = self.layout.text[start..].trim_start_matches([' ', '\t']);
        let column = (self.layout.text.len() - start - rest.len()) as u32;
        let word = rest.len() - rest.trim_start_matches(token::is_word).len();
        let (word, behind) = rest.split_at(word);
        if STATEMENTS.contains(&word) {
            let next = behind.trim_start_matches(' ').chars().next();
            return !matches!(next, Some('=' | ',' | '.' | ')' | ']' | '}'));
        }
        let operand = self.layout.tokens.last().is_some_and(|t| !matches!(t.kind, Kind::Op | Kind::Open));
        operand && column <= indent && word != "in" && (rest.starts_with('@') || !word.is_empty())
    }

    fn indentation(&mut self) -> u32 {
        let mut width = 0;
        let mut tab = None;
        while let Some(byte @ (b' ' | b'\t')) = self.peek() {
            if byte == b'\t' {
                tab = tab.or(Some(self.at));
            }
            width += if byte == b'\t' { 4 } else { 1 };
            self.at += 1;
        }
        // Tabs on empty lines and before comments mislead nobody.
        let blank = matches!(self.peek(), None | Some(b'\n' | b'\r' | b'#'));
        if let Some(at) = tab.filter(|_| !blank) {
            self.tabs = Some(self.tabs.map_or((at, 1), |(first, lines)| (first, lines + 1)));
        }
        width
    }

    fn comment(&mut self, own: bool, indent: u32, gap: bool) {
        let start = self.at;
        let rest = &self.layout.text[start..];
        self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
        let end = start + self.layout.text[start..self.at].trim_end().len();
        let at = Extent { start: start as u32, end: end as u32 };
        self.layout.comments.push(Comment { at, before: self.layout.tokens.len(), own, indent, gap });
    }

    /// Passes the end of a line, if it is there.
    fn newline(&mut self) {
        let rest = &self.layout.text.as_bytes()[self.at..];
        self.at += match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
    }

    fn peek(&self) -> Option<u8> {
        self.layout.text.as_bytes().get(self.at).copied()
    }

    fn place(&self, start: usize, end: usize) -> crate::flow::source::Span {
        self.sink.place(start..end)
    }

    /// Says what is wrong with the line, once.
    fn wrong(&mut self, at: (usize, usize), code: &'static str, message: String, help: Option<String>) {
        if !self.bad {
            let place = self.place(at.0, at.1);
            self.sink.error(place, code, message).help(help);
        }
        self.bad = true;
    }

    fn deeper(&mut self, token: usize) {
        self.open.push(token);
        if self.open.len() > limits::DEPTH && !self.bad {
            let at = (self.at - 1, self.at);
            let message = format!("brackets are nested deeper than {} levels", limits::DEPTH);
            self.wrong(at, "too_deep", message, Some("give a part of it a name on a line of its own".into()));
        }
    }
}
