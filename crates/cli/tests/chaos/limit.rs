//! A limit of one over many runs while the engine is killed again and again: never two at once, and all finish.

use crate::dice::Dice;
use crate::place::{Place, times};
use edgewise_core::state::RunState;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

/// Runs, each with one limited task.
const RUNS: u64 = 30;
/// How long the next start is waited for: the last ones may be over already.
const PATIENCE: Duration = Duration::from_secs(3);
/// Kills, at least.
const KILLS: u32 = 6;
/// More rounds than ever were needed for so many kills.
const ROUNDS: u32 = 10;

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
    let (mut dice, mut kills, mut rounds) = (Dice(7), 0, 0);
    // All may end before there were kills enough: nothing holds an engine back while this process waits its turn.
    while kills < KILLS {
        rounds += 1;
        assert!(rounds <= ROUNDS, "only {kills} kills in {ROUNDS} rounds");
        kills += kill_again_and_again(&place, &mut dice);
    }
    let overrun = std::fs::read_to_string(place.path().join("two-at-once")).unwrap_or_default();
    assert!(overrun.is_empty(), "two at once in {overrun}");
    place.is_sound();
}

/// Lets many runs begin at once, and kills their engine until all are over; how often it did.
fn kill_again_and_again(place: &Place, dice: &mut Dice) -> u32 {
    let paused = |paused: bool| {
        let text = format!("[queues.default]\npaused = {paused}\n");
        std::fs::write(place.path().join("edgewise.toml"), text).unwrap();
        end_of(place.engine());
    };
    paused(true);
    let runs: Vec<String> = (0..RUNS * times())
        .map(|_| {
            let (id, code) = place.said(&["run", "one.yaml", "--detach", "-q"]);
            assert_eq!(code, 0, "{id}");
            id
        })
        .collect();
    assert!(runs.iter().all(|run| !place.run(run).state.is_done()), "a paused queue lets nothing begin");
    paused(false);
    let mut kills = 0;
    while let Some(open) = runs.iter().find(|run| !place.run(run).state.is_done()) {
        let mut child = place.edgewise(&["watch", open]).spawn().unwrap();
        for _ in 0..=dice.below(3) {
            place.line_within(PATIENCE);
        }
        kills += u32::from(place.kill_engine(&mut child));
        let _ = child.kill();
        child.wait().unwrap();
    }
    for run in &runs {
        assert_eq!(place.run(run).state, RunState::Complete, "run {run}");
    }
    kills
}

/// An engine that still has the old settings, if there is one, ends.
fn end_of(engine: Option<Pid>) {
    if let Some(pid) = engine {
        let _ = kill_process(pid, Signal::KILL);
    }
}
