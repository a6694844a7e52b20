//! What the verdict finds, and what it does not let pass.

use super::*;
use edgewise_core::event::{DispatchEnqueued, Event, PlanCreated, RULES, RunTriggered, TaskFinished};
use edgewise_core::flow::compile_file;
use edgewise_core::fold::{Changes, Stamp, Verdict as Folded, fold};
use edgewise_core::id::{EventId, RunId, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use serde_json::value::RawValue;
use std::sync::Arc;

fn tell(run: &mut Run, event: &Event) {
    let at = Time(1_800_000_000_000 + run.seq * 1_000);
    let stamp = Stamp { id: EventId::mint(at, 0, run.last), at };
    assert!(matches!(fold(run, stamp, event, &mut Changes::default()), Folded::Applied), "{event:?}");
}

fn begun() -> Run {
    let flows = compile_file("flow: f\ntasks:\n  a: { run: x }\n  b: { after: a, run: x }\n", "test").unwrap();
    let plan = flows.into_iter().next().unwrap().plan;
    let (hash, _) = plan.encode();
    let mut run = Run::new(RunId::parse("k3f9x2ab00000000").unwrap(), hash, Arc::new(plan));
    let (flow, input) = (run.plan.flow.clone(), RawValue::from_string("{}".into()).unwrap());
    let (by, key, labels) = (Name::parse("ada").unwrap(), None, Default::default());
    tell(&mut run, &Event::RunTriggered(RunTriggered { flow, plan: hash, rules: RULES, input, by, key, labels }));
    tell(&mut run, &Event::PlanCreated(PlanCreated { plan: hash }));
    run
}

fn end(run: &mut Run, path: &str) {
    let task = run.find(path).unwrap();
    let (generation, attempt, token, worker) = (1, 1, TokenHash(7), "local/test".into());
    tell(run, &Event::DispatchEnqueued(DispatchEnqueued { task, generation, attempt, token, worker, lease: None }));
    let output = Some(RawValue::from_string("1".into()).unwrap());
    tell(run, &Event::TaskFinished(TaskFinished { task, generation, attempt, token, output, error: None }));
}

fn tale(lines: &[&str]) -> Tale {
    let mut tale = Tale::default();
    lines.iter().for_each(|line| tale.line(line));
    tale
}

fn check(run: &Run, lines: &[&str], clean: bool) -> (Vec<String>, Vec<String>, bool) {
    let verdict = Watcher::default().judge(run, &tale(lines), clean, Duration::ZERO);
    let good = verdict.good();
    (verdict.lost, verdict.twice, good)
}

const WHOLE: [&str; 4] = ["begins a 1", "ends a 1", "begins b 1", "ends b 1"];

#[test]
fn only_a_run_of_which_all_is_true_is_good() {
    let mut run = begun();
    end(&mut run, "a");
    assert_eq!(check(&run, &WHOLE, true), (vec!["b".to_owned()], vec![], false), "it has not ended");
    end(&mut run, "b");
    assert_eq!(check(&run, &WHOLE, true), (vec![], vec![], true));
    assert!(!check(&run, &WHOLE, false).2, "damage is not good");
    assert_eq!(
        check(&run, &WHOLE[..3], true),
        (vec!["b".to_owned()], vec![], false),
        "it is said to be done, and nobody did it"
    );
    let again = [&WHOLE[..], &["begins a 2", "ends a 2"]].concat();
    assert!(check(&run, &again, true).2, "another attempt is no fault");
    let twice = [&WHOLE[..], &["begins a 1"]].concat();
    assert_eq!(check(&run, &twice, true), (vec![], vec!["attempt 1 of a".to_owned()], false));
}

#[test]
fn what_was_done_once_must_stay_done() {
    let mut run = begun();
    let before = run.clone();
    end(&mut run, "a");
    let mut watcher = Watcher::default();
    watcher.look(&run);
    watcher.look(&before);
    assert_eq!(watcher.lost.iter().map(String::as_str).collect::<Vec<_>>(), ["2 facts of the run", "a"]);
}
