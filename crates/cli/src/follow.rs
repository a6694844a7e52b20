//! Following a run: drawn or told until it ends, and continued by this process if no other does.
//!
//! What is seen is read from the store, about ten times a second, whoever the engine is; when it ends is told
//! by the engine. So a view can never hold up the work.

mod ending;
mod view;

use crate::command::Context;
use crate::exit::Exit;
use crate::looking::{LOOK, SHARE};
use crate::picture::Beside;
use crate::place::Place;
use crate::problem::Result;
use crate::signals::Signals;
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::Door;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::reader::Reader;
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;
use view::View;

/// How long the rest may take before it is said that something is still waited for.
const SILENCE: Duration = Duration::from_millis(400);

/// How to follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    /// Draw it; else tell it line by line.
    pub draw: bool,
    /// Whoever follows can do nothing about a run that only people can move: stop following it.
    pub give_up: bool,
    /// For so long at most.
    pub timeout: Option<Millis>,
}

/// Why following ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Ended(RunState),
    Interrupted,
    Timeout,
    /// Nothing moves until somebody does something.
    Stuck,
}

/// Opens the door, finds or starts a run, follows it to its end, and leaves the folder as it should be left.
pub(crate) async fn follow(
    place: &Place,
    how: How,
    begin: impl AsyncFnOnce(&mut Door, &mut Context<'_>) -> Result<RunId>,
    context: &mut Context<'_>,
) -> Result<Exit> {
    // Before anything can run that would have to be stopped.
    let mut signals = Signals::listen()?;
    let mut door = tokio::select! {
        biased;
        () = signals.next() => return Ok(Exit::Interrupted),
        door = place.work() => door?,
    };
    let run = match begin(&mut door, context).await {
        Ok(run) => run,
        Err(problem) => {
            leave(door, Duration::ZERO, &mut signals, context).await?;
            return Err(problem);
        }
    };
    let view = View::new(how.draw, context.printer);
    let mut look = Look { reader: place.reader()?, run: None, view, beside: None };
    let end = look.until_end(run, &mut door, how, &mut signals).await;
    // The engine is to be the last to close the store: that tidies its files.
    let seen = look.run;
    drop(look.reader);
    // Whatever went wrong with looking, the engine must be left in order.
    let patience = if matches!(end, Ok(End::Ended(_))) { Duration::MAX } else { Duration::ZERO };
    let is_engine = door.engine().is_some();
    let left = leave(door, patience, &mut signals, context).await;
    let end = end?;
    left?;
    let mut reader = place.reader()?;
    let mut run = match seen {
        Some(run) => run,
        None => reader.run(run)?,
    };
    reader.catch_up(&mut run)?;
    ending::tell(end, &run, is_engine, how.draw, context)
}

/// Shows a run that is over. It needs no engine, and nothing else is set in motion by a look at it.
pub(crate) fn show(run: &Run, draw: bool, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::new(draw, context.printer);
    view.show(run, wall_clock(), &Beside::default())?;
    view.leave();
    ending::tell(End::Ended(run.state), run, false, draw, context)
}

struct Look {
    reader: Reader,
    run: Option<Run>,
    view: View,
    /// What is known of the run from elsewhere; gathered at the first look that can show it.
    beside: Option<Beside>,
}

impl Look {
    async fn until_end(&mut self, run: RunId, door: &mut Door, how: How, signals: &mut Signals) -> Result<End> {
        let deadline = how.timeout.and_then(|span| Instant::now().checked_add(Duration::from_millis(span.0)));
        let trouble = door.engine().map(|open| open.engine.trouble());
        let mut wait = pin!(door.wait(run));
        let mut next = Instant::now();
        let end = loop {
            tokio::select! {
                biased;
                ended = &mut wait => break End::Ended(ended?),
                () = signals.next() => break End::Interrupted,
                () = at(deadline) => break End::Timeout,
                () = tokio::time::sleep_until(next) => {
                    let began = Instant::now();
                    let now = trouble.as_ref().and_then(|trouble| trouble.borrow().clone());
                    self.view.warn(now);
                    if self.look(run)? && how.give_up {
                        break End::Stuck;
                    }
                    next = Instant::now() + LOOK.max(began.elapsed() * SHARE);
                }
            }
        };
        self.look(run)?;
        self.view.leave();
        Ok(end)
    }

    /// Shows what is new; true if nothing moves until somebody does something.
    fn look(&mut self, id: RunId) -> Result<bool> {
        let seen = match &mut self.run {
            Some(run) => self.reader.catch_up(run).map(drop),
            None => self.reader.run(id).map(|run| self.run = Some(run)),
        };
        match seen {
            // The store is busy, or changes hands: the next look will see more.
            Err(error) if error.kind == Kind::Unavailable => return Ok(false),
            other => other?,
        }
        let Some(run) = &self.run else { return Ok(false) };
        if self.view.is_drawn() {
            let beside = self.beside.get_or_insert_with(|| Beside::of_past(&mut self.reader, run));
            beside.look(&mut self.reader, run);
        }
        let nothing = Beside::default();
        self.view.show(run, wall_clock(), self.beside.as_ref().unwrap_or(&nothing))?;
        Ok(is_stuck(run))
    }
}

/// Whether a run is paused or held, and nothing of it is at work.
fn is_stuck(run: &Run) -> bool {
    let held = run.state == RunState::BlockedByFailures;
    let retrying = run.counts[TaskState::WaitingForRetry as usize] > 0;
    // A child goes on, also while nothing new of its parent begins.
    let idle = run.leased == 0 && run.waiting_for_children().all(|task| run.sub_run(task).is_none());
    !run.state.is_done() && idle && (held || (run.paused && !retrying))
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Ends the engine if it is this process: what is at work for others may finish first, unless one is told to stop
/// again.
async fn leave(mut door: Door, patience: Duration, signals: &mut Signals, context: &mut Context<'_>) -> Result<()> {
    if let Some(open) = door.engine() {
        open.wind_down(patience);
        let mut silence = patience > Duration::ZERO;
        loop {
            tokio::select! {
                biased;
                () = open.wound_down() => break,
                () = signals.next() => {
                    if patience == Duration::ZERO {
                        // Told twice: everything is killed with this process, and the next engine sorts it out.
                        return Ok(());
                    }
                    open.wind_down(Duration::ZERO);
                }
                () = tokio::time::sleep(SILENCE), if silence => {
                    silence = false;
                    let (tasks, them) = match open.at_work() {
                        1 => ("a task".to_owned(), "it"),
                        many => (format!("{many} tasks"), "them"),
                    };
                    context.printer.say(&format!("waiting for {tasks} still at work here; Ctrl-C stops {them}"));
                }
            }
        }
    }
    door.close().await?;
    Ok(())
}
