//! Schedules in the engine: each tick once, never early, never for the past, with the rules for what lies between.

use super::ground::{Engine, World, ask, name, register};
use edgewise_core::control::{Outcome, ScheduleSet, Scheduled, Skip};
use edgewise_core::event::Event;
use edgewise_core::id::RunId;
use edgewise_core::limits::QUEUED_TICKS;
use edgewise_core::schedule::{Backfill, Overlap, Schedule, When};
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::{Answer, Command, RunAct};
use edgewise_engine::committer::Request;
use edgewise_store::RunFilter;
use edgewise_store::faulty::{Fault, Faults, Op};
use serde_json::json;

const FLOW: &str =
    "{ flow: report, inputs: { scheduled_at: { type: string, default: '' } }, tasks: { a: { action: work } } }";
/// An instant at which everything begins; a whole minute.
const START: u64 = 1_800_000_000_000;

fn at(seconds: u64) -> Time {
    Time(START + seconds * 1_000)
}

fn every(seconds: u64) -> Schedule {
    Schedule::new(name("report"), When::Every { span: Millis(seconds * 1_000), from: Time(0) })
}

fn set(schedule: Option<Schedule>) -> Command {
    Command::SetSchedule(ScheduleSet { name: name("s"), schedule, by: name("ada"), why: None })
}

/// Asks at an instant.
fn ask_at(engine: &mut Engine, now: Time, command: Command) -> edgewise_core::Result<Answer> {
    let step = engine.step(now, vec![Request { command, reply: 1 }]).unwrap();
    step.answers.into_iter().next().unwrap().1
}

/// Steps at an instant until there is nothing more to do.
fn step(engine: &mut Engine, now: Time) {
    while engine.step(now, vec![]).unwrap().more {}
}

/// An engine with a schedule that was set at the start.
fn with(schedule: Schedule) -> (World, Engine) {
    let world = World::default();
    let mut engine = world.engine(1);
    ask(&mut engine, register(FLOW)).unwrap();
    ask_at(&mut engine, at(0), set(Some(schedule))).unwrap();
    (world, engine)
}

fn entry(world: &World) -> Scheduled {
    world.control().schedules[&name("s")].clone()
}

/// The runs there are, the oldest first: when each was scheduled for, in seconds after the start, and where it is.
fn runs(world: &World) -> Vec<(u64, RunState)> {
    let mut reader = world.reader();
    let rows = reader.runs(&RunFilter { limit: 1_000, ..RunFilter::default() }).unwrap();
    let mut runs: Vec<(u64, RunState)> = rows
        .iter()
        .map(|row| {
            let records = reader.records(row.id, 0).unwrap();
            let Event::RunTriggered(triggered) = &records[0].events[0] else { panic!("no trigger") };
            assert_eq!(triggered.labels["schedule"], "s");
            let input: serde_json::Value = serde_json::from_str(triggered.input.get()).unwrap();
            let due = Time::parse(input["scheduled_at"].as_str().unwrap()).unwrap();
            assert!(due <= records[0].envelope.at, "a tick was early");
            ((due.0 - START) / 1_000, row.state)
        })
        .collect();
    runs.sort_by_key(|(due, _)| *due);
    runs
}

fn ticks(world: &World) -> Vec<u64> {
    runs(world).into_iter().map(|(due, _)| due).collect()
}

/// Ends a run.
fn cancel(engine: &mut Engine, now: Time, run: RunId) {
    ask_at(engine, now, Command::Cancel(RunAct { run, by: name("ada"), why: None })).unwrap();
}

#[test]
fn a_new_schedule_never_fires_for_the_past() {
    let (world, mut engine) = with(Schedule { catch_up: 1_000, overlap: Overlap::Allow, ..every(3_600) });
    step(&mut engine, at(1));
    assert_eq!(ticks(&world), [] as [u64; 0]);
    step(&mut engine, at(3_600));
    assert_eq!(ticks(&world).len(), 1);
}

