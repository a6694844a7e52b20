//! Searching: every store lists exactly what the filter says, the newest first.

use super::Place;
use super::fixture::*;
use crate::projections::{Projections, RunChange, RunFilter, Term};
use edgewise_core::id::RunId;
use edgewise_core::rows::Marks;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use std::collections::BTreeSet;

const STATES: [RunState; 3] = [RunState::Complete, RunState::Error, RunState::TasksInProcess];
const RUNS: u128 = 60;

/// A run whose every mark follows from its number.
fn marked(n: u128) -> RunChange {
    let mut change = change(&stream(n << 60 | n), 0, 1);
    let run = &mut change.run;
    run.flow = name(["deploy", "deploy/eu", "backup"][n as usize % 3]);
    run.state = STATES[n as usize / 2 % 3];
    run.paused = n.is_multiple_of(7);
    // Several at one instant, so that ids decide.
    run.triggered_at = Time(1_000 + n as u64 / 4);
    let labels = [("team", ["a", "b"][n as usize % 2]), ("tier", ["1", "2", "3"][n as usize / 5 % 3])];
    run.marks = Marks {
        namespace: n.is_multiple_of(4).then(|| name("ops")),
        by: Some(name(["ann", "bob"][n as usize / 3 % 2])),
        key: Some(format!("key-{n}")),
        parent: None,
        labels: labels.into_iter().filter(|_| !n.is_multiple_of(5)).map(|(k, v)| (k.into(), v.into())).collect(),
    };
    if n >= RUNS - 2 {
        // Of one kind and one instant: each has one of two labels that a search may ask for together.
        run.flow = name("deploy");
        (run.state, run.triggered_at, run.marks.namespace) = (RunState::Error, Time(1_003), None);
        let label = [("team", "a"), ("tier", "2")][n as usize % 2];
        run.marks.labels = [(label.0.to_owned(), label.1.to_owned())].into();
    }
    change
}

fn filters() -> Vec<RunFilter> {
    let label = |key: &str, value: &str| Term::Label(key.into(), value.into());
    let word = |text: &str| Term::Word(text.into());
    let id = marked(7).run.id;
    let some = Term::OneOf((0..RUNS).filter(|n| n % 4 != 1).map(|n| marked(n).run.id).collect());
    let terms = [
        vec![],
        vec![Term::Run(id)],
        vec![some.clone()],
        vec![some.clone(), Term::By(name("ann"))],
        vec![Term::OneOf(BTreeSet::new())],
        vec![Term::Flow(name("deploy"))],
        vec![Term::Namespace(name("ops"))],
        vec![Term::Namespace(name("backup"))],
        vec![Term::By(name("ann"))],
        vec![Term::Key("key-9".into())],
        vec![label("team", "a")],
        vec![label("team", "a"), label("tier", "2")],
        vec![label("team", "c")],
        vec![Term::Paused],
        vec![word("deploy")],
        vec![word("eu"), word("dep")],
        vec![word(&id.to_string()[..6])],
        vec![word(&id.to_string()[..2])],
        vec![word("nothing")],
        vec![Term::By(name("bob")), label("team", "b"), word("deploy")],
        vec![label("tier", "2"), Term::By(name("ann")), label("team", "a")],
        vec![label("team", "a"), label("team", "b")],
        vec![label("team", "a"), label("team", "a"), label("tier", "3")],
    ];
    let few = Term::OneOf((3..9).map(|n| marked(n).run.id).collect());
    let mut all = Vec::new();
    for (nth, of) in terms.iter().enumerate() {
        let states = [vec![], vec![RunState::Error], vec![RunState::Complete, RunState::TasksInProcess]];
        let not = [vec![], vec![label("tier", "1")], vec![Term::Flow(name("backup")), Term::Paused, few.clone()]];
        for (states, not) in states.into_iter().zip(not) {
            let flow = (nth % 2 == 0).then(|| name("deploy"));
            let since = (nth % 3 == 1).then_some(Time(1_004));
            let until = (nth % 4 == 2).then_some(Time(1_009));
            all.push(RunFilter { states, not, terms: of.clone(), limit: usize::MAX, ..RunFilter::default() });
            let last = all[all.len() - 1].clone();
            all.push(RunFilter { flow, since, until, limit: 5, ..last });
        }
    }
    all
}

pub fn a_search_finds_what_fits_and_nothing_else<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let runs: Vec<RunChange> = (0..RUNS).map(marked).collect();
    rows.flush(&flush(runs.clone(), 0)).unwrap();
    let mut wanted: Vec<&RunChange> = runs.iter().collect();
    wanted.sort_by_key(|change| std::cmp::Reverse((change.run.triggered_at, change.run.id)));
    let mut sizes = BTreeSet::new();
    for filter in filters() {
        let found: Vec<RunId> = rows.runs(&filter).unwrap().iter().map(|(_, row)| row.id).collect();
        let fits = wanted.iter().filter(|change| filter.matches(&change.run)).take(filter.limit);
        assert_eq!(found, fits.map(|change| change.run.id).collect::<Vec<_>>(), "{filter:?}");
        sizes.insert(found.len());
    }
    assert!(sizes.len() > 10, "the filters ask for different things: {sizes:?}");
}

pub fn pages_of_a_search_hold_every_run_once<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    rows.flush(&flush((0..RUNS).map(marked).collect(), 0)).unwrap();
    for filter in filters() {
        let whole: Vec<RunId> =
            rows.runs(&RunFilter { limit: usize::MAX, ..filter.clone() }).unwrap().iter().map(|(_, r)| r.id).collect();
        let mut paged = Vec::new();
        let mut next = RunFilter { limit: 3, ..filter };
        loop {
            let page = rows.runs(&next).unwrap();
            let Some((_, last)) = page.last() else { break };
            next.after = Some((last.triggered_at, last.id));
            paged.extend(page.iter().map(|(_, row)| row.id));
        }
        assert_eq!(paged, whole, "{next:?}");
    }
}

pub fn a_run_is_found_by_what_it_has_come_to<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let (one, two) = (marked(1), marked(2));
    rows.flush(&flush(vec![one.clone(), two.clone()], 0)).unwrap();
    let label = vec![Term::Label("team".into(), "b".into())];
    let in_state = |state| RunFilter { states: vec![state], terms: label.clone(), limit: 9, ..RunFilter::default() };
    assert_eq!(rows.runs(&in_state(RunState::Complete)).unwrap().len(), 1);
    let mut moved = RunChange { from_seq: 1, ..one.clone() };
    (moved.run.state, moved.run.applied_seq) = (RunState::Cancelled, 2);
    rows.flush(&flush(vec![moved], 0)).unwrap();
    assert_eq!(rows.runs(&in_state(RunState::Complete)).unwrap(), []);
    assert_eq!(rows.runs(&in_state(RunState::Cancelled)).unwrap().len(), 1);
    rows.forget(&one.stream).unwrap();
    assert_eq!(rows.runs(&RunFilter { states: vec![], ..in_state(RunState::Error) }).unwrap(), []);
}
