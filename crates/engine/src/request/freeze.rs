//! Freeze and unfreeze: a mark beside a run under which only reads, `doctor` and `unfreeze` work.
//!
//! The mark is no event: a run whose ledger is damaged can have it too. So it is set and taken away
//! between two commits, when nothing of the run waits to be appended. Whether it is set is asked of the ledger, because
//! any engine may have done so.

use super::check_text;
use crate::command::{Answer, RunAct};
use crate::desk::Desk;
use edgewise_core::{Error, Kind, Result};

pub(crate) fn freeze(desk: &mut Desk, act: &RunAct) -> Result<Answer> {
    check_text(act.why.as_deref())?;
    let stream = desk.home.stream(act.run);
    if let Some(reason) = desk.ledger.mark(&stream)? {
        desk.set_frozen(act.run, &reason);
        return Ok(Answer::Already);
    }
    desk.open(act.run)?;
    let reason = match &act.why {
        Some(why) => format!("{} froze it: {why}", act.by),
        None => format!("{} froze it", act.by),
    };
    desk.ledger.freeze(&stream, Some(&reason))?;
    desk.set_frozen(act.run, &reason);
    Ok(Answer::Done)
}

/// A run that is damaged is frozen again at once: nothing is guessed.
pub(crate) fn unfreeze(desk: &mut Desk, act: &RunAct) -> Result<Answer> {
    check_text(act.why.as_deref())?;
    let stream = desk.home.stream(act.run);
    if desk.ledger.mark(&stream)?.is_none() {
        desk.open(act.run)?;
        return Ok(Answer::Already);
    }
    desk.ledger.freeze(&stream, None)?;
    desk.thaw(act.run);
    match desk.open(act.run).map(drop) {
        Ok(()) => Ok(Answer::Done),
        Err(error) if error.kind != Kind::Unavailable && desk.frozen.contains_key(&act.run) => {
            let message = format!("run {} stays frozen, it is damaged: {}", act.run, error.message);
            Err(Error::conflict("still_damaged", message))
        }
        Err(error) => Err(error),
    }
}
