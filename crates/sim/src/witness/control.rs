//! A workspace's control as the ledger tells it, and what each of its events must be allowed to do.

use super::{Book, Witness, unreadable};
use crate::cover::Cover;
use crate::driver::home;
use crate::violation::{Held, ensure};
use edgewise_core::control::{
    Control, ControlEvent, FlowRegistered, HOOK_SECRET, Outcome, ScheduleFired, ScheduleSet, SettingChanged, Skip,
    TOKEN, fold,
};
use edgewise_core::event::decode_events;
use edgewise_core::fold::Stamp;
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::schedule::{Overlap, Schedule, When};
use edgewise_core::time::Time;
use edgewise_store::{Position, Stored};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Control as its events make it.
#[derive(Default)]
pub struct ControlBook {
    /// What they come to.
    pub state: Control,
    /// Where its records stand, and the seq each comes to.
    places: Vec<(Position, u64)>,
    /// The schedules that count, as people set them.
    set: BTreeMap<Name, Watched>,
    /// Every tick that has become a run, by the schedule whose tick it is.
    started: BTreeSet<(Name, Time)>,
    /// The newest version of each flow.
    flows: BTreeMap<Name, PlanHash>,
    settings: BTreeMap<Name, Value>,
}

/// A schedule, told a second time from what people asked for.
struct Watched {
    schedule: Schedule,
    /// Ticks up to here were decided, or nobody asked for them.
    after: Time,
    /// Ticks that wait.
    queued: BTreeSet<Time>,
    runs: Vec<RunId>,
}

impl ControlBook {
    /// Folds a record that was written at an instant of the writer's clock.
    pub(super) fn record(
        &mut self,
        now: Time,
        stored: &Stored,
        (books, cover): (&BTreeMap<RunId, Book>, &mut Cover),
    ) -> Held {
        let (envelope, events) = decode_events::<ControlEvent>(&stored.record).map_err(|e| unreadable(&e))?;
        let dense = stored.record.first == self.state.seq + 1;
        ensure(dense, "seq_is_dense", || format!("control has no event {}", self.state.seq + 1))?;
        ensure(envelope.at == now, "events_have_their_time", || format!("control of {} at {now}", envelope.at))?;
        for (n, event) in (0..).zip(&events) {
            cover.count("event", event.name());
            let stamp = Stamp { id: envelope.id.plus(n), at: envelope.at };
            let counted = fold(&mut self.state, stamp, event, &mut BTreeSet::new());
            ensure(counted.is_ok(), "what_is_written_counts", || format!("{event:?}: {counted:?}"))?;
            match event {
                ControlEvent::ScheduleSet(event) => self.set(now, event),
                ControlEvent::ScheduleFired(event) => {
                    cover.count("tick", word(&event.outcome));
                    self.fired(now, event, books)?;
                }
                ControlEvent::FlowRegistered(FlowRegistered { flow, plan, .. }) => {
                    self.flows.insert(flow.clone(), *plan);
                }
                ControlEvent::SettingChanged(event) => self.changed(event)?,
                ControlEvent::Unknown(_) => {}
            }
        }
        self.places.push((stored.position, stored.record.last()));
        Ok(())
    }
}

impl ControlBook {
    fn set(&mut self, now: Time, event: &ScheduleSet) {
        let Some(schedule) = event.schedule.clone() else {
            self.set.remove(&event.name);
            return;
        };
        let start = schedule.backfill.as_ref().map_or(now, |backfill| Time(backfill.from.0 - 1));
        let (queued, runs) = Default::default();
        let new = Watched { schedule: schedule.clone(), after: start, queued, runs };
        let known = self.set.entry(event.name.clone()).or_insert(new);
        let same = known.schedule.when == schedule.when && known.schedule.backfill == schedule.backfill;
        let goes_on = known.schedule.paused && !schedule.paused && schedule.backfill.is_none();
        if !same || goes_on {
            let kept = known.schedule.backfill == schedule.backfill;
            known.after = if kept { known.after.max(start) } else { start };
            known.queued.clear();
        }
        known.schedule = schedule;
    }

    /// What somebody was shown once, or others were given addresses by, is not replaced behind their back.
    fn changed(&mut self, event: &SettingChanged) -> Held {
        let SettingChanged { key, value, .. } = event;
        let once = key.starts_with(TOKEN) || key.as_str() == HOOK_SECRET;
        let known = self.settings.get(key).filter(|known| once && value.as_ref().is_some_and(|new| new != *known));
        ensure(known.is_none(), "secrets_are_not_replaced", || format!("{key} was {known:?} and is {value:?}"))?;
        match value {
            Some(value) => drop(self.settings.insert(key.clone(), value.clone())),
            None => drop(self.settings.remove(key)),
        }
        Ok(())
    }

