//! What the outside world is told of the work graph: each note of an item's history, as a domain event of its own.
//!
//! Nobody declares these: they all go into one queue. Notes of one event are told in an order that only depends on what
//! they say, and their ids with it. So it does not matter whether a graph was folded from its first event on or loaded from
//! rows, and whoever begins again tells nothing twice.

use super::{DomainEvent, Subject};
use crate::name::Name;
use crate::plan::Delivery;
use crate::time::Time;
use crate::work::{ItemId, Note, NoteKind, WorkEvent};
use serde_json::{Map, Value, json};

/// The queue of everything that is told of the work graph.
pub const NAMESPACE: &str = "work";

/// The event of the work graph that notes followed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Its seq.
    pub seq: u64,
    /// Its name in the ledger.
    event: Box<str>,
    /// What it was about: an item, a gate or a run.
    about: Option<Box<str>>,
    /// Whether that is a gate.
    gate: bool,
}

impl Cause {
    /// An event as a cause.
    pub fn new(seq: u64, event: &WorkEvent) -> Self {
        let gate = matches!(event, WorkEvent::GateMade(_) | WorkEvent::GateImported(_));
        Self { seq, event: event.name().into(), about: event.about().map(String::into_boxed_str), gate }
    }
}

/// Calls `tell` with what the outside world is told of events of a work graph that were committed together, given the notes
/// of each in the order of the events. `stream` tells this work graph from others.
pub fn told_of_work(stream: &str, at: Time, causes: &[Cause], mut notes: &[Note], tell: &mut dyn FnMut(DomainEvent)) {
    for cause in causes {
        let own = notes.iter().take_while(|note| note.seq == cause.seq).count();
        let (these, rest) = notes.split_at(own);
        notes = rest;
        let mut told: Vec<_> = these.iter().filter(|note| is_told(note)).map(|note| Said::new(cause, note)).collect();
        told.sort_by(|a, b| a.place().cmp(&b.place()));
        told.dedup_by(|a, b| a.place() == b.place());
        for said in told {
            tell(said.event(stream, at, cause));
        }
    }
}

/// A dependency is noted at both of its ends, and told once: of whose it is.
fn is_told(note: &Note) -> bool {
    match &note.what {
        NoteKind::DependencyAdded(key) | NoteKind::DependencyRemoved(key) => note.item == key.source,
        _ => true,
    }
}

/// A note on its way out.
struct Said<'n> {
    item: &'n ItemId,
    gate: bool,
    /// What was done comes before what followed.
    rank: u8,
    data: Map<String, Value>,
    /// All that is said, as text.
    text: String,
}

impl<'n> Said<'n> {
    fn new(cause: &Cause, note: &'n Note) -> Self {
        let (rank, gate) = match &note.what {
            NoteKind::Created => (0, cause.gate),
            NoteKind::Approved { .. } | NoteKind::Withdrawn { .. } => (0, true),
            NoteKind::Satisfied { .. } | NoteKind::Rejected { .. } => (1, true),
            NoteKind::DependencyAdded(_) | NoteKind::DependencyRemoved(_) => (1, false),
            NoteKind::AutoBlocked { .. } | NoteKind::AutoUnblocked { .. } => (2, false),
            NoteKind::CompletionEligible => (3, false),
            NoteKind::AutoCompleted { .. } => (4, false),
            _ => (0, false),
        };
        let data = match serde_json::to_value(&note.what) {
            Ok(Value::Object(data)) => data,
            _ => Map::new(),
        };
        let text = Value::Object(data.clone()).to_string();
        let mut said = Self { item: &note.item, gate, rank, data, text };
        if let Some(by) = &note.by {
            said.data.insert("by".into(), by.as_str().into());
        }
        said
    }

    fn place(&self) -> (u8, &ItemId, &str) {
        (self.rank, self.item, &self.text)
    }

    fn event(self, stream: &str, at: Time, cause: &Cause) -> DomainEvent {
        let Self { item, gate, mut data, text, .. } = self;
        let kind = if gate { "gate" } else { "item" };
        let what = data.get("what").and_then(Value::as_str).unwrap_or("changed");
        let name = name(&format!("edgewise.{kind}.{what}"));
        let text = format!("{stream}/{}/{item}/{text}", cause.seq);
        let id = blake3::hash(text.as_bytes()).to_hex().as_str()[..32].to_owned();
        data.insert(kind.into(), item.as_str().into());
        data.insert("seq".into(), cause.seq.into());
        data.insert("cause".into(), json!({ "event": &*cause.event, "id": &cause.about }));
        let about = Subject::Item(item.clone());
        DomainEvent {
            id,
            namespace: self::name(NAMESPACE),
            name,
            delivery: Delivery::Broadcast,
            about,
            at,
            data: data.into(),
        }
    }
}

/// Every text here is a name: the words are ours.
fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}
