//! Unfreeze: a frozen run goes on where it was, unless it is damaged.
//!
//! The append that carries the event takes the mark away. A run that was marked without an event, because damage was
//! found or an alarm went off, goes on if all of it can be read now; its event says what it was marked with.

use super::{answer, check_text};
use crate::command::{Answer, RunAct};
use crate::desk::Desk;
use edgewise_core::event::{Event, Unfrozen};
use edgewise_core::{Error, Kind, Result};

pub(crate) fn unfreeze(desk: &mut Desk, act: &RunAct) -> Result<Answer> {
    check_text(act.why.as_deref())?;
    let run = act.run;
    if !desk.batch.marks.contains_key(&run) {
        let mark = desk.ledger.mark(&desk.home.stream(run))?;
        match &mark {
            Some(reason) => desk.set_frozen(run, reason),
            // An event that says so without a mark is believed as well.
            None => match desk.open(run).map(drop) {
                Ok(()) => return Ok(Answer::Already),
                Err(_) if desk.runs.get(&run).is_some_and(|cached| cached.run.frozen.is_some()) => {}
                Err(error) => return Err(error),
            },
        }
        if desk.runs.get(&run).is_some_and(|cached| !cached.events.is_empty()) {
            // Decided before this engine had heard of the mark: all of it is decided again.
            desk.batch.spoiled = true;
            return Ok(Answer::Done);
        }
        read_whole(desk, act)?;
        desk.batch.marks.insert(run, mark);
    }
    let frozen = desk.runs.get(&run).is_some_and(|cached| cached.run.frozen.is_some());
    let mark = desk.batch.marks.get(&run).cloned().flatten().filter(|_| !frozen);
    let event = Event::RunUnfrozen(Unfrozen { by: act.by.clone(), why: act.why.clone(), mark });
    let recorded = desk.record(run, event);
    if recorded.is_ok() {
        desk.hint_parent(run);
    }
    answer(recorded, || format!("run {run}"))
}

/// Reads a frozen run anew. One that is damaged stays frozen: nothing is guessed.
fn read_whole(desk: &mut Desk, act: &RunAct) -> Result<()> {
    desk.forget(&[act.run]);
    desk.lay_down(act.run).map_err(|error| match error.kind {
        Kind::Corrupt => {
            let message = format!("run {} stays frozen, it is damaged: {}", act.run, error.message);
            Error::conflict("still_damaged", message)
        }
        _ => error,
    })
}
