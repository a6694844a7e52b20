//! What every handler can reach.

use crate::audit::Audit;
use crate::auth::Tokens;
use crate::idempotency::Repeats;
use crate::known_flows::KnownFlows;
use crate::limits;
use crate::metrics::Metrics;
use crate::otlp::{self, Exported};
use crate::pace::Pace;
use crate::push::Push;
use crate::readers::Readers;
use crate::route::events::Pages;
use crate::tail::Tail;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::engine::{Clock, Engine};
use edgewise_engine::publish::Shelf;
use edgewise_engine::queues::Queues;
use edgewise_engine::secrets::Lending;
use edgewise_store::{Space, sqlite};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::{Semaphore, watch};

/// What a server is made of.
pub struct Parts {
    /// The engine that it is the door of.
    pub engine: Engine,
    /// Whose runs these are.
    pub home: Home,
    /// The folder that the engine keeps them in.
    pub dir: PathBuf,
    /// Where time comes from.
    pub clock: Clock,
    /// Whether somebody without a token is let in: only where nobody else than this machine can connect.
    pub trust_loopback: bool,
}

/// A server's state; cloning gives another handle to the same one.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    parts: Parts,
    readers: Readers,
    metrics: Metrics,
    repeats: Repeats,
    audit: Audit,
    exported: OnceLock<Arc<Exported>>,
    streams: Arc<Semaphore>,
    tokens: Mutex<Option<(Instant, Arc<Tokens>)>>,
    hooks: tokio::sync::Mutex<()>,
    starts: Pace<Name>,
    tail: Tail,
    pages: Pages,
    flows: KnownFlows,
    queues: OnceLock<Queues>,
    shelf: OnceLock<Shelf>,
    push: Push,
    lending: OnceLock<Lending>,
    prefix: OnceLock<String>,
}

impl App {
    /// A server that nobody is connected to yet.
    pub fn new(parts: Parts) -> Self {
        let readers = Readers::new(parts.dir.clone(), parts.home.clone());
        let audit = Audit::new(&parts.dir);
        let tail = Tail::new(readers.clone());
        Self(Arc::new(Inner {
            parts,
            readers,
            metrics: Metrics::default(),
            repeats: Repeats::default(),
            audit,
            exported: OnceLock::new(),
            streams: Arc::new(Semaphore::new(limits::STREAMS)),
            tokens: Mutex::default(),
            hooks: tokio::sync::Mutex::default(),
            starts: Pace::new(Some(limits::START_RATE)),
            tail,
            pages: Pages::default(),
            flows: KnownFlows::default(),
            queues: OnceLock::new(),
            shelf: OnceLock::new(),
            push: Push::default(),
            lending: OnceLock::new(),
            prefix: OnceLock::new(),
        }))
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.0.parts.engine
    }

    /// Whose runs these are.
    pub fn home(&self) -> &Home {
        &self.0.parts.home
    }

    /// What time it is.
    pub fn now(&self) -> Time {
        (self.0.parts.clock)()
    }

    pub(crate) fn clock(&self) -> Clock {
        Arc::clone(&self.0.parts.clock)
    }

    /// Whether somebody without a token is let in.
    pub(crate) fn trusts_loopback(&self) -> bool {
        self.0.parts.trust_loopback
    }

    /// Says what queues were set to when the engine started: what was set since goes over it.
    pub fn set_queues(&self, queues: Queues) {
        // Only the first word counts: an engine starts once.
        let _ = self.0.queues.set(queues);
    }

    pub(crate) fn queues(&self) -> Queues {
        self.0.queues.get().cloned().unwrap_or_default()
    }

    /// The flows whose plans need not be read.
    pub(crate) fn flows(&self) -> &KnownFlows {
        &self.0.flows
    }

    /// What readers of the workspace's events share.
    pub(crate) fn pages(&self) -> &Pages {
        &self.0.pages
    }

    /// Hears of every move of the ledger's end.
    pub(crate) fn tail(&self) -> watch::Receiver<u64> {
        self.0.tail.listen()
    }

