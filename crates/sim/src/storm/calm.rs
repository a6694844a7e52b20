//! After the storm: the store works, everybody lives, workers are honest and people patient. Everything must end.

use super::Storm;
use crate::oracle;
use crate::orchestrator::SWEEP_EVERY;
use crate::violation::{Held, Violation, ensure};
use edgewise_core::state::TaskState;
use edgewise_core::time::{Millis, Time};

/// Everything has ended so long after the faults did, by the true clock. Clocks that went back must first come to
/// where they were: what was due then is not due before.
const PATIENCE: Millis = Millis(3_600_000);
/// So long an engine leaves a store alone that failed it.
const HOLD_OFF: Millis = Millis(500);
/// Rounds without a pause; more is a spin.
const SPIN: u32 = 1_000;
/// Whoever has a few slots takes more rounds for hundreds of runs of schedules, and all at one instant.
const ROUNDS: u32 = 10 * SPIN;
/// Steps of a storm and its calm; more is a world that only grows. The longest of ten thousand takes a tenth of it.
const STEPS: u64 = 500_000;

impl Storm {
    /// Lets everything come to an end, and compares how it ended with what the promises say.
    pub fn calm(&mut self) -> Held {
        self.is_calm = true;
        self.count_faults();
        self.note(|| "calm".into());
        self.everybody_lives()?;
        let began = self.now;
        self.witness.calm_begins(began);
        let until = began.plus(PATIENCE).plus(Millis(self.went_back));
        let mut late = false;
        while self.now < until {
            if self.steps > STEPS {
                return self.stuck(&format!("{STEPS} steps, and still more to do"));
            }
            self.round()?;
            self.witness
                .lost_workers_are_noticed(self.now, |engine| self.orchestrators.iter().any(|o| o.source == engine))?;
            self.witness.timers_fire_in_time(self.now)?;
            self.publish_all()?;
            if self.witness.all_over() && self.in_flight() == 0 && self.vigils.is_empty() {
                return self.close();
            }
            let quiet = self.orchestrators.iter().filter_map(super::Orchestrator::due).min();
            let held = self.end_what_is_held();
            let Some(due) = quiet.or(held.then_some(self.now)) else {
                // What somebody had asked for in the storm may have come only now: a schedule that is paused.
                if !late && !self.witness.control.state.schedules.is_empty() {
                    late = true;
                    continue;
                }
                return self.stuck("nothing is due and not everything is over");
            };
            self.wakes_in_time(due, began.plus(HOLD_OFF))?;
            self.now = self.now.max(due);
        }
        self.stuck("a run has not ended an hour after the faults did")
    }

    fn everybody_lives(&mut self) -> Held {
        for o in 0..self.orchestrators.len() {
            self.orchestrators[o].faults.calm();
            self.orchestrators[o].frozen = None;
            if !self.orchestrators[o].lives() {
                self.rise(o);
            }
            ensure(self.orchestrators[o].lives(), "nothing_is_stuck", || format!("orchestrator {o} does not come up"))?;
            let now = self.now;
            self.orchestrators[o].write(now, false);
        }
        self.set_queues_as_filed();
        self.keep_claims();
        self.keep_vigil();
        Ok(())
    }

    /// A single engine wakes when its first timer is due: nobody else would. Its store may have failed it at the very
    /// end of the storm, so that it comes back to it only at `earliest`.
    fn wakes_in_time(&self, wakes: Time, earliest: Time) -> Held {
        let [only] = &self.orchestrators[..] else { return Ok(()) };
        let first = self.witness.books.values().flat_map(|book| book.run.timers.values()).min();
        let due = first.map_or(wakes, |first| only.instant(*first)).max(self.now).max(earliest);
        // Whoever was asleep when the clock was set looks at it with the next sweep.
        let due = if only.oversleeps { due.plus(SWEEP_EVERY) } else { due };
        ensure(wakes <= due, "timers_wake_their_engine", || format!("a timer is due at {due}, it wakes at {wakes}"))
    }

    /// People and workers do what they can until nobody can do anything at this instant.
    fn round(&mut self) -> Held {
        self.patient_people();
        for _ in 0..ROUNDS {
            self.end_what_never_ends();
            self.claim_anew();
            self.deliver_all()?;
            let more = self.settle()?;
            if !self.report_all() && !more {
                return Ok(());
            }
        }
        self.stuck("the engines spin: ten thousand rounds at one instant and still more to do")
    }

    /// Everybody who is due takes a step, until nobody is; true if anybody was.
    fn settle(&mut self) -> Result<bool, Violation> {
        let mut any = false;
        for _ in 0..SPIN {
            let due: Vec<usize> = (0..self.orchestrators.len())
                .filter(|o| {
                    let it = &self.orchestrators[*o];
                    it.due().is_some_and(|due| due <= self.now) || !it.inbox.is_empty()
                })
                .collect();
            if due.is_empty() {
                return Ok(any);
            }
            any = true;
            for o in due {
                self.serve(o)?;
                self.write_rows(o)?;
            }
            self.deliver_all()?;
        }
        self.stuck("the engines spin: a thousand steps at one instant and still more to do").map(|()| any)
    }

    fn stuck(&self, why: &str) -> Held {
        let mut open = String::new();
        for run in self.open_runs() {
            let run = self.witness.run(run);
            let states: Vec<(TaskState, u16)> = run.tasks.iter().map(|t| (t.state, t.attempt)).collect();
            open += &format!("\n{} {} {:?} {states:?}", run.id, run.plan.flow, run.state);
        }
        Err(Violation::new("nothing_is_stuck", format!("{why}{open}")))
    }

    fn close(&mut self) -> Held {
        self.witness.close()?;
        for book in self.witness.books.values() {
            self.cover.count("end", &format!("{:?}", book.run.state));
            let guest = self.guests.iter().find(|guest| guest.plays(book));
            let judged = match guest {
                Some(guest) => guest.compare(book, |e| self.is_own(e))?,
                None => oracle::compare(book)?,
            };
            let kind = if guest.is_some() { "program" } else { "oracle" };
            self.cover.count(kind, if judged { "judged" } else { "left to the invariants" });
        }
        Ok(())
    }
}
