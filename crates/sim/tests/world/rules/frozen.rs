//! Freeze: nothing is decided on a frozen run, by whichever engine; its rows and its workers' slots are kept all the same.

use edgewise_core::Kind;
use edgewise_core::event::Event;
use edgewise_core::id::RunId;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::{Answer, Beat, Command, LeaseRef, RunAct};
use edgewise_sim::driver::{LEASE, World, finish_of, home};
use edgewise_sim::flows::{CHAIN, LIMITED, ONE};
use edgewise_store::faulty::{Fault, Op};
use edgewise_store::{Ledger, RunFilter};

/// Longer than from one sweep to the next.
const SWEEP: Millis = Millis(6_000);

fn freeze(world: &mut World, run: RunId) {
    let act = world.act(run);
    assert!(matches!(world.must(Command::Freeze(act)), Answer::Done));
}

fn unfreeze(world: &mut World, run: RunId) {
    let act = world.act(run);
    assert!(matches!(world.must(Command::Unfreeze(act)), Answer::Done));
}

/// Two engines that have the same run on their desks.
fn both(text: &str) -> (World, World, RunId) {
    let mut one = World::new();
    let run = one.start(text);
    let mut other = World::over(&one);
    let _ = other.ask(Command::Wait(run));
    (one, other, run)
}

fn has_row(world: &World, run: RunId) -> bool {
    let rows = world.reader().runs(&RunFilter { limit: 10, ..RunFilter::default() }).unwrap();
    rows.iter().any(|row| row.id == run)
}

#[test]
fn rows_that_were_behind_when_a_run_was_frozen_are_written() {
    let mut w = World::new();
    let run = w.start(ONE);
    freeze(&mut w, run);
    w.flush();
    assert!(has_row(&w, run), "whoever lists runs sees it");
    w.crash();
    assert!(has_row(&w, run));
}

#[test]
fn rows_of_a_frozen_run_that_its_engine_did_not_write_are_written_by_the_next() {
    let mut w = World::new();
    let run = w.start(ONE);
    freeze(&mut w, run);
    w.crash();
    w.flush();
    assert!(has_row(&w, run));
}

#[test]
fn whoever_works_for_a_frozen_run_is_told_to_stop_and_holds_its_slot_until_its_lease_is_over() {
    for crash in [false, true] {
        let mut w = World::new();
        w.witness.watches_marks = true;
        let run = w.start(LIMITED);
        let first = w.claim_one("w");
        let waiting = w.start(LIMITED);
        freeze(&mut w, run);
        if crash {
            w.crash();
        }
        assert!(matches!(w.beat(first.lease), Beat::Cancel));
        assert_eq!(w.report(first.lease, Ok(())).unwrap_err().code, "run_frozen");
        assert_eq!(w.claim("w", 1).len(), 0, "the worker may still be at work");
        w.pass(LEASE);
        w.pass(LEASE);
        let next = w.take();
        assert_eq!(next.iter().map(|grant| grant.lease.run).collect::<Vec<_>>(), [waiting]);
        assert_eq!(w.task(run, "a"), TaskState::InProgress, "nothing of the frozen run moved");
    }
}

#[test]
fn a_lease_that_was_over_while_its_run_was_frozen_is_what_it_was_if_the_clock_says_that_it_holds() {
    for (timeout, crash) in [("5s", false), ("5s", true), ("1h", false), ("1h", true)] {
        let mut w = World::new();
        let task = format!("{{ action: work, retry: 1, timeout: {{ attempt: {timeout} }} }}");
        let run = w.start(&format!("{{ flow: f, tasks: {{ a: {task} }} }}"));
        w.claim_one("w");
        let told = w.now.plus(LEASE);
        freeze(&mut w, run);
        // It was over before its row was written.
        w.now = w.now.plus(Millis(LEASE.0 + 1_000));
        w.step(Vec::new());
        w.flush();
        if crash {
            w.crash();
        }
        w.now = Time(told.0 - LEASE.0);
        unfreeze(&mut w, run);
        // Whoever came up when it was over gave its worker ten seconds more to be heard.
        let until = match (timeout, crash) {
            ("5s", _) => Millis(5_000),
            (_, false) => LEASE,
            (_, true) => Millis(LEASE.0 + 11_000),
        };
        w.pass(Millis(until.0 - 1));
        assert_eq!(w.task(run, "a"), TaskState::InProgress, "{timeout} {crash}");
        w.pass(Millis(1));
        assert_eq!(w.task(run, "a"), TaskState::Error, "{timeout} {crash}");
    }
}

#[test]
fn a_lease_that_was_over_while_its_run_was_frozen_holds_one_slot_if_the_run_goes_on() {
    let mut w = World::new();
    let flow = |limit| {
        format!(
            "{{ flow: f, tasks: {{ a: {{ action: work, timeout: {{ attempt: 5s }}, limit: {{ key: '\"k\"', max: {limit} }} }} }} }}"
        )
    };
    let run = w.start(&flow(2));
    let lease = w.claim_one("w").lease;
    freeze(&mut w, run);
    w.pass(Millis(6_000));
    w.now = Time(w.now.0 - 6_000);
    unfreeze(&mut w, run);
    w.start(&flow(2));
    assert_eq!(w.claim("w", 1).len(), 1, "one of two is free");
    w.report(lease, Ok(())).unwrap();
    w.start(&flow(2));
    assert_eq!(w.claim("w", 1).len(), 1, "and again");
}