    /// The folder that the engine keeps everything in.
    pub(crate) fn dir(&self) -> &Path {
        &self.0.parts.dir
    }

    /// Whoever makes the secret of gates' addresses holds this: two would make two.
    pub(crate) fn hooks(&self) -> &tokio::sync::Mutex<()> {
        &self.0.hooks
    }

    /// Says what stands before every address of this workspace, where a server has many.
    pub(crate) fn set_prefix(&self, prefix: String) {
        // It is where it is.
        let _ = self.0.prefix.set(prefix);
    }

    /// What stands before every address; nothing where the server has one workspace.
    pub(crate) fn prefix(&self) -> &str {
        self.0.prefix.get().map_or("", String::as_str)
    }

    /// How often addresses of flows are called.
    pub(crate) fn starts(&self) -> &Pace<Name> {
        &self.0.starts
    }

    pub(crate) fn readers(&self) -> &Readers {
        &self.0.readers
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn repeats(&self) -> &Repeats {
        &self.0.repeats
    }

    /// Exports spans of what is committed from now on to a collector of OTLP.
    pub async fn export(&self, collector: &str) -> Result<()> {
        let Home { tenant, workspace, .. } = self.home();
        self.export_as(collector, (tenant.to_string(), workspace.to_string())).await
    }

    /// The same for a workspace that is called otherwise outside: its tenant and its name.
    pub(crate) async fn export_as(&self, collector: &str, known_as: (String, String)) -> Result<()> {
        let exported = otlp::start(self, collector, known_as).await?;
        // Only the first collector is counted.
        let _ = self.0.exported.set(exported);
        Ok(())
    }

    /// Spans that a collector took, and those that it did not.
    pub(crate) fn exported(&self) -> (u64, u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        self.0.exported.get().map_or((0, 0), |exported| (count(&exported.sent), count(&exported.dropped)))
    }

    pub(crate) fn audit(&self) -> &Audit {
        &self.0.audit
    }

    /// Lets these secrets be given to workers elsewhere; none are unless this is said, once.
    pub fn lend(&self, lending: Lending) {
        // What was said first holds.
        let _ = self.0.lending.set(lending);
    }

    /// Which secrets may be given to workers elsewhere.
    pub(crate) fn lending(&self) -> Lending {
        self.0.lending.get().cloned().unwrap_or_default()
    }

    /// What is known of push workers.
    pub(crate) fn push(&self) -> &Push {
        &self.0.push
    }

    pub(crate) fn streams(&self) -> &Arc<Semaphore> {
        &self.0.streams
    }

    /// How many read streams of events now.
    pub fn readers_of_streams(&self) -> usize {
        crate::limits::STREAMS - self.streams().available_permits()
    }

    /// The queues of domain events, opened when somebody first asks for them.
    pub async fn shelf(&self) -> Result<Shelf> {
        if let Some(shelf) = self.0.shelf.get() {
            return Ok(shelf.clone());
        }
        let (dir, home) = (self.0.parts.dir.clone(), self.home().clone());
        let opened = tokio::task::spawn_blocking(move || {
            let space = Space { tenant: home.tenant, workspace: home.workspace };
            Ok(Shelf::new(Box::new(sqlite::open_ledger(&dir)?), space))
        });
        let opened: Result<Shelf> = opened
            .await
            .unwrap_or_else(|e| Err(Error::bug("queue_panicked", "the queues cannot be opened").with_source(e)));
        let opened = opened?;
        Ok(self.0.shelf.get_or_init(|| opened).clone())
    }

    /// The tokens as they were a moment ago: one that is revoked is refused soon, and a flood of requests does not
    /// become a flood of reads.
    pub async fn tokens(&self) -> Result<Arc<Tokens>> {
        let known = self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, tokens)) = known
            && at.elapsed() < limits::TOKENS_FRESH
        {
            return Ok(tokens);
        }
        let tokens = Arc::new(self.readers().look(|reader| Ok(Tokens::of(&reader.control()?.settings))).await?);
        *self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), Arc::clone(&tokens)));
        Ok(tokens)
    }
}
