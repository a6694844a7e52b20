//! Gates that ask more people when nobody answers: each step is told once, in its order and in its time.

use crate::driver::*;
use crate::programs::compiled;
use edgewise_core::domain::{DomainEvent, GATES, told};
use edgewise_core::event::{Event, GateEscalated, RerunFrom, TimerFired, TimerKey, TimerKind};
use edgewise_core::flow::compile;
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::invariant::escalation_waits;
use edgewise_core::plan::{Delivery, Plan};
use edgewise_core::run::Run;
use edgewise_core::state::TaskState;
use edgewise_core::time::Time;
use edgewise_core::what_if::{Fact, Supposition};
use edgewise_core::why::{Because, Cause};
use serde_json::json;

const APPLIED: Verdict = Verdict::Applied;
const EARLY: Verdict = Verdict::Ignored(Ignored::Early);
const DUPLICATE: Verdict = Verdict::Ignored(Ignored::Duplicate);
const STALE: Verdict = Verdict::Ignored(Ignored::Stale);
const UNKNOWN: Verdict = Verdict::Ignored(Ignored::Unknown);
/// When the driver's runs begin, and how long after it the steps are due.
const REACHED: u64 = 1_000_000;

fn plan() -> Plan {
    let text = "flow: f\ntasks:
  ask:
    gate:
      approval: { from: [lead] }
      escalate: [{ after: 1m, to: [boss] }, { after: 3m, to: [owner, board] }]
      deadline: 10m
  next: { after: ask, action: x }";
    compile(text, "f.yaml").unwrap_or_else(|problems| panic!("{problems}")).plan
}

/// A way for a gate to be over.
type End = fn(&mut Driver) -> Verdict;

fn step(d: &Driver, step: u16) -> Event {
    let task = d.ix("ask");
    Event::GateEscalated(GateEscalated { task, generation: d.run.tasks[task.0 as usize].generation, step })
}

fn escalate(d: &mut Driver, minutes: u64, n: u16) -> Verdict {
    d.now = Time(REACHED + minutes * 60_000);
    let event = step(d, n);
    d.say(event)
}

/// When the next step of a gate is due.
fn due(d: &Driver) -> Option<u64> {
    let mut set = d.run.timers.iter().filter(|(key, _)| key.kind == TimerKind::Escalation);
    let due = set.next().map(|(_, due)| due.0 - REACHED);
    assert!(set.next().is_none(), "one timer at a time");
    due
}

#[test]
fn each_step_is_told_once_in_its_order_and_in_its_time() {
    let mut d = Driver::planned(plan());
    assert_eq!(due(&d), Some(60_000));
    assert_eq!(escalate(&mut d, 0, 1), EARLY);
    assert_eq!(escalate(&mut d, 5, 2), EARLY, "the first step was not told yet");
    assert_eq!(escalate(&mut d, 1, 0), UNKNOWN);
    assert_eq!(escalate(&mut d, 1, 3), UNKNOWN);
    assert_eq!(escalate(&mut d, 1, 1), APPLIED);
    assert_eq!((due(&d), d.run.next_step(d.ix("ask"))), (Some(180_000), 2));
    assert_eq!(escalate(&mut d, 1, 1), DUPLICATE);
    assert_eq!(escalate(&mut d, 2, 2), EARLY);
    assert_eq!(escalate(&mut d, 4, 2), APPLIED);
    assert_eq!((due(&d), d.state("ask")), (None, TaskState::InProgress));
    assert_eq!(d.run.escalated[&d.ix("ask")], [Time(REACHED + 60_000), Time(REACHED + 240_000)]);
    assert_eq!(d.approve("ask", "board"), APPLIED);
    assert_eq!(escalate(&mut d, 5, 2), DUPLICATE);
    d.close();
}

#[test]
fn the_timer_of_a_step_is_written_as_its_event_and_as_no_other() {
    let mut d = Driver::planned(plan());
    let (timer, due) = d.run.timers.iter().find(|(key, _)| key.kind == TimerKind::Escalation).unwrap();
    let (timer, due) = (*timer, *due);
    assert_eq!(due, Time(REACHED + 60_000));
    d.now = due;
    assert_eq!(d.say(Event::TimerFired(TimerFired { timer, due })), UNKNOWN);
    assert_eq!(d.fire_next(), APPLIED);
    assert_eq!(d.ledger.last().unwrap().event.name(), "GateEscalated");
    let deadline = TimerKey { kind: TimerKind::Deadline, ..timer };
    assert_eq!(d.run.fired(deadline, due).name(), "TimerFired");
}

