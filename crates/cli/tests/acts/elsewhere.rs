//! The same commands in a folder and at a server: the outputs are equal.

use crate::process::{Ended, Project};
use crate::serving::{serve, stop};
use std::collections::BTreeMap;

const TASKS: &str = "  build: { run: echo built }\n  ask: { after: [build], gate: { approval: { count: 1 } } }\n  ship: { after: [ask], run: echo shipped }\n";
const FAILS: &str = "  a: { run: 'exit 3', retry: 1 }\n  b: { after: [a], run: echo never }\n";

/// Command lines; what one prints is remembered under the name before its colon. `until WORD` says a line again until the
/// word is printed: domain events are published a moment after their commit.
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
    "logs {r}",
    "logs {r} ship --raw",
    "logs {r} ask",
    "logs {r} build --follow",
    "logs {r} --json",
    "graph {r}",
    "runs",
    "runs state:complete --json",
    "f: run fails.yaml --detach -q",
    "watch {f}",
    "runs flow:fails -q",
    "show {f}",
    "why {f}",
    "rerun {f} --from-failure --wait -q",
    "what-if {r} ship=fail --to-end",
    "runs nosuch:thing",
    "p: run release --key once --detach -q",
    "run release --key once --detach -q",
    "pause {p}",
    "resume {p}",
    "cancel {p} --why enough",
    "cancel {p}",
    "task skip {p} ship",
    "show {p}",
    "queues",
    "queues set nightly --slots 4 --rate 10/s --why busy",
    "queues set nightly --rate none",
    "queues set nightly --rate none",
    "queues pause nightly",
    "queues pause nightly",
    "queues",
    "queues resume nightly",
    "queues --json",
    "queues set nightly",
    "queues unset nightly",
    "queues unset nightly",
    "queues",
    "a: add first --priority 1 -q",
    "export",
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
    "import issues.json --dry-run",
    "import issues.json --json",
    "import issues.json",
    "import issues.json --form beads",
    "stats",
    "prime",
    "schedule set nightly --flow release --cron @daily",
    "schedule list",
    "schedule show nightly",
    "token create ann --role viewer --quiet",
    "until gh-7: domain read work",
    "domain list",
    "d: run tells.yaml --wait -q",
    "until two: domain read shop/eu",
    "domain read shop/eu --limit 1",
    "domain read shop/eu --json",
    "domain ack shop/eu --consumer billing 1",
    "domain ack shop/eu --consumer billing 99",
    "domain read shop/eu --consumer billing",
    "domain list",
    "domain list --json",
    "domain forget shop/eu billing",
    "domain forget shop/eu billing",
    "webhook list",
    "webhook add shop/eu file:///etc/passwd",
    "h: webhook add shop/eu http://127.0.0.1:9/ --name one -q",
    "webhook list",
    "webhook dead {h}",
    "webhook dead nosuch",
    "webhook replay {h}",
    "webhook rotate {h} -q",
    "webhook rotate nosuch",
    "webhook remove {h}",
    "webhook list --json",
    "worker list",
    "worker add mailer ftp://example.org --action mail",
    "worker add mailer http://127.0.0.1:9/ --action mail --slots 2 -q",
    "worker add mailer http://127.0.0.1:9/ --action mail -q",
    "worker list",
    "worker pause mailer",
    "worker show mailer",
    "worker show nosuch",
    "worker resume mailer",
    "worker rotate mailer -q",
    "worker remove mailer",
    "worker list",
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
    let tells = "flow: tells\nnamespace: shop/eu\ntasks:\n  a: { emit: one }\n  b: { after: a, emit: { name: two, payload: { n: 2 } } }\n";
    std::fs::write(project.path().join("tells.yaml"), tells).unwrap();
    std::fs::write(project.path().join("issues.json"), r#"[{"number":7,"title":"Crash","author":{"login":"bob"}}]"#)
        .unwrap();
    project
}

