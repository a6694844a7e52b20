//! Runs that nobody waits for: a process in the background goes on with them and ends when nothing is left to do.

use crate::process::{Project, bounded};

#[test]
fn a_detached_run_goes_on_by_itself_and_leaves_nothing_behind() {
    let project = Project::new();
    project.flow("quick", "  a: { run: 'touch a' }\n  b: { after: a, run: 'touch b' }\n");
    let ended = project.run("run quick.yaml --detach -q");
    assert_eq!((ended.code, ended.out.trim().len()), (0, 16), "{ended:?}");
    project.until_nobody_works();
    assert!(project.has("b"));
    assert!(!project.has(".edgewise/engine.sock"));
    let log = std::fs::read_to_string(project.path().join(".edgewise/engine.log")).unwrap();
    assert_eq!(log, "", "it had nothing to complain about");
    assert_eq!(project.run("watch").code, 0);
}

#[test]
fn a_detached_run_that_waits_for_people_keeps_no_process() {
    let project = Project::new();
    project.flow("ask", "  ask: { gate: { approval: { count: 1 } } }\n  then: { after: ask, run: 'touch then' }\n");
    assert_eq!(project.run("run ask.yaml --detach").code, 0);
    project.until_nobody_works();
    assert!(!project.has("then"));
}

#[test]
fn whoever_lets_a_run_go_on_where_no_engine_is_starts_one_in_the_background() {
    let project = Project::new();
    let tasks = "  ask: { gate: { approval: { count: 1 } } }\n  then: { after: ask, run: 'touch then' }\n  \
                 more: { after: then, gate: { approval: { count: 1 } } }\n  last: { after: more, run: 'touch last' }\n";
    project.flow("ask", tasks);
    assert_eq!(project.run("run ask.yaml --detach").code, 0);
    project.until_nobody_works();
    let approved = project.run("gate approve @ ask");
    assert!(
        approved.code == 0 && approved.err.contains("one in the background goes on; `edgewise watch "),
        "{approved:?}"
    );
    project.until_nobody_works();
    assert!(project.has("then"), "nobody had to watch");
    assert_eq!(project.run("pause @").code, 0);
    let paused = project.run("gate approve @ more --json");
    assert!(paused.code == 0 && paused.err.is_empty(), "nothing of a paused run goes on: {paused:?}");
    assert!(!project.has("last"));
    let resumed = project.run("resume --where state:paused --yes");
    assert!(resumed.err.contains("one in the background goes on; `edgewise runs --watch` follows"), "{resumed:?}");
    project.until_nobody_works();
    assert!(project.has("last"));
    assert_eq!(project.run("watch").code, 0);
}

#[test]
fn whoever_closes_an_item_or_opens_a_gate_that_a_run_waits_for_starts_an_engine_too() {
    let project = Project::new();
    let gate = project.run("gate create --approval -q").out.trim().to_owned();
    let tasks = format!(
        "  look: {{ item: {{ title: Look }} }}\n  then: {{ after: look, run: 'touch then' }}\n  \
         ask: {{ after: then, gate: {{ shared: {gate} }} }}\n  last: {{ after: ask, run: 'touch last' }}\n"
    );
    project.flow("ask", &tasks);
    assert_eq!(project.run("run ask.yaml --detach").code, 0);
    project.until_nobody_works();
    assert_eq!(project.run("add Other -q").err, "", "nobody waits for that");
    let item = project.run("ready -q").out;
    let of_run = item.lines().find(|id| project.run(&format!("show {id}")).out.contains("Look")).unwrap().to_owned();
    for id in item.lines().filter(|id| **id != of_run) {
        assert_eq!(project.run(&format!("close {id} --why no")).err, "");
    }
    let closed = project.run(&format!("close {of_run}"));
    assert!(closed.code == 0 && closed.err.contains("one in the background goes on"), "{closed:?}");
    project.until_nobody_works();
    assert!(project.has("then"));
    let opened = project.run(&format!("gate approve {gate} --as ada"));
    assert!(opened.code == 0 && opened.err.contains("one in the background goes on"), "{opened:?}");
    project.until_nobody_works();
    assert!(project.has("last"));
}

#[test]
fn whoever_ends_a_run_lets_the_run_that_waits_for_it_go_on() {
    for (act, then) in [("gate approve CHILD ask", "well"), ("cancel CHILD", "badly"), ("task skip CHILD ask", "well")]
    {
        let project = Project::new();
        let inner = "flow: inner\ntasks:\n  ask: { gate: { approval: { count: 1 } } }\n";
        std::fs::write(project.path().join("inner.yaml"), inner).unwrap();
        let tasks = "  sub: { flow: inner }\n  well: { after: sub, run: 'touch well' }\n  \
                     badly: { after: { sub: failed }, run: 'touch badly' }\n";
        project.flow("outer", tasks);
        let parent = project.run("run outer.yaml --detach -q").out.trim().to_owned();
        project.until_nobody_works();
        let runs = project.run("runs --all -q").out;
        let child = runs.lines().find(|id| *id != parent).unwrap();
        let acted = project.run(&act.replace("CHILD", child));
        assert!(acted.code == 0 && acted.err.contains(&format!("watch {}", &parent[..8])), "{act}: {acted:?}");
        project.until_nobody_works();
        assert!(project.has(then), "{act}");
    }
}

