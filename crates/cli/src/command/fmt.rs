//! `edgewise fmt`: programs in their canonical layout. A file is written only if that changes it.

use super::Context;
use crate::args::Fmt;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use edgewise_core::Kind;
use edgewise_core::text::format;
use serde::Serialize;
use std::fs;
use std::io::Read;
use std::path::Path;

/// What programs are told of a file that is not laid out, or was not until now.
#[derive(Serialize)]
struct Told<'a> {
    file: &'a str,
    written: bool,
}

pub(super) fn perform(args: &Fmt, context: &mut Context<'_>) -> Result<Exit> {
    let mut exit = Exit::Ok;
    let mut rows = Vec::new();
    let piped = !args.check && args.files.iter().any(|path| is_stdin(path));
    for path in &args.files {
        // Whatever is wrong with one file, the others are looked at.
        let outcome = one(path, args.check, context);
        match outcome {
            Ok(false) => {}
            Ok(true) => {
                if args.check && exit == Exit::Ok {
                    exit = Exit::Failed;
                }
                let file = name(path);
                let told = Told { file: &file, written: !args.check };
                rows.push(Row::new(file.clone(), vec![Cell::new(file.clone(), Ink::Plain)], &told)?);
            }
            Err(problem) => {
                context.printer.problem(&problem);
                exit = problem.exit();
            }
        }
    }
    let header = if args.check { "not laid out" } else { "laid out" };
    // What was piped through is all that stdout is for.
    let nothing_to_say = rows.is_empty() && context.printer.for_people();
    if !piped && !nothing_to_say {
        context.printer.rows(&[header], &rows)?;
    }
    Ok(exit)
}

/// Whether the layout of a file changes, or would.
fn one(path: &Path, check: bool, context: &mut Context<'_>) -> Result<bool> {
    let file = name(path);
    if path.extension().is_some_and(|e| e == "yaml" || e == "yml") {
        let what = format!("{file} is YAML: only program text (*.flow) has a canonical layout");
        return Err(Problem::new(Kind::Invalid, "not_program_text", what).next("lay out YAML with a tool for YAML"));
    }
    let mut bytes = Vec::new();
    let read = if is_stdin(path) { std::io::stdin().read_to_end(&mut bytes).map(|_| bytes) } else { fs::read(path) };
    let bytes = read.map_err(|error| Problem::file("read", path, &error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::new(Kind::Invalid, "not_utf8", format!("{file} is not UTF-8 from byte {at} on"))
            .next("save it as UTF-8")
    })?;
    let laid_out = format(&text, &file).map_err(|problems| {
        let what = format!("{file} cannot be read, so it was left as it is");
        Problem::new(Kind::Invalid, "invalid_flow", what).why(problems.to_string().trim_end())
    })?;
    let changes = laid_out != text;
    if !check && is_stdin(path) {
        context.printer.bytes(laid_out.as_bytes())?;
    } else if !check && changes {
        fs::write(path, laid_out).map_err(|error| Problem::file("written", path, &error))?;
    }
    Ok(changes)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}
