//! The real binary, killed with -9 again and again while 10,000 tasks run.
//!
//! The engine is killed after a random number of starts, and started anew.

use crate::dice::Dice;
use crate::place::{Place, SAY, Seen, code_of, times};
use edgewise_core::state::RunState;

const ITEMS: u32 = 9_000;
const LAYERS: u32 = 50;
const WIDTH: u32 = 20;
const MAX_ATTEMPTS: u16 = 20;
const KILLS: u32 = 100;

/// 9,000 items of a spread beside 1,000 tasks in layers, three upstreams each, and one task after all.
fn flow() -> String {
    let script = format!("'{SAY}'");
    let mut text = format!(
        "flow: chaos\ninputs: {{ items: {{ type: list }} }}\ndefaults: {{ retry: {{ max_attempts: {MAX_ATTEMPTS}, \
         backoff: {{ kind: fixed, base: 1ms }} }} }}\ntasks:\n  wide: {{ each: inputs.items, run: {script} }}\n"
    );
    for layer in 0..LAYERS {
        for place in 0..WIDTH {
            let ups: Vec<String> = (0..3)
                .filter(|_| layer > 0)
                .map(|step| format!("t{}-{}", layer.wrapping_sub(1), (place + step) % WIDTH))
                .collect();
            text += &format!("  t{layer}-{place}: {{ after: [{}], run: {script} }}\n", ups.join(", "));
        }
    }
    let last: Vec<String> = (0..WIDTH).map(|place| format!("t{}-{place}", LAYERS - 1)).collect();
    text + &format!("  last: {{ after: [wide, {}], run: {script} }}\n", last.join(", "))
}

/// Waits for so many starts; false if the last task was among them.
fn lines(place: &Place, starts: u64, seen: &mut Seen) -> bool {
    (0..starts).all(|_| {
        let line = place.line();
        seen.line(&line);
        !line.starts_with("last ")
    })
}

#[test]
fn ten_thousand_tasks_survive_a_hundred_kills() {
    (0..times()).for_each(|n| kill_again_and_again(Dice(7 + n)));
}

fn kill_again_and_again(mut dice: Dice) {
    let place = Place::new();
    std::fs::write(place.path().join("chaos.yaml"), flow()).unwrap();
    // Each kill takes the attempts that are under way, and a hundred may well hit one task three times.
    let small = format!(
        "  a: {{ retry: {MAX_ATTEMPTS}, run: 'true' }}\n  b: {{ after: [a], retry: {MAX_ATTEMPTS}, run: 'true' }}\n"
    );
    place.flow("small", &small);
    let items: Vec<String> = (0..ITEMS).map(|n| n.to_string()).collect();
    let items = format!("items:=[{}]", items.join(","));
    let (mut seen, mut kills, mut accepted) = (Seen::default(), 0, Vec::new());
    let mut child = place.edgewise(&["run", "chaos.yaml", "--key", "chaos", "-i", &items, "--wait"]).spawn().unwrap();
    // The first line comes from a task, so by then the run was accepted.
    assert!(lines(&place, 1, &mut seen));
    let chaos = place.run("@").id.to_string();
    while lines(&place, 1 + dice.below(90), &mut seen) {
        if kills % 25 == 0 {
            // What another process was told to be accepted must be there in the end.
            let (id, code) = place.said(&["run", "small.yaml", "--detach", "-q"]);
            if code == 0 {
                accepted.push(id);
            }
        }
        kills += u32::from(place.kill_engine(&mut child));
        seen.look(&place.run(&chaos));
        if child.try_wait().unwrap().is_some() {
            child = place.edgewise(&["watch", &chaos]).spawn().unwrap();
        }
    }
    code_of(child);
    assert!(kills >= KILLS, "only {kills} kills: let the engine live for less");
    finish(&place, &chaos, &accepted, seen);
}

fn finish(place: &Place, chaos: &str, accepted: &[String], mut seen: Seen) {
    for run in accepted.iter().map(String::as_str).chain([chaos]) {
        let (said, code) = place.said(&["watch", run]);
        assert_eq!(code, 0, "run {run} did not end well: {said}\n{}", place.said(&["show", run]).0);
        assert_eq!(place.run(run).state, RunState::Complete);
    }
    place.rest(&mut seen);
    seen.look(&place.run(chaos));
    assert_eq!(seen.done.len() as u32, ITEMS + LAYERS * WIDTH + 2, "every task and the spread itself");
    assert!(accepted.len() >= 3, "too few runs were accepted beside it");
    seen.each_once((ITEMS + LAYERS * WIDTH + 1) as usize, MAX_ATTEMPTS);
    place.is_sound();
}
