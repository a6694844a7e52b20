//! Queues that are set while the storm rages: somebody gives one more slots or fewer, or pauses it, for every engine.

use super::{Ask, Storm};
use crate::driver::name;
use crate::plans::{SLOW, has_shares};
use edgewise_engine::command::{Command, SetQueue};
use edgewise_engine::queues::{Bound, QueueChange};

impl Storm {
    /// Whether somebody sets queues in this seed: one in six of those that have some, and none of those that are kept for
    /// what they once found without.
    pub(super) fn sets_queues(&self) -> bool {
        has_shares(self.seed) && matches!(self.seed % 47, 5 | 9 | 11 | 13 | 16 | 29 | 34 | 37 | 44)
    }

    /// Somebody sets the queue.
    pub(super) fn set_a_queue(&mut self) {
        let slots = Some(Bound::At(1 + self.dice.below(4) as u32));
        let change = QueueChange { slots, rate: None, paused: Some(self.dice.one_in(4)) };
        self.ask(set(Some(change)));
    }

    /// After the storm the queue is again what the files of the engines say.
    pub(super) fn set_queues_as_filed(&mut self) {
        let told = if self.sets_queues() { self.orchestrators.len() } else { 0 };
        for o in 0..told {
            self.send(o, vec![(Ask::Person, set(None))]);
        }
    }
}

fn set(change: Option<QueueChange>) -> Command {
    Command::SetQueue(SetQueue { queue: name(SLOW), change, by: name("ann"), why: None })
}
