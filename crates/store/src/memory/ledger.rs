//! The ledger in memory.

use super::Shared;
use super::domain::Queues;
use crate::ledger::{
    Append, Appended, Gone, Head, KeyClaim, KeyOwner, Ledger, Position, Removal, Removed, Stored, Stream,
};
use edgewise_core::Result;
use edgewise_core::event::Record;
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use std::collections::BTreeMap;

/// A ledger in memory; clones are handles on the same one.
#[derive(Debug, Clone, Default)]
pub struct MemoryLedger(Shared<State>, Shared<Queues>);

impl MemoryLedger {
    pub(super) fn domain(&self) -> std::sync::MutexGuard<'_, Queues> {
        self.1.lock()
    }
}

#[derive(Debug, Default)]
struct State {
    /// Every record, or the hole it left; its position is its index plus one.
    log: Vec<Option<(Stream, Record)>>,
    streams: BTreeMap<Stream, Entry>,
    /// With when they were used up.
    keys: BTreeMap<(Name, Name, String), (KeyOwner, Time)>,
    plans: BTreeMap<PlanHash, Vec<u8>>,
    gone: BTreeMap<Stream, Gone>,
}

#[derive(Debug, Default)]
struct Entry {
    head: Head,
    /// Where in the log its records are.
    places: Vec<usize>,
    frozen: Option<String>,
}

impl State {
    fn head(&self, stream: &Stream) -> Head {
        self.streams.get(stream).map(|entry| entry.head).unwrap_or_default()
    }

    fn mark(&self, stream: &Stream) -> Option<&str> {
        self.streams.get(stream)?.frozen.as_deref()
    }

    fn tail(&self) -> Position {
        Position(self.log.len() as u64)
    }

    fn owner(&self, claim: &KeyClaim) -> Option<&KeyOwner> {
        self.keys.get(&key_of(claim)).map(|(owner, _)| owner)
    }

    fn write(&mut self, stream: &Stream, record: &Record, last: EventId) {
        let entry = self.streams.entry(stream.clone()).or_default();
        entry.head = Head { seq: record.last(), last };
        entry.places.push(self.log.len());
        self.log.push(Some((stream.clone(), record.clone())));
    }

    fn stored(&self, place: usize) -> Option<Stored> {
        let (stream, record) = self.log[place].as_ref()?;
        Some(Stored { position: Position(place as u64 + 1), stream: stream.clone(), record: record.clone() })
    }

    fn last(&self, place: usize) -> u64 {
        self.log[place].as_ref().map_or(0, |(_, record)| record.last())
    }

    /// True if it is not there any more.
    fn take(&mut self, gone: &Gone) -> bool {
        let Some(entry) = self.streams.get(&gone.stream) else { return true };
        if entry.head.seq != gone.seq {
            return false;
        }
        for place in self.streams.remove(&gone.stream).map(|entry| entry.places).unwrap_or_default() {
            self.log[place] = None;
        }
        self.gone.insert(gone.stream.clone(), gone.clone());
        true
    }

    fn expire(&mut self, at: Time) {
        let over: Vec<Stream> = self.gone.values().filter(|g| g.until <= at).map(|g| g.stream.clone()).collect();
        for stream in over {
            let key = self.gone.remove(&stream).and_then(|gone| gone.key);
            if let Some(key) = key.map(|key| (stream.tenant, stream.workspace, key))
                && self.keys.get(&key).is_some_and(|(owner, _)| owner.run == stream.run)
            {
                self.keys.remove(&key);
            }
        }
    }
}

fn key_of(claim: &KeyClaim) -> (Name, Name, String) {
    (claim.stream.tenant.clone(), claim.stream.workspace.clone(), claim.key.clone())
}

