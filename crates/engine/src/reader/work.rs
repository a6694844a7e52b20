//! Looking at the work graph without being the engine: rows plus the ledger's tail.

use super::Reader;
use crate::load::load_work;
use crate::work::{ItemView, Look, json, look};
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::{DependencyRow, Filter, ItemRow, Sort, Standing, Work};
use edgewise_store::{ItemOrder, Stream};
use serde_json::{Value, json};

impl Reader {
    /// The whole work graph as it is now.
    pub fn work(&mut self) -> Result<Work> {
        let stream = self.home.stream(RunId::WORK);
        Ok(load_work(&mut *self.ledger, &mut *self.projections, &stream)?.state)
    }

    /// What somebody asks to see of the work graph, as JSON: the same as its engine would answer. A few items are
    /// read off the rows alone where these have all that the ledger has.
    pub fn look(&mut self, now: Time, asked: &Look) -> Result<Value> {
        let stream = self.home.stream(RunId::WORK);
        let head = self.ledger.head(&stream)?.seq;
        let found = match asked {
            Look::Ready { filter, who } if by_rows(filter) => self.ready_rows(&stream, now, (filter, who.as_ref()))?,
            Look::Show { id } => self.item_rows(&stream, now, id)?,
            _ => None,
        };
        if let Some((applied_seq, value)) = found
            && applied_seq == head
        {
            return Ok(value);
        }
        let loaded = load_work(&mut *self.ledger, &mut *self.projections, &stream)?;
        let Look::History { id } = asked else { return look(&loaded.state, now, asked) };
        let id = loaded.state.resolve(id)?;
        let mut notes = self.projections.work_notes(&stream, id.as_str())?;
        // The rows may have moved on since: what is in them is not said twice.
        let last = notes.last().map_or(0, |note| note.seq);
        notes.extend(loaded.changed.notes.into_iter().filter(|note| note.item == id && note.seq > last));
        Ok(json!({ "id": id, "history": notes }))
    }

    /// What is ready, with the seq of the rows that say so.
    fn ready_rows(&mut self, stream: &Stream, now: Time, asked: (&Filter, Option<&Name>)) -> Result<Option<AtSeq>> {
        let ((filter, who), mut views) = (asked, Vec::new());
        let limit = filter.limit.unwrap_or(usize::MAX);
        let seq = self.projections.walk_items(stream, ItemOrder::Ready, &mut |row| {
            if views.len() < limit && is_ready(&row, now, filter, who) {
                let view = ItemView::of_row(&row, now)?;
                views.extend(filter.fits(&view.item).then_some(view));
            }
            Ok(views.len() < limit)
        })?;
        Ok(Some((seq, json!({ "items": json(&views)? }))))
    }

    /// An item by its whole id, with the seq of the rows that say so.
    fn item_rows(&mut self, stream: &Stream, now: Time, id: &str) -> Result<Option<AtSeq>> {
        let Some(rows) = self.projections.work_item(stream, id)? else { return Ok(None) };
        let all = |rows: &[DependencyRow]| rows.iter().map(DependencyRow::dependency).collect::<Result<Vec<_>>>();
        let (dependencies, dependents) = (all(&rows.dependencies)?, all(&rows.dependents)?);
        let view = ItemView { dependencies, dependents, ..ItemView::of_row(&rows.item, now)? };
        Ok(Some((rows.applied_seq, json!({ "item": json(&view)? }))))
    }
}

/// An answer, and the seq of the rows that gave it.
type AtSeq = (u64, Value);

/// Whether the rows are in the order that is asked for, and say all that it asks for.
fn by_rows(filter: &Filter) -> bool {
    filter.sort == Sort::Effective && filter.parent.is_none() && filter.plan.is_none()
}

/// The same that the graph asks, of a row.
fn is_ready(row: &ItemRow, now: Time, filter: &Filter, who: Option<&Name>) -> bool {
    match row.facts().standing(now) {
        Standing::Ready => true,
        Standing::Ephemeral(_) => filter.ephemeral,
        Standing::Claimed(by, _) => who == Some(&by) && (filter.ephemeral || row.ephemeral_in.is_none()),
        _ => false,
    }
}
