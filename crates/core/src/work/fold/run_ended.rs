//! `RunEnded`: a run that items wait for ended, or is open again.

use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{RunEnded, Work};

pub(super) fn check(work: &Work, event: &RunEnded) -> Result<()> {
    let run = event.run;
    if !run.is_run() {
        return Err(Error::invalid("bad_id", format!("{run} is not a run")));
    }
    if let Some(state) = event.state.filter(|state| !state.is_done()) {
        return Err(Error::invalid("not_ended", format!("run {run} is {state:?}: it has not ended")));
    }
    if work.run_end(run) == event.state {
        return Err(Error::conflict("already_known", format!("it is known already how run {run} stands")));
    }
    Ok(())
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &RunEnded) {
    let n = work.run_number(event.run);
    work.run_mut(n).state = event.state;
    turn.changed.runs.insert(event.run);
    let into = work.runs[n as usize].into.clone();
    work.weigh_all(&into);
}
