//! Limits and queues: at no commit are more attempts at work than may be, whoever granted them.

use super::Witness;
use crate::driver::name;
use crate::violation::{Held, ensure};
use edgewise_core::id::RunId;
use edgewise_engine::queues::{QueueSettings, set_by};
use std::collections::{BTreeMap, BTreeSet};

impl Witness {
    /// Counts the leases that the ledger says live, by key and by queue. A commit that sets a queue may grant before it does.
    pub(super) fn shares(&mut self, changed: &BTreeSet<RunId>, before: &BTreeMap<String, u32>) -> Held {
        let mut keys: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        let mut queues: BTreeMap<&str, u32> = BTreeMap::new();
        for book in self.books.values() {
            // What became of a lease while its run was frozen is not in the ledger: nobody could end it there.
            for (task, _) in book.live.iter().filter(|(_, token)| !book.rested.contains(token)) {
                let share = &book.run.spec_of(*task).share;
                if let Some(queue) = &share.queue {
                    *queues.entry(queue).or_default() += 1;
                }
                let Some(limit) = &share.limit else { continue };
                let key = book.run.limit_key(*task).ok().flatten();
                let said = || format!("{} is at work and has no key", book.run.path(*task));
                ensure(key.is_some(), "limits_have_keys", said)?;
                let (held, most) = keys.entry(key.unwrap_or_default()).or_insert((0, u32::MAX));
                *held += 1;
                *most = (*most).min(limit.max.unwrap_or(u32::MAX));
            }
        }
        for (key, (held, most)) in keys {
            let said = || format!("{held} attempts with the key {key:?} are at work, at most {most} may be");
            ensure(held <= most, "limits_hold", said)?;
            if held == most {
                self.cover.count("limit", "full");
            }
        }
        let granted: BTreeSet<&str> = changed.iter().flat_map(|run| self.books[run].granted_anew()).collect();
        for (queue, most) in &self.free() {
            if self.slots_vary && !granted.contains(queue.as_str()) {
                continue;
            }
            let most = most.max(before.get(queue).unwrap_or(most));
            let held = queues.get(queue.as_str()).copied().unwrap_or_default();
            let said = || format!("{held} attempts of the queue {queue} are at work, it has {most} slots");
            ensure(held <= *most, "queues_keep_their_slots", said)?;
        }
        Ok(())
    }

    /// How many attempts of each queue may be at work: what the workspace says, or else the files of its engines.
    pub(super) fn free(&self) -> BTreeMap<String, u32> {
        let settings = &self.control.state.settings;
        let set = |queue: &str| set_by(&name(queue), settings).filter(|_| self.slots_vary);
        let free = |set: QueueSettings| if set.paused { 0 } else { set.slots.unwrap_or(u32::MAX) };
        self.slots.iter().map(|(queue, filed)| (queue.clone(), set(queue).map_or(*filed, free))).collect()
    }
}
