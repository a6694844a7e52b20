//! Records: the bytes of one ledger row.

use super::{Target, refusal};
use edgewise_core::event::{Event, Record, decode, encode};
use serde::de::IgnoredAny;

pub const TARGET: Target = Target { name: "record", words: WORDS, defined: Vec::new, attempt };

/// Words of records and events.
pub const WORDS: &[&str] = &[
    "\"v\":",
    "\"id\":",
    "\"at\":",
    "\"by\":",
    "\"e\":",
    "\"t\":",
    "\"g\":",
    "\"a\":",
    "\"k\":",
    "\"w\":",
    "\"output\":",
    "\"error\":",
    "\"type\":",
    "\"message\":",
    "\"retryable\":",
    "\"retry_after\":",
    "\"kind\":",
    "\"due\":",
    "\"why\":",
    "\"comment\":",
    "\"key\":",
    "\"labels\":",
    "\"input\":",
    "\"flow\":",
    "\"plan\":",
    "\"rules\":",
    "\"progress\":",
    "RunTriggered",
    "PlanCreated",
    "RunCancelRequested",
    "RunPauseRequested",
    "RunResumeRequested",
    "RunAdvanced",
    "DispatchEnqueued",
    "DispatchReturned",
    "TaskHeartbeat",
    "TaskFinished",
    "TimerFired",
    "ApprovalGiven",
    "ApprovalWithdrawn",
    "GateEscalated",
    "GateRejected",
    "GateSatisfied",
    "\"delivery\":",
    "TaskResolvedManually",
    "TaskCompletedManually",
    "TaskResetForRetry",
    "TaskSkipRequested",
    "TaskCancelRequested",
    "RunResolvedManually",
    "RunGivenUp",
    "RunRerunRequested",
    "RunFrozen",
    "RunUnfrozen",
    "\"mark\":",
    "SomethingNew",
    "null",
    "true",
    "{}",
    "[]",
    "\"retry\"",
    "\"gate\"",
    "\"deadline\"",
    "\"queue\"",
    "\"overall\"",
    ",",
    "\\u0000",
    "\\ud800",
    "1.0",
    "\"\"",
];

/// A record of these bytes, with the count that its events come to.
pub fn record(first: u64, bytes: &[u8]) -> Record {
    #[derive(serde::Deserialize)]
    struct Events {
        e: Vec<IgnoredAny>,
    }
    let count = serde_json::from_slice::<Events>(bytes).map_or(1, |events| events.e.len() as u32);
    Record::new("fuzz", first, count, bytes.to_vec())
}

fn attempt(input: &[u8]) -> String {
    let record = record(1, input);
    record.verify("fuzz").unwrap_or_else(|error| panic!("{error}"));
    assert!(record.verify("fuzy").is_err(), "a record of another stream is taken for one of this");
    let mut damaged = record.clone();
    if let Some(last) = damaged.bytes.last_mut() {
        *last ^= 1;
        assert!(damaged.verify("fuzz").is_err(), "damage is not seen");
    }
    match decode(&record) {
        Ok((envelope, mut events)) => {
            let names: Vec<&str> = events.iter().filter(|e| !is_unknown(e)).map(Event::name).take(3).collect();
            let mark = format!("fine {} of {}", names.join(" "), events.len().min(4));
            // What a newer program wrote is never written again, so it has no bytes of ours.
            events.retain(|event| !is_unknown(event));
            again(&encode(&envelope, &events), events.len() as u32);
            mark
        }
        Err(error) => refusal(error.code, &error.message),
    }
}

fn is_unknown(event: &Event) -> bool {
    matches!(event, Event::Unknown(_))
}

/// What was written reads back, and is written the same.
fn again(bytes: &[u8], count: u32) {
    if count > 0 {
        let read = decode(&Record::new("fuzz", 1, count, bytes.to_vec()));
        let (envelope, events) = read.unwrap_or_else(|error| panic!("what was written does not read back: {error}"));
        assert_eq!(encode(&envelope, &events), bytes, "written again, it is something else");
    }
}
