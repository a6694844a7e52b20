//! Troubles: whether one strikes, and whether anybody feels it.

use super::Storm;
use crate::weather::Trouble;
use edgewise_store::faulty::{Fault, Op};

impl Storm {
    /// Whether a trouble strikes now. It counts if somebody feels it: a stop of what is dead already tests nothing.
    pub(super) fn strikes(&mut self, trouble: Trouble) -> bool {
        let strikes = !self.is_calm && self.weather.strikes(trouble, &mut self.dice);
        if strikes {
            self.note(|| format!("! {}", trouble.word()));
        }
        strikes
    }

    /// A trouble that struck has made a difference.
    pub(super) fn felt(&mut self, trouble: Trouble) {
        self.cover.count("trouble", trouble.word());
    }

    pub(super) fn felt_if(&mut self, felt: bool, trouble: Trouble) {
        if felt {
            self.felt(trouble);
        }
    }

    /// What of the store's faults has come about: one that is set for an append waits until there is one.
    pub(super) fn count_faults(&mut self) {
        for ((op, fault), times) in self.orchestrators.iter().flat_map(|o| o.faults.take_fired()) {
            let trouble = match fault {
                Fault::AnswerLost { landed: true } => Trouble::UnknownLanded,
                Fault::AnswerLost { landed: false } => Trouble::UnknownLost,
                Fault::SyncFailed { .. } => Trouble::SyncFailed,
                Fault::Conflict => Trouble::Conflict,
                Fault::DiskFull if op.writes() => Trouble::Full,
                // Who reads from a full disk is told that the store is busy.
                Fault::DiskFull | Fault::Refused => Trouble::Busy,
                Fault::Damaged => continue,
            };
            self.cover.add("trouble", trouble.word(), times);
        }
    }

    /// What the store will do to an orchestrator that is about to use it.
    pub(super) fn arm(&mut self, o: usize) {
        let faults = self.orchestrators[o].faults.clone();
        let on_append = [
            (Trouble::UnknownLanded, Fault::AnswerLost { landed: true }),
            (Trouble::UnknownLost, Fault::AnswerLost { landed: false }),
            (Trouble::SyncFailed, Fault::SyncFailed { landed: self.dice.one_in(2) }),
        ];
        for (trouble, fault) in on_append {
            if self.strikes(trouble) {
                faults.fail_next(Op::Append, fault);
                if self.dice.one_in(2) {
                    faults.fail_next(Op::Head, Fault::Refused);
                }
            }
        }
        if self.strikes(Trouble::Conflict) {
            let times = *self.dice.pick(&[1, 2, 5]);
            let next = faults.count(Op::Append);
            for n in 1..=times {
                let _ = faults.clone().fail_nth_of(Op::Append, next + n, Fault::Conflict);
            }
        }
        for (trouble, fault) in [(Trouble::Busy, Fault::Refused), (Trouble::Full, Fault::DiskFull)] {
            if self.strikes(trouble) {
                let nth = faults.total() + 1 + self.dice.below(6);
                let _ = faults.clone().fail_nth(nth, fault);
                if self.dice.one_in(3) {
                    faults.fail_next(Op::Append, fault);
                }
            }
        }
    }
}
