//! What is said twice, late or falsely: rules 1 and 2.

use crate::driver::{DUPLICATE, STALE};
use edgewise_core::event::{Event, Failure, TaskHeartbeat, TaskIx};
use edgewise_core::fold::Verdict;
use serde_json::value::RawValue;

use super::*;

// Rule 1: a finish or heartbeat counts only if generation, attempt and token are the current ones.

#[test]
fn a_finish_counts_only_with_the_current_generation_attempt_and_token() {
    let mut d = continuing(&[("a", ALL)], &[]);
    d.lease(TaskIx(0));
    let good = d.report(TaskIx(0), None, Some("1"));
    for wrong in 0..3 {
        let mut report = good.clone();
        match wrong {
            0 => report.generation += 1,
            1 => report.attempt += 1,
            _ => report.token.0 ^= 1,
        }
        assert_eq!(d.say(Event::TaskFinished(report)), STALE);
    }
    let progress = RawValue::from_string("1".into()).unwrap();
    let mut beat = TaskHeartbeat { attempt: d.lease_of("a"), progress };
    assert_eq!(d.say(Event::TaskHeartbeat(beat.clone())), Verdict::Applied);
    beat.attempt.token.0 ^= 1;
    assert_eq!(d.say(Event::TaskHeartbeat(beat)), STALE);
    assert_eq!(d.say(Event::TaskFinished(good)), Verdict::Applied);
}

#[test]
fn the_same_outcome_again_is_a_duplicate_and_any_other_is_stale() {
    let mut d = continuing(&[("a", ALL), ("b", ALL)], &[]);
    d.ok_with("a", r#"{"n":1}"#);
    let same = d.report(TaskIx(0), None, Some(r#"{ "n": 1 }"#));
    assert_eq!(d.say(Event::TaskFinished(same)), DUPLICATE);
    let other = d.report(TaskIx(0), None, Some("2"));
    assert_eq!(d.say(Event::TaskFinished(other)), STALE);
    let failure = d.report(TaskIx(0), Some(Failure::new("timeout", "too late")), None);
    assert_eq!(d.say(Event::TaskFinished(failure)), STALE, "a timeout after the success");
    d.lease(TaskIx(1));
    let timeout = d.report(TaskIx(1), Some(Failure::new("timeout", "too late")), None);
    assert_eq!(d.say(Event::TaskFinished(timeout.clone())), Verdict::Applied);
    assert_eq!(d.say(Event::TaskFinished(timeout)), DUPLICATE);
    let late = d.report(TaskIx(1), None, None);
    assert_eq!(d.say(Event::TaskFinished(late)), STALE, "a success after the timeout");
}

// Rule 2: the first applied fact uses up a key; an ignored one does not.

#[test]
fn an_ignored_fact_uses_up_nothing() {
    let mut d = continuing(&[("a", ALL), ("b", ALL)], &[(0, 1, OK)]);
    let early = Event::DispatchEnqueued(edgewise_core::event::DispatchEnqueued {
        task: TaskIx(1),
        generation: 1,
        attempt: 1,
        token: edgewise_core::id::Token(5).hash(),
        worker: "w".into(),
        lease: None,
    });
    assert_eq!(d.say(early.clone()), STALE, "b is not ready");
    d.ok("a");
    assert_eq!(d.say(early.clone()), Verdict::Applied);
    assert_eq!(d.say(early), DUPLICATE);
}

#[test]
fn a_lease_counts_only_for_the_next_attempt_of_the_current_generation() {
    let mut d = continuing(&[("a", ALL)], &[]);
    let lease = |generation, attempt| {
        let token = edgewise_core::id::Token(5).hash();
        let (task, worker) = (TaskIx(0), "w".into());
        Event::DispatchEnqueued(edgewise_core::event::DispatchEnqueued {
            task,
            generation,
            attempt,
            token,
            worker,
            lease: None,
        })
    };
    for (generation, attempt) in [(1, 0), (1, 2), (2, 1), (0, 1)] {
        assert_eq!(d.say(lease(generation, attempt)), STALE, "generation {generation}, attempt {attempt}");
    }
    assert_eq!(d.say(lease(1, 1)), Verdict::Applied);
}
