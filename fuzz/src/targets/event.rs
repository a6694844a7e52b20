//! Events, a record on each line: whatever can be read folds, and what comes of it holds together.

use super::record::{WORDS, record};
use super::rows::reload;
use super::{Target, refusal};
use edgewise_core::fold::{Changes, Verdict, fold};
use edgewise_core::history::Entry;
use edgewise_core::id::RunId;
use edgewise_core::invariant::check_state;
use edgewise_core::plan::Plan;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_core::why::Why;
use std::collections::BTreeSet;
use std::sync::Arc;

pub const TARGET: Target = Target { name: "event", words: WORDS, defined: Vec::new, attempt };

/// A plan with everything in it; the golden ledger of the core is folded over the same.
const PLAN: &str = include_str!("../../../crates/core/tests/golden/plan.v1.json");

fn attempt(input: &[u8]) -> String {
    let plan = Plan::decode(PLAN.trim_end().as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::new(RunId(7), plan.encode().0, Arc::new(plan));
    let mut marks = BTreeSet::new();
    for line in input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match Entry::of(&record(run.seq + 1, line)) {
            // No clock of ours says 0, which means that something has not happened.
            Ok(entries) if entries.iter().any(|entry| entry.stamp.at == Time(0)) => break,
            Ok(entries) => marks.extend(entries.iter().map(|entry| take(&mut run, entry))),
            Err(error) => marks.extend([refusal(error.code, &error.message)]),
        }
    }
    let _ = Why::of_run(&run);
    if run.row().is_some() {
        assert_eq!(reload(&run).unwrap_or_else(|error| panic!("{error}")), run, "loaded from its rows");
    }
    let marks: Vec<String> = marks.into_iter().take(4).collect();
    format!("{:?} {}", run.state, marks.join(" "))
}

fn take(run: &mut Run, entry: &Entry) -> String {
    let verdict = fold(run, entry.stamp, &entry.event, &mut Changes::default());
    assert!(!matches!(verdict, Verdict::Overflow(_)), "more edges than there are, by {:?}", entry.event);
    if let Err(violation) = check_state(run) {
        panic!("{violation}, by {:?}", entry.event);
    }
    format!("{} {}", entry.event.name().chars().take(12).collect::<String>(), matches!(verdict, Verdict::Applied))
}
