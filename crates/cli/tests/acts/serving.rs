//! The server as a process: what the guide says about it is done here, line by line.

use crate::process::{Ended, Process, Project};
use std::process::{Command, Stdio};

const GUIDE: &str = include_str!("../../../../docs/guide/server.md");

/// A server at a port that the system chose, and where it listens.
pub fn serve(project: &Project, words: &str) -> (Process, String) {
    let mut server = project.spawn(&format!("serve --addr 127.0.0.1:0 {words}"));
    let line = server.line();
    let url = line.trim().strip_prefix("listening at ").unwrap_or_else(|| panic!("{line}")).to_owned();
    (server, url)
}

pub fn stop(server: Process) -> Ended {
    server.signal("INT");
    server.end()
}

/// The first shell block under a heading of the guide.
fn block(heading: &str) -> &'static str {
    let (_, section) = GUIDE.split_once(heading).unwrap_or_else(|| panic!("no {heading}"));
    let (_, block) = section.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0
}

#[test]
fn the_worker_of_the_guide_does_its_task() {
    let project = Project::new();
    let (server, url) = serve(&project, "");
    let script = block("## A worker in a few lines of shell").replace("http://127.0.0.1:7420", &url);
    let done = Command::new("sh").args(["-e", "-c", &script]).stderr(Stdio::inherit()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && said.contains("\"continue\":true"), "{said}");
    assert!(said.trim_end().ends_with("\"state\":\"Complete\",\"output\":{\"hello\":{\"said\":\"hello\"}}}"), "{said}");
    assert_eq!(stop(server).code, 0);
    assert!(project.run("runs").out.contains("succeeded"));
}

#[test]
fn the_tokens_of_the_guide_are_made_listed_and_taken_away() {
    let project = Project::new();
    let refused = project.run("serve --addr 0.0.0.0:0");
    assert!(refused.code != 0 && refused.err.contains("edgewise token create"), "{refused:?}");
    let mut secrets = Vec::new();
    for line in block("Any other address needs tokens").lines().filter(|line| line.contains("token")) {
        let done = project.run(line.strip_prefix("edgewise ").unwrap());
        assert_eq!(done.code, 0, "{line}: {done:?}");
        if line.contains("create") {
            secrets.push(done.out.trim().to_owned());
        }
    }
    let listed = project.run("token list").out;
    assert!(listed.contains("ann") && !listed.contains("ci "), "{listed}");
    let kept = std::fs::read(project.path().join(".edgewise/ledger.db")).unwrap();
    for secret in secrets {
        let (_, secret) = secret.rsplit_once('.').unwrap();
        assert!(!kept.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "a secret is kept");
    }
}

#[test]
fn an_address_that_is_taken_is_said_so() {
    let project = Project::new();
    let (server, url) = serve(&project, "");
    let address = url.strip_prefix("http://").unwrap();
    let second = project.run(&format!("serve --addr {address}"));
    assert!(second.code != 0 && second.err.contains("--addr"), "{second:?}");
    assert_eq!(stop(server).code, 0);
}
