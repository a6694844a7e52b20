//! The real binary, killed with -9 while runs wait for runs: each is begun once, and all of them end.

use crate::dice::Dice;
use crate::place::{Place, SAY, Seen, code_while, times};
use edgewise_core::state::RunState;
use std::collections::BTreeSet;
use std::time::Duration;

const CHILDREN: usize = 60;
const KILLS: u32 = 10;
/// More runs than ever were needed for so many kills.
const ROUNDS: usize = 20;

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
    (0..times()).for_each(|n| survive_kills(Dice(11 + n)));
}

fn survive_kills(mut dice: Dice) {
    let (place, mut kills, mut rounds) = (Place::new(), 0, 0);
    flows(&place);
    // A run may end before it was killed often enough: nothing holds an engine back while this process waits its turn.
    while kills < KILLS {
        rounds += 1;
        assert!(rounds <= ROUNDS, "only {kills} kills in {ROUNDS} runs");
        kills += kill_again_and_again(&place, &mut dice, KILLS - kills);
    }
    let (all, _) = place.said(&["runs", "--all", "--limit", "10000", "-q"]);
    let runs: BTreeSet<&str> = all.lines().collect();
    assert_eq!(runs.len(), rounds * (1 + 2 * CHILDREN), "each child once");
    for run in runs {
        assert_eq!(place.run(run).state, RunState::Complete);
    }
    place.is_sound();
}

/// One run with all that it starts, whose engine is killed so often, or until the run is over; how often it was.
fn kill_again_and_again(place: &Place, dice: &mut Dice, most: u32) -> u32 {
    let (mut kills, patience) = (0, Duration::from_secs(5));
    let (id, code) = place.said(&["run", "nested.yaml", "--detach", "-q"]);
    assert_eq!(code, 0, "{id}");
    let mut child = place.edgewise(&["watch", &id]).spawn().unwrap();
    // Every attempt says one line, and there are at least two for each child.
    while kills < most && !place.run(&id).state.is_done() && place.line_within(patience).is_some() {
        (0..dice.below(6)).for_each(|_| drop(place.line_within(Duration::from_millis(200))));
        kills += u32::from(place.kill_engine(&mut child));
        if child.try_wait().unwrap().is_some() {
            child = place.edgewise(&["watch", &id]).spawn().unwrap();
        }
    }
    let mut seen = 0;
    code_while(child, || {
        let now = place.run(&id).seq;
        eprintln!("the run is at event {now}");
        std::mem::replace(&mut seen, now) < now
    });
    let (_, code) = place.said(&["watch", &id]);
    assert_eq!((code, place.run(&id).state), (0, RunState::Complete));
    place.rest(&mut Seen::default());
    kills
}
