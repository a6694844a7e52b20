//! Processes that are stopped (`SIGSTOP`) and go on, or are killed instead: laptops that sleep, machines that freeze.
//!
//! The engine keeps its folder while it is stopped. Whoever only looks sees what is there; whoever wants
//! something done waits. A stopped script holds nobody up, and no time limit waits for it.

use crate::place::{Place, SAY, Seen, code_of, times};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use std::process::Child;
use std::time::Duration;

/// Longer than the lease of a worker elsewhere is held after a restart, on the clock that the engine reads.
const STOPPED: Duration = Duration::from_secs(11);
const ITEMS: u32 = 60;
const WORKERS: usize = 8;

/// Many items, and a timer that is due while the engine is stopped.
fn flow(place: &Place, max_attempts: u16) {
    let items: Vec<String> = (0..ITEMS).map(|n| n.to_string()).collect();
    let retry = format!("retry: {{ max_attempts: {max_attempts}, backoff: {{ kind: fixed, base: 1ms }} }}");
    let tasks = format!(
        "  wide: {{ each: [{}], run: '{SAY}', {retry} }}\n  due: {{ gate: {{ timer: 2s }} }}\n  \
         late: {{ after: [due, wide], run: '{SAY}', {retry} }}\n",
        items.join(", ")
    );
    place.flow("stopped", &tasks);
    place.flow("small", "  a: { run: 'true' }\n");
}

/// A run at work whose engine is stopped after a few starts, and its id.
fn stopped(place: &Place, seen: &mut Seen) -> (Child, String) {
    let child = place.edgewise(&["run", "stopped.yaml", "--wait"]).spawn().unwrap();
    (0..5).for_each(|_| seen.line(&place.line()));
    kill_process(place.engine().unwrap(), Signal::STOP).unwrap();
    let id = place.run("@").id.to_string();
    (child, id)
}

/// Lets the clock go on; what was started before may still say so, and nothing else starts.
fn nothing_starts(place: &Place, seen: &mut Seen) {
    let late = std::iter::from_fn(|| place.line_within(STOPPED)).map(|line| seen.line(&line)).count();
    assert!(late <= WORKERS, "{late} tasks were started by an engine that is stopped");
}

#[test]
fn an_engine_that_was_stopped_goes_on_and_has_run_nothing_twice() {
    (0..times()).for_each(|_| stop_and_go_on());
}

fn stop_and_go_on() {
    let (place, mut seen) = (Place::new(), Seen::default());
    flow(&place, 1);
    let (engine, id) = stopped(&place, &mut seen);
    let mut start = place.edgewise(&["run", "small.yaml", "--detach", "-q"]).spawn().unwrap();
    let mut watch = place.edgewise(&["watch", &id]).spawn().unwrap();
    // Looking needs no engine.
    assert_eq!(place.said(&["show", &id]).1, 0);
    assert_eq!(place.said(&["runs"]).1, 0);
    nothing_starts(&place, &mut seen);
    assert!(start.try_wait().unwrap().is_none() && watch.try_wait().unwrap().is_none(), "they wait for the engine");
    kill_process(Pid::from_child(&engine), Signal::CONT).unwrap();
    assert_eq!([code_of(engine), code_of(start), code_of(watch)], [0, 0, 0]);
    place.rest(&mut seen);
    // One attempt each, and it was enough: to be stopped is no failure.
    seen.each_once(ITEMS as usize + 1, 1);
    assert_eq!(place.said(&["watch", "@"]).1, 0, "what was accepted in between");
    place.is_sound();
}

#[test]
fn a_stopped_engine_that_is_killed_is_followed_by_whoever_waits() {
    (0..times()).for_each(|_| stop_and_kill());
}

fn stop_and_kill() {
    let (place, mut seen) = (Place::new(), Seen::default());
    flow(&place, 2);
    let (mut engine, id) = stopped(&place, &mut seen);
    let watch = place.edgewise(&["watch", &id]).spawn().unwrap();
    assert!(place.kill_engine(&mut engine));
    assert_eq!(code_of(watch), 0);
    place.rest(&mut seen);
    seen.look(&place.run(&id));
    seen.each_once(ITEMS as usize + 1, 2);
    place.is_sound();
}

#[test]
fn a_script_that_is_stopped_is_timed_out_killed_and_tried_again() {
    (0..times()).for_each(|_| time_out_a_stopped_script());
}

fn time_out_a_stopped_script() {
    let (place, mut seen) = (Place::new(), Seen::default());
    // Its whole group stops itself, so even TERM reaches nobody who could obey.
    let script = format!("{SAY}; if [ $EDGEWISE_ATTEMPT = 1 ]; then echo $$ > leader; kill -STOP 0; fi; echo done");
    let retry = "retry: { max_attempts: 2, backoff: { kind: fixed, base: 1ms } }";
    place.flow("stuck", &format!("  stuck: {{ run: '{script}', timeout: 1s, {retry} }}\n"));
    let child = place.edgewise(&["run", "stuck.yaml", "--wait"]).spawn().unwrap();
    assert_eq!(code_of(child), 0);
    place.rest(&mut seen);
    seen.each_once(1, 2);
    assert!(seen.starts.contains_key(&("stuck".to_owned(), 2)));
    assert!(test_kill_process(leader(&place)).is_err(), "the first attempt lives on");
    place.is_sound();
}

#[test]
fn a_script_that_is_stopped_holds_nobody_up_and_goes_on_in_the_same_attempt() {
    (0..times()).for_each(|_| stop_a_script_and_go_on());
}

fn stop_a_script_and_go_on() {
    let (place, mut seen) = (Place::new(), Seen::default());
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.path().join("go"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    place
        .flow("slow", &format!("  slow: {{ run: 'echo $$ > leader; {SAY}; read word < go; echo $word', retry: 1 }}\n"));
    place.flow("small", &format!("  a: {{ run: '{SAY}' }}\n"));
    let slow = place.edgewise(&["run", "slow.yaml", "--wait"]).spawn().unwrap();
    seen.line(&place.line());
    let leader = leader(&place);
    kill_process_group(leader, Signal::STOP).unwrap();
    assert_eq!(place.said(&["run", "small.yaml", "--wait"]).1, 0, "the same engine runs others meanwhile");
    kill_process_group(leader, Signal::CONT).unwrap();
    std::fs::write(place.path().join("go"), "word\n").unwrap();
    assert_eq!(code_of(slow), 0);
    place.rest(&mut seen);
    seen.each_once(2, 1);
    place.is_sound();
}

fn leader(place: &Place) -> Pid {
    let text = std::fs::read_to_string(place.path().join("leader")).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}
