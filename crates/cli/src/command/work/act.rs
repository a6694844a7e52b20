//! Acting on items: operations are one commit, and what came of each is said in a sentence.

use super::{go_on, last, said, spelled, unknown};
use crate::clock::Clock;
use crate::command::Context;
use crate::command::act::Next;
use crate::output::Row;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::table::Cell;
use crate::text;
use edgewise_core::Kind;
use edgewise_core::work::{Done, Op};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::work::{Import, Ops};
use serde_json::Value;

/// Does all of it, or nothing. What waits for it in runs goes on.
pub(crate) fn act(ops: &[Op], key: Option<String>, context: &mut Context<'_>) -> Result<Vec<Done>> {
    let (done, next) = record(ops, key, context)?;
    go_on::with_runs(ops, &done, next, context)?;
    Ok(done)
}

/// What came of it, and who goes on.
fn record(ops: &[Op], key: Option<String>, context: &Context<'_>) -> Result<(Vec<Done>, Next)> {
    let place = Place::of(context.config);
    let by = context.config.who.value.clone();
    let asked = Ops { ops: ops.to_vec(), by, key };
    let done = runtime()?.block_on(async {
        let mut door = place.record().await?;
        let done = door.work(asked).await;
        let next = Next::of(&mut door).await;
        door.close().await?;
        Ok::<_, Problem>((done?, next))
    });
    let (done, next) = done.map_err(|problem| unknown::refused(problem, ops, context))?;
    if let Some(id) = done.iter().rev().find_map(|done| done.id.as_ref()) {
        last::write(place.folder.dir(), id, wall_clock());
    }
    Ok((done, next))
}

/// Brings a whole graph in, or nothing.
pub(crate) fn import(whole: Import, context: &Context<'_>) -> Result<()> {
    let place = Place::of(context.config);
    let last = whole.items.last().map(|item| item.id.clone());
    runtime()?.block_on(async {
        let mut door = place.record().await?;
        let done = door.import(whole).await;
        door.close().await?;
        Ok::<_, Problem>(done?)
    })?;
    if let Some(id) = last {
        last::write(place.folder.dir(), &id, wall_clock());
    }
    Ok(())
}

/// What was made first is what is meant by `@` behind it, whatever was bound to it.
pub(crate) fn touched(done: &[Done], context: &Context<'_>) {
    if let Some(id) = done.first().and_then(|done| done.id.as_ref()) {
        last::write(&context.config.dir.value, id, wall_clock());
    }
}

/// Does it and says what came of it.
pub(crate) fn perform(ops: &[Op], context: &mut Context<'_>) -> Result<Vec<Done>> {
    perform_once(ops, None, context)
}

/// The same, at most once for a key.
pub(crate) fn perform_once(ops: &[Op], key: Option<String>, context: &mut Context<'_>) -> Result<Vec<Done>> {
    let (done, next) = record(ops, key, context)?;
    tell(ops, &done, context)?;
    go_on::with_runs(ops, &done, next, context)?;
    Ok(done)
}

/// A sentence for people, an object for programs, an id for scripts; one for each operation. What may be a slip is said
/// behind all of them.
pub(crate) fn tell(ops: &[Op], done: &[Done], context: &mut Context<'_>) -> Result<()> {
    let warnings = unknown::warnings(ops, done, context);
    let clock = Clock::local(wall_clock());
    if let ([op], [one], [warnings]) = (ops, done, warnings.as_slice()) {
        let id = one.id.as_ref().map(ToString::to_string).unwrap_or_default();
        context.printer.one(id, &lines(op, one, &clock), &value(op, one, warnings)?)?;
    } else {
        let mut rows = Vec::new();
        for ((op, one), warnings) in ops.iter().zip(done).zip(&warnings) {
            if context.printer.for_people() {
                lines(op, one, &clock).iter().try_for_each(|line| context.printer.raw(line))?;
            } else if let Some(id) = &one.id {
                rows.push(Row::new(id.to_string(), vec![Cell::from(id.as_str())], &value(op, one, warnings)?)?);
            }
        }
        if !context.printer.for_people() {
            context.printer.rows(&["id"], &rows)?;
        }
    }
    warnings.iter().flatten().for_each(|warning| context.printer.say(warning));
    Ok(())
}

fn lines(op: &Op, done: &Done, clock: &Clock) -> Vec<String> {
    let until = done.until.map(|until| format!(" until {}", clock.short(until))).unwrap_or_default();
    let mut lines = vec![text::escape(&format!("{}{until}", said::sentence(op, done))).into_owned()];
    lines.extend(done.token.map(|token| format!("token: {token}")));
    lines
}

/// What came of an operation, as programs read it, with what may be wrong with it.
pub(crate) fn value(op: &Op, done: &Done, warnings: &[String]) -> Result<Value> {
    let plain = |error: serde_json::Error| {
        Problem::new(Kind::Bug, "unprintable", "a value has no JSON form").why(error.to_string())
    };
    let mut value = serde_json::to_value(done).map_err(plain)?;
    spelled::spelled(&mut value);
    if let (Some(object), Ok(Value::Object(asked))) = (value.as_object_mut(), serde_json::to_value(op)) {
        object.extend(asked.get("op").map(|name| ("op".to_owned(), name.clone())));
        object.insert("says".to_owned(), said::sentence(op, done).into());
        if !warnings.is_empty() {
            object.insert("warnings".to_owned(), warnings.into());
        }
    }
    Ok(value)
}

/// `@` and nothing else is replaced: all other texts are looked up where the commit is decided.
pub(crate) fn typed(text: &str, context: &Context<'_>) -> Result<String> {
    last::typed(&context.config.dir.value, text)
}

/// A text that was typed, or stdin for `-`.
pub(crate) fn words(text: Option<&String>) -> Result<Option<String>> {
    match text.map(String::as_str) {
        Some("-") => {
            std::io::read_to_string(std::io::stdin()).map(|text| Some(text.trim_end().to_owned())).map_err(|error| {
                Problem::new(Kind::Unavailable, "no_input", "stdin could not be read").why(error.to_string())
            })
        }
        other => Ok(other.map(str::to_owned)),
    }
}
