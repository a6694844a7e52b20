//! What peers may not do to a server: come too often, too many, too large or too slowly.

use crate::stage::{Answer, FLOW, Stage, name, parse, written};
use edgewise_core::rate::Rate;
use edgewise_core::time::Time;
use edgewise_engine::Home;
use edgewise_server::auth::Role;
use edgewise_server::{App, Listen, Parts, Patience, Served, serve_as};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// No peer may take any time at all for one thing, and has all the time for everything else.
fn hurried(head: Option<()>, body: Option<()>) -> Listen {
    let long = Duration::from_secs(3_600);
    let time = |hurry: Option<()>| hurry.map_or(long, |()| Duration::from_millis(20));
    Listen { patience: Patience { handshake: long, head: time(head), body: time(body) }, ..Listen::default() }
}

/// Sends a part of a request, and gives what comes until the server hangs up.
async fn unfinished(stage: &Stage, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    parse(&answer)
}

#[tokio::test]
async fn a_head_that_never_ends_hung_up_on() {
    let stage = Stage::listening(true, hurried(Some(()), None)).await;
    for bytes in [&b""[..], b"GET /heal", b"GET /healthz HTTP/1.1\r\nHost: local"] {
        let answer = unfinished(&stage, bytes).await;
        assert!([0, 408].contains(&answer.status), "{bytes:?}: {}", answer.status);
    }
    let kept = unfinished(&stage, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(kept.status, 200, "answered, and hung up on when no next request came");
}

#[tokio::test]
async fn a_body_that_never_ends_is_answered_with_408_with_or_without_a_key() {
    let stage = Stage::listening(true, hurried(None, Some(()))).await;
    for key in ["", "Idempotency-Key: k\r\n"] {
        let head = format!("POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n{key}Content-Length: 50\r\n\r\n{{");
        let answer = unfinished(&stage, head.as_bytes()).await;
        assert_eq!((answer.status, answer.code().as_str()), (408, "too_slow"), "{key}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_answered_with_431() {
    let stage = Stage::open().await;
    let many: String = (0..200).map(|n| format!("X-{n}: y\r\n")).collect();
    let answer = stage.raw(format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").as_bytes()).await;
    assert_eq!(answer.status, 431);
    let long = "x".repeat(edgewise_server::limits::HEAD_BYTES * 4);
    for (path, header) in [("/healthz", format!("X-Long: {long}\r\n")), (&format!("/{long}"), String::new())] {
        let answer = stage.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n").as_bytes()).await;
        // Whoever is still talking when the server hangs up may not hear why.
        assert!([0, 414, 431].contains(&answer.status), "{}", answer.status);
    }
}

#[tokio::test]
async fn json_is_nested_only_so_deep() {
    let stage = Stage::open().await;
    for (depth, code) in [(100, "bad_input"), (200, "bad_body")] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let body = format!("{{\"source\":{},\"input\":{{\"x\":{deep}}}}}", json!(FLOW));
        let answer = stage.ask("POST", "/api/v1/runs", &[], &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{depth}");
    }
}

#[tokio::test]
async fn one_address_has_only_so_many_connections_and_gets_new_ones_for_old() {
    let stage = Stage::listening(true, Listen { connections_each: 2, ..Listen::default() }).await;
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(stage.address).await.unwrap();
        stream.write_all(request).await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'H', "answered, and kept open");
        open.push(stream);
    }
    assert_eq!(stage.raw(request).await.status, 0, "a third is hung up on");
    drop(open);
    while stage.get("/healthz").await.status != 200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn only_so_many_connections_are_there_at_once_and_the_next_waits_for_its_turn() {
    let stage = Stage::listening(true, Listen { connections: 1, ..Listen::default() }).await;
    let mut first = TcpStream::connect(stage.address).await.unwrap();
    first.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert_eq!(first.read_u8().await.unwrap(), b'H');
    let mut second = TcpStream::connect(stage.address).await.unwrap();
    second.write_all(written("GET", "/healthz", &[], "").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let waiting = tokio::time::timeout(Duration::from_millis(20), second.read_to_end(&mut answer)).await;
    assert!(waiting.is_err(), "nobody listens to it yet");
    drop(first);
    second.read_to_end(&mut answer).await.unwrap();
    assert_eq!(parse(&answer).status, 200);
}

/// A server whose clock stands still until it is told.
async fn timed(listen: Listen) -> (Stage, Arc<AtomicU64>, std::net::SocketAddr) {
    let stage = Stage::with(false).await;
    let time = Arc::new(AtomicU64::new(1_000_000));
    let shown = Arc::clone(&time);
    let parts = Parts {
        engine: stage.engine.clone(),
        home: Home::local(),
        dir: stage.dir().to_owned(),
        clock: Arc::new(move || Time(shown.load(Ordering::Relaxed))),
        trust_loopback: false,
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let serving = serve_as(listener, Served::One(App::new(parts)), listen).unwrap();
    let address = serving.address;
    stage.keep(serving);
    (stage, time, address)
}

fn rate(text: &str) -> Option<Rate> {
    Some(Rate::parse(text).unwrap())
}

#[tokio::test]
async fn an_address_that_asks_too_often_is_told_when_to_come_again() {
    let (_stage, time, address) = timed(Listen { address_rate: rate("1/5s"), ..Listen::default() }).await;
    let ask = || crate::stage::ask(address, "GET", "/healthz", &[], "");
    assert_eq!(ask().await.status, 200);
    let refused = ask().await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_often"));
    assert!(refused.head.to_lowercase().contains("retry-after: 5"), "{}", refused.head);
    time.fetch_add(5_000, Ordering::Relaxed);
    assert_eq!(ask().await.status, 200);
}

#[tokio::test]
async fn a_token_that_asks_too_often_does_not_hold_up_another() {
    let (stage, time, address) = timed(Listen { token_rate: rate("1/3s"), ..Listen::default() }).await;
    let ann = format!("Bearer {}", stage.token("ann", Role::Viewer, None).await);
    let bob = format!("Bearer {}", stage.token(name("robert").as_str(), Role::Viewer, None).await);
    let ask = |token: String| async move {
        crate::stage::ask(address, "GET", "/api/v1/flows", &[("Authorization", &token)], "").await
    };
    assert_eq!(ask(ann.clone()).await.status, 200);
    let refused = ask(ann.clone()).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_often"));
    assert!(refused.head.to_lowercase().contains("retry-after: 3"), "{}", refused.head);
    assert_eq!(ask(bob).await.status, 200);
    time.fetch_add(3_000, Ordering::Relaxed);
    assert_eq!(ask(ann).await.status, 200);
}

#[tokio::test]
async fn the_pace_of_tokens_holds_up_nothing_that_needs_none() {
    let (stage, _time, address) = timed(Listen { token_rate: rate("1/3s"), ..Listen::default() }).await;
    let local = format!("Bearer {}", stage.token("local", Role::Viewer, None).await);
    for (method, path, status) in [
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("POST", "/api/v1/hooks/x", 404),
        ("POST", "/api/v1/starts/x", 404),
        ("GET", "/healthz", 200),
    ] {
        assert_eq!(crate::stage::ask(address, method, path, &[], "").await.status, status, "{path}");
    }
    let own = [("Authorization", local.as_str())];
    assert_eq!(crate::stage::ask(address, "GET", "/api/v1/flows", &own, "").await.status, 200, "strangers used it up");
}
