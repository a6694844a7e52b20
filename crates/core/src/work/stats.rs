//! How much of what there is.

use super::{ItemKind, Standing, Status, Work};
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts over all items that are not deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// All of them.
    pub items: usize,
    /// By kind.
    pub kinds: BTreeMap<ItemKind, usize>,
    /// Of those that can be done, by base status.
    pub status: BTreeMap<Status, usize>,
    /// Tasks that somebody can begin.
    pub ready: usize,
    /// Tasks that something is in the way of.
    pub blocked: usize,
    /// Tasks that somebody has.
    pub claimed: usize,
    /// Tasks whose time has not come.
    pub scheduled: usize,
    /// Dependencies of all kinds.
    pub dependencies: usize,
    /// Gates that are neither open nor rejected.
    pub closed_gates: usize,
    /// Runs that are waited for.
    pub awaited_runs: usize,
}

impl Work {
    /// How much of what there is at an instant.
    pub fn stats(&self, now: Time) -> Stats {
        let mut stats = Stats::default();
        for n in 0..self.items.len() as u32 {
            let item = &self.slot(n).item;
            if item.status == Status::Tombstone {
                continue;
            }
            stats.items += 1;
            *stats.kinds.entry(item.kind).or_default() += 1;
            if item.kind.is_work() {
                *stats.status.entry(item.status).or_default() += 1;
            }
            // As many as `ready` and `blocked` list: plans and instances are not begun themselves.
            if item.kind != ItemKind::Task {
                continue;
            }
            match self.facts(n).standing(now) {
                Standing::Ready => stats.ready += 1,
                Standing::Blocked => stats.blocked += 1,
                Standing::Claimed(..) => stats.claimed += 1,
                Standing::Scheduled(_) => stats.scheduled += 1,
                _ => {}
            }
        }
        stats.dependencies = self.edges.len() - self.free_edges.len();
        stats.closed_gates = self.gates.iter().filter(|slot| slot.gate.ended.is_none()).count();
        stats.awaited_runs = self.awaited_runs().count();
        stats
    }
}
