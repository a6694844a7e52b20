//! Domain events that are kept: a queue for each namespace, and how far each consumer has come.
//!
//! Rows of the queue are derived from the ledger, and how far they were derived is written with them in one
//! transaction: a crash in between loses nothing and puts nothing in twice. What consumers acknowledged is ground.

use crate::ledger::{Ledger, Position};
use edgewise_core::Result;
use edgewise_core::name::Name;
use edgewise_core::time::Time;

/// The walls that a queue is within.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Space {
    /// Who owns it.
    pub tenant: Name,
    /// Where it lives.
    pub workspace: Name,
}

/// A domain event on its way into the queue of its namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// Its queue.
    pub namespace: Name,
    /// Its id: one that is in the queue already is not put in again.
    pub id: String,
    /// What it is called.
    pub name: Name,
    /// When what it tells of was committed.
    pub at: Time,
    /// The form that travels.
    pub body: String,
}

/// The part of a ledger whose events are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Everything up to here was published; `None` if nobody ever published.
    pub after: Option<Position>,
    /// Everything up to here is, from now on.
    pub upto: Position,
}

/// A domain event in its queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// Its place: it grows within a namespace, with gaps, and is never given out again.
    pub place: u64,
    /// The event.
    pub event: Fresh,
}

/// A queue as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: Name,
    /// How many events are in it.
    pub events: u64,
    /// The place of the first.
    pub first: u64,
    /// The place of the last.
    pub last: u64,
}

/// Somebody who reads a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// The queue.
    pub namespace: Name,
    /// What the consumer is called.
    pub name: String,
    /// Everything up to this place is dealt with.
    pub place: u64,
    /// When it last said so.
    pub at: Time,
}

/// What is kept beside the queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Document {
    /// A webhook, by its id.
    Hook,
    /// An event that a webhook could not be told, by the hook's id and the place.
    Dead,
    /// A worker that is called, by its name.
    PushWorker,
}

impl Document {
    /// Its word in a table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Dead => "dead",
            Self::PushWorker => "push_worker",
        }
    }
}

/// Queues of domain events, in the same ground as the ledger that they are derived from.
pub trait Domain: Ledger {
    /// Up to where in the ledger everything is published; `None` if nobody ever published here.
    fn published(&mut self, space: &Space) -> Result<Option<Position>>;

    /// Puts events in, in this order, and says that everything up to a position is published. All of it durably, or
    /// nothing. How many were not there already; `None`, and nothing is put in, if what is published does not end where
    /// the span begins: what somebody else put in since may have been taken away again, and must not come a second time.
    fn publish(&mut self, space: &Space, events: &[Fresh], span: Span) -> Result<Option<usize>>;

    /// The events of a queue after a place, in order, at most `limit` of them.
    fn queued(&mut self, space: &Space, namespace: &Name, after: u64, limit: usize) -> Result<Vec<Queued>>;

    /// All queues that have events.
    fn namespaces(&mut self, space: &Space) -> Result<Vec<Namespace>>;

    /// Everybody who ever acknowledged something, by namespace and name.
    fn consumers(&mut self, space: &Space) -> Result<Vec<Consumer>>;

    /// Says that a consumer has dealt with everything up to a place; never goes back. Where it is then.
    fn acknowledge(&mut self, space: &Space, consumer: &Consumer) -> Result<u64>;

    /// Forgets a consumer: nobody waits for it any more.
    fn forget_consumer(&mut self, space: &Space, namespace: &Name, name: &str) -> Result<()>;

    /// Takes events away that are from before an instant and that every consumer of their namespace has acknowledged,
    /// at most `limit` of them. How many there were.
    fn expire_events(&mut self, space: &Space, before: Time, limit: usize) -> Result<usize>;

    /// Keeps a document under a key, or takes it away. Durable.
    fn keep(&mut self, space: &Space, kind: Document, key: &str, body: Option<&str>) -> Result<()>;

    /// The documents whose keys begin so, by key, at most `limit` of them.
    fn kept(&mut self, space: &Space, kind: Document, prefix: &str, limit: usize) -> Result<Vec<(String, String)>>;
}
