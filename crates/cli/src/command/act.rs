//! What `cancel`, `pause`, `resume` and the answers to gates have in common: something is recorded, and said.
//!
//! If no engine is there, this process is one for as long as it takes to commit. No command is started by that: where
//! something can go on then, it is left to an engine in the background, as `run --detach` does.
//! Whatever can be done to one run can be done to all that a search finds.

mod many;

use super::Context;
use super::engine::in_background;
use crate::args::{RunRef, Which};
use crate::exit::Exit;
use crate::place::{Place, runtime};
use crate::problem::Result;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_engine::folder::Ask;
pub(super) use many::{Reach, count, found, is_sure};
use serde_json::json;

/// One act: what is asked, and what is said about it, as in "cancelled run k3f9x2ab".
pub(super) struct Act<'a> {
    /// What is to be recorded about which run, by whom.
    pub ask: &'a dyn Fn(RunId, Name) -> Ask,
    /// `cancelled`
    pub done: &'a str,
    /// `was cancelled already`
    pub already: &'a str,
    /// The gate it is about, if it is about one.
    pub task: Option<&'a str>,
    /// Whether somebody must go on with the run now.
    pub moves: bool,
}

impl Act<'_> {
    /// What is said about one run.
    fn line(&self, run: RunId, done: bool) -> String {
        let id = run.short();
        let what = self.task.map_or(format!("run {id}"), |task| format!("`{}` of run {id}", crate::text::escape(task)));
        if done { format!("{} {what}", self.done) } else { format!("{what} {}", self.already) }
    }
}

/// Acts on one run, or on all that a search finds. What is over is not looked for where only open runs are reached.
pub(super) fn perform_on(which: &Which, act: &Act<'_>, reach: Reach, context: &mut Context<'_>) -> Result<Exit> {
    match (&which.run, &which.query) {
        (Some(run), _) => perform(run, act, context),
        (None, _) => perform_on_all(which, act, reach, context).map(|(exit, _)| exit),
    }
}

/// Acts on all runs that a search finds; how that ended, and to how many it was done.
pub(super) fn perform_on_all(
    which: &Which,
    act: &Act<'_>,
    reach: Reach,
    context: &mut Context<'_>,
) -> Result<(Exit, usize)> {
    many::perform(which.query.as_deref().unwrap_or_default(), which, act, reach, context)
}

/// Acts on one run.
pub(super) fn perform(run: &RunRef, act: &Act<'_>, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    let run = place.find(run)?;
    let ask = (act.ask)(run, context.config.who.value.clone());
    let runtime = runtime()?;
    let (done, alone) = runtime.block_on(record(&place, ask))?;
    let line = act.line(run, done);
    context.printer.one(run.to_string(), &[line], &json!({ "run": run, "task": act.task, "changed": done }))?;
    let seen = place.reader()?.run(run)?;
    if done && alone && act.moves && !seen.state.is_done() && !seen.paused {
        let follows = format!("`edgewise watch {}` follows it", run.short());
        runtime.block_on(go_on(&place, &follows, context))?;
    }
    Ok(Exit::Ok)
}

/// Nobody was here: an engine in the background goes on. What was recorded stays so, also if none can be started.
pub(super) async fn go_on(place: &Place, follows: &str, context: &mut Context<'_>) -> Result<()> {
    context.printer.flush()?;
    match in_background(place, context).await {
        Ok(()) => context.printer.say(&format!("no engine was here: one in the background goes on; {follows}")),
        Err(problem) => context.printer.say(&format!("{}: {}", problem.what, problem.next.unwrap_or_default())),
    }
    Ok(())
}

/// Whether it was new, and whether this process had to record it itself.
async fn record(place: &Place, ask: Ask) -> Result<(bool, bool)> {
    let mut door = place.record().await?;
    let done = door.act(ask).await;
    let alone = door.engine().is_some();
    door.close().await?;
    Ok((done?, alone))
}
