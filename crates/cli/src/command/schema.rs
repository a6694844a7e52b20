//! `edgewise schema`: what a flow file looks like, for editors.

use super::Context;
use crate::exit::Exit;
use crate::output::Format;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::flow::schema;

pub(super) fn perform(context: &mut Context<'_>) -> Result<Exit> {
    let text = text(context.printer.format == Format::Jsonl)?;
    context.printer.bytes(text.as_bytes())?;
    Ok(Exit::Ok)
}

/// The schema as a file has it, or in one line.
pub(super) fn text(line: bool) -> Result<String> {
    let schema = schema();
    let made = if line { serde_json::to_string(&schema) } else { serde_json::to_string_pretty(&schema) };
    let text = made.map_err(|error| {
        Problem::new(Kind::Bug, "unprintable", "the schema has no JSON form").why(error.to_string())
    })?;
    Ok(text + "\n")
}
