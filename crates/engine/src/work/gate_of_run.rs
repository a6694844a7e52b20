//! A gate of a run that an item waits for: the run must be here, and the task a gate of it, or one that may yet come.

use super::stage::Stage;
use edgewise_core::id::RunId;
use edgewise_core::work::{DependencyKind, Target};
use edgewise_core::{Error, Kind, Result};

/// Refuses to wait for a task of a run that could never open for whoever waits.
pub(super) fn check(stage: &mut Stage<'_>, target: &Target, kind: DependencyKind) -> Result<()> {
    let Some((run, path)) = target.as_task().filter(|_| kind.is_waiting()) else { return Ok(()) };
    if kind != DependencyKind::Awaits {
        let message = format!("{target} is a gate of a run: wait for it with `awaits`; `blocks` is for items");
        return Err(Error::invalid("wrong_target", message));
    }
    match stage.desk.open(run).map(|cached| cached.run.find(path).is_some()) {
        Ok(true) => {}
        // Another engine may have come to it meanwhile.
        Ok(false) => drop(stage.desk.has_news(run)?),
        Err(error) if error.kind == Kind::NotFound => {
            let message =
                format!("there is no run {run}, so nobody opens a gate of it: `edgewise runs` lists those there are");
            return Err(Error::not_found("run_not_found", message));
        }
        Err(error) => return Err(error),
    }
    let state = &stage.desk.open(run)?.run;
    match state.find(path) {
        Some(task) if state.is_gate(task) => Ok(()),
        Some(_) => Err(no_gate(run, path)),
        None if state.is_put_by(path) || state.may_have_gate(path) => Ok(()),
        None => {
            let message = format!("run {run} has no gate `{path}`; `edgewise show {}` lists its tasks", run.short());
            Err(Error::not_found("task_not_found", message))
        }
    }
}

fn no_gate(run: RunId, path: &str) -> Error {
    let message = format!(
        "`{path}` of run {run} is no gate, and an item waits for a gate or for a whole run: point it to {run} instead (`awaits {run}`)"
    );
    Error::invalid("not_a_gate", message)
}
