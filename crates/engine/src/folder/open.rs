//! A folder whose engine is this process.

use super::address::{self, Bound};
use super::listen::Listening;
use super::{Folder, Lock, Options, Said};
use crate::engine::{Engine, Keeping, Parts, wall_clock};
use crate::entropy::Entropy;
use crate::handler::Handlers;
use crate::http::Http;
use crate::publish::Telling;
use crate::runner::orphans;
use crate::worker::{Commands, Worker, Working};
use edgewise_core::id::RunId;
use edgewise_core::{Error, Result};
use edgewise_store::sqlite;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// For how long an engine is there.
#[derive(Debug, Clone)]
pub struct Stay {
    background: bool,
    /// The first run that its own process waits for.
    run: Arc<OnceLock<RunId>>,
}

impl Stay {
    /// One that goes on without a watcher.
    pub fn in_background() -> Self {
        Self { background: true, run: Arc::default() }
    }

    /// Its own process waits for a run.
    pub(super) fn until_end_of(&self, run: RunId) {
        let _ = self.run.set(run);
    }

    pub(super) fn pong(&self) -> Said {
        Said::Pong { background: self.background, run: self.run.get().copied() }
    }
}

/// An engine at work in its folder. To be ended with [`Open::close`]; a process that just ends is recovered
/// from like one that was killed.
pub struct Open {
    /// The engine itself.
    pub engine: Engine,
    working: Option<Working>,
    listening: Option<(Listening, Bound)>,
    stay: Stay,
    folder: Folder,
    // Last: whoever gets the lock must find nothing of ours.
    lock: Lock,
}

impl Open {
    /// Recovers what an earlier engine left, then takes work and listens.
    pub(super) async fn open(folder: &Folder, options: &Options, lock: Lock) -> Result<Self> {
        // Before anything is decided about their attempts: these processes must not go on.
        orphans::end_all(&folder.logs())?;
        let engine = start(folder, options)?;
        let mut working = options.work.as_ref().filter(|work| work.slots > 0).map(|work| {
            let commands = Commands { dir: work.project.clone(), logs: folder.logs() };
            let http = Some(Http::new(work.http.clone(), wall_clock));
            let (handlers, secrets, slots) = (Handlers::default(), work.secrets.clone(), work.slots);
            let worker = Worker { handlers, commands: Some(commands), http, secrets, slots };
            worker.start(&engine)
        });
        if let Some(working) = &mut working {
            working.claimed().await;
        }
        let stay = Stay { background: options.background, run: Arc::default() };
        let mut open = Self { engine, working, listening: None, stay, folder: folder.clone(), lock };
        if options.work.is_some() {
            open.listen()?;
        }
        Ok(open)
    }

    fn listen(&mut self) -> Result<()> {
        let (listener, bound) = address::bind(self.folder.dir())?;
        self.listening = Some((Listening::start(listener, self.engine.clone(), self.stay.clone()), bound));
        Ok(())
    }

    /// Returns once nothing could move any more unless a person does something, and nobody is being answered.
    pub async fn idle(&mut self, look_every: Duration) -> Result<()> {
        loop {
            while !self.engine.is_idle().await? {
                tokio::time::sleep(look_every).await;
            }
            self.hang_up().await;
            // Something may have been asked in the last moment.
            if self.engine.is_idle().await? {
                return Ok(());
            }
            self.listen()?;
        }
    }

    /// For how long it is there.
    pub(super) fn stay(&self) -> &Stay {
        &self.stay
    }

    /// How many attempts are at work.
    pub fn at_work(&self) -> usize {
        self.working.as_ref().map_or(0, Working::at_work)
    }

    /// Takes no more work; what is at work may go on for so long, then it is ended as `worker_lost`. Requests are
    /// still answered. May be said again, with less patience.
    pub fn wind_down(&self, patience: Duration) {
        if let Some(working) = &self.working {
            working.wind_down(patience);
        }
    }

    /// Returns once nothing is at work, after [`Open::wind_down`].
    pub async fn wound_down(&mut self) {
        if let Some(working) = &mut self.working {
            working.ended().await;
        }
    }

    /// Ends: waits for what is at work as long as [`Open::wind_down`] allows (not at all if nothing was said),
    /// says goodbye to clients, writes all rows, and gives the folder free.
    pub async fn close(self) -> Result<()> {
        self.wind_down(Duration::ZERO);
        self.finish().await
    }

    /// The same, but for what is at work there is time until it has ended.
    pub async fn finish(mut self) -> Result<()> {
        self.wind_down(Duration::MAX);
        self.wound_down().await;
        self.hang_up().await;
        let engine = self.engine.clone();
        let stopped = tokio::task::spawn_blocking(move || engine.stop()).await;
        drop(self.lock);
        stopped.unwrap_or_else(|e| Err(Error::bug("engine_panicked", "the engine panicked").with_source(e))).map(|_| ())
    }

    async fn hang_up(&mut self) {
        if let Some((listening, bound)) = self.listening.take() {
            // No new clients first: they would find a socket that nobody reads.
            drop(bound);
            listening.stop().await;
        }
    }
}

fn start(folder: &Folder, options: &Options) -> Result<Engine> {
    let stores = sqlite::open(folder.dir())?;
    let reader = sqlite::open_reader(folder.dir())?;
    // An engine that is there only to record something does no chores.
    let retention = folder.retention.clone().filter(|_| options.work.is_some());
    let (logs, events, known_as) = (Some(folder.logs()), folder.events, folder.known_as.clone());
    let keeping = Keeping { retention, logs, events, known_as };
    let parts = Parts {
        ledger: Box::new(stores.ledger),
        reader: Box::new(reader.projections),
        writer: Box::new(stores.projections),
        home: options.home.clone(),
        clock: Arc::new(wall_clock),
        entropy: Entropy::from_system()?,
        queues: options.queues.clone(),
    };
    // Handles of their own: queues are written beside the committer, which must not wait for them.
    let queues = sqlite::open_ledger(folder.dir())?;
    Engine::start_telling(parts, keeping, Some(Telling { news: Box::new(reader.ledger), queues: Box::new(queues) }))
}
