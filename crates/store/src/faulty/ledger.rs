//! A ledger that fails as told.

use super::{Fault, Faults, Op, error};
use crate::ledger::{
    Append, Appended, Gone, Head, KeyClaim, KeyOwner, Ledger, Position, Removal, Removed, Stored, Stream,
};
use edgewise_core::Result;
use edgewise_core::id::PlanHash;

/// Wraps a ledger and fails as told.
#[derive(Debug, Clone)]
pub struct FaultyLedger<L> {
    pub(super) inner: L,
    pub(super) faults: Faults,
}

impl<L: Ledger> FaultyLedger<L> {
    /// Wraps a ledger; keep a clone of the faults to count and to change them.
    pub fn new(inner: L, faults: Faults) -> Self {
        Self { inner, faults }
    }

    /// The ledger inside, past all faults.
    pub fn inner(&mut self) -> &mut L {
        &mut self.inner
    }

    pub(super) fn read_or_fail<T>(&mut self, op: Op, work: impl FnOnce(&mut L) -> Result<T>) -> Result<T> {
        match self.faults.next(op) {
            None => work(&mut self.inner),
            // A read whose answer is lost is a read that did not happen.
            Some(Fault::Damaged) => Err(error(Fault::Damaged, op)),
            Some(_) => Err(error(Fault::Refused, op)),
        }
    }

    fn records(&mut self, op: Op, work: impl FnOnce(&mut L) -> Result<Vec<Stored>>) -> Result<Vec<Stored>> {
        match self.faults.next(op) {
            None => work(&mut self.inner),
            Some(Fault::Damaged) => {
                let mut found = work(&mut self.inner)?;
                if let Some(stored) = found.first_mut() {
                    turn_a_bit(&mut stored.record.bytes);
                }
                Ok(found)
            }
            Some(_) => Err(error(Fault::Refused, op)),
        }
    }
}

/// The lowest bit in the middle: what was text is still text, so only the checksum can tell.
fn turn_a_bit(bytes: &mut [u8]) {
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 1;
    }
}

/// A write under a fault: it happens or it does not, and the caller is told what the fault tells.
pub(super) fn write<T>(fault: Fault, op: Op, work: impl FnOnce() -> Result<T>) -> Result<T> {
    match fault {
        Fault::AnswerLost { landed: true } | Fault::SyncFailed { landed: true } => {
            work()?;
        }
        _ => {}
    }
    Err(error(fault, op))
}

impl<L: Ledger> Ledger for FaultyLedger<L> {
    fn append(&mut self, batch: &Append) -> Result<Appended> {
        match (self.faults.next(Op::Append), batch.guards.first()) {
            (None, _) => self.inner.append(batch),
            (Some(Fault::Conflict), Some(guard)) => Ok(Appended::Conflict(guard.stream.clone())),
            (Some(fault), _) => write(fault, Op::Append, || self.inner.append(batch)),
        }
    }

    fn head(&mut self, stream: &Stream) -> Result<Head> {
        self.read_or_fail(Op::Head, |inner| inner.head(stream))
    }

    fn read(&mut self, stream: &Stream, after: u64, limit: usize) -> Result<Vec<Stored>> {
        self.records(Op::Read, |inner| inner.read(stream, after, limit))
    }

    fn read_all(&mut self, after: Position, limit: usize) -> Result<Vec<Stored>> {
        self.records(Op::ReadAll, |inner| inner.read_all(after, limit))
    }

    fn tail(&mut self) -> Result<Position> {
        self.read_or_fail(Op::Tail, Ledger::tail)
    }

    fn plan(&mut self, hash: PlanHash) -> Result<Option<Vec<u8>>> {
        self.read_or_fail(Op::Plan, |inner| inner.plan(hash))
    }

    fn key(&mut self, claim: &KeyClaim) -> Result<Option<KeyOwner>> {
        self.read_or_fail(Op::Key, |inner| inner.key(claim))
    }

    fn freeze(&mut self, stream: &Stream, reason: Option<&str>) -> Result<()> {
        match self.faults.next(Op::Freeze) {
            None => self.inner.freeze(stream, reason),
            Some(fault) => write(fault, Op::Freeze, || self.inner.freeze(stream, reason)),
        }
    }

    fn mark(&mut self, stream: &Stream) -> Result<Option<String>> {
        self.read_or_fail(Op::Mark, |inner| inner.mark(stream))
    }

    fn frozen(&mut self) -> Result<Vec<(Stream, String)>> {
        self.read_or_fail(Op::Frozen, Ledger::frozen)
    }

    fn remove(&mut self, removal: &Removal) -> Result<Removed> {
        match self.faults.next(Op::Remove) {
            None => self.inner.remove(removal),
            Some(fault) => write(fault, Op::Remove, || self.inner.remove(removal)),
        }
    }

    fn gone(&mut self, stream: &Stream) -> Result<Option<Gone>> {
        self.read_or_fail(Op::Gone, |inner| inner.gone(stream))
    }

    fn holes(&mut self) -> Result<u64> {
        self.read_or_fail(Op::Holes, Ledger::holes)
    }

    fn find(&mut self, prefix: &str, limit: usize) -> Result<Vec<Stream>> {
        self.read_or_fail(Op::Find, |inner| inner.find(prefix, limit))
    }
}
