//! What queues are set to, on the desk: the file of whoever runs the engine, and over it the workspace's settings.
//!
//! The settings are a part of control. Wherever control moves, by an event of this engine or by what others wrote, its
//! queues move with it, so that every engine over a store keeps to the same bounds.

use super::Desk;
use crate::queues::{QueueSettings, Queues, queue_of, set_by};
use edgewise_core::control::Control;
use edgewise_core::name::Name;
use std::collections::BTreeSet;

impl Desk {
    /// What whoever runs the engine says of queues: it holds where the settings say nothing.
    pub fn give_queues(&mut self, given: &Queues) {
        self.given_queues.extend(given.iter().map(|(name, set)| (name.clone(), *set)));
        given.keys().for_each(|name| self.settle_queue(name));
    }

    /// What a queue is set to, as far as control is known here.
    pub fn queue(&self, name: &Name) -> QueueSettings {
        let set = set_by(name, &self.control.state.settings);
        set.or_else(|| self.given_queues.get(name).copied()).unwrap_or_default()
    }

    /// A queue is what control says from now on.
    pub(super) fn settle_queue(&mut self, name: &Name) {
        let bounded = self.queues.any_bounded();
        self.queues.set(name, self.queue(name));
        // Nobody has looked at what others granted while nothing was bounded: the next step does.
        self.blind |= !bounded && self.queues.any_bounded();
    }

    /// Every queue that control says something else of than before.
    pub(super) fn settle_queues(&mut self, old: &Control) {
        let (was, is) = (&old.settings, &self.control.state.settings);
        let moved = was.keys().chain(is.keys()).filter(|key| was.get(*key) != is.get(*key)).filter_map(queue_of);
        let moved: BTreeSet<Name> = moved.collect();
        moved.iter().for_each(|name| self.settle_queue(name));
    }
}
