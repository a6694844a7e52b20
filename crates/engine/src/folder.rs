//! A data folder: the place of one engine, shared by any number of processes.
//!
//! ```text
//! engine.lock   whoever holds it is the engine; the system gives it back when a process ends, however it ends
//! engine.sock   where the engine listens; others talk to it there
//! ledger.db …   the store
//! logs/         what commands wrote, and who runs right now
//! ```
//!
//! A process that wants something opens a [`Door`]: it becomes the engine if there is none, else it is a
//! client of the one there is. When that one goes away while something is waited for, the client becomes
//! the engine itself: a run is continued by whoever still watches it.

mod address;
mod client;
mod door;
mod listen;
mod lock;
mod open;
pub mod wire;

pub use client::Client;
pub use door::{Answering, Door, Elsewhere, answer};
pub use lock::Lock;
pub use open::{Open, Stay};
pub use wire::{Ask, Said};

use crate::desk::Home;
use crate::http::Rules;
use crate::queues::Queues;
use crate::retention::Retention;
use crate::secrets::Secrets;
use edgewise_core::time::Millis;
use edgewise_core::{Error, Result};
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const ENGINE_LOCK: &str = "engine.lock";
const BACKGROUND_LOCK: &str = "background.lock";

/// Where everything of one project is kept.
#[derive(Debug, Clone)]
pub struct Folder {
    dir: PathBuf,
    retention: Option<Retention>,
    events: Option<Millis>,
    known_as: Option<(String, String)>,
}

/// What an engine in a folder is to be.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whose runs these are.
    pub home: Home,
    /// What it works on; `None` for an engine that is only there to record something: it starts no commands
    /// and does not listen.
    pub work: Option<Work>,
    /// It has no watcher of its own and ends when it is idle.
    pub background: bool,
    /// What queues are set to.
    pub queues: Queues,
}

/// How an engine works.
#[derive(Debug, Clone)]
pub struct Work {
    /// Where commands run.
    pub project: PathBuf,
    /// How many at once; none for an engine whose tasks are done by others.
    pub slots: u32,
    /// Where requests may go.
    pub http: Rules,
    /// Where the secrets of tasks are found.
    pub secrets: Secrets,
}

impl Folder {
    /// The folder at a path; it need not exist yet.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), retention: None, events: None, known_as: None }
    }

    /// The same folder, whose engine takes runs away by itself.
    #[must_use]
    pub fn keeping(self, retention: Option<Retention>) -> Self {
        Self { retention, ..self }
    }

    /// The same folder, whose engine keeps domain events for so long that everybody has acknowledged.
    #[must_use]
    pub fn keeping_events(self, events: Option<Millis>) -> Self {
        Self { events, ..self }
    }

    /// The same folder, whose domain events say that they come from this tenant and workspace.
    #[must_use]
    pub fn known_as(self, tenant: &str, workspace: &str) -> Self {
        Self { known_as: Some((tenant.to_owned(), workspace.to_owned())), ..self }
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where logs of commands are.
    pub fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    /// Becomes the folder's engine; `None` if another process is.
    pub async fn open_engine(&self, options: &Options) -> Result<Option<Open>> {
        self.make()?;
        match Lock::take(&self.dir.join(ENGINE_LOCK))? {
            Some(lock) => Open::open(self, options, lock).await.map(Some),
            None => Ok(None),
        }
    }

    /// Talks to the folder's engine; `None` if nobody listens.
    pub async fn connect(&self) -> Result<Option<Client>> {
        Ok(address::connect(&self.dir).await?.map(Client::over))
    }

    /// The right to be the one background process of the folder; `None` if there is one.
    pub fn background_lock(&self) -> Result<Option<Lock>> {
        self.make()?;
        Lock::take(&self.dir.join(BACKGROUND_LOCK))
    }

    /// The right to be the only one who writes, without being an engine; `None` if somebody else is.
    pub(crate) fn lock(&self) -> Result<Option<Lock>> {
        Lock::take(&self.dir.join(ENGINE_LOCK))
    }

    /// The process that is the engine, as it wrote itself down; only for messages.
    fn holder(&self) -> Option<u32> {
        std::fs::read_to_string(self.dir.join(ENGINE_LOCK)).ok()?.trim().parse().ok()
    }

    /// Makes the folder, for its owner only: inputs, outputs and logs are kept there as they are. One that
    /// exists is left as it is, since it may be anything that was named with `--dir`.
    pub(crate) fn make(&self) -> Result<()> {
        if self.dir.is_dir() {
            return Ok(());
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
        made.map_err(|error| unusable("the folder", &self.dir, error))?;
        let ignore = std::fs::OpenOptions::new().write(true).create_new(true).open(self.dir.join(".gitignore"));
        // Only a courtesy to whoever uses git.
        let _ = ignore.and_then(|mut file| file.write_all(b"*\n"));
        Ok(())
    }
}

/// An error of the operating system about the folder or a file in it.
fn unusable(what: &str, path: &Path, error: std::io::Error) -> Error {
    use std::io::ErrorKind;
    let (code, next) = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            ("read_only", "check its permissions, or choose another folder with --dir")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ("disk_full", "make room, then try again"),
        _ => ("cannot_open", "check that it is a folder that can be written, or choose another one with --dir"),
    };
    Error::unavailable(code, format!("{what} {} cannot be used: {next}", path.display())).with_source(error)
}

/// A file for its owner only.
fn private(create: &mut std::fs::OpenOptions) -> &mut std::fs::OpenOptions {
    create.write(true).create(true).truncate(false).mode(0o600)
}