#[test]
fn a_seconds_schedule_fires_at_every_tick() {
    let (world, mut engine) = with(Schedule { overlap: Overlap::Allow, ..every(1) });
    for second in 0..30 {
        step(&mut engine, Time(at(second).0 + 7));
    }
    assert_eq!(ticks(&world), (1..30).collect::<Vec<_>>());
    step(&mut engine, at(35));
    assert_eq!(ticks(&world), (1..=35).collect::<Vec<_>>(), "an engine that stalled loses none");
    let wake = engine.step(at(35), vec![]).unwrap().wake;
    assert_eq!(wake, Some(at(36)).min(wake), "and wakes up for the next");
}

#[test]
fn missed_ticks_follow_the_catch_up_policy() {
    for (catch_up, expected) in [(0, &[][..]), (1, &[3_600 * 9][..]), (3, &[3_600 * 7, 3_600 * 8, 3_600 * 9][..])] {
        let (world, engine) = with(Schedule { catch_up, overlap: Overlap::Allow, ..every(3_600) });
        drop(engine);
        let mut engine = world.engine(2);
        step(&mut engine, at(3_600 * 9 + 120));
        assert_eq!(ticks(&world), expected, "catch_up {catch_up}");
        let entry = entry(&world);
        assert_eq!(entry.skipped, 9 - expected.len() as u64);
        step(&mut engine, at(36_000));
        assert_eq!(ticks(&world).last(), Some(&36_000), "and it goes on");
    }
}

#[test]
fn ticks_that_are_made_up_for_wait_for_each_other() {
    let (world, engine) = with(Schedule { catch_up: 3, ..every(3_600) });
    drop(engine);
    let mut engine = world.engine(2);
    let now = at(3_600 * 9 + 120);
    step(&mut engine, now);
    assert_eq!(ticks(&world), [3_600 * 7], "one at a time");
    for expected in [2, 3] {
        cancel(&mut engine, now, entry(&world).running[0]);
        step(&mut engine, now);
        assert_eq!(ticks(&world).len(), expected);
    }
}

#[test]
fn the_overlap_policy_holds() {
    let (world, mut engine) = with(every(60));
    (1..4).for_each(|minute| step(&mut engine, at(minute * 60)));
    assert_eq!(ticks(&world), [60], "skip");
    assert!(matches!(entry(&world).last.unwrap().outcome, Outcome::Skipped(Skip::Overlap(_))));
    cancel(&mut engine, at(200), entry(&world).running[0]);
    step(&mut engine, at(240));
    assert_eq!(ticks(&world), [60, 240], "and goes on once the run is over");

    let (world, mut engine) = with(Schedule { overlap: Overlap::Queue, ..every(60) });
    (1..4).for_each(|minute| step(&mut engine, at(minute * 60)));
    assert_eq!(ticks(&world), [60], "queue");
    for expected in [2, 3] {
        cancel(&mut engine, at(200), *entry(&world).running.last().unwrap());
        step(&mut engine, at(201));
        assert_eq!(ticks(&world).len(), expected);
    }
    assert!(entry(&world).queue.is_empty());

    let (world, mut engine) = with(Schedule { overlap: Overlap::Cancel, ..every(60) });
    (1..4).for_each(|minute| step(&mut engine, at(minute * 60)));
    let states: Vec<bool> = runs(&world).iter().map(|(_, state)| *state == RunState::Cancelled).collect();
    assert_eq!(states, [true, true, false], "cancel");

    let (world, mut engine) = with(Schedule { overlap: Overlap::Allow, ..every(60) });
    (1..4).for_each(|minute| step(&mut engine, at(minute * 60)));
    assert!(runs(&world).iter().all(|(_, state)| !state.is_done()) && ticks(&world) == [60, 120, 180], "allow");
}

