//! The Rust client and its worker loop against a real server.

use crate::stage::{FLOW, GATED, Stage};
use edgewise_client::{Client, Failure, Worker, wire};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, mpsc};

const LONG: Duration = Duration::from_secs(30);
/// Two tasks, one after the other.
const CHAIN: &str = "flow: chain\ntasks:\n  one: { action: greet }\n  two: { action: greet, after: [one] }\n";
/// Many tasks, all at once.
const MANY: &str = "flow: many\ntasks:\n  all: { each: range(500), action: greet }\n";

fn client(stage: &Stage) -> Client {
    Client::new(&format!("http://{}", stage.address)).unwrap()
}

async fn start(client: &Client, source: &str) -> String {
    client.start(&wire::Start { source: Some(source.into()), ..Default::default() }).await.unwrap().run
}

fn claim(max: u32) -> wire::Claim {
    let (worker, actions) = ("w".to_owned(), vec!["greet".to_owned()]);
    wire::Claim { worker, actions, max: Some(max), wait_ms: Some(20_000), ..Default::default() }
}

fn report(lease: &str) -> wire::Finish {
    wire::Finish { lease: lease.into(), output: None, error: None }
}

async fn state(client: &Client, run: &str) -> Option<String> {
    client.wait(run, LONG).await.unwrap().state
}

#[tokio::test]
async fn a_worker_does_what_is_asked_and_the_result_comes_back() {
    let stage = Stage::open().await;
    let client = client(&stage);
    let worker = Worker::new(&client, "w").on("greet", async |task, _| Ok(json!({ "to": task.input["name"] })));
    let working = worker.start();
    let ended = client.wait(&start(&client, FLOW).await, LONG).await.unwrap();
    assert_eq!(ended.output, Some(json!({ "hello": { "to": "world" } })));
    let many = start(&client, MANY).await;
    assert_eq!(state(&client, &many).await.as_deref(), Some("Complete"));
    working.stop(LONG).await.unwrap();
}

#[tokio::test]
async fn a_failure_is_tried_again_unless_it_is_permanent_and_a_panic_is() {
    let stage = Stage::open().await;
    let client = client(&stage);
    let worker = Worker::new(&client, "w").on("greet", async |task, _| match task.attempt {
        1 => Err(Failure::retryable("down", "not now")),
        attempt => panic!("at attempt {attempt}"),
    });
    let flow = FLOW.replace("retry: 3", "retry: { max_attempts: 3, backoff: { kind: fixed, base: 1ms } }");
    let working = worker.start();
    let run = start(&client, &flow).await;
    assert_eq!(state(&client, &run).await.as_deref(), Some("Error"));
    let shown = client.show(&run).await.unwrap();
    let task = &shown["tasks"][0];
    assert_eq!((&task["attempt"], &task["reason"]["failed"]["type"]), (&json!(2), &json!("panic")), "{task}");
    working.stop(LONG).await.unwrap();
}

#[tokio::test]
async fn a_cancelled_attempt_is_told_to_stop_by_its_next_heartbeat() {
    let stage = Stage::open().await;
    let client = client(&stage);
    let (begun, mut heard) = mpsc::unbounded_channel();
    let worker = Worker::new(&client, "w").lease(Duration::from_secs(1)).on("greet", move |_, context| {
        let begun = begun.clone();
        async move {
            begun.send(context).unwrap();
            std::future::pending::<Result<Value, Failure>>().await
        }
    });
    let working = worker.start();
    let run = start(&client, FLOW).await;
    let context = heard.recv().await.unwrap();
    client.cancel(&run, &wire::ActRequest::default()).await.unwrap();
    tokio::time::timeout(LONG, context.cancelled()).await.unwrap();
    assert_eq!(state(&client, &run).await.as_deref(), Some("Cancelled"));
    working.stop(LONG).await.unwrap();
}

#[tokio::test]
async fn a_worker_that_winds_down_finishes_what_it_has_and_takes_nothing_more() {
    let stage = Stage::open().await;
    let client = client(&stage);
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let (tell, wait) = (Arc::clone(&begun), Arc::clone(&go));
    let worker = Worker::new(&client, "w").slots(1).on("greet", move |_, _| {
        let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
        async move {
            tell.notify_one();
            let _ = wait.acquire().await;
            Ok(Value::Null)
        }
    });
    let working = worker.start();
    let chain = start(&client, CHAIN).await;
    begun.notified().await;
    working.wind_down(LONG);
    // The slot is free after this, and the next task of the chain is ready.
    go.add_permits(9);
    working.ended().await.unwrap();
    let shown = client.show(&chain).await.unwrap();
    let states: Vec<&Value> = shown["tasks"].as_array().unwrap().iter().map(|task| &task["state"]).collect();
    assert_eq!(states, ["Complete", "Enqueued"], "{shown}");
    let left = client.claim(&claim(9)).await.unwrap().leases;
    assert_eq!((left.len(), left[0].attempt), (1, 1));
}

