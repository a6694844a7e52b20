//! Histories that no engine writes, and which rule each of them breaks.

use super::*;
use crate::driver::{World, name};
use edgewise_core::time::Millis;

fn rule(held: Held) -> Result<(), String> {
    held.map_err(|broken| broken.invariant)
}

fn broken(rule: &str) -> Result<(), String> {
    Err(rule.to_owned())
}

#[test]
fn more_people_who_are_asked_early_twice_or_of_an_open_gate_are_told() {
    let mut world = World::new();
    let gate = "{ approval: { from: [ann] }, escalate: [{ after: 5s, to: [bob] }, { after: 9s, to: [cyd] }] }";
    let run = world.start(&format!("{{ flow: f, tasks: {{ ask: {{ gate: {gate} }} }} }}"));
    let began = world.now;
    let book = world.witness.books.get_mut(&run).unwrap();
    let before = book.run.clone();
    let mut told = |steps: u16, step, millis| {
        book.steps.insert(TaskIx(0), steps);
        let event = GateEscalated { task: TaskIx(0), generation: 1, step };
        book.escalated(&before, event, began.plus(Millis(millis))).map_err(|broken| broken.invariant)
    };
    let broken = Err("more_are_asked_once_in_time".to_owned());
    assert_eq!(told(0, 1, 5_000), Ok(()));
    assert_eq!(told(1, 2, 9_000), Ok(()));
    assert_eq!(told(0, 1, 4_999), broken, "early");
    assert_eq!(told(1, 1, 5_000), broken, "twice");
    assert_eq!(told(0, 2, 9_000), broken, "before its turn");
    assert_eq!(told(2, 3, 20_000), broken, "of a step that is not there");
}

/// The last event of a kind that was written to a run.
fn last(book: &Book, kind: &str) -> Entry {
    book.entries.iter().rfind(|entry| entry.event.name() == kind).unwrap().clone()
}

#[test]
fn a_token_that_is_given_out_again_is_told() {
    let mut world = World::new();
    let run = world.start("{ flow: f, tasks: { a: { action: work }, b: { action: work } } }");
    world.claim_one("w");
    let book = world.witness.books.get_mut(&run).unwrap();
    let Event::DispatchEnqueued(lease) = last(book, "DispatchEnqueued").event else { panic!("no lease") };
    let before = book.run.clone();
    let again = DispatchEnqueued { task: TaskIx(1 - lease.task.0), ..lease.clone() };
    assert_eq!(rule(book.lease(&before, &lease)), broken("one_live_lease"));
    assert_eq!(rule(book.lease(&before, &again)), broken("tokens_are_used_once"));
}

#[test]
fn an_attempt_that_ends_twice_is_told() {
    let mut world = World::new();
    let run = world.start("{ flow: f, tasks: { a: { action: work } } }");
    let grant = world.claim_one("w");
    world.report(grant.lease, Ok(())).unwrap();
    let book = world.witness.books.get_mut(&run).unwrap();
    let (before, end) = (book.run.clone(), last(book, "TaskFinished"));
    assert_eq!(rule(book.allowed(&before, &end)), broken("stale_tokens_change_nothing"));
    book.live.insert(grant.lease.task, grant.lease.token.hash());
    assert_eq!(rule(book.allowed(&before, &end)), broken("one_outcome_per_attempt"), "as if its lease still lived");
}

#[test]
fn a_timer_that_fires_early_is_told_whatever_it_says_of_itself() {
    let mut world = World::new();
    let run = world.start("{ flow: f, tasks: { a: { gate: { timer: 20s } } } }");
    world.pass(Millis(21_000));
    let book = world.witness.books.get_mut(&run).unwrap();
    let (before, fired) = (book.run.clone(), last(book, "TimerFired"));
    let Event::TimerFired(timer) = &fired.event else { panic!("no timer") };
    let mut look = |at: Time, due: Time| {
        let mut said =
            Entry { event: Event::TimerFired(edgewise_core::event::TimerFired { due, ..*timer }), ..fired.clone() };
        said.stamp.at = at;
        rule(book.allowed(&before, &said))
    };
    let early = Time(timer.due.0 - 1);
    assert_eq!(look(timer.due, timer.due), Ok(()));
    assert_eq!(look(early, timer.due), broken("timers_are_never_early"));
    assert_eq!(look(early, early), broken("timers_are_never_early"), "the flow says how long it waits");
}

#[test]
fn a_gate_that_stays_closed_or_opens_by_the_wrong_word_is_told() {
    let mut world = World::new();
    let run = world.start("{ flow: f, tasks: { ask: { gate: { approval: { count: 2 } } } } }");
    let now = world.now;
    let book = world.witness.books.get_mut(&run).unwrap();
    let before = book.run.clone();
    let mut yes = |by: &str| {
        let said = Approved { task: TaskIx(0), generation: 1, by: name(by), comment: None };
        rule(book.approve(&before, &said, now))
    };
    assert_eq!((yes("ann"), yes("ann")), (Ok(()), broken("approvers_differ")));
    assert_eq!(yes("bob"), broken("gates_open_by_count"), "two of two, and it is closed");
    let word =
        GateSatisfied { task: TaskIx(0), generation: 1, by: name("ann"), comment: None, delivery: None, output: None };
    assert_eq!(rule(book.satisfied(&before, &word)), broken("gates_open_from_outside"));
}
