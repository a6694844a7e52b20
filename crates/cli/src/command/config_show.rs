//! `edgewise config show`: every setting, and where it was said.

use super::Context;
use crate::args::ConfigShow;
use crate::config::{Origin, Shown};
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use serde::Serialize;
use serde_json::{Value, json};

/// A setting, for programs.
#[derive(Serialize)]
struct Told<'a> {
    setting: &'a str,
    value: &'a Value,
    origin: Value,
}

pub(super) fn perform(args: &ConfigShow, context: &mut Context<'_>) -> Result<Exit> {
    let rows = context.config.shown().iter().map(|shown| row(shown, args.origin)).collect::<Result<Vec<Row>>>()?;
    let header = ["setting", "value", "origin"];
    context.printer.rows(&header[..if args.origin { 3 } else { 2 }], &rows)?;
    Ok(Exit::Ok)
}

fn row(shown: &Shown, origin: bool) -> Result<Row> {
    // What somebody said stands out from what nobody did.
    let ink = if shown.origin == Origin::Default { Ink::Dim } else { Ink::Plain };
    let mut cells = vec![Cell::new(&shown.key, Ink::Bold), Cell::new(shown.text(), ink)];
    if origin {
        cells.push(Cell::new(shown.origin.to_string(), Ink::Dim));
    }
    let told = Told { setting: &shown.key, value: &shown.value, origin: told(&shown.origin) };
    Row::new(&shown.key, cells, &told)
}

/// Where a value came from, for programs.
fn told(origin: &Origin) -> Value {
    match origin {
        Origin::Flag(name) => json!({ "kind": "flag", "name": name }),
        Origin::Env(name) => json!({ "kind": "variable", "name": name }),
        Origin::File(path, line) => json!({ "kind": "file", "path": path.display().to_string(), "line": line }),
        Origin::Default => json!({ "kind": "default" }),
    }
}