#[tokio::test]
async fn what_is_stopped_while_at_work_goes_to_somebody_else() {
    let stage = Stage::open().await;
    let client = client(&stage);
    let begun = Arc::new(Notify::new());
    let tell = Arc::clone(&begun);
    let worker = Worker::new(&client, "w").on("greet", move |_, _| {
        tell.notify_one();
        std::future::pending()
    });
    let working = worker.start();
    start(&client, &FLOW.replace("retry: 3", "retry: { max_attempts: 3, backoff: { kind: fixed, base: 1ms } }")).await;
    begun.notified().await;
    working.stop(Duration::ZERO).await.unwrap();
    assert_eq!(client.claim(&claim(1)).await.unwrap().leases[0].attempt, 2);
}

#[tokio::test]
async fn a_report_of_a_lease_that_was_lost_changes_nothing() {
    let stage = Stage::open().await;
    let client = client(&stage);
    let run = start(&client, FLOW).await;
    let lost = client.claim(&claim(1)).await.unwrap().leases.remove(0).lease;
    client.release(vec![lost.clone()]).await.unwrap();
    let held = client.claim(&claim(1)).await.unwrap().leases.remove(0).lease;
    let complete = |lease: &str| wire::Complete { results: vec![report(lease)], claim: None };
    let refused = client.complete(&complete(&lost)).await.unwrap().results.remove(0);
    assert_eq!((refused.status, refused.code.as_deref()), (409, Some("attempt_over")));
    assert!(client.wait(&run, Duration::ZERO).await.unwrap().state.is_none());
    // The same report again is answered as the first time, for whoever holds the lease and for whoever does not.
    for (lease, status) in [(&held, 200), (&held, 200), (&lost, 409)] {
        assert_eq!(client.complete(&complete(lease)).await.unwrap().results[0].status, status);
    }
    assert_eq!(state(&client, &run).await.as_deref(), Some("Complete"));
}

#[tokio::test]
async fn a_report_brings_back_the_task_that_it_made_ready() {
    let stage = Stage::open().await;
    let client = client(&stage);
    start(&client, CHAIN).await;
    let first = client.claim(&claim(1)).await.unwrap().leases.remove(0);
    let commits = stage.engine.counts().await.unwrap().commits;
    let complete = wire::Complete { results: vec![report(&first.lease)], claim: Some(claim(5)) };
    let mut completed = client.complete(&complete).await.unwrap();
    let second = completed.leases.remove(0);
    assert_eq!((completed.results[0].status, second.task.as_str()), (200, "two"));
    assert_eq!(stage.engine.counts().await.unwrap().commits, commits + 1, "a step is one commit");
    // Nothing is there any more, and nobody waits for it.
    let complete = wire::Complete { results: vec![report(&second.lease)], claim: Some(claim(5)) };
    assert!(client.complete(&complete).await.unwrap().leases.is_empty());
    start(&client, CHAIN).await;
    assert_eq!(client.claim(&claim(1)).await.unwrap().leases.len(), 1, "an old claim took it");
}

#[tokio::test]
async fn a_worker_whose_token_is_not_good_says_so_and_ends() {
    let stage = Stage::with(false).await;
    let working = Worker::new(&client(&stage), "w").on("greet", async |_, _| Ok(Value::Null)).start();
    assert_eq!(working.ended().await.unwrap_err().code, "no_token");
}

#[tokio::test]
async fn events_go_on_behind_the_last_one_seen() {
    let stage = Stage::open().await;
    let client = client(&stage).acting_as("alice");
    let run = start(&client, GATED).await;
    client.approve(&run, &wire::GateRequest { task: "ask".into(), comment: None }).await.unwrap();
    let mut ids = Vec::new();
    let mut events = client.events(&run, None);
    while let Some(event) = events.next().await.unwrap() {
        assert!(event.data.is_object(), "{event:?}");
        ids.push(event.id);
    }
    let mut rest = client.events(&run, Some(&ids[1]));
    let mut seen = ids[..2].to_vec();
    while let Some(event) = rest.next().await.unwrap() {
        seen.push(event.id);
    }
    assert!(ids.len() == 3 && seen == ids, "{seen:?} of {ids:?}");
}
