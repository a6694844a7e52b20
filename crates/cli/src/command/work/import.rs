//! `edgewise import`: items from elsewhere, all of them or none.

mod beads;
pub(crate) mod draft;
mod fit;
mod github;
mod quarry;

use super::{act, batch, record};
use crate::args::{Import, ImportForm};
use crate::command::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use draft::{Draft, bad_line};
use edgewise_core::Kind;
use serde_json::{Map, Value, json};

pub(crate) fn perform(args: &Import, context: &mut Context<'_>) -> Result<Exit> {
    let texts: Vec<String> = match args.files.as_slice() {
        [] => vec![batch::read(None, context.cwd)?],
        files => files.iter().map(|file| batch::read(Some(file), context.cwd)).collect::<Result<_>>()?,
    };
    let (form, draft) = read(&texts, args.form)?;
    let (items, dependencies, gates) = draft.counts();
    let notes: Vec<String> = draft.notes.iter().cloned().collect();
    let names: Vec<(String, String)> = draft.items().map(|(id, title)| (id.to_string(), title.to_owned())).collect();
    match form {
        _ if args.dry_run => {}
        ImportForm::Edgewise => act::import(draft.whole, context).map_err(nothing)?,
        _ => drop(act::act(draft.ops(), None, context).map_err(nothing)?),
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
        form_word(form)
    );
    if args.dry_run && context.printer.for_people() {
        context.printer.say(&line);
    } else if !context.printer.quiet {
        let value = json!({ "items": items, "dependencies": dependencies, "gates": gates, "form": form_word(form),
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

pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn form_word(form: ImportForm) -> &'static str {
    match form {
        ImportForm::Edgewise => "edgewise",
        ImportForm::Beads => "beads",
        ImportForm::Quarry => "quarry",
        ImportForm::Github => "github",
    }
}

/// Reads texts of one form; without one, as they look.
pub(crate) fn read(texts: &[String], form: Option<ImportForm>) -> Result<(ImportForm, Draft)> {
    let mut lines = Vec::new();
    for text in texts {
        objects(text, &mut lines)?;
    }
    let form = match form {
        Some(form) => form,
        None => looks_like(&lines)?,
    };
    let mut draft = Draft::default();
    match form {
        ImportForm::Edgewise => record::read(&lines, &mut draft)?,
        ImportForm::Beads => beads::read(&lines, &mut draft)?,
        ImportForm::Quarry => quarry::read(&lines, &mut draft)?,
        ImportForm::Github => github::read(&lines, &mut draft)?,
    }
    Ok((form, draft))
}

/// A JSON array of objects, or an object a line.
fn objects(text: &str, lines: &mut Vec<(usize, Map<String, Value>)>) -> Result<()> {
    let object = |number: usize, value: Value| match value {
        Value::Object(object) => Ok((number, object)),
        _ => Err(bad_line(number, "expected a JSON object")),
    };
    if text.trim_start().starts_with('[') {
        let all: Vec<Value> = serde_json::from_str(text).map_err(|error| bad_line(error.line(), error))?;
        for (number, value) in all.into_iter().enumerate() {
            lines.push(object(number + 1, value)?);
        }
        return Ok(());
    }
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value = serde_json::from_str(line).map_err(|error| bad_line(number + 1, error))?;
        lines.push(object(number + 1, value)?);
    }
    Ok(())
}

/// Told apart by names that only one of them has.
fn looks_like(lines: &[(usize, Map<String, Value>)]) -> Result<ImportForm> {
    let any = |key: &str| lines.iter().any(|(_, object)| object.contains_key(key));
    let Some((_, first)) = lines.first() else {
        let what = "there is nothing in what was read";
        return Err(Problem::new(Kind::Invalid, "empty_import", what).next("give files, or something on stdin"));
    };
    if record::is_ours(first) {
        Ok(ImportForm::Edgewise)
    } else if any("issue_type") || any("depends_on_id") || any("created_at") {
        Ok(ImportForm::Beads)
    } else if any("number") && !any("id") {
        Ok(ImportForm::Github)
    } else if lines.iter().any(|(_, object)| quarry::is_dependency(object)) || any("createdAt") || any("taskType") {
        Ok(ImportForm::Quarry)
    } else {
        let what = "what was read looks like nothing that is known";
        let next = "say what it is with --form: edgewise, beads, quarry or github";
        Err(Problem::new(Kind::Invalid, "unknown_form", what).next(next))
    }
}

#[cfg(test)]
mod tests;
