//! A run loaded from its rows, at any prefix of any ledger, is the run that was folded.

use crate::driver::{Driver, Sketch, Watch, action, spread};
use crate::programs::{Performance, stub};
use crate::storm::weather;
use edgewise_core::Result;
use edgewise_core::event::{NEWER_RULES, RULES, TaskIx};
use edgewise_core::fold::{Changes, fold};
use edgewise_core::invariant::{Rows, load_equals_fold, refold_equals_projection};
use edgewise_core::plan::OnFailure;
use edgewise_core::rows::{GivenRow, OutboxRow, TaskRow, TimerRow};
use edgewise_core::run::{Run, WHOLE_RUN};
use edgewise_core::state::{RunState, TaskState};
use serde_json::json;
use std::collections::BTreeSet;

/// A run written to rows and read back.
pub fn reload(run: &Run) -> Run {
    let rows = (0..run.total()).map(TaskIx).filter(|t| run.has_row(*t)).map(|t| run.task_row(t)).collect();
    Run::from_rows(&run.row().unwrap(), rows, run.given_rows().collect(), run.plan.clone()).unwrap()
}

fn storms(seeds: std::ops::Range<u64>, acts: u64) {
    for seed in seeds {
        let result = std::panic::catch_unwind(|| {
            let d = weather(seed, acts);
            assert!(d.run.state.is_done(), "the run is {:?} after the storm", d.run.state);
            d.close();
        });
        assert!(result.is_ok(), "weather({seed}, {acts}) broke an invariant: see above");
    }
}

#[test]
fn every_invariant_holds_at_every_step_of_random_runs() {
    storms(0..2_000, 60);
}

#[test]
fn rows_and_the_tail_after_them_are_the_run() {
    for seed in 0..100 {
        let d = weather(seed, 40);
        let mut whole = d.run.clone();
        give_back(&mut whole);
        for cut in (1..d.ledger.len()).step_by(3) {
            let mut run = reload(&d.stream().refold(cut as u64));
            for entry in &d.ledger[cut..] {
                fold(&mut run, entry.stamp, &entry.event, &mut Changes::default());
            }
            give_back(&mut run);
            assert_eq!(run, whole, "weather({seed}, 40) loaded at {cut}");
        }
    }
}

/// Loops and spreads over a list that is too large for a row, one of them within the other, with a failure.
const LARGE: &str = "
flow test(xs):
    ys = xs.map(x, x + 1)
    for y in ys:
        if y == 2:
            for z in ys:
                break
        @echo(v=y)
    good = spread xs:x -> @echo(v=x)
    bad = spread ys:y -> @fail(type=\"Boom\")
    return [good, bad]
";

#[test]
fn what_is_large_has_a_row_of_its_own_and_is_loaded_from_it() {
    let xs: Vec<u32> = (0..260).collect();
    let mut performance = Performance::new(LARGE, &json!({ "xs": xs }), Watch::Nothing);
    let (mut seen, mut steps) = (BTreeSet::new(), 0);
    loop {
        let run = &performance.driver.run;
        steps += 1;
        if steps % 25 == 0 {
            load_equals_fold(run).unwrap_or_else(|violation| panic!("{violation}"));
            seen.extend(
                run.given_rows().map(|row| if row.task == WHOLE_RUN { "it".into() } else { run.path(row.task) }),
            );
            assert!(run.row().unwrap().body.len() < 1_000, "the input is not in the run's row");
            let large = run
                .present()
                .filter(|t| run.has_row(*t))
                .find_map(|t| run.task_row(t).body.filter(|b| b.len() > 1_500));
            assert_eq!(large, None);
        }
        if !performance.step(&mut stub) {
            break;
        }
    }
    assert_eq!(performance.driver.run.state, RunState::Error);
    let all = ["bad", "for", "for#1.if[0].for", "good", "it"].map(String::from);
    assert!(all.iter().all(|path| seen.contains(path)), "{seen:?}");
    let run = &performance.driver.run;
    assert!(run.given_rows().all(|row| row.task == WHOLE_RUN || run.path(row.task) != "good"), "it ended well");
    // Without its row nothing is loaded, nor with another one in its place.
    let rows = || rows_of(run);
    let given: Vec<GivenRow> = run.given_rows().collect();
    let load = |given: Vec<GivenRow>| Run::from_rows(&run.row().unwrap(), rows(), given, run.plan.clone());
    load(given.clone()).unwrap();
    let (row, tasks) = (run.row().unwrap(), rows());
    let whole = Rows { run: &row, tasks: &tasks, given: &given, timers: &[], outbox: &[] };
    refold_equals_projection(&performance.driver.stream(), &whole).unwrap_or_else(|violation| panic!("{violation}"));
    let less = Rows { given: &given[1..], ..whole };
    assert!(refold_equals_projection(&performance.driver.stream(), &less).is_err());
    // What is in a round that is over is not loaded any more.
    let held = |row: &GivenRow| row.task == WHOLE_RUN || !run.path(row.task).contains('#');
    for at in (0..given.len()).filter(|at| held(&given[*at])) {
        let (mut fewer, mut other) = (given.clone(), given.clone());
        fewer.remove(at);
        assert_eq!(load(fewer).unwrap_err().code, "bad_rows", "without {at}");
        other[at].body = "{\"items\":[1]".into();
        assert_eq!(load(other).unwrap_err().code, "bad_rows", "damaged {at}");
    }
}

/// Whoever wrote the rows gives back what is over.
fn give_back(run: &mut Run) {
    let over = std::mem::take(&mut run.over);
    run.release(over);
}

fn rows_of(run: &Run) -> Vec<TaskRow> {
    (0..run.total()).map(TaskIx).filter(|t| run.has_row(*t)).map(|t| run.task_row(t)).collect()
}

/// A spread at work: two items, one of them done.
fn spread_at_work() -> Driver {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "s", spread(inner, 2), &[]);
    let p = sketch.node(inner, "p", action(2), &[]);
    sketch.node(inner, "q", action(1), &[p]);
    let mut d = Driver::planned(sketch.build());
    d.ok("s[0].p");
    d.fail("s[1].p");
    d
}