#[test]
fn who_may_approve_follows_from_the_instant_whether_the_step_was_told_or_not() {
    for told in [false, true] {
        let mut d = Driver::planned(plan());
        assert_eq!(d.approve("ask", "boss"), Verdict::Ignored(Ignored::Denied));
        d.now = Time(REACHED + 60_000);
        if told {
            assert_eq!(d.fire_next(), APPLIED);
        }
        assert_eq!(d.approve("ask", "owner"), Verdict::Ignored(Ignored::Denied));
        assert_eq!((d.approve("ask", "boss"), d.state("ask")), (APPLIED, TaskState::Complete));
        d.close();
    }
}

#[test]
fn a_gate_that_is_over_leaves_no_timer_behind_and_asks_nobody_more() {
    let ends: [(&str, End); 6] = [
        ("approved", |d| d.approve("ask", "lead")),
        ("rejected", |d| {
            let task = d.ix("ask");
            let no = edgewise_core::event::Approved { task, generation: 1, by: name("lead"), comment: None };
            d.say(Event::GateRejected(no))
        }),
        ("skipped", |d| d.skip("ask")),
        ("cancelled", |d| d.cancel_task("ask")),
        ("resolved", |d| d.resolve("ask")),
        ("of a cancelled run", Driver::cancel),
    ];
    for (what, end) in ends {
        let mut d = Driver::planned(plan());
        assert_eq!(end(&mut d), APPLIED, "{what}");
        assert_eq!(due(&d), None, "{what}");
        assert_eq!(escalate(&mut d, 1, 1), refused("the gate is not waiting any more"), "{what}");
        d.close();
    }
}

#[test]
fn a_gate_that_is_opened_again_asks_from_the_beginning() {
    let mut d = Driver::planned(plan());
    assert_eq!((d.fire_next(), d.fire_next()), (APPLIED, APPLIED));
    assert_eq!(d.approve("ask", "lead"), APPLIED);
    let old = step(&d, 1);
    assert_eq!(d.rerun_task("ask"), APPLIED);
    let again = d.now.0 - REACHED;
    assert_eq!((due(&d), d.run.next_step(d.ix("ask"))), (Some(again + 60_000), 1));
    d.now = Time(d.now.0 + 60_000);
    assert_eq!(d.say(old), STALE);
    assert_eq!(d.approve("ask", "boss"), APPLIED);
    d.ok("next");
    assert_eq!(d.rerun(RerunFrom::Start), APPLIED);
    assert_eq!(d.approve("ask", "boss"), Verdict::Ignored(Ignored::Denied));
    assert_eq!(d.fire_next(), APPLIED);
    d.close();
}

#[test]
fn a_run_is_loaded_with_what_its_gates_have_told() {
    let mut d = Driver::planned(plan());
    d.fire_next();
    let run = &d.run;
    let row = run.row().unwrap();
    let rows = run.present().filter(|task| run.has_row(*task)).map(|task| run.task_row(task)).collect();
    let loaded = Run::from_rows(&row, rows, Vec::new(), run.plan.clone()).unwrap();
    assert_eq!(loaded, *run);
    assert_eq!(loaded.next_step(d.ix("ask")), 2);
}

#[test]
fn a_timer_that_is_missing_or_wrong_is_noticed() {
    let mut d = Driver::planned(plan());
    d.fire_next();
    let gate = d.ix("ask");
    let damages: [fn(&mut Run); 5] = [
        |run| run.timers.retain(|key, _| key.kind != TimerKind::Escalation),
        |run| run.timers.values_mut().for_each(|due| *due = Time(due.0 + 1)),
        |run| run.escalated.clear(),
        |run| run.escalated.values_mut().for_each(|told| told[0] = Time(REACHED)),
        |run| run.escalated.values_mut().for_each(|told| told.extend([Time(2 * REACHED); 2])),
    ];
    assert_eq!(escalation_waits(&d.run), Ok(()));
    for (n, damage) in damages.into_iter().enumerate() {
        let mut run = d.run.clone();
        damage(&mut run);
        assert_eq!(escalation_waits(&run).unwrap_err().task, Some(gate), "damage {n}");
    }
}

#[test]
fn why_and_history_say_who_is_asked_and_since_when() {
    let mut d = Driver::planned(plan());
    d.fire_next();
    let cause = Cause::of(&d.run, d.ix("ask"));
    let Because::Approval { escalates, .. } = &cause.because else { panic!("{cause:?}") };
    let told: Vec<_> = escalates.iter().map(|step| (step.at.0 - REACHED, step.told.0)).collect();
    assert_eq!(told, [(60_000, REACHED + 60_000), (180_000, 0)]);
    let json = serde_json::to_value(&cause.because).unwrap();
    assert_eq!(json["escalates"][0]["told"], "1970-01-01T00:17:40.000Z");
    assert_eq!(json["escalates"][1].get("told"), None);
    let history = d.stream().history();
    let act = history.acts.last().unwrap();
    assert_eq!(
        (&*act.kind, &act.by, &act.asked, act.task),
        ("GateEscalated", &None, &vec![name("boss")], Some(d.ix("ask")))
    );
}

