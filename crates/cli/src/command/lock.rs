//! The folder's lock: whoever holds it is the engine. It goes with its process, however that ends.

use super::Context;
use crate::config::Config;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::run::Run;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// The file that is locked.
const FILE: &str = "engine.lock";

/// Becomes the only one who may write, until the file is dropped.
pub(super) fn take(dir: &Path) -> Result<File> {
    let path = dir.join(FILE);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| Problem::file("opened", &path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let what = format!("an engine is at work in {}", dir.display());
            Err(Problem::new(Kind::Conflict, "engine_at_work", what)
                .why("the rows can only be made anew while nobody writes them")
                .next("stop it (end `edgewise run` or `edgewise watch`), then try again"))
        }
        Err(TryLockError::Error(error)) => Err(Problem::file("locked", &path, &error)),
    }
}

/// Whether an engine is at work where the settings say: a server always has one.
pub(super) fn is_at_work(config: &Config) -> bool {
    config.addr.value.is_some() || is_held(&config.dir.value)
}

/// Whether somebody holds it. Asked with a shared lock, which is given back at once.
pub(super) fn is_held(dir: &Path) -> bool {
    let Ok(file) = File::open(dir.join(FILE)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Says that a run will not move, if nobody is there to move it. A run that is paused or frozen waits for something else.
pub(super) fn say_if_nobody_works(run: &Run, moves: bool, context: &mut Context<'_>) {
    if !moves && !run.state.is_done() && !run.paused && context.printer.for_people() {
        let id = run.id.short();
        context.printer.say(&format!("no engine is at work here: `edgewise watch {id}` goes on with it"));
    }
}
