//! The parser: logical lines become blocks, flows and functions.
//!
//! Blocks are found by indentation alone, so a line that cannot be read costs that line only. Every statement that
//! opens a block reads the block, also when its own line is wrong.

mod call;
mod foreign;
mod header;
mod policy;
mod slice;
mod statement;
mod value;
mod wait;

use super::layout::{Kind, Layout, Line};
use super::tree::{Block, Extent, Program, Word};
use crate::expr::Ast;
use crate::flow::problem::{Problem, Sink};
use crate::limits;
use crate::recent::Recent;
pub(super) use foreign::brief;
pub(super) use slice::Slice;
use std::collections::BTreeSet;

/// What the formatter cannot see from tokens alone.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// The opening brackets of policies, as tokens.
    pub(super) policies: BTreeSet<usize>,
    /// The colons that name the item of a spread.
    pub(super) items: BTreeSet<usize>,
}

pub(super) struct Parser<'p, 'a, 'k> {
    pub(super) layout: &'p Layout<'a>,
    pub(super) sink: &'p mut Sink<'k>,
    /// The functions of the file, wherever they stand.
    pub(super) functions: BTreeSet<&'a str>,
    notes: Notes,
    /// Short expressions that were read lately, and are good, with their text.
    pub(super) read: Recent<(&'a str, Ast)>,
    /// The next line.
    at: usize,
    /// How many blocks are open.
    depth: usize,
    /// Whether the line that was read last has its body behind its colon, which was said to be wrong.
    inline_body: bool,
}

impl<'p, 'a, 'k> Parser<'p, 'a, 'k> {
    pub(super) fn new(layout: &'p Layout<'a>, sink: &'p mut Sink<'k>) -> Self {
        let named = |line: &Line| line.to - line.from > 1 && layout.word(line.from) == "fn";
        let functions = layout.lines.iter().filter(|l| named(l)).map(|l| layout.word(l.from + 1)).collect();
        Self {
            layout,
            sink,
            functions,
            notes: Notes::default(),
            read: Recent::default(),
            at: 0,
            depth: 0,
            inline_body: false,
        }
    }

    /// Reads the whole file.
    pub(super) fn program(mut self) -> (Program, Notes) {
        let mut program = Program { flows: Vec::new(), functions: Vec::new() };
        let mut within = false;
        while let Some(line) = self.layout.lines.get(self.at) {
            match (line.bad, self.layout.word(line.from)) {
                (false, "flow") => program.flows.extend(self.flow()),
                (false, "fn") => program.functions.extend(self.function()),
                (bad, _) => {
                    // What is indented below a line that has no place here is complained about with it.
                    let below = within && line.indent > 0;
                    if !bad && !below {
                        self.outside();
                    }
                    self.at += 1;
                    within = true;
                    continue;
                }
            }
            within = false;
        }
        if self.layout.lines.is_empty() && !self.sink.has_errors() {
            let help = "start with `flow name():` and what it does, indented below it";
            self.error(Extent::default(), "empty_file", "the file has no flow").help(Some(help.into()));
        }
        (program, self.notes)
    }

    /// Complains about a line that belongs to no flow and no function.
    fn outside(&mut self) {
        let slice = self.line_slice();
        if !self.refuse_statement(slice) {
            let message = "only `flow name(…):` and `fn name(…):` stand outside of a block";
            let help = "indent the line below the flow it belongs to";
            self.error(self.extent(slice), "outside", message).help(Some(help.into()));
        }
    }

    /// The tokens of the current line.
    fn line_slice(&self) -> Slice {
        let line = &self.layout.lines[self.at];
        Slice { from: line.from, to: line.to }
    }