/// What a line says in a place, with what is different in every place taken out.
fn say(project: &Project, line: &str, addr: Option<&str>, known: &mut BTreeMap<String, String>) -> String {
    let (name, line) = line.split_once(": ").map_or((None, line), |(name, line)| (Some(name), line));
    let mut typed = line.to_owned();
    for (name, value) in &*known {
        typed = typed.replace(&format!("{{{name}}}"), value);
    }
    let word = name.and_then(|name| name.strip_prefix("until "));
    let begun = std::time::Instant::now();
    let mut ended = typed_at(project, &typed, addr);
    while word.is_some_and(|word| !ended.out.contains(word)) {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{line}: {ended:?}");
        ended = typed_at(project, &typed, addr);
    }
    if let Some(name) = name.filter(|_| word.is_none()) {
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

fn typed_at(project: &Project, typed: &str, addr: Option<&str>) -> Ended {
    let mut command = project.command(typed);
    if let Some(addr) = addr {
        command.env("EDGEWISE_ADDR", addr);
    }
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
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
    let same = same.collect::<String>().replace("#.#", "#");
    same.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
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

/// A command at a server, by somebody with a token.
fn with_token(project: &Project, line: &str, addr: &str, token: &str) -> Ended {
    let mut command = project.command(line);
    command.env("EDGEWISE_ADDR", addr).env("EDGEWISE_TOKEN", token);
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
}

#[test]
fn a_token_says_who_acts_and_what_they_may() {
    let (home, there) = (project(), project());
    let token = |words: &str| home.run(&format!("token create {words} -q")).out.trim().to_owned();
    let (ann, vic) = (token("ann --role operator"), token("vic --role viewer"));
    let (server, url) = serve(&home, "--work");
    let run = with_token(&there, "run release.yaml --detach -q --as mallory", &url, &ann).out.trim().to_owned();
    let shown = with_token(&there, &format!("show {run} --json"), &url, &vic);
    assert!(shown.out.contains("\"by\": \"ann\"") && !shown.out.contains("mallory"), "{shown:?}");
    for (line, token, code, words) in [
        (format!("cancel {run}"), &vic, 5, "not_permitted"),
        ("add something".to_owned(), &vic, 5, "not_permitted"),
        (format!("freeze {run}"), &ann, 5, "not_permitted"),
        ("token create eve --role admin".to_owned(), &ann, 5, "not_permitted"),
        ("runs".to_owned(), &"vic.wrong".to_owned(), 5, "bad_token"),
        (format!("cancel {run}"), &ann, 0, "changed"),
    ] {
        let done = with_token(&there, &format!("{line} --json"), &url, token);
        assert_eq!(done.code, code, "{line}: {done:?}");
        assert!(done.out.contains(words) || done.err.contains(words), "{line}: {done:?}");
    }
    assert_eq!(with_token(&there, "token list -q", &url, &ann).out, "", "only those who make tokens see them");
    assert!(!there.has(".edgewise"), "nobody here goes on with what is kept there");
    assert_eq!(stop(server).code, 0);
}

#[test]
fn an_address_that_a_server_is_asked_for_is_good_and_ends_no_other() {
    let (home, there) = (project(), project());
    let webhook = "flow: hooked\non: { webhook: {} }\ntasks:\n  sign/it: { gate: { webhook: {} } }\n";
    std::fs::write(home.path().join("hooked.yaml"), webhook).unwrap();
    let ann = home.run("token create ann --role operator -q").out.trim().to_owned();
    assert_eq!(home.run("register hooked.yaml").code, 0);
    let run = home.run("run hooked.yaml --detach -q").out.trim().to_owned();
    let gates: Vec<String> = (0..2).map(|_| home.run("gate create --webhook -q").out.trim().to_owned()).collect();
    let (server, url) = serve(&home, "");
    let before = home.run(&format!("gate url {} --server {url} -q", gates[0]));
    let mut addresses = vec![before];
    for line in
        [format!("gate url {} -q", gates[1]), format!("gate url {run} sign/it -q"), "flows url hooked -q".into()]
    {
        addresses.push(with_token(&there, &line, &url, &ann));
    }
    for address in &addresses {
        assert!(address.code == 0 && address.out.starts_with(&url), "{address:?}");
        let called =
            std::process::Command::new("curl").args(["-s", "-X", "POST", address.out.trim()]).output().unwrap();
        let said = String::from_utf8_lossy(&called.stdout).into_owned();
        assert!(said.contains("\"already\":false") || said.contains("\"new\":true"), "{said} of {address:?}");
    }
    assert_eq!(stop(server).code, 0);
}

#[test]
fn what_is_wrong_with_the_server_is_said_with_what_to_do() {
    let there = project();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let older = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4_096];
        let _ = std::io::Read::read(&mut stream, &mut head).unwrap();
        let body = r#"{"type":"x","title":"x","status":404,"detail":"nothing there","code":"no_route"}"#;
        let answer = format!("HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        std::io::Write::write_all(&mut stream, answer.as_bytes()).unwrap();
    });
    let done = with_token(&there, "runs", &url, "");
    assert_eq!(done.code, 7, "{done:?}");
    assert!(done.err.contains("older than this program"), "{done:?}");
    older.join().unwrap();
    for (addr, line, code, words) in [
        (url.as_str(), "runs", 7, "does not answer"),
        (&url, "add something", 7, "does not answer"),
        ("nonsense", "runs", 2, "EDGEWISE_ADDR"),
        (&url, "doctor", 2, "--dir"),
        (&url, "backup there", 2, "--dir"),
    ] {
        let done = with_token(&there, line, addr, "");
        assert_eq!(done.code, code, "{addr} {line}: {done:?}");
        assert!(done.err.contains(words), "{addr} {line}: {done:?}");
    }
    // Whoever names a folder means it.
    assert!(with_token(&there, "runs --dir here", &url, "").err.contains("there is no data folder"));
}
