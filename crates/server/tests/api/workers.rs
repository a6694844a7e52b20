//! Workers in any language: claim, heartbeat, complete.

use crate::stage::{FLOW, Stage};
use serde_json::{Value, json};

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
