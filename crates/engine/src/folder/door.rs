//! The door: the one way to ask something of a folder, whoever is its engine.

use super::client::{GONE, UNHEARD};
use super::{Ask, Client, Folder, Open, Options, Said, Stay};
use crate::command::{Rerun, Start};
use crate::engine::Engine;
use crate::retention::{Kept, Removing};
use crate::work::{Import, Look, Ops};
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::work::Done;
use edgewise_core::{Error, Result};
use serde_json::Value;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Instant;

/// How long a folder may be held by a process that does not listen (yet, or any more).
const PATIENCE: Duration = Duration::from_secs(30);
/// How often to look.
const LOOK: Duration = Duration::from_millis(20);

/// A way to a folder's engine. Commands do not care on which side of it they are.
pub struct Door {
    /// Where to look for another engine when this one goes away; nowhere if it is not in a folder of this machine.
    place: Option<(Folder, Options)>,
    side: Side,
}

/// An engine that is reached in another way than by its folder.
pub trait Elsewhere: Send {
    /// Asks for one thing.
    fn ask<'a>(&'a mut self, ask: &'a Ask) -> Answering<'a>;
}

/// An answer that is waited for.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Said>> + Send + 'a>>;

enum Side {
    /// The engine is this process.
    Inside(Box<Open>),
    /// It is another one.
    Outside(Client),
    /// It is on another machine, maybe.
    Elsewhere(Box<dyn Elsewhere>),
}

impl Door {
    /// Finds the folder's engine, or becomes it.
    pub async fn open(folder: Folder, options: Options) -> Result<Self> {
        let side = find(&folder, &options).await?;
        Ok(Self { place: Some((folder, options)), side })
    }

    /// A way to an engine that is reached otherwise.
    pub fn elsewhere(engine: Box<dyn Elsewhere>) -> Self {
        Self { place: None, side: Side::Elsewhere(engine) }
    }

    /// The engine, if it is this process.
    pub fn engine(&mut self) -> Option<&mut Open> {
        match &mut self.side {
            Side::Inside(open) => Some(open),
            Side::Outside(_) | Side::Elsewhere(_) => None,
        }
    }

    /// Whether the engine is not in a folder of this machine: whoever serves it cares for it.
    pub fn is_elsewhere(&self) -> bool {
        self.place.is_none()
    }

    /// Asks for one thing. If the engine goes away, it is asked for elsewhere: of the next engine, or of this process.
    pub async fn ask(&mut self, ask: Ask) -> Result<Said> {
        loop {
            let error = match &mut self.side {
                Side::Inside(open) => {
                    if let Ask::Wait(run) = &ask {
                        open.stay().until_end_of(*run);
                    }
                    return answer(&open.engine, ask, open.stay()).await;
                }
                Side::Elsewhere(engine) => return engine.ask(&ask).await,
                Side::Outside(client) => match client.ask(&ask).await {
                    Err(error) => error,
                    said => return said,
                },
            };
            match error.code {
                UNHEARD => {}
                GONE if ask.is_repeatable() => {}
                _ => return Err(error),
            }
            let Some((folder, options)) = &self.place else { return Err(error) };
            self.side = find(folder, options).await?;
        }
    }

    /// Starts a run; true if it is new.
    pub async fn start(&mut self, start: Start) -> Result<(RunId, bool)> {
        match self.ask(Ask::Start(start)).await? {
            Said::Started { run, new } => Ok((run, new)),
            other => Err(unexpected(&other)),
        }
    }

    /// Waits until a run has ended. Whoever waits goes on with the run if nobody else does.
    pub async fn wait(&mut self, run: RunId) -> Result<RunState> {
        match self.ask(Ask::Wait(run)).await? {
            Said::Ended(state) => Ok(state),
            other => Err(unexpected(&other)),
        }
    }

    /// Does something to a run or a gate; false if it was so already.
    pub async fn act(&mut self, ask: Ask) -> Result<bool> {
        match self.ask(ask).await? {
            Said::Done | Said::Reopened(_) => Ok(true),
            Said::Already => Ok(false),
            other => Err(unexpected(&other)),
        }
    }

    /// Takes runs away; gives those that were kept, and whether there is something left on the disk to give back.
    pub async fn remove(&mut self, removing: Removing) -> Result<(Vec<Kept>, bool)> {
        match self.ask(Ask::Remove(removing)).await? {
            Said::Removed { kept, more } => Ok((kept, more)),
            other => Err(unexpected(&other)),
        }
    }

    /// Has finished work of a run done again; gives how many tasks were opened.
    pub async fn rerun(&mut self, rerun: Rerun) -> Result<u32> {
        match self.ask(Ask::Rerun(rerun)).await? {
            Said::Reopened(tasks) => Ok(tasks),
            other => Err(unexpected(&other)),
        }
    }

    /// Operations on the work graph: all of them, or none.
    pub async fn work(&mut self, ops: Ops) -> Result<Vec<Done>> {
        match self.ask(Ask::Work(ops)).await? {
            Said::Worked(done) => Ok(done),
            other => Err(unexpected(&other)),
        }
    }

    /// Brings a work graph in as it was elsewhere: all of it, or nothing.
    pub async fn import(&mut self, import: Import) -> Result<()> {
        match self.ask(Ask::Import(import)).await? {
            Said::Worked(_) => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Looks at the work graph.
    pub async fn look(&mut self, look: Look) -> Result<Value> {
        match self.ask(Ask::Look(Box::new(look))).await? {
            Said::Seen(value) => Ok(value),
            other => Err(unexpected(&other)),
        }
    }

    /// Whether the engine goes on without a watcher, and the run that its own process waits for if it does not.
    pub async fn stays(&mut self) -> Result<(bool, Option<RunId>)> {
        match self.ask(Ask::Ping).await? {
            Said::Pong { background, run } => Ok((background, run)),
            other => Err(unexpected(&other)),
        }
    }

    /// Leaves. An engine of this process ends as [`Open::finish`] says.
    pub async fn close(self) -> Result<()> {
        match self.side {
            Side::Inside(open) => open.finish().await,
            Side::Outside(_) | Side::Elsewhere(_) => Ok(()),
        }
    }
}

async fn find(folder: &Folder, options: &Options) -> Result<Side> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(open) = folder.open_engine(options).await? {
            return Ok(Side::Inside(Box::new(open)));
        }
        if let Some(client) = folder.connect().await? {
            return Ok(Side::Outside(client));
        }
        if Instant::now() >= deadline {
            let who = folder.holder().map_or("another process".to_owned(), |pid| format!("process {pid}"));
            let message = format!("{who} holds {} and does not answer: end it, then try again", folder.dir().display());
            return Err(Error::unavailable("folder_busy", message));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What an engine answers to whoever asks at its door.
pub async fn answer(engine: &Engine, ask: Ask, stay: &Stay) -> Result<Said> {
    if let Ask::Look(look) = ask {
        return engine.look(*look).await.map(Said::Seen);
    }
    match ask.into_command() {
        Some(command) => engine.ask(command).await.and_then(Said::from_answer),
        None => Ok(stay.pong()),
    }
}

fn unexpected(said: &Said) -> Error {
    Error::bug("unexpected_answer", format!("the engine answered something else: {said:?}"))
}