    /// What a setting is, as its events tell it.
    pub(super) fn setting(&self, key: &Name) -> Option<&Value> {
        self.settings.get(key)
    }

    /// The newest version of a flow.
    pub(super) fn version(&self, flow: &Name) -> Option<PlanHash> {
        self.flows.get(flow).copied()
    }

    /// A tick: one of its rhythm, the next one, not before its time, not for the past, once, and by the rules.
    fn fired(&mut self, now: Time, event: &ScheduleFired, books: &BTreeMap<RunId, Book>) -> Held {
        let said = || format!("{} of {} at {now}: {:?}", event.name, event.due, event.outcome);
        let Some(known) = self.set.get_mut(&event.name) else {
            return ensure(false, "schedules_fire_while_they_are_set", said);
        };
        let When::Every { span, .. } = &known.schedule.when else { return Ok(()) };
        ensure(!known.schedule.paused, "paused_schedules_are_silent", said)?;
        ensure(event.due <= now, "schedules_are_never_early", said)?;
        if !known.queued.remove(&event.due) {
            let ticks = if let Outcome::Skipped(Skip::Missed(ticks)) = event.outcome { ticks } else { 1 };
            let next = (known.after.0 / span.0 + ticks) * span.0;
            ensure(event.due > known.after, "schedules_never_fire_for_the_past", said)?;
            ensure(event.due.0 == next, "every_tick_is_decided", || format!("{}, not {}", said(), Time(next)))?;
            known.after = event.due;
        }
        match &event.outcome {
            Outcome::Queued => drop(known.queued.insert(event.due)),
            Outcome::Started(run) => {
                ensure(books.contains_key(run), "ticks_and_runs_are_one_commit", said)?;
                let newest = self.flows.get(&known.schedule.flow) == Some(&books[run].run.plan_hash);
                ensure(newest, "ticks_run_the_newest_version", said)?;
                // What had ended and was opened again is a person's doing: it holds up no tick.
                // And nobody works on what is frozen.
                let at_work = |book: &Book| book.ends.is_empty() && !book.cancelled && !book.frozen;
                let busy = known.runs.iter().filter(|run| at_work(&books[run])).count();
                let most = match (&known.schedule.backfill, known.schedule.overlap) {
                    (Some(backfill), _) => backfill.at_once as usize,
                    (None, Overlap::Allow) => usize::MAX,
                    (None, _) => 1,
                };
                ensure(busy < most, "overlap_is_as_asked", || format!("{}, {busy} at work", said()))?;
                if most < usize::MAX {
                    known.runs.push(*run);
                }
                // A backfill runs the ticks of another schedule, unless it is to run them again: these are its own.
                let of = known.schedule.backfill.as_ref().filter(|backfill| !backfill.again);
                let of = of.map_or(&event.name, |backfill| &backfill.of);
                ensure(self.started.insert((of.clone(), event.due)), "ticks_fire_once", said)?;
            }
            Outcome::Skipped(_) => {}
        }
        Ok(())
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Started(_) => "Started",
        Outcome::Queued => "Queued",
        Outcome::Skipped(Skip::Overlap(_)) => "Overlap",
        Outcome::Skipped(Skip::QueueFull) => "QueueFull",
        Outcome::Skipped(Skip::Missed(_)) => "Missed",
        Outcome::Skipped(Skip::Already(_)) => "Already",
        Outcome::Skipped(Skip::Refused(_)) => "Refused",
    }
}

impl Witness {
    /// Rows plus tail are what all events make.
    pub(super) fn compare_control(&mut self) -> Held {
        let loaded = self.reader.control().map_err(|e| unreadable(&e))?;
        ensure(loaded == self.control.state, "load_equals_fold", || "rows plus tail of control are not control".into())
    }

