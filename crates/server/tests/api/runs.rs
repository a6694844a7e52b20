//! Runs over the API.

use crate::stage::{FLOW, GATED, Stage, ask, written};
use edgewise_core::time::Millis;
use edgewise_engine::engine::wall_clock;
use edgewise_server::auth::Role;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_run_is_started_listed_shown_and_cancelled() {
    let stage = Stage::open().await;
    let run = stage.start(FLOW).await;
    let list = stage.get("/api/v1/runs?q=flow:greet").await.json();
    assert_eq!(list["runs"][0]["run"], json!(run));
    let shown = stage.get(&format!("/api/v1/runs/{}", &run[..6])).await.json();
    assert_eq!(shown["tasks"][0]["path"], "hello");
    let why = stage.get(&format!("/api/v1/runs/{run}/why")).await;
    assert_eq!(why.status, 200, "{}", why.text);
    let end = stage.get(&format!("/api/v1/runs/{run}/end")).await.json();
    assert!(end.get("state").is_none(), "{end}");
    let cancelled = stage.post(&format!("/api/v1/runs/{run}/cancel"), &json!({ "why": "enough" })).await;
    assert_eq!(cancelled.json(), json!({ "already": false }));
    let end = stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await.json();
    assert_eq!(end["state"], "Cancelled");
}

