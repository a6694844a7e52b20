//! What an operator does when a run went wrong, half-way: the real binary, with and without an engine.

use crate::process::Project;
use serde_json::Value;

/// A run that failed at `build`, with `ship` behind it and `notify` behind that.
fn failed() -> Project {
    let project = Project::new();
    let tasks = "  build: { run: 'test -e mended && echo built', retry: 1 }\n  \
                 ship: { after: build, run: 'echo shipped $WHAT', env: { WHAT: '${{ tasks.build.output }}' } }\n  \
                 notify: { after: ship, run: 'echo told' }\n";
    project.flow("release", tasks);
    assert_eq!(project.run("run release.yaml").code, 1);
    project
}

fn states(project: &Project) -> Vec<(String, String)> {
    let shown = project.run("show @ --json");
    let value: Value = serde_json::from_str(&shown.out).unwrap();
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let tasks = value["tasks"].as_array().unwrap().iter();
    tasks.map(|t| (text(&t["path"]), text(&t["state"]))).collect()
}

fn state_of(project: &Project, task: &str) -> String {
    states(project).into_iter().find(|(path, _)| path == task).map(|(_, state)| state).unwrap_or_default()
}

#[test]
fn a_failed_task_is_reset_and_the_run_goes_on_to_its_end() {
    let project = failed();
    std::fs::write(project.path().join("mended"), "").unwrap();
    let reset = project.run("task reset @ build --why mended");
    assert_eq!(reset.code, 0, "{reset:?}");
    assert!(reset.out.contains("reset `build` of run"), "{reset:?}");
    assert!(reset.err.contains("one in the background goes on"), "nobody was there to go on: {reset:?}");
    assert_eq!(project.run("watch @").code, 0);
    assert_eq!(state_of(&project, "notify"), "Complete");
    let history = project.run("history @");
    assert!(history.out.contains("TaskResetForRetry"), "{}", history.out);
    let events = project.run("events @");
    assert!(events.out.contains("by ada: mended"), "{}", events.out);
}

#[test]
fn a_task_is_completed_by_hand_with_an_output_that_others_read() {
    let project = failed();
    let refused = project.run("task complete @ build --with built-by-hand");
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("a text needs its quotes"), "{refused:?}");
    assert_eq!(project.run("task complete @ build --with \"by-hand\"").code, 0);
    assert_eq!(project.run("watch @").code, 0);
    assert!(project.run("logs @ ship").out.contains("shipped by-hand"));
}

#[test]
fn a_task_is_resolved_skipped_or_cancelled_and_what_follows_is_decided_at_once() {
    let project = Project::new();
    let tasks = "  build: { run: 'exit 1', retry: 1 }\n  ship: { after: build, gate: { approval: { count: 1 } } }\n  \
                 notify: { after: ship, run: 'echo told' }\n";
    project.flow("release", tasks);
    assert_eq!(project.run("run release.yaml").code, 1);
    assert_eq!(project.run("task resolve @ build").code, 0);
    assert_eq!(project.run("task skip @ notify").code, 0);
    let again = project.run("task skip @ notify");
    assert!(again.code == 0 && again.out.contains("was skipped already"), "{again:?}");
    assert_eq!(project.run("task cancel @ ship").code, 0);
    assert_eq!(state_of(&project, "notify"), "Skipped");
    assert_eq!(state_of(&project, "ship"), "Cancelled");
    let over = project.run("task cancel @ ship");
    assert!(over.code == 4 && over.err.contains("the run was cancelled"), "{over:?}");
}

#[test]
fn what_the_model_forbids_is_refused_with_its_reason_and_changes_nothing() {
    let project = failed();
    project.flow("well", "  a: { run: 'echo a' }\n");
    assert_eq!(project.run("run well.yaml").code, 0);
    for (line, why) in [
        ("task reset @ a", "only a failed task can be reset"),
        ("task skip @ a", "the task is done"),
        ("task cancel @ a", "the task is done"),
        ("task resolve @ a", "the task is complete"),
        ("task complete @ a --with 1", "the task is complete"),
        ("resolve @", "the run is complete"),
        ("give-up @", "the run is over"),
        ("cancel @", "the run is over"),
    ] {
        let refused = project.run(line);
        assert!(refused.code == 4 && refused.err.contains(why), "{line}: {refused:?}");
    }
    let missing = project.run("task reset @ aa");
    assert!(missing.code == 3 && missing.err.contains("has no task `aa`"), "{missing:?}");
    assert_eq!(state_of(&project, "a"), "Complete");
}

#[test]
fn a_held_failure_is_given_up_and_a_run_is_resolved() {
    let project = Project::new();
    let flow =
        "flow: held\non_failure: hold\ntasks:\n  a: { run: 'exit 1', retry: 1 }\n  b: { after: a, run: 'echo b' }\n";
    std::fs::write(project.path().join("held.yaml"), flow).unwrap();
    assert_eq!(project.run("run held.yaml --detach").code, 0);
    project.until_unlocked("engine.lock");
    assert_eq!(state_of(&project, "b"), "Pending");
    let given = project.run("give-up @ --why lost");
    assert!(given.code == 0 && given.out.contains("gave up run"), "{given:?}");
    assert_eq!(state_of(&project, "b"), "Skipped");
    assert!(project.run("show @").out.contains("lost"));
    assert_eq!(project.run("resolve @ --why known").code, 0);
    let value: Value = serde_json::from_str(&project.run("show @ --json").out).unwrap();
    assert_eq!(value["state"], "ResolvedManually");
}

#[test]
fn a_frozen_run_can_only_be_read_until_it_is_unfrozen() {
    let project = failed();
    let frozen = project.run("freeze @ --why evidence");
    assert!(frozen.code == 0 && frozen.out.contains("froze run"), "{frozen:?}");
    assert!(project.run("freeze @").out.contains("was frozen already"));
    let refused = project.run("task reset @ build");
    assert!(refused.code == 4 && refused.err.contains("ada froze it: evidence"), "{refused:?}");
    let json = |args: &str| -> Value { serde_json::from_str(&project.run(args).out).unwrap() };
    for args in ["show @ --json", "why @ --json", "runs --json"] {
        let told = json(args);
        let told = if told.is_array() { told[0].clone() } else { told };
        assert_eq!(
            (&told["frozen"], &told["frozen_by"]["by"]),
            (&"ada froze it: evidence".into(), &"ada".into()),
            "{args}"
        );
        assert_eq!(told["frozen_by"]["why"], "evidence", "{args}");
    }
    assert!(project.run("show @").out.contains("by ada at"));
    assert!(project.run("why @").out.contains("edgewise unfreeze"));
    let examined = project.run("doctor").out;
    assert!(examined.contains("edgewise unfreeze") && examined.contains("lets it go on"), "{examined}");
    assert_eq!(project.run("doctor --verify").code, 0, "mark and event agree");
    let seq = json("show @ --json")["seq"].as_u64().unwrap();
    assert!(project.run("unfreeze @ --why enough").out.contains("unfroze run"));
    let history = project.run("history @").out;
    for said in ["frozen, by ada: evidence", "unfrozen, by ada: enough"] {
        assert!(history.contains(said), "{history}");
    }
    let then = json(&format!("show @ --at {seq} --json"));
    assert_eq!(then["frozen_by"]["why"], "evidence", "it is told of the past");
    assert_eq!(json("show @ --json")["frozen"], Value::Null);
    assert!(project.run("unfreeze @").out.contains("was not frozen"));
    assert_eq!(project.run("task resolve @ build").code, 0);
}