#[test]
fn a_tick_waits_until_the_run_that_it_is_to_cancel_can_be_read() {
    let (mut world, mut engine) = with(Schedule { overlap: Overlap::Cancel, ..every(60) });
    step(&mut engine, at(60));
    world.flush(&mut engine);
    let mut engine = world.engine(2);
    // Looked at once to see whether it is over, and once more to cancel it.
    world.faults.fail_next(Op::Load, Fault::Refused);
    world.faults.fail_after(Op::Load, 1, Fault::Refused);
    step(&mut engine, at(120));
    assert_eq!(world.faults.take_fired().values().sum::<u64>(), 2);
    assert_eq!(ticks(&world), [60], "nothing begins beside it");
    step(&mut engine, at(121));
    let states: Vec<bool> = runs(&world).iter().map(|(_, state)| *state == RunState::Cancelled).collect();
    assert_eq!((ticks(&world), states), (vec![60, 120], vec![true, false]));
}

#[test]
fn a_run_that_was_frozen_at_a_tick_holds_up_the_next_once_it_goes_on() {
    let (world, mut engine) = with(every(60));
    step(&mut engine, at(60));
    let first = entry(&world).running[0];
    let act = RunAct { run: first, by: name("op"), why: None };
    ask_at(&mut engine, at(70), Command::Freeze(act.clone())).unwrap();
    step(&mut engine, at(120));
    assert_eq!(ticks(&world), [60, 120], "who is frozen holds up nobody");
    let second = entry(&world).running.into_iter().find(|run| *run != first).unwrap();
    cancel(&mut engine, at(130), second);
    ask_at(&mut engine, at(140), Command::Unfreeze(act)).unwrap();
    step(&mut engine, at(180));
    assert_eq!(ticks(&world), [60, 120], "and who goes on does");
}

#[test]
fn several_engines_fire_a_tick_once() {
    let (world, mut first) = with(Schedule { overlap: Overlap::Allow, ..every(60) });
    let mut second = world.engine(2);
    for minute in 1..20 {
        step(&mut first, at(minute * 60));
        step(&mut second, at(minute * 60 + 1));
        std::mem::swap(&mut first, &mut second);
    }
    assert_eq!(ticks(&world), (1..20).map(|minute| minute * 60).collect::<Vec<_>>());
}

#[test]
fn a_clock_that_goes_back_fires_nothing_twice() {
    let (world, mut engine) = with(Schedule { overlap: Overlap::Allow, ..every(60) });
    for seconds in [60, 125, 30, 61, 130, 179, 180, 90, 240] {
        step(&mut engine, at(seconds));
    }
    assert_eq!(ticks(&world), [60, 120, 180, 240]);
}

#[test]
fn a_clock_that_jumps_ahead_misses_ticks_as_if_nobody_had_been_there() {
    let (world, mut engine) = with(Schedule { overlap: Overlap::Allow, catch_up: 1, ..every(3_600) });
    step(&mut engine, at(3_600));
    step(&mut engine, at(86_400 + 1_800));
    assert_eq!(ticks(&world), [3_600, 86_400]);
}

#[test]
fn a_paused_schedule_is_silent_and_goes_on_from_now_on() {
    let (world, mut engine) = with(Schedule { catch_up: 9, overlap: Overlap::Allow, ..every(60) });
    let paused = Schedule { paused: true, ..entry(&world).schedule };
    ask_at(&mut engine, at(10), set(Some(paused.clone()))).unwrap();
    step(&mut engine, at(600));
    assert_eq!(ticks(&world), [] as [u64; 0]);
    assert!(engine.is_idle(), "nothing will happen by itself");
    ask_at(&mut engine, at(610), set(Some(Schedule { paused: false, ..paused }))).unwrap();
    assert!(!engine.is_idle());
    step(&mut engine, at(660));
    assert_eq!(ticks(&world), [660]);
}

