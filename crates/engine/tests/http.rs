//! The HTTP runner against a server of this test's own, on loopback.

use edgewise_core::event::Failure;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::http::{Allowed, Attempt, Http, Rules};
use edgewise_engine::runner::Stop;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

/// Answers one request after another with these responses, and tells what it was sent.
fn serve(responses: Vec<String>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = channel();
    let here = address.clone();
    std::thread::spawn(move || {
        for response in responses {
            let (stream, _) = listener.accept().unwrap();
            let mut from = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if from.read_line(&mut line).unwrap() == 0 || line == "\r\n" {
                    break;
                }
                if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = n.trim().parse().unwrap();
                }
                head += &line;
            }
            let mut body = vec![0; length];
            from.read_exact(&mut body).unwrap();
            tell.send(format!("{head}\n{}", String::from_utf8(body).unwrap())).unwrap();
            let mut to = stream;
            to.write_all(response.replace("HERE", &here).as_bytes()).unwrap();
        }
    });
    (address, told)
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len())
}

fn http() -> Http {
    Http::new(Rules { allow: vec![Allowed::parse("127.0.0.1").unwrap()] }, || Time(1_000))
}

async fn ask(http: &Http, request: Value) -> Result<Value, Failure> {
    http.run(Attempt { request, timeout: Some(Millis(20_000)), key: "run/task/1".into() }, Stop::new()).await
}

