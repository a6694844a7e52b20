//! What agents use: the primer, and a session by the Model Context Protocol.

use crate::place::Place;
use serde_json::{Value, json};

/// Sends messages and gives the answers.
fn session(place: &Place, messages: &[Value]) -> Vec<Value> {
    let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let said = place.fed(&["mcp", "--as", "robin"], &text).good();
    said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn call(id: u32, name: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}

/// What a tool answered, as JSON.
fn told(answer: &Value) -> Value {
    serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn an_agent_finds_takes_and_closes_work() {
    let place = Place::with(&["ew-a", "ew-b"]);
    let answers = session(
        &place,
        &[
            json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}),
            json!({"jsonrpc":"2.0","method":"notifications/initialized"}),
            json!({"jsonrpc":"2.0","id":2,"method":"tools/list"}),
            call(3, "dep", &json!({"id": "ew-b", "on": "ew-a"})),
            call(4, "ready", &json!({})),
            call(5, "why", &json!({"id": "ew-b"})),
            call(6, "ready", &json!({"claim": true})),
            call(7, "add", &json!({"title": "Found this", "type": "bug", "needs": ["ew-b"]})),
            call(8, "update", &json!({"id": "ew-b", "priority": 1, "assignee": "robin"})),
            call(9, "close", &json!({"id": "ew-a", "reason": "done", "claimNext": true})),
            call(10, "claim", &json!({"id": "ew-b", "release": true})),
            call(11, "show", &json!({"id": "ew-b"})),
            call(12, "add", &json!({"title": "Behind it", "needs": ["ew-bb"]})),
        ],
    );
    assert_eq!(answers.len(), 12, "a notification has no answer");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-03-26");
    assert_eq!(answers[1]["result"]["tools"].as_array().unwrap().len(), 8);
    assert_eq!(told(&answers[2])["says"], "ew-b now waits for ew-a (blocks); ew-b is blocked now");
    assert_eq!(told(&answers[3])["ready"][0]["id"], "ew-a");
    assert_eq!(told(&answers[4])["because"][0]["id"], "ew-a");
    let taken = told(&answers[5]);
    assert_eq!((&taken["id"], &taken["item"]["title"], taken.get("token")), (&json!("ew-a"), &json!("a"), None));
    assert_eq!(told(&answers[6])["op"], "add");
    let closed = told(&answers[8]);
    assert_eq!((&closed["closed"]["unblocked"][0], &closed["next"]["id"]), (&json!("ew-b"), &json!("ew-b")));
    assert_eq!(told(&answers[10])["priority"], 1);
    assert!(told(&answers[11])["warnings"][0].as_str().unwrap().contains("did you mean ew-b"), "{}", answers[11]);
}

#[test]
fn an_agent_asks_why_of_items_runs_and_tasks() {
    let place = Place::with(&["ew-a"]);
    place.write(
        "ask.yaml",
        "flow: ask\ntasks:\n  ok: { gate: { approval: { from: [lead] } } }\n  go: { after: ok, run: 'true' }\n",
    );
    let run = place.run("run ask.yaml -q --detach").out.trim().to_owned();
    place.good(&format!("dep add ew-a {run} --type awaits"));
    let (task, gone) = (format!("{run}/go"), format!("{run}/nope"));
    let ask = |(n, id): (usize, &str)| call(n as u32, "why", &json!({ "id": id }));
    let answers = session(&place, &["ew-a", &run, &task, &gone].into_iter().enumerate().map(ask).collect::<Vec<_>>());
    assert_eq!(told(&answers[0])["id"], "ew-a");
    for answer in &answers[..3] {
        let said = told(answer).to_string();
        assert!(said.contains("gate approve") && said.contains("--as lead"), "{said}");
    }
    assert_eq!(told(&answers[2])["task"], "go");
    assert_eq!(
        (&answers[3]["result"]["isError"], &told(&answers[3])["code"]),
        (&json!(true), &json!("task_not_found"))
    );
}

#[test]
fn a_refusal_is_an_answer_and_the_session_goes_on() {
    let place = Place::with(&["ew-a"]);
    let answers = session(
        &place,
        &[
            call(1, "close", &json!({"id": "ew-nope"})),
            call(2, "add", &json!({"titel": "x"})),
            call(3, "fly", &json!({})),
            json!({"jsonrpc":"2.0","id":4,"method":"resources/list"}),
            json!({"jsonrpc":"2.0","id":5}),
            call(6, "dep", &json!({"id": "ew-a", "on": "ew-a"})),
            json!({"jsonrpc":"2.0","id":7,"method":"ping"}),
            call(8, "dep", &json!({"id": "ew-a", "on": "ew-b", "type": "blox"})),
        ],
    );
    let codes = [(0, "item_not_found"), (1, "bad_arguments"), (5, "cycle_detected"), (7, "unknown_dependency_type")];
    for (n, code) in codes {
        assert_eq!((&answers[n]["result"]["isError"], &told(&answers[n])["code"]), (&json!(true), &json!(code)), "{n}");
    }
    for (n, code) in [(2, -32602), (3, -32601), (4, -32600)] {
        assert_eq!(answers[n]["error"]["code"], code, "{n}: {}", answers[n]);
    }
    assert_eq!(answers[6]["result"], json!({}));
    let broken = place.fed(&["mcp"], "{oops\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").good();
    assert!(broken.out.contains("-32700") && broken.out.lines().count() == 2, "{broken:?}");
}

#[test]
fn the_primer_says_who_you_are_and_how_it_stands() {
    let place = Place::with(&["ew-a", "ew-b"]);
    place.good("dep add ew-b ew-a");
    let primer = place.good("prime --as robin");
    assert!(primer.ends_with("You are robin. Now: 1 ready, 1 blocked, 0 claimed."), "{primer}");
    // Every command it names is one.
    for line in primer.split('`').skip(1).step_by(2).filter(|part| part.starts_with("edgewise ")) {
        let word = line.split_whitespace().nth(1).unwrap();
        assert_eq!(place.run(&format!("{word} --help")).code, 0, "{line}");
    }
}

#[test]
fn an_agent_says_the_last_item_in_short_and_what_else_there_is_to_a_link() {
    let place = Place::with(&["ew-a", "ew-b"]);
    let gate = place.ids("gate create --webhook")[0].clone();
    let answers = session(
        &place,
        &[
            call(1, "update", &json!({"id": "ew-a", "priority": 2})),
            call(2, "add", &json!({"title": "After it", "parent": "ew-b", "needs": ["@", gate]})),
            call(
                3,
                "dep",
                &json!({"id": "@", "on": "ew-b", "type": "validates", "metadata": {"testType": "unit", "result": "pass"}}),
            ),
            call(4, "dep", &json!({"id": "ew-a", "on": gate})),
            call(5, "dep", &json!({"id": "ew-b", "on": "@"})),
        ],
    );
    let id = told(&answers[1])["id"].as_str().unwrap().to_owned();
    assert_eq!(told(&answers[2])["type"], "validates");
    assert_eq!(told(&answers[3])["type"], "awaits");
    assert_eq!(told(&answers[4])["target"], "ew-a");
    let bonds = place.json(&format!("dep list {id} --direction down"));
    let mut bonds: Vec<String> = bonds
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["type"].as_str().unwrap(), one["targetId"].as_str().unwrap()))
        .collect();
    bonds.sort();
    let mut expected =
        [format!("awaits {gate}"), "blocks ew-a".into(), "parent-child ew-b".into(), "validates ew-b".into()];
    expected.sort();
    assert_eq!(bonds, expected);
}
