//! What is told of the work graph: every note of its history, once, whoever derived it.

use crate::publishing::{examined, heard};
use crate::stage::*;
use edgewise_core::time::Time;
use edgewise_core::work::Op;
use edgewise_engine::command::Command;
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::publish::Ear;
use edgewise_engine::work::Ops;
use edgewise_engine::{Engine, Home};
use edgewise_store::Domain;
use edgewise_store::faulty::{Fault, Faults, FaultyLedger, Op as At};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const NOW: Time = Time(1_700_000_000_000);

fn ops(list: Value) -> Ops {
    let ops: Vec<Op> = serde_json::from_value(list).unwrap();
    Ops { ops, by: name("ada"), key: None }
}

/// Commands that do most of what can be done to items and gates.
fn days_work() -> Vec<Value> {
    let add = |id: &str| json!({ "op": "add", "title": "something", "id": id });
    let needs = |id: &str, on: &str| json!({ "op": "depend", "id": id, "on": on, "type": "blocks" });
    let gate =
        json!({ "op": "make_gate", "id": "ew-g", "gateType": "external", "externalSystem": "ci", "externalId": "7" });
    vec![
        json!([add("ew-p"), add("ew-a"), add("ew-b"), needs("ew-b", "ew-a")]),
        json!([add("ew-c"), { "op": "move", "id": "ew-c", "parent": "ew-p" }, needs("ew-c", "ew-a"), needs("ew-c", "ew-b")]),
        json!([gate, { "op": "depend", "id": "ew-p", "on": "ew-g", "type": "awaits" }]),
        json!([{ "op": "claim", "id": "ew-a", "lease": 60_000 }]),
        json!([{ "op": "close", "id": "ew-a" }]),
        json!([{ "op": "satisfy", "id": "ew-g" }, { "op": "update", "id": "ew-b", "change": { "priority": 1 } }]),
        json!([{ "op": "delete", "id": "ew-b" }]),
        json!([{ "op": "close", "id": "ew-c" }]),
        json!([{ "op": "reopen", "id": "ew-a" }]),
    ]
}

async fn work(engine: &Engine, list: Value) {
    let Ops { ops, by, .. } = ops(list);
    within("the work graph", engine.work(ops, by, None)).await.unwrap();
}

/// What is in the queue. Until when somebody has an item is another instant each time.
fn queue(place: &Place) -> Vec<(String, String)> {
    place.queue("work").into_iter().filter(|(name, _)| name != "edgewise.item.claimed").collect()
}

fn bodies(place: &Place) -> Vec<Value> {
    let queued = place.ledger.clone().queued(&space(), &name("work"), 0, usize::MAX).unwrap();
    queued.iter().map(|queued| serde_json::from_str(&queued.event.body).unwrap()).collect()
}

#[tokio::test]
async fn what_is_done_to_items_and_what_follows_from_it_is_told_in_the_queue_of_the_work_graph() {
    let place = Place::default();
    let engine = place.engine();
    let mut listener = engine.listeners().listen();
    for list in &days_work()[..3] {
        work(&engine, list.clone()).await;
    }
    work(&engine, json!([{ "op": "close", "id": "ew-a" }])).await;
    let fast = heard(&mut listener, "edgewise.item.closed").await;
    engine.stop().unwrap();
    let told: Vec<String> = bodies(&place)
        .iter()
        .map(|body| format!("{} {}", body["type"].as_str().unwrap(), body["subject"].as_str().unwrap()))
        .collect();
    let told: Vec<&str> = told.iter().map(|text| text.strip_prefix("edgewise.").unwrap()).collect();
    let expected = [
        "item.created ew-p",
        "item.created ew-a",
        "item.created ew-b",
        "item.dependency_added ew-b",
        "item.auto_blocked ew-b",
        "item.created ew-c",
        "item.moved ew-c",
        "item.dependency_added ew-c",
        "item.dependency_added ew-c",
        "item.auto_blocked ew-c",
        "item.dependency_added ew-c",
        "gate.created ew-g",
        "item.dependency_added ew-p",
        "item.auto_blocked ew-p",
        "item.closed ew-a",
        "item.auto_unblocked ew-b",
    ];
    assert_eq!(told, expected);
    assert_eq!(fast, place.names("work")[..fast.len()], "whoever listens hears the same, at once");
    let last = bodies(&place).pop().unwrap();
    let data = json!({
        "what": "auto_unblocked", "status": "open", "item": "ew-b", "seq": 11,
        "cause": { "event": "ItemClosed", "id": "ew-a" },
    });
    assert_eq!((&last["source"], &last["data"]), (&json!("/local/default/work"), &data), "{last}");
    let blocked = bodies(&place).into_iter().find(|body| body["type"] == "edgewise.item.auto_blocked").unwrap();
    assert_eq!(blocked["data"]["previous"], "open");
}

