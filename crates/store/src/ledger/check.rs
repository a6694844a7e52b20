//! What a batch must look like before any store looks at it: the same refusals everywhere.

use super::{Append, Appended, Position, Stream};
use crate::quick::{QuickMap, QuickSet};
use edgewise_core::event::Record;
use edgewise_core::{Error, Result};

/// Seqs are stored as signed 64-bit numbers.
const MAX_SEQ: u64 = i64::MAX as u64;

impl Append {
    /// Refuses (`Invalid`) a batch whose records have no guard, do not begin right after it, come twice
    /// for one stream, are empty or are not text, and one that claims a key, guards or marks a stream twice, or marks
    /// one that it does not write: no event would say who did.
    pub fn check(&self) -> Result<()> {
        let mut guards = QuickMap::with_capacity_and_hasher(self.guards.len(), Default::default());
        for guard in &self.guards {
            if guards.insert(&guard.stream, guard.seq).is_some() {
                return Err(twice("guard", &guard.stream.label()));
            }
        }
        let mut keys = QuickSet::with_capacity_and_hasher(self.keys.len(), Default::default());
        for claim in &self.keys {
            if !keys.insert((&claim.stream.tenant, &claim.stream.workspace, claim.key.as_str())) {
                return Err(twice("key", &claim.key));
            }
        }
        for (hash, bytes) in &self.plans {
            text(bytes, || format!("plan {hash}"))?;
        }
        // Taking each guard out as it is used finds a second record of the same stream.
        for (stream, record, _) in &self.records {
            check_record(stream, record, guards.remove(stream))?;
        }
        for (at, marking) in self.marks.iter().enumerate() {
            if self.marks[..at].iter().any(|other| other.stream == marking.stream) {
                return Err(twice("mark", &marking.stream.label()));
            }
            if !self.records.iter().any(|(stream, ..)| *stream == marking.stream) {
                let message = format!("{}: a mark changes with a record that says so", marking.stream.label());
                return Err(Error::invalid("bad_append", message));
            }
        }
        Ok(())
    }
}

impl Append {
    /// What is wrong about the mark of a stream that is written, if something is. Asked under the write lock.
    pub(crate) fn refused_by(&self, stream: &Stream, mark: Option<&str>) -> Option<Appended> {
        let marking = self.marks.iter().find(|marking| marking.stream == *stream);
        let expected = marking.and_then(|marking| marking.was.as_deref());
        match mark {
            _ if mark == expected => None,
            Some(reason) => Some(Appended::Frozen(stream.clone(), reason.to_owned())),
            None => Some(Appended::Conflict(stream.clone())),
        }
    }

    /// The stream to complain about if the ledger does not end where this batch was decided.
    pub(crate) fn too_late(&self, tail: Position) -> Option<Stream> {
        let stream = self.records.first().map(|(stream, ..)| stream.clone());
        self.after.filter(|after| *after != tail).and(stream)
    }
}

impl Stream {
    /// What is said of a stream that is not there.
    pub(crate) fn missing(&self) -> Error {
        let label = self.label();
        Error::not_found(
            "stream_not_found",
            format!("there is no stream {label}: nothing was ever committed to it; check the run id"),
        )
    }
}

fn check_record(stream: &Stream, record: &Record, guard: Option<u64>) -> Result<()> {
    let refuse = |what: String| Err(Error::invalid("bad_append", format!("{}: {what}", stream.label())));
    let Some(seq) = guard else {
        return refuse("a record needs a guard of its stream, and a batch has at most one record a stream".into());
    };
    if record.count == 0 {
        return refuse("a record has at least one event, this one has none".into());
    }
    if seq.checked_add(1) != Some(record.first) {
        return refuse(format!("the record begins at seq {}, its guard says that the head is {seq}", record.first));
    }
    if record.first > MAX_SEQ - u64::from(record.count) {
        return refuse(format!("seq {} is beyond the last one a stream can have", record.first));
    }
    text(&record.bytes, || format!("the record at seq {} of {}", record.first, stream.label()))
}

fn text(bytes: &[u8], what: impl FnOnce() -> String) -> Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::invalid("bad_append", format!("{} is not UTF-8 text", what())).with_source(error)),
    }
}

fn twice(what: &str, which: &str) -> Error {
    Error::invalid("bad_append", format!("the {what} {which:?} is twice in one batch: name it once"))
}
