//! Flushing rows and loading them: guarded by the seq they are at, all or nothing.

use super::Place;
use super::fixture::*;
use crate::ledger::Position;
use crate::projections::{Projections, RunChange, RunRows};
use edgewise_core::Kind;
use edgewise_core::event::{TaskIx, TimerKind};
use edgewise_core::id::TokenHash;
use edgewise_core::rows::LeaseRow;
use edgewise_core::state::TaskState;
use edgewise_core::time::Time;

fn full(a: &crate::Stream, from: u64, to: u64) -> RunChange {
    RunChange {
        tasks: vec![task_row(0, TaskState::InProgress), bare_task_row(1), task_row(u32::MAX, TaskState::Skipped)],
        given: vec![given_row(0, "{\"items\":[\"ü\"]}"), given_row(u32::MAX, "[7]")],
        timers: vec![timer_row(0, TimerKind::Retry, 5), timer_row(0, TimerKind::Overall, 3)],
        outbox: vec![outbox_row(1, 7)],
        leases: vec![lease_row(0, "w1")],
        ..change(a, from, to)
    }
}

/// The rows of a run of which nothing else was written.
fn only(a: &crate::Stream, seq: u64) -> RunRows {
    RunRows { run: run_row(a, seq), tasks: vec![], given: vec![] }
}

/// How many rows there are of each kind, over all runs.
fn sizes(rows: &mut impl Projections) -> (usize, usize, usize) {
    (rows.timers().unwrap().len(), rows.outbox().unwrap().len(), rows.leases().unwrap().len())
}

pub fn every_field_of_every_row_comes_back<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let a = stream(1);
    assert_eq!(rows.load(&a).unwrap(), None);
    let sent = full(&a, 0, 4);
    rows.flush(&flush(vec![sent.clone()], 2)).unwrap();
    let all = RunRows { run: sent.run.clone(), tasks: sent.tasks.clone(), given: sent.given.clone() };
    assert_eq!(rows.load(&a).unwrap(), Some(all));
    assert_eq!(rows.outbox().unwrap(), [(a.clone(), sent.outbox[0].clone())]);
    assert_eq!(rows.timers().unwrap(), [(a.clone(), sent.timers[1]), (a.clone(), sent.timers[0])]);
    assert_eq!(rows.leases().unwrap(), [(a.clone(), sent.leases[0].clone())]);
    for state in TaskState::ALL {
        let one = RunChange { tasks: vec![task_row(9, state)], ..change(&a, 4, 4) };
        rows.flush(&flush(vec![one], 2)).unwrap();
        assert_eq!(rows.load(&a).unwrap().unwrap().tasks[2].state, state);
    }
}

pub fn one_task_is_read_without_the_others<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let (a, b) = (stream(1), stream(2));
    assert_eq!(rows.task(&a, TaskIx(0)).unwrap(), None);
    let sent = full(&a, 0, 4);
    let other = RunChange { tasks: vec![task_row(5, TaskState::Error)], ..change(&b, 0, 1) };
    rows.flush(&flush(vec![sent.clone(), other], 2)).unwrap();
    for row in &sent.tasks {
        assert_eq!(rows.task(&a, row.task).unwrap().as_ref(), Some(row));
    }
    assert_eq!(rows.task(&a, TaskIx(5)).unwrap(), None, "it is the task of another run");
    assert_eq!(rows.task(&b, TaskIx(0)).unwrap(), None);
}

pub fn a_flush_from_another_seq_is_refused_whole<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let (a, b) = (stream(1), stream(2));
    rows.flush(&flush(vec![change(&a, 0, 4)], 1)).unwrap();
    for wrong in [0, 3, 5] {
        let mut new = full(&b, 0, 1);
        new.plan = Some(plan("never").into());
        new.run.plan = plan("never").encode().0;
        let error = rows.flush(&flush(vec![new.clone(), full(&a, wrong, 9)], 8)).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Conflict, "projection_moved"), "from {wrong}");
        assert_eq!(rows.load(&a).unwrap(), Some(only(&a, 4)));
        assert_eq!(rows.load(&b).unwrap(), None);
        assert_eq!(sizes(&mut rows), (0, 0, 0));
        assert_eq!(rows.watermark().unwrap(), Position(1));
        assert!(!rows.has_plan(new.run.plan).unwrap());
    }
    let error = rows.flush(&flush(vec![change(&b, 2, 3)], 8)).unwrap_err();
    assert_eq!(error.code, "projection_moved", "a run without rows is at seq 0");
    rows.flush(&flush(vec![change(&a, 4, 5), change(&a, 5, 6), change(&b, 0, 1)], 8)).unwrap();
    assert_eq!(rows.load(&a).unwrap().unwrap().run.applied_seq, 6);
}

