//! The formatter: the same tokens and comments, with the one canonical space between them.
//!
//! It never looks at what a program means, only at its tokens, so it cannot change it: what comes out has the
//! tokens that went in, in their order. What the tokens alone do not say (whether a bracket is a policy) the parser
//! has noted. A text that cannot be read is not formatted.

mod space;
mod wrap;

use super::layout::{Comment, Layout, Line};
use super::parse::Notes;
use super::surface;
use crate::flow::Problems;
use crate::flow::problem::Sink;
use crate::flow::source::Source;
use crate::limits;
use wrap::Wrap;

/// How far a block is indented below its header.
const INDENT: usize = 4;
/// How wide a line may be before it is broken.
const WIDTH: usize = 100;

/// The canonical layout of a program; `file` is what problems call it.
pub fn format(text: &str, file: &str) -> Result<String, Problems> {
    let source = Source::new(if text.len() > limits::FLOW_BYTES { "" } else { text });
    let mut sink = Sink::new(&source);
    match surface(text, &mut sink) {
        Some((layout, _, notes)) if !sink.has_errors() => Ok(Printer::new(&layout, &notes).print()),
        _ => Err(sink.finish(file)),
    }
}

struct Printer<'f, 'a> {
    layout: &'f Layout<'a>,
    notes: &'f Notes,
    out: String,
    /// The next comment.
    comment: usize,
    /// The indentations of the blocks that are open, as the author wrote them.
    levels: Vec<u32>,
    /// How deep what was printed last is; nothing was printed yet if there is none.
    last: Option<usize>,
    /// Whether that was the line that opens a block.
    opened: bool,
}

impl<'f, 'a> Printer<'f, 'a> {
    fn new(layout: &'f Layout<'a>, notes: &'f Notes) -> Self {
        let out = String::with_capacity(layout.text.len());
        Self { layout, notes, out, comment: 0, levels: Vec::new(), last: None, opened: false }
    }

    fn print(mut self) -> String {
        for line in &self.layout.lines {
            let mut open = self.levels.clone();
            self.levels.retain(|level| *level < line.indent);
            let depth = self.levels.len();
            self.own_comments(&mut open, line.from, depth);
            self.levels.push(line.indent);
            self.line(line, depth);
        }
        let mut open = std::mem::take(&mut self.levels);
        self.own_comments(&mut open, self.layout.tokens.len(), 0);
        self.out
    }

    /// The comments with lines of their own before a token that starts a line so deep, or before the end.
    fn own_comments(&mut self, open: &mut Vec<u32>, token: usize, depth: usize) {
        while let Some(comment) = self.layout.comments.get(self.comment).filter(|c| c.before <= token) {
            // It belongs to the deepest open block that it is indented like, if the next line is not deeper.
            let within = open.iter().rposition(|level| *level <= comment.indent).unwrap_or(0);
            let depth = within.max(depth);
            // A block that a comment has left is not entered again by the next one.
            open.truncate(depth + 1);
            self.gap(comment.gap, depth);
            self.indent(depth);
            self.out += &said(self.layout, comment);
            self.out.push('\n');
            self.opened = false;
            self.comment += 1;
        }
    }

    fn line(&mut self, line: &Line, depth: usize) {
        let goes_on = matches!(self.layout.word(line.from), "else" | "elif" | "except");
        self.gap(line.gap && !goes_on, depth);
        let from = self.comment;
        let rest = &self.layout.comments[from..];
        let inner = rest.iter().take_while(|c| c.before < line.to).count();
        let trailing = rest.get(inner).filter(|c| c.before == line.to && !c.own);
        self.indent(depth);
        let spaces = space::before(self.layout, self.notes, line);
        Wrap::new(self.layout, line, spaces, &rest[..inner], &mut self.out).write_line(depth * INDENT);
        if let Some(comment) = trailing {
            self.out += "  ";
            self.out += &said(self.layout, comment);
        }
        self.out.push('\n');
        self.comment = from + inner + usize::from(trailing.is_some());
        self.opened = self.layout.word(line.to - 1) == ":";
    }

    /// An empty line, where there should be one: before a flow or function and the comments above it, elsewhere
    /// where the author left one, but not at the beginning of a block.
    fn gap(&mut self, wanted: bool, depth: usize) {
        let between = depth == 0 && self.last.is_some_and(|last| last > 0);
        if between || (wanted && self.last.is_some() && !self.opened) {
            self.out.push('\n');
        }
        self.last = Some(depth);
    }

    fn indent(&mut self, depth: usize) {
        self.out.extend(std::iter::repeat_n(' ', depth * INDENT));
    }
}

/// A comment as it is printed: with a space behind the `#`, unless it is a rule of them.
fn said(layout: &Layout<'_>, comment: &Comment) -> String {
    let text = &layout.text[comment.at.range()];
    match text[1..].chars().next() {
        Some(c) if c != ' ' && c != '#' && c != '!' => format!("# {}", &text[1..]),
        _ => text.to_owned(),
    }
}
