//! Lists over all runs.

use super::Place;
use super::fixture::*;
use crate::ledger::Stream;
use crate::projections::{Projections, RunChange, RunFilter};
use edgewise_core::event::TimerKind;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;

fn listed(run: u128, flow: &str, state: RunState, at: u64) -> RunChange {
    let mut change = change(&stream(run), 0, 1);
    (change.run.flow, change.run.state, change.run.triggered_at) = (name(flow), state, Time(at));
    change
}

pub fn runs_are_listed_newest_first_by_flow_and_state<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let runs = vec![
        listed(1, "deploy", RunState::Pending, 10),
        listed(2, "deploy", RunState::ResolvedManually, 30),
        listed(3, "backup", RunState::Error, 20),
        listed(5, "deploy", RunState::Error, 20),
        listed(4, "deploy", RunState::Complete, 20),
    ];
    rows.flush(&flush(runs.clone(), 0)).unwrap();
    let all = RunFilter { limit: 10, ..RunFilter::default() };
    let deploy = RunFilter { flow: Some(name("deploy")), ..all.clone() };
    let of = |states: &[RunState]| RunFilter { states: states.to_vec(), ..all.clone() };
    for (filter, wanted) in [
        (all.clone(), &[2, 5, 4, 3, 1][..]),
        (RunFilter { limit: 2, ..all.clone() }, &[2, 5]),
        (RunFilter { limit: 0, ..all.clone() }, &[]),
        (RunFilter { limit: usize::MAX, ..all.clone() }, &[2, 5, 4, 3, 1]),
        (deploy.clone(), &[2, 5, 4, 1]),
        (of(&[RunState::Error]), &[5, 3]),
        (of(&[RunState::Pending, RunState::ResolvedManually]), &[2, 1]),
        (RunFilter { states: vec![RunState::Error], limit: 1, ..deploy }, &[5]),
        (RunFilter { flow: Some(name("nothing")), ..all.clone() }, &[]),
    ] {
        let found = rows.runs(&filter).unwrap();
        assert_eq!(found.iter().map(|(s, _)| s.run.0).collect::<Vec<_>>(), wanted, "{filter:?}");
        for (stream, row) in found {
            let sent = runs.iter().find(|change| change.stream == stream).unwrap();
            assert_eq!(row, sent.run);
        }
    }
}

pub fn waiting_tasks_timers_and_leases_are_listed_in_order<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let (a, b) = (stream(1), stream_in("aaa", "w", 9));
    let of = |stream: &Stream| RunChange {
        outbox: vec![outbox_row(2, 20), outbox_row(1, 20), outbox_row(3, 10)],
        timers: vec![
            timer_row(1, TimerKind::Queue, 40),
            timer_row(1, TimerKind::Gate, 40),
            timer_row(0, TimerKind::Retry, 50),
        ],
        leases: vec![lease_row(5, "w"), lease_row(4, "w")],
        ..change(stream, 0, 1)
    };
    rows.flush(&flush(vec![of(&a), of(&b)], 0)).unwrap();
    let outbox: Vec<_> = rows.outbox().unwrap().into_iter().map(|(s, row)| (s.run.0, row.task.0)).collect();
    assert_eq!(outbox, [(9, 3), (1, 3), (9, 1), (9, 2), (1, 1), (1, 2)]);
    let timers: Vec<_> = rows.timers().unwrap().into_iter().map(|(s, row)| (s.run.0, row.key.kind)).collect();
    let (gate, queue, retry) = (TimerKind::Gate, TimerKind::Queue, TimerKind::Retry);
    assert_eq!(timers, [(9, gate), (9, queue), (1, gate), (1, queue), (9, retry), (1, retry)]);
    let leases: Vec<_> = rows.leases().unwrap().into_iter().map(|(s, row)| (s.run.0, row.task.0)).collect();
    assert_eq!(leases, [(9, 4), (9, 5), (1, 4), (1, 5)]);
}

pub fn a_plan_is_known_once_it_was_written<P: Place>(place: &P) {
    let (ledger, mut rows) = open(place);
    let plan = plan("deploy");
    let (hash, _) = plan.encode();
    let mut first = change(&stream(1), 0, 1);
    first.run.plan = hash;
    assert!(!rows.has_plan(hash).unwrap());
    rows.flush(&flush(vec![first.clone()], 0)).unwrap();
    assert!(!rows.has_plan(hash).unwrap(), "a run names it, but nobody gave it");
    let plan = Some(std::sync::Arc::new(plan));
    let given = RunChange { plan: plan.clone(), from_seq: 1, ..first.clone() };
    rows.flush(&flush(vec![given], 0)).unwrap();
    assert!(rows.has_plan(hash).unwrap());
    let mut again = RunChange { plan, ..change(&stream(2), 0, 1) };
    again.run.plan = hash;
    rows.flush(&flush(vec![again], 0)).unwrap();
    rows.forget(&stream(1)).unwrap();
    drop((ledger, rows));
    assert!(open(place).1.has_plan(hash).unwrap());
}
