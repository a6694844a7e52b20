use super::*;
use crate::event::{Envelope, Record, decode_events, encode_events};
use crate::fold::{Ignored, Stamp};
use crate::schedule::{Overlap, When};
use crate::time::Millis;
use serde_json::json;
use std::collections::BTreeSet;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn hourly() -> Schedule {
    Schedule {
        flow: name("report"),
        when: When::Every { span: Millis(3_600_000), from: Time(0) },
        jitter: Millis(0),
        overlap: Overlap::Skip,
        catch_up: 0,
        input: serde_json::Map::new(),
        paused: false,
        declared: false,
        backfill: None,
    }
}

fn set(schedule: Option<Schedule>) -> ControlEvent {
    ControlEvent::ScheduleSet(ScheduleSet { name: name("hourly"), schedule, by: name("ada"), why: None })
}

fn fired(due: u64, outcome: Outcome) -> ControlEvent {
    ControlEvent::ScheduleFired(ScheduleFired { name: name("hourly"), due: Time(due), outcome, over: vec![] })
}

fn register(plan: u128) -> ControlEvent {
    ControlEvent::FlowRegistered(FlowRegistered {
        flow: name("report"),
        plan: PlanHash(plan),
        hook: None,
        by: name("ada"),
    })
}

fn setting(value: Option<Value>) -> ControlEvent {
    ControlEvent::SettingChanged(SettingChanged { key: name("queue.slots"), value, by: name("ada"), why: None })
}

/// Folds events, each at its time; gives what each came to.
fn after(events: &[(u64, ControlEvent)]) -> (Control, Vec<Result<(), Ignored>>) {
    let mut control = Control::default();
    let mut changed = BTreeSet::new();
    let fold_one = |(at, event): &(u64, ControlEvent)| {
        let stamp = Stamp { id: EventId(u128::from(control.seq) + 1), at: Time(*at) };
        fold(&mut control, stamp, event, &mut changed)
    };
    let verdicts = events.iter().map(fold_one).collect();
    (control, verdicts)
}

fn cursor(control: &Control) -> u64 {
    control.schedules[&name("hourly")].after.0
}

#[test]
fn a_new_schedule_counts_from_now_on() {
    let (control, _) = after(&[(5_000, set(Some(hourly())))]);
    assert_eq!(cursor(&control), 5_000);
}

#[test]
fn a_schedule_set_again_keeps_its_cursor_unless_its_rhythm_changed() {
    let other_input = Schedule { input: [("a".to_owned(), json!(1))].into_iter().collect(), ..hourly() };
    let (control, _) = after(&[(5_000, set(Some(hourly()))), (9_000, set(Some(other_input)))]);
    assert_eq!(cursor(&control), 5_000, "no tick is lost because an input changed");
    let faster = Schedule { when: When::Every { span: Millis(1_000), from: Time(0) }, ..hourly() };
    let (control, _) = after(&[(5_000, set(Some(hourly()))), (9_000, set(Some(faster)))]);
    assert_eq!(cursor(&control), 9_000);
}

#[test]
fn a_paused_schedule_goes_on_from_now_on() {
    let paused = Schedule { paused: true, ..hourly() };
    let events = [(5_000, set(Some(hourly()))), (6_000, set(Some(paused))), (90_000, set(Some(hourly())))];
    assert_eq!(cursor(&after(&events).0), 90_000);
    let back = [(5_000, set(Some(hourly()))), (6_000, set(Some(Schedule { paused: true, ..hourly() })))];
    let back = [back.as_slice(), &[(2_000, set(Some(hourly())))]].concat();
    assert_eq!(cursor(&after(&back).0), 5_000, "a clock that went back brings no tick back");
}

#[test]
fn a_tick_is_decided_once() {
    let start = Outcome::Started(RunId(1));
    let again = Outcome::Started(RunId(2));
    let (control, said) =
        after(&[(1, set(Some(hourly()))), (9, fired(8, start)), (9, fired(8, again.clone())), (9, fired(7, again))]);
    assert_eq!(said[2..], [Err(Ignored::Duplicate), Err(Ignored::Duplicate)]);
    assert_eq!(control.schedules[&name("hourly")].started, 1);
}

#[test]
fn a_tick_that_waits_is_decided_once_more_when_its_turn_comes() {
    let start = |run| Outcome::Started(RunId(run));
    let events = [(1, set(Some(hourly()))), (9, fired(8, Outcome::Queued)), (9, fired(8, Outcome::Queued))];
    let events = [events.as_slice(), &[(9, fired(8, start(1))), (9, fired(8, start(2)))]].concat();
    let (control, said) = after(&events);
    assert_eq!(said[1..], [Ok(()), Err(Ignored::Duplicate), Ok(()), Err(Ignored::Duplicate)]);
    assert!(control.schedules[&name("hourly")].queue.is_empty());
}

#[test]
fn registering_the_same_plan_again_changes_nothing() {
    let (control, said) = after(&[(1, register(7)), (2, register(7)), (3, register(8))]);
    assert_eq!(said, [Ok(()), Err(Ignored::Duplicate), Ok(())]);
    assert_eq!((control.flows[&name("report")].version, control.flows[&name("report")].at), (2, Time(3)));
}

#[test]
fn settings_are_changed_and_taken_away() {
    let (control, said) = after(&[(1, setting(Some(json!(4)))), (2, setting(None)), (3, setting(None))]);
    assert_eq!(said, [Ok(()), Ok(()), Err(Ignored::Unknown)]);
    assert!(control.settings.is_empty());
}

#[test]
fn what_is_not_there_cannot_be_taken_away_or_fire() {
    let (_, said) = after(&[(1, set(None)), (2, fired(1, Outcome::Queued))]);
    assert_eq!(said, [Err(Ignored::Unknown), Err(Ignored::Unknown)]);
}

#[test]
fn rows_at_any_prefix_give_the_same_control_back() {
    let events = [
        (1, register(7)),
        (2, set(Some(hourly()))),
        (3, setting(Some(json!({ "slots": [1, 2.5] })))),
        (9, fired(8, Outcome::Started(RunId(3)))),
        (9, fired(9, Outcome::Queued)),
        (9, fired(10, Outcome::Skipped(Skip::Refused("no such flow".into())))),
        (11, set(None)),
    ];
    for n in 0..=events.len() {
        let (control, _) = after(&events[..n]);
        let rows = control.keys().filter_map(|key| control.row(&key)).collect();
        let rows = ControlRows { applied_seq: control.seq, version: control.last, rows };
        assert_eq!(Control::from_rows(&rows).unwrap(), control, "after {n} events");
    }
}

#[test]
fn control_events_are_written_and_read_back_and_newer_ones_are_skipped() {
    let events =
        [register(7), set(Some(hourly())), fired(8, Outcome::Skipped(Skip::Missed(3))), setting(Some(json!(1)))];
    let envelope = Envelope { id: EventId(9), at: Time(5), source: "e1".into() };
    let bytes = encode_events(&envelope, &events);
    let record = Record::new("local/default/control", 1, 4, bytes);
    assert_eq!(decode_events::<ControlEvent>(&record).unwrap(), (envelope, events.to_vec()));
    let newer = br#"{"v":1,"id":"00000000000000000000000009","at":5,"by":"e1","e":[{"MoonRose":{"x":1}}]}"#;
    let record = Record::new("local/default/control", 1, 1, newer.to_vec());
    assert_eq!(decode_events::<ControlEvent>(&record).unwrap().1, [ControlEvent::Unknown("MoonRose".into())]);
}
