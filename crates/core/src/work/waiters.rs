//! Who waits at a gate: tasks of runs, in the order in which they came.
//!
//! Ten thousand tasks may share a gate, come one by one and leave one by one, and each of them is asked about by every
//! sweep. So the graph knows where each stands, and none of this looks through those that wait beside it.

use super::{GateWaiter, ItemId, Work, WorkGate};
use crate::event::LinkRef;
use crate::id::RunId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, btree_map};

/// The tasks of runs that open with a gate, or did.
#[derive(Debug, Clone, Default)]
pub struct GateWaiters {
    /// Under numbers that say who came first; those of tasks that left are missing.
    came: BTreeMap<u64, GateWaiter>,
}

impl GateWaiters {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.came.is_empty()
    }

    /// All of them, in the order in which they came.
    pub fn iter(&self) -> btree_map::Values<'_, u64, GateWaiter> {
        self.came.values()
    }

    fn push(&mut self, waiter: GateWaiter) -> u64 {
        let number = self.came.last_key_value().map_or(0, |(last, _)| last + 1);
        self.came.insert(number, waiter);
        number
    }
}

impl<'a> IntoIterator for &'a GateWaiters {
    type Item = &'a GateWaiter;
    type IntoIter = btree_map::Values<'a, u64, GateWaiter>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The same tasks in the same order, whoever left in between.
impl PartialEq for GateWaiters {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl Serialize for GateWaiters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for GateWaiters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::deserialize(deserializer)?;
        Ok(Self { came: (0..).zip(list).collect() })
    }
}

/// Where tasks of runs stand at gates: the attempt, the gate's number, and who it is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Places(BTreeMap<(RunId, LinkRef, u32), u64>);

impl Places {
    fn set(&mut self, n: u32, gate: &WorkGate, there: bool) {
        for (number, waiter) in &gate.tasks.came {
            let place = (waiter.run, waiter.link, n);
            if there {
                self.0.insert(place, *number);
            } else {
                self.0.remove(&place);
            }
        }
    }
}

impl Work {
    /// The gate that an attempt of a task is known to wait for, or waited for until it ended, and as whom.
    pub fn shared_gate(&self, run: RunId, link: LinkRef) -> Option<(&WorkGate, &GateWaiter)> {
        let places = self.places.0.range((run, link, 0)..=(run, link, u32::MAX));
        let at = |((_, _, n), number): (&(RunId, LinkRef, u32), &u64)| {
            let gate = &self.gates[*n as usize].gate;
            Some((gate, gate.tasks.came.get(number)?))
        };
        places.filter_map(at).min_by_key(|(gate, _)| gate.ended.is_some())
    }

    /// Whether a task is known to wait at a gate, or waited there until it ended.
    pub(super) fn waits_at(&self, n: u32, waiter: &GateWaiter) -> bool {
        self.places.0.contains_key(&(waiter.run, waiter.link, n))
    }

    pub(super) fn come_to(&mut self, gate: &ItemId, waiter: &GateWaiter) {
        let Some(n) = self.gate_number(gate.as_str()) else { return };
        let number = self.gate_mut(n).gate.tasks.push(waiter.clone());
        self.places.0.insert((waiter.run, waiter.link, n), number);
    }

    pub(super) fn leave(&mut self, gate: &ItemId, waiter: &GateWaiter) {
        let Some(n) = self.gate_number(gate.as_str()) else { return };
        if let Some(number) = self.places.0.remove(&(waiter.run, waiter.link, n)) {
            self.gate_mut(n).gate.tasks.came.remove(&number);
        }
    }

    /// Lets those who wait at a gate be found there, or not any more.
    pub(super) fn find_waiters(&mut self, n: u32, there: bool) {
        self.places.set(n, &self.gates[n as usize].gate, there);
    }

    /// Whether everybody who waits at a gate is found there, and nobody else.
    pub(super) fn finds_all_waiters(&self) -> bool {
        let mut places = Places::default();
        (0..).zip(&self.gates).for_each(|(n, slot)| places.set(n, &slot.gate, true));
        places == self.places
    }
}
