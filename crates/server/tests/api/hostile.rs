//! Hostile input: refused or harmless, and never an error of ours.

use crate::stage::{FLOW, Stage};
use edgewise_server::{Listen, Patience};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn strange_requests_are_refused_with_a_problem() {
    let stage = Stage::open().await;
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = "x".repeat(10_000);
    for (method, path, body) in [
        ("GET", "/../../etc/passwd", ""),
        ("GET", "/api/v1/runs/..%2f..%2fetc%2fpasswd", ""),
        ("GET", "/api/v1/runs/%2e%2e/%2e%2e/metrics", ""),
        ("GET", "/api/v1/runs/..%5c..%5cwindows", ""),
        ("GET", "//etc/passwd", ""),
        ("GET", "/api/v1/audit?since=%1b%5b2J", ""),
        ("GET", "/api/v1/audit?limit=99999999999999999999", ""),
        ("GET", "/api/v1/runs?limit=1&limit=2", ""),
        ("GET", "/api/v1/runs?after=%ff", ""),
        ("GET", "/api/v1/runs?q=label.%1b%5b2J=x%20state:failed%20nonsense:1", ""),
        ("GET", "/api/v1/runs/%0d%0aSet-Cookie:%20a=b", ""),
        ("GET", "/api/v1/runs/%F0%9F%92%A9", ""),
        ("POST", "/api/v1/runs", "{\"flow\":\"a\",\"flow\":\"b\"}"),
        ("POST", "/api/v1/runs", "\u{feff}{}"),
        ("POST", "/api/v1/runs", "{\"source\":\"flow: x\\ntasks: { a: { run: 'echo ${{ inputs.x }}' } }\"}"),
        ("POST", "/api/v1/runs", "{\"source\":\"a: &a [*a]\"}"),
        ("POST", "/api/v1/runs", "{\"source\":\"flow: x\\u0000y\"}"),
        ("POST", "/api/v1/runs", "{\"flow\":\"x\",\"labels\":{\"\\u001b[2J\":\"x\"}}"),
        ("POST", "/api/v1/runs", "{\"input\":1e999}"),
        ("POST", "/api/v1/runs/0000000000000000/approve", "{\"task\":\"../../x\"}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\\u001b]0;x\\u0007\",\"actions\":[\"x\"]}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\",\"actions\":[\"x\"],\"max\":1e9}"),
        ("POST", "/api/v1/work/claim", "{\"worker\":\"w\",\"actions\":[\"x\"],\"wait_ms\":-1}"),
        ("POST", "/api/v1/work/release", "{\"leases\":[\"0000000000000000.4294967296.1.1.x\"]}"),
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
        ("GET", "/api/v1/runs/0000000000000000?at=18446744073709551616", ""),
        ("GET", "/api/v1/runs/0000000000000000/graph?form=svg&at=%3Cscript%3E", ""),
        ("GET", "/api/v1/runs/0000000000000000?at=+999999999-12-31T23:59:59Z", ""),
        ("GET", "/api/v1/domain/..%2f..%2fetc", ""),
        ("GET", "/api/v1/domain/shop?after=-1", ""),
        ("GET", "/api/v1/domain/shop?consumer=%1b%5b2J", ""),
        ("GET", "/api/v1/domain/shop?consumer=a&after=1", ""),
        ("POST", "/api/v1/domain/shop/ack", "{\"consumer\":\"c\",\"place\":18446744073709551615}"),
        ("POST", "/api/v1/domain/shop/ack", "{\"consumer\":\"webhook/x\",\"place\":0}"),
        ("POST", "/api/v1/webhooks", "{\"namespace\":\"shop\",\"url\":\"http://user:pass@127.0.0.1/\"}"),
        ("POST", "/api/v1/webhooks", "{\"namespace\":\"shop\",\"url\":\"http://a\\r\\nX: y/\"}"),
        ("POST", "/api/v1/webhooks", "{\"namespace\":\"shop\",\"url\":\"gopher://127.0.0.1:6379/_FLUSHALL\"}"),
        ("GET", "/api/v1/webhooks/..%2f..%2fx/dead", ""),
        ("POST", "/api/v1/webhooks/%00/replay", "{}"),
        ("POST", "/api/v1/look", "{\"runs\":{\"limit\":18446744073709551616}}"),
        ("POST", "/api/v1/look", "{\"log\":{\"run\":\"0000000000000000\",\"name\":\"../../ledger.db\",\"from\":0}}"),
        ("POST", "/api/v1/ask", "{\"Explode\":{}}"),
    ] {
        let answer = stage.ask(method, path, &[], body).await;
        assert!((400..500).contains(&answer.status), "{method} {path}: {} {}", answer.status, answer.text);
        assert!(!answer.code().is_empty(), "{method} {path}: {}", answer.text);
        assert!(!answer.text.contains('\u{1b}') && !answer.text.contains('\0'), "{method} {path}");
    }
    let key = stage.ask("POST", "/api/v1/runs", &[("Idempotency-Key", &long)], "{}").await;
    assert_eq!(key.code(), "bad_key");
}

