//! Queues that are set while the storm rages: somebody gives one more slots or fewer at one engine, or pauses it there.
//!
//! A setting is known to the engine that was told, and gone with it. Whoever comes up has what its file says.

use super::{Ask, Storm};
use crate::driver::{No, name};
use crate::orchestrator::FILED;
use crate::plans::{SLOW, has_shares};
use edgewise_engine::command::Command;
use edgewise_engine::committer::Step;
use edgewise_engine::queues::QueueSettings;

impl Storm {
    /// Whether somebody sets queues in this seed: one in six of those that have some, and none of those that are kept for
    /// what they once found without.
    pub(super) fn sets_queues(&self) -> bool {
        has_shares(self.seed) && matches!(self.seed % 47, 5 | 9 | 11 | 13 | 16 | 29 | 34 | 37 | 44)
    }

    /// Somebody sets the queue at one engine.
    pub(super) fn set_a_queue(&mut self) {
        let slots = Some(1 + self.dice.below(4) as u32);
        let set = QueueSettings { slots, paused: self.dice.one_in(4), ..FILED };
        self.ask(Command::SetQueue { name: name(SLOW), set });
    }

    /// An engine is about to take a step: nothing that it grants there goes beyond what it was told before or is told now.
    pub(super) fn watch_slots(&mut self, o: usize) -> Vec<(No, QueueSettings)> {
        if !self.sets_queues() {
            return Vec::new();
        }
        let told = self.orchestrators[o].inbox.iter().filter_map(|(no, command)| match command {
            Command::SetQueue { set, .. } => Some((*no, *set)),
            _ => None,
        });
        let told: Vec<(No, QueueSettings)> = told.collect();
        let free = |set: &QueueSettings| if set.paused { 0 } else { set.slots.unwrap_or(u32::MAX) };
        let all = self.orchestrators[o].slow.iter().chain(told.iter().map(|(_, set)| set));
        let most = all.map(free).max().unwrap_or_default();
        self.witness.slots_vary = true;
        self.witness.slots.insert(SLOW.into(), most);
        told
    }

    /// The step is over: what was answered well holds, and what was not may hold.
    pub(super) fn slots_were_set(&mut self, o: usize, told: Vec<(No, QueueSettings)>, step: &Step<No>) {
        for (no, set) in told {
            let slow = &mut self.orchestrators[o].slow;
            if step.answers.iter().any(|(answered, answer)| *answered == no && answer.is_ok()) {
                slow.clear();
            }
            slow.push(set);
        }
    }

    /// After the storm every engine has what its file says.
    pub(super) fn set_queues_as_filed(&mut self) {
        let told = if self.sets_queues() { self.orchestrators.len() } else { 0 };
        for o in 0..told {
            self.send(o, vec![(Ask::Person, Command::SetQueue { name: name(SLOW), set: FILED })]);
        }
    }
}