#[tokio::test]
async fn what_was_done_to_items_and_not_published_is_published_once_by_the_next_engine() {
    // One engine tells of its own commits.
    let told = Place::default();
    let engine = told.engine();
    for list in days_work() {
        work(&engine, list).await;
    }
    engine.stop().unwrap();
    // Here one is killed before it told of anything.
    let place = Place::default();
    drop(place.publisher());
    let engine = place.silent_engine();
    for list in days_work() {
        work(&engine, list).await;
    }
    engine.stop().unwrap();
    assert_eq!(place.names("work"), [""; 0]);
    // Killed after it derived everything and wrote nothing; then after it wrote; then nothing is left to do.
    for round in 0..3 {
        let mut publisher = place.publisher();
        publisher.look().unwrap();
        if round > 0 {
            publisher.write().unwrap();
        }
    }
    assert_eq!(queue(&place), queue(&told), "by the notes of the engine or by folding again: the same events");
    let queue = place.queue("work");
    assert_eq!(queue.iter().collect::<BTreeSet<_>>().len(), queue.len());
    assert_eq!(queue.iter().filter(|(name, _)| name == "edgewise.item.dependency_removed").count(), 2, "{queue:?}");
    place.engine().stop().unwrap();
    assert_eq!(place.queue("work"), queue);
    assert_eq!((examined(&place), examined(&told)), (vec![], vec![]));
}

#[tokio::test]
async fn an_engine_that_loaded_the_graph_from_rows_tells_the_same_as_one_that_folded_it() {
    let place = Place::default();
    for list in days_work() {
        let engine = place.engine();
        work(&engine, list).await;
        engine.stop().unwrap();
    }
    let folded = Place::default();
    drop(folded.publisher());
    let engine = folded.silent_engine();
    for list in days_work() {
        work(&engine, list).await;
    }
    engine.stop().unwrap();
    folded.engine().stop().unwrap();
    assert_eq!(queue(&place), queue(&folded));
}

#[tokio::test]
async fn a_command_that_is_refused_halfway_tells_nothing_and_where_nobody_listens_nobody_is_told() {
    let place = Place::default();
    let engine = place.engine();
    work(&engine, json!([{ "op": "add", "title": "a", "id": "ew-a" }])).await;
    let refused = ops(json!([{ "op": "close", "id": "ew-a" }, { "op": "add", "title": "a", "id": "ew-a" }]));
    assert!(within("a refusal", engine.work(refused.ops, refused.by, None)).await.is_err());
    engine.stop().unwrap();
    assert_eq!(place.names("work"), ["edgewise.item.created"]);
    assert_eq!(engine.listeners().counts(), (0, 0, 1));
}

fn committer(place: &Place, seed: u8) -> Committer<()> {
    committer_with(place, seed, Faults::none())
}

fn committer_with(place: &Place, seed: u8, faults: Faults) -> Committer<()> {
    let (ledger, rows) = (FaultyLedger::new(place.ledger.clone(), faults), Box::new(place.rows.clone()));
    let entropy = Entropy::from_seed([seed; 32]);
    let mut engine = Committer::new(Box::new(ledger), rows, Home::local(), "e".into(), entropy);
    engine.recover(NOW).unwrap();
    engine
}

fn ask(engine: &mut Committer<()>, list: Value) {
    let step = engine.step(NOW, vec![Request { command: Command::Work(ops(list)), reply: () }]).unwrap();
    step.answers.into_iter().next().unwrap().1.unwrap();
}

#[test]
fn what_another_engine_did_to_items_is_told_in_its_place() {
    let place = Place::default();
    let (mut one, mut other) = (committer(&place, 1), committer(&place, 2));
    let mut publisher = place.publisher();
    let ear = Ear::of(&mut one, 10);
    for (n, list) in days_work().into_iter().enumerate() {
        ask(if n % 3 == 1 { &mut other } else { &mut one }, list);
        one.sweep(NOW);
        publisher.take(&ear).unwrap();
        publisher.write().unwrap();
    }
    let alone = Place::default();
    drop(alone.publisher());
    let mut one = committer(&alone, 1);
    days_work().into_iter().for_each(|list| ask(&mut one, list));
    let mut publisher = alone.publisher();
    publisher.look().unwrap();
    publisher.write().unwrap();
    assert_eq!(place.queue("work"), alone.queue("work"));
    assert_eq!(examined(&place), [""; 0]);
}

#[test]
fn what_was_staged_and_did_not_land_is_told_to_nobody() {
    let place = Place::default();
    let mut engine = committer_with(&place, 1, Faults::none().fail_nth_of(At::Append, 2, Fault::Refused));
    let mut publisher = place.publisher();
    let ear = Ear::of(&mut engine, 10);
    ask(&mut engine, json!([{ "op": "add", "title": "a", "id": "ew-a" }]));
    let close = ops(json!([{ "op": "close", "id": "ew-a" }]));
    let step = engine.step(NOW, vec![Request { command: Command::Work(close), reply: () }]).unwrap();
    assert!(step.answers[0].1.is_err(), "the disk is full");
    // A commit that has nothing to do with items.
    let start = Command::Start(flow("flow: f\ntasks: { a: { emit: one } }"));
    engine.step(NOW, vec![Request { command: start, reply: () }]).unwrap();
    publisher.take(&ear).unwrap();
    publisher.write().unwrap();
    assert_eq!(
        (place.names("work"), place.names("f")),
        (vec!["edgewise.item.created".to_owned()], vec!["one".to_owned()])
    );
}
