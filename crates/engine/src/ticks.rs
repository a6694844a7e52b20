//! Ticks: when each schedule is to be looked at next, and whose end is waited for.
//!
//! Only hints, like lanes and timers: what a schedule is and how far it is says the control of the workspace, and
//! every look asks it. A look that was forgotten is found by the sweep.

use edgewise_core::control::Scheduled;
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::schedule::{Rhythm, When};
use edgewise_core::time::Time;
use edgewise_store::quick::QuickMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most plans of registered flows that are kept at hand.
const PLANS: usize = 1_000;

#[derive(Default)]
pub(crate) struct Ticks {
    looks: BTreeSet<(Time, Name)>,
    known: BTreeMap<Name, Known>,
    /// Schedules that can only go on when a run ends.
    waiting: BTreeSet<Name>,
    /// Runs of schedules, as far as they are not known to be over, and those that are.
    watched: QuickMap<RunId, Name>,
    over: QuickMap<RunId, Name>,
    /// The plans of registered flows that were run last.
    pub plans: QuickMap<PlanHash, Arc<Plan>>,
}

struct Known {
    when: When,
    rhythm: Arc<Rhythm>,
    look: Option<Time>,
}

impl Ticks {
    /// The next schedule that is to be looked at by now.
    pub fn next(&self, now: Time) -> Option<Name> {
        self.looks.first().filter(|(at, _)| *at <= now).map(|(_, name)| name.clone())
    }

    /// When the next look is.
    pub fn next_look(&self) -> Option<Time> {
        self.looks.first().map(|(at, _)| *at)
    }

    /// Whether no schedule will ever tick by itself.
    pub fn is_empty(&self) -> bool {
        self.looks.is_empty() && self.waiting.is_empty()
    }

    /// The rhythm of a schedule; `None` if it cannot be read by this program.
    pub fn rhythm(&mut self, name: &Name, when: &When) -> Option<Arc<Rhythm>> {
        if let Some(known) = self.known.get(name).filter(|known| known.when == *when) {
            return Some(Arc::clone(&known.rhythm));
        }
        let rhythm = Arc::new(Rhythm::read(when).ok()?);
        let look = self.known.remove(name).and_then(|known| known.look);
        self.known.insert(name.clone(), Known { when: when.clone(), rhythm: Arc::clone(&rhythm), look });
        Some(rhythm)
    }

    /// Looks at a schedule at an instant, or never.
    pub fn look_at(&mut self, name: &Name, at: Option<Time>) {
        let Some(known) = self.known.get_mut(name) else { return };
        if let Some(before) = std::mem::replace(&mut known.look, at) {
            self.looks.remove(&(before, name.clone()));
        }
        if let Some(at) = at {
            self.looks.insert((at, name.clone()));
        }
    }

    /// Forgets a schedule that is gone.
    pub fn forget(&mut self, name: &Name) {
        self.look_at(name, None);
        self.known.remove(name);
        self.waiting.remove(name);
        self.watched.retain(|_, of| of != name);
        self.over.retain(|_, of| of != name);
    }

    /// A schedule is as its control says now: works out when to look at it next.
    pub fn index(&mut self, name: &Name, entry: &Scheduled) {
        self.waiting.remove(name);
        for run in &entry.running {
            if !self.over.contains_key(run) {
                self.watched.insert(*run, name.clone());
            }
        }
        let Some(rhythm) = self.rhythm(name, &entry.schedule.when).filter(|_| !entry.schedule.paused) else {
            self.look_at(name, None);
            return;
        };
        let running = entry.running.iter().filter(|run| !self.over.contains_key(run)).count();
        let next = rhythm.next(entry.after);
        let look = match &entry.schedule.backfill {
            Some(backfill) => {
                let more = next.is_some_and(|due| due <= backfill.until);
                let busy = if more { running >= backfill.at_once as usize } else { running > 0 };
                if busy { None } else { Some(Time::NEVER) }
            }
            None if !entry.queue.is_empty() && running == 0 => Some(Time::NEVER),
            None => next.map(|due| due.plus(entry.schedule.delay(name, due))),
        };
        if !entry.queue.is_empty() || entry.schedule.backfill.is_some() {
            self.waiting.insert(name.clone());
        }
        self.look_at(name, look);
    }

    /// Whether a run of a schedule is known to be over.
    pub fn is_over(&self, run: RunId) -> bool {
        self.over.contains_key(&run)
    }

    /// Remembers that a run is over, until its schedule does.
    pub fn ended(&mut self, run: RunId) {
        if let Some(name) = self.watched.remove(&run) {
            if self.waiting.contains(&name) {
                self.look_at(&name, Some(Time::NEVER));
            }
            self.over.insert(run, name);
        }
    }

    /// A run is not asked for any more.
    pub fn settled(&mut self, run: RunId) {
        self.watched.remove(&run);
        self.over.remove(&run);
    }

    /// Looks again at whatever waits for a run's end: it may have ended elsewhere.
    pub fn look_again(&mut self) {
        for name in self.waiting.clone() {
            self.look_at(&name, Some(Time::NEVER));
        }
    }

    /// Keeps a plan at hand.
    pub fn keep(&mut self, hash: PlanHash, plan: &Arc<Plan>) {
        if self.plans.len() >= PLANS {
            self.plans.clear();
        }
        self.plans.insert(hash, Arc::clone(plan));
    }
}
