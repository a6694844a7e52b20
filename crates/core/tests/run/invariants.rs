//! Every invariant notices what it forbids: a run is damaged on purpose, and the right one must speak.
//!
//! Three invariants over streams refold what they are given, so only a broken fold can violate them.

use crate::driver::{Driver, Sketch, Watch, action, approval, name, spread};
use crate::programs::{Performance, stub};
use edgewise_core::event::{Event, TaskIx};
use edgewise_core::fold::{Changes, Ignored, Verdict};
use edgewise_core::gate::Approval;
use edgewise_core::history::Stream;
use edgewise_core::invariant::{STATE, STEP, STREAM, Step, chain_has_one_place, seq_is_dense};
use edgewise_core::plan::OnFailure;
use edgewise_core::run::{Asked, Chain, Run};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use std::collections::BTreeSet;

/// Something of everything: done, left out, leased, waiting for a retry, a gate with one approval, a spread, a task behind them.
fn busy() -> Driver {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    let a = sketch.node(0, "done", action(1), &[]);
    let b = sketch.node(0, "failed", action(1), &[a]);
    sketch.node(0, "skipped", action(1), &[b]);
    let c = sketch.node(0, "leased", action(1), &[]);
    let r = sketch.node(0, "retry", action(2), &[a]);
    sketch.node(0, "behind", action(1), &[c, r]);
    sketch.node(0, "gate", approval(&[], 2), &[]);
    sketch.node(0, "s", spread(inner, 2), &[]);
    sketch.node(inner, "one", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.ok("done");
    d.fail("failed");
    d.lease(d.ix("leased"));
    d.fail("retry");
    d.approve("gate", "ann");
    d.ok("s[0]");
    d
}

type Damage = fn(&mut Run);

fn asked() -> Option<Asked> {
    Some(Asked { by: name("op"), why: None, at: Time(1) })
}

const DAMAGED_STATES: [(&str, Damage); 17] = [
    ("load_equals_fold", |run| run.tasks[5].started_at = Time(5)),
    ("edges_match_plan", |run| run.edges.push(0)),
    ("edge_has_cause", |run| run.edges[3] = 1),
    ("done_resolves_all_out_edges", |run| run.edges[0] = 0),
    ("counter_matches_edges", |run| run.tasks[5].accepted += 1),
    ("ready_iff_allowed", |run| run.tasks[5].state = TaskState::Enqueued),
    ("no_forgotten_task", |run| run.timers.clear()),
    ("leased_only_if_ready", |run| run.cancel = asked()),
    ("attempts_are_bounded", |run| run.tasks[3].attempt = 2),
    ("one_live_lease", |run| run.leased += 1),
    ("skip_has_reason", |run| drop(run.reasons.remove(&TaskIx(2)))),
    ("retry_waits", |run| run.tasks[4].attempt = 2),
    ("approvers_differ", |run| {
        let again = Approval { by: name("ann"), at: Time(9) };
        run.approvals.entry(TaskIx(6)).or_default().push(again);
    }),
    ("escalation_waits", |run| drop(run.escalated.insert(TaskIx(6), vec![Time(9)]))),
    ("spread_is_whole", |run| run.composites.get_mut(&TaskIx(7)).unwrap().done += 1),
    ("chain_has_one_place", |run| drop(run.chains.insert(9, Chain::default()))),
    ("run_done_iff_tasks_done", |run| run.state = RunState::Complete),
];

#[test]
fn every_invariant_over_states_notices_what_it_forbids() {
    let d = busy();
    let names: BTreeSet<&str> = STATE.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, DAMAGED_STATES.iter().map(|(name, _)| *name).collect());
    for (name, damage) in DAMAGED_STATES {
        let (_, holds) = STATE.iter().find(|(n, _)| *n == name).unwrap();
        assert_eq!(holds(&d.run), Ok(()));
        let mut run = d.run.clone();
        damage(&mut run);
        let violation = holds(&run).unwrap_err();
        assert_eq!(violation.invariant, name);
        assert!(violation.to_string().starts_with(name), "{violation}");
    }
}

