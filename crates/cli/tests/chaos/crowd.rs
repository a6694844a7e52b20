//! A crowd: eight processes at once start, approve, pause and cancel in one folder, while whoever is the engine is killed.
//!
//! What was acknowledged to any of them is there in the end, and everything comes to its end.

use crate::dice::Dice;
use crate::place::{HANG, Place, code_of, times};
use edgewise_core::state::RunState;
use rustix::process::{Signal, kill_process};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

const PEOPLE: u64 = 8;
const ACTS: u64 = 12;
/// The engine is killed each time so many acts have ended, if there is one at that moment.
const BETWEEN: u64 = 3;
const KILLS: u64 = 8;
/// How a program ends that panicked.
const PANICKED: i32 = 101;

/// What was acknowledged, to whomever.
#[derive(Default)]
struct Told {
    started: Vec<String>,
    cancelled: BTreeSet<String>,
}

#[test]
fn eight_processes_in_one_folder_lose_nothing_while_its_engine_is_killed() {
    let place = Place::new();
    let retry = "retry: { max_attempts: 100, backoff: { kind: fixed, base: 1ms } }";
    let tasks = format!(
        "  a: {{ run: 'true', {retry} }}\n  ask: {{ after: a, gate: {{ approval: {{ count: 1 }} }} }}\n  \
         b: {{ after: ask, run: 'true', {retry} }}\n"
    );
    place.flow("crowd", &tasks);
    let (told, (acted, acts)) = (Mutex::new(Told::default()), channel());
    let kills = std::thread::scope(|scope| {
        for person in 0..PEOPLE {
            let (person, acted) = (Person { place: &place, told: &told, name: person }, acted.clone());
            scope.spawn(move || person.be_busy(&acted));
        }
        drop(acted);
        kill_between(&place, &acts)
    });
    assert!(kills >= KILLS, "only {kills} kills");
    finish(&place, &told.into_inner().unwrap());
}

/// Kills the engine again and again until everybody has gone.
fn kill_between(place: &Place, acts: &Receiver<()>) -> u64 {
    let mut kills = 0;
    for n in 1.. {
        if acts.recv_timeout(HANG).is_err() {
            break;
        }
        let engine = place.engine().filter(|_| n % BETWEEN == 0);
        kills += u64::from(engine.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok()));
    }
    kills
}

struct Person<'a> {
    place: &'a Place,
    told: &'a Mutex<Told>,
    name: u64,
}

impl Person<'_> {
    fn be_busy(&self, acted: &Sender<()>) {
        let mut dice = Dice(self.name + 1);
        for n in 0..ACTS * times() {
            self.act(&mut dice, n);
            let _ = acted.send(());
        }
    }

    /// Something that a person might do, with a run that anybody might have started.
    fn act(&self, dice: &mut Dice, n: u64) {
        let known = self.told.lock().unwrap().started.clone();
        let key = format!("{}-{n}", self.name);
        let run = known.get(dice.below(known.len().max(1) as u64) as usize).map_or("@", String::as_str);
        match dice.below(8) {
            0..3 => {
                let (id, code) = self.said(&["run", "crowd.yaml", "--detach", "-q"]);
                // The id is printed once the run is kept; what may fail after that is who goes on with it.
                if code == 0 || !id.is_empty() {
                    self.told.lock().unwrap().started.push(id);
                }
            }
            // Nobody answers its gate, so it is followed for a moment only.
            3 => drop(self.said(&["run", "crowd.yaml", "--wait", "--timeout", "200ms", "--key", &key])),
            4 => drop(self.said(&["gate", "approve", run, "ask"])),
            5 if run != "@" => {
                if self.said(&["cancel", run]).1 == 0 {
                    self.told.lock().unwrap().cancelled.insert(run.to_owned());
                }
            }
            6 => {
                self.said(&["pause", run]);
                self.said(&["resume", run]);
            }
            _ => drop(self.said(&["show", run])),
        }
    }

    fn said(&self, args: &[&str]) -> (String, i32) {
        let (text, code) = self.place.said(args);
        assert_ne!(code, PANICKED, "{args:?} panicked");
        (text, code)
    }
}

fn finish(place: &Place, told: &Told) {
    assert!(told.started.len() as u64 >= PEOPLE, "only {} runs were accepted", told.started.len());
    for run in &told.started {
        // Whoever watches a run that is paused does not wait for it.
        place.said(&["resume", run]);
        let watch = place.edgewise(&["watch", run]).spawn().unwrap();
        let mut state = place.run(run).state;
        let begun = Instant::now();
        // Until the gate is open nobody can answer it.
        while !state.is_done() && place.said(&["gate", "approve", run, "ask"]).1 != 0 {
            assert!(begun.elapsed() < HANG, "run {run} does not come to its gate: {state:?}");
            state = place.run(run).state;
        }
        code_of(watch);
        let expected = if told.cancelled.contains(run) { vec![RunState::Cancelled] } else { ENDS.to_vec() };
        let state = place.run(run).state;
        assert!(expected.contains(&state), "run {run} is {state:?}, expected {expected:?}");
    }
    place.is_sound();
}

/// A cancel may have been heard although nobody was told so.
const ENDS: [RunState; 2] = [RunState::Complete, RunState::Cancelled];