#[test]
fn a_frozen_run_goes_on_where_it_was() {
    let mut w = World::new();
    let run = w.start(CHAIN);
    let lease = w.claim_one("w").lease;
    freeze(&mut w, run);
    unfreeze(&mut w, run);
    w.report(lease, Ok(())).unwrap();
    assert_eq!(w.claim("w", 1).len(), 1);
}

#[test]
fn an_engine_that_has_not_heard_of_the_freeze_writes_nothing() {
    let (mut one, mut other, run) = both(CHAIN);
    let lease = one.claim_one("w").lease;
    freeze(&mut one, run);
    assert_eq!(other.report(lease, Ok(())).unwrap_err().code, "run_frozen");
    assert_eq!(other.task(run, "a"), TaskState::InProgress);
    let act = other.act(run);
    assert_eq!(other.must_fail(Command::Pause(act)).code, "run_frozen");
}

#[test]
fn already_frozen_means_that_the_ledger_says_so() {
    let (mut one, mut other, run) = both(ONE);
    let act = one.act(run);
    freeze(&mut one, run);
    assert!(matches!(other.must(Command::Freeze(act.clone())), Answer::Already));
    unfreeze(&mut other, run);
    assert!(matches!(one.must(Command::Unfreeze(act)), Answer::Already));
    let lease = one.claim_one("w").lease;
    one.report(lease, Ok(())).unwrap();
    one.is(run, RunState::Complete);
}

/// What the history of a run says of freezes: who, why, and what it was marked with where nobody froze it.
fn said(world: &World, run: RunId) -> Vec<(String, String, Option<String>)> {
    let entries = world.reader().ledger(run).unwrap();
    let freezes = entries.into_iter().filter_map(|entry| match entry.event {
        Event::RunFrozen(e) => Some((format!("{} froze", e.by), e.why.unwrap_or_default(), None)),
        Event::RunUnfrozen(e) => Some((format!("{} unfroze", e.by), e.why.unwrap_or_default(), e.mark)),
        _ => None,
    });
    freezes.collect()
}

fn because(world: &World, run: RunId, why: &str) -> RunAct {
    RunAct { why: Some(why.into()), ..world.act(run) }
}

#[test]
fn a_freeze_and_its_end_are_in_the_history_with_who_and_why() {
    let mut w = World::new();
    w.witness.watches_marks = true;
    let run = w.start(ONE);
    let (by, froze, unfroze) = (w.act(run).by, because(&w, run, "evidence"), because(&w, run, "looked at"));
    assert!(matches!(w.must(Command::Freeze(froze.clone())), Answer::Done));
    assert!(matches!(w.must(Command::Freeze(froze)), Answer::Already));
    assert_eq!(w.reader().frozen(run).unwrap(), w.run(run).freeze_mark());
    w.crash();
    assert!(matches!(w.must(Command::Unfreeze(unfroze.clone())), Answer::Done));
    assert!(matches!(w.must(Command::Unfreeze(unfroze)), Answer::Already));
    let expected =
        [(format!("{by} froze"), "evidence".to_owned(), None), (format!("{by} unfroze"), "looked at".into(), None)];
    assert_eq!(said(&w, run), expected);
    assert_eq!(w.reader().frozen(run).unwrap(), None);
}

#[test]
fn one_commit_may_freeze_and_let_go_on_and_what_stands_between_is_refused() {
    let mut w = World::new();
    w.witness.watches_marks = true;
    let (run, act) = (w.start(CHAIN), |w: &World, run| w.act(run));
    let a = act(&w, run);
    let all = [
        Command::Freeze(a.clone()),
        Command::Pause(a.clone()),
        Command::Unfreeze(a.clone()),
        Command::Pause(a.clone()),
    ];
    let numbers = w.send(all.into());
    let answers: Vec<String> = numbers
        .iter()
        .map(|no| match w.answers.remove(no).expect("it is answered") {
            Ok(answer) => format!("{answer:?}"),
            Err(error) => error.code.to_owned(),
        })
        .collect();
    assert_eq!(answers, ["Done", "run_frozen", "Done", "Done"]);
    assert!(w.run(run).paused && w.run(run).frozen.is_none());
    let numbers = w.send(vec![Command::Freeze(a.clone()), Command::Unfreeze(a.clone()), Command::Freeze(a)]);
    assert!(numbers.iter().all(|no| matches!(w.answers.remove(no), Some(Ok(Answer::Done)))));
    assert!(w.run(run).frozen.is_some() && w.reader().frozen(run).unwrap().is_some());
    unfreeze(&mut w, run);
    let a = act(&w, run);
    assert!(matches!(w.must(Command::Resume(a)), Answer::Done));
    assert_eq!(w.claim("w", 1).len(), 1);
}

