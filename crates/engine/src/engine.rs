//! The shell around the committer: one thread that commits, one that writes rows, channels in between.
//!
//! ```text
//! ask ──► committer thread ──► answers        worker ◄──► ask
//!              │    ▲
//!        flush ▼    │ flushed
//!         compactor thread
//! ```
//!
//! Commands arrive on a bounded channel; the committer takes what is there, without artificial delay.

mod shell;

use crate::command::{Answer, Command, RunAct, Start};
use crate::committer::{Committer, Request};
use crate::desk::Home;
use crate::entropy::Entropy;
use crate::metrics::{Counts, Pulse};
use crate::publish::{self, Listeners, Publishing, Telling};
use crate::queues::Queues;
use crate::retention::Retention;
use crate::work::{Look, Ops};
use edgewise_core::event::AttemptRef;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{Done, Op, Work};
use edgewise_core::{Error, Result};
use edgewise_store::{Ledger, Projections};
use serde_json::Value;
use shell::Shell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

/// Most bundles waiting for the committer before whoever asks must wait.
const WAITING: usize = 10_000;

/// Where the engine's time comes from.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// The machine's own clock.
pub fn wall_clock() -> Time {
    shown_by(SystemTime::now())
}

/// Never 0, which means that something has not happened: a clock that stands before 1970 would say it.
fn shown_by(clock: SystemTime) -> Time {
    let since = clock.duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX).max(1))
}

/// What an engine is made of.
pub struct Parts {
    /// Ground.
    pub ledger: Box<dyn Ledger>,
    /// The rows, for loading runs.
    pub reader: Box<dyn Projections>,
    /// The rows, for writing them.
    pub writer: Box<dyn Projections>,
    /// Whose streams these are.
    pub home: Home,
    /// Where time comes from.
    pub clock: Clock,
    /// Where chance comes from.
    pub entropy: Entropy,
    /// What queues are set to.
    pub queues: Queues,
}

/// What an engine does about runs that are long over.
#[derive(Debug, Clone, Default)]
pub struct Keeping {
    /// Which it takes away by itself; none if absent.
    pub retention: Option<Retention>,
    /// Where the logs of runs are that are taken away.
    pub logs: Option<PathBuf>,
    /// How long domain events are kept that everybody has acknowledged; [`publish::KEPT`] if absent.
    pub events: Option<Millis>,
    /// What the workspace is called outside, as tenant and workspace: where domain events say they come from. What it
    /// is called in the store if absent.
    pub known_as: Option<(String, String)>,
}

/// Where an answer goes.
pub(crate) enum Reply {
    Once(oneshot::Sender<Result<Answer>>),
    /// The same, but a claim does not wait: where the next commit grants it nothing, it is over and never answered.
    Now(oneshot::Sender<Result<Answer>>),
    /// Answers to many requests of one worker, all on one channel.
    Many(mpsc::UnboundedSender<Result<Answer>>),
}

/// Whoever looks at the work graph itself.
type Looking = Box<dyn FnOnce(Result<&Work>, Time) + Send>;

/// A lease that is over although its worker did not say so: the attempt was cancelled or overtaken.
pub type Revoked = (RunId, AttemptRef);

enum Message {
    Ask(Vec<Request<Reply>>, Option<OwnedSemaphorePermit>),
    Flushed(Result<()>),
    Listen(mpsc::UnboundedSender<Revoked>),
    Counts(oneshot::Sender<Counts>),
    Pulse(oneshot::Sender<Pulse>),
    Idle(oneshot::Sender<bool>),
    /// How many leases a worker has.
    Held(Arc<str>, oneshot::Sender<usize>),
    /// Look at the work graph.
    Look(Box<Look>, oneshot::Sender<Result<Value>>),
    WithWork(Looking),
    /// A worker takes no more work: the claims whose grants go here are taken back.
    Leave(mpsc::UnboundedSender<Result<Answer>>, oneshot::Sender<()>),
    /// Write all rows, then end.
    Stop,
}

/// A running engine. Cloning gives another handle to the same one.
#[derive(Clone)]
pub struct Engine {
    inbox: Sender<Message>,
    room: Arc<Semaphore>,
    source: Arc<str>,
    trouble: watch::Receiver<Option<String>>,
    threads: Arc<Mutex<Option<Threads>>>,
    listeners: Listeners,
    /// The state of control, and one more; 0 while it is not known.
    control: Arc<AtomicU64>,
}