#[test]
fn rows_that_are_not_those_of_the_ledger_are_found() {
    let d = spread_at_work();
    let run = &d.run;
    let (row, tasks) = (run.row().unwrap(), rows_of(run));
    let timers: Vec<TimerRow> = run.timers.iter().map(|(key, due)| TimerRow { key: *key, due: *due }).collect();
    let outbox: Vec<OutboxRow> = (0..run.total()).filter_map(|t| run.outbox_row(TaskIx(t))).collect();
    assert_eq!((timers.len(), outbox.len()), (1, 1));
    let whole = Rows { run: &row, tasks: &tasks, given: &[], timers: &timers, outbox: &outbox };
    refold_equals_projection(&d.stream(), &whole).unwrap();
    let mut other = row.clone();
    other.paused = true;
    let mut ahead = row.clone();
    ahead.applied_seq += 1;
    let mut moved = tasks.clone();
    moved[1].state = TaskState::Error;
    for bad in [
        Rows { run: &other, ..whole },
        Rows { run: &ahead, ..whole },
        Rows { tasks: &moved, ..whole },
        Rows { tasks: &tasks[1..], ..whole },
        Rows { timers: &[], ..whole },
        Rows { outbox: &[], ..whole },
    ] {
        assert_eq!(refold_equals_projection(&d.stream(), &bad).unwrap_err().invariant, "refold_equals_projection");
    }
}

#[test]
fn rows_that_do_not_fit_together_are_refused_and_nothing_falls_over() {
    let d = spread_at_work();
    let load = |damage: &dyn Fn(&mut Vec<TaskRow>)| -> Result<Run> {
        let mut rows = rows_of(&d.run);
        damage(&mut rows);
        Run::from_rows(&d.run.row().unwrap(), rows, Vec::new(), d.run.plan.clone())
    };
    assert_eq!(load(&|_| {}).unwrap(), d.run);
    let chunk = |text: &'static str| {
        move |rows: &mut Vec<TaskRow>| {
            let body = rows[0].body.as_ref().unwrap();
            let (head, _) = body.split_once(r#""chunks""#).unwrap();
            rows[0].body = Some(format!("{head}\"chunks\":{text}}}}}"));
        }
    };
    type Damage<'a> = &'a dyn Fn(&mut Vec<TaskRow>);
    let damages: [Damage<'_>; 14] = [
        &chunk(r#"[{"scope":1,"task":1,"edge":0,"index":0,"count":4000000000}]"#),
        &chunk(r#"[{"scope":4000000000,"task":1,"edge":0,"index":0,"count":2}]"#),
        &chunk(r#"[{"scope":1,"task":4000000000,"edge":0,"index":0,"count":2}]"#),
        &chunk(r#"[{"scope":1,"task":1,"edge":4000000000,"index":0,"count":2}]"#),
        &chunk(r#"[{"scope":1,"task":1,"edge":0,"index":4000000000,"count":2}]"#),
        &chunk(r#"[{"scope":1,"task":0,"edge":0,"index":0,"count":2}]"#),
        &chunk(r#"[{"scope":1,"task":1,"edge":0,"index":0,"count":1}]"#),
        &chunk(r#"[{"scope":1,"task":1,"edge":0,"count":2}]"#),
        &chunk("[]"),
        &|rows| drop(rows.remove(0)),
        &|rows| rows[1].scope = 0,
        &|rows| rows[1].task = TaskIx(u32::MAX),
        &|rows| rows[1].attempt = u16::MAX,
        &|rows| rows[1].generation = 0,
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        assert_eq!(load(damage).unwrap_err().code, "bad_rows", "damage {n}");
    }
    // More items than the run has tasks for: what it has not come to takes no memory.
    let many = |rows: &mut Vec<TaskRow>| {
        let items = vec!["0"; 1_000_000].join(",");
        let chunks = r#"[{"scope":1,"task":1,"edge":0,"index":0,"count":1000000}]"#;
        rows[0].body = Some(format!(r#"{{"composite":{{"items":[{items}],"total":1000000,"chunks":{chunks}}}}}"#));
    };
    assert_eq!(load(&many).unwrap_err().code, "bad_rows");
    let mut row = d.run.row().unwrap();
    row.applied_seq = u64::MAX;
    assert_eq!(Run::from_rows(&row, rows_of(&d.run), Vec::new(), d.run.plan.clone()).unwrap_err().code, "bad_rows");
}

#[test]
fn rows_of_a_run_that_a_newer_program_began_are_refused() {
    let d = spread_at_work();
    let mut row = d.run.row().unwrap();
    let (known, newer) = (format!("\"rules\":{RULES}"), format!("\"rules\":{}", RULES + 1));
    assert!(row.body.contains(&known), "{}", row.body);
    row.body = row.body.replace(&known, &newer);
    let error = Run::from_rows(&row, rows_of(&d.run), Vec::new(), d.run.plan.clone()).unwrap_err();
    assert_eq!(error.code, NEWER_RULES);
}
