//! Sixteen agents, each a process with a session of its own, want the same thousand items in the same order: each item
//! is exactly one agent's.

use crate::place::{HANG, Place, code_of, code_while, lines, output_of, times, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::Instant;

const AGENTS: usize = 16;
const ITEMS: usize = 1_000;

#[test]
fn of_sixteen_processes_that_want_the_same_item_exactly_one_gets_it_a_thousand_times() {
    (0..times()).for_each(|_| want_the_same());
}

fn want_the_same() {
    let place = Place::new();
    let mut batch = place.edgewise(&["batch", "-q"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let ops: String =
        (0..ITEMS).map(|n| format!("{}\n", json!({ "op": "add", "id": id(n), "title": "race" }))).collect();
    batch.stdin.take().unwrap().write_all(ops.as_bytes()).unwrap();
    assert_eq!(code_of(batch), 0);
    let calls: String = (0..ITEMS).map(|n| format!("{}\n", claim(n))).collect();
    std::fs::write(place.path().join("calls"), calls).unwrap();
    let mut engine = place.edgewise(&["engine"]).stderr(Stdio::piped()).spawn().unwrap();
    until(&lines(engine.stderr.take().unwrap()), "the engine of");
    let agents: Vec<Child> = (0..AGENTS).map(|agent| session(&place, agent)).collect();
    let mut won: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (agent, child) in agents.into_iter().enumerate() {
        // Sixteen at once beside other scenarios take their time; each ends with its last line.
        let answers = || std::fs::read_to_string(place.path().join(name(agent))).unwrap();
        let mut seen = 0;
        let gets_on = || {
            let now = answers().lines().count();
            eprintln!("agent {agent} has {now} answers");
            std::mem::replace(&mut seen, now) < now
        };
        assert_eq!(code_while(child, gets_on), 0, "agent {agent}");
        let answers = answers();
        assert_eq!(answers.lines().count(), ITEMS, "agent {agent} was answered");
        for answer in answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            if answer["result"]["isError"] != true {
                won.entry(answer["id"].as_u64().unwrap()).or_default().push(agent);
            }
        }
    }
    engine.kill().and_then(|()| engine.wait()).unwrap();
    assert_eq!(won.len(), ITEMS, "every item is somebody's");
    assert!(won.values().all(|agents| agents.len() == 1), "{won:?}");
    place.is_sound();
}

#[test]
fn what_a_killed_agent_had_is_free_when_its_claim_runs_out_and_not_before() {
    (0..times()).for_each(|_| claim_and_be_killed());
}

fn claim_and_be_killed() {
    let place = Place::new();
    assert_eq!(place.said(&["add", "Mend it", "--id", &id(0), "-q"]).1, 0);
    let mut agent =
        place.edgewise(&["mcp", "--as", "gone"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut call = claim(0);
    call["params"]["arguments"]["lease"] = "3s".into();
    writeln!(agent.stdin.as_mut().unwrap(), "{call}").unwrap();
    let answer = lines(agent.stdout.take().unwrap()).recv_timeout(HANG).expect("the agent is answered");
    // With -9: it gives nothing back.
    agent.kill().and_then(|()| agent.wait()).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let taken: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    // Somebody else asks again and again: what they are told is the clock.
    let began = Instant::now();
    loop {
        let mut asked = place.edgewise(&["claim", &id(0), "--as", "next", "--json"]);
        let (_, told, code) = output_of(asked.stderr(Stdio::piped()));
        if code == 0 {
            break;
        }
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["error"]["code"], "item_claimed", "{told}");
        assert!(began.elapsed() < HANG, "the claim has not run out: {taken}");
    }
    let (history, _) = place.said(&["history", &id(0), "--json"]);
    let history: Value = serde_json::from_str(&history).unwrap();
    let released = history.as_array().unwrap().iter().find(|note| note["what"] == "released").unwrap();
    assert!(released["at"].as_str() >= taken["until"].as_str(), "{released} before {taken}");
    assert_eq!((&released["from"], released.get("by")), (&json!("gone"), None), "nobody gave it back");
    place.is_sound();
}

fn id(n: usize) -> String {
    format!("ew-r{n}")
}

fn claim(n: usize) -> Value {
    let arguments = json!({ "id": id(n) });
    json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call", "params": { "name": "claim", "arguments": arguments } })
}

fn name(agent: usize) -> String {
    format!("agent{agent}")
}

/// Its answers go to a file, so that nobody waits for a reader.
fn session(place: &Place, agent: usize) -> Child {
    let calls = File::open(place.path().join("calls")).unwrap();
    let answers = File::create(place.path().join(name(agent))).unwrap();
    place.edgewise(&["mcp", "--as", &name(agent)]).stdin(calls).stdout(answers).spawn().unwrap()
}
