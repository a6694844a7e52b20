//! What `cancel`, `pause`, `resume` and the answers to gates have in common: something is recorded, and said.
//!
//! If no engine is there, this process is one for as long as it takes to commit. No command is started by that: where
//! something can go on then, it is left to an engine in the background, as `run --detach` does. So it is where the engine
//! is another process that stays only for a run of its own: the one in the background goes on when that one has left.
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

/// Who goes on when this process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// An engine that stays.
    Engine,
    /// An engine for as long as its own process follows a run.
    EngineOf(RunId),
    /// No engine was here.
    Nobody,
}

impl Next {
    pub async fn of(door: &mut Door) -> Self {
        // Whoever serves a store elsewhere cares for it.
        if door.is_elsewhere() {
            return Self::Engine;
        }
        if door.engine().is_some() {
            return Self::Nobody;
        }
        match door.stays().await {
            Ok((true, _)) => Self::Engine,
            Ok((false, Some(run))) => Self::EngineOf(run),
            // It does not follow anything yet, or does not answer any more: it is as good as gone.
            Ok((false, None)) | Err(_) => Self::Nobody,
        }
    }

    /// Whether somebody goes on with a run, as long as anybody wants it to: who follows a run follows all below it.
    pub fn cares_for(self, run: RunId, place: &Place) -> bool {
        let Self::EngineOf(followed) = self else { return self == Self::Engine };
        let parent = |run: &RunId| Some(place.reader().ok()?.run(*run).ok()?.parent?.run);
        std::iter::successors(Some(run), parent).any(|run| run == followed)
    }
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
    let (done, next) = runtime.block_on(record(&place, ask))?;
    let line = act.line(run, done);
    context.printer.one(run.to_string(), &[line], &json!({ "run": run, "task": act.task, "changed": done }))?;
    if done
        && next != Next::Engine
        && let Some(moved) = moved(&place, run, act.moves).filter(|moved| !next.cares_for(*moved, &place))
    {
        let follows = format!("`edgewise watch {}` follows it", moved.short());
        runtime.block_on(go_on(&place, next, &follows, context))?;
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

/// Nobody is here who stays: an engine in the background goes on. What was recorded stays so, also if none can be started.
pub(super) async fn go_on(place: &Place, next: Next, follows: &str, context: &mut Context<'_>) -> Result<()> {
    context.printer.flush()?;
    let who = match next {
        Next::EngineOf(run) => {
            format!("the engine here leaves with run {}: then one in the background goes on", run.short())
        }
        Next::Engine | Next::Nobody => "no engine was here: one in the background goes on".to_owned(),
    };
    match in_background(place, context).await {
        Ok(()) => context.printer.say(&format!("{who}; {follows}")),
        Err(problem) => context.printer.say(&format!("{}: {}", problem.what, problem.next.unwrap_or_default())),
    }
    Ok(())
}

/// Whether it was new, and who goes on.
async fn record(place: &Place, ask: Ask) -> Result<(bool, Next)> {
    let mut door = place.record().await?;
    let done = door.act(ask).await;
    let next = Next::of(&mut door).await;
    door.close().await?;
    Ok((done?, next))
}
