//! Looking at the work graph without being the engine: rows plus the ledger's tail.

use super::Reader;
use crate::load::{LoadedWork, load_work};
use crate::work::{ItemView, Look, json, look};
use edgewise_core::Result;
use edgewise_core::fold::Stamp;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::part::{Extent, part};
use edgewise_core::work::{Filter, ItemId, ItemKind, ItemRow, Sort, Standing, Work, fold};
use edgewise_store::{ItemOrder, Stream};
use serde_json::{Value, json};

/// What rows say, and the seq that they are at.
type AtSeq<T> = Result<(u64, Option<T>)>;
/// Something that was meant, in a part of the graph; or that nothing fits.
type Meant = Result<(ItemId, Work)>;

impl Reader {
    /// The whole work graph as it is written.
    pub fn work(&mut self) -> Result<Work> {
        Ok(self.loaded()?.state)
    }

    /// The whole work graph at an instant: what time has brought, and nobody was there to write down, has happened.
    pub fn work_at(&mut self, now: Time) -> Result<Work> {
        let mut loaded = self.loaded()?;
        pass(&mut loaded, now);
        Ok(loaded.state)
    }

    /// Whether anything was ever written of the work graph.
    pub fn has_work(&mut self) -> Result<bool> {
        Ok(self.ledger.head(&self.home.stream(RunId::WORK))?.seq > 0)
    }

    fn loaded(&mut self) -> Result<LoadedWork> {
        load_work(&mut *self.ledger, &mut *self.projections, &self.home.stream(RunId::WORK))
    }

    /// The item or gate that a text means, in as much of the work graph at an instant as it takes to say something of it.
    pub fn work_about(&mut self, now: Time, text: &str, extent: Extent) -> Result<(ItemId, Work)> {
        let stream = self.home.stream(RunId::WORK);
        if let Some(found) = self.by_rows(&stream, now, &mut |reader| reader.part(&stream, text, extent))? {
            return found;
        }
        let work = self.work_at(now)?;
        Ok((work.resolve(text)?, work))
    }

    /// What somebody asks to see of the work graph, as JSON: the same as its engine would answer. A few items are
    /// read off the rows alone where these have all that the ledger has.
    pub fn look(&mut self, now: Time, asked: &Look) -> Result<Value> {
        let stream = self.home.stream(RunId::WORK);
        let found = match asked {
            Look::Ready { filter, who } if in_order(filter) => self.by_rows(&stream, now, &mut |reader| {
                reader.walk(&stream, order_of(filter), (now, filter), &|row| is_ready(row, now, filter, who.as_ref()))
            })?,
            Look::Blocked { filter } if in_order(filter) => self.by_rows(&stream, now, &mut |reader| {
                let blocked = |row: &ItemRow| row.facts().standing(now) == Standing::Blocked;
                reader.walk(&stream, ItemOrder::Blocked, (now, filter), &blocked)
            })?,
            Look::Show { id } => return look(&self.work_about(now, id, Extent::Bonds)?.1, now, asked),
            Look::Why { id } => return look(&self.work_about(now, id, Extent::Reasons)?.1, now, asked),
            _ => None,
        };
        if let Some(value) = found {
            return Ok(value);
        }
        let mut loaded = self.loaded()?;
        let Look::History { id } = asked else {
            pass(&mut loaded, now);
            return look(&loaded.state, now, asked);
        };
        let id = loaded.state.resolve(id)?;
        let mut notes = self.projections.work_notes(&stream, id.as_str())?;
        // The rows may have moved on since: what is in them is not said twice.
        let last = notes.last().map_or(0, |note| note.seq);
        notes.extend(loaded.changed.notes.into_iter().filter(|note| note.item == id && note.seq > last));
        Ok(json!({ "id": id, "history": notes }))
    }

    /// What the rows say, if these are the whole truth at an instant: they have all that the ledger has, and nothing has
    /// happened by itself since.
    fn by_rows<T>(
        &mut self,
        stream: &Stream,
        now: Time,
        read: &mut dyn FnMut(&mut Self) -> AtSeq<T>,
    ) -> Result<Option<T>> {
        if self.projections.work_due(stream)?.is_some_and(|due| due <= now) {
            return Ok(None);
        }
        let head = self.ledger.head(stream)?.seq;
        let (seq, found) = read(self)?;
        Ok(found.filter(|_| seq == head))
    }

    /// The first items of an order that fit, with the seq of the rows that say so.
    fn walk(
        &mut self,
        stream: &Stream,
        order: ItemOrder,
        (now, filter): (Time, &Filter),
        stands: &dyn Fn(&ItemRow) -> bool,
    ) -> AtSeq<Value> {
        let mut views = Vec::new();
        let limit = filter.limit.unwrap_or(usize::MAX);
        let seq = self.projections.walk_items(stream, order, &mut |row| {
            if views.len() < limit && stands(&row) {
                let view = ItemView::of_row(&row, now)?;
                views.extend(filter.fits(&view.item).then_some(view));
            }
            Ok(views.len() < limit)
        })?;
        Ok((seq, Some(json!({ "items": json(&views)? }))))
    }

    /// A part of the graph, with the seq of the rows that it is made of. That nothing fits a text is only true of rows
    /// that are the whole truth.
    fn part(&mut self, stream: &Stream, text: &str, extent: Extent) -> AtSeq<Meant> {
        let mut found = None;
        let seq = self.projections.work_drawer(stream, &mut |drawer| {
            let made = part(drawer, text, extent).and_then(|(id, rows)| Ok((id, Work::from_part(&rows)?)));
            found = Some(made);
            Ok(())
        })?;
        Ok((seq, found))
    }
}

/// Lets happen what has happened by itself up to an instant.
fn pass(loaded: &mut LoadedWork, now: Time) {
    for event in loaded.state.overdue(now) {
        let stamp = Stamp { id: loaded.state.last.plus(1), at: now };
        // What an instance took along has gone already: an event that does not count changes nothing.
        let _ = fold(&mut loaded.state, stamp, &event, &mut loaded.changed);
    }
}

/// Whether the rows are in the order that is asked for, and say all that it asks for.
fn in_order(filter: &Filter) -> bool {
    filter.sort == Sort::Effective && filter.parent.is_none() && filter.plan.is_none()
}

/// Tasks have an order of their own, so that who asks for nothing else looks at no rows of plans.
fn order_of(filter: &Filter) -> ItemOrder {
    let tasks = filter.kinds.iter().all(|kind| *kind == ItemKind::Task);
    if tasks { ItemOrder::Tasks } else { ItemOrder::Ready }
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
