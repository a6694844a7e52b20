//! What a workspace is set to, a record on each line: whatever can be read folds, and its rows load to the same.

use super::record::record;
use super::{Target, refusal};
use edgewise_core::control::{Control, ControlEvent, ControlRows, fold};
use edgewise_core::event::{Envelope, Record, Recorded, decode_events, encode_events};
use edgewise_core::fold::Stamp;
use std::collections::BTreeSet;

pub const TARGET: Target = Target {
    name: "control",
    words: &[
        "\"v\":1",
        "\"e\":",
        "\"by\":",
        "FlowRegistered",
        "ScheduleSet",
        "ScheduleFired",
        "SettingChanged",
        "\"flow\":",
        "\"plan\":",
        "\"hook\":",
        "\"into\":",
        "\"name\":",
        "\"schedule\":",
        "\"when\":",
        "\"cron\":",
        "\"text\":",
        "\"zone\":",
        "\"every\":",
        "\"span\":",
        "\"from\":",
        "\"at\":",
        "\"jitter\":",
        "\"overlap\":",
        "\"queue\"",
        "\"allow\"",
        "\"cancel\"",
        "\"skip\"",
        "\"catch_up\":",
        "\"input\":",
        "\"paused\":true",
        "\"declared\":true",
        "\"backfill\":",
        "\"due\":",
        "\"outcome\":",
        "\"started\":",
        "\"queued\"",
        "\"skipped\":",
        "\"over\":",
        "\"key\":",
        "\"value\":",
        "null",
        "{}",
        "[]",
        "SomethingNew",
    ],
    defined: Vec::new,
    attempt,
};

fn attempt(input: &[u8]) -> String {
    let mut control = Control::default();
    let mut marks = BTreeSet::new();
    for line in input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match decode_events::<ControlEvent>(&record(control.seq + 1, line)) {
            Ok((envelope, events)) => {
                again(
                    &envelope,
                    &events.iter().filter(|e| !matches!(e, ControlEvent::Unknown(_))).cloned().collect::<Vec<_>>(),
                );
                for (n, event) in (0..).zip(&events) {
                    let stamp = Stamp { id: envelope.id.plus(n), at: envelope.at };
                    let verdict = fold(&mut control, stamp, event, &mut BTreeSet::new());
                    marks.insert(format!("{verdict:?}"));
                }
            }
            Err(error) => drop(marks.insert(refusal(error.code, &error.message))),
        }
    }
    let rows = control.keys().filter_map(|key| control.row(&key)).collect();
    let rows = ControlRows { applied_seq: control.seq, version: control.last, rows };
    let loaded = Control::from_rows(&rows).unwrap_or_else(|error| panic!("its own rows: {error}"));
    assert_eq!(loaded, control, "loaded from its rows");
    let marks: Vec<String> = marks.into_iter().take(4).collect();
    format!("{} {} {}", control.flows.len().min(3), control.schedules.len().min(3), marks.join(" "))
}

/// What was written reads back, and is written the same.
pub fn again<E: Recorded>(envelope: &Envelope, events: &[E]) {
    if events.is_empty() {
        return;
    }
    let bytes = encode_events(envelope, events);
    let read = decode_events::<E>(&Record::new("fuzz", 1, events.len() as u32, bytes.clone()));
    let (envelope, events) = read.unwrap_or_else(|error| panic!("what was written does not read back: {error}"));
    assert_eq!(encode_events(&envelope, &events), bytes, "written again, it is something else");
}
