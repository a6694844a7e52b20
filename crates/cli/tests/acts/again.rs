//! `edgewise rerun`: finished work is done again, by whoever asks for it.

use crate::process::Project;
use serde_json::Value;

/// `b` fails until there is a file; every task leaves a line.
fn half_way() -> Project {
    let project = Project::new();
    let tasks = "  a: { run: 'echo a >> ran' }\n  b: { after: a, run: 'echo b >> ran; test -e fixed', retry: 1 }\n  \
                 c: { after: b, run: 'echo c >> ran' }\n";
    project.flow("half", tasks);
    assert_eq!(project.run("run half.yaml").code, 1);
    std::fs::write(project.path().join("fixed"), "").unwrap();
    project
}

fn ran(project: &Project) -> String {
    std::fs::read_to_string(project.path().join("ran")).unwrap().replace('\n', " ").trim().to_owned()
}

#[test]
fn a_failed_run_goes_on_from_its_failure_and_is_followed_to_its_end() {
    let project = half_way();
    let ended = project.run("rerun @ --why fixed");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("opened 2 tasks of run"), "{}", ended.err);
    assert_eq!(ran(&project), "a b b c", "what was finished is not done again");
    let events = project.run("events @");
    assert!(events.out.contains("RunRerunRequested") && events.out.contains("from what failed"), "{}", events.out);
    assert!(events.out.contains("fixed"), "{}", events.out);
}

#[test]
fn a_run_that_ended_well_is_asked_what_is_meant() {
    let project = half_way();
    assert_eq!(project.run("rerun @").code, 0);
    let refused = project.run("rerun @");
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(refused.err.contains("--task PATH") && refused.err.contains("--whole"), "{}", refused.err);
    assert_eq!(project.run("rerun @ --task b --wait").code, 0);
    assert_eq!(ran(&project), "a b b c b c");
    let whole = project.run("rerun @ --whole --json");
    let value: Value = serde_json::from_str(&whole.out).unwrap();
    assert_eq!((whole.code, &value["phase"]), (0, &"succeeded".into()));
    assert_eq!(ran(&project), "a b b c b c a b c");
    let unknown = project.run("rerun @ --task nobody");
    assert_eq!(unknown.code, 3, "{unknown:?}");
    assert_eq!(project.run("doctor --verify").code, 0);
}

#[test]
fn what_is_opened_without_waiting_is_done_by_the_next_who_comes() {
    let project = half_way();
    let opened = project.run("rerun @ --detach --json");
    let value: Value = serde_json::from_str(&opened.out).unwrap();
    assert_eq!((opened.code, &value["opened"]), (0, &2.into()), "{opened:?}");
    assert_eq!(project.run("watch @").code, 0);
    assert_eq!(ran(&project), "a b b c");
}

#[test]
fn a_rerun_from_failure_goes_down_into_the_run_that_failed() {
    let project = half_way();
    project.flow("whole", "  sub: { flow: half }\n  z: { after: sub, run: 'echo z >> ran' }\n");
    for file in ["ran", "fixed"] {
        std::fs::remove_file(project.path().join(file)).unwrap();
    }
    assert_eq!(project.run("run whole.yaml").code, 1);
    std::fs::write(project.path().join("fixed"), "").unwrap();
    let ended = project.run("rerun @ --why fixed");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("opened 2 tasks of run"), "{}", ended.err);
    assert!(ended.err.contains("of half, which `sub` waits for, goes on"), "{}", ended.err);
    assert_eq!(ran(&project), "a b b c z", "what the child had finished is not done again");
    let shown: Value = serde_json::from_str(&project.run("show @ --json").out).unwrap();
    let child = shown["tasks"][0]["child"].as_str().unwrap().to_owned();
    let events = project.run(&format!("events {child}"));
    assert!(events.out.contains("waited for by `sub`") && events.out.contains("from what failed"), "{}", events.out);
    for run in ["@", &child] {
        assert!(project.run(&format!("history {run} --json")).out.contains("\"why\":\"fixed\""));
    }
    assert_eq!(project.run("doctor --verify").code, 0);
}
