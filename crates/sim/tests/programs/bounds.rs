//! What programs put together stays readable and of a size that fits: whatever they gather, and whatever fails in them.

use super::released::program;
use edgewise_core::id::RunId;
use edgewise_core::run::End;
use edgewise_core::state::RunState;
use edgewise_sim::driver::World;
use serde_json::{Value, json};

/// Has a program run to its end, which is the same for whoever loads it.
fn ended(text: &str) -> (World, RunId) {
    let mut w = World::new();
    let run = w.start_plan(&program(text));
    w.settle();
    w.flush();
    assert!(w.run(run).state.is_done());
    assert_eq!(w.reader().run(run).unwrap().end, w.run(run).end, "rows are read again");
    (w, run)
}

fn returned(text: &str) -> Value {
    let (w, run) = ended(text);
    w.is(run, RunState::Complete);
    w.run(run).final_output().unwrap()
}

/// Gathers what was gathered before, so many rounds, and says how often that went well.
fn rounds(first: &str, arms: &str, rounds: u32) -> Value {
    returned(&format!(
        "
flow t():
    x = {first}
    good = 0
    for i in range({rounds}):
        try:
            x = {arms}
            good += 1
        except BudgetExhausted as e:
            return [good, e.is]
    return [good]

fn same(v):
    return v
"
    ))
}

#[test]
fn what_is_gathered_is_bounded_in_depth_and_size() {
    let exhausted = |good: u32| json!([good, ["EvalError"]]);
    assert_eq!(rounds("1", "spread [1]:i -> same(x)", 97), exhausted(96));
    let megabyte = "range(100000).map(n, \"0123456789\").join()";
    assert_eq!(rounds(megabyte, "parallel:\n                same(x)\n                same(x)", 40), exhausted(5));
}

#[test]
fn causes_of_causes_are_told_so_deep_that_they_can_be_read_again() {
    let depth = 40;
    let mut text = String::from("\nflow t():\n");
    let indent = |level: usize| "    ".repeat(level + 1);
    (0..depth).for_each(|level| text += &format!("{}try:\n", indent(level)));
    text += &format!("{}raise E(\"first\")\n", indent(depth));
    (0..depth).rev().for_each(|level| {
        text += &format!("{}except:\n{}raise E(\"{level}\")\n", indent(level), indent(level + 1));
    });
    let (w, run) = ended(&text);
    let Some(End::Failed(failure)) = &w.run(run).end else { panic!("it failed") };
    let causes = std::iter::successors(Some(&**failure), |failure| failure.cause.as_deref());
    let told: Vec<&str> = causes.map(|failure| failure.message.as_str()).collect();
    assert_eq!(told.len(), 1 + edgewise_core::limits::CAUSES);
    assert_eq!((told[0], told[16]), ("0", "16"));
}