#[tokio::test]
async fn why_is_asked_of_a_run_or_of_one_task_and_goes_on_into_items() {
    let stage = Stage::open().await;
    let run = stage.start("flow: f\ntasks:\n  a: { item: Look at it }\n  b: { after: a, action: x }\n").await;
    let why = stage.get(&format!("/api/v1/runs/{run}/why")).await.json();
    let item = why["causes"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!((&why["causes"][0]["path"], &why["engine"]), (&json!("a"), &json!(true)), "{why}");
    assert_eq!(why["items"][0]["id"], json!(item));
    let b = stage.get(&format!("/api/v1/runs/{run}/why?task=b")).await.json();
    assert_eq!((&b["task"], &b["needs"][0]["path"]), (&json!("b"), &json!("b")), "{b}");
    let first = stage.post("/api/v1/items", &json!({ "title": "first" })).await.json();
    let first = first["id"].as_str().unwrap();
    stage.post(&format!("/api/v1/items/{item}/depend"), &json!({ "on": first })).await;
    let why = stage.get(&format!("/api/v1/runs/{run}/why?task=a")).await.json();
    assert_eq!(why["causes"][0]["blocked"], json!(true), "{why}");
    assert_eq!(why["items"][0]["because"][0]["id"], json!(first), "{why}");
    for (asked, status, code) in [("task=none", 404, "task_not_found"), ("tusk=a", 400, "bad_parameter")] {
        let refused = stage.get(&format!("/api/v1/runs/{run}/why?{asked}")).await;
        assert_eq!((refused.status, refused.code().as_str()), (status, code), "{asked}");
    }
}

#[tokio::test]
async fn why_names_who_holds_the_slot_that_a_task_waits_for() {
    let stage = Stage::open().await;
    assert_eq!(stage.post("/api/v1/queues/night", &json!({ "paused": true })).await.status, 200);
    let run = stage.start("flow: f\ntasks:\n  a: { action: x, queue: night }\n").await;
    let why = stage.get(&format!("/api/v1/runs/{run}/why")).await.json();
    assert_eq!(why["causes"][0]["holds"], json!([{ "of": { "queue": "night" }, "is": "paused" }]), "{why}");
    assert_eq!(why["causes"][0]["moved_by"][0], json!({ "who": "setting", "queue": "night" }), "{why}");
}

#[tokio::test]
async fn pages_follow_each_other_without_a_gap() {
    let stage = Stage::open().await;
    for _ in 0..5 {
        stage.start(FLOW).await;
    }
    let mut seen = Vec::new();
    let mut path = "/api/v1/runs?limit=2".to_owned();
    loop {
        let page = stage.get(&path).await.json();
        seen.extend(page["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => path = format!("/api/v1/runs?limit=2&after={next}"),
            None => break,
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5);
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_answer_again() {
    let stage = Stage::open().await;
    let body = json!({ "source": FLOW }).to_string();
    let key = [("Idempotency-Key", "once")];
    let first = stage.ask("POST", "/api/v1/runs", &key, &body).await;
    let again = stage.ask("POST", "/api/v1/runs", &key, &body).await;
    assert_eq!((first.status, first.json()), (again.status, again.json()));
    assert_eq!(stage.get("/api/v1/runs").await.json()["runs"].as_array().unwrap().len(), 1);
    let other = json!({ "source": GATED }).to_string();
    assert_eq!(stage.ask("POST", "/api/v1/runs", &key, &other).await.code(), "key_taken");
}

#[tokio::test]
async fn a_gate_is_opened_by_whoever_may_and_by_nobody_else() {
    let stage = Stage::open().await;
    let run = stage.start(GATED).await;
    let path = format!("/api/v1/runs/{run}/approve");
    let body = json!({ "task": "ask" }).to_string();
    let mallory = stage.ask("POST", &path, &[("Edgewise-As", "mallory")], &body).await;
    assert_eq!((mallory.status, mallory.code().as_str()), (403, "not_an_approver"));
    assert_eq!(stage.ask("POST", &path, &[("Edgewise-As", "alice")], &body).await.status, 200);
    let end = stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await.json();
    assert_eq!(end["state"], "Complete");
}

#[tokio::test]
async fn events_come_as_they_are_committed_and_go_on_behind_the_last_one_seen() {
    let stage = Stage::open().await;
    let run = stage.start(GATED).await;
    let body = json!({ "task": "ask" }).to_string();
    stage.ask("POST", &format!("/api/v1/runs/{run}/approve"), &[("Edgewise-As", "alice")], &body).await;
    let path = format!("/api/v1/runs/{run}/events");
    let all = stage.get(&path).await;
    assert!(all.head.contains("text/event-stream"), "{}", all.head);
    let ids =
        |text: &str| -> Vec<u64> { text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect() };
    let told = ids(&all.text);
    assert_eq!(told, (1..=told.len() as u64).collect::<Vec<_>>());
    assert!(all.text.contains("event: ApprovalGiven"), "{}", all.text);
    let rest = stage.ask("GET", &path, &[("Last-Event-ID", "2")], "").await;
    assert_eq!(ids(&rest.text), told[2..]);
}

#[tokio::test]
async fn the_server_says_how_it_is_and_what_it_offers() {
    let stage = Stage::open().await;
    assert_eq!(stage.get("/healthz").await.text, "ok\n");
    assert_eq!(stage.get("/readyz").await.text, "ready\n");
    stage.start(FLOW).await;
    let metrics = stage.get("/metrics").await.text;
    assert!(metrics.contains("edgewise_http_request_seconds_count{route=\"start_run\",status=\"2xx\"} 1"), "{metrics}");
    assert_eq!(stage.get("/api/openapi.json").await.json()["openapi"], "3.1.0");
}

#[tokio::test]
async fn a_run_is_shown_and_drawn_as_it_was() {
    let stage = Stage::open().await;
    let run = stage.start(FLOW).await;
    stage.post(&format!("/api/v1/runs/{run}/cancel"), &json!({})).await;
    let end = stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await.json();
    assert_eq!(end["state"], "Cancelled");
    let then = stage.get(&format!("/api/v1/runs/{run}?at=2")).await.json();
    assert_ne!(then["state"], stage.get(&format!("/api/v1/runs/{run}")).await.json()["state"], "{then}");
    let instant = stage.get(&format!("/api/v1/runs/{run}?at=2199-01-01T00:00:00Z")).await.json();
    assert_eq!(instant["state"], stage.get(&format!("/api/v1/runs/{run}")).await.json()["state"]);
    let pictures = ["", "?at=2"].map(|at| format!("/api/v1/runs/{run}/graph{at}"));
    assert_ne!(stage.get(&pictures[0]).await.text, stage.get(&pictures[1]).await.text);
    for (at, status, code) in [
        ("0", 404, "not_yet"),
        ("99", 404, "no_such_event"),
        ("soon", 400, "bad_at"),
        ("1999-01-01T00:00:00Z", 404, "not_yet"),
    ] {
        let refused = stage.get(&format!("/api/v1/runs/{run}?at={at}")).await;
        assert_eq!((refused.status, refused.code().as_str()), (status, code), "{at}");
    }
}

/// A server that was killed has forgotten its answers; what it did stands in the ledger under the same key.
#[tokio::test]
async fn a_start_or_a_change_under_the_same_key_happens_once_also_where_the_answer_is_forgotten() {
    let stage = Stage::open().await;
    let (key, body) = ([("Idempotency-Key", "k1")], json!({ "source": FLOW }).to_string());
    let first = stage.ask("POST", "/api/v1/runs", &key, &body).await.json();
    let (title, other) = (json!({ "title": "A" }).to_string(), json!({ "title": "B" }).to_string());
    let added = stage.ask("POST", "/api/v1/items", &key, &title).await;
    assert_eq!((added.status, &first["new"]), (200, &json!(true)), "{}", added.text);
    let later = stage.another_door().await;
    let again = ask(later, "POST", "/api/v1/runs", &key, &body).await.json();
    assert_eq!((&again["run"], &again["new"]), (&first["run"], &json!(false)));
    let same = ask(later, "POST", "/api/v1/items", &key, &title).await;
    assert_eq!((same.status, same.json()["id"].clone()), (200, added.json()["id"].clone()), "{}", same.text);
    // Another body under the same key is a mistake, at any door; and another key, or somebody else's, is another start.
    let named = json!({ "source": FLOW, "input": { "who": "you" } }).to_string();
    for door in [stage.address, later, stage.another_door().await] {
        for (path, body) in [("/api/v1/runs", &named), ("/api/v1/items", &other)] {
            let refused = ask(door, "POST", path, &key, body).await;
            assert_eq!((refused.status, refused.code().as_str()), (409, "key_taken"), "{path}");
        }
    }
    for headers in [vec![("Idempotency-Key", "k2")], vec![key[0], ("Edgewise-As", "bob")]] {
        let started = ask(later, "POST", "/api/v1/runs", &headers, &body).await.json();
        assert!(started["new"] == true && started["run"] != first["run"], "{started}");
    }
    assert_eq!(stage.get("/api/v1/runs").await.json()["runs"].as_array().unwrap().len(), 3);
    assert_eq!(stage.get("/api/v1/items").await.json()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn runs_that_are_told_apart_by_their_input_are_so_under_any_key_of_a_request() {
    let stage = Stage::open().await;
    let body = json!({ "source": format!("{FLOW}identity: strict\n") }).to_string();
    let mut runs = Vec::new();
    for key in ["k1", "k2"] {
        let started = stage.ask("POST", "/api/v1/runs", &[("Idempotency-Key", key)], &body).await;
        assert_eq!(started.status, 200, "{}", started.text);
        runs.push(started.json()["run"].clone());
    }
    assert_eq!(runs[0], runs[1]);
}

/// Reads a stream to its end.
async fn heard(mut stream: TcpStream) -> String {
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).await.unwrap();
    String::from_utf8_lossy(&heard).into_owned()
}

/// Opens a stream of events with a token.
async fn opened(stage: &Stage, path: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Last-Event-ID", "0")];
    stream.write_all(written("GET", path, &headers, "").as_bytes()).await.unwrap();
    stream
}

/// Reads a stream until something was said.
async fn until(stream: &mut TcpStream, said: &[u8]) -> Vec<u8> {
    let mut heard = Vec::new();
    while !heard.windows(said.len()).any(|part| part == said) {
        assert!(stream.read_buf(&mut heard).await.unwrap() > 0, "{}", String::from_utf8_lossy(&heard));
    }
    heard
}

/// Opens a stream of the workspace's events and waits until it has begun.
async fn listening(stage: &Stage, token: &str) -> TcpStream {
    let mut stream = opened(stage, "/api/v1/events", token).await;
    until(&mut stream, b"event:").await;
    stream
}

#[tokio::test]
async fn a_stream_of_events_ends_with_the_token_that_it_was_opened_with() {
    let (stage, ahead) = Stage::ahead(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let soon = wall_clock().plus(Millis(3_600_000));
    let (expiring, revoked) =
        (stage.token("ann", Role::Viewer, Some(soon)).await, stage.token("bobby", Role::Viewer, None).await);
    let stage = stage.speaking(&admin);
    let (late, taken) = (listening(&stage, &expiring).await, listening(&stage, &revoked).await);
    ahead.store(3_600_000, Ordering::SeqCst);
    stage.revoke("bobby").await;
    // Tokens are believed for a moment: after that nothing of what happens is told.
    let ended = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&ended);
    let reading = tokio::spawn(async move {
        let told = (heard(late).await, heard(taken).await);
        end.store(true, Ordering::SeqCst);
        told
    });
    let mut last = String::new();
    let starts = async {
        while !ended.load(Ordering::SeqCst) {
            last = stage.start(GATED).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), starts).await.expect("the streams end");
    let (late, taken) = reading.await.unwrap();
    assert!(!late.contains("event: RunTriggered"), "{late}");
    assert!(!taken.contains(&last), "{taken}");
}

/// A stream on which nothing is told, beside somebody who writes all the time: each time a while later.
async fn check_quiet(path: &str) {
    let (stage, ahead) = Stage::ahead(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let viewer = stage.token("bobby", Role::Viewer, None).await;
    let stage = stage.speaking(&admin);
    let mut stream = opened(&stage, path, &viewer).await;
    let reading = async {
        until(&mut stream, b": still here\n\n").await;
        stage.revoke("bobby").await;
        heard(stream).await
    };
    let writing = async {
        loop {
            stage.start(GATED).await;
            ahead.fetch_add(15_000, Ordering::SeqCst);
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(60), async {
        tokio::select! {
            told = reading => told,
            () = writing => String::new(),
        }
    });
    let told = told.await.unwrap_or_else(|_| panic!("{path} says that it is there, and ends with its token"));
    assert!(!told.contains("event:"), "{told}");
}

#[tokio::test]
async fn a_stream_that_has_nothing_to_tell_on_a_busy_ledger_says_that_it_is_there_and_ends_with_its_token() {
    check_quiet("/api/v1/events?type=NothingOfTheKind").await;
    check_quiet("/api/v1/domain/quiet/events").await;
}
