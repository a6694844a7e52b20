//! Many processes want the same item: exactly one gets it, in every round.

use crate::place::Place;
use std::process::{Child, Stdio};

const RACERS: usize = 16;
/// As many rounds, unless `RACE_ROUNDS` says how many.
const ROUNDS: usize = 12;

#[test]
fn of_sixteen_processes_that_race_for_an_item_exactly_one_wins_each_round() {
    let place = Place::new();
    let rounds = std::env::var("RACE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    for round in 0..rounds {
        let id = format!("ew-r{round}");
        place.good(&format!("add race --id {id}"));
        // Half of them name it, half take whatever is first.
        let racers: Vec<Child> = (0..RACERS).map(|racer| start(&place, &id, racer)).collect();
        let won: Vec<bool> =
            racers.into_iter().map(|child| child.wait_with_output().unwrap().status.success()).collect();
        let winners = won.iter().filter(|won| **won).count();
        assert_eq!(winners, 1, "round {round}: {won:?}");
        let shown = place.json(&format!("show {id}"));
        let winner = won.iter().position(|won| *won).unwrap();
        assert_eq!(shown["claim"]["by"], format!("racer{winner}"), "round {round}");
        place.good(&format!("close {id} --as racer{winner}"));
    }
}

fn start(place: &Place, id: &str, racer: usize) -> Child {
    let who = format!("racer{racer}");
    let words: Vec<&str> =
        if racer.is_multiple_of(2) { vec!["claim", id, "--as", &who] } else { vec!["ready", "--claim", "--as", &who] };
    place.binary(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}