#[test]
fn a_backfill_keeps_to_its_bound_and_ends_by_itself() {
    let (world, mut engine) = with(Schedule { overlap: Overlap::Allow, ..every(60) });
    (1..=3).for_each(|minute| step(&mut engine, at(minute * 60)));
    let range = Backfill { of: name("s"), from: Time(at(0).0 - 240_000), until: at(120), at_once: 2, again: false };
    let schedule = Schedule { backfill: Some(range), overlap: Overlap::Allow, ..every(60) };
    let event = ScheduleSet { name: name("s.back"), schedule: Some(schedule), by: name("ada"), why: None };
    ask_at(&mut engine, at(185), Command::SetSchedule(event)).unwrap();
    let started =
        |world: &World| world.control().schedules.get(&name("s.back")).map(|e| (e.started, e.running.clone()));
    let mut most = 0;
    for _ in 0..20 {
        step(&mut engine, at(186));
        let Some((_, running)) = started(&world) else { break };
        let live = running.iter().filter(|run| !world.reader().run(**run).unwrap().state.is_done()).count();
        most = most.max(live);
        running.iter().for_each(|run| {
            drop(ask_at(&mut engine, at(186), Command::Cancel(RunAct { run: *run, by: name("ada"), why: None })));
        });
    }
    assert_eq!(started(&world), None, "it is gone");
    assert_eq!(most, 2);
    let all = world.reader().runs(&RunFilter { limit: 100, ..RunFilter::default() }).unwrap();
    assert_eq!(all.len(), 3 + 5, "five ticks before the schedule; those that had a run get none");
}

#[test]
fn a_backfill_passes_over_ticks_that_an_earlier_version_of_the_flow_ran() {
    let (world, mut engine) = with(Schedule { overlap: Overlap::Allow, ..every(60) });
    (1..=2).for_each(|minute| step(&mut engine, at(minute * 60)));
    let known = world.reader().runs(&RunFilter { limit: 2, ..RunFilter::default() }).unwrap();
    ask(&mut engine, register(&FLOW.replace("action: work", "action: work, priority: 1"))).unwrap();
    let range = Backfill { of: name("s"), from: at(0), until: at(120), at_once: 2, again: false };
    let schedule = Schedule { backfill: Some(range), overlap: Overlap::Allow, ..every(60) };
    let event = ScheduleSet { name: name("s.back"), schedule: Some(schedule), by: name("ada"), why: None };
    ask_at(&mut engine, at(125), Command::SetSchedule(event)).unwrap();
    step(&mut engine, at(126));
    let filled = world.control().schedules[&name("s.back")].clone();
    assert_eq!((filled.started, filled.skipped), (1, 2), "the tick before the schedule alone had no run");
    let Outcome::Skipped(Skip::Already(run)) = filled.last.unwrap().outcome else { panic!("it had a run") };
    assert!(known.iter().any(|row| row.id == run));
}

#[test]
fn one_instant_fires_once_and_lets_the_engine_end() {
    let (world, mut engine) = with(Schedule::new(name("report"), When::At(at(30))));
    assert!(!engine.is_idle());
    step(&mut engine, at(29));
    assert_eq!(ticks(&world), [] as [u64; 0]);
    step(&mut engine, at(30));
    step(&mut engine, at(31));
    assert_eq!(ticks(&world), [30]);
}

#[test]
fn a_tick_runs_the_newest_registered_plan() {
    let (world, mut engine) = with(Schedule { overlap: Overlap::Allow, ..every(60) });
    step(&mut engine, at(60));
    let newer = FLOW.replace("a:", "b:");
    ask(&mut engine, register(&newer)).unwrap();
    step(&mut engine, at(120));
    let plans: std::collections::BTreeSet<_> =
        world.reader().runs(&RunFilter { limit: 9, ..RunFilter::default() }).unwrap().iter().map(|r| r.plan).collect();
    assert_eq!(plans.len(), 2);
    assert!(plans.contains(&world.control().flows[&name("report")].plan));
}

