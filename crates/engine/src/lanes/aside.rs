//! What is set aside: tasks that had their turn while their key was full, by key and lane.

use super::{At, LaneNo, Line, Offer, Waiting};
use crate::turns::Bound;
use edgewise_core::id::RunId;
use std::collections::HashMap;
use std::sync::Arc;

/// Each lane of a key has a line of its own: a task that no worker waits for must not keep others from their turn.
#[derive(Default)]
pub(super) struct Aside(HashMap<Arc<str>, Vec<(LaneNo, Line)>>);

impl Aside {
    pub fn put(&mut self, lane: LaneNo, waiting: Waiting, at: At) {
        let Some(bound) = &waiting.bound else { return };
        let lines = match self.0.get_mut(&bound.key) {
            Some(lines) => lines,
            None => self.0.entry(Arc::clone(&bound.key)).or_default(),
        };
        match lines.iter_mut().find(|(of, _)| *of == lane) {
            Some((_, line)) => line.put(waiting, at),
            None => {
                let mut line = Line::default();
                line.put(waiting, at);
                lines.push((lane, line));
            }
        }
    }

    pub fn has(&self, bound: &Bound, lane: LaneNo, offer: Offer) -> bool {
        let lines = self.0.get(&bound.key).into_iter().flatten();
        lines.filter(|(of, _)| *of == lane).any(|(_, line)| line.has(offer.run, offer.task))
    }

    pub fn take(&mut self, bound: &Bound, lane: LaneNo, offer: Offer) {
        let Some(lines) = self.0.get_mut(&bound.key) else { return };
        for (_, line) in lines.iter_mut().filter(|(of, _)| *of == lane) {
            line.take(offer.run, offer.task);
        }
        self.tidy(&bound.key);
    }

    /// Up to so many of each lane, in their order.
    pub fn wake(&mut self, key: &str, count: u32) -> Vec<(LaneNo, Waiting)> {
        let mut woken = Vec::new();
        for (lane, line) in self.0.get_mut(key).into_iter().flatten() {
            woken.extend((0..count).map_while(|_| line.pop()).map(|waiting| (*lane, waiting)));
        }
        if !woken.is_empty() {
            self.tidy(key);
        }
        woken
    }

    pub fn forget(&mut self, runs: &[RunId]) {
        self.0.retain(|_, lines| {
            lines.retain_mut(|(_, line)| {
                runs.iter().for_each(|run| drop(line.forget(*run)));
                !line.is_empty()
            });
            !lines.is_empty()
        });
    }

    pub fn any(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub fn keys(&self) -> Vec<Arc<str>> {
        let mut keys: Vec<Arc<str>> = self.0.keys().cloned().collect();
        // The same order every time, so that what is found in a simulation is found again.
        keys.sort_unstable();
        keys
    }

    fn tidy(&mut self, key: &str) {
        if let Some(lines) = self.0.get_mut(key) {
            lines.retain(|(_, line)| !line.is_empty());
            if lines.is_empty() {
                self.0.remove(key);
            }
        }
    }
}
