//! The real binary, killed with -9 while runs wait for runs: each is begun once, and all of them end.

use crate::dice::Dice;
use crate::place::{Place, SAY};
use edgewise_core::state::RunState;
use std::collections::BTreeSet;

const CHILDREN: usize = 60;
const KILLS: u32 = 10;

fn flows(place: &Place) {
    let items: Vec<String> = (0..CHILDREN).map(|n| n.to_string()).collect();
    let spread =
        format!("  each: {{ each: [{}], flow: middle, with: {{ n: '${{{{ item }}}}' }} }}\n", items.join(", "));
    place.flow("nested", &spread);
    let retry = "retry: { max_attempts: 50, backoff: { kind: fixed, base: 1ms } }";
    let middle = "flow: middle\ninputs: { n: { type: integer } }\ntasks:\n  inner: { flow: inmost }\n";
    std::fs::write(place.path().join("middle.yaml"), middle).unwrap();
    place.flow("inmost", &format!("  a: {{ run: '{SAY}', {retry} }}\n  b: {{ after: [a], run: '{SAY}', {retry} }}\n"));
}

#[test]
fn runs_within_runs_survive_kills() {
    let (place, mut dice, mut kills) = (Place::new(), Dice(11), 0);
    flows(&place);
    let mut child = place.edgewise(&["run", "nested.yaml", "--key", "nested", "--wait"]).spawn().unwrap();
    place.line();
    let id = place.run("@").id.to_string();
    while kills < KILLS && !place.run(&id).state.is_done() {
        // Every attempt says one line, and there are at least two for each child.
        if place.line_within(std::time::Duration::from_secs(5)).is_none() {
            break;
        }
        (0..dice.below(6)).for_each(|_| drop(place.line_within(std::time::Duration::from_millis(200))));
        kills += u32::from(place.kill_engine(&mut child));
        if child.try_wait().unwrap().is_some() {
            child = place.edgewise(&["watch", &id]).spawn().unwrap();
        }
    }
    child.wait().unwrap();
    let (_, code) = place.said(&["watch", &id]);
    assert_eq!((code, place.run(&id).state), (0, RunState::Complete));
    assert!(kills >= KILLS, "only {kills} kills");
    let (all, _) = place.said(&["runs", "--all", "--limit", "1000", "-q"]);
    let runs: BTreeSet<&str> = all.lines().collect();
    assert_eq!(runs.len(), 1 + 2 * CHILDREN, "each child once");
    for run in runs {
        assert_eq!(place.run(run).state, RunState::Complete);
    }
    place.is_sound();
}
