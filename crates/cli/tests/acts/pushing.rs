//! Workers that are called: the target of the guide, and a server that is killed while a call is open.

use crate::process::{Process, Project};
use crate::serving::{serve, stop};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

const GUIDE: &str = include_str!("../../../../docs/guide/server.md");
const FLOW: &str = "{\"source\":\"flow: greet\\ntasks:\\n  hello: { action: greet, with: { name: world } }\\n\"}";

/// The first block of a language under the heading of the guide.
fn block(language: &str) -> &'static str {
    let (_, section) = GUIDE.split_once("## A worker that is called").unwrap();
    let (_, block) = section.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0
}

/// A project whose server may call this machine.
fn project() -> Project {
    let project = Project::new();
    std::fs::write(project.path().join("edgewise.toml"), "http_allow = [\"127.0.0.1\"]\n").unwrap();
    project
}

fn post(url: &str, body: &str) -> serde_json::Value {
    let words = ["-s", "-H", "Content-Type: application/json", "-d", body, url];
    let asked = Command::new("curl").args(words).output().unwrap();
    serde_json::from_slice(&asked.stdout).unwrap_or_else(|error| panic!("{error}: {asked:?}"))
}

fn end(url: &str, run: &str) -> serde_json::Value {
    let path = format!("{url}/api/v1/runs/{run}/end?wait_ms=60000");
    let asked = Command::new("curl").args(["-s", &path]).output().unwrap();
    serde_json::from_slice(&asked.stdout).unwrap_or_else(|error| panic!("{error}: {asked:?}"))
}

#[test]
fn the_target_of_the_guide_does_its_task() {
    let project = project();
    let (server, url) = serve(&project, "");
    // Taken once, so that the system knows a port that is free.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let add = block("sh").lines().find(|line| line.contains("worker add")).unwrap();
    let (_, line) = add.split_once("$(edgewise ").unwrap();
    let (line, _) = line.split_once(" | jq").unwrap();
    let made = project.run(&line.replace("9000", &port));
    assert_eq!(made.code, 0, "{made:?}");
    let made: serde_json::Value = serde_json::from_str(&made.out).unwrap();
    std::fs::write(project.path().join("target.py"), block("python").replace("9000", &port)).unwrap();
    let mut target = Command::new("python3");
    target.arg("target.py").current_dir(project.path()).env("SECRET", made["secret"].as_str().unwrap());
    let mut target = target.stderr(Stdio::null()).spawn().unwrap();
    let run = post(&format!("{url}/api/v1/runs"), FLOW)["run"].as_str().unwrap().to_owned();
    let ended = end(&url, &run);
    target.kill().unwrap();
    target.wait().unwrap();
    assert_eq!(ended["state"], "Complete", "{ended}");
    assert_eq!(ended["output"]["hello"]["said"], "hello, world");
    assert_eq!(stop(server).code, 0);
}

/// The lease that comes with the next call, and its connection.
fn call(target: &TcpListener) -> (serde_json::Value, TcpStream) {
    let (stream, _) = target.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if let Some(found) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = found.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (serde_json::from_slice(&body).unwrap(), reader.into_inner())
}

fn kill(server: Process) {
    server.signal("KILL");
    server.end();
}

#[test]
fn a_server_that_is_killed_while_a_call_is_open_loses_nothing() {
    let project = project();
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let (server, url) = serve(&project, "");
    let add = format!("worker add greeter http://{} --action greet --lease 5m", target.local_addr().unwrap());
    assert_eq!(project.run(&add).code, 0);
    let run = post(&format!("{url}/api/v1/runs"), FLOW)["run"].as_str().unwrap().to_owned();
    let (lease, mut open) = call(&target);
    kill(server);
    assert_eq!(open.read(&mut [0; 1]).unwrap_or(0), 0, "the call ends with its server");
    let (server, url) = serve(&project, "");
    let report = serde_json::json!({ "results": [{ "lease": lease["lease"], "output": { "said": "hello" } }] });
    let told = post(&format!("{url}/api/v1/work/complete"), &report.to_string());
    assert_eq!(told["results"][0]["status"], 200, "{told}");
    let ended = end(&url, &run);
    assert_eq!((&ended["state"], &ended["output"]["hello"]["said"]), (&"Complete".into(), &"hello".into()));
    // And it is called again for the next one.
    let next = post(&format!("{url}/api/v1/runs"), FLOW)["run"].as_str().unwrap().to_owned();
    let (lease, mut open) = call(&target);
    assert_eq!(lease["run"], next.as_str());
    open.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}").unwrap();
    assert_eq!(end(&url, &next)["state"], "Complete");
    assert_eq!(stop(server).code, 0);
}

#[test]
fn push_workers_are_made_shown_changed_and_taken_away_at_the_command_line() {
    let project = project();
    project.run("add Tell -q");
    let add =
        "worker add mailer https://example.org/tasks --action mail --queue slow --slots 3 --lease 1m --timeout 2m";
    let made = project.run(add);
    assert!(made.code == 0 && made.out.starts_with("mailer  whsec_"), "{made:?}");
    let again = project.run(add);
    assert!(again.code != 0 && again.err.contains("remove it first"), "{again:?}");
    let shown = project.run("worker show mailer --json").out;
    assert!(!shown.contains("whsec_"), "{shown}");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["slots"], &shown["lease_ms"]), (&3.into(), &60_000.into()));
    assert_eq!((&shown["timeout_ms"], &shown["queues"][0]), (&120_000.into(), &"slow".into()));
    project.run("worker pause mailer").says(0, "mailer is given nothing for now");
    let listed = project.run("worker list").out;
    assert!(listed.contains("paused") && !listed.contains("whsec_"), "{listed}");
    project.run("worker resume mailer").says(0, "mailer is given tasks again");
    let rotated = project.run("worker rotate mailer").out;
    assert!(rotated.starts_with("mailer  whsec_") && rotated != made.out, "{rotated}");
    project.run("worker remove mailer").says(0, "mailer is not called any more");
    let gone = project.run("worker show mailer");
    assert!(gone.code != 0 && gone.err.contains("edgewise worker list"), "{gone:?}");
    let bad = project.run("worker add x ftp://example.org --action mail");
    assert!(bad.code != 0 && bad.err.contains("https://host/path"), "{bad:?}");
}
