//! One step of a storm: somebody does something, or something goes wrong.

use super::{Storm, witness_over};
use crate::plans::{has_events, has_work};
use crate::violation::Held;
use crate::weather::Trouble;
use edgewise_core::time::Millis;

/// How often a worker says that it lives, where work takes long.
const BEAT_EVERY: u64 = 4_000;

impl Storm {
    /// The act that the dice of this step choose.
    pub(super) fn act(&mut self, step: u64) -> Held {
        let dice = self.dice.clone().draw();
        self.note(|| format!("step {step}, dice {dice:016x}"));
        self.disturb()?;
        if has_events(self.seed) && self.dice.one_in(3) {
            self.publish()?;
        }
        if has_work(self.seed) && self.dice.one_in(4) {
            self.work();
            return self.wake_the_due();
        }
        match self.dice.below(100) {
            0..=39 => {
                for _ in 0..1 + self.dice.below(4) {
                    self.deliver()?;
                }
            }
            40..=43 => self.start(),
            44..=53 => self.claim(),
            54..=67 => self.finish(false),
            68..=73 => self.finish(true),
            74..=76 => self.beat(),
            77 => self.give_back(),
            78..=85 => self.person(),
            86..=88 => self.take_what_lies_there()?,
            89 | 90 => self.write_late_rows()?,
            91..=94 => self.wait_for_the_next_wake()?,
            _ => {
                let spans = [1, 1, 20, 20, 60, 60, 500, 500, 1_000, 1_000, 2_000, 5_000, 9_000, 31_000, 100_000];
                let span = *self.dice.pick(&spans);
                if self.works_long() { self.work_for(span)? } else { self.pass(Millis(span))? }
            }
        }
        self.wake_the_due()
    }

    /// In some seeds work takes long: whoever has something in hand says so all the time, each at a door of their own.
    fn works_long(&self) -> bool {
        matches!(self.seed % 16, 11..=13)
    }

    fn work_for(&mut self, span: u64) -> Held {
        let doors: Vec<usize> = (0..self.workers.len()).map(|w| self.door(w)).collect();
        let mut left = span;
        while left > 0 {
            for (w, door) in doors.iter().enumerate() {
                self.beat_at(w, *door);
                self.deliver()?;
            }
            let slice = left.min(BEAT_EVERY);
            self.pass(Millis(slice))?;
            left -= slice;
        }
        Ok(())
    }

    /// Troubles that come by themselves.
    fn disturb(&mut self) -> Held {
        let o = self.dice.below(self.orchestrators.len() as u64) as usize;
        if !self.orchestrators[o].lives() && self.dice.one_in(3) {
            self.rise(o);
        }
        if self.strikes(Trouble::Pause) {
            let span = *self.dice.pick(&[1_000, 11_000, 45_000, 200_000]);
            self.orchestrators[o].frozen = self.orchestrators[o].lives().then(|| self.now.plus(Millis(span)));
            self.felt_if(self.orchestrators[o].frozen.is_some(), Trouble::Pause);
        }
        if self.strikes(Trouble::JumpForward) {
            let by = self.dice.below(120_000) as i64;
            self.orchestrators[o].set_clock(by);
            self.felt_if(by > 0 && self.orchestrators[o].lives(), Trouble::JumpForward);
        }
        if self.strikes(Trouble::JumpBack) {
            let span = self.dice.below(120_000);
            self.orchestrators[o].set_clock(-(span as i64));
            self.went_back = self.went_back.saturating_add(span);
            self.felt_if(span > 0 && self.orchestrators[o].lives(), Trouble::JumpBack);
        }
        if self.strikes(Trouble::LostWorker) {
            let held = self.held();
            self.lose_worker();
            self.felt_if(self.held() < held, Trouble::LostWorker);
        }
        if self.strikes(Trouble::Zombie) {
            let sent = self.next;
            self.speak_too_late();
            self.felt_if(self.next > sent, Trouble::Zombie);
        }
        if self.strikes(Trouble::LostRows) {
            self.lose_all_rows()?;
        }
        Ok(())
    }

    /// How many leases live that some worker has in hand.
    fn held(&self) -> usize {
        let live = self.witness.books.values().flat_map(crate::witness::Book::leases);
        live.filter(|(run, attempt)| self.workers.iter().any(|worker| worker.holds(*run, attempt))).count()
    }

    /// Everything goes down, the rows with it, and comes up again over the ledger alone.
    fn lose_all_rows(&mut self) -> Held {
        if !self.store.lose_rows() {
            return Ok(());
        }
        self.felt_if(!self.witness.books.is_empty(), Trouble::LostRows);
        self.lag.forget();
        for o in 0..self.orchestrators.len() {
            self.orchestrators[o].writing = None;
            self.kill(o);
        }
        let (rows, reader) = witness_over(&self.store)?.into_rows();
        self.witness.rows_are_now(rows, reader);
        Ok(())
    }

    /// An orchestrator takes what it let lie.
    fn take_what_lies_there(&mut self) -> Held {
        let full: Vec<usize> =
            (0..self.orchestrators.len()).filter(|o| !self.orchestrators[*o].inbox.is_empty()).collect();
        match self.dice.index(full.len()) {
            Some(at) => self.serve(full[at]),
            None => Ok(()),
        }
    }

    fn write_late_rows(&mut self) -> Held {
        let late: Vec<usize> =
            (0..self.orchestrators.len()).filter(|o| self.orchestrators[*o].writing.is_some()).collect();
        let Some(at) = self.dice.index(late.len()) else { return Ok(()) };
        let now = self.now;
        // Also those of one that is frozen: its compactor is another thread.
        self.orchestrators[late[at]].write(now, false);
        self.look_at_rows()
    }

    /// Time passes until the next orchestrator is due.
    fn wait_for_the_next_wake(&mut self) -> Held {
        let due = self.orchestrators.iter().filter(|o| o.acts()).filter_map(super::Orchestrator::due).min();
        let span = due.map_or(Millis(1_000), |due| due.since(self.now));
        self.pass(span)
    }
}
