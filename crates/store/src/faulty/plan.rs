//! Which operation fails, and how.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Nothing happens: `Unavailable`, code `store_busy`.
    Refused,
    /// Nothing happens: `Unavailable`, code `disk_full`.
    DiskFull,
    /// `Unavailable`, code `sync_failed`, and from then on for every write until the store is opened again
    /// ([`Faults::restart`]). Whether the write is there afterwards is said by `landed`.
    SyncFailed {
        /// Whether it happened all the same.
        landed: bool,
    },
    /// `Unavailable`, code `unknown_commit`. Whether it happened is said by `landed`.
    AnswerLost {
        /// Whether it happened all the same.
        landed: bool,
    },
    /// An append or flush is told that somebody else was first. Any other operation is refused.
    Conflict,
    /// A read gives its first record with one bit turned over. Any other operation answers `Corrupt`.
    Damaged,
}

/// The operations of both traits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is named like the method it counts")]
pub enum Op {
    Append,
    Head,
    Read,
    ReadAll,
    Tail,
    Plan,
    Key,
    Freeze,
    Frozen,
    Mark,
    Remove,
    Gone,
    Holes,
    Publish,
    Queued,
    Find,
    Flush,
    Load,
    Task,
    Watermark,
    Runs,
    Outbox,
    Timers,
    Leases,
    Control,
    Work,
    WorkRows,
    Forget,
    HasPlan,
}

impl Op {
    /// Whether it changes what is stored.
    pub fn writes(self) -> bool {
        matches!(self, Self::Append | Self::Freeze | Self::Remove | Self::Publish | Self::Flush | Self::Forget)
    }

    /// Whether it belongs to the ledger.
    pub fn of_ledger(self) -> bool {
        self <= Self::Find
    }
}

/// The plan of faults and the counts of operations. Clones are handles on the same one.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    /// Operations so far, over all kinds and by kind.
    total: u64,
    writes: u64,
    counts: BTreeMap<Op, u64>,
    /// By number over all operations, over all writes, and within a kind; the first is 1.
    nth: BTreeMap<u64, Fault>,
    nth_write: BTreeMap<u64, Fault>,
    nth_of: BTreeMap<(Op, u64), Fault>,
    chance: Option<Chance>,
    /// What has failed, and how, since somebody last asked.
    fired: BTreeMap<(Op, Fault), u64>,
    /// A sync of the ledger has failed.
    broken: bool,
}

#[derive(Debug)]
struct Chance {
    state: u64,
    per_mille: u64,
    faults: Vec<Fault>,
}

impl Chance {
    /// SplitMix64: small, and the same everywhere for ever.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn draw(&mut self) -> Option<Fault> {
        let (hit, which) = (self.next() % 1_000 < self.per_mille, self.next());
        let nth = which.checked_rem(self.faults.len() as u64)?;
        hit.then(|| self.faults[nth as usize])
    }
}

impl Faults {
    /// No faults: only counts.
    pub fn none() -> Self {
        Self::default()
    }

    /// Each operation fails with the chance of so many in a thousand, in one of these ways.
    pub fn seeded(seed: u64, per_mille: u64, faults: &[Fault]) -> Self {
        let plan = Self::none();
        plan.lock().chance = Some(Chance { state: seed, per_mille, faults: faults.to_vec() });
        plan
    }

    /// The n-th operation of all fails; the first is 1.
    #[must_use]
    pub fn fail_nth(self, n: u64, fault: Fault) -> Self {
        self.lock().nth.insert(n, fault);
        self
    }

    /// The n-th writing operation of all fails; the first is 1.
    #[must_use]
    pub fn fail_nth_write(self, n: u64, fault: Fault) -> Self {
        self.lock().nth_write.insert(n, fault);
        self
    }

    /// The n-th operation of a kind fails; the first is 1.
    #[must_use]
    pub fn fail_nth_of(self, op: Op, n: u64, fault: Fault) -> Self {
        self.lock().nth_of.insert((op, n), fault);
        self
    }

    /// The next operation of a kind fails.
    pub fn fail_next(&self, op: Op, fault: Fault) {
        self.fail_after(op, 0, fault);
    }

    /// So many operations of a kind still succeed, and the one after them fails.
    pub fn fail_after(&self, op: Op, good: u64, fault: Fault) {
        let mut plan = self.lock();
        let next = plan.counts.get(&op).copied().unwrap_or(0) + good + 1;
        plan.nth_of.insert((op, next), fault);
    }

    /// Nothing fails any more; the counts go on.
    pub fn calm(&self) {
        let mut plan = self.lock();
        plan.nth.clear();
        plan.nth_write.clear();
        plan.nth_of.clear();
        plan.chance = None;
        plan.broken = false;
    }

    /// The process ended and another one opened the store: a failed sync is no longer held against it.
    pub fn restart(&self) {
        self.lock().broken = false;
    }

    /// How many operations of a kind there were, failed ones included.
    pub fn count(&self, op: Op) -> u64 {
        self.lock().counts.get(&op).copied().unwrap_or(0)
    }

    /// How many operations there were.
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// How many writing operations there were.
    pub fn writes(&self) -> u64 {
        self.lock().writes
    }

    /// What has failed, how, and how often, since this was last asked: a fault in the plan may never come about.
    pub fn take_fired(&self) -> BTreeMap<(Op, Fault), u64> {
        std::mem::take(&mut self.lock().fired)
    }

    /// Counts an operation and says how it is to fail, if it is.
    pub(super) fn next(&self, op: Op) -> Option<Fault> {
        let mut plan = self.lock();
        plan.total += 1;
        let total = plan.total;
        let count = plan.counts.entry(op).or_default();
        *count += 1;
        let count = *count;
        let by_number = plan.nth.get(&total).or_else(|| plan.nth_of.get(&(op, count))).copied();
        let by_write = if op.writes() {
            plan.writes += 1;
            let writes = plan.writes;
            plan.nth_write.get(&writes).copied()
        } else {
            None
        };
        // Drawn for every operation, so that a scripted fault does not shift the later ones.
        let by_chance = plan.chance.as_mut().and_then(Chance::draw);
        if plan.broken && op.writes() && op.of_ledger() {
            return Some(Fault::SyncFailed { landed: false });
        }
        let fault = by_number.or(by_write).or(by_chance);
        plan.broken |= op.writes() && op.of_ledger() && matches!(fault, Some(Fault::SyncFailed { .. }));
        if let Some(fault) = fault {
            *plan.fired.entry((op, fault)).or_default() += 1;
        }
        fault
    }

    fn lock(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