struct Threads {
    committer: JoinHandle<Result<Counts>>,
    compactor: JoinHandle<()>,
    publishing: Option<Publishing>,
}

impl Engine {
    /// Recovers what an earlier engine left and starts the two threads.
    pub fn start(parts: Parts) -> Result<Self> {
        Self::start_keeping(parts, Keeping::default())
    }

    /// The same, and it takes runs away by itself that need not be kept any longer.
    pub fn start_keeping(parts: Parts, keeping: Keeping) -> Result<Self> {
        Self::start_telling(parts, keeping, None)
    }

    /// The same, and it publishes domain events if it is given handles on the ledger for it.
    pub fn start_telling(parts: Parts, keeping: Keeping, telling: Option<Telling>) -> Result<Self> {
        let Parts { ledger, reader, writer, home, clock, mut entropy, queues } = parts;
        // Short: it stands in every record.
        let source: Arc<str> = format!("e{:06x}", entropy.bits() & 0xff_ffff).into();
        let told_of = home.clone();
        let mut committer = Committer::new(ledger, reader, home, Arc::clone(&source), entropy);
        committer.set_queues(&queues);
        let known_as = keeping.known_as;
        let publishing = telling.map(|telling| Listeners::publishing(telling, &told_of, known_as)).transpose()?;
        committer.recover(clock())?;
        let control = Arc::<AtomicU64>::default();
        let said = Arc::clone(&control);
        let (listeners, publishing) = match publishing {
            Some((listeners, both)) => {
                let (publishing, tap) = publish::start(both, Arc::clone(&clock), keeping.events)?;
                committer.tell(tap);
                (listeners, Some(publishing))
            }
            None => (Listeners::default(), None),
        };
        if let Some(rules) = keeping.retention {
            committer.keep_to(rules, clock());
        }
        let (inbox, messages) = channel();
        let (flushes, work) = sync_channel(1);
        let back = inbox.clone();
        let (tell, trouble) = watch::channel(None);
        let compactor =
            spawn("edgewise-compactor", move || shell::compact(writer, keeping.logs.as_deref(), &work, &back))?;
        let shell = move || Shell::new(committer, clock, flushes, tell, control).run(&messages);
        let committer = spawn("edgewise-committer", shell)?;
        let threads = Arc::new(Mutex::new(Some(Threads { committer, compactor, publishing })));
        Ok(Self { inbox, room: Arc::new(Semaphore::new(WAITING)), source, trouble, threads, listeners, control: said })
    }

    /// Which engine this is.
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// Whoever listens to domain events, and who begins to.
    pub fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// The state that flows, schedules and settings are in: as long as it is the same, so are they. A change has another
    /// one before whoever made it is answered; `None` while it is not known.
    pub fn control_seq(&self) -> Option<u64> {
        self.control.load(Ordering::Acquire).checked_sub(1)
    }

    /// Why nothing can be written at the moment, such as a full disk. Work goes on when it can be again.
    pub fn trouble(&self) -> watch::Receiver<Option<String>> {
        self.trouble.clone()
    }

    /// Asks for one thing, and waits for the answer.
    pub async fn ask(&self, command: Command) -> Result<Answer> {
        let (reply, answer) = oneshot::channel();
        self.send(vec![Request { command, reply: Reply::Once(reply) }]).await?;
        answer.await.map_err(|_| stopped())?
    }

    /// Starts a run; true if it is new.
    pub async fn start_run(&self, start: Start) -> Result<(RunId, bool)> {
        match self.ask(Command::Start(start)).await? {
            Answer::Started { run, new } => Ok((run, new)),
            other => Err(unexpected(&other)),
        }
    }

    /// Waits until a run has ended.
    pub async fn wait(&self, run: RunId) -> Result<RunState> {
        match self.ask(Command::Wait(run)).await? {
            Answer::Ended(state) => Ok(state),
            other => Err(unexpected(&other)),
        }
    }

    /// Cancels a run.
    pub async fn cancel(&self, run: RunId, by: Name, why: Option<String>) -> Result<Answer> {
        self.ask(Command::Cancel(RunAct { run, by, why })).await
    }

