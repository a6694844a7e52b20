//! Items of tasks: made, closed and told about, in the commit of what caused it.
//!
//! ```text
//! task is ready          ──► work graph: ItemAdded
//! item is closed         ──► run: LinkResolved
//! task went on without   ──► work graph: ItemClosed as cancelled, run: LinkResolved
//! ```
//!
//! The id of an item follows from the attempt that it is for: whether it was made is read off the graph, so that it is
//! made once, whoever looks and however often.

use super::link::{resolve, why_not};
use crate::desk::Desk;
use edgewise_core::Kind;
use edgewise_core::event::{Failure, LinkRef};
use edgewise_core::id::RunId;
use edgewise_core::run::Outcome;
use edgewise_core::state::RunState;
use edgewise_core::work::{Close, Item, ItemAdded, ItemClosed, ItemId, ItemKind, Status, Waiter, WorkEvent};
use serde_json::json;

/// The item of an attempt is made, or is over.
pub(super) fn wait_for(desk: &mut Desk, run: RunId, link: LinkRef, id: &ItemId) {
    if desk.newest_work().is_err() {
        desk.links.later.insert((run, link.task));
        return;
    }
    let Some(cached) = desk.runs.get(&run) else { return };
    let child = cached.run.child(link);
    let ended = match desk.work.state.item(id.as_str()) {
        None => return make(desk, (run, link), id),
        Some(item) if !is_of(item, run, link) => {
            let message = format!("there is another item {id} already: rerun the task");
            Some((RunState::Error, Err(Failure::new("item_taken", message))))
        }
        Some(item) => outcome(item),
    };
    let Some((state, outcome)) = ended else { return };
    desk.rely_on(RunId::WORK);
    resolve(desk, run, link, child, state, outcome);
}

/// An item that no task waits for is closed, and its run is told.
pub(super) fn let_go(desk: &mut Desk, run: RunId, (link, child): (LinkRef, RunId), id: &ItemId) {
    if desk.newest_work().is_err() {
        desk.links.later.insert((run, edgewise_core::run::DISOWNED));
        return;
    }
    let ours = |item: &&Item| is_of(item, run, link) && !item.status.is_over();
    let open = desk.work.state.item(id.as_str()).filter(ours).is_some();
    let asked = desk.runs.get(&run).and_then(|cached| why_not(&cached.run, link));
    if let (true, Some(asked)) = (open, asked) {
        let (how, force, token) = (Close::Cancelled, true, None);
        let event = ItemClosed { id: id.clone(), how, force, token, by: asked.by, why: asked.why };
        // One that has just been closed by somebody needs no cancel.
        let _ = desk.record_work(WorkEvent::ItemClosed(event));
    }
    desk.rely_on(RunId::WORK);
    resolve(desk, run, link, child, RunState::Cancelled, Ok(serde_json::Value::Null));
}

/// Whether an item is not there, or is over: then something should have moved.
pub(super) fn is_missing(desk: &mut Desk, id: &ItemId) -> bool {
    let Ok(work) = desk.work() else { return false };
    work.item(id.as_str()).is_none_or(|item| item.status.is_over())
}

/// Makes the item of an attempt. Nothing of a run that is paused begins.
fn make(desk: &mut Desk, (run, link): (RunId, LinkRef), id: &ItemId) {
    let Some(within) = lineage(desk, run) else {
        desk.links.later.insert((run, link.task));
        return;
    };
    let Some(parent) = desk.runs.get(&run).map(|cached| &cached.run).filter(|run| !run.paused) else { return };
    let (child, by) = (parent.child(link), parent.about.as_ref().map(|about| about.by.clone()));
    let (fields, Some(by)) = (parent.item_fields(link.task), by) else { return };
    let made = fields.and_then(|fields| {
        let waiter = Some(Box::new(Waiter { run, within, link }));
        let (id, kind, phase) = (id.clone(), ItemKind::Task, None);
        let added = ItemAdded { id, kind, fields, phase, waiter, created_at: None, by };
        let refused = |error: edgewise_core::Error| Failure::permanent(error.code, error.message);
        desk.record_work(WorkEvent::ItemAdded(Box::new(added))).map_err(refused)
    });
    match made {
        Ok(()) => desk.rely_on(run),
        Err(failure) => resolve(desk, run, link, child, RunState::Error, Err(failure)),
    }
}

/// The runs that wait for a run, the nearest first; `None` while they cannot be read. One that was taken away is the
/// last that is known.
fn lineage(desk: &mut Desk, run: RunId) -> Option<Vec<RunId>> {
    let mut within = Vec::new();
    let mut next = desk.runs.get(&run)?.run.parent.as_ref().map(|parent| parent.run);
    while let Some(outer) = next {
        within.push(outer);
        next = match desk.open(outer) {
            Ok(cached) => cached.run.parent.as_ref().map(|parent| parent.run),
            Err(error) if error.kind == Kind::Unavailable => return None,
            Err(_) => None,
        };
    }
    Some(within)
}

/// Whether an item is that of an attempt.
pub(super) fn is_of(item: &Item, run: RunId, link: LinkRef) -> bool {
    item.waiter.as_ref().is_some_and(|waiter| waiter.is(run, link))
}

/// What the end of an item means to its task; `None` while it is open.
fn outcome(item: &Item) -> Option<(RunState, Outcome)> {
    let failed = |kind, said: &str| Some((RunState::Error, Err(Failure::of_item(kind, &item.id, said))));
    if item.status == Status::Tombstone {
        let failure = Failure::of_item("ItemDeleted", &item.id, "was deleted");
        return Some((RunState::Cancelled, Err(Failure { retryable: false, ..failure })));
    }
    let closed = item.closed.as_ref().filter(|_| item.status == Status::Closed)?;
    let why = closed.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    match closed.how {
        Close::Done => {
            let output = json!({
                "id": item.id, "title": item.fields.title, "closedBy": closed.by, "closedAt": closed.at,
                "reason": closed.why,
            });
            Some((RunState::Complete, Ok(output)))
        }
        Close::Failed => failed("ItemFailed", &format!("was closed as failed by {}{why}", closed.by)),
        Close::Cancelled => {
            let failure = Failure::of_item("ItemCancelled", &item.id, &format!("was cancelled by {}{why}", closed.by));
            // Somebody did not want it: another one is not made by itself.
            Some((RunState::Cancelled, Err(Failure { retryable: false, ..failure })))
        }
    }
}
