//! `edgewise demo`: a flow in a folder of its own. With `--chaos` the process that is its engine is killed again and
//! again, and the end is compared with what the tasks themselves said while they ran.
//!
//! The engine is a child of this process: only what was started here is killed, by its pid. It is killed after so many
//! tasks have begun, not after so much time, so that every life of it gets something done however slow the machine is.

mod judge;
mod show;
mod stage;
mod tale;

use super::Context;
use crate::args::Demo;
use crate::exit::Exit;
use crate::looking::LOOK;
use crate::place::runtime;
use crate::problem::{Problem, Result};
use crate::signals::Signals;
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::reader::Reader;
use judge::{Verdict, Watcher};
use show::Show;
use stage::{Engine, Stage};
use std::time::Duration;
use tale::Tale;
use tokio::time::Instant;

/// How long the run may take when it is not disturbed any more.
const PEACE: Duration = Duration::from_secs(60);
/// An engine is killed after so many tasks have begun, at least and at most. With more of them than there are slots,
/// one has ended: every life brings the run forward.
const LIFE: (u64, u64) = (stage::SLOTS + 1, 3 * stage::SLOTS);
/// It is killed so often, also on a machine that needs longer for it than the time that was asked for.
const AT_LEAST: u32 = 2;

pub(super) fn perform(args: &Demo, context: &mut Context<'_>) -> Result<Exit> {
    let stage = Stage::set(args.seconds, context.config)?;
    let played = runtime()?.block_on(play(args, &stage, context));
    let good = matches!(&played, Ok(Some(verdict)) if verdict.good());
    // Whoever wants to know what went wrong needs what is left of it.
    if args.keep || (!good && !matches!(played, Ok(None))) {
        let dir = stage.data().display().to_string();
        context.printer.say(&format!("kept: edgewise --dir {dir} runs"));
    } else {
        stage.strike();
    }
    match played? {
        Some(verdict) => verdict.tell(context),
        None => Ok(Exit::Interrupted),
    }
}

/// From the first task to the verdict; `None` if somebody stopped it.
async fn play(args: &Demo, stage: &Stage, context: &mut Context<'_>) -> Result<Option<Verdict>> {
    let mut signals = Signals::listen()?;
    let run = stage.start().await?;
    let show = Show::new(context.printer);
    let began = Instant::now();
    let mut play = Play {
        reader: stage.place.reader()?,
        engine: stage.engine()?,
        life: LIFE.0,
        tale: Tale::default(),
        watcher: Watcher::default(),
        dice: u64::from(std::process::id()),
        stage,
        show,
    };
    let kill_until = began + Duration::from_secs(args.seconds);
    let give_up = kill_until + PEACE;
    loop {
        let done = play.look(run, context)?;
        if done {
            break;
        }
        if Instant::now() > give_up {
            return Err(too_slow(&args.seconds));
        }
        let may_kill = args.chaos && (Instant::now() < kill_until || play.watcher.killed < AT_LEAST);
        play.go_on(may_kill, context)?;
        tokio::select! {
            biased;
            () = signals.next() => return Ok(None),
            () = tokio::time::sleep(LOOK) => {}
        }
    }
    play.show.leave(context.printer)?;
    let taken = began.elapsed();
    let Play { mut reader, engine, mut tale, watcher, .. } = play;
    engine.stop();
    tale.read_on(stage.folder())?;
    let run = reader.run(run)?;
    drop(reader);
    let clean = stage.is_clean()?;
    Ok(Some(watcher.judge(&run, &tale, clean, taken)))
}

fn too_slow(seconds: &u64) -> Problem {
    let given = seconds + PEACE.as_secs();
    Problem::new(Kind::Unavailable, "demo_too_slow", format!("the run has not ended within {given} seconds"))
        .next("try again when the machine has less to do")
}

struct Play<'a> {
    stage: &'a Stage,
    reader: Reader,
    engine: Engine,
    /// How many tasks begin before this engine is killed.
    life: u64,
    tale: Tale,
    watcher: Watcher,
    dice: u64,
    show: Show,
}

impl Play<'_> {
    /// Sees where the run is; true if it is over.
    fn look(&mut self, id: RunId, context: &mut Context<'_>) -> Result<bool> {
        self.tale.read_on(self.stage.folder())?;
        let run: Run = match self.reader.run(id) {
            Ok(run) => run,
            // The store changes hands: the next look will see more.
            Err(error) if error.kind == Kind::Unavailable => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        self.watcher.look(&run);
        self.show.frame(&run, wall_clock(), (self.watcher.killed, self.engine.pid()), context.printer)?;
        Ok(run.state.is_done())
    }

    /// Kills the engine if it has lived long enough, and sees to it that there is one.
    fn go_on(&mut self, may_kill: bool, context: &mut Context<'_>) -> Result<()> {
        let begun = self.tale.begun();
        if may_kill && begun >= self.life {
            let pid = self.engine.kill();
            self.watcher.killed += 1;
            self.show.killed(pid, &self.watcher, context.printer);
        } else if !self.engine.is_gone()? {
            return Ok(());
        }
        self.engine = self.stage.engine()?;
        // The first lives are short: the run must not end before it was disturbed as often as was promised.
        let more = if self.watcher.killed < AT_LEAST { 0 } else { self.roll(LIFE.1 - LIFE.0 + 1) };
        self.life = begun + LIFE.0 + more;
        Ok(())
    }

    /// A number below `n`, another one each time.
    fn roll(&mut self, n: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % n
    }
}
