//! What `cancel`, `pause`, `resume` and the answers to gates have in common: something is recorded, and said.
//!
//! If no engine is there, this process is one for as long as it takes to commit. No command is started by that: where
//! something can go on then, it is left to an engine in the background, as `run --detach` does. Another process that is
//! the engine goes on with it, for as long as it stays.
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
use edgewise_engine::folder::{Ask, Door};
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
    /// What can go on because of it.
    pub moves: Moves,
}

/// What can go on because of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    /// Nothing.
    Nothing,
    /// The run that it is about, or whoever waits for it if it is over by that.
    Run,
    /// Only whoever waits for the run: it is over.
    Parent,
}

/// Whether an engine that stays goes on when this process has ended, and not only one that is there for its own run.
pub(super) async fn is_cared_for(door: &mut Door) -> bool {
    // Whoever serves a store elsewhere cares for it. An engine that does not answer any more is as good as one that ends.
    door.is_elsewhere() || (door.engine().is_none() && door.is_background().await.unwrap_or(false))
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
    if done
        && alone
        && let Some(moved) = moved(&place, run, act.moves)
    {
        let follows = format!("`edgewise watch {}` follows it", moved.short());
        runtime.block_on(go_on(&place, &follows, context))?;
    }
    Ok(Exit::Ok)
}

/// The run that can go on because of an act: the one that it is about, or the first above it that is not over. What was
/// recorded stays so, also if it cannot be read now: then somebody may wait for it.
fn moved(place: &Place, run: RunId, moves: Moves) -> Option<RunId> {
    let (mut at, mut counts) = match moves {
        Moves::Nothing => return None,
        Moves::Run => (run, true),
        Moves::Parent => (run, false),
    };
    loop {
        let Ok(seen) = place.reader().and_then(|mut reader| Ok(reader.run(at)?)) else { return Some(run) };
        if !seen.state.is_done() {
            return (counts && !seen.paused).then_some(at);
        }
        (at, counts) = (seen.parent?.run, true);
    }
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
