//! What is asked again, and what is not.

use edgewise_client::{Backoff, Client, Worker, wire};
use edgewise_core::Kind;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const BUSY: &str = r#"{"type":"urn:x","title":"Not now","status":503,"detail":"the disk is full","code":"disk_full"}"#;

/// A server that answers so, one connection after the other, and tells the heads of the requests that it got.
async fn answers(all: &'static [(&'static str, &'static str)]) -> (Client, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move {
        let mut heads = Vec::new();
        for (status, body) in all {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = vec![0; 4_096];
            let read = stream.read(&mut head).await.unwrap();
            heads.push(String::from_utf8_lossy(&head[..read]).into_owned());
            if status.is_empty() {
                continue;
            }
            let answer =
                format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        heads
    });
    let backoff = Backoff { tries: 3, first: Duration::from_millis(1), most: Duration::from_millis(2) };
    (Client::new(&format!("http://{address}")).unwrap().with_backoff(backoff), served)
}

fn key(head: &str) -> &str {
    head.lines().find_map(|line| line.strip_prefix("idempotency-key: ")).unwrap_or_default()
}

#[tokio::test]
async fn a_start_is_asked_again_under_the_same_key_until_it_is_answered() {
    let (client, served) =
        answers(&[("503 Busy", BUSY), ("", ""), ("200 OK", r#"{"run":"7","new":true,"more":"of a later server"}"#)])
            .await;
    assert_eq!(client.start(&wire::Start::default()).await.unwrap().run, "7");
    let heads = served.await.unwrap();
    assert!(key(&heads[0]).len() > 20 && heads.iter().all(|head| key(head) == key(&heads[0])), "{heads:?}");
}

#[tokio::test]
async fn all_registered_flows_are_listed_however_many_pages_that_takes() {
    const PAGE: &str = r#"{"flows":[FLOW],"next":"a b"}"#;
    const LAST: &str = r#"{"flows":[FLOW]}"#;
    let flow = r#"{"flow":"a","plan":"p","version":1,"at":"2027-01-31T00:00:00Z","by":"ann"}"#;
    let page = |text: &str| -> &'static str { Box::leak(text.replace("FLOW", flow).into_boxed_str()) };
    let all = vec![("200 OK", page(PAGE)), ("200 OK", page(PAGE)), ("200 OK", page(LAST))];
    let (client, served) = answers(Box::leak(all.into_boxed_slice())).await;
    let flows = client.flows().await.unwrap();
    assert_eq!((flows.flows.len(), flows.next), (3, None));
    let heads = served.await.unwrap();
    assert!(heads[1].starts_with("GET /api/v1/flows?after=a%20b "), "{heads:?}");
}

#[tokio::test]
async fn what_does_not_pass_is_not_asked_again_and_what_does_is_given_up_after_a_while() {
    let (client, served) = answers(&[("503 Busy", BUSY), ("503 Busy", BUSY), ("503 Busy", BUSY)]).await;
    let error = client.flows().await.unwrap_err();
    assert_eq!((error.kind, error.code.as_str()), (Kind::Unavailable, "disk_full"));
    assert_eq!(served.await.unwrap().len(), 3);
    let (client, served) = answers(&[("404 Not Found", "<html>")]).await;
    let error = client.flows().await.unwrap_err();
    assert_eq!((error.kind, error.code.as_str()), (Kind::Invalid, "not_a_server"));
    assert_eq!(served.await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_is_away_is_said_to_be() {
    let (client, served) = answers(&[]).await;
    served.await.unwrap();
    let error = client.flows().await.unwrap_err();
    assert_eq!((error.kind, error.code.as_str()), (Kind::Unavailable, "no_server"));
    assert!(error.message.contains(client.address()), "{error}");
}

/// The `Last-Event-ID` of each request for a stream, and `end` for each question whether the run is over.
fn asked(heads: &[String]) -> Vec<&str> {
    let asked = heads.iter().map(|head| match head.lines().find_map(|line| line.strip_prefix("last-event-id: ")) {
        _ if head.starts_with("GET /api/v1/runs/7/end ") => "end",
        id => id.unwrap_or_default(),
    });
    asked.collect()
}

#[tokio::test]
async fn the_events_of_a_run_end_when_the_run_has_and_not_with_their_connection() {
    let (client, served) = answers(&[
        ("200 OK", "id: 1\nevent: A\ndata: {}\n\n"),
        ("200 OK", r#"{"run":"7"}"#),
        ("200 OK", ": still here\n\nid: 2\nevent: B\ndata: {}\n\nid: 3\nevent: torn"),
        ("200 OK", r#"{"run":"7","state":"Complete"}"#),
        ("200 OK", "id: 3\nevent: C\ndata: {}\n\n"),
        ("200 OK", r#"{"run":"7","state":"Complete"}"#),
        ("200 OK", ""),
    ])
    .await;
    let (mut events, mut names) = (client.events("7", None), Vec::new());
    while let Some(event) = events.next().await.unwrap() {
        names.push(event.name);
    }
    assert_eq!(names, ["A", "B", "C"]);
    assert_eq!(asked(&served.await.unwrap()), ["", "end", "1", "end", "2", "end", "3"]);
}

#[tokio::test]
async fn a_stream_without_an_end_goes_on_behind_the_last_event_that_has_an_id() {
    let (client, served) = answers(&[
        ("200 OK", "id: 5\nevent: durable\ndata: {}\n\nevent: fast\ndata: {}\n\n"),
        ("200 OK", "event: fast\ndata: {}\n\n"),
        ("200 OK", ""),
        (
            "401 Unauthorized",
            r#"{"type":"urn:x","title":"No","status":401,"detail":"it was revoked","code":"bad_token"}"#,
        ),
    ])
    .await;
    let (mut events, mut ids) = (client.stream("/api/v1/domain/shop/events", None), Vec::new());
    let error = loop {
        match events.next().await {
            Ok(event) => ids.push(event.expect("a stream of a queue has no end").id),
            Err(error) => break error,
        }
    };
    assert_eq!((ids, error.code.as_str()), (vec!["5".to_owned(), String::new(), String::new()], "bad_token"));
    assert_eq!(asked(&served.await.unwrap()), ["", "5", "5", "5"]);
}

#[tokio::test]
async fn a_worker_reports_until_an_answer_decides_and_goes_on() {
    const BUSY: &str = r#"{"type":"urn:x","title":"x","status":409,"detail":"try again","code":"too_busy"}"#;
    const BROKEN: &str = r#"{"type":"urn:x","title":"x","status":500,"detail":"a rule of ours","code":"unprintable"}"#;
    const LEASES: &str = r#"{"leases":[{"lease":"l","run":"r","task":"t","attempt":1,"max_attempts":1,"key":"k",
        "action":"greet","input":null,"deadline":null}]}"#;
    const DONE: &str = r#"{"results":[{"lease":"l","status":200}]}"#;
    let (client, served) = answers(&[
        ("200 OK", LEASES),
        ("409 Conflict", BUSY),
        ("500 Broken", BROKEN),
        ("200 OK", DONE),
        ("200 OK", r#"{"leases":[]}"#),
    ])
    .await;
    let working = Worker::new(&client, "w").slots(1).on("greet", async |_, _| Ok(serde_json::json!(7))).start();
    let heads = served.await.unwrap();
    let paths: Vec<&str> = heads.iter().filter_map(|head| head.split(' ').nth(1)).collect();
    let (claim, complete) = ("/api/v1/work/claim", "/api/v1/work/complete");
    assert_eq!(paths, [claim, complete, complete, complete, claim]);
    working.stop(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn a_stream_that_is_only_quiet_is_taken_up_again_for_as_long_as_it_lasts() {
    const QUIET: (&str, &str) = ("200 OK", ": still here\n\n");
    let told = ("200 OK", "id: 1\nevent: ended\ndata: {}\n\n");
    let (client, served) = answers(Box::leak(Box::new([QUIET, QUIET, QUIET, QUIET, QUIET, told]))).await;
    let event = client.stream("/api/v1/events", None).next().await.unwrap().unwrap();
    assert_eq!((event.id.as_str(), event.name.as_str()), ("1", "ended"));
    assert_eq!(served.await.unwrap().len(), 6);
}
