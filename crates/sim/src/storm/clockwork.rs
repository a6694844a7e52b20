//! Schedules in a storm: some seeds have people who register a flow and let it begin by itself.

use super::{BEGIN, Storm};
use crate::driver::name;
use edgewise_core::control::ScheduleSet;
use edgewise_core::name::Name;
use edgewise_core::schedule::{Backfill, Overlap, Schedule, When};
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::{Command, Register};
use std::collections::BTreeMap;

/// The names that schedules get.
const NAMES: [&str; 2] = ["tick", "tock"];
/// Runs that schedules begin in one storm, about.
const RUNS: usize = 8;

impl Storm {
    /// Somebody registers a flow, or does something to a schedule.
    pub(super) fn schedule(&mut self) {
        let (plan, children) = self.plans[0].clone();
        if !self.witness.control.state.flows.contains_key(&plan.flow) {
            return self.ask(Command::Register(Register {
                plan,
                children,
                schedules: BTreeMap::new(),
                hook: None,
                by: name("op"),
            }));
        }
        let which = name(NAMES[self.dice.below(2) as usize]);
        let known = self.witness.control.state.schedules.get(&which).map(|known| known.schedule.clone());
        let many = self.witness.books.len() >= RUNS;
        let schedule = match (known, self.dice.below(6)) {
            (Some(_), 0) => None,
            (Some(_), _) if many => None,
            (Some(known), 1..=3) => Some(Schedule { paused: !known.paused, ..known }),
            (_, 4) => Some(self.a_backfill(&plan.flow)),
            _ if many => return,
            _ => Some(self.a_schedule(&plan.flow)),
        };
        self.ask(Command::SetSchedule(ScheduleSet { name: which, schedule, by: name("op"), why: None }));
    }

    fn a_schedule(&mut self, flow: &Name) -> Schedule {
        let span = Millis(1_000 * (5 + self.dice.below(40)));
        let overlap = self.dice.pick(&Overlap::ALL).1;
        let catch_up = self.dice.below(3) as u32;
        let jitter = Millis(if self.dice.one_in(3) { 3_000 } else { 0 });
        Schedule { overlap, catch_up, jitter, ..Schedule::new(flow.clone(), When::Every { span, from: Time(0) }) }
    }

    fn a_backfill(&mut self, flow: &Name) -> Schedule {
        let (from, until) = (Time(BEGIN.0 - 90_000), Time(BEGIN.0 - self.dice.below(30_000)));
        let (of, again) = (name(NAMES[0]), self.dice.one_in(2));
        let backfill = Backfill { of, from, until, at_once: 1 + self.dice.below(2) as u32, again };
        let when = When::Every { span: Millis(30_000), from: Time(0) };
        Schedule { backfill: Some(backfill), overlap: Overlap::Allow, ..Schedule::new(flow.clone(), when) }
    }

    /// After the storm: nothing begins by itself any more, or nothing would ever be over.
    pub(super) fn stop_schedules(&mut self) {
        let names: Vec<Name> = self.witness.control.state.schedules.keys().cloned().collect();
        for name in names {
            let by = crate::driver::name("op");
            self.ask(Command::SetSchedule(ScheduleSet { name, schedule: None, by, why: None }));
        }
    }
}