    /// What is before the watermark is in the rows.
    pub(super) fn control_reaches(&mut self, watermark: Position) -> Held {
        let rows = self.rows.control(&home().stream(RunId::CONTROL)).map_err(|e| unreadable(&e))?;
        let has = rows.map_or(0, |rows| rows.applied_seq);
        let before = self.control.places.iter().rev().find(|(at, _)| *at <= watermark).map_or(0, |(_, seq)| *seq);
        let said = || format!("rows of control are at {has}, the watermark says {before}");
        ensure(has >= before, "rows_reach_their_watermark", said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{World, name};
    use edgewise_core::schedule::Backfill;
    use edgewise_core::time::Millis;

    /// The n-th minute.
    fn at(n: u64) -> Time {
        Time(n * 60_000)
    }

    /// A schedule of every minute, set in the tenth; and two runs of its flow that are at work.
    struct Minutes {
        world: World,
        book: ControlBook,
        runs: [RunId; 2],
    }

    impl Minutes {
        fn new(change: impl FnOnce(&mut Schedule)) -> Self {
            let mut world = World::new();
            let runs = [0, 1].map(|_| world.start("{ flow: f, tasks: { a: { action: work } } }"));
            let mut book = ControlBook::default();
            book.flows.insert(name("f"), world.run(runs[0]).plan_hash);
            let mut minutes = Self { world, book, runs };
            minutes.set("s", change);
            minutes
        }

        fn set(&mut self, schedule: &str, change: impl FnOnce(&mut Schedule)) {
            let when = When::Every { span: Millis(60_000), from: Time(0) };
            let mut set = Schedule { overlap: Overlap::Allow, ..Schedule::new(name("f"), when) };
            change(&mut set);
            let event = ScheduleSet { name: name(schedule), schedule: Some(set), by: name("ada"), why: None };
            self.book.set(at(10), &event);
        }

        /// A tick of a minute, decided at an instant.
        fn fires(&mut self, schedule: &str, (minute, now): (u64, Time), outcome: Outcome) -> Result<(), String> {
            let event = ScheduleFired { name: name(schedule), due: at(minute), outcome, over: Vec::new() };
            self.book.fired(now, &event, &self.world.witness.books).map_err(|broken| broken.invariant)
        }

        fn starts(&mut self, schedule: &str, minute: u64, run: usize) -> Result<(), String> {
            let run = self.runs[run];
            self.fires(schedule, (minute, at(minute)), Outcome::Started(run))
        }
    }

    fn broken(rule: &str) -> Result<(), String> {
        Err(rule.to_owned())
    }

    #[test]
    fn ticks_that_come_early_late_or_of_nothing_are_told() {
        let mut minutes = Minutes::new(|_| ());
        let early = Time(at(11).0 - 1);
        assert_eq!(minutes.fires("s", (11, early), Outcome::Queued), broken("schedules_are_never_early"));
        assert_eq!(minutes.starts("s", 12, 0), broken("every_tick_is_decided"), "the one before was not");
        assert_eq!(minutes.starts("s", 10, 0), broken("schedules_never_fire_for_the_past"));
        assert_eq!(minutes.starts("other", 11, 0), broken("schedules_fire_while_they_are_set"));
        let nobody = Outcome::Started(RunId(5));
        assert_eq!(minutes.fires("s", (11, at(11)), nobody), broken("ticks_and_runs_are_one_commit"));
        let mut minutes = Minutes::new(|_| ());
        assert_eq!((minutes.starts("s", 11, 0), minutes.starts("s", 12, 1)), (Ok(()), Ok(())));
        let missed = Outcome::Skipped(Skip::Missed(3));
        assert_eq!(minutes.fires("s", (15, at(18)), missed), Ok(()), "three at once");
    }

    #[test]
    fn a_paused_schedule_that_fires_is_told() {
        let mut minutes = Minutes::new(|schedule| schedule.paused = true);
        assert_eq!(minutes.starts("s", 11, 0), broken("paused_schedules_are_silent"));
    }

    #[test]
    fn runs_beside_each_other_that_nobody_asked_for_are_told() {
        for overlap in [Overlap::Skip, Overlap::Queue, Overlap::Cancel] {
            let mut minutes = Minutes::new(|schedule| schedule.overlap = overlap);
            assert_eq!(minutes.starts("s", 11, 0), Ok(()));
            assert_eq!(minutes.starts("s", 12, 1), broken("overlap_is_as_asked"), "{overlap:?}");
        }
        let mut minutes = Minutes::new(|schedule| schedule.overlap = Overlap::Skip);
        assert_eq!(minutes.starts("s", 11, 0), Ok(()));
        let first = minutes.runs[0];
        minutes.world.witness.books.get_mut(&first).unwrap().cancelled = true;
        assert_eq!(minutes.starts("s", 12, 1), Ok(()), "who was cancelled holds up nobody");
    }

    #[test]
    fn a_tick_that_fires_twice_is_told() {
        for again in [false, true] {
            let mut minutes = Minutes::new(|_| ());
            assert_eq!(minutes.starts("s", 11, 0), Ok(()));
            let (of, from, until) = (name("s"), at(11), at(11));
            minutes.set("back", |schedule| schedule.backfill = Some(Backfill { of, from, until, at_once: 9, again }));
            let expected = if again { Ok(()) } else { broken("ticks_fire_once") };
            assert_eq!(minutes.starts("back", 11, 1), expected, "to be run again: {again}");
        }
    }
}
