//! How well push workers are reached: what the server remembers of them while it runs, and counts.
//!
//! A worker that is not reached is left alone for a while, longer each time, and is then asked to do one task before
//! it is given more. Calls that were under way together count as one failure: they say the same.

use edgewise_core::name::Name;
use edgewise_core::time::{Millis, Time};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The first hold-off.
const BASE: u64 = 1_000;
/// The longest that nobody asked for: a worker that is back is found within it.
const CAP: u64 = 60_000;
/// The longest of all.
const ASKED_CAP: u64 = 3_600_000;

/// Most accepted leases that are remembered.
const ACCEPTED: usize = 10_000;

/// How a call can end, as it is counted.
pub const ENDS: [&str; 6] = ["completed", "accepted", "given_back", "failed", "cancelled", "late"];

/// What is known of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often in a row it was not reached, or answered what cannot be used.
    pub failures: u32,
    /// It is left alone until then.
    pub until: Option<Time>,
    /// Why.
    pub why: Option<String>,
    /// Calls that are open.
    pub calling: u32,
}

impl Seen {
    /// How long it is still left alone.
    pub fn held_off(&self, now: Time) -> Option<Millis> {
        self.until.map(|until| until.since(now)).filter(|left| left.0 > 0)
    }
}

/// What is known of all of them.
pub(crate) struct Push {
    seen: Mutex<BTreeMap<Name, Seen>>,
    /// Leases that workers report by themselves: a slot is free when one of them is reported, and not at every report.
    accepted: Mutex<HashSet<String>>,
    ends: [AtomicU64; ENDS.len()],
    /// Changes when a push worker is made or changed here.
    settings: watch::Sender<u64>,
    /// Changes when a slot may be free, or somebody is to be left alone.
    room: watch::Sender<u64>,
}

impl Default for Push {
    fn default() -> Self {
        Self {
            seen: Mutex::default(),
            accepted: Mutex::default(),
            ends: Default::default(),
            settings: watch::Sender::new(0),
            room: watch::Sender::new(0),
        }
    }
}

impl Push {
    fn seen(&self) -> MutexGuard<'_, BTreeMap<Name, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a worker.
    pub fn of(&self, name: &Name) -> Seen {
        self.seen().get(name).cloned().unwrap_or_default()
    }

    /// A call begins; gives how often it had failed before.
    pub fn begin(&self, name: &Name) -> u32 {
        let mut all = self.seen();
        let seen = all.entry(name.clone()).or_default();
        seen.calling += 1;
        seen.failures
    }

    /// A call has ended.
    pub fn end(&self, name: &Name) {
        if let Some(seen) = self.seen().get_mut(name) {
            seen.calling = seen.calling.saturating_sub(1);
        }
        self.stir();
    }

    /// It answered as it should.
    pub fn good(&self, name: &Name) {
        if let Some(seen) = self.seen().get_mut(name) {
            *seen = Seen { calling: seen.calling, ..Seen::default() };
        }
    }

    /// It has taken a lease, and reports it by itself.
    pub fn accepted(&self, name: &Name, lease: String) {
        self.good(name);
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        if accepted.len() >= ACCEPTED {
            // Those that lapsed are never reported. What is forgotten here is found by the next look.
            accepted.clear();
        }
        accepted.insert(lease);
    }

    /// Leases were reported or given back.
    pub fn reported<'l>(&self, mut leases: impl Iterator<Item = &'l String>) {
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        if !accepted.is_empty() && leases.any(|lease| accepted.remove(lease)) {
            self.stir();
        }
    }

    /// It did not: it is left alone for a while. `before` is what [`Push::begin`] gave.
    pub fn bad(&self, name: &Name, before: u32, (why, asked): (String, Option<Millis>), (now, dice): (Time, u64)) {
        let mut all = self.seen();
        let seen = all.entry(name.clone()).or_default();
        if seen.failures == before {
            seen.failures = before.saturating_add(1);
        }
        let until = now.plus(hold_off(seen.failures, asked, dice));
        seen.until = seen.until.max(Some(until));
        seen.why = Some(why);
        drop(all);
        self.stir();
    }

    /// Forgets those that are there no more, unless they have calls open.
    pub fn retain(&self, is_there: impl Fn(&Name) -> bool) {
        self.seen().retain(|name, seen| seen.calling > 0 || is_there(name));
    }

    /// A call ended so, by its word in [`ENDS`].
    pub fn count(&self, end: &'static str) {
        if let Some(n) = ENDS.iter().position(|known| *known == end) {
            self.ends[n].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many calls ended each way, how many are open, and how many workers are left alone.
    pub fn counts(&self, now: Time) -> ([u64; ENDS.len()], usize, usize) {
        let ends = std::array::from_fn(|n| self.ends[n].load(Ordering::Relaxed));
        let all = self.seen();
        let calling = all.values().map(|seen| seen.calling as usize).sum();
        (ends, calling, all.values().filter(|seen| seen.held_off(now).is_some()).count())
    }

    /// Push workers were made or changed here: they need not be looked for.
    pub fn changed(&self) {
        self.settings.send_modify(|n| *n += 1);
    }

    /// A slot may be free.
    pub fn stir(&self) {
        self.room.send_modify(|n| *n += 1);
    }

    pub fn settings(&self) -> watch::Receiver<u64> {
        self.settings.subscribe()
    }

    pub fn room(&self) -> watch::Receiver<u64> {
        self.room.subscribe()
    }
}

/// How long a worker is left alone after so many failures in a row. Half of it is chance, so that workers at one
/// address do not come back at the same instant; what the other side asks for is honoured.
fn hold_off(failures: u32, asked: Option<Millis>, dice: u64) -> Millis {
    let most = 2_u64.saturating_pow(failures.saturating_sub(1)).saturating_mul(BASE).min(CAP);
    let own = most / 2 + dice % (most / 2 + 1);
    Millis(own.max(asked.map_or(0, |span| span.0).min(ASKED_CAP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hold_offs_grow_have_chance_in_them_and_honour_what_is_asked() {
        let check = |failures: u32, asked: Option<u64>, dice: u64, expected: u64| {
            assert_eq!(hold_off(failures, asked.map(Millis), dice), Millis(expected), "{failures} {asked:?}");
        };
        check(1, None, 0, 500);
        check(1, None, 500, 1_000);
        check(4, None, 0, 4_000);
        check(7, None, 0, 30_000);
        check(u32::MAX, None, 30_000, CAP);
        check(1, Some(20_000), 0, 20_000);
        check(7, Some(1), 0, 30_000);
        check(1, Some(u64::MAX), 0, ASKED_CAP);
    }

    #[test]
    fn calls_that_fail_together_are_one_failure_and_a_good_answer_ends_the_hold_off() {
        let (push, name, now) = (Push::default(), Name::parse("w").unwrap(), Time(1_000));
        let bad = |before: u32| push.bad(&name, before, ("down".into(), None), (now, 0));
        let begun = [push.begin(&name), push.begin(&name), push.begin(&name)];
        begun.into_iter().for_each(bad);
        assert_eq!((push.of(&name).failures, push.of(&name).held_off(now)), (1, Some(Millis(500))));
        bad(push.begin(&name));
        assert_eq!((push.of(&name).failures, push.of(&name).held_off(now)), (2, Some(Millis(1_000))));
        assert_eq!(push.of(&name).held_off(Time(2_000)), None);
        push.good(&name);
        assert_eq!(push.of(&name), Seen { calling: 4, ..Seen::default() });
        push.retain(|_| false);
        assert_eq!(push.of(&name).calling, 4, "calls that are open are not forgotten");
    }
}