#[test]
fn a_tick_whose_run_is_refused_says_why_and_the_next_one_comes() {
    let input = [("nonsense".to_owned(), json!(1))].into_iter().collect();
    let (world, mut engine) = with(Schedule { input, ..every(60) });
    step(&mut engine, at(60));
    let last = entry(&world).last.unwrap();
    assert!(matches!(&last.outcome, Outcome::Skipped(Skip::Refused(why)) if why.contains("nonsense")), "{last:?}");
    step(&mut engine, at(120));
    assert_eq!(entry(&world).skipped, 2);
}

#[test]
fn a_tick_is_left_out_where_too_many_wait_already() {
    let (world, mut engine) = with(Schedule { overlap: Overlap::Queue, ..every(1) });
    // One is at work, and so many wait behind it.
    let full = 1 + QUEUED_TICKS as u64;
    for seconds in (0..=full).step_by(10).chain([full, full + 3]) {
        step(&mut engine, at(seconds));
    }
    let entry = entry(&world);
    assert_eq!((entry.started, entry.queue.len(), entry.skipped), (1, QUEUED_TICKS, 3));
    assert!(matches!(entry.last.unwrap().outcome, Outcome::Skipped(Skip::QueueFull)));
}

/// A schedule by which no tick is lost, whoever is away.
fn patient() -> Command {
    set(Some(Schedule { overlap: Overlap::Queue, catch_up: 9, ..every(60) }))
}

/// A schedule is set and three ticks come, over a store that fails as told; no engine if one of its errors was fatal.
fn three_ticks(faults: Faults) -> (World, Option<Engine>) {
    let world = World { faults, ..World::default() };
    let Ok(mut engine) = world.try_engine(1) else { return (world, None) };
    let mut asked = vec![(0, Some(register(FLOW))), (0, Some(patient()))];
    asked.extend([60, 61, 120, 121, 180, 181].map(|seconds| (seconds, None)));
    for (seconds, command) in asked {
        let requests = command.into_iter().map(|command| Request { command, reply: 1 }).collect();
        // An error is fatal: the process ends, and another one comes.
        if engine.step(at(seconds), requests).is_err() {
            return (world, None);
        }
    }
    (world, Some(engine))
}

/// Two more ticks over a store that works, and every run is ended: the ticks that have become runs by then.
fn and_two_more((world, engine): (World, Option<Engine>)) -> Vec<u64> {
    world.faults.calm();
    let mut engine = engine.unwrap_or_else(|| world.engine(9));
    let _ = ask(&mut engine, register(FLOW));
    let _ = ask_at(&mut engine, at(182), patient());
    for seconds in [190, 240, 300, 301, 302, 303] {
        step(&mut engine, at(seconds));
        for run in entry(&world).running {
            let _ = ask_at(&mut engine, at(seconds), Command::Cancel(RunAct { run, by: name("ada"), why: None }));
        }
        step(&mut engine, at(seconds));
    }
    let all = ticks(&world);
    assert_eq!(entry(&world).started as usize, all.len(), "{all:?}");
    all
}

#[test]
fn what_fails_at_any_operation_of_the_store_fires_each_tick_once() {
    let quiet = three_ticks(Faults::none());
    let total = quiet.0.faults.total();
    assert!(total > 10);
    let undisturbed = and_two_more(quiet);
    assert_eq!(undisturbed, [60, 120, 180, 240, 300]);
    let kinds =
        [Fault::Refused, Fault::AnswerLost { landed: true }, Fault::AnswerLost { landed: false }, Fault::Conflict];
    let mut whole = 0;
    for n in 1..=total {
        for fault in kinds.into_iter().chain([Fault::SyncFailed { landed: true }, Fault::SyncFailed { landed: false }])
        {
            let played = three_ticks(Faults::none().fail_nth(n, fault));
            assert_eq!(played.0.faults.take_fired().values().sum::<u64>(), 1, "operation {n}, {fault:?}");
            // Where it could not be set at the start it is set after three ticks, and fires for none of them.
            let from = if played.0.control().schedules.contains_key(&name("s")) { 0 } else { 182 };
            let expected: Vec<u64> = undisturbed.iter().copied().filter(|tick| *tick > from).collect();
            assert_eq!(and_two_more(played), expected, "operation {n}, {fault:?}");
            whole += u64::from(from == 0);
        }
    }
    assert!(whole > total, "only {whole} plays had their schedule from the start");
}

