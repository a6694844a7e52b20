//! Domain events over HTTP: read, acknowledged, streamed; webhooks made and listed.

use crate::stage::{Answer, Stage};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};

const FLOW: &str = "flow: f\nnamespace: shop\npublish: [over]\ntasks:\n  a: { emit: one }\n  b: { after: a, emit: { name: two, payload: { n: 2 } } }\n  c: { after: b, emit: { name: three, delivery: fast } }\n";

/// Asks until an answer is as wanted: events are published a moment after their commit.
pub async fn until(stage: &Stage, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let look = async {
        loop {
            let answer = stage.get(path).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            let value = answer.json();
            if wanted(&value) {
                return value;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), look).await.expect("the events come")
}

fn names(value: &Value) -> Vec<&str> {
    value["events"].as_array().unwrap().iter().map(|at| at["event"]["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_queue_is_read_and_acknowledged_by_each_consumer() {
    let stage = Stage::open().await;
    stage.start(FLOW).await;
    let all = until(&stage, "/api/v1/domain/shop", |value| names(value).len() == 3).await;
    assert_eq!(names(&all), ["one", "two", "over"], "a fast event is in no queue");
    let event = &all["events"][1]["event"];
    assert_eq!(event["specversion"], "1.0");
    assert_eq!(event["data"]["payload"], json!({ "n": 2 }));
    let place = all["events"][1]["place"].as_u64().unwrap();
    let page = stage.get("/api/v1/domain/shop?limit=1").await.json();
    assert_eq!((names(&page), page["next"].as_u64()), (vec!["one"], all["events"][0]["place"].as_u64()));
    let said = stage.post("/api/v1/domain/shop/ack", &json!({ "consumer": "billing", "place": place })).await;
    assert_eq!(said.json(), json!({ "place": place }));
    let left = stage.get("/api/v1/domain/shop?consumer=billing").await.json();
    assert_eq!(names(&left), ["over"]);
    assert_eq!(stage.get("/api/v1/domain").await.json()["namespaces"][0]["events"], 3);
    for (body, code) in [
        (json!({ "consumer": "billing", "place": 1_000_000 }), "not_there_yet"),
        (json!({ "consumer": "webhook/x", "place": 1 }), "reserved_name"),
        (json!({ "consumer": "a b", "place": 1 }), "bad_name"),
    ] {
        let refused: Answer = stage.post("/api/v1/domain/shop/ack", &body).await;
        assert_eq!(refused.code(), code, "{body}: {}", refused.text);
    }
    let forget = |consumer: &str| json!({ "consumer": consumer });
    assert_eq!(stage.post("/api/v1/domain/shop/forget", &forget("billing")).await.status, 200);
    let left = stage.get("/api/v1/domain/shop?consumer=billing").await.json();
    assert_eq!(names(&left), ["one", "two", "over"], "it begins anew");
    for (consumer, code) in [("billing", "consumer_not_found"), ("webhook/x", "reserved_name")] {
        let refused = stage.post("/api/v1/domain/shop/forget", &forget(consumer)).await;
        assert_eq!(refused.code(), code, "{consumer}: {}", refused.text);
    }
}

#[tokio::test]
async fn a_stream_goes_on_behind_the_last_event_that_was_seen_and_tells_fast_ones_too() {
    let stage = Stage::open().await;
    stage.start(FLOW).await;
    let all = until(&stage, "/api/v1/domain/shop", |value| names(value).len() == 3).await;
    let seen = all["events"][0]["place"].as_u64().unwrap();
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    let request =
        format!("GET /api/v1/domain/shop/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: {seen}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut events = Vec::new();
    let read = async {
        let mut started = false;
        while events.len() < 6 {
            let line = lines.next_line().await.unwrap().expect("the stream goes on");
            if let Some(name) = line.strip_prefix("event: ") {
                events.push(name.to_owned());
            }
            if events.len() == 2 && !started {
                started = true;
                stage.start(FLOW).await;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), read).await.expect("the events come");
    assert_eq!(events[..2], ["two", "over"]);
    let mut rest = events[2..].to_vec();
    assert!(rest.contains(&"three".to_owned()), "{rest:?}");
    rest.retain(|name| name != "three");
    assert_eq!(rest, ["one", "two", "over"]);
}

#[tokio::test]
async fn a_webhook_is_made_with_a_secret_that_is_shown_once() {
    let stage = Stage::open().await;
    let body = json!({ "namespace": "shop", "url": "https://example.org/hook", "names": ["one"] });
    let made = stage.post("/api/v1/webhooks", &body).await.json();
    let (id, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    assert!(secret.starts_with("whsec_"));
    let listed = stage.get("/api/v1/webhooks").await;
    assert!(!listed.text.contains("whsec_"), "{}", listed.text);
    assert_eq!(listed.json()["webhooks"][0]["url"], "https://example.org/hook");
    assert_eq!(stage.get(&format!("/api/v1/webhooks/{id}/dead")).await.json(), json!({ "dead": [] }));
    let replayed = stage.post(&format!("/api/v1/webhooks/{id}/replay"), &json!({})).await;
    assert_eq!(replayed.json(), json!({ "events": 0 }));
    assert_eq!(stage.post(&format!("/api/v1/webhooks/{id}/replay"), &json!({ "from": 3 })).await.code(), "bad_body");
    let rotated = stage.post(&format!("/api/v1/webhooks/{id}/rotate"), &json!({})).await.json();
    assert!(rotated["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")), "{rotated}");
    assert_eq!(stage.post("/api/v1/webhooks/nosuch/rotate", &json!({})).await.code(), "webhook_not_found");
    assert_eq!(stage.post(&format!("/api/v1/webhooks/{id}/remove"), &json!({})).await.status, 200);
    assert_eq!(stage.get(&format!("/api/v1/webhooks/{id}/dead")).await.code(), "webhook_not_found");
    let bad = json!({ "namespace": "shop", "url": "file:///etc/passwd" });
    assert_eq!(stage.post("/api/v1/webhooks", &bad).await.code(), "bad_url");
}

#[tokio::test]
async fn a_reader_that_is_too_slow_is_told_that_it_lost_fast_events_and_they_are_counted() {
    const EVENTS: u64 = 7_000;
    const LOST: &str = " fast events were lost, because they were not read in time";
    let stage = Stage::open().await;
    let socket = TcpSocket::new_v4().unwrap();
    // Little room on the way: what is not read soon waits at the server.
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(stage.address).await.unwrap();
    stream.write_all(b"GET /api/v1/domain/f/events HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    while stage.app.readers_of_streams() == 0 {
        tokio::task::yield_now().await;
    }
    let items = (0..EVENTS).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let source = format!(
        "flow: f\ninputs: {{ blob: {{ type: string }} }}\ntasks: {{ a: {{ each: [{items}], emit: {{ name: t, delivery: fast, payload: '${{{{ inputs.blob }}}}' }} }} }}"
    );
    let body = json!({ "source": source, "input": { "blob": "x".repeat(4_096) } });
    assert_eq!(stage.post("/api/v1/runs", &body).await.status, 200);
    let told = async {
        while stage.engine.listeners().counts().0 < EVENTS {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), told).await.expect("the events are told");
    let mut lines = BufReader::new(stream).lines();
    let (mut read, mut lost) = (0, 0);
    let whole = async {
        while read + lost < EVENTS {
            let line = lines.next_line().await.unwrap().expect("the stream goes on");
            read += u64::from(line == "event: t");
            let said = line.strip_prefix(": up to ").and_then(|rest| rest.strip_suffix(LOST));
            lost += said.map_or(0, |count| count.parse().unwrap());
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), whole).await.expect("it is told");
    let dropped = stage.engine.listeners().counts().1;
    assert!(lost > 0 && dropped == lost, "{read} were read and {lost} lost, {dropped} are counted");
    assert!(stage.get("/metrics").await.text.contains(&format!("edgewise_domain_dropped_total {dropped}\n")));
}
