//! The work graph, a record on each line: whatever can be read folds, what is derived is what the definitions say, and
//! its rows load to the same.

use super::control::again;
use super::record::record;
use super::{Target, refusal};
use edgewise_core::event::decode_events;
use edgewise_core::fold::Stamp;
use edgewise_core::work::{Changed, Work, WorkEvent, fold, scratch};
use std::collections::BTreeSet;

pub const TARGET: Target = Target {
    name: "work",
    words: &[
        "\"v\":1",
        "\"e\":",
        "\"by\":",
        "ItemAdded",
        "ItemChanged",
        "ItemClosed",
        "ItemReopened",
        "ItemDeleted",
        "ItemMoved",
        "ItemClaimed",
        "ClaimExtended",
        "ItemReleased",
        "DependencyAdded",
        "DependencyRemoved",
        "GateMade",
        "GateApproved",
        "GateWithdrawn",
        "GateSatisfied",
        "GateRejected",
        "RunEnded",
        "ItemImported",
        "GateImported",
        "DependencyImported",
        "\"id\":",
        "\"kind\":",
        "\"title\":",
        "\"priority\":",
        "\"assignee\":",
        "\"parent\":",
        "\"targetId\":",
        "\"sourceId\":",
        "\"type\":",
        "\"when\":",
        "\"fields\":",
        "\"until\":",
        "\"worker\":",
        "\"token\":",
        "\"wait\":",
        "\"approval\":",
        "\"timer\":",
        "\"count\":",
        "\"deadline\":",
        "\"close\":",
        "\"done\"",
        "\"failed\"",
        "\"cancelled\"",
        "\"blocks\"",
        "\"parent-child\"",
        "\"awaits\"",
        "\"relates-to\"",
        "null",
        "{}",
        "[]",
        "SomethingNew",
    ],
    defined: Vec::new,
    attempt,
};

fn attempt(input: &[u8]) -> String {
    let mut work = Work::default();
    let mut marks = BTreeSet::new();
    for line in input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match decode_events::<WorkEvent>(&record(work.seq + 1, line)) {
            Ok((envelope, events)) => {
                again(
                    &envelope,
                    &events.iter().filter(|e| !matches!(e, WorkEvent::Unknown(_))).cloned().collect::<Vec<_>>(),
                );
                for (n, event) in (0..).zip(&events) {
                    let stamp = Stamp { id: envelope.id.plus(n), at: envelope.at };
                    let mark = match fold(&mut work, stamp, event, &mut Changed::default()) {
                        Ok(()) => "applied".to_owned(),
                        Err(error) => refusal(error.code, &error.message),
                    };
                    marks.insert(mark);
                }
            }
            Err(error) => drop(marks.insert(refusal(error.code, &error.message))),
        }
    }
    assert_eq!(scratch::disagreements(&work), Vec::<String>::new());
    let rows = work.rows();
    let loaded = Work::from_rows(&rows).unwrap_or_else(|error| panic!("its own rows: {error}"));
    assert_eq!(loaded.rows(), rows, "loaded from its rows");
    let marks: Vec<String> = marks.into_iter().take(4).collect();
    format!("{} {}", work.len().min(5), marks.join(" "))
}
