//! Promises in numbers, where the clocks agree and the faults are over: within seconds a lost worker is noticed, a timer
//! that is due has fired, and a cancel has come down to everything that was begun for the run.

use super::{GRACE, Witness};
use crate::violation::{Held, ensure};
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::time::{Millis, Time};

/// So long after it could be known it is known.
const LATE: Millis = Millis(5_000);

/// A lease as the ledger has it.
pub(super) struct Granted {
    /// Which engine gave it.
    pub by: Box<str>,
    /// When, and for how long without a heartbeat; not for a worker within an engine's process.
    pub at: Time,
    pub span: Option<Millis>,
    /// Whether its worker ever said that it lives: where and when that was heard is in no ledger.
    pub beaten: bool,
}

impl Witness {
    /// The faults are over.
    pub(crate) fn calm_begins(&mut self, now: Time) {
        self.calm_since = self.clocks_agree.then_some(now);
    }

    /// No lease lives on for long that nobody says anything of.
    pub(crate) fn lost_workers_are_noticed(&self, now: Time, lives: impl Fn(&str) -> bool) -> Held {
        let Some(began) = self.calm_since else { return Ok(()) };
        for book in self.books.values().filter(|book| !book.rests()) {
            for (task, token) in book.live.iter().filter(|(_, token)| !book.rested.contains(token)) {
                let Some(until) = self.holds_until(*token, began, &lives) else { continue };
                let said = || {
                    format!("{} of {} may be held until {until}, and is at {now}", book.run.path(*task), book.run.id)
                };
                ensure(now <= until, "lost_workers_are_noticed", said)?;
            }
        }
        Ok(())
    }

    /// No timer stays set for long once it is due.
    pub(crate) fn timers_fire_in_time(&self, now: Time) -> Held {
        let Some(began) = self.calm_since else { return Ok(()) };
        for book in self.books.values().filter(|book| !book.rests()) {
            let since = began.max(book.unfrozen_at.unwrap_or(began));
            let late = book.run.timers.iter().find(|(_, due)| since.max(**due).plus(LATE) < now);
            let said = || format!("{late:?} of {} is set at {now}", book.run.id);
            ensure(late.is_none(), "timers_fire_in_time", said)?;
        }
        Ok(())
    }

    /// Until when a lease may be there; `None` for a worker within the process of an engine that lives.
    fn holds_until(&self, token: TokenHash, began: Time, lives: impl Fn(&str) -> bool) -> Option<Time> {
        let granted = self.granted.get(&token)?;
        let lives = lives(&granted.by);
        let until = match granted.span {
            None if lives => return None,
            None => began,
            // The last thing that was heard in the storm arrives at the very beginning of the calm.
            Some(span) if granted.beaten => began.plus(span),
            Some(span) => granted.at.plus(span).max(began),
        };
        // Whoever takes over gives the worker some time to be heard.
        Some(until.plus(if lives { LATE } else { GRACE }))
    }

    /// A lease is given: not for what was begun for a run that has been cancelled for some time.
    pub(super) fn cancel_has_come_down(&self, run: RunId, now: Time) -> Held {
        let began = if self.is_fair { Some(Time(0)) } else { self.calm_since };
        let (Some(mut since), Some(mut book)) = (began, self.books.get(&run)) else { return Ok(()) };
        while let Some(parent) = book.run.parent.as_ref().and_then(|link| self.books.get(&link.run)) {
            if !book.ends.is_empty() {
                // Somebody had it done again.
                return Ok(());
            }
            // Who was frozen is told when it goes on.
            since = since.max(book.unfrozen_at.unwrap_or(since));
            if let Some(at) = parent.cancelled_at {
                let said = || format!("a lease of {run} at {now}, and {} was cancelled at {at}", parent.run.id);
                ensure(now <= since.max(at).plus(LATE), "cancel_comes_down_in_time", said)?;
            }
            book = parent;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::World;
    use crate::flows::composed;
    use edgewise_engine::command::{Answer, Command};

    /// What is late is told from the next millisecond on, and not before.
    fn check(rule: &str, latest: Time, judge: impl Fn(Time) -> Held) {
        assert_eq!(judge(latest), Ok(()), "{rule} is told too early");
        assert_eq!(judge(latest.plus(Millis(1))).expect_err(rule).invariant, rule);
    }

    #[test]
    fn a_lease_below_a_run_that_was_cancelled_before_is_told() {
        let mut world = World::new();
        let flows =
            ["{ flow: outer, tasks: { sub: { flow: inner } } }", "{ flow: inner, tasks: { i: { action: work } } }"];
        let Answer::Started { run, .. } = world.must(Command::Start(composed(&flows))) else { panic!("not started") };
        let child = *world.witness.books.keys().find(|known| **known != run).unwrap();
        world.witness.is_fair = true;
        world.witness.books.get_mut(&run).unwrap().cancelled_at = Some(world.now);
        check("cancel_comes_down_in_time", world.now.plus(LATE), |now| world.witness.cancel_has_come_down(child, now));
    }

    #[test]
    fn a_timer_that_stays_set_is_told() {
        let mut world = World::new();
        world.start("{ flow: f, tasks: { a: { gate: { timer: 20s } } } }");
        world.witness.clocks_agree = true;
        world.witness.calm_begins(world.now);
        let due = world.now.plus(Millis(20_000));
        check("timers_fire_in_time", due.plus(LATE), |now| world.witness.timers_fire_in_time(now));
    }
}
