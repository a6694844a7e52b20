//! The same commands in a folder and at a server: the outputs are equal.

use crate::process::{Ended, Project};
use crate::serving::{serve, stop};
use std::collections::BTreeMap;

const TASKS: &str = "  build: { run: echo built }\n  ask: { after: [build], gate: { approval: { count: 1 } } }\n  ship: { after: [ask], run: echo shipped }\n";
const FAILS: &str = "  a: { run: 'exit 3', retry: 1 }\n  b: { after: [a], run: echo never }\n";

/// Command lines; what one prints is remembered under the name before its colon.
const LINES: &[&str] = &[
    "runs",
    "show nosuch",
    "flow: register release.yaml --json",
    "flows",
    "r: run release.yaml --detach -q",
    "gate list",
    "why {r}",
    "gate approve {r} ask --comment good",
    "watch {r}",
    "show {r}",
    "show {r} --json",
    "show {r} build",
    "events {r}",
    "history {r} ship",
    "timing {r}",
    "graph {r}",
    "export {r}",
    "runs",
    "runs state:complete --json",
    "f: run fails.yaml --detach -q",
    "watch {f}",
    "runs flow:fails -q",
    "show {f}",
    "why {f}",
    "rerun {f} --failed --detach",
    "watch {f}",
    "what-if {f} --rerun a",
    "p: run release --key once --detach -q",
    "run release --key once --detach -q",
    "pause {p}",
    "resume {p}",
    "cancel {p} --why enough",
    "cancel {p}",
    "task skip {p} ship",
    "show {p}",
    "queues",
    "a: add first --priority 1 -q",
    "b: add second -q",
    "dep add {b} {a}",
    "dep add {a} {b}",
    "list",
    "ready",
    "blocked",
    "show {b}",
    "why {b}",
    "claim {a}",
    "update {a} --title changed",
    "close {a}",
    "ready --json",
    "history {a}",
    "stats",
    "schedule set nightly --flow release --cron @daily",
    "schedule list",
    "schedule show nightly",
    "token create ann --role viewer --quiet",
    "token list",
    "token create ann --role viewer",
    "token revoke ann",
    "freeze {p}",
    "unfreeze {p}",
    "show --nosuch",
];

fn project() -> Project {
    let project = Project::new();
    project.flow("release", TASKS);
    project.flow("fails", FAILS);
    project
}

/// What a line says in a place, with what is different in every place taken out.
fn say(project: &Project, line: &str, addr: Option<&str>, known: &mut BTreeMap<String, String>) -> String {
    let (name, line) = line.split_once(": ").map_or((None, line), |(name, line)| (Some(name), line));
    let mut typed = line.to_owned();
    for (name, value) in &*known {
        typed = typed.replace(&format!("{{{name}}}"), value);
    }
    let mut command = project.command(&typed);
    if let Some(addr) = addr {
        command.env("EDGEWISE_ADDR", addr);
    }
    let done = command.output().unwrap();
    let ended = Ended {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    };
    if let Some(name) = name {
        known.insert(name.to_owned(), ended.out.trim().to_owned());
    }
    let mut text = format!("{line}\nexit {}\n{}{}", ended.code, ended.out, ended.err);
    for (name, value) in &*known {
        let short = &value[..value.len().min(8)];
        for id in [value.as_str(), short].into_iter().filter(|id| id.len() > 3) {
            text = text.replace(id, &format!("<{name}>"));
        }
    }
    scrubbed(&text)
}

/// Without instants, durations, chance and the widths that they make.
fn scrubbed(text: &str) -> String {
    let text = text.replace('━', "");
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let same = words.map(|word| {
        let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len();
        let (word, rest) = word.split_at(end);
        let chance = word.len() >= 16 && word.contains(|c: char| c.is_ascii_digit());
        // The name of an engine.
        let engine = word.len() == 7 && word.starts_with('e') && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = !word.is_empty() && word.starts_with(|c: char| c.is_ascii_digit());
        format!("{}{rest}", if chance || engine || number { "#" } else { word })
    });
    same.collect::<String>().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn every_command_says_the_same_at_a_server_as_in_a_folder() {
    let (here, there, home) = (project(), project(), project());
    let (mut local, mut remote) = (BTreeMap::new(), BTreeMap::new());
    // Both have an engine that does what is asked.
    let (own, _) = serve(&here, "--work");
    let (server, url) = serve(&home, "--work");
    let mut differ = Vec::new();
    for line in LINES {
        let (a, b) = (say(&here, line, None, &mut local), say(&there, line, Some(&url), &mut remote));
        if a != b {
            let lines = a.lines().zip(b.lines()).filter(|(a, b)| a != b).map(|(a, b)| format!("- {a}\n+ {b}\n"));
            differ.push(format!("{line}\n{}", lines.collect::<String>()));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n----\n"));
    assert!(!there.has(".edgewise"), "nothing is made where nothing is kept");
    assert_eq!((stop(own).code, stop(server).code), (0, 0));
}
