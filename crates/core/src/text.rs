//! Program text: the second way to write flows, for control flow instead of graphs.
//!
//! ```text
//! text ──► layout ──► parse ──► tree ──► check ──► compiler
//!            │          │
//!            └──────────┴──► format
//! ```
//!
//! A file is read to its end whatever is wrong with it: after a mistake reading goes on at the next statement. What
//! the language does not have is refused by name, with what to write instead; nothing is ever passed over.
//!
//! Four rules keep the language easy to read, for people and for us. The colon of a block ends its line. A policy
//! bracket follows the closing parenthesis of a call. In `spread xs:x -> call` the last colon before the arrow
//! names the item. Work (an action, a function) stands alone on the right of `=`, never inside an expression.

mod check;
mod compile;
mod expression;
mod format;
mod layout;
mod parse;
pub mod tree;

pub use compile::compile;
pub(crate) use compile::compile_with;
pub use format::format;

use crate::flow::Problems;
use crate::flow::problem::Sink;
use crate::flow::source::{Source, Span};
use crate::limits;
use layout::Layout;
use parse::{Notes, Parser};
use tree::Program;

/// A program without errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What it says.
    pub program: Program,
    /// What looks wrong but is not.
    pub warnings: Problems,
}

/// Reads and checks the text of a program; `file` is what problems call it.
pub fn parse(text: &str, file: &str) -> Result<Parsed, Problems> {
    let source = Source::new(if text.len() > limits::FLOW_BYTES { "" } else { text });
    let mut sink = Sink::new(&source);
    let program = read(text, &mut sink);
    match program {
        Some(program) if !sink.has_errors() => Ok(Parsed { program, warnings: sink.finish(file) }),
        _ => Err(sink.finish(file)),
    }
}

/// Reads and checks a program, for whoever goes on with it and has more to say about the same text. A tree with
/// errors in the sink lacks the statements they are about.
pub(crate) fn read(text: &str, sink: &mut Sink<'_>) -> Option<Program> {
    let (_, program, _) = surface(text, sink)?;
    check::check(&program, sink);
    Some(program)
}

/// The tree of a text, with what it was made from.
fn surface<'a>(text: &'a str, sink: &mut Sink<'_>) -> Option<(Layout<'a>, Program, Notes)> {
    if text.len() > limits::FLOW_BYTES {
        let message = format!("the file has {} bytes, at most {} are allowed", text.len(), limits::FLOW_BYTES);
        sink.error(Span::at(1, 1, 1), "too_large", message);
        return None;
    }
    let layout = Layout::scan(text, sink);
    let (program, notes) = Parser::new(&layout, sink).program();
    Some((layout, program, notes))
}