#[test]
fn a_run_that_was_marked_for_damage_goes_on_once_it_can_be_read_and_says_so() {
    let mut w = World::new();
    let run = w.start(ONE);
    w.flush();
    w.crash();
    w.faults.fail_next(Op::Load, Fault::Damaged);
    let a = w.act(run);
    assert_eq!(w.must_fail(Command::Pause(a.clone())).kind, Kind::Corrupt);
    assert!(matches!(w.must(Command::Freeze(a)), Answer::Already), "it rests already");
    w.faults.fail_next(Op::Load, Fault::Damaged);
    w.faults.fail_after(Op::Load, 1, Fault::Damaged);
    let (by, again) = (w.act(run).by, because(&w, run, "a new disk"));
    assert_eq!(w.must_fail(Command::Unfreeze(again.clone())).code, "still_damaged");
    let mark = w.reader().frozen(run).unwrap();
    assert!(mark.is_some() && said(&w, run).is_empty(), "nothing was written to it");
    assert!(matches!(w.must(Command::Unfreeze(again)), Answer::Done));
    assert_eq!(said(&w, run), [(format!("{by} unfroze"), "a new disk".to_owned(), mark)]);
    assert_eq!(w.reader().frozen(run).unwrap(), None);
    assert_eq!(w.claim("w", 1).len(), 1, "and it goes on");
}

#[test]
fn what_one_engine_decided_before_it_heard_of_a_mark_is_decided_again() {
    let (mut one, mut other, run) = both(CHAIN);
    let lease = one.claim_one("w").lease;
    other.ledger.freeze(&home().stream(run), Some("alarm")).unwrap();
    let a = one.act(run);
    let numbers = one.send(vec![finish_of(lease, Ok(())), Command::Unfreeze(a)]);
    let answers: Vec<_> = numbers.iter().map(|no| one.answers.remove(no).expect("it is answered")).collect();
    let Ok(Answer::Completed(each)) = &answers[0] else { panic!("{answers:?}") };
    assert_eq!(each[0].as_ref().unwrap_err().code, "run_frozen", "it was said to a frozen run");
    assert!(matches!(answers[1], Ok(Answer::Done)));
    let names: Vec<String> = one.reader().ledger(run).unwrap().iter().map(|e| e.event.name().to_owned()).collect();
    assert_eq!(names.last().map(String::as_str), Some("RunUnfrozen"), "{names:?}");
    one.report(lease, Ok(())).unwrap();
}

#[test]
fn a_freeze_that_does_not_land_takes_nothing_from_a_local_worker() {
    let says: [fn(LeaseRef) -> Command; 2] =
        [|lease| finish_of(lease, Ok(())), |lease| Command::Heartbeat(vec![lease])];
    for said in says {
        let mut w = World::new();
        let run = w.start(ONE);
        let lease = w.claim_one("local/engine-1").lease;
        w.faults.fail_next(Op::Append, Fault::Refused);
        let a = w.act(run);
        let numbers = w.send(vec![Command::Freeze(a), said(lease)]);
        assert!(numbers.iter().all(|no| matches!(w.answers.remove(no), Some(Err(e)) if e.code == "store_busy")));
        w.pass(LEASE);
        w.pass(LEASE);
        w.report(lease, Ok(())).unwrap();
        w.is(run, RunState::Complete);
    }
}

#[test]
fn a_local_worker_that_is_to_say_it_again_keeps_its_lease_when_the_run_goes_on() {
    for op in [Op::Append, Op::Mark] {
        let mut w = World::new();
        let run = w.start(ONE);
        let lease = w.claim_one("local/engine-1").lease;
        freeze(&mut w, run);
        let again = match op {
            Op::Append => vec![Command::Unfreeze(w.act(run)), finish_of(lease, Ok(()))],
            _ => vec![finish_of(lease, Ok(()))],
        };
        w.faults.fail_next(op, Fault::Refused);
        let numbers = w.send(again);
        assert!(numbers.iter().all(|no| matches!(w.answers.remove(no), Some(Err(e)) if e.code == "store_busy")));
        unfreeze(&mut w, run);
        w.pass(LEASE);
        w.pass(LEASE);
        w.report(lease, Ok(())).unwrap();
        w.is(run, RunState::Complete);
    }
}

#[test]
fn a_run_that_was_let_go_on_elsewhere_is_gone_on_with_although_that_engine_died() {
    let (mut one, mut other, run) = both(ONE);
    freeze(&mut one, run);
    let act = other.act(run);
    assert_eq!(other.must_fail(Command::Pause(act)).code, "run_frozen");
    unfreeze(&mut one, run);
    drop(one);
    other.claim("w", 1);
    other.pass(SWEEP);
    let now = other.now;
    other.committer().sweep(now);
    other.settle();
    let _ = other.ask(Command::Wait(run));
    let granted = other.take();
    assert_eq!(granted.len(), 1, "the sweep found it");
}
