//! What is set aside: tasks that had their turn while their key was full, by key and lane.

use super::{At, LaneNo, Line, Offer, Waiting};
use crate::turns::Bound;
use edgewise_core::id::RunId;
use edgewise_store::quick::QuickMap;
use std::sync::Arc;

/// Each lane of a key has a line of its own: a task that no worker waits for must not keep others from their turn.
#[derive(Default)]
pub(super) struct Aside {
    keys: QuickMap<Arc<str>, Vec<(LaneNo, Line)>>,
    /// How many tasks of each run are here.
    of_run: QuickMap<RunId, u32>,
}

impl Aside {
    pub fn put(&mut self, lane: LaneNo, waiting: Waiting, at: At) {
        let Some(bound) = &waiting.bound else { return };
        let lines = match self.keys.get_mut(&bound.key) {
            Some(lines) => lines,
            None => self.keys.entry(Arc::clone(&bound.key)).or_default(),
        };
        let run = waiting.offer.run;
        let fresh = match lines.iter_mut().find(|(of, _)| *of == lane) {
            Some((_, line)) => line.put(waiting, at),
            None => {
                let mut line = Line::default();
                line.put(waiting, at);
                lines.push((lane, line));
                true
            }
        };
        *self.of_run.entry(run).or_default() += u32::from(fresh);
    }

    /// How many tasks of a run are here.
    pub fn of_run(&self, run: RunId) -> u32 {
        self.of_run.get(&run).copied().unwrap_or_default()
    }

    fn left(&mut self, run: RunId) {
        if let Some(count) = self.of_run.get_mut(&run) {
            *count -= 1;
            if *count == 0 {
                self.of_run.remove(&run);
            }
        }
    }

    pub fn has(&self, bound: &Bound, lane: LaneNo, offer: Offer) -> bool {
        let lines = self.keys.get(&bound.key).into_iter().flatten();
        lines.filter(|(of, _)| *of == lane).any(|(_, line)| line.has(offer.run, offer.task))
    }

    pub fn take(&mut self, bound: &Bound, lane: LaneNo, offer: Offer) {
        let Some(lines) = self.keys.get_mut(&bound.key) else { return };
        let mut taken = false;
        for (_, line) in lines.iter_mut().filter(|(of, _)| *of == lane) {
            taken |= line.take(offer.run, offer.task);
        }
        if taken {
            self.left(offer.run);
        }
        self.tidy(&bound.key);
    }

    /// Up to so many of each lane, in their order.
    pub fn wake(&mut self, key: &str, count: u32) -> Vec<(LaneNo, Waiting)> {
        let mut woken = Vec::new();
        for (lane, line) in self.keys.get_mut(key).into_iter().flatten() {
            woken.extend((0..count).map_while(|_| line.pop()).map(|waiting| (*lane, waiting)));
        }
        woken.iter().for_each(|(_, waiting)| self.left(waiting.offer.run));
        if !woken.is_empty() {
            self.tidy(key);
        }
        woken
    }

    pub fn forget(&mut self, runs: &[RunId]) {
        let here: Vec<RunId> = runs.iter().filter(|run| self.of_run.remove(run).is_some()).copied().collect();
        if here.is_empty() {
            return;
        }
        self.keys.retain(|_, lines| {
            lines.retain_mut(|(_, line)| {
                here.iter().for_each(|run| drop(line.forget(*run)));
                !line.is_empty()
            });
            !lines.is_empty()
        });
    }

    pub fn any(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    pub fn keys(&self) -> Vec<Arc<str>> {
        let mut keys: Vec<Arc<str>> = self.keys.keys().cloned().collect();
        // The same order every time, so that what is found in a simulation is found again.
        keys.sort_unstable();
        keys
    }

    fn tidy(&mut self, key: &str) {
        if let Some(lines) = self.keys.get_mut(key) {
            lines.retain(|(_, line)| !line.is_empty());
            if lines.is_empty() {
                self.keys.remove(key);
            }
        }
    }
}
