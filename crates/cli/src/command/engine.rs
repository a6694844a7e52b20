//! `edgewise engine`: the folder's engine as a process of its own. People type it to have schedules served; `run
//! --detach` starts it with `--until-idle`.
//!
//! There is at most one of it in a folder. While another process is the engine, in the background or for its own run, it
//! stands by; when that one leaves, it goes on with whatever is left. With `--until-idle` it ends when nothing could move any more unless a person does
//! something: a schedule that ticks keeps it.

use super::Context;
use crate::args::Engine;
use crate::exit::Exit;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::signals::Signals;
use edgewise_core::Kind;
use edgewise_engine::folder::{Ask, Lock, Open, Options};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::time::Instant;

const LOG: &str = "engine.log";
/// A log larger than this is begun anew.
const LOG_BYTES: u64 = 1 << 20;
/// How often to look whether there is nothing left to do, or whether the engine of another process has left.
const LOOK: Duration = Duration::from_millis(100);
/// How long a process in the background may take to begin.
const BEGIN: Duration = Duration::from_secs(10);

pub(super) fn perform(args: &Engine, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    if args.until_idle {
        // A session of its own: what happens to the terminal it was started from does not concern it. It fails if
        // there is one already, which is as good.
        let _ = rustix::process::setsid();
    }
    runtime()?.block_on(serve(&place, args.until_idle, context))
}

async fn serve(place: &Place, until_idle: bool, context: &mut Context<'_>) -> Result<Exit> {
    let mut signals = Signals::listen()?;
    let only = tokio::select! {
        only = only_one(place, until_idle, context) => only?,
        () = signals.next() => return Ok(Exit::Ok),
    };
    // One that ends by itself is as good as this one.
    let Some(only) = only else { return Ok(Exit::Ok) };
    if !until_idle {
        context.printer.say(&format!("the engine of {}; Ctrl-C stops it", place.folder.dir().display()));
    }
    let options = place.worker(true);
    let mut open = tokio::select! {
        open = become_engine(place, &options) => open?,
        () = signals.next() => return Ok(Exit::Ok),
    };
    let stopped = tokio::select! {
        idle = idle(&mut open, until_idle) => {
            idle?;
            false
        },
        () = signals.next() => true,
    };
    // Whoever gets the folder next must be able to start another one of us, so this comes first.
    drop(only);
    if stopped {
        open.close().await?;
    } else {
        open.finish().await?;
    }
    Ok(Exit::Ok)
}

/// The right to be the engine in the background: waited for by whoever is to stay, `None` for others if it is taken.
async fn only_one(place: &Place, until_idle: bool, context: &mut Context<'_>) -> Result<Option<Lock>> {
    let mut said = false;
    loop {
        match place.folder.background_lock()? {
            None if !until_idle => {}
            taken => return Ok(taken),
        }
        if !said {
            context
                .printer
                .say("another process is the engine here in the background: this one takes over when it ends");
            said = true;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until no other process is the engine of the folder, and is it.
pub(super) async fn become_engine(place: &Place, options: &Options) -> Result<Open> {
    loop {
        if let Some(open) = place.folder.open_engine(options).await? {
            return Ok(open);
        }
        if let Some(mut other) = place.folder.connect().await? {
            // Answered at once; then the connection tells when the other one leaves.
            let _ = other.ask(&Ask::Ping).await;
            other.ended().await;
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn idle(open: &mut Open, until_idle: bool) -> Result<()> {
    if until_idle {
        return Ok(open.idle(LOOK).await?);
    }
    std::future::pending().await
}

/// Starts the engine in the background, and returns once it is there, or something else is the engine.
pub(super) async fn in_background(place: &Place, context: &Context<'_>) -> Result<()> {
    let path = place.folder.dir().join(LOG);
    let log = log(&path).map_err(|error| Problem::file("opened", &path, &error))?;
    let mut child = spawn(place, log, context).map_err(|error| not_started(&path).why(error.to_string()))?;
    let deadline = Instant::now() + BEGIN;
    while Instant::now() < deadline {
        match child.try_wait() {
            // It has done everything already, or found that there is one.
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(not_started(&path).why(format!("it ended with {status}"))),
            _ => {}
        }
        if place.folder.connect().await?.is_some() {
            // Whoever lives long, as one that serves agents does, must not keep what is left of it.
            std::thread::spawn(move || child.wait());
            return Ok(());
        }
        tokio::time::sleep(LOOK / 5).await;
    }
    Err(not_started(&path).why(format!("it did not listen within {} seconds", BEGIN.as_secs())))
}

fn log(path: &Path) -> std::io::Result<File> {
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    if log.metadata()?.len() > LOG_BYTES {
        log.set_len(0)?;
    }
    Ok(log)
}

fn spawn(place: &Place, log: File, context: &Context<'_>) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--dir").arg(place.folder.dir()).args(["engine", "--until-idle"]);
    command.env("EDGEWISE_WORKERS", context.config.workers.value.to_string());
    command.current_dir(&place.project).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
}

fn not_started(log: &Path) -> Problem {
    Problem::new(Kind::Unavailable, "no_background", "the run is kept, but nothing goes on with it in the background")
        .next(format!("see {}, or go on with `edgewise watch`", log.display()))
}