#[test]
fn a_chain_that_stands_where_its_tasks_do_not_is_noticed() {
    let text = "flow t():\n    @a()\n    for x in [1, 2]:\n        @b()\n    @c()\n";
    let mut p = Performance::new(text, &serde_json::json!({}), Watch::All);
    assert!(p.step(&mut stub));
    let damages: [Damage; 7] = [
        |run| run.chains.get_mut(&0).unwrap().at = 2,
        |run| run.chains.get_mut(&1).unwrap().at = 1,
        |run| drop(run.chains.remove(&1)),
        |run| assert!(run.stalled.insert(1)),
        |run| run.end = Some(edgewise_core::run::End::Cancelled),
        |run| run.tasks[2].state = TaskState::Skipped,
        |run| run.tasks[3].state = TaskState::Pending,
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        let mut run = p.driver.run.clone();
        assert_eq!(chain_has_one_place(&run), Ok(()));
        damage(&mut run);
        assert!(chain_has_one_place(&run).is_err(), "damage {n}");
    }
}

/// A step that a test may falsify before it is looked at.
struct Falsified {
    before: Run,
    after: Run,
    changes: Changes,
    verdict: Verdict,
}

type Falsify = fn(&mut Falsified);

const FALSIFIED_STEPS: [(&str, Falsify); 9] = [
    ("prefix_is_monotone", |s| s.after.seq -= 1),
    ("duplicate_is_noop", |s| s.verdict = Verdict::Ignored(Ignored::Stale)),
    ("edge_resolves_once", |s| s.after.edges[0] = 2),
    ("moves_are_legal", |s| s.changes.moves[0].to = TaskState::Complete),
    ("done_is_final", |s| s.after.tasks[0].completed_at = Time(3)),
    ("timer_fires_once", |s| s.after.timers.clear()),
    ("outbox_has_cause", |s| s.changes.ready.push(TaskIx(0))),
    ("cancel_is_final", |s| s.after.cancel = asked()),
    ("frozen_runs_rest", |s| s.before.frozen = asked()),
];

#[test]
fn every_invariant_over_steps_notices_what_it_forbids() {
    let mut d = busy();
    let names: BTreeSet<&str> = STEP.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, FALSIFIED_STEPS.iter().map(|(name, _)| *name).collect());
    let before = d.run.clone();
    let report = d.report(d.ix("leased"), None, None);
    let verdict = d.say(Event::TaskFinished(report));
    let entry = d.ledger.last().unwrap();
    for (name, falsify) in FALSIFIED_STEPS {
        let (_, holds) = STEP.iter().find(|(n, _)| *n == name).unwrap();
        let mut s = Falsified { before: before.clone(), after: d.run.clone(), changes: d.changes.clone(), verdict };
        let look = |s: &Falsified| {
            let Falsified { before, after, changes, verdict } = s;
            holds(&Step { before, stamp: entry.stamp, event: &entry.event, changes, verdict: *verdict, after })
        };
        assert_eq!(look(&s), Ok(()));
        falsify(&mut s);
        assert_eq!(look(&s).unwrap_err().invariant, name);
    }
}

#[test]
fn a_stream_with_a_hole_a_repetition_or_ids_that_go_back_is_noticed() {
    let d = busy();
    d.close();
    assert_eq!(STREAM.len(), 4);
    let look = |change: fn(&mut Vec<edgewise_core::history::Entry>)| {
        let mut entries = d.ledger.clone();
        change(&mut entries);
        seq_is_dense(&Stream { entries: &entries, ..d.stream() })
    };
    assert_eq!(look(|_| {}), Ok(()));
    assert!(look(|entries| drop(entries.remove(2))).is_err());
    assert!(look(|entries| entries.insert(2, entries[2].clone())).is_err());
    assert!(look(|entries| entries[3].stamp.id = entries[1].stamp.id).is_err());
}