#[tokio::test]
async fn the_response_is_the_output() {
    let (at, told) =
        serve(vec![response("201 Created", "Content-Type: application/json\r\nX-A: 1\r\n", r#"{"id":7}"#)]);
    let request = json!({ "method": "POST", "url": format!("{at}/things"), "headers": { "X-Mine": "yes" }, "json": { "a": [1] } });
    let output = ask(&http(), request).await.unwrap();
    assert_eq!((&output["status"], &output["body"]), (&json!(201), &json!({ "id": 7 })));
    assert_eq!(output["headers"]["x-a"], "1");
    let sent = told.recv().unwrap();
    assert!(sent.starts_with("POST /things HTTP/1.1\r\n") && sent.ends_with("\n{\"a\":[1]}"), "{sent}");
    for header in ["x-mine: yes", "content-type: application/json", "idempotency-key: run/task/1"] {
        assert!(sent.contains(header), "{header} in {sent}");
    }
}

#[tokio::test]
async fn texts_are_texts_and_nothing_is_null() {
    let (at, _told) = serve(vec![
        response("200 OK", "Content-Type: text/plain\r\n", "hello"),
        response("204 No Content", "", ""),
        response("200 OK", "Content-Type: application/json\r\n", "{oops"),
    ]);
    let http = http();
    assert_eq!(ask(&http, json!({ "url": at })).await.unwrap()["body"], "hello");
    assert_eq!(ask(&http, json!({ "url": at })).await.unwrap()["body"], Value::Null);
    let failure = ask(&http, json!({ "url": at })).await.unwrap_err();
    assert_eq!((failure.kind.as_str(), failure.retryable), ("bad_output", false));
}

#[tokio::test]
async fn other_responses_are_failures_that_say_whether_and_when_to_try_again() {
    for (status, headers, kind, retryable, after) in [
        ("404 Not Found", "", "http_404", false, None),
        ("429 Too Many Requests", "Retry-After: 7\r\n", "http_429", true, Some(7_000)),
        ("503 Service Unavailable", "Retry-After: 0\r\n", "http_503", true, Some(0)),
        ("500 Internal Server Error", "", "http_500", true, None),
        ("408 Request Timeout", "", "http_408", true, None),
        ("304 Not Modified", "", "http_304", false, None),
    ] {
        let (at, _told) = serve(vec![response(status, headers, "")]);
        let failure = ask(&http(), json!({ "url": at })).await.unwrap_err();
        let found = (failure.kind.as_str(), failure.retryable, failure.retry_after.map(|m| m.0));
        assert_eq!(found, (kind, retryable, after), "{status}");
        assert!(failure.is_a("HttpError"));
    }
}

#[tokio::test]
async fn an_address_that_is_not_public_is_refused_before_anything_is_sent() {
    let (at, told) = serve(vec![]);
    let strict = Http::new(Rules::default(), || Time(1_000));
    let named = at.replace("127.0.0.1", "localhost");
    for url in [&at, &named] {
        let failure = ask(&strict, json!({ "url": url })).await.unwrap_err();
        assert_eq!((failure.kind.as_str(), failure.retryable), ("address_refused", false), "{url}: {failure:?}");
        assert!(failure.message.contains("http_allow"), "{failure:?}");
    }
    assert!(told.try_recv().is_err(), "nothing arrived");
}

#[tokio::test]
async fn a_redirect_is_followed_and_looked_at_again() {
    let (at, told) = serve(vec![response("302 Found", "Location: /next\r\n", ""), response("200 OK", "", "there")]);
    let request = json!({ "method": "POST", "url": format!("{at}/first"), "headers": { "X-Key": "s" }, "body": "b" });
    assert_eq!(ask(&http(), request).await.unwrap()["body"], "there");
    assert!(told.recv().unwrap().starts_with("POST /first"));
    let second = told.recv().unwrap();
    assert!(second.starts_with("GET /next") && second.contains("x-key: s"), "{second}");

    let (at, _told) = serve(vec![response("307 Temporary Redirect", "Location: http://10.0.0.1/\r\n", "")]);
    let failure = ask(&http(), json!({ "url": at })).await.unwrap_err();
    assert_eq!(failure.kind, "address_refused", "what may be asked is decided at every hop");
}

#[tokio::test]
async fn another_host_does_not_get_what_was_meant_for_the_first() {
    let (other, told) = serve(vec![response("200 OK", "", "there")]);
    let (at, _told) = serve(vec![response("307 Temporary Redirect", &format!("Location: {other}/\r\n"), "")]);
    let request = json!({ "url": at, "headers": { "Authorization": "Bearer s", "X-Key": "s" } });
    assert_eq!(ask(&http(), request).await.unwrap()["body"], "there");
    let sent = told.recv().unwrap().to_ascii_lowercase();
    assert!(!sent.contains("authorization") && !sent.contains("x-key") && !sent.contains("idempotency"), "{sent}");
}

#[tokio::test]
async fn redirects_without_end_and_requests_that_cannot_be_made_end_for_good() {
    let (at, _told) = serve(vec![response("302 Found", "Location: HERE/\r\n", ""); 9]);
    let failure = ask(&http(), json!({ "url": at })).await.unwrap_err();
    assert_eq!((failure.kind.as_str(), failure.retryable), ("too_many_redirects", false));
    for request in [
        json!({ "url": "nowhere" }),
        json!({ "url": "file:///etc/passwd" }),
        json!({ "url": 7 }),
        json!({ "url": at, "headers": { "Host": "other" } }),
        json!({ "url": at, "headers": { "X": "a\r\nY: b" } }),
        json!({ "url": at, "headers": "X" }),
    ] {
        let failure = ask(&http(), request.clone()).await.unwrap_err();
        assert_eq!((failure.kind.as_str(), failure.retryable), ("bad_request", false), "{request}");
    }
}

#[tokio::test]
async fn nobody_there_is_worth_another_attempt() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let failure = ask(&http(), json!({ "url": at })).await.unwrap_err();
    assert_eq!((failure.kind.as_str(), failure.retryable), ("unreachable", true));
}

#[tokio::test]
async fn a_response_that_does_not_end_is_not_waited_for_and_a_cancel_is_heard() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    let attempt = |timeout| Attempt { request: json!({ "url": at }), timeout: Some(Millis(timeout)), key: "k".into() };
    let failure = http().run(attempt(1), Stop::new()).await.unwrap_err();
    assert_eq!(failure.kind, "timeout");
    let stop = Stop::new();
    stop.cancel();
    assert_eq!(http().run(attempt(60_000), stop).await.unwrap_err().kind, "cancelled");
}
