//! Secrets for workers elsewhere: none unless the server is told so, to workers alone, and masked in what comes back.

use crate::caller::{Caller, Target};
use crate::stage::{Stage, name};
use edgewise_engine::secrets::{Lending, Secrets};
use edgewise_server::auth::Role;
use edgewise_store::faulty::{Fault, Op};
use serde_json::{Value, json};

const VALUE: &str = "s3cret-value";
const FLOW: &str = "flow: f\nsecrets: [KEY]\ntasks:\n  a: { action: greet, with: { key: '${{ secrets.KEY }}' } }\n";

/// Lets the server send `KEY` and no other.
fn lend(stage: &Stage) {
    stage.app.lend(Lending::new(Secrets::new(|_| Some(VALUE.into()), None), [name("KEY")]));
}

async fn claim(stage: &Stage, token: Option<&str>) -> Vec<Value> {
    let body = json!({ "worker": "w1", "actions": ["greet"], "wait_ms": 1_000 }).to_string();
    let bearer = format!("Bearer {}", token.unwrap_or_default());
    let headers = [("Authorization", bearer.as_str())];
    let headers = if token.is_some() { &headers[..] } else { &[] };
    let answer = stage.bare("POST", "/api/v1/work/claim", headers, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["leases"].as_array().unwrap().clone()
}

/// Whether a text is in any file of a server.
fn is_kept(stage: &Stage, text: &str) -> bool {
    let files = std::fs::read_dir(stage.dir()).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file());
    let mut bytes = files.map(|path| std::fs::read(path).unwrap_or_default());
    bytes.any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
}

#[tokio::test]
async fn a_secret_that_may_be_sent_reaches_the_worker_and_nothing_else() {
    let stage = Stage::open().await;
    lend(&stage);
    for report in [
        json!({ "output": { "used": format!("key {VALUE}") } }),
        json!({ "error": { "type": "down", "message": format!("refused {VALUE}"), "permanent": true } }),
    ] {
        let run = stage.start(FLOW).await;
        let leases = claim(&stage, None).await;
        assert_eq!(leases[0]["input"], json!({ "key": VALUE }));
        let mut result = report.clone();
        result["lease"] = leases[0]["lease"].clone();
        let told = stage.post("/api/v1/work/complete", &json!({ "results": [result] })).await;
        assert_eq!(told.json()["results"][0]["status"], 200, "{}", told.text);
        stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await;
        let shown = stage.get(&format!("/api/v1/runs/{run}")).await.text;
        assert!(!shown.contains(VALUE), "{shown}");
        let task = stage.get(&format!("/api/v1/runs/{run}/tasks/a")).await.text;
        assert!(task.contains("***") && !task.contains(VALUE), "{task}");
    }
    assert!(!is_kept(&stage, VALUE), "it is in a file");
}

#[tokio::test]
async fn a_secret_that_nobody_named_is_not_sent_and_it_is_said_how_it_would_be() {
    let stage = Stage::open().await;
    lend(&stage);
    let run = stage.start(&FLOW.replace("KEY", "OTHER")).await;
    assert!(claim(&stage, None).await.is_empty());
    let task = stage.get(&format!("/api/v1/runs/{run}/tasks/a")).await.text;
    assert!(task.contains("secret_not_sent") && task.contains("send_secrets"), "{task}");
}

/// A task whose secret may not leave, and one that has none.
const MIXED: &str = "flow: f\nsecrets: [OTHER]\ntasks:\n  a: { action: greet, with: { key: '${{ secrets.OTHER }}' } }\n  b: { action: greet }\n";

/// How often the first task of a run was tried, and how it is.
async fn refused(stage: &Stage, run: &str) -> (u64, String) {
    let task = stage.get(&format!("/api/v1/runs/{run}/tasks/a")).await.json();
    let reason = task["reason"]["failed"]["type"].as_str().or(task["phase"].as_str());
    (task["attempt"].as_u64().unwrap(), reason.unwrap().to_owned())
}