    /// Operations on the work graph: all of them, or none. The same ones with the same key are done once.
    pub async fn work(&self, ops: Vec<Op>, by: Name, key: Option<String>) -> Result<Vec<Done>> {
        match self.ask(Command::Work(Ops { ops, by, key })).await? {
            Answer::Worked(done) => Ok(done),
            other => Err(unexpected(&other)),
        }
    }

    /// Looks at the work graph; answered as JSON.
    pub async fn look(&self, look: Look) -> Result<Value> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(Message::Look(Box::new(look), reply)).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Looks at the work graph itself, as it is after all that was asked before. The engine does nothing meanwhile.
    pub async fn with_work<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Work, Time) -> T + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let looking = move |work: Result<&Work>, now| drop(reply.send(work.map(|work| look(work, now))));
        self.inbox.send(Message::WithWork(Box::new(looking))).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// What was counted since the engine started.
    pub async fn counts(&self) -> Result<Counts> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(Message::Counts(reply)).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())
    }

    /// How it does at this moment.
    pub async fn pulse(&self) -> Result<Pulse> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(Message::Pulse(reply)).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())
    }

    /// Whether nothing could move any more unless a person does something.
    pub async fn is_idle(&self) -> Result<bool> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(Message::Idle(reply)).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())
    }

    /// How many leases a worker has, by the name that it claimed them with, after all that was asked before.
    pub async fn held(&self, worker: &Arc<str>) -> Result<usize> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(Message::Held(Arc::clone(worker), reply)).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())
    }

    /// Takes back the claims of a worker. What was granted before is in its channel when this returns.
    pub(crate) async fn leave(&self, grants: &mpsc::UnboundedSender<Result<Answer>>) {
        let (reply, answer) = oneshot::channel();
        // An engine that has stopped grants nothing any more.
        if self.inbox.send(Message::Leave(grants.clone(), reply)).is_ok() {
            let _ = answer.await;
        }
    }

    /// Several commands that shall be in one commit.
    pub(crate) async fn send(&self, bundle: Vec<Request<Reply>>) -> Result<()> {
        let permit = Arc::clone(&self.room).acquire_owned().await.map_err(|_| stopped())?;
        self.inbox.send(Message::Ask(bundle, Some(permit))).map_err(|_| stopped())
    }

    /// Tells a worker which of its leases are over.
    pub fn listen(&self) -> mpsc::UnboundedReceiver<Revoked> {
        let (tell, told) = mpsc::unbounded_channel();
        // An engine that has stopped revokes nothing any more.
        let _ = self.inbox.send(Message::Listen(tell));
        told
    }

    /// Writes all rows, ends the threads, and gives what was counted. Says why, if the engine had ended by itself.
    pub fn stop(&self) -> Result<Counts> {
        let _ = self.inbox.send(Message::Stop);
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(threads) = threads else { return Ok(Counts::default()) };
        let result = threads
            .committer
            .join()
            .unwrap_or_else(|_| Err(Error::bug("committer_panicked", "the committer panicked")));
        let _ = threads.compactor.join();
        // Last: what the committer wrote in its last moment is told too.
        if let Some(publishing) = threads.publishing {
            publishing.stop();
        }
        result
    }
}

pub(crate) fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    std::thread::Builder::new()
        .name(name.into())
        .spawn(work)
        .map_err(|e| Error::unavailable("no_thread", "the system gave no thread").with_source(e))
}

fn stopped() -> Error {
    Error::unavailable("engine_stopped", "the engine has stopped; what was accepted is kept. Start it again to go on")
}

fn unexpected(answer: &Answer) -> Error {
    Error::bug("unexpected_answer", format!("the engine answered something else: {answer:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_at_or_before_its_beginning_never_says_that_nothing_has_happened() {
        let check = |clock: SystemTime, shown: u64| assert_eq!(shown_by(clock), Time(shown));
        check(UNIX_EPOCH, 1);
        check(UNIX_EPOCH + Duration::from_micros(999), 1);
        check(UNIX_EPOCH - Duration::from_secs(3_600), 1);
        check(UNIX_EPOCH + Duration::from_millis(1), 1);
        check(UNIX_EPOCH + Duration::from_millis(2), 2);
    }
}
