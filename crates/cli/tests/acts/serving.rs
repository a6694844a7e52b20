//! The server as a process: what the guide says about it is done here, line by line.

use crate::process::{Ended, Process, Project};
use edgewise_core::control::SettingChanged;
use edgewise_core::name::Name;
use edgewise_engine::Home;
use edgewise_engine::folder::{Ask, Door, Folder, Options};
use serde_json::json;
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

/// What the block under a heading of the guide prints, at a server of its own.
fn said(heading: &str) -> String {
    let project = Project::new();
    let (server, url) = serve(&project, "");
    let script = block(heading).replace("http://127.0.0.1:7420", &url);
    let done = Command::new("sh").args(["-e", "-c", &script]).stderr(Stdio::inherit()).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(stop(server).code, 0);
    String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
}

#[test]
fn the_items_and_gates_of_the_guide_do_what_it_says() {
    for heading in
        ["## Items, and nobody overwrites anybody", "## Gates that the world opens", "## Flows that the world begins"]
    {
        let expected = block(heading).lines().rev().find_map(|line| line.strip_prefix("# ")).unwrap();
        let said = said(heading);
        assert!(said.ends_with(expected), "{heading}: {said}");
    }
}

#[test]
fn an_address_that_the_command_line_prints_opens_the_gate_at_the_server() {
    let project = Project::new();
    project.run("add Tell -q");
    let gate = project.run("gate create --webhook --for @ -q").out;
    let gate = gate.lines().next().unwrap_or_default().trim();
    let (server, url) = serve(&project, "");
    let address = project.run(&format!("gate url {gate} --server {url}"));
    assert_eq!(address.code, 0, "{address:?}");
    let called = Command::new("curl").args(["-s", "-X", "POST", address.out.trim(), "-d", "built"]).output().unwrap();
    let said = String::from_utf8_lossy(&called.stdout).into_owned();
    assert!(said.contains("\"already\":false"), "{said} of {address:?}");
    assert_eq!(stop(server).code, 0);
    let shown = project.run(&format!("gate show {gate}"));
    assert!(shown.out.contains("open by webhook") && shown.out.contains("built"), "{shown:?}");
}

/// What is said to a call of an address.
fn called(address: &Ended, id: &str, body: &str) -> String {
    assert_eq!(address.code, 0, "{address:?}");
    let id = format!("webhook-id: {id}");
    let words = ["-s", "-X", "POST", address.out.trim(), "-H", &id, "-d", body];
    String::from_utf8_lossy(&Command::new("curl").args(words).output().unwrap().stdout).into_owned()
}

