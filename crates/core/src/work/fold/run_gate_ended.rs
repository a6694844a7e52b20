//! `RunGateEnded`: a gate of a run that items wait for ended, or asks again because the run was rerun.

use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{RunGateEnded, Target, Work};

pub(super) fn check(work: &Work, event: &RunGateEnded) -> Result<()> {
    let (run, task) = (event.run, &event.task);
    if !run.is_run() {
        return Err(Error::invalid("bad_id", format!("{run} is not a run")));
    }
    Target::gate_of(run, task)?;
    if work.run_gate_end(run, task) == event.end {
        let message = format!("it is known already how gate {task} of run {run} stands");
        return Err(Error::conflict("already_known", message));
    }
    Ok(())
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &RunGateEnded) {
    let n = work.run_number(event.run);
    let gates = &mut work.run_mut(n).gates;
    match event.end {
        Some(end) => drop(gates.insert(event.task.as_str().into(), end)),
        None => drop(gates.remove(event.task.as_str())),
    }
    turn.changed.runs.insert(event.run);
    let into = work.runs[n as usize].into.clone();
    work.weigh_all(&into);
}
