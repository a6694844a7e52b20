//! Looking on while another process works: logs that are followed, and the list of runs.

use crate::process::{Project, bounded};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// A task that says something, waits to be let go, says more; then one that works at its second attempt.
fn talks(project: &Project) {
    let path = project.path().join("go");
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let retry = "retry: { max_attempts: 2, backoff: { kind: fixed, base: 1ms }, jitter: 0 }";
    let last =
        format!("  last: {{ after: first, run: 'echo try $EDGEWISE_ATTEMPT; [ $EDGEWISE_ATTEMPT = 2 ]', {retry} }}\n");
    project.flow("talks", &format!("  first: {{ run: 'echo one; cat go; echo two' }}\n{last}"));
}

#[test]
fn logs_are_followed_across_tasks_and_attempts_of_another_process() {
    let project = Project::new();
    talks(&project);
    assert_eq!(project.run("run talks.yaml --detach").code, 0);
    let mut all = project.spawn("logs @ -f");
    let mut one = project.spawn("logs @ last --follow -o jsonl");
    all.prints(" one\n");
    std::fs::write(project.path().join("go"), "").unwrap();
    let (all, one) = (all.end(), one_ended(&mut one, &project));
    let printed = all.out.replace('│', "|");
    assert_eq!((all.code, printed.as_str()), (0, "first | two\nlast  | try 1\nlast (2) | try 2\n"), "{all:?}");
    assert_eq!(one, ["try 1", "try 2"]);
    let over = project.run("logs @ last -f");
    over.says(0, "try 1\ntry 2");
    assert!(over.err.contains("attempt 2"), "{over:?}");
    project.run("logs @ last -f --attempt 2").says(0, "try 2");
    assert_eq!(project.run("logs @ last -f --raw").code, 2);
}

fn one_ended(one: &mut crate::process::Process, project: &Project) -> Vec<String> {
    let ended = std::mem::replace(one, project.spawn("runs")).end();
    assert_eq!(ended.code, 0, "{ended:?}");
    let text =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned();
    ended.out.lines().map(text).collect()
}

#[test]
fn following_ends_when_one_is_told_to_stop() {
    let project = Project::new();
    project.flow("asks", "  say: { run: 'echo one' }\n  ask: { after: say, gate: { approval: { count: 1 } } }\n");
    assert_eq!(project.run("run asks.yaml --detach").code, 0);
    let mut logs = project.spawn("logs @ -f");
    logs.prints(" one\n");
    logs.signal("INT");
    assert_eq!(logs.end().code, 130);
    let mut runs = project.spawn("runs --watch -q");
    runs.prints("");
    runs.signal("INT");
    assert_eq!(runs.end().code, 130);
}

#[test]
fn looking_ends_when_the_reader_leaves_although_nothing_changes() {
    let project = Project::new();
    project.flow("asks", "  say: { run: 'echo one' }\n  ask: { after: say, gate: { approval: { count: 1 } } }\n");
    assert_eq!(project.run("run asks.yaml --detach").code, 0);
    for line in ["runs --watch --json", "runs --watch", "logs @ -f"] {
        let mut child = project.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let status = bounded(move || child.wait().unwrap(), || format!("{line} has not ended"));
        assert_eq!(status.code(), Some(0), "{line}: {first}");
    }
}

#[test]
fn the_list_of_runs_tells_each_change_until_nothing_moves() {
    let project = Project::new();
    talks(&project);
    assert_eq!(project.run("run talks.yaml --detach").code, 0);
    let mut lines = project.spawn("runs --watch --until-idle");
    let json = project.spawn("runs --watch --until-idle --json");
    lines.prints(" talks ");
    std::fs::write(project.path().join("go"), "").unwrap();
    let (lines, json) = (lines.end(), json.end());
    assert_eq!((lines.code, json.code), (0, 0), "{lines:?} {json:?}");
    assert!(lines.out.lines().last().unwrap().contains(" talks succeeded 2/2 after "), "{lines:?}");
    let last: serde_json::Value = serde_json::from_str(json.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["phase"], &last["tasks_done"]), (&"succeeded".into(), &2.into()));
    let again = project.run("runs --watch --until-idle");
    assert_eq!(again.out.lines().count(), 1, "what is over is told once: {again:?}");
    project.flow("asks", "  ask: { gate: { approval: { count: 1 } } }\n");
    assert_eq!(project.run("run asks.yaml --detach").code, 0);
    let waits = project.run("runs --watch --until-idle");
    assert!(waits.out.contains(" asks waiting 0/1"), "who waits for people does not move: {waits:?}");
    assert_eq!(project.run("runs --until-idle").code, 2);
}
