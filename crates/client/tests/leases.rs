//! How long a worker keeps its leases up, against a server whose answers come when a test says so.

use edgewise_client::{Client, Worker};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long a request may let a test wait for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that leaves its answers to the test, whichever order they come in.
struct Stub {
    asked: mpsc::UnboundedReceiver<Asked>,
    /// What came while something else was waited for.
    early: Vec<Asked>,
}

/// A request that waits for its answer.
struct Asked {
    path: String,
    body: Value,
    stream: TcpStream,
}

impl Stub {
    async fn open() -> (Client, Self) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, asked) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let tell = tell.clone();
                // A test that has ended hears nothing more.
                tokio::spawn(async move { tell.send(read(stream).await) });
            }
        });
        (Client::new(&format!("http://{address}")).unwrap(), Self { asked, early: Vec::new() })
    }

    /// The next request of this kind.
    async fn next(&mut self, what: &str) -> Asked {
        let path = format!("/api/v1/work/{what}");
        if let Some(known) = self.early.iter().position(|asked| asked.path == path) {
            return self.early.remove(known);
        }
        loop {
            let asked = tokio::time::timeout(PATIENCE, self.asked.recv()).await;
            let asked = asked.unwrap_or_else(|_| panic!("no {what} came")).unwrap();
            if asked.path == path {
                return asked;
            }
            self.early.push(asked);
        }
    }
}

impl Asked {
    fn leases(&self) -> Vec<&str> {
        let mut leases: Vec<&str> =
            self.body["leases"].as_array().unwrap().iter().map(|lease| lease.as_str().unwrap()).collect();
        leases.sort_unstable();
        leases
    }

    async fn says(self, body: &Value) {
        self.answers("200 OK", body).await;
    }

    async fn refuses(self, status: u16, code: &str) {
        let problem = json!({ "type": "urn:x", "title": "x", "status": status, "detail": "no", "code": code });
        self.answers(&format!("{status} No"), &problem).await;
    }

    /// To a heartbeat: all of them go on, or none.
    async fn beats(self, go_on: bool) {
        let beats: Vec<Value> =
            self.leases().iter().map(|lease| json!({ "lease": lease, "continue": go_on })).collect();
        self.says(&json!({ "beats": beats })).await;
    }

    async fn answers(mut self, status: &str, body: &Value) {
        let body = body.to_string();
        let answer = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        // Nobody may be there to hear it.
        let _ = self.stream.write_all(answer.as_bytes()).await;
    }
}

async fn read(mut stream: TcpStream) -> Asked {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4_096]);
    loop {
        let read = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return Asked { path: head.split(' ').nth(1).unwrap().to_owned(), body, stream };
        }
        assert!(read > 0, "cut off: {text}");
    }
}

fn lease(lease: &str, action: &str, ms: u64) -> Value {
    json!({ "lease": lease, "run": "r", "task": lease, "attempt": 1, "max_attempts": 1, "key": lease,
        "action": action, "input": null, "deadline": null, "lease_ms": ms })
}

#[tokio::test]
async fn a_heartbeat_that_falls_due_while_another_is_under_way_follows_it_at_once() {
    let (client, mut stub) = Stub::open().await;
    let working = Worker::new(&client, "w").slots(3).on("wait", |_, _| std::future::pending()).start();
    stub.next("claim").await.says(&json!({ "leases": [lease("a", "wait", 150), lease("b", "wait", 900)] })).await;
    let mut first = stub.next("heartbeat").await;
    while first.leases() != ["a"] {
        first.beats(true).await;
        first = stub.next("heartbeat").await;
    }
    // It is answered when the other one is due.
    let due = Instant::now() + Duration::from_millis(300);
    while Instant::now() < due {
        // There is a slot left, for which it claims meanwhile.
        stub.next("claim").await.says(&json!({ "leases": [] })).await;
    }
    first.beats(true).await;
    let next = stub.next("heartbeat").await;
    assert_eq!(next.leases(), ["a", "b"]);
    next.beats(true).await;
    working.wind_down(Duration::ZERO);
}

#[tokio::test]
async fn a_lease_is_kept_up_until_its_report_is_answered_and_no_longer() {
    let (client, mut stub) = Stub::open().await;
    let working = Worker::new(&client, "w").slots(1).on("greet", async |_, _| Ok(json!(7))).start();
    stub.next("claim").await.says(&json!({ "leases": [lease("a", "greet", 90)] })).await;
    stub.next("complete").await.refuses(503, "disk_full").await;
    let report = stub.next("complete").await;
    // Whatever heartbeats are told, the report goes on.
    for go_on in [true, false, true] {
        let beat = stub.next("heartbeat").await;
        assert_eq!(beat.leases(), ["a"]);
        beat.beats(go_on).await;
    }
    assert_eq!(report.body["results"][0], json!({ "lease": "a", "output": 7 }));
    assert_eq!(report.body["claim"]["max"], 1, "its slot is free");
    // One that came too late is answered as well.
    let late = json!([{ "lease": "a", "status": 409, "code": "stale", "detail": "it was over" }]);
    report.says(&json!({ "results": late, "leases": [lease("b", "greet", 90)] })).await;
    let report = stub.next("complete").await;
    // One heartbeat may have gone off before that answer.
    let mut beat = stub.next("heartbeat").await;
    if beat.leases() == ["a"] {
        beat.beats(false).await;
        beat = stub.next("heartbeat").await;
    }
    assert_eq!(beat.leases(), ["b"]);
    working.wind_down(PATIENCE);
    report.says(&json!({ "results": [{ "lease": "b", "status": 200 }] })).await;
    // That heartbeat is never answered: it is about nothing any more, and nobody waits for it.
    tokio::time::timeout(PATIENCE, working.ended()).await.expect("it ends").unwrap();
}

#[tokio::test]
async fn a_lease_whose_report_is_refused_for_good_is_not_waited_for() {
    let (client, mut stub) = Stub::open().await;
    let working = Worker::new(&client, "w").slots(1).on("greet", async |_, _| Ok(json!(7))).start();
    stub.next("claim").await.says(&json!({ "leases": [lease("a", "greet", 30_000)] })).await;
    stub.next("complete").await.refuses(422, "output_too_large").await;
    let report = stub.next("complete").await;
    assert_eq!(report.body["results"][0]["error"]["type"], "output_refused");
    report.refuses(422, "bad_result").await;
    // Its slot is free, and so is the next one's.
    stub.next("claim").await.says(&json!({ "leases": [lease("b", "greet", 30_000)] })).await;
    stub.next("complete").await.refuses(401, "bad_token").await;
    let ended = tokio::time::timeout(PATIENCE, working.ended()).await.expect("it ends");
    assert_eq!(ended.unwrap_err().code, "bad_token");
}
