//! Freeze: nothing but reads, `doctor` and `unfreeze` work on a run from here on.
//!
//! An event says who and why, and the append that carries it sets the mark that every later append is refused by. A run
//! that is marked already stays as it is: one that is damaged has a mark alone, because nothing can be appended to it.

use super::{answer, check_text};
use crate::command::{Answer, RunAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::{Event, Request};

pub(crate) fn freeze(desk: &mut Desk, act: &RunAct) -> Result<Answer> {
    check_text(act.why.as_deref())?;
    let run = act.run;
    if !desk.batch.marks.contains_key(&run) {
        // Asked of the ledger, because any engine may have set it.
        if let Some(reason) = desk.ledger.mark(&desk.home.stream(run))? {
            desk.set_frozen(run, &reason);
            return Ok(Answer::Already);
        }
    } else if desk.is_frozen(run)? {
        return Ok(Answer::Already);
    }
    desk.open(run)?;
    let event = Event::RunFrozen(Request { by: act.by.clone(), why: act.why.clone() });
    let frozen = desk.decide(run, event)?;
    if frozen.is_ok() {
        desk.batch.marks.entry(run).or_insert(None);
        let reason = desk.runs.get(&run).and_then(|cached| cached.run.freeze_mark()).unwrap_or_default();
        desk.set_frozen(run, &reason);
    }
    answer(frozen, || format!("run {run}"))
}
