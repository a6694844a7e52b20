//! `edgewise schema`: what a flow file or a case file looks like, for editors.

use super::Context;
use crate::args::Schema;
use crate::exit::Exit;
use crate::output::Format;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::flow::{case_schema, schema};
use serde_json::Value;

pub(super) fn perform(args: &Schema, context: &mut Context<'_>) -> Result<Exit> {
    let schema = if args.cases { case_schema() } else { schema() };
    let text = printed(&schema, context.printer.format == Format::Jsonl)?;
    context.printer.bytes(text.as_bytes())?;
    Ok(Exit::Ok)
}

/// The schema of flows as a file has it.
pub(super) fn text() -> Result<String> {
    printed(&schema(), false)
}

/// A schema as a file has it, or in one line.
fn printed(schema: &Value, line: bool) -> Result<String> {
    let made = if line { serde_json::to_string(schema) } else { serde_json::to_string_pretty(schema) };
    let text = made.map_err(|error| {
        Problem::new(Kind::Bug, "unprintable", "the schema has no JSON form").why(error.to_string())
    })?;
    Ok(text + "\n")
}