/// Who has shown nothing yet is not read for long, and takes no room among the answers that are kept for others.
#[tokio::test]
async fn a_key_of_somebody_without_a_proof_is_neither_read_for_nor_remembered() {
    let stage = Stage::with(false).await;
    let large = "x".repeat(33 << 20);
    for path in ["/api/v1/hooks/x.1.00", "/api/v1/starts/x.1.00"] {
        for body in ["{}", "[]", &large] {
            let answer = stage.ask("POST", path, &[("Idempotency-Key", "k")], body).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (404, "hook_not_found"),
                "{path}, {} bytes",
                body.len()
            );
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_request_only_end_their_connection() {
    let usual = Listen::default();
    // Some of them look like the beginning of a request: nobody waits long for the rest.
    let patience = Patience { head: Duration::from_millis(50), body: Duration::from_millis(50), ..usual.patience };
    let stage = Stage::listening(true, Listen { patience, ..usual }).await;
    for bytes in [
        &b"\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"GET /healthz HTTP/1.1\nHost : localhost\n\n",
        b"GET /healthz\r\nX: y HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic YTpi\r\nConnection: close\r\n\r\n",
        b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\nConnection: close\r\n\r\n",
        b"CONNECT example.org:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET http://example.org/api/v1/runs HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: \xff\r\nConnection: close\r\n\r\n",
        b"GET /api/v1/domain/f/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 1 2\r\nConnection: close\r\n\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Encoding: gzip\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{",
        b"GET /api/v1/runs HTTP/1.1\r\nConnection: close\r\n\r\n",
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

/// What somebody says comes back as text, wherever it is shown, and never as a line or a command of its own.
#[tokio::test]
async fn what_is_said_is_never_taken_for_a_line_a_header_or_a_command() {
    let stage = Stage::open().await;
    let ansi = "\u{1b}[2J\r\nid: 9\r\n\r\ndata: x";
    let run = stage.start(FLOW).await;
    let act = json!({ "why": ansi });
    assert_eq!(stage.post(&format!("/api/v1/runs/{run}/cancel"), &act).await.status, 200);
    for path in [format!("/api/v1/runs/{run}"), format!("/api/v1/runs/{run}/events"), "/api/v1/audit".into()] {
        let answer = stage.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text.contains('\u{1b}') && !answer.text.contains("\nid: 9\r"), "{path}: {}", answer.text);
        assert!(!answer.head.to_lowercase().contains("set-cookie"), "{path}: {}", answer.head);
    }
    let named = stage.ask("GET", "/api/v1/runs", &[("Edgewise-As", "\u{1b}[2J")], "").await;
    assert!([400, 403].contains(&named.status), "{}", named.status);
}