#[test]
fn a_flow_is_begun_and_the_gate_of_its_run_is_opened_by_addresses_that_the_command_line_prints() {
    let project = Project::new();
    let flow = "flow: signed\ninputs: { document: { type: string } }\non: { webhook: {} }\ntasks:\n  \
                build: { when: 'false', run: make }\n  \
                signature: { after: { build: skipped }, gate: { webhook: {}, deadline: 3d, evidence: [build] } }\n\
                output: '${{ tasks.signature.output }}'\n";
    std::fs::write(project.path().join("signed.yaml"), flow).unwrap();
    let registered = project.run("register signed.yaml");
    assert!(registered.err.contains("edgewise flows url signed"), "{registered:?}");
    let shown = project.run("flows show signed");
    assert!(shown.out.contains("a call of its address") && shown.out.contains("document: string"), "{shown:?}");
    let (server, url) = serve(&project, "");
    let address = project.run(&format!("flows url signed --server {url}"));
    assert!(called(&address, "1", r#"{"document":"a"}"#).contains("\"new\":true"));
    assert!(called(&address, "1", r#"{"document":"a"}"#).contains("\"new\":false"));
    let listed = project.run("gate list");
    assert!(listed.out.contains("a call of its address"), "{listed:?}");
    let shown = project.run("gate show @ signature");
    for words in ["its address is called", "\"document\":\"a\"", "build skipped", "edgewise gate url"] {
        assert!(shown.out.contains(words), "{words}: {shown:?}");
    }
    let why = project.run("why @");
    assert!(why.out.contains("opens when its address is called") && why.out.contains("gate url"), "{why:?}");
    let address = project.run(&format!("gate url @ signature --server {url}"));
    assert!(called(&address, "2", r#"{"by":"legal"}"#).contains("\"already\":false"));
    assert!(called(&address, "2", r#"{"by":"legal"}"#).contains("\"already\":true"));
    assert_eq!(stop(server).code, 0);
    let ended = project.run("gate show @ signature");
    assert!(ended.out.contains("\"by\":\"legal\"") && ended.out.contains("by webhook"), "{ended:?}");
    assert_eq!(project.run("flows url none").code, 3);
    project.flow("byhand", "  hook: { gate: { webhook: {} } }\n");
    assert_eq!(project.run("run byhand.yaml --wait --timeout 100ms").code, 124);
    let opened = project.run("gate satisfy @ hook --with {\"n\":7} --comment green");
    assert!(opened.code == 0 && opened.out.contains("opened `hook`"), "{opened:?}");
    let shown = project.run("gate show @/hook");
    assert!(shown.out.contains("{\"n\":7}") && shown.out.contains("green"), "{shown:?}");
    let by_hand = project.run("gate satisfy @ build");
    assert!(by_hand.code != 0 && by_hand.err.contains("has no task `build`"), "{by_hand:?}");
}

#[test]
fn the_tokens_of_the_guide_are_made_listed_and_taken_away() {
    let project = Project::new();
    let open = project.run("serve --addr 0.0.0.0:0");
    assert!(open.code != 0 && open.err.contains("--tls-cert"), "{open:?}");
    let refused = project.run("serve --addr 0.0.0.0:0 --insecure-http");
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

/// Sets what only a program can: a setting of the workspace.
fn set(project: &Project, key: &str, value: serde_json::Value) {
    let name = |text: &str| Name::parse(text).unwrap();
    let change = SettingChanged { key: name(key), value: Some(value), by: name("ada"), why: None };
    let options = Options { home: Home::local(), work: None, background: false, queues: Default::default() };
    let set = async {
        let mut door = Door::open(Folder::at(project.path().join(".edgewise")), options).await.unwrap();
        door.ask(Ask::ChangeSetting(change)).await.unwrap();
        door.close().await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(set);
}

#[test]
fn a_token_that_cannot_be_read_is_listed_and_can_be_taken_away() {
    let project = Project::new();
    set(&project, "token/ann", json!({ "hash": "x", "role": "emperor" }));
    set(&project, "token/bob", json!(7));
    let listed = project.run("token list").out;
    assert_eq!(listed.matches("unreadable").count(), 2, "{listed}");
    let facts = project.run("token list --json").out;
    assert!(facts.contains(r#""role":"unreadable""#), "{facts}");
    let taken = project.run("token create ann --role viewer");
    assert!(taken.code == 4 && taken.err.contains("ann has a token already"), "{taken:?}");
    for name in ["ann", "bob"] {
        assert_eq!(project.run(&format!("token revoke {name}")).code, 0, "{name}");
    }
    assert_eq!(project.run("token list -q").out, "");
    assert_eq!(project.run("token create ann --role viewer").code, 0);
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

#[test]
fn a_certificate_that_cannot_be_used_is_said_so_before_anything_is_served() {
    let project = Project::new();
    for (words, said) in
        [("serve --tls-cert none.pem --tls-key none.pem", "none.pem"), ("serve --tls-cert none.pem", "--tls-key")]
    {
        let refused = project.run(words);
        assert!(refused.code != 0 && refused.err.contains(said), "{words}: {refused:?}");
    }
}

#[test]
fn the_workspaces_of_the_guide_are_made_and_served_and_know_only_their_own_tokens() {
    let project = Project::new();
    let mut tokens = Vec::new();
    for line in block("## Many workspaces").lines().filter(|line| line.contains("token create")) {
        let done = project.run(&line.strip_prefix("edgewise ").unwrap().replace("/srv/edgewise", "all"));
        assert_eq!(done.code, 0, "{line}: {done:?}");
        tokens.push(done.out.trim().to_owned());
    }
    let outside = project.run("token create eve --role admin --workspaces all --workspace ../x");
    assert!(outside.code != 0 && outside.err.contains("no workspace"), "{outside:?}");
    let (server, url) = serve(&project, "--workspaces all");
    for (token, place, status) in
        [(0, "acme/web", "200"), (1, "umbrella/web", "200"), (0, "umbrella/web", "401"), (1, "acme/none", "401")]
    {
        let bearer = format!("Authorization: Bearer {}", tokens[token]);
        let path = format!("{url}/t/{place}/api/v1/runs");
        let words = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", &bearer, &path];
        let asked = Command::new("curl").args(words).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&asked.stdout), status, "{place}");
    }
    assert_eq!(stop(server).code, 0);
}

#[test]
fn who_did_what_at_a_server_is_told_afterwards() {
    let project = Project::new();
    let (server, url) = serve(&project, "");
    let body = "{\"source\":\"flow: f\\ntasks: { a: { action: x } }\"}";
    let mut post = Command::new("curl");
    post.args(["-s", "-H", "Edgewise-As: ann", "-H", "Content-Type: application/json", "-d", body]);
    assert!(post.arg(format!("{url}/api/v1/runs")).output().unwrap().status.success());
    assert_eq!(stop(server).code, 0);
    let told = project.run("audit --since 1h --json").out;
    assert!(told.contains("\"who\":\"ann\"") && told.contains("\"route\":\"start_run\""), "{told}");
    assert!(project.run("audit").out.contains("start_run"));
}

/// What a server says to a request of curl.
fn asked(words: &[&str]) -> String {
    let done = Command::new("curl").arg("-s").args(words).output().unwrap();
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn a_server_listens_at_a_name_of_this_machine_and_asks_for_tokens_there_if_it_is_told_to() {
    let project = Project::new();
    let refused = project.run("serve --addr 127.0.0.1:0 --require-tokens");
    assert!(refused.code != 0 && refused.err.contains("edgewise token create"), "{refused:?}");
    let token = project.run("token create ann --role admin -q").out;
    let bearer = format!("Authorization: Bearer {}", token.trim());
    for (words, free) in [("serve --addr localhost:0", true), ("serve --addr localhost:0 --require-tokens", false)] {
        let mut server = project.spawn(words);
        let line = server.line();
        let url = line.trim().strip_prefix("listening at ").unwrap_or_else(|| panic!("{line}")).to_owned();
        let runs = format!("{url}/api/v1/runs");
        let said = asked(&[&runs]);
        assert_eq!(said.contains("\"runs\""), free, "{words}: {said}");
        assert_eq!(said.contains("no_token"), !free, "{words}: {said}");
        assert!(asked(&[&runs, "-H", &bearer]).contains("\"runs\""));
        assert!(asked(&[&runs, "-H", "X-Forwarded-For: 203.0.113.7"]).contains("--require-tokens") == free);
        assert_eq!(stop(server).code, 0);
    }
}

/// The answer may have been lost on its way: whoever asks again under the same key starts nothing twice.
#[test]
fn a_server_that_was_killed_after_a_start_starts_nothing_twice_under_the_same_key() {
    let project = Project::new();
    let flow = r#"{"source":"flow: f\ntasks:\n  a: { action: greet }\n"}"#;
    let mut runs = Vec::new();
    for _ in 0..2 {
        let (server, url) = serve(&project, "");
        let said = asked(&[
            &format!("{url}/api/v1/runs"),
            "-H",
            "Idempotency-Key: k1",
            "-H",
            "Content-Type: application/json",
            "-d",
            flow,
        ]);
        let said: serde_json::Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
        runs.push(said);
        server.signal("KILL");
        server.end();
    }
    assert_eq!((&runs[0]["new"], &runs[1]["new"]), (&true.into(), &false.into()), "{runs:?}");
    assert_eq!(runs[0]["run"], runs[1]["run"]);
    assert_eq!(project.run("runs -q").out.lines().count(), 1);
}
