//! Spans join those of whoever started a run, and a collector can slow nothing.

use crate::stage::{FLOW, Stage};
use edgewise_core::flow::compile_file;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector that takes everything, and what it took.
pub async fn collector() -> (String, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let tell = tell.clone();
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                while let Ok(n) = stream.read_buf(&mut bytes).await {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    if let Some((head, body)) = text.split_once("\r\n\r\n")
                        && let Ok(value) = serde_json::from_str::<Value>(body)
                    {
                        assert!(head.starts_with("POST /v1/traces "), "{head}");
                        tell.send(value).unwrap();
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
                        bytes.clear();
                    }
                    if n == 0 {
                        return;
                    }
                }
            });
        }
    });
    (url, told)
}

/// The attributes of something, by name.
pub fn about(told: &Value) -> Value {
    let all = told["attributes"].as_array().unwrap().iter();
    all.map(|one| (one["key"].as_str().unwrap().to_owned(), one["value"]["stringValue"].clone())).collect()
}

/// Starts a run within a trace, has its task fail once and succeed then, and gives the leases.
async fn performed(stage: &Stage) -> Vec<Value> {
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let body = json!({ "source": FLOW.replace("retry: 3", "retry: { max_attempts: 3, backoff: { kind: fixed, base: 1ms } }") }).to_string();
    let started = stage.ask("POST", "/api/v1/runs", &[("traceparent", &traceparent)], &body).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let mut leases = Vec::new();
    for result in [json!({ "error": { "type": "down", "message": "not now" } }), json!({ "output": 1 })] {
        let claim = json!({ "worker": "w", "actions": ["greet"], "wait_ms": 20_000 });
        let lease = stage.post("/api/v1/work/claim", &claim).await.json()["leases"][0].clone();
        let mut result = result;
        result["lease"] = lease["lease"].clone();
        assert_eq!(stage.post("/api/v1/work/complete", &json!({ "results": [result] })).await.status, 200);
        leases.push(lease);
    }
    leases
}

