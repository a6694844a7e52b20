//! Hostile input: refused or harmless, and never an error of ours.

use crate::stage::{FLOW, Stage};
use serde_json::json;

#[tokio::test]
async fn strange_requests_are_refused_with_a_problem() {
    let stage = Stage::open().await;
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = "x".repeat(10_000);
    for (method, path, body) in [
        ("GET", "/../../etc/passwd", ""),
        ("GET", "/api/v1/runs/..%2f..%2fetc%2fpasswd", ""),
        ("GET", "/api/v1/runs/%1b%5b2J", ""),
        ("GET", "/api/v1/runs/%00", ""),
        ("GET", "/api/v1/runs/%ff%fe", ""),
        ("GET", "/api/v1/runs/0000000000000000", ""),
        ("GET", "/api/v1/runs?limit=-1", ""),
        ("GET", "/api/v1/runs?limit=x", ""),
        ("GET", "/api/v1/runs?after=x", ""),
        ("GET", "/api/v1/runs?q=state:none", ""),
        ("GET", "/api/v1/runs?unknown=1", ""),
        ("GET", "/api/v1/nothing", ""),
        ("POST", "/healthz", "{}"),
        ("POST", "/api/v1/runs", ""),
        ("POST", "/api/v1/runs", "{"),
        ("POST", "/api/v1/runs", "[]"),
        ("POST", "/api/v1/runs", "null"),
        ("POST", "/api/v1/runs", "{\"source\":1}"),
        ("POST", "/api/v1/runs", "{\"source\":\"\"}"),
        ("POST", "/api/v1/runs", "{\"source\":\"flow: ../x\"}"),
        ("POST", "/api/v1/runs", "{\"flow\":\"../x\"}"),
        ("POST", "/api/v1/runs", "{\"flow\":\"\\u001b[2J\"}"),
        ("POST", "/api/v1/runs", "{\"flow\":\"nobody\"}"),
        ("POST", "/api/v1/runs", "{\"surprise\":true}"),
        ("POST", "/api/v1/runs", &deep),
        ("POST", "/api/v1/runs/0000000000000000/cancel", "{}"),
        ("POST", "/api/v1/runs/0000000000000000/skip", "{}"),
        ("POST", "/api/v1/work/claim", "{}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\",\"actions\":[]}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"../w\",\"actions\":[\"x\"]}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\",\"actions\":[\"\\u0000\"]}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\",\"actions\":[\"edgewise/command\"]}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\",\"actions\":[\"x\"],\"max\":0}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\",\"actions\":[\"x\"],\"max\":4294967295}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\",\"actions\":[\"x\"],\"lease_ms\":1}"),
        ("POST", "/api/v1/work/heartbeat", "{\"leases\":[\"x\"]}"),
        ("POST", "/api/v1/work/heartbeat", "{\"leases\":[\"0000000000000000.0.1.1.zzzzzzzzzzzzzzzzzzzzzzzzzzz\"]}"),
        ("POST", "/api/v1/work/complete", "{\"results\":[{\"lease\":\"x\"}]}"),
        ("GET", "/api/v1/items/..%2f..%2fetc", ""),
        ("GET", "/api/v1/items/%1b%5b2J", ""),
        ("GET", "/api/v1/items?sort=%1b", ""),
        ("GET", "/api/v1/items/%24x", ""),
        ("POST", "/api/v1/items", "{\"title\":\"\"}"),
        ("POST", "/api/v1/items", "{\"title\":\"a\",\"id\":\"../x\"}"),
        ("POST", "/api/v1/items", "{\"title\":\"a\",\"parent\":\"@\"}"),
        ("POST", "/api/v1/items/batch", "{\"ops\":[{\"op\":\"explode\"}]}"),
        ("POST", "/api/v1/items/batch", &deep),
        ("POST", "/api/v1/hooks/%00", "{}"),
        ("POST", "/api/v1/hooks/..%2f..%2fx.1.00", "{}"),
        ("POST", "/api/v1/gates", "{\"gateType\":\"door\"}"),
        ("POST", "/api/v1/flows/plan", "{\"source\":\"flow: ../x\"}"),
        ("GET", "/api/v1/flows/..%2fx/graph", ""),
        ("GET", "/api/v1/schedules/..%2f..%2fx", ""),
        ("POST", "/api/v1/queues/..%2fx", "{}"),
        ("POST", "/api/v1/tokens", "{\"name\":\"../x\",\"role\":\"admin\"}"),
        ("GET", "/api/v1/runs/0000000000000000/logs?task=..%2f..%2fetc%2fpasswd", ""),
        ("GET", "/api/v1/events?run=..%2fx", ""),
    ] {
        let answer = stage.ask(method, path, &[], body).await;
        assert!((400..500).contains(&answer.status), "{method} {path}: {} {}", answer.status, answer.text);
        assert!(!answer.code().is_empty(), "{method} {path}: {}", answer.text);
        assert!(!answer.text.contains('\u{1b}') && !answer.text.contains('\0'), "{method} {path}");
    }
    let key = stage.ask("POST", "/api/v1/runs", &[("Idempotency-Key", &long)], "{}").await;
    assert_eq!(key.code(), "bad_key");
}

#[tokio::test]
async fn bytes_that_are_no_request_only_end_their_connection() {
    let stage = Stage::open().await;
    for bytes in [
        &b"\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
    ] {
        let answer = stage.raw(bytes).await;
        assert!(answer.status == 0 || (400..500).contains(&answer.status), "{bytes:?}: {}", answer.status);
    }
    assert_eq!(stage.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_body_over_its_bound_is_refused_and_text_is_not_taken_for_json() {
    let stage = Stage::open().await;
    let large = json!({ "source": "x".repeat(33 << 20) }).to_string();
    assert_eq!(stage.ask("POST", "/api/v1/runs", &[], &large).await.status, 413);
    let plain = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{FLOW}",
        FLOW.len()
    );
    assert_eq!(stage.raw(plain.as_bytes()).await.code(), "not_json");
}