#[tokio::test]
async fn a_refusal_that_cannot_be_kept_costs_no_lease_of_the_same_claim() {
    let stage = Stage::open().await;
    lend(&stage);
    let body = json!({ "worker": "w1", "actions": ["greet"], "max": 2 });
    let run = stage.start(MIXED).await;
    // What is granted is kept, and then the store has no room.
    stage.faults.fail_after(Op::Append, 1, Fault::DiskFull);
    let answer = stage.post("/api/v1/work/claim", &body).await;
    assert_eq!(stage.faults.take_fired().len(), 1);
    assert_eq!(answer.status, 200, "{}", answer.text);
    let leases = answer.json()["leases"].clone();
    assert_eq!((&leases[0]["task"], &leases[0]["attempt"], &leases[1]), (&json!("b"), &json!(1), &Value::Null));
    // The other came back unspent.
    assert_eq!(refused(&stage, &run).await, (0, "ready".to_owned()));
    // The same with a report.
    let other = stage.start(MIXED).await;
    stage.faults.fail_after(Op::Append, 1, Fault::DiskFull);
    let claim = json!({ "worker": "w1", "actions": ["greet"], "max": 3 });
    let report = json!({ "results": [{ "lease": leases[0]["lease"] }], "claim": claim });
    let answer = stage.post("/api/v1/work/complete", &report).await;
    assert_eq!(stage.faults.take_fired().len(), 1);
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json()["results"][0]["status"], 200);
    let next = &answer.json()["leases"];
    assert_eq!((&next[0]["run"], &next[0]["task"], &next[1]), (&json!(other), &json!("b"), &Value::Null));
    for run in [&run, &other] {
        assert_eq!(refused(&stage, run).await, (0, "ready".to_owned()));
    }
    // They are refused to the next one who asks.
    assert_eq!(stage.post("/api/v1/work/claim", &body).await.json()["leases"], json!([]));
    for run in [&run, &other] {
        assert_eq!(refused(&stage, run).await, (1, "secret_not_sent".to_owned()));
    }
}

#[tokio::test]
async fn a_secret_goes_only_to_tokens_of_workers() {
    let stage = Stage::with(false).await;
    lend(&stage);
    let (admin, worker) =
        (stage.token("ann", Role::Admin, None).await, stage.token("machine", Role::Worker, None).await);
    let bearer = format!("Bearer {admin}");
    let start = json!({ "source": FLOW }).to_string();
    for (token, sent) in [(&admin, false), (&worker, true)] {
        let started = stage.bare("POST", "/api/v1/runs", &[("Authorization", &bearer)], &start).await;
        assert_eq!(started.status, 200, "{}", started.text);
        let run = started.json()["run"].as_str().unwrap().to_owned();
        assert_eq!(claim(&stage, Some(token)).await.len(), usize::from(sent));
        let path = format!("/api/v1/runs/{run}/tasks/a");
        let task = stage.bare("GET", &path, &[("Authorization", &bearer)], "").await.text;
        assert_eq!(task.contains("--role worker"), !sent, "{task}");
    }
}

#[tokio::test]
async fn a_push_worker_is_sent_it_too_and_its_answer_is_masked() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    lend(&caller.stage);
    caller.add("greeter", &target.url(), json!({})).await;
    let run = caller.stage.start(FLOW).await;
    let call = target.call().await;
    assert_eq!(call.lease()["input"], json!({ "key": VALUE }));
    call.says(&json!({ "output": [VALUE] })).await;
    let end = caller.end(&run).await;
    assert_eq!((&end["state"], &end["output"]["a"]), (&json!("Complete"), &json!(["***"])));
    assert!(!is_kept(&caller.stage, VALUE), "it is in a file");
    caller.stop().await;
}

#[tokio::test]
async fn a_refusal_that_cannot_be_kept_does_not_keep_other_tasks_from_a_push_worker() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    lend(&caller.stage);
    let run = caller.stage.start(MIXED).await;
    caller.stage.faults.fail_after(Op::Append, 1, Fault::DiskFull);
    caller.add("greeter", &target.url(), json!({ "slots": 2 })).await;
    let call = target.call().await;
    assert_eq!((&call.lease()["task"], &call.lease()["attempt"]), (&json!("b"), &json!(1)));
    assert_eq!(caller.stage.faults.take_fired().len(), 1);
    call.says(&json!({ "output": 1 })).await;
    // The other comes again by itself, and is refused.
    assert_eq!(caller.end(&run).await["state"], "Error");
    assert_eq!(refused(&caller.stage, &run).await, (1, "secret_not_sent".to_owned()));
    caller.stop().await;
}