pub fn a_row_written_again_replaces_the_first<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let a = stream(1);
    rows.flush(&flush(vec![full(&a, 0, 1)], 0)).unwrap();
    let second = RunChange {
        tasks: vec![bare_task_row(0)],
        given: vec![given_row(0, "{}")],
        timers: vec![timer_row(0, TimerKind::Retry, 99)],
        outbox: vec![outbox_row(1, 98)],
        leases: vec![lease_row(0, "w2")],
        ..change(&a, 1, 2)
    };
    rows.flush(&flush(vec![second.clone()], 0)).unwrap();
    let loaded = rows.load(&a).unwrap().unwrap();
    assert_eq!((&loaded.tasks[0], &loaded.given[0]), (&second.tasks[0], &second.given[0]));
    assert_eq!(rows.timers().unwrap()[1].1, second.timers[0]);
    assert_eq!(rows.outbox().unwrap(), [(a.clone(), second.outbox[0].clone())]);
    assert_eq!(rows.leases().unwrap(), [(a.clone(), second.leases[0].clone())]);
}

pub fn the_deadline_of_a_lease_only_moves_later<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let a = stream(1);
    let mut seq = 0;
    let mut written = |worker: &str, token, deadline| {
        let row = LeaseRow { token: TokenHash(token), deadline: Time(deadline), ..lease_row(0, worker) };
        rows.flush(&flush(vec![RunChange { leases: vec![row], ..change(&a, seq, seq + 1) }], 0)).unwrap();
        seq += 1;
        let found = rows.leases().unwrap().remove(0).1;
        assert_eq!((found.worker.as_str(), found.token.0), (worker, token));
        assert_eq!(rows.lease(&a, TaskIx(0)).unwrap().as_ref(), Some(&found));
        assert_eq!((rows.lease(&a, TaskIx(1)).unwrap(), rows.lease(&stream(2), TaskIx(0)).unwrap()), (None, None));
        found.deadline.0
    };
    assert_eq!(written("w1", 1, 500), 500);
    assert_eq!(written("w1", 1, 900), 900);
    assert_eq!(written("w1", 1, 700), 900, "another engine knew of an earlier one");
    assert_eq!(written("w1", 2, 600), 600, "it came back, and was granted anew");
    assert_eq!(written("w2", u64::MAX, 400), 400, "the next attempt");
}

pub fn what_is_not_in_a_change_stays_as_it_is<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let a = stream(1);
    let first = full(&a, 0, 1);
    rows.flush(&flush(vec![first.clone()], 0)).unwrap();
    rows.flush(&flush(vec![change(&a, 1, 2)], 0)).unwrap();
    assert_eq!(rows.load(&a).unwrap(), Some(RunRows { tasks: first.tasks, given: first.given, ..only(&a, 2) }));
    assert_eq!(sizes(&mut rows), (2, 1, 1));
}

pub fn what_goes_away_goes_before_what_comes<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let a = stream(1);
    let first = full(&a, 0, 1);
    rows.flush(&flush(vec![first.clone()], 0)).unwrap();
    let second = RunChange {
        given: vec![first.given[1].clone()],
        given_gone: vec![TaskIx(0), TaskIx(77), TaskIx(u32::MAX)],
        timers: vec![first.timers[0]],
        timers_gone: first.timers.iter().map(|row| row.key).collect(),
        outbox: vec![outbox_row(1, 50)],
        outbox_gone: vec![TaskIx(1), TaskIx(77)],
        leases_gone: vec![TaskIx(0), TaskIx(77)],
        ..change(&a, 1, 2)
    };
    rows.flush(&flush(vec![second], 0)).unwrap();
    assert_eq!(rows.load(&a).unwrap().unwrap().given, first.given[1..]);
    assert_eq!(rows.timers().unwrap(), [(a.clone(), first.timers[0])]);
    assert_eq!(rows.outbox().unwrap(), [(a.clone(), outbox_row(1, 50))]);
    assert_eq!(rows.leases().unwrap(), []);
}

