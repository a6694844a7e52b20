//! Publishers in a storm: in some seeds flows tell the outside world something, and what is told must be queued once.

use super::Storm;
use crate::violation::Held;
use crate::weather::Trouble;
use edgewise_store::faulty::{Fault, Op};

impl Storm {
    /// The publisher of one engine hears what was committed, and often writes.
    pub(super) fn publish(&mut self) -> Held {
        let o = self.dice.below(self.orchestrators.len() as u64) as usize;
        if !self.orchestrators[o].acts() {
            return Ok(());
        }
        let faults = self.orchestrators[o].faults.clone();
        let troubles = [
            (Trouble::UnknownLanded, Fault::AnswerLost { landed: true }),
            (Trouble::UnknownLost, Fault::AnswerLost { landed: false }),
            (Trouble::Busy, Fault::Refused),
            (Trouble::Full, Fault::DiskFull),
        ];
        for (trouble, fault) in troubles {
            if self.strikes(trouble) {
                faults.fail_next(Op::Publish, fault);
            }
        }
        let writes = self.dice.one_in(2);
        if let Some(teller) = &mut self.orchestrators[o].teller {
            teller.hear();
            if writes {
                teller.write();
            }
        }
        self.witness.look_at_queues()
    }

    /// After the storm: everything is told.
    pub(super) fn publish_all(&mut self) -> Held {
        for teller in self.orchestrators.iter_mut().filter_map(|o| o.teller.as_mut()) {
            teller.hear();
            teller.write();
            // One that finds that another has published meanwhile reads on from there.
            teller.write();
        }
        self.witness.look_at_queues()
    }
}
