//! A limit of one over many runs while the engine is killed again and again: never two at once, and all finish.

use crate::dice::Dice;
use crate::place::{Place, times};
use edgewise_core::state::RunState;

/// Runs, each with one limited task.
const RUNS: u64 = 60;
/// Kills, at least.
const KILLS: u32 = 8;

#[test]
fn a_limit_of_one_holds_over_every_life_of_the_engine() {
    let place = Place::new();
    // The system gives the lock back when a command ends, however it ends; whoever does not get it was not alone.
    let script = r#"exec 9> lock
    flock -n 9 || echo "$EDGEWISE_RUN" >> two-at-once
    echo "$EDGEWISE_TASK $EDGEWISE_ATTEMPT" > "$STARTS""#;
    let tasks = format!(
        "  only:\n    run: |\n      {}\n    limit: {{ key: '\"one\"', max: 1 }}\n    retry: {{ max_attempts: 100, backoff: {{ kind: fixed, base: 1ms }} }}\n",
        script.replace('\n', "\n      ")
    );
    place.flow("one", &tasks);
    let runs: Vec<String> = (0..RUNS * times())
        .map(|_| {
            let (id, code) = place.said(&["run", "one.yaml", "--detach", "-q"]);
            assert_eq!(code, 0, "{id}");
            id
        })
        .collect();
    let (mut dice, mut kills) = (Dice(7), 0);
    let mut child = place.edgewise(&["watch", &runs[0]]).spawn().unwrap();
    while let Some(_start) = place.line_within(std::time::Duration::from_secs(2)) {
        if dice.below(4) == 0 {
            kills += u32::from(place.kill_engine(&mut child));
            let open = runs.iter().find(|run| !place.run(run).state.is_done());
            let Some(open) = open else { break };
            let _ = child.kill();
            let _ = child.wait();
            child = place.edgewise(&["watch", open]).spawn().unwrap();
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    for run in &runs {
        place.said(&["watch", run]);
        assert_eq!(place.run(run).state, RunState::Complete, "run {run}");
    }
    let overrun = std::fs::read_to_string(place.path().join("two-at-once")).unwrap_or_default();
    assert!(overrun.is_empty(), "two at once in {overrun}");
    assert!(kills >= KILLS, "only {kills} kills");
    place.is_sound();
}
