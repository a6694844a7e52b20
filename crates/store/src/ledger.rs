//! The ledger: records in streams, appended all together or not at all.

mod check;
mod removal;

pub use removal::{Gone, Removal, Removed};

use edgewise_core::Result;
use edgewise_core::event::Record;
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::time::Time;

/// The name of a stream, walls included: tenant, workspace, and which of its streams.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream {
    /// Who owns it.
    pub tenant: Name,
    /// Where it lives.
    pub workspace: Name,
    /// The run whose events these are; or [`RunId::CONTROL`] or [`RunId::WORK`] for what is the workspace's own.
    pub run: RunId,
}

impl std::hash::Hash for Stream {
    /// Runs rarely share an id, so the walls need not be hashed at every look.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.run.hash(state);
    }
}

impl Stream {
    /// What a record's checksum is taken over, so that a record cannot move to another stream.
    pub fn label(&self) -> String {
        let run = match self.run {
            RunId::CONTROL => return [self.tenant.as_str(), "/", self.workspace.as_str(), "/control"].concat(),
            RunId::WORK => return [self.tenant.as_str(), "/", self.workspace.as_str(), "/work"].concat(),
            run => run.to_string(),
        };
        [self.tenant.as_str(), "/", self.workspace.as_str(), "/run/", &run].concat()
    }
}

/// The order over all streams of a workspace, from 1; 0 is before everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(pub u64);

/// Where a stream ends: its last seq, and the id of its last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// The last seq; 0 for a stream that does not exist.
    pub seq: u64,
    /// The last event's id: tells after an unknown commit whether it was ours that landed.
    pub last: EventId,
}

/// What a batch was decided on: the append succeeds only if it is still so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// Which stream.
    pub stream: Stream,
    /// The seq its head must have.
    pub seq: u64,
}

/// A workspace-wide unique key that a batch uses up, such as a client's idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyClaim {
    /// Whose walls it is unique within, and what it names.
    pub stream: Stream,
    /// The key itself.
    pub key: String,
    /// The hash of the request: the same key with another body is a conflict.
    pub body: u64,
}

/// Who used up a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOwner {
    /// The run the key named.
    pub run: RunId,
    /// The hash of the request that used it up.
    pub body: u64,
}

/// A mark that a commit changes, together with the event that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marking {
    /// Which stream; the batch has a record of it.
    pub stream: Stream,
    /// The mark that it was decided on: the append succeeds only if it is still that one.
    pub was: Option<String>,
    /// Why the stream is frozen from then on; `None` if it goes on.
    pub now: Option<String>,
}

/// One commit: all of it or nothing.
#[derive(Debug, Clone, Default)]
pub struct Append {
    /// Checked before anything is written; every stream in `records` has one.
    pub guards: Vec<Guard>,
    /// Keys used up by it.
    pub keys: Vec<KeyClaim>,
    /// Plans to store, unless they are there.
    pub plans: Vec<(PlanHash, Vec<u8>)>,
    /// At most one record a stream, each beginning right after its guard's seq.
    pub records: Vec<(Stream, Record, EventId)>,
    /// Freeze marks that it sets and takes away. A stream that is written and has none here must not be marked.
    pub marks: Vec<Marking>,
    /// The committer's clock.
    pub at: Time,
    /// Where the whole ledger must end, if this was decided on what all its streams say, as a limit over runs is.
    pub after: Option<Position>,
}

/// What became of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// Durable. The position of the last record.
    Done(Position),
    /// A guard did not hold: nothing was written. Forget the stream and decide again. If the ledger does not end
    /// where it must, the stream is the first that would have been written.
    Conflict(Stream),
    /// A stream that would have been written is frozen, for this reason, and the batch was not decided on that:
    /// nothing was written.
    Frozen(Stream, String),
    /// A key is used up: nothing was written.
    KeyTaken(KeyOwner),
}

/// A record as it is read back, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its place in the order over all streams.
    pub position: Position,
    /// Its stream.
    pub stream: Stream,
    /// The record; not yet verified.
    pub record: Record,
}

/// Ground: what must not be lost, or must be atomic with a commit.
///
/// Errors: `Unavailable` with code `unknown_commit` from [`Ledger::append`] means that the batch may or may
/// not be there: read the heads back before anything is decided again. Code `sync_failed` means that the
/// process must end: the batch may be there when the ledger is next opened, and no further append is
/// taken until then. Every other error of `append` means that nothing was written.
pub trait Ledger: Send {
    /// Checks the guards and keys, then writes everything durably, or nothing. A batch that breaks the
    /// rules of [`Append::check`] is `Invalid`; a broken guard is told before a frozen stream, and that before a
    /// taken key. The mark is looked at here, in the same transaction, so that nobody writes who has not heard of it;
    /// and changed here, so that between the event that freezes a run and the one that lets it go on there is no other.
    /// A mark that is not there any more is told as [`Appended::Conflict`].
    fn append(&mut self, batch: &Append) -> Result<Appended>;

    /// Where a stream ends.
    fn head(&mut self, stream: &Stream) -> Result<Head>;

    /// The records of a stream with events after a seq, in order, at most `limit` of them. Damaged records
    /// come out as they are: [`Record::verify`] tells.
    fn read(&mut self, stream: &Stream, after: u64, limit: usize) -> Result<Vec<Stored>>;

    /// The records of all streams after a position, in order, at most `limit` of them.
    fn read_all(&mut self, after: Position, limit: usize) -> Result<Vec<Stored>>;

    /// The position of the last record.
    fn tail(&mut self) -> Result<Position>;

    /// A plan's stored bytes.
    fn plan(&mut self, hash: PlanHash) -> Result<Option<Vec<u8>>>;

    /// Who used up a key.
    fn key(&mut self, claim: &KeyClaim) -> Result<Option<KeyOwner>>;

    /// Marks a stream frozen with a reason, or takes the mark away, without an event: for a stream that is damaged, to
    /// which nothing can be appended. Durable. `NotFound` if the stream does not exist.
    fn freeze(&mut self, stream: &Stream, reason: Option<&str>) -> Result<()>;

    /// Why a stream is frozen, if it is.
    fn mark(&mut self, stream: &Stream) -> Result<Option<String>>;

    /// The frozen streams with their reasons.
    fn frozen(&mut self) -> Result<Vec<(Stream, String)>>;

    /// Takes whole streams away: none of their records can be read any more from here on, their freeze marks are gone,
    /// and their keys are kept as long as each [`Gone`] says. A stream that is not at the seq it names is left as it
    /// is; the streams that were not there any more count as taken. Positions are never given out again. What is left on
    /// the disk of streams that were taken is given back in small steps, one with each call, also with one that names
    /// no streams. Durable, all of it or nothing.
    fn remove(&mut self, removal: &Removal) -> Result<Removed>;

    /// What is remembered of a stream that was taken away, as long as its key is kept.
    fn gone(&mut self, stream: &Stream) -> Result<Option<Gone>>;

    /// How many positions up to the tail have no record that can be read, because their streams were taken away.
    fn holes(&mut self) -> Result<u64>;

    /// The streams whose run id starts with these characters (of either case), by run id, at most `limit`. The
    /// workspaces' own streams are among them, under their reserved ids.
    fn find(&mut self, prefix: &str, limit: usize) -> Result<Vec<Stream>>;
}