    /// The block below the line before the current one, which ends in a colon and is called `owner` in messages.
    fn block(&mut self, owner: &str) -> Block {
        let header = self.at - 1;
        let outer = self.layout.lines[header].indent;
        let inline = std::mem::take(&mut self.inline_body);
        let Some(indent) = self.deeper(outer) else {
            if inline {
                return Block::new();
            }
            let line = &self.layout.lines[header];
            let message = format!("{owner} has no body");
            let help = "indent what it does by 4 spaces; `pass` does nothing";
            self.error(self.layout.extent(line.from, line.to), "empty_block", message).help(Some(help.into()));
            return Block::new();
        };
        if self.depth == limits::DEPTH {
            let message = format!("blocks are nested deeper than {} levels", limits::DEPTH);
            let slice = self.line_slice();
            self.error(self.extent(slice), "too_deep", message).help(Some("move a part of it into a `fn`".into()));
            self.skip(outer);
            return Block::new();
        }
        self.depth += 1;
        let mut block = Block::new();
        while let Some(found) = self.deeper(outer) {
            if found != indent {
                self.bad_indent(found, indent);
            }
            if found > indent {
                self.at += 1;
                self.skip(indent);
                continue;
            }
            let statement = self.statement();
            // Below a line that made no sense, the block it meant to open makes none either.
            if statement.is_none() {
                self.skip(indent);
            }
            block.extend(statement);
        }
        self.depth -= 1;
        block
    }

    /// Complains about the current line, which stands deeper or less deep than its block.
    fn bad_indent(&mut self, found: u32, indent: u32) {
        let slice = self.line_slice();
        let first = self.extent(Slice { to: slice.from + 1, ..slice });
        let (message, help) = if self.sink.is_full() {
            Default::default()
        } else if found > indent {
            let help = "only what stands below a line that ends in `:` is indented further";
            ("this line is indented further than the one before it".to_owned(), help.to_owned())
        } else {
            let message = format!("this line is indented by {found} spaces, its block by {indent}");
            (message, format!("indent it by {indent} spaces"))
        };
        self.error(first, "bad_indent", message).help(Some(help));
    }

    /// The indentation of the current line, if it is deeper than this.
    fn deeper(&self, than: u32) -> Option<u32> {
        self.layout.lines.get(self.at).map(|line| line.indent).filter(|indent| *indent > than)
    }

    fn skip(&mut self, indent: u32) {
        while self.deeper(indent).is_some() {
            self.at += 1;
        }
    }

    pub(super) fn error(&mut self, at: Extent, code: &'static str, message: impl Into<String>) -> &mut Problem {
        let place = self.sink.place(at.range());
        self.sink.error(place, code, message)
    }

    /// The value of a result; its error is said to stand at `at`.
    fn accept<T>(&mut self, result: crate::Result<T>, at: Extent) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(at, error.code, error.message);
                None
            }
        }
    }

    pub(super) fn extent(&self, slice: Slice) -> Extent {
        self.layout.extent(slice.from, slice.to)
    }

    /// The text of some tokens, as it stands.
    pub(super) fn text(&self, slice: Slice) -> &'a str {
        &self.layout.text[self.extent(slice).range()]
    }

    /// The pieces of a list in the text; too many of them are refused, so that comparing them stays cheap.
    fn few(&mut self, slice: Slice, what: &str) -> Option<Vec<Slice>> {
        let pieces = self.pieces(slice);
        if pieces.len() <= limits::ARGUMENTS {
            return Some(pieces);
        }
        let message = format!("there are {} {what}, at most {} are allowed", pieces.len(), limits::ARGUMENTS);
        self.error(self.extent(slice), "too_many", message).help(Some("put them into a list or a map".into()));
        None
    }

    /// A name that the author may give; `what` says of what.
    fn named(&mut self, slice: Slice, what: &str) -> Option<Word> {
        let at = self.extent(slice);
        let text = self.text(slice);
        let single = slice.len() == 1 && self.layout.tokens[slice.from].kind == Kind::Name;
        if single && !super::expression::is_reserved(text) && text.len() <= limits::NAME_BYTES {
            return Some(Word { text: text.to_owned(), at });
        }
        let message = match (slice.is_empty(), single) {
            (true, _) => format!("the name of {what} is missing"),
            (_, true) if text.len() > limits::NAME_BYTES => {
                format!("the name of {what} has {} bytes, at most {} are allowed", text.len(), limits::NAME_BYTES)
            }
            (_, true) => format!("`{text}` is a word of the language and cannot name {what}"),
            _ => format!("{} is not the name of {what}", crate::suggest::shown(text)),
        };
        let help = match single {
            true => "choose another name",
            false => "a name has letters, digits and `_`, and does not start with a digit",
        };
        self.error(at, "bad_name", message).help(Some(help.into()));
        None
    }
}
