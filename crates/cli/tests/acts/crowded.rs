//! A server with a crowd before it: a thousand workers that wait, two hundred readers of streams, some of whom never read,
//! and a webhook's target that never answers. It costs no run, no claim, no event, and a bounded amount of memory.
//!
//! How much slower runs are is measured by `edgewise bench server`; here the bound is so wide that only something that
//! waits for the crowd goes beyond it.

use crate::process::{Process, Project};
use crate::serving::{serve, stop};
use edgewise_cli::descriptors;
use edgewise_client::{Client, Worker, wire};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const WORKERS: usize = 1_000;
const READERS: usize = 200;
/// One of so many readers never reads.
const DEAF: usize = 10;
const RUNS: usize = 100;
/// What the server may need for all of them, in MB.
const GROWN_MB: f64 = 150.0;
/// The same runs beside the crowd take at most so many times as long as alone, and this much more.
const SLOWER: (u32, Duration) = (5, Duration::from_secs(5));
/// Long enough for any machine; only a hang gets there.
const HANG: Duration = Duration::from_secs(300);
const FLOW: &str = "flow: w\nnamespace: crowd\ntasks:\n  a: { action: noop, publish: [done] }\n  b: { after: a, action: noop }\n  c: { after: b, action: noop }\n";

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, future).await.unwrap_or_else(|_| panic!("hangs: {what}"))
}

/// Runs from their start to their end, by a worker that is at work; how long all of them took.
async fn go_through(client: &Client) -> Duration {
    let (begun, mut runs) = (Instant::now(), JoinSet::new());
    for _ in 0..RUNS {
        let client = client.clone();
        runs.spawn(async move {
            let asked = wire::Start { source: Some(FLOW.into()), ..Default::default() };
            let run = client.start(&asked).await.unwrap().run;
            client.wait(&run, HANG).await.unwrap().state
        });
    }
    while let Some(state) = within("the runs", runs.join_next()).await {
        assert_eq!(state.unwrap().as_deref(), Some("Complete"));
    }
    begun.elapsed()
}

/// A webhook for the flow's events, at a target that takes what is said to it and never answers.
async fn hang(client: &Client) -> Arc<AtomicUsize> {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let body = json!({ "namespace": "crowd", "url": format!("http://{}/", target.local_addr().unwrap()) });
    client.post::<Value>("/api/v1/webhooks", &body).await.unwrap();
    let called = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&called);
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = target.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            held.push(stream);
        }
    });
    called
}

/// A stream of events, read until so many of a name have come.
async fn read(address: String, path: &str, name: &str, count: usize) -> TcpStream {
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await.unwrap();
    let mut lines = BufReader::new(stream);
    let (wanted, mut seen, mut line) = (format!("event: {name}\n"), 0, String::new());
    while seen < count {
        line.clear();
        assert!(lines.read_line(&mut line).await.unwrap() > 0, "the stream ended");
        seen += usize::from(line == wanted);
    }
    lines.into_inner()
}

/// Everybody at once; those who read give their count when they have it.
fn gather_readers(address: &str) -> JoinSet<TcpStream> {
    let mut readers = JoinSet::new();
    for n in 0..READERS {
        let address = address.to_owned();
        let count = if n % DEAF == 0 { 0 } else { RUNS };
        readers.spawn(async move {
            match n % 2 {
                0 => read(address, "/api/v1/events?type=RunTriggered,TaskReady", "RunTriggered", count).await,
                _ => read(address, "/api/v1/domain/crowd/events", "done", count).await,
            }
        });
    }
    readers
}

/// Workers that wait for one task each, and ask again until they have it.
fn gather_workers(client: &Client) -> JoinSet<String> {
    let mut workers = JoinSet::new();
    for n in 0..WORKERS {
        let client = client.clone();
        let claim = wire::Claim {
            worker: format!("w{n}"),
            actions: vec!["rare".into()],
            lease_ms: Some(3_600_000),
            wait_ms: Some(60_000),
            ..Default::default()
        };
        workers.spawn(async move {
            loop {
                if let Some(lease) = client.claim(&claim).await.unwrap().leases.pop() {
                    return lease.lease;
                }
            }
        });
    }
    workers
}

/// What a line of `/metrics` says.
async fn metric(address: &str, name: &str) -> usize {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut text = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut text).await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}

fn memory_mb(server: &Process) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap_or_default() / 1024.0
}

/// Each of the workers that wait is given one task, none of them twice, and what they did counts.
async fn serve_all(client: &Client, mut workers: JoinSet<String>) {
    let items = (0..WORKERS).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let source = format!("flow: rare\ntasks: {{ a: {{ each: [{items}], action: rare }} }}\n");
    let asked = wire::Start { source: Some(source), ..Default::default() };
    let run = client.start(&asked).await.unwrap().run;
    let mut leases = BTreeSet::new();
    while let Some(lease) = within("the claims", workers.join_next()).await {
        leases.insert(lease.unwrap());
    }
    assert_eq!(leases.len(), WORKERS, "no claim is lost, and no lease is given to two");
    let results = leases.into_iter().map(|lease| wire::Finish { lease, output: None, error: None }).collect();
    let done = client.complete(&wire::Complete { results, claim: None }).await.unwrap();
    assert!(done.results.iter().all(|outcome| outcome.status == 200), "{done:?}");
    assert_eq!(client.wait(&run, HANG).await.unwrap().state.as_deref(), Some("Complete"));
}

#[test]
fn a_thousand_workers_that_wait_two_hundred_readers_and_a_webhook_that_hangs_slow_nobody() {
    descriptors::raise();
    let project = Project::new();
    std::fs::write(project.path().join("edgewise.toml"), "http_allow = [\"127.0.0.1\"]\n").unwrap();
    let (server, url) = serve(&project, "");
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = Client::new(&url).unwrap();
        let working = Worker::new(&client, "normal").slots(32).on("noop", |_, _| async { Ok(Value::Null) }).start();
        let called = hang(&client).await;
        go_through(&client).await;
        let (alone, before) = (go_through(&client).await, memory_mb(&server));
        let (mut readers, workers) = (gather_readers(&address), gather_workers(&client));
        let gathered = async {
            while metric(&address, "edgewise_claims_waiting").await < WORKERS
                || metric(&address, "edgewise_sse_readers").await < READERS
                || called.load(Ordering::Relaxed) == 0
            {
                tokio::task::yield_now().await;
            }
        };
        within("the crowd", gathered).await;
        let beside = go_through(&client).await;
        while let Some(read) = within("the readers", readers.join_next()).await {
            drop(read.unwrap());
        }
        let grown = memory_mb(&server) - before;
        println!("alone {alone:?}, beside the crowd {beside:?}, {grown:.0} MB more than {before:.0} MB");
        serve_all(&client, workers).await;
        assert!(beside <= alone * SLOWER.0 + SLOWER.1, "alone {alone:?}, beside the crowd {beside:?}");
        assert!(grown <= GROWN_MB, "{grown} MB more");
        working.stop(HANG).await.unwrap();
    });
    // Whoever is still connected hangs up.
    runtime.shutdown_timeout(Duration::from_secs(1));
    assert_eq!(stop(server).code, 0);
}
