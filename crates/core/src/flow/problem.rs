//! Problems: what is wrong with a flow file, where, and what to do about it.
//!
//! All of them are collected, so an author reads the list once. They print the way a compiler's do; their
//! parts are public, so that a terminal can colour them and an editor can mark them.

use super::source::{Source, Span};
use crate::limits;
use crate::suggest::{nearest, plain, shown};
use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// There is no plan.
    Error,
    /// There is one, but probably not the one that was meant.
    Warning,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub level: Level,
    /// Counted from 1.
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
    /// Stable and machine-readable, such as `unknown_key`.
    pub code: &'static str,
    /// What was expected and what was found.
    pub message: String,
    /// What to do next.
    pub help: Option<String>,
    /// The source line, or the part of a long one around the problem, safe to print.
    pub excerpt: String,
    /// How many characters of the excerpt stand before the underline.
    pub indent: u32,
    /// How long the underline is; at least 1.
    pub width: u32,
}

/// All that is wrong with one file, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    /// The file, as the caller named it.
    pub file: String,
    /// The problems found, as many as are worth showing.
    pub list: Vec<Problem>,
    /// How many more there are.
    pub more: usize,
}

impl Problems {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, p) in self.list.iter().enumerate() {
            if n > 0 {
                writeln!(f)?;
            }
            let gutter = p.line.to_string().len();
            let (line, indent, width) = (p.line, p.indent as usize, p.width as usize);
            writeln!(f, "{}[{}]: {}", p.level, p.code, p.message)?;
            writeln!(f, "{:gutter$}--> {}:{line}:{}", "", plain(&self.file), p.column)?;
            writeln!(f, "{:gutter$} |", "")?;
            writeln!(f, "{line} | {}", p.excerpt)?;
            writeln!(f, "{:gutter$} | {:indent$}{:^<width$}", "", "", "")?;
            if let Some(help) = &p.help {
                writeln!(f, "{:gutter$} = help: {help}", "")?;
            }
        }
        if self.more > 0 {
            writeln!(f, "\n… and {} more problems", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Where problems go while a file is read.
pub(crate) struct Sink<'a> {
    pub(crate) source: &'a Source<'a>,
    found: Vec<(Span, Problem)>,
    more: usize,
    errors: usize,
    /// How many names may still be compared for suggestions. Without it, a thousand unknown names
    /// among a hundred thousand known ones would take minutes to be polite about.
    effort: usize,
    /// How many bytes may still be searched for places: in a text of a megabyte a hundred problems would take long.
    search: usize,
    overflow: Problem,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(source: &'a Source<'a>) -> Self {
        let overflow = Problem::new(Level::Error, "", String::new());
        Self { source, found: Vec::new(), more: 0, errors: 0, effort: 200_000, search: 16 << 20, overflow }
    }

    /// Where bytes of the text stand. Not looked up for what will only be counted.
    pub(crate) fn place(&self, at: std::ops::Range<usize>) -> Span {
        if self.is_full() { Span::at(1, 1, 1) } else { self.source.place(at) }
    }

    /// Whether a place may be looked for in so many bytes, which are then taken from what is left.
    pub(super) fn may_search(&mut self, bytes: usize) -> bool {
        let may = !self.is_full() && self.search >= bytes;
        if may {
            self.search -= bytes;
        }
        may
    }

    /// Where a text stands first within a place; the place itself if it is not found, or not worth looking for.
    pub(super) fn find(&mut self, within: Span, needle: &str) -> Span {
        let line = self.source.line(within.line).len();
        if self.may_search(line) { self.source.find(within, needle, 0).unwrap_or(within) } else { within }
    }

    /// Says that something is wrong; the caller may add its help.
    pub(crate) fn error(&mut self, span: Span, code: &'static str, message: impl Into<String>) -> &mut Problem {
        self.errors += 1;
        self.push(span, Problem::new(Level::Error, code, message.into()))
    }

    /// The value of a result; its error is said to stand at `span`.
    pub(crate) fn accept<T>(&mut self, result: crate::Result<T>, span: Span) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(span, error.code, error.message);
                None
            }
        }
    }

    /// Only counts an error, if that is all that becomes of it: nobody need find words for it.
    pub(crate) fn only_counts(&mut self) -> bool {
        let full = self.is_full();
        if full {
            self.errors += 1;
            self.more += 1;
        }
        full
    }

    /// Says that something looks wrong.
    pub(crate) fn warning(&mut self, span: Span, code: &'static str, message: impl Into<String>) -> &mut Problem {
        self.push(span, Problem::new(Level::Warning, code, message.into()))
    }

    fn push(&mut self, span: Span, problem: Problem) -> &mut Problem {
        if self.is_full() {
            self.more += 1;
            return &mut self.overflow;
        }
        self.found.push((span, problem));
        match self.found.last_mut() {
            Some((_, problem)) => problem,
            None => &mut self.overflow,
        }
    }

    /// The help for a wrong name: the nearest right one, if there is one.
    pub(crate) fn meant<'c>(&mut self, word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
        if self.is_full() {
            return None;
        }
        let effort = &mut self.effort;
        let candidates = candidates.into_iter().take_while(|_| {
            *effort = effort.saturating_sub(1);
            *effort > 0
        });
        nearest(word, candidates).map(|near| format!("did you mean {}?", shown(near)))
    }

    /// Whether further problems are only counted, so that their place need not be looked for.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= limits::PROBLEMS
    }

    /// How many errors were found so far.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    pub(crate) fn finish(mut self, file: &str) -> Problems {
        self.found.sort_by_key(|(span, p)| (span.line, span.col, p.level));
        let source = self.source;
        let list = self.found.into_iter().map(|(span, problem)| problem.placed(source, span)).collect();
        Problems { file: file.to_owned(), list, more: self.more }
    }
}

impl Problem {
    fn new(level: Level, code: &'static str, message: String) -> Self {
        let (line, column, indent, width) = (1, 1, 0, 1);
        Self { level, line, column, code, message, help: None, excerpt: String::new(), indent, width }
    }

    /// Adds what to do next.
    pub(crate) fn help(&mut self, help: impl Into<Option<String>>) {
        self.help = help.into();
    }

    fn placed(self, source: &Source<'_>, span: Span) -> Self {
        let (excerpt, indent, width) = source.excerpt(span);
        Self { line: span.line, column: span.col, excerpt, indent, width, ..self }
    }
}
