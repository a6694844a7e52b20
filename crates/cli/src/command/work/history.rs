//! `edgewise history` of an item or a gate: everything that happened to it, in order.

use super::board::Board;
use super::{look, said, spelled};
use crate::clock::Clock;
use crate::command::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use crate::view;
use edgewise_core::work::{DependencyKey, ItemId, Note, NoteKind};
use edgewise_engine::work::Look;
use serde_json::json;

const HEADER: [&str; 4] = ["seq", "time", "by", "what"];

pub(crate) fn perform(board: &Board, id: &ItemId, context: &mut Context<'_>) -> Result<Exit> {
    let mut reader = view::reader(context.config)?;
    let seen = reader.look(board.now, &Look::History { id: id.to_string() })?;
    let notes: Vec<Note> = serde_json::from_value(seen["history"].clone()).unwrap_or_default();
    let clock = Clock::local(board.now);
    let mut rows = Vec::new();
    for note in &notes {
        let by = note.by.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        let cells = vec![
            Cell::new(note.seq.to_string(), Ink::Dim),
            Cell::from(clock.second(note.at)),
            Cell::from(by),
            Cell::from(words(note, id, &clock)),
        ];
        let mut value = json!(note);
        spelled::spelled(&mut value);
        rows.push(Row::new(note.seq.to_string(), cells, &value)?);
    }
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}

/// What happened, as it is said of this item.
fn words(note: &Note, id: &ItemId, clock: &Clock) -> String {
    let because = |why: &Option<String>| why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    match &note.what {
        NoteKind::Created => "made".to_owned(),
        NoteKind::Changed { fields } => format!("changed {}", fields.join(", ")),
        NoteKind::Closed { how, force, why } => {
            let forced = if *force { " by force" } else { "" };
            format!("closed as {}{forced}{}", look::close_word(*how), because(why))
        }
        NoteKind::Reopened { why } => format!("opened again{}", because(why)),
        NoteKind::Deleted { why } => format!("deleted{}", because(why)),
        NoteKind::Moved { to: Some(to), .. } => format!("a part of {to} now"),
        NoteKind::Moved { from, to: None } => {
            format!("not a part of {} any more", from.as_ref().map(ToString::to_string).unwrap_or_default())
        }
        NoteKind::Claimed { until } => format!("claimed until {}", clock.short(*until)),
        NoteKind::Released { from } => format!("{from} has it no more"),
        NoteKind::DependencyAdded(key) => format!("now {}", bond(key, id)),
        NoteKind::DependencyRemoved(key) => format!("no longer {}", bond(key, id)),
        NoteKind::AutoBlocked { previous } => format!("blocked (was {})", look::status_word(*previous)),
        NoteKind::AutoUnblocked { status } => format!("not blocked any more ({} again)", look::status_word(*status)),
        NoteKind::CompletionEligible => "its last open child was closed: it can be closed too".to_owned(),
        NoteKind::AutoCompleted { how } => format!("closed by itself as {}", look::close_word(*how)),
        NoteKind::Approved { why } => format!("approved{}", because(why)),
        NoteKind::Withdrawn { why } => format!("approval withdrawn{}", because(why)),
        NoteKind::Satisfied { why } => format!("opened{}", because(why)),
        NoteKind::Rejected { why } => format!("rejected{}", because(why)),
    }
}

fn bond(key: &DependencyKey, id: &ItemId) -> String {
    match key.source == *id {
        true => format!("{} {} ({})", said::verb(key.kind), key.target, key.kind.name()),
        false => format!("{} {} ({})", said::verb_back(key.kind), key.source, key.kind.name()),
    }
}