pub fn a_malformed_flush_is_refused_whole<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let (a, b) = (stream(1), stream(2));
    rows.flush(&flush(vec![change(&a, 0, 4)], 0)).unwrap();
    let foreign = RunChange { run: run_row(&b, 5), ..change(&a, 4, 5) };
    for (what, bad) in [("back in time", change(&a, 4, 3)), ("seq 0", change(&b, 0, 0)), ("two runs", foreign)] {
        let error = rows.flush(&flush(vec![change(&b, 0, 1), bad], 9)).expect_err(what);
        assert_eq!(error.kind, Kind::Invalid, "{what}: {error}");
        assert_eq!(rows.load(&b).unwrap(), None, "{what}");
        assert_eq!(rows.watermark().unwrap(), Position(0), "{what}");
    }
}

pub fn the_watermark_moves_with_the_flush_and_never_back<P: Place>(place: &P) {
    let (mut ledger, mut rows) = open(place);
    // A watermark beyond the ledger's end would make a store throw its rows away at opening.
    for seq in 0..9 {
        done(&mut ledger, &batch(&[(&stream(1), seq, 1)]));
    }
    assert_eq!(rows.watermark().unwrap(), Position(0));
    for (sent, wanted) in [(5, 5), (3, 5), (9, 9), (0, 9)] {
        rows.flush(&flush(vec![], sent)).unwrap();
        assert_eq!(rows.watermark().unwrap(), Position(wanted), "after {sent}");
    }
    drop((ledger, rows));
    assert_eq!(open(place).1.watermark().unwrap(), Position(9));
}

pub fn a_forgotten_run_can_be_written_anew_and_others_stay<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let (a, b, c) = (stream(1), stream(2), stream(3));
    rows.flush(&flush(vec![full(&a, 0, 4), full(&b, 0, 2), full(&c, 0, 2)], 0)).unwrap();
    let others = (rows.load(&a).unwrap(), rows.load(&c).unwrap());
    rows.forget(&b).unwrap();
    rows.forget(&b).unwrap();
    assert_eq!(rows.load(&b).unwrap(), None);
    assert_eq!((rows.load(&a).unwrap(), rows.load(&c).unwrap()), others);
    assert_eq!(sizes(&mut rows), (4, 2, 2));
    // Twice, because a store that numbers its runs gives the number of the newest one out again.
    for _ in 0..2 {
        rows.flush(&flush(vec![change(&b, 0, 1)], 0)).unwrap();
        assert_eq!(rows.load(&b).unwrap(), Some(only(&b, 1)));
        assert_eq!(sizes(&mut rows), (4, 2, 2));
        rows.flush(&flush(vec![full(&b, 1, 2)], 0)).unwrap();
        rows.forget(&b).unwrap();
    }
}

pub fn rows_of_the_same_run_id_under_two_tenants_are_apart<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let (mine, theirs) = (stream_in("me", "w", 7), stream_in("you", "w", 7));
    rows.flush(&flush(vec![full(&mine, 0, 4)], 0)).unwrap();
    assert_eq!(rows.load(&theirs).unwrap(), None);
    rows.flush(&flush(vec![change(&theirs, 0, 1)], 0)).unwrap();
    assert_eq!(rows.load(&theirs).unwrap().unwrap().tasks, []);
    assert_eq!(rows.load(&mine).unwrap().unwrap().tasks.len(), 3);
    rows.forget(&mine).unwrap();
    assert_eq!(rows.load(&theirs).unwrap().unwrap().run.applied_seq, 1);
}

pub fn rows_are_there_after_reopening<P: Place>(place: &P) {
    let (ledger, mut rows) = open(place);
    let a = stream(1);
    rows.flush(&flush(vec![full(&a, 0, 4)], 0)).unwrap();
    let before = rows.load(&a).unwrap();
    drop((ledger, rows));
    let (_, mut rows) = open(place);
    assert_eq!(rows.load(&a).unwrap(), before);
    assert_eq!(sizes(&mut rows), (2, 1, 1));
    rows.flush(&flush(vec![change(&a, 4, 5)], 0)).unwrap();
}

pub fn two_handles_see_each_other_and_the_later_flush_is_refused<P: Place>(place: &P) {
    let ((_, mut one), (_, mut two)) = (open(place), open(place));
    let a = stream(1);
    one.flush(&flush(vec![full(&a, 0, 4)], 0)).unwrap();
    assert_eq!(two.load(&a).unwrap(), one.load(&a).unwrap());
    two.flush(&flush(vec![change(&a, 4, 5)], 0)).unwrap();
    assert_eq!(one.flush(&flush(vec![change(&a, 4, 6)], 0)).unwrap_err().code, "projection_moved");
    one.flush(&flush(vec![change(&a, 5, 6)], 0)).unwrap();
}