impl Ledger for MemoryLedger {
    fn append(&mut self, batch: &Append) -> Result<Appended> {
        batch.check()?;
        let mut state = self.0.lock();
        if let Some(guard) = batch.guards.iter().find(|g| state.head(&g.stream).seq != g.seq) {
            return Ok(Appended::Conflict(guard.stream.clone()));
        }
        if let Some(stream) = batch.too_late(state.tail()) {
            return Ok(Appended::Conflict(stream));
        }
        let refused = |(stream, ..): &(Stream, _, _)| batch.refused_by(stream, state.mark(stream));
        if let Some(refused) = batch.records.iter().find_map(refused) {
            return Ok(refused);
        }
        if let Some(owner) = batch.keys.iter().find_map(|claim| state.owner(claim)) {
            return Ok(Appended::KeyTaken(owner.clone()));
        }
        for claim in &batch.keys {
            state.keys.insert(key_of(claim), (KeyOwner { run: claim.stream.run, body: claim.body }, batch.at));
        }
        for (hash, bytes) in &batch.plans {
            state.plans.entry(*hash).or_insert_with(|| bytes.clone());
        }
        for (stream, record, last) in &batch.records {
            state.write(stream, record, *last);
        }
        for marking in &batch.marks {
            state.streams.entry(marking.stream.clone()).or_default().frozen.clone_from(&marking.now);
        }
        Ok(Appended::Done(state.tail()))
    }

    fn head(&mut self, stream: &Stream) -> Result<Head> {
        Ok(self.0.lock().head(stream))
    }

    fn read(&mut self, stream: &Stream, after: u64, limit: usize) -> Result<Vec<Stored>> {
        let state = self.0.lock();
        let Some(entry) = state.streams.get(stream) else { return Ok(Vec::new()) };
        let from = entry.places.partition_point(|place| state.last(*place) <= after);
        Ok(entry.places[from..].iter().take(limit).filter_map(|place| state.stored(*place)).collect())
    }

    fn read_all(&mut self, after: Position, limit: usize) -> Result<Vec<Stored>> {
        let state = self.0.lock();
        let from = usize::try_from(after.0).unwrap_or(usize::MAX).min(state.log.len());
        Ok((from..state.log.len()).filter_map(|place| state.stored(place)).take(limit).collect())
    }

    fn tail(&mut self) -> Result<Position> {
        Ok(self.0.lock().tail())
    }

    fn plan(&mut self, hash: PlanHash) -> Result<Option<Vec<u8>>> {
        Ok(self.0.lock().plans.get(&hash).cloned())
    }

    fn key(&mut self, claim: &KeyClaim) -> Result<Option<KeyOwner>> {
        Ok(self.0.lock().owner(claim).cloned())
    }

    fn freeze(&mut self, stream: &Stream, reason: Option<&str>) -> Result<()> {
        match self.0.lock().streams.get_mut(stream) {
            Some(entry) => {
                entry.frozen = reason.map(str::to_owned);
                Ok(())
            }
            None => Err(stream.missing()),
        }
    }

    fn mark(&mut self, stream: &Stream) -> Result<Option<String>> {
        Ok(self.0.lock().mark(stream).map(str::to_owned))
    }

    fn frozen(&mut self) -> Result<Vec<(Stream, String)>> {
        let state = self.0.lock();
        Ok(state.streams.iter().filter_map(|(s, e)| Some((s.clone(), e.frozen.clone()?))).collect())
    }

    fn remove(&mut self, removal: &Removal) -> Result<Removed> {
        let mut state = self.0.lock();
        let taken = removal.streams.iter().filter(|gone| state.take(gone)).count();
        state.expire(removal.at);
        if let Some((space, at)) = &removal.work_keys {
            let worn = |owner: &KeyOwner, used: Time| owner.run == RunId::WORK && used <= *at;
            state.keys.retain(|(tenant, workspace, _), (owner, used)| {
                (tenant, workspace) != (&space.tenant, &space.workspace) || !worn(owner, *used)
            });
        }
        Ok(Removed { taken, more: false })
    }

    fn gone(&mut self, stream: &Stream) -> Result<Option<Gone>> {
        Ok(self.0.lock().gone.get(stream).cloned())
    }

    fn holes(&mut self) -> Result<u64> {
        Ok(self.0.lock().log.iter().filter(|place| place.is_none()).count() as u64)
    }

    fn find(&mut self, prefix: &str, limit: usize) -> Result<Vec<Stream>> {
        let prefix = prefix.to_ascii_lowercase();
        let state = self.0.lock();
        let mut found: Vec<Stream> =
            state.streams.keys().filter(|s| s.run.to_string().starts_with(&prefix)).cloned().collect();
        found.sort_by(|a, b| (a.run, &a.tenant, &a.workspace).cmp(&(b.run, &b.tenant, &b.workspace)));
        found.truncate(limit);
        Ok(found)
    }
}
