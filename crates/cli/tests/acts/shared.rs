//! Several processes in one folder: one is the engine, the others talk to it, and whoever watches goes on.

use crate::process::{Project, lives_once};

const ASK: &str =
    "  ask: { gate: { approval: { from: [lead], count: 1 } } }\n  then: { after: ask, run: 'echo yes' }\n";

#[test]
fn a_gate_is_answered_by_another_process() {
    let project = Project::new();
    project.flow("ask", ASK);
    let mut first = project.spawn("run ask.yaml");
    first.until(&["ask", "waiting: ", "(by lead)"]);
    let id = first.word_after("edgewise gate approve");
    let denied = project.run("gate approve @ ask");
    assert_eq!(denied.code, 5, "{denied:?}");
    assert_eq!(project.run("gate approve @ nope --as lead").code, 3);
    let approved = project.run(&format!("gate approve {id} ask --as lead --comment fine"));
    approved.says(0, &format!("approved `ask` of run {id}"));
    assert_eq!(approved.err, "", "somebody goes on with it");
    first.end().says(0, "{\n  \"then\": \"yes\"\n}");
}

#[test]
fn without_rows_a_run_is_found_answered_and_gone_on_with() {
    let project = Project::new();
    project.flow("ask", "  ask: { gate: { approval: { count: 1 } } }\n  then: { after: ask, run: 'echo yes' }\n");
    assert_eq!(project.run("run ask.yaml --detach").code, 0);
    project.until_unlocked("background.lock");
    project.until_unlocked("engine.lock");
    let forget = || {
        for file in ["state.db", "state.db-wal", "state.db-shm"] {
            let _ = std::fs::remove_file(project.path().join(".edgewise").join(file));
        }
    };
    forget();
    let shown = project.run("show @");
    assert!(shown.err.contains("no engine is at work here"), "{shown:?}");
    let approved = project.run("gate approve @ ask");
    assert_eq!(approved.code, 0, "{approved:?}");
    forget();
    project.run("watch").says(0, "{\n  \"then\": \"yes\"\n}");
}

#[test]
fn a_gate_that_is_rejected_fails_its_run() {
    let project = Project::new();
    project.flow("ask", "  ask: { gate: { approval: { from: [lead, boss], count: 2 } } }\n");
    let mut first = project.spawn("run ask.yaml");
    first.until(&["ask", "waiting: ", "(by lead and boss)"]);
    let id = first.word_after("edgewise gate approve");
    assert_eq!(project.run("gate approve @ ask --as lead").code, 0);
    let again = project.run("gate approve @ ask --as lead");
    again.says(0, &format!("`ask` of run {id} was approved by you already"));
    let withdrawn = project.run("gate withdraw @ ask --as lead");
    withdrawn.says(0, &format!("withdrew your approval of `ask` of run {id}"));
    assert_eq!(project.run("gate reject @ ask --as boss --comment later").code, 0);
    assert_eq!(first.end().code, 1);
}

#[test]
fn a_cancel_from_another_process_kills_the_commands() {
    let project = Project::new();
    project.flow("long", "  long: { run: 'exec 3>alive; echo alive >&3; sleep 600' }\n");
    let alive = project.pipe("alive");
    let first = project.spawn("run long.yaml");
    alive.begun();
    assert!(project.run("cancel @").out.starts_with("cancelled run "));
    alive.gone();
    let ended = first.end();
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.err.contains("was cancelled by ada"), "{}", ended.err);
}

#[test]
fn two_runs_at_once_share_one_engine() {
    let project = Project::new();
    let pipe = project.path().join("go");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Neither can end before the other has begun.
    project.flow("one", "  one: { run: 'read word <go; echo $word' }\noutput: ${{ tasks.one.output }}\n");
    project.flow("two", "  two: { run: 'echo hand >go; echo over' }\noutput: ${{ tasks.two.output }}\n");
    let mut first = project.spawn("run one.yaml");
    first.until(&["one", "running"]);
    let second = project.spawn("run two.yaml");
    second.end().says(0, "over");
    first.end().says(0, "hand");
}

#[test]
fn many_runs_at_once_all_end_well() {
    let project = Project::new();
    project.flow("quick", "  a: { run: 'echo a' }\n  b: { after: a, run: 'echo b' }\noutput: ${{ tasks.b.output }}\n");
    let all: Vec<_> = (0..8).map(|_| project.spawn("run quick.yaml")).collect();
    for process in all {
        process.end().says(0, "b");
    }
}

#[test]
fn whoever_still_watches_goes_on_when_the_engine_is_killed() {
    let project = Project::new();
    project.flow("long", &lives_once("long", "alive"));
    let alive = project.pipe("alive");
    let first = project.spawn("run long.yaml");
    alive.begun();
    let mut second = project.spawn("watch @");
    second.until(&["long", "running"]);
    project.until_written_down();
    first.signal("KILL");
    let ended = second.end();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("succeeded (attempt 2 of 2)"), "{}", ended.err);
    alive.gone();
    first.end();
}

#[test]
fn an_engine_that_leaves_first_finishes_what_it_has_at_work_for_others() {
    let project = Project::new();
    let pipe = project.path().join("go");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    project.flow("ask", "  ask: { gate: { approval: { count: 1 } } }\n");
    // One attempt only: if it were stopped with the engine, the run would fail.
    project.flow(
        "once",
        "  once: { run: 'read word <go; echo $word', retry: 1 }\n  then: { after: once, run: 'echo ok' }\n",
    );
    let mut first = project.spawn("run ask.yaml --key first");
    first.until(&["ask", "waiting: edgewise gate approve", "(by anybody)"]);
    let id = first.word_after("edgewise gate approve");
    let mut second = project.spawn("run once.yaml");
    second.until(&["once", "running"]);
    assert_eq!(project.run(&format!("gate approve {id} ask")).code, 0);
    first.until(&["waiting for a task still at work here"]);
    std::fs::write(&pipe, "word\n").unwrap();
    assert_eq!((first.end().code, second.end().code), (0, 0));
}

#[test]
fn a_watcher_that_stops_watching_disturbs_nobody() {
    let project = Project::new();
    project.flow("ask", ASK);
    let mut first = project.spawn("run ask.yaml");
    first.until(&["ask", "waiting: ", "(by lead)"]);
    let mut second = project.spawn("watch");
    second.until(&["ask", "waiting: ", "(by lead)"]);
    second.signal("INT");
    let ended = second.end();
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(ended.err.contains("goes on in another process: `edgewise watch"), "{}", ended.err);
    assert_eq!(project.run("gate approve @ ask --as lead").code, 0);
    assert_eq!(first.end().code, 0);
}

#[test]
fn a_folder_with_a_long_path_is_shared_as_well() {
    let project = Project::new();
    project.flow("ask", ASK);
    let dir = format!("{}/{}", "long-".repeat(20), "path-".repeat(20));
    let mut first = project.spawn(&format!("run ask.yaml --dir {dir}"));
    first.until(&["ask", "waiting"]);
    assert!(project.has(&format!("{dir}/engine.addr")));
    assert_eq!(project.run(&format!("gate approve @ ask --as lead --dir {dir}")).code, 0);
    first.end().says(0, "{\n  \"then\": \"yes\"\n}");
    assert!(!project.has(&format!("{dir}/engine.addr")));
}
