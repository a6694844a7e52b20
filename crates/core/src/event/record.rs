//! Records: how the events of one stream and one commit are stored.
//!
//! What the events of a commit share (version, first id, time, source) is said once; the n-th
//! event's id is the first one plus n. A checksum over the stream's name, the place and the bytes makes
//! damage loud, also when a record is moved to where it does not belong.

use super::{Event, RULES};
use crate::error::{Error, Result};
use crate::id::EventId;
use crate::time::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The code of the error that says that a run is of rules which are not known here.
pub const NEWER_RULES: &str = "newer_rules";

/// A kind of events that records hold: those of runs, or those of a workspace's settings.
pub trait Recorded: Serialize + DeserializeOwned {
    /// The event types this program knows.
    const KNOWN: &'static [&'static str];

    /// An event of a type that this program does not know: it folds to nothing.
    fn unknown(name: &str) -> Self;
}

impl Recorded for Event {
    const KNOWN: &'static [&'static str] = &super::KNOWN;

    fn unknown(name: &str) -> Self {
        Event::Unknown(name.into())
    }
}

/// The version of the wire form that this program writes and reads.
pub const VERSION: u32 = 1;

/// What the events of one record share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The id of the first event.
    pub id: EventId,
    /// When it was committed, by the committer's clock.
    pub at: Time,
    /// Which orchestrator wrote it: audit, never permission.
    pub source: Box<str>,
}

/// A ledger row: the events of one stream and one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The seq of the first event, from 1.
    pub first: u64,
    /// How many events.
    pub count: u32,
    /// Envelope and events, as [`encode`] wrote them.
    pub bytes: Vec<u8>,
    /// Over the stream's name, `first`, `count` and `bytes`.
    pub checksum: u64,
}

impl Record {
    /// A record of encoded bytes, with its checksum.
    pub fn new(stream: &str, first: u64, count: u32, bytes: Vec<u8>) -> Self {
        let checksum = checksum(stream, first, count, &bytes);
        Self { first, count, bytes, checksum }
    }

    /// The seq of the last event.
    pub fn last(&self) -> u64 {
        self.first.saturating_add(u64::from(self.count).saturating_sub(1))
    }

    /// Whether the record is what was written, where it was written.
    pub fn verify(&self, stream: &str) -> Result<()> {
        if checksum(stream, self.first, self.count, &self.bytes) == self.checksum {
            return Ok(());
        }
        Err(Error::corrupt(
            "checksum_mismatch",
            format!(
                "the record at seq {} of {stream} is damaged: its checksum does not fit. The run is frozen; restore the ledger from a backup",
                self.first
            ),
        ))
    }
}

fn checksum(stream: &str, first: u64, count: u32, bytes: &[u8]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(stream.len() as u32).to_le_bytes());
    hasher.update(stream.as_bytes());
    hasher.update(&first.to_le_bytes());
    hasher.update(&count.to_le_bytes());
    hasher.update(bytes);
    let mut head = [0; 8];
    head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(head)
}

#[derive(Serialize)]
struct Out<'a, E> {
    v: u32,
    id: EventId,
    at: Time,
    by: &'a str,
    e: &'a [E],
}

#[derive(Deserialize)]
struct In<'a, E> {
    v: u32,
    id: EventId,
    at: Time,
    #[serde(borrow)]
    by: std::borrow::Cow<'a, str>,
    e: Vec<E>,
}

/// Writes events of a run and what they share.
pub fn encode(envelope: &Envelope, events: &[Event]) -> Vec<u8> {
    encode_events(envelope, events)
}

/// Reads what [`encode`] wrote. An event type from a newer program becomes [`Event::Unknown`]; a run of rules that are not
/// known here is refused, because nobody here could fold it.
pub fn decode(record: &Record) -> Result<(Envelope, Vec<Event>)> {
    let (envelope, events) = decode_events(record)?;
    if let Some(Event::RunTriggered(event)) = events.first() {
        known_rules(event.rules)?;
    }
    Ok((envelope, events))
}

/// Refuses rules that this program does not know.
pub(crate) fn known_rules(rules: u32) -> Result<()> {
    if rules <= RULES {
        return Ok(());
    }
    let message = format!(
        "the run was begun by a newer program: it is folded by rules {rules}, and this program knows rules up to {RULES}"
    );
    Err(Error::corrupt(NEWER_RULES, message))
}

/// Writes events of any kind and what they share.
pub fn encode_events<E: Recorded>(envelope: &Envelope, events: &[E]) -> Vec<u8> {
    let out = Out { v: VERSION, id: envelope.id, at: envelope.at, by: &envelope.source, e: events };
    let mut bytes = Vec::with_capacity(64 + events.len() * 72);
    // Writing to memory fails only for an event that cannot be JSON, and ours all can.
    serde_json::to_writer(&mut bytes, &out).unwrap_or_default();
    bytes
}

/// Reads what [`encode_events`] wrote. An event type from a newer program becomes an unknown one.
pub fn decode_events<E: Recorded>(record: &Record) -> Result<(Envelope, Vec<E>)> {
    let corrupt =
        |why: String| Error::corrupt("bad_record", format!("the record at seq {} cannot be read: {why}", record.first));
    let parsed: In<'_, E> = match serde_json::from_slice(&record.bytes) {
        Ok(parsed) => parsed,
        Err(_) => one_by_one(&record.bytes).map_err(|e| corrupt(e.to_string()))?,
    };
    if parsed.v != VERSION {
        return Err(corrupt(format!("it has version {}, this program reads version {VERSION}", parsed.v)));
    }
    if parsed.e.len() != record.count as usize || record.count == 0 {
        return Err(corrupt(format!("it has {} events where {} are said", parsed.e.len(), record.count)));
    }
    Ok((Envelope { id: parsed.id, at: parsed.at, source: parsed.by.into() }, parsed.e))
}

/// The slow way, for records with event types that we do not know.
fn one_by_one<E: Recorded>(bytes: &[u8]) -> Result<In<'_, E>, serde_json::Error> {
    let raw: In<'_, &RawValue> = serde_json::from_slice(bytes)?;
    let mut events = Vec::with_capacity(raw.e.len());
    for text in raw.e {
        events.push(match serde_json::from_str::<E>(text.get()) {
            Ok(event) => event,
            Err(error) => unknown(text).ok_or(error)?,
        });
    }
    Ok(In { v: raw.v, id: raw.id, at: raw.at, by: raw.by, e: events })
}

/// The name of an event type that is not ours; `None` if it is ours and broken.
fn unknown<E: Recorded>(text: &RawValue) -> Option<E> {
    let map: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text.get()).ok()?;
    let (name, _) = map.iter().next()?;
    (map.len() == 1 && !E::KNOWN.contains(&name.as_str())).then(|| E::unknown(name))
}