#[test]
fn whoever_deletes_an_item_that_a_run_waits_for_starts_an_engine_too() {
    let project = Project::new();
    let tasks = "  look: { item: { title: Look } }\n  then: { after: { look: failed }, run: 'touch then' }\n";
    project.flow("ask", tasks);
    assert_eq!(project.run("run ask.yaml --detach").code, 0);
    project.until_nobody_works();
    let deleted = project.run(&format!("delete {}", project.run("ready -q").out.trim()));
    assert!(deleted.code == 0 && deleted.err.contains("one in the background goes on"), "{deleted:?}");
    project.until_nobody_works();
    assert!(project.has("then"));
}

#[test]
fn an_engine_that_is_to_stay_takes_over_from_one_in_the_background() {
    let project = Project::new();
    project.flow("long", "  long: { run: 'cat hold' }\n");
    project.fifo("hold");
    assert_eq!(project.run("run long.yaml --detach").code, 0);
    let mut engine = project.spawn("engine");
    engine.until(&["takes over when it ends"]);
    // Whoever comes to open it for reading has it ended at once.
    std::fs::write(project.path().join("hold"), "enough").unwrap();
    engine.until(&["the engine of", "Ctrl-C stops it"]);
    engine.signal("INT");
    assert_eq!(engine.end().code, 0);

    // Ctrl-C ends the waiting, too.
    assert_eq!(project.run("run long.yaml --detach").code, 0);
    let mut engine = project.spawn("engine");
    engine.until(&["takes over when it ends"]);
    engine.signal("INT");
    assert_eq!(engine.end().code, 0);
    std::fs::write(project.path().join("hold"), "enough").unwrap();
    project.until_unlocked("background.lock");
}

#[test]
fn a_detached_run_outlives_the_engine_it_was_given_to() {
    let project = Project::new();
    project.flow("ask", "  ask: { gate: { approval: { count: 1 } } }\n");
    project.flow("later", "  nap: { gate: { timer: 1s } }\n  then: { after: nap, run: 'touch then' }\n");
    let mut first = project.spawn("run ask.yaml");
    first.until(&["ask", "edgewise gate approve"]);
    let id = first.word_after("edgewise gate approve");
    assert_eq!(project.run("run later.yaml --detach").code, 0);
    assert_eq!(project.run(&format!("gate approve {id} ask")).code, 0);
    assert_eq!(first.end().code, 0);
    project.until_unlocked("background.lock");
    assert!(project.has("then"));
}

#[test]
fn a_run_that_is_let_go_on_outlives_the_engine_of_another_run() {
    let acts = ["gate approve RUN ask", "resume --where state:paused --yes", "close ITEM"];
    for act in acts {
        let project = Project::new();
        let first = if act.starts_with("close") { "item: { title: Look }" } else { "gate: { approval: { count: 1 } }" };
        let tasks = format!(
            "  ask: {{ {first} }}\n  then: {{ after: ask, run: 'cat hold' }}\n  last: {{ after: then, run: 'touch last' }}\n"
        );
        project.flow("waits", &tasks);
        let hold = project.fifo("hold");
        let run = project.run("run waits.yaml --detach -q").out.trim().to_owned();
        project.until_nobody_works();
        let item = project.run("ready -q").out.trim().to_owned();
        if act.starts_with("resume") {
            assert_eq!(project.run(&format!("pause {run}")).code, 0);
            assert_eq!(project.run(&format!("gate approve {run} ask")).code, 0);
        }
        project.flow("other", "  ask: { gate: { approval: { count: 1 } } }\n");
        let mut other = project.spawn("run other.yaml");
        other.until(&["ask", "edgewise gate approve"]);
        let id = other.word_after("edgewise gate approve");
        let acted = project.run(&act.replace("RUN", &run).replace("ITEM", &item));
        let told = format!("the engine here leaves with run {id}: then one in the background goes on");
        assert!(acted.code == 0 && acted.err.contains(&told), "{act}: {acted:?}");
        let own = project.run(&format!("gate approve {id} ask"));
        assert!(own.code == 0 && own.err.is_empty(), "whoever follows it goes on with it: {own:?}");
        bounded(move || std::fs::write(hold, "enough").unwrap(), || format!("{act}: nobody went on"));
        assert_eq!(other.end().code, 0);
        project.until_nobody_works();
        assert!(project.has("last"), "{act}");
    }
}

#[test]
fn whoever_lets_a_part_of_a_run_go_on_leaves_it_to_who_follows_the_run() {
    let project = Project::new();
    let inner =
        "flow: inner\ntasks:\n  ask: { gate: { approval: { count: 1 } } }\n  more: { after: ask, run: 'true' }\n";
    std::fs::write(project.path().join("inner.yaml"), inner).unwrap();
    project.flow("outer", "  sub: { flow: inner }\n");
    assert_eq!(project.run("run outer.yaml --detach").code, 0);
    project.until_nobody_works();
    let mut outer = project.spawn("watch");
    outer.until(&["sub", "waiting: run "]);
    let child = outer.word_after("waiting: run ");
    let approved = project.run(&format!("gate approve {child} ask"));
    assert!(approved.code == 0 && approved.err.is_empty(), "{approved:?}");
    assert_eq!(outer.end().code, 0);
}

#[test]
fn many_detached_runs_share_one_process() {
    let project = Project::new();
    project.flow("quick", "  a: { run: 'echo x >>all' }\n");
    let all: Vec<_> = (0..5).map(|_| project.spawn("run quick.yaml --detach -q")).collect();
    let ids: std::collections::BTreeSet<String> = all.into_iter().map(|process| process.end().out).collect();
    assert_eq!(ids.len(), 5);
    project.until_nobody_works();
    assert_eq!(std::fs::read_to_string(project.path().join("all")).unwrap(), "x\n".repeat(5));
}