#[tokio::test]
async fn a_run_and_its_attempts_are_spans_of_the_trace_that_started_it() {
    let stage = Stage::open().await;
    let (url, mut told) = collector().await;
    stage.app.export(&url).await.unwrap();
    let leases = performed(&stage).await;
    let mut spans: Vec<Value> = Vec::new();
    while spans.len() < 3 {
        let sent = told.recv().await.unwrap();
        let named = json!({ "service.name": "edgewise", "edgewise.tenant": "local", "edgewise.workspace": "default" });
        assert_eq!(about(&sent["resourceSpans"][0]["resource"]), named);
        spans.extend(sent["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone());
    }
    let run = spans.iter().find(|span| span["name"] == "greet").unwrap();
    let attempts: Vec<&Value> = spans.iter().filter(|span| span["name"] == "hello").collect();
    assert_eq!((&run["traceId"], &run["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    assert_eq!(run["status"]["code"], 1);
    for (lease, span, code) in [(&leases[0], attempts[0], 2), (&leases[1], attempts[1], 1)] {
        assert_eq!((&span["traceId"], &span["parentSpanId"]), (&json!(TRACE), &run["spanId"]));
        assert_eq!(span["status"]["code"], code, "{span}");
        let own = format!("00-{TRACE}-{}-01", span["spanId"].as_str().unwrap());
        assert_eq!(lease["traceparent"], own, "the worker's spans are children of the attempt's");
    }
    assert_ne!(attempts[0]["spanId"], attempts[1]["spanId"]);
}

#[tokio::test]
async fn a_collector_that_is_not_there_costs_spans_and_nothing_else() {
    let stage = Stage::open().await;
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    stage.app.export(&format!("http://{gone}/")).await.unwrap();
    performed(&stage).await;
    while !stage.get("/metrics").await.text.contains("edgewise_otlp_dropped_total 3\n") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_run_that_was_started_without_a_trace_hands_none_on() {
    let stage = Stage::open().await;
    let body = json!({ "source": FLOW }).to_string();
    for header in ["", "nonsense", "00-00000000000000000000000000000000-0000000000000000-01"] {
        assert_eq!(stage.ask("POST", "/api/v1/runs", &[("traceparent", header)], &body).await.status, 200);
        let claim = json!({ "worker": "w", "actions": ["greet"] });
        let lease = stage.post("/api/v1/work/claim", &claim).await.json()["leases"][0].clone();
        assert_eq!(lease.get("traceparent"), None, "{lease}");
    }
}

#[tokio::test]
async fn a_run_within_a_run_is_in_the_trace_of_its_parent() {
    let stage = Stage::open().await;
    let source = "flow inner():\n    x = @greet()\n    return x\n\nflow outer():\n    y = flow inner()\n    return y\n";
    let body = json!({ "source": source, "file": "f.flow", "flow": "outer" }).to_string();
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let started = stage.ask("POST", "/api/v1/runs", &[("traceparent", &traceparent)], &body).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let claim = json!({ "worker": "w", "actions": ["greet"], "wait_ms": 20_000 });
    let lease = stage.post("/api/v1/work/claim", &claim).await.json()["leases"][0].clone();
    let (outer, inner) = (started.json()["run"].clone(), lease["run"].as_str().unwrap().to_owned());
    assert_ne!(outer, json!(inner));
    let shown = stage.get(&format!("/api/v1/runs/{inner}")).await.json();
    let label = shown["labels"]["traceparent"].as_str().unwrap_or_else(|| panic!("{shown}"));
    assert!(label.starts_with(&format!("00-{TRACE}-")) && !label.contains(PARENT), "{label}");
    assert!(lease["traceparent"].as_str().unwrap().starts_with(&format!("00-{TRACE}-")), "{lease}");
}

#[tokio::test]
async fn a_run_that_begins_at_an_address_or_by_the_command_line_is_in_the_trace_of_whoever_called() {
    let stage = Stage::open().await;
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let header = [("traceparent", traceparent.as_str())];
    let flow = "flow: begun\non: { webhook: {} }\ntasks: { a: { action: greet } }\n";
    stage.post("/api/v1/flows", &json!({ "source": flow })).await;
    let path = stage.post("/api/v1/flows/begun/url", &json!({})).await.json()["path"].as_str().unwrap().to_owned();
    let plan: Value = serde_json::from_slice(&compile_file(flow, "f.yaml").unwrap()[0].plan.encode().1).unwrap();
    let ask = json!({ "start": { "plan": plan, "input": {}, "by": "ann" } }).to_string();
    for (path, body) in [(path.as_str(), "{}"), ("/api/v1/ask", &ask)] {
        let begun = stage.ask("POST", path, &header, body).await;
        assert_eq!(begun.status, 200, "{}", begun.text);
        let claim = json!({ "worker": "w", "actions": ["greet"], "wait_ms": 20_000 });
        let lease = stage.post("/api/v1/work/claim", &claim).await.json()["leases"][0].clone();
        assert!(lease["traceparent"].to_string().contains(TRACE), "{path}: {lease}");
    }
}

#[tokio::test]
async fn a_trace_that_is_not_sampled_is_handed_on_and_not_exported() {
    let stage = Stage::open().await;
    let (url, mut told) = collector().await;
    stage.app.export(&url).await.unwrap();
    let body = json!({ "source": "flow: f\ntasks: { a: { emit: x } }" }).to_string();
    let other = TRACE.replace('4', "5");
    for (trace, flags) in [(TRACE, "00"), (&other, "01")] {
        let traceparent = format!("00-{trace}-{PARENT}-{flags}");
        let started = stage.ask("POST", "/api/v1/runs", &[("traceparent", &traceparent)], &body).await.json();
        let run = started["run"].as_str().unwrap();
        stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=20000")).await;
        let shown = stage.get(&format!("/api/v1/runs/{run}")).await.json();
        assert_eq!(shown["labels"]["traceparent"], traceparent);
    }
    // The second comes after the first would have.
    let sent = told.recv().await.unwrap().to_string();
    assert!(sent.contains(&other) && !sent.contains(TRACE), "{sent}");
}