/// Who is there while a clock changes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Presence {
    /// One engine all the time.
    Always,
    /// Another engine at every look.
    Restarts,
    /// Nobody from the first tick on until the end: all that was missed is made up for then.
    Gone,
}

/// Ticks of a schedule in Berlin between two instants, as an engine fires them.
fn ticks_in_berlin(cron: &str, jitter: u64, presence: Presence, (from, until): (&str, &str)) -> Vec<String> {
    let (from, until) = (Time::parse(from).unwrap(), Time::parse(until).unwrap());
    let when = When::Cron { text: cron.into(), zone: "Europe/Berlin".into() };
    let schedule = Schedule {
        jitter: Millis(jitter * 1_000),
        catch_up: 5,
        overlap: Overlap::Allow,
        ..Schedule::new(name("report"), when)
    };
    let world = World::default();
    let mut engine = world.engine(1);
    ask(&mut engine, register(FLOW)).unwrap();
    ask_at(&mut engine, from, set(Some(schedule))).unwrap();
    for (nth, now) in (from.0..=until.0).step_by(1_800_000).enumerate() {
        match presence {
            Presence::Always => step(&mut engine, Time(now)),
            Presence::Restarts => {
                engine = world.engine((nth % 250) as u8);
                step(&mut engine, Time(now));
            }
            Presence::Gone if runs(&world).is_empty() => step(&mut engine, Time(now)),
            Presence::Gone => {}
        }
    }
    drop(engine);
    step(&mut world.engine(251), until);
    ticks(&world).into_iter().map(|due| at(due).to_string()).collect()
}

#[test]
fn each_tick_comes_once_where_a_clock_changes_through_restarts_jitter_and_absence() {
    let gap = ("2027-03-26T12:00:00Z", "2027-03-30T12:00:00Z");
    let fold = ("2027-10-29T12:00:00Z", "2027-11-02T12:00:00Z");
    // Half past two does not exist on one night, and comes twice on the other.
    let over_gap = ["2027-03-27T01:30", "2027-03-28T01:00", "2027-03-29T00:30", "2027-03-30T00:30"];
    let over_fold = ["2027-10-30T00:30", "2027-10-31T00:30", "2027-11-01T01:30", "2027-11-02T01:30"];
    for (span, expected) in [(gap, over_gap), (fold, over_fold)] {
        for presence in [Presence::Always, Presence::Restarts, Presence::Gone] {
            for jitter in [0, 540] {
                let found = ticks_in_berlin("30 2 * * *", jitter, presence, span);
                let found: Vec<&str> = found.iter().map(|tick| &tick[..16]).collect();
                assert_eq!(found, expected, "{presence:?}, jitter {jitter}");
            }
        }
    }
    // Every half hour of the clock is so many half hours of time, whatever the clock shows.
    for (day, night) in
        [("2027-03-27T22:45:00Z", "2027-03-28T04:45:00Z"), ("2027-10-30T22:45:00Z", "2027-10-31T04:45:00Z")]
    {
        for presence in [Presence::Always, Presence::Restarts] {
            assert_eq!(ticks_in_berlin("*/30 * * * *", 0, presence, (day, night)).len(), 12, "{day} {presence:?}");
        }
    }
}

#[test]
fn a_tick_is_not_left_out_for_a_run_that_another_engine_ended() {
    let (world, mut engine) = with(Schedule { overlap: Overlap::Skip, ..every(60) });
    step(&mut engine, at(60));
    let first = entry(&world).running[0];
    cancel(&mut world.engine(2), at(90), first);
    step(&mut engine, at(120));
    assert_eq!(ticks(&world), [60, 120], "the copy of the first engine is old");
}
