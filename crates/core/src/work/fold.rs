//! The fold of the work graph: one event, one file, each with a `check` and an `apply`.
//!
//! An event that is refused changes nothing but the seq: whoever commits asks `check` first, and an event that
//! became wrong in the meantime is the same no-op on every machine.

mod claim_extended;
mod dependency_added;
mod dependency_imported;
mod dependency_removed;
mod gate_approved;
mod gate_awaited;
mod gate_imported;
mod gate_left;
mod gate_made;
mod gate_rejected;
mod gate_satisfied;
mod gate_withdrawn;
mod item_added;
mod item_changed;
mod item_claimed;
mod item_closed;
mod item_deleted;
mod item_imported;
mod item_moved;
mod item_released;
mod item_reopened;
mod run_ended;
mod run_gate_ended;
mod said;

use super::settle::Turn;
use super::{Changed, ItemId, Status, Work, WorkEvent};
use crate::error::{Error, Result};
use crate::fold::Stamp;
use crate::name::Name;
use crate::time::Time;

/// Whether an event would count at an instant; the error says what is in the way, why, and what to do.
pub fn check(work: &Work, at: Time, event: &WorkEvent) -> Result<()> {
    match event {
        WorkEvent::ItemAdded(event) => item_added::check(work, event),
        WorkEvent::ItemChanged(event) => item_changed::check(work, event),
        WorkEvent::ItemClosed(event) => item_closed::check(work, at, event),
        WorkEvent::ItemReopened(event) => item_reopened::check(work, event),
        WorkEvent::ItemDeleted(event) => item_deleted::check(work, event),
        WorkEvent::ItemMoved(event) => item_moved::check(work, event),
        WorkEvent::ItemClaimed(event) => item_claimed::check(work, at, event),
        WorkEvent::ClaimExtended(event) => claim_extended::check(work, at, event),
        WorkEvent::ItemReleased(event) => item_released::check(work, at, event),
        WorkEvent::DependencyAdded(event) => dependency_added::check(work, event),
        WorkEvent::DependencyRemoved(event) => dependency_removed::check(work, event).map(drop),
        WorkEvent::GateMade(event) => gate_made::check(work, event),
        WorkEvent::GateApproved(event) => gate_approved::check(work, event).map(drop),
        WorkEvent::GateWithdrawn(event) => gate_withdrawn::check(work, event).map(drop),
        WorkEvent::GateSatisfied(event) => gate_satisfied::check(work, at, event).map(drop),
        WorkEvent::GateRejected(event) => gate_rejected::check(work, event).map(drop),
        WorkEvent::GateAwaited(event) => gate_awaited::check(work, event).map(drop),
        WorkEvent::GateLeft(event) => gate_left::check(work, event).map(drop),
        WorkEvent::RunEnded(event) => run_ended::check(work, event),
        WorkEvent::RunGateEnded(event) => run_gate_ended::check(work, event),
        WorkEvent::ItemImported(item) => item_imported::check(work, item),
        WorkEvent::GateImported(gate) => gate_imported::check(work, gate),
        WorkEvent::DependencyImported(dependency) => dependency_imported::check(work, dependency),
        WorkEvent::Unknown(name) => Err(Error::invalid(
            "unknown_event",
            format!("{name:?} is an event of a newer program: it counts for nothing here"),
        )),
    }
}

/// Folds one event. What changed is added to `changed`; an event that is refused changes nothing but the seq.
pub fn fold(work: &mut Work, stamp: Stamp, event: &WorkEvent, changed: &mut Changed) -> Result<()> {
    work.seq += 1;
    work.last = stamp.id;
    check(work, stamp.at, event)?;
    let mut turn = Turn { stamp, seq: work.seq, by: event.by().cloned(), changed };
    apply(work, &mut turn, event);
    work.settle(&mut turn);
    Ok(())
}

fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &WorkEvent) {
    match event {
        WorkEvent::ItemAdded(event) => item_added::apply(work, turn, event),
        WorkEvent::ItemChanged(event) => item_changed::apply(work, turn, event),
        WorkEvent::ItemClosed(event) => item_closed::apply(work, turn, event),
        WorkEvent::ItemReopened(event) => item_reopened::apply(work, turn, event),
        WorkEvent::ItemDeleted(event) => item_deleted::apply(work, turn, event),
        WorkEvent::ItemMoved(event) => item_moved::apply(work, turn, event),
        WorkEvent::ItemClaimed(event) => item_claimed::apply(work, turn, event),
        WorkEvent::ClaimExtended(event) => claim_extended::apply(work, event),
        WorkEvent::ItemReleased(event) => item_released::apply(work, turn, event),
        WorkEvent::DependencyAdded(event) => dependency_added::apply(work, turn, event),
        WorkEvent::DependencyRemoved(event) => dependency_removed::apply(work, turn, event),
        WorkEvent::GateMade(event) => gate_made::apply(work, turn, event),
        WorkEvent::GateApproved(event) => gate_approved::apply(work, turn, event),
        WorkEvent::GateWithdrawn(event) => gate_withdrawn::apply(work, turn, event),
        WorkEvent::GateSatisfied(event) => gate_satisfied::apply(work, turn, event),
        WorkEvent::GateRejected(event) => gate_rejected::apply(work, turn, event),
        WorkEvent::GateAwaited(event) => gate_awaited::apply(work, turn, event),
        WorkEvent::GateLeft(event) => gate_left::apply(work, turn, event),
        WorkEvent::RunEnded(event) => run_ended::apply(work, turn, event),
        WorkEvent::RunGateEnded(event) => run_gate_ended::apply(work, turn, event),
        WorkEvent::ItemImported(item) => item_imported::apply(work, turn, item),
        WorkEvent::GateImported(gate) => gate_imported::apply(work, turn, gate),
        WorkEvent::DependencyImported(dependency) => dependency_imported::apply(work, turn, dependency),
        WorkEvent::Unknown(_) => {}
    }
}

impl WorkEvent {
    /// Who did it, where somebody did.
    pub fn by(&self) -> Option<&Name> {
        match self {
            Self::ItemAdded(event) => Some(&event.by),
            Self::ItemChanged(event) => Some(&event.by),
            Self::ItemClosed(event) => Some(&event.by),
            Self::ItemReopened(event) | Self::ItemDeleted(event) => Some(&event.by),
            Self::ItemMoved(event) => Some(&event.by),
            Self::ItemClaimed(event) => Some(&event.by),
            Self::ItemReleased(event) => event.by.as_ref(),
            Self::DependencyAdded(event) => Some(&event.by),
            Self::DependencyRemoved(event) => Some(&event.by),
            Self::GateMade(event) => Some(&event.by),
            Self::GateApproved(event) | Self::GateWithdrawn(event) => Some(&event.by),
            Self::GateSatisfied(event) => event.by.as_ref(),
            Self::GateRejected(event) => Some(&event.by),
            Self::ItemImported(item) => Some(&item.created_by),
            Self::GateImported(gate) => Some(&gate.created_by),
            Self::DependencyImported(dependency) => Some(&dependency.created_by),
            Self::ClaimExtended(_)
            | Self::GateAwaited(_)
            | Self::GateLeft(_)
            | Self::RunEnded(_)
            | Self::RunGateEnded(_)
            | Self::Unknown(_) => None,
        }
    }
}

impl Work {
    /// The number of an item that is there and was not deleted.
    fn alive(&self, id: &ItemId) -> Result<u32> {
        match self.number(id.as_str()) {
            Some(n) if self.slot(n).item.status == Status::Tombstone => {
                let message = format!("{id} was deleted: `edgewise history {id}` tells when and by whom");
                Err(Error::conflict("item_deleted", message))
            }
            Some(n) => Ok(n),
            None => {
                let message = format!("there is no item {id}: `edgewise list` shows what there is");
                Err(Error::not_found("item_not_found", message))
            }
        }
    }

    /// The number of a gate.
    fn gate_there(&self, id: &ItemId) -> Result<u32> {
        self.gate_number(id.as_str()).ok_or_else(|| {
            let message = format!("there is no gate {id}: `edgewise gate list` shows what there is");
            Error::not_found("gate_not_found", message)
        })
    }

    /// The number of a gate that is neither open nor rejected.
    fn gate_waiting(&self, id: &ItemId) -> Result<u32> {
        let n = self.gate_there(id)?;
        match &self.gates[n as usize].gate.ended {
            None => Ok(n),
            Some(ended) => {
                let how = if ended.satisfied { "open" } else { "rejected" };
                let message = format!("gate {id} is {how} since {}, and nothing follows after that", ended.at);
                Err(Error::conflict("gate_ended", message))
            }
        }
    }

    /// An id that nobody has yet.
    fn free(&self, id: &ItemId) -> Result<()> {
        if self.ids.contains_key(id) {
            let message = format!("there is a {id} already: leave the id out and one is made up");
            return Err(Error::conflict("id_taken", message));
        }
        Ok(())
    }
}
