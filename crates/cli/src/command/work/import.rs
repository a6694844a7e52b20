//! `edgewise import`: items from elsewhere, all of them or none.

use super::{act, batch};
use crate::args::{Import, ImportForm};
use crate::command::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use edgewise_core::Error;
use edgewise_engine::import::{Asked, Form, read};
use serde_json::json;

pub(crate) fn perform(args: &Import, context: &mut Context<'_>) -> Result<Exit> {
    let texts: Vec<String> = match args.files.as_slice() {
        [] => vec![batch::read(None, context.cwd)?],
        files => files.iter().map(|file| batch::read(Some(file), context.cwd)).collect::<Result<_>>()?,
    };
    let (form, draft) = read(&texts, args.form.map(form)).map_err(misread)?;
    let (items, dependencies, gates) = draft.counts();
    let notes: Vec<String> = draft.notes.iter().cloned().collect();
    let names: Vec<(String, String)> = draft.items().map(|(id, title)| (id.to_string(), title.to_owned())).collect();
    match draft.asked(form) {
        _ if args.dry_run => {}
        Asked::Whole(whole) => act::import(whole, context).map_err(nothing)?,
        Asked::Ops(ops) => drop(act::act(&ops, None, context).map_err(nothing)?),
    }
    if context.printer.quiet || (args.dry_run && context.printer.for_people()) {
        let row = |(id, title): &(String, String)| {
            Row::new(id, vec![Cell::new(id, Ink::Bold), Cell::from(title)], &json!({ "id": id, "title": title }))
        };
        let rows: Vec<Row> = names.iter().map(row).collect::<Result<_>>()?;
        context.printer.rows(&["id", "title"], &rows)?;
    }
    let would = if args.dry_run { "would bring in" } else { "brought in" };
    let line = format!(
        "{would} {}, {} and {} ({})",
        counted(items, "item", "items"),
        counted(dependencies, "dependency", "dependencies"),
        counted(gates, "gate", "gates"),
        form.name()
    );
    if args.dry_run && context.printer.for_people() {
        context.printer.say(&line);
    } else if !context.printer.quiet {
        let value = json!({ "items": items, "dependencies": dependencies, "gates": gates, "form": form.name(),
            "dryRun": args.dry_run, "notes": notes });
        context.printer.one("", &[line], &value)?;
    }
    notes.iter().for_each(|note| context.printer.say(&format!("note: {note}")));
    Ok(Exit::Ok)
}

/// A refusal says what of it there is now.
fn nothing(problem: Problem) -> Problem {
    problem.next("mend what was read, or take it out; nothing was written")
}

/// What to do about what could not be read.
fn misread(error: Error) -> Problem {
    let next = match error.code {
        "bad_import" => "mend the line; nothing was written",
        "duplicate_id" => "take one of them out, or rename it; nothing was written",
        "empty_import" => "give files, or something on stdin",
        "unknown_form" => "say what it is with --form: edgewise, beads, quarry or github",
        _ => return error.into(),
    };
    Problem::from(error).next(next)
}

pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn form(typed: ImportForm) -> Form {
    match typed {
        ImportForm::Edgewise => Form::Edgewise,
        ImportForm::Beads => Form::Beads,
        ImportForm::Quarry => Form::Quarry,
        ImportForm::Github => Form::Github,
    }
}
