//! Schedules that are due: a tick becomes a run in the very commit that says so.
//!
//! A tick is decided once, whatever happens: the control stream's guard lets one engine decide it, its instant is
//! behind the cursor from then on, and the key of its run is made of it.

mod start;

use crate::committer::{AGAIN, CHORES};
use crate::desk::Desk;
use edgewise_core::Kind;
use edgewise_core::control::{ControlEvent, Outcome, ScheduleFired, ScheduleSet, Scheduled, Skip};
use edgewise_core::event::{Event, Request};
use edgewise_core::id::RunId;
use edgewise_core::limits;
use edgewise_core::name::Name;
use edgewise_core::schedule::{Backfill, Overlap, Rhythm};
use edgewise_core::time::{Millis, Time};
use start::start;

/// Most missed ticks counted in one look.
const COUNTED: usize = 10_000;
/// Who acts for a schedule.
const SCHEDULER: &str = "edgewise";

pub(super) fn tick(desk: &mut Desk) {
    for _ in 0..CHORES {
        let Some(name) = desk.ticks.next(desk.now) else { return };
        if desk.control().is_err() {
            return desk.ticks.look_at(&name, Some(desk.now.plus(AGAIN)));
        }
        let Some(entry) = desk.control.state.schedules.get(&name).cloned() else {
            desk.ticks.forget(&name);
            continue;
        };
        let mut look = Look { desk, name: &name, entry: &entry, over: Vec::new(), running: Vec::new() };
        if look.decide().is_none() {
            // The store does not answer, or there was nothing to decide: not again at the same instant.
            desk.ticks.index(&name, &entry);
            let soon = desk.ticks.next(desk.now).is_some_and(|next| next == name);
            if soon {
                desk.ticks.look_at(&name, Some(desk.now.plus(AGAIN)));
            }
        }
    }
}

/// One look at one schedule.
struct Look<'a> {
    desk: &'a mut Desk,
    name: &'a Name,
    entry: &'a Scheduled,
    over: Vec<RunId>,
    running: Vec<RunId>,
}

impl Look<'_> {
    /// Decides one tick, if one is due; `None` if nothing was decided.
    fn decide(&mut self) -> Option<()> {
        let schedule = &self.entry.schedule;
        if schedule.paused {
            return None;
        }
        let rhythm = self.desk.ticks.rhythm(self.name, &schedule.when)?;
        for run in &self.entry.running {
            match look_at(self.desk, *run) {
                Earlier::Over => self.over.push(*run),
                Earlier::AtWork => self.running.push(*run),
                Earlier::Rests => {}
            }
        }
        if let Some(backfill) = &schedule.backfill {
            return self.backfill(backfill, &rhythm);
        }
        if let Some(waited) = self.entry.queue.first().filter(|_| self.running.is_empty()) {
            return self.start(*waited);
        }
        let missed: Vec<Time> =
            rhythm.after(self.entry.after).take_while(|due| self.is_missed(*due)).take(COUNTED).collect();
        let made_up = if missed.len() == COUNTED { limits::CAUGHT_UP } else { schedule.catch_up } as usize;
        match missed.len().saturating_sub(made_up) {
            0 => {
                let due = rhythm.next(self.entry.after).filter(|due| self.at(*due) <= self.desk.now)?;
                self.overlap(due, !missed.is_empty())
            }
            ticks => self.record(missed[ticks - 1], Outcome::Skipped(Skip::Missed(ticks as u64))),
        }
    }

    /// When a tick is to be decided.
    fn at(&self, due: Time) -> Time {
        due.plus(self.entry.schedule.delay(self.name, due))
    }

    fn is_missed(&self, due: Time) -> bool {
        self.at(due).plus(Millis(limits::TICK_GRACE_MS)) < self.desk.now
    }

    /// A tick that is due, and perhaps a run before it that is at work. One that is made up for waits rather than
    /// be left out: whoever asked for it to be made up for wants a run of it.
    fn overlap(&mut self, due: Time, missed: bool) -> Option<()> {
        let free = self.running.is_empty() && self.entry.queue.is_empty();
        match self.entry.schedule.overlap {
            _ if free => self.start(due),
            Overlap::Allow => self.start(due),
            Overlap::Skip if !missed => {
                let run = self.running.first().copied().unwrap_or_default();
                self.record(due, Outcome::Skipped(Skip::Overlap(run)))
            }
            Overlap::Skip | Overlap::Queue if self.entry.queue.len() >= limits::QUEUED_TICKS => {
                self.record(due, Outcome::Skipped(Skip::QueueFull))
            }
            Overlap::Skip | Overlap::Queue => self.record(due, Outcome::Queued),
            Overlap::Cancel => {
                self.cancel(due)?;
                self.start(due)
            }
        }
    }

    /// Cancels what is at work. `None` if something cannot be read now: then the tick waits, and nothing is cancelled.
    fn cancel(&mut self, due: Time) -> Option<()> {
        let by = Name::parse(SCHEDULER).ok()?;
        let running = self.running.clone();
        for run in &running {
            if self.desk.open_hinted(*run).is_none() && self.desk.unloaded.contains(run) {
                return None;
            }
        }
        for run in running {
            let why = Some(format!("the tick of {due} of schedule {}", self.name));
            // One that has just ended needs no cancel.
            let _ = self.desk.record(run, Event::RunCancelRequested(Request { by: by.clone(), why }));
        }
        Some(())
    }

    fn backfill(&mut self, backfill: &Backfill, rhythm: &Rhythm) -> Option<()> {
        match rhythm.next(self.entry.after).filter(|due| *due <= backfill.until) {
            Some(due) if self.running.len() < backfill.at_once as usize => self.start(due),
            None if self.running.is_empty() => {
                let why =
                    format!("the backfill is over: {} runs, {} ticks without", self.entry.started, self.entry.skipped);
                let by = Name::parse(SCHEDULER).ok()?;
                let event = ScheduleSet { name: self.name.clone(), schedule: None, by, why: Some(why) };
                self.desk.record_control(ControlEvent::ScheduleSet(event)).ok()
            }
            _ => None,
        }
    }

    /// Begins what a tick is for. One that waited, or is of a backfill, may have been decided on by a clock that was ahead.
    fn start(&mut self, due: Time) -> Option<()> {
        if due > self.desk.now {
            return None;
        }
        match start(self.desk, self.name, &self.entry.schedule, due) {
            Ok(outcome) => self.record(due, outcome),
            Err(error) if error.kind == Kind::Unavailable => None,
            Err(error) => self.record(due, Outcome::Skipped(Skip::Refused(error.message))),
        }
    }

    fn record(&mut self, due: Time, outcome: Outcome) -> Option<()> {
        let over = std::mem::take(&mut self.over);
        let event = ScheduleFired { name: self.name.clone(), due, outcome, over };
        self.desk.record_control(ControlEvent::ScheduleFired(event)).ok()
    }
}

/// What a run of an earlier tick is to the next one.
enum Earlier {
    Over,
    AtWork,
    /// It is frozen: it holds up no tick now, and does again once it goes on.
    Rests,
}

/// What cannot be looked at now may be at work.
fn look_at(desk: &mut Desk, run: RunId) -> Earlier {
    if desk.ticks.is_over(run) {
        return Earlier::Over;
    }
    match desk.newest_state(run) {
        Ok(state) if state.is_done() => Earlier::Over,
        Ok(_) => Earlier::AtWork,
        Err(error) if error.kind == Kind::Unavailable => Earlier::AtWork,
        Err(_) if desk.frozen.contains_key(&run) => Earlier::Rests,
        Err(_) => Earlier::Over,
    }
}