/// What every event of a run told of its gates.
fn told_of(plan: Plan, act: impl Fn(&mut Driver)) -> Vec<DomainEvent> {
    let mut d = Driver::planned(plan);
    act(&mut d);
    let mut seen = Vec::new();
    let walked: Result<(), ()> = d.stream().walk(|run, entry, changes, verdict| {
        if verdict == APPLIED {
            told(run, entry.stamp.at, changes, &mut |event| seen.push(event));
        }
        Ok(())
    });
    walked.unwrap();
    seen
}

#[test]
fn the_outside_world_is_told_who_is_asked_and_who_is_asked_then() {
    let seen = told_of(plan(), |d| {
        d.fire_next();
        d.fire_next();
        d.approve("ask", "lead");
        d.rerun_task("ask");
    });
    let names: Vec<&str> = seen.iter().map(|event| event.name.as_str()).collect();
    let (asked, escalated) = ("edgewise.gate.asked", "edgewise.gate.escalated");
    assert_eq!(names, [asked, escalated, escalated, asked]);
    assert!(seen.iter().all(|event| event.namespace.as_str() == GATES && event.delivery == Delivery::Broadcast));
    let mut ids: Vec<&str> = seen.iter().map(|event| event.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let cloud = seen[0].cloud_event("local", "default");
    assert!(cloud["subject"].as_str().unwrap().ends_with("/ask"), "{cloud}");
    assert_eq!(cloud["source"], "/local/default/gates");
    let said = &seen[0].data;
    assert_eq!((&said["asked"], &said["count"], &said["task"]), (&json!(["lead"]), &json!(1), &json!("ask")));
    assert_eq!(
        (&said["since"], &said["deadline"]),
        (&json!("1970-01-01T00:16:40.000Z"), &json!("1970-01-01T00:26:40.000Z"))
    );
    assert_eq!((&said["approved"], said.get("step")), (&json!([]), None));
    let said = &seen[2].data;
    assert_eq!(
        (&said["asked"], &said["step"], &said["what"]),
        (&json!(["owner", "board"]), &json!(2), &json!("escalated"))
    );
}

#[test]
fn only_people_are_asked() {
    let flow = |gate: &str| compile(&format!("flow: f\ntasks:\n  ask: {{ gate: {gate} }}"), "f.yaml").unwrap().plan;
    let none = |_: &mut Driver| {};
    for gate in ["{ timer: 5m }", "{ webhook: {} }", "{ external: { system: jira, id: A } }"] {
        assert_eq!((told_of(flow(gate), none), flow(gate).tells.anything()), (vec![], false), "{gate}");
    }
    let anybody = told_of(flow("{ approval: { count: 2 } }"), none);
    assert_eq!((anybody.len(), &anybody[0].data["asked"], &anybody[0].data["count"]), (1, &json!([]), &json!(2)));
}

#[test]
fn in_a_program_each_round_asks_anew_and_what_is_over_is_forgotten() {
    let text =
        "flow t():\n    for x in [1, 2]:\n        wait approval(from=[lead], escalate={1m: [boss], 1h: [owner]})\n";
    let mut d = Driver::planned(compiled(text));
    for _ in 0..2 {
        assert_eq!(d.fire_next(), APPLIED);
        let closed = d.run.timers.keys().next().unwrap().task;
        assert_eq!(d.run.escalated.keys().collect::<Vec<_>>(), [&closed]);
        let path = d.run.path(closed);
        assert_eq!(d.approve(&path, "boss"), APPLIED);
        let over = std::mem::take(&mut d.run.over);
        d.run.release(over);
    }
    assert!(d.run.state.is_done());
}

#[test]
fn what_if_lets_time_pass_as_an_engine_would() {
    let d = Driver::planned(plan());
    // The deadline of ten minutes ends it; what was told by then was told.
    let (waits, over) = (TaskState::InProgress, TaskState::Error);
    for (facts, step, state) in [("+30s", 1, waits), ("+1m", 2, waits), ("+5m", 3, waits), ("+2h", 3, over)] {
        let mut supposed = Supposition::of(d.run.clone(), d.now, name("op"));
        supposed.suppose(&Fact::parse(facts).unwrap()).unwrap();
        let gate = d.ix("ask");
        let is = (supposed.run().next_step(gate), supposed.run().tasks[gate.0 as usize].state);
        assert_eq!(is, (step, state), "{facts}");
    }
}
