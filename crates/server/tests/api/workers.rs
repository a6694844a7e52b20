//! Workers in any language: claim, heartbeat, complete.

use crate::stage::{FLOW, Stage};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

async fn claim(stage: &Stage, wait: u64) -> Vec<Value> {
    let body = json!({ "worker": "w1", "actions": ["greet"], "max": 10, "wait_ms": wait, "lease_ms": 60_000 });
    let answer = stage.post("/api/v1/work/claim", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["leases"].as_array().unwrap().clone()
}

async fn complete(stage: &Stage, result: Value) -> Value {
    let answer = stage.post("/api/v1/work/complete", &json!({ "results": [result] })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["results"][0].clone()
}

#[tokio::test]
async fn a_worker_takes_a_task_and_reports_it() {
    let stage = Stage::open().await;
    let run = stage.start(FLOW).await;
    let leases = claim(&stage, 10_000).await;
    let lease = leases[0]["lease"].as_str().unwrap();
    assert_eq!((&leases[0]["task"], &leases[0]["input"]), (&json!("hello"), &json!({ "name": "world" })));
    let beats = stage.post("/api/v1/work/heartbeat", &json!({ "leases": [lease] })).await.json();
    assert_eq!(beats["beats"][0]["continue"], true);
    let done = complete(&stage, json!({ "lease": lease, "output": { "said": "hello" } })).await;
    assert_eq!(done["status"], 200);
    let end = stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await.json();
    assert_eq!(end["state"], "Complete");
    // The same report again is answered as before; another one about the same attempt changes nothing.
    assert_eq!(complete(&stage, json!({ "lease": lease, "output": { "said": "hello" } })).await["status"], 200);
    let other = complete(&stage, json!({ "lease": lease, "output": { "said": "no" } })).await;
    assert_eq!((&other["status"], &other["code"]), (&json!(409), &json!("attempt_over")));
}

#[tokio::test]
async fn a_claim_waits_for_work_and_is_over_when_its_time_is() {
    let stage = Stage::open().await;
    assert!(claim(&stage, 0).await.is_empty());
    let (leases, _) = tokio::join!(claim(&stage, 30_000), stage.start(FLOW));
    assert_eq!(leases.len(), 1);
}

#[tokio::test]
async fn what_was_granted_to_somebody_who_left_comes_back_unspent() {
    let stage = Stage::open().await;
    let body = json!({ "worker": "gone", "actions": ["greet"], "wait_ms": 60_000 }).to_string();
    let head = format!(
        "POST /api/v1/work/claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(stage.address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
    drop(stream);
    stage.start(FLOW).await;
    let leases = claim(&stage, 30_000).await;
    assert_eq!(leases[0]["attempt"], 1);
}

#[tokio::test]
async fn a_permanent_failure_is_not_tried_again() {
    let stage = Stage::open().await;
    let run = stage.start(FLOW).await;
    let lease = claim(&stage, 10_000).await[0]["lease"].clone();
    let error = json!({ "type": "down", "message": "not now", "permanent": true });
    assert_eq!(complete(&stage, json!({ "lease": lease, "error": error })).await["status"], 200);
    let end = stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await.json();
    assert_eq!(end["state"], "Error");
}

#[tokio::test]
async fn a_failure_says_what_else_it_is_and_when_to_come_again() {
    let stage = Stage::open().await;
    let flow = "flow: f\ntasks:\n  a: { action: greet, retry: { max_attempts: 3, never: [broken] } }\n";
    for (error, state) in [
        (json!({ "type": "gear", "is": ["wheel", "broken"] }), json!("Error")),
        (json!({ "type": "gear", "is": ["wheel"], "retry_after_ms": u64::MAX }), Value::Null),
    ] {
        let run = stage.start(flow).await;
        let lease = claim(&stage, 10_000).await[0]["lease"].clone();
        assert_eq!(complete(&stage, json!({ "lease": lease, "error": error })).await["status"], 200);
        let end = stage.get(&format!("/api/v1/runs/{run}/end")).await.json();
        assert_eq!(end["state"], state, "{error}");
    }
}

#[tokio::test]
async fn leases_that_are_given_back_are_not_spent() {
    let stage = Stage::open().await;
    stage.start(FLOW).await;
    let lease = claim(&stage, 10_000).await[0]["lease"].clone();
    assert_eq!(stage.post("/api/v1/work/release", &json!({ "leases": [lease] })).await.status, 200);
    assert_eq!(claim(&stage, 10_000).await[0]["attempt"], 1);
}

#[tokio::test]
async fn a_secret_is_not_sent_to_a_worker_elsewhere() {
    let stage = Stage::open().await;
    let flow = "flow: f\nsecrets: [KEY]\ntasks:\n  a: { action: greet, with: { key: '${{ secrets.KEY }}' } }\n";
    let run = stage.start(flow).await;
    assert!(claim(&stage, 1_000).await.is_empty());
    let end = stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await.json();
    assert_eq!(end["state"], "Error");
    let shown = stage.get(&format!("/api/v1/runs/{run}")).await.text;
    assert!(shown.contains("secret_not_sent"), "{shown}");
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_gets_the_same_leases() {
    let stage = Stage::open().await;
    stage.start(FLOW).await;
    let body = json!({ "worker": "w1", "actions": ["greet"], "wait_ms": 10_000 }).to_string();
    let key = [("Idempotency-Key", "claim-1")];
    let first = stage.ask("POST", "/api/v1/work/claim", &key, &body).await;
    let again = stage.ask("POST", "/api/v1/work/claim", &key, &body).await;
    assert_eq!(first.json()["leases"].as_array().unwrap().len(), 1);
    assert_eq!(first.json(), again.json());
}

/// Lists within lists, so many of them, over several lines.
pub fn nested(levels: usize) -> String {
    format!("{}\n{}", "[".repeat(levels), "]".repeat(levels))
}

/// What is deeper than anything else may be would stand in the way of whoever reads the ledger, again and again.
#[tokio::test]
async fn an_output_that_is_nested_too_deep_fails_its_attempt_and_stops_no_reader_of_events() {
    let stage = Stage::open().await;
    for (levels, state) in [(64, "Complete"), (65, "Error"), (127, "Error"), (1_000, "Error")] {
        let run = stage.start(&FLOW.replace("retry: 3", "retry: 1")).await;
        let lease = claim(&stage, 10_000).await[0]["lease"].clone();
        let body = format!("{{\"results\":[{{\"lease\":{lease},\"output\":{}}}]}}", nested(levels));
        let answer = stage.ask("POST", "/api/v1/work/complete", &[], &body).await;
        assert_eq!(answer.json()["results"][0]["status"], 200, "{levels}: {}", answer.text);
        let end = stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await.json();
        assert_eq!(end["state"], state, "{levels}");
        if state == "Error" {
            let shown = stage.get(&format!("/api/v1/runs/{run}")).await.json();
            assert_eq!(shown["tasks"][0]["reason"]["failed"]["type"], "bad_output", "{levels}: {shown}");
        }
    }
    // All of them are told, each on a line of its own.
    let told = stage.raw_events("/api/v1/events?type=TaskFinished", "0", 4).await;
    assert_eq!(told.matches("event: TaskFinished\n").count(), 4, "{told}");
}

#[tokio::test]
async fn what_is_supplied_by_hand_or_from_outside_is_bound_to_the_same_depth() {
    let stage = Stage::open().await;
    let flow = "flow: f\ntasks:\n  a: { action: greet }\n  b: { gate: { webhook: {} } }\n";
    for levels in [65, 120] {
        let run = stage.start(flow).await;
        let url = stage.post(&format!("/api/v1/runs/{run}/gates/b/url"), &json!({})).await.json();
        let deep = nested(levels);
        for (path, body) in [
            (format!("/api/v1/runs/{run}/complete"), format!("{{\"task\":\"a\",\"output\":{deep}}}")),
            (format!("/api/v1/runs/{run}/satisfy"), format!("{{\"task\":\"b\",\"output\":{deep}}}")),
            (url["path"].as_str().unwrap().to_owned(), deep.clone()),
        ] {
            let answer = stage.ask("POST", &path, &[], &body).await;
            assert_eq!((answer.status, answer.code().as_str()), (400, "too_deep"), "{path}: {}", answer.text);
        }
    }
}

/// What an item or a gate of items keeps is read back with all of the work graph: too deep, it would end all of it.
#[tokio::test]
async fn what_is_kept_with_items_is_bound_to_the_same_depth() {
    let stage = Stage::open().await;
    let item = stage.post("/api/v1/items", &json!({ "title": "A" })).await.json()["id"].clone();
    let gate = stage.post("/api/v1/gates", &json!({ "gateType": "webhook" })).await.json()["id"].clone();
    let gate = gate.as_str().unwrap();
    let url = stage.post(&format!("/api/v1/gates/{gate}/url"), &json!({})).await.json();
    let (path, item) = (url["path"].as_str().unwrap(), format!("/api/v1/items/{}", item.as_str().unwrap()));
    for levels in [65, 120] {
        let deep = nested(levels);
        let metadata = format!("{{\"metadata\":{{\"a\":{deep}}}}}");
        for (method, path, body) in [
            ("POST", path, deep.clone()),
            ("PATCH", &item, metadata.clone()),
            ("POST", "/api/v1/items", metadata.replacen('{', "{\"title\":\"B\",", 1)),
        ] {
            let answer = stage.ask(method, path, &[], &body).await;
            assert_eq!((answer.status, answer.code().as_str()), (400, "too_deep"), "{path}: {}", answer.text);
        }
    }
    assert_eq!(stage.get(&format!("/api/v1/gates/{gate}")).await.json()["satisfied"], false);
}

#[tokio::test]
async fn a_worker_that_was_away_for_longer_than_its_lease_is_refused_and_changes_nothing() {
    let (stage, ahead) = Stage::ahead(true).await;
    let retry = "retry: { max_attempts: 3, backoff: { kind: fixed, base: 1ms } }";
    let run = stage.start(&FLOW.replace("retry: 3", retry)).await;
    let late = claim(&stage, 10_000).await[0]["lease"].clone();
    ahead.store(61_000, Ordering::SeqCst);
    // Somebody else has it by now.
    let held = claim(&stage, 60_000).await.remove(0);
    assert_eq!(held["attempt"], 2);
    let before = stage.get(&format!("/api/v1/runs/{run}")).await.json();
    assert_eq!(before["tasks"][0]["state"], "InProgress", "{before}");
    let beats = stage.post("/api/v1/work/heartbeat", &json!({ "leases": [late] })).await.json();
    assert_eq!(beats["beats"][0]["continue"], false, "{beats}");
    for result in [
        json!({ "lease": late, "output": { "said": "hello" } }),
        json!({ "lease": late, "error": { "type": "down", "permanent": true } }),
    ] {
        let refused = complete(&stage, result).await;
        assert_eq!((&refused["status"], &refused["code"]), (&json!(409), &json!("attempt_over")));
    }
    assert_eq!(stage.get(&format!("/api/v1/runs/{run}")).await.json(), before);
    assert_eq!(complete(&stage, json!({ "lease": held["lease"], "output": 1 })).await["status"], 200);
    let end = stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await.json();
    assert_eq!((&end["state"], &end["output"]), (&json!("Complete"), &json!({ "hello": 1 })));
}
