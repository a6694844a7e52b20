//! Runs that are stopped on the way: by Ctrl-C, by time, by a pause. What was kept goes on later.

use crate::process::{Project, lives_once};

#[test]
fn ctrl_c_stops_the_commands_and_keeps_the_run() {
    let project = Project::new();
    project.flow("long", &lives_once("long", "alive"));
    let alive = project.pipe("alive");
    let first = project.spawn("run long.yaml");
    alive.begun();
    first.signal("INT");
    let ended = first.end();
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(ended.err.contains("is kept: `edgewise watch"), "{}", ended.err);
    alive.gone();
    assert!(!project.has(".edgewise/engine.sock"));
    let ended = project.run("watch --json");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("\"long\": \"done\""), "{}", ended.out);
}

#[test]
fn when_the_time_is_over_the_run_is_kept() {
    let project = Project::new();
    project.flow("ask", "  ask: { gate: { approval: { count: 1 } } }\n  then: { after: ask, run: 'touch then' }\n");
    let ended = project.run("run ask.yaml --wait --timeout 200ms");
    assert_eq!(ended.code, 124, "{ended:?}");
    assert!(ended.err.contains("the time given was not enough; run "), "{}", ended.err);
    assert!(!project.has(".edgewise/engine.sock"));
    assert_eq!(project.run("gate approve @ ask").code, 0);
    assert_eq!(project.run("watch").code, 0);
    assert!(project.has("then"));
}

#[test]
fn a_process_that_is_killed_leaves_a_run_that_goes_on() {
    let project = Project::new();
    project.flow("long", &lives_once("long", "alive"));
    let alive = project.pipe("alive");
    let first = project.spawn("run long.yaml");
    alive.begun();
    project.until_written_down();
    first.signal("KILL");
    first.end();
    // What it had started is ended by whoever comes next, before the next attempt.
    assert_eq!(project.run("watch").code, 0);
    alive.gone();
}

#[test]
fn a_paused_run_is_waited_for_no_longer() {
    let project = Project::new();
    project.flow("ask", "  ask: { gate: { approval: { count: 1 } } }\n  then: { after: ask, run: 'touch then' }\n");
    let mut first = project.spawn("run ask.yaml");
    first.until(&["ask", "waiting", "edgewise gate approve"]);
    let paused = project.run("pause @ --why lunch");
    assert!(paused.code == 0 && paused.out.starts_with("paused run "), "{paused:?}");
    let ended = first.end();
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(ended.err.contains("`edgewise resume "), "{}", ended.err);

    let again = project.run("pause @");
    assert!(again.code == 0 && again.out.contains("was paused already"), "{again:?}");
    assert_eq!(project.run("gate approve @ ask").code, 0);
    assert_eq!(project.run("watch").code, 6, "approved, but still paused");
    assert!(!project.has("then"));
    let resumed = project.run("resume @ --why over");
    assert!(resumed.err.contains("`edgewise watch "), "{resumed:?}");
    assert_eq!(project.run("watch").code, 0);
    assert!(project.has("then"));
    let history = project.run("history @").out;
    assert!(history.contains(": lunch") && history.contains(": over"), "{history}");
}

#[test]
fn without_an_engine_a_cancel_runs_nothing() {
    let project = Project::new();
    project.flow("ask", "  ask: { gate: { approval: { count: 1 } } }\n  then: { after: ask, run: 'touch then' }\n");
    let mut first = project.spawn("run ask.yaml");
    first.until(&["ask", "waiting"]);
    first.signal("TERM");
    assert_eq!(first.end().code, 130);
    let cancelled = project.run("cancel @ --why enough");
    assert!(cancelled.code == 0 && cancelled.out.starts_with("cancelled run "), "{cancelled:?}");
    let again = project.run("cancel @");
    assert!(again.code == 0 && again.out.contains("was cancelled already"), "{again:?}");
    let ended = project.run("watch");
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.err.contains("was cancelled by ada"), "{}", ended.err);
    assert!(!project.has("then"));
}
