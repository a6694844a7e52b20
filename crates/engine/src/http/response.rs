//! Responses: a good one is the output, another a failure that says whether to try again, and when.

use edgewise_core::event::Failure;
use edgewise_core::limits;
use edgewise_core::time::{Millis, Time};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER, SET_COOKIE};
use reqwest::{Response, StatusCode};
use serde_json::{Map, Value, json};

/// How much of a response is said in the message of a failure.
const SAID: usize = 300;

/// The output, or why there is none.
pub(super) async fn read(mut response: Response, now: Time) -> Result<Value, Failure> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > limits::OUTPUT_BYTES => {
                let message = format!("the response has more than {} bytes", limits::OUTPUT_BYTES);
                return Err(Failure::permanent("output_too_large", message));
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => {
                let message = format!("the response broke off after {} bytes: {error}", bytes.len());
                return Err(Failure { is: vec!["HttpError".into()], ..Failure::new("unreachable", message) });
            }
        }
    }
    if !status.is_success() {
        return Err(unsuccessful(status, &headers, &bytes, now));
    }
    let body = body(&headers, bytes)?;
    Ok(json!({ "status": status.as_u16(), "headers": shown(&headers), "body": body }))
}

/// JSON as what it says, everything else as a text.
fn body(headers: &HeaderMap, bytes: Vec<u8>) -> Result<Value, Failure> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "application/json" || kind.ends_with("+json") {
        let bad = |e| Failure::permanent("bad_output", format!("the response is called JSON and is none: {e}"));
        return serde_json::from_slice(&bytes).map_err(bad);
    }
    let bad =
        |_| Failure::permanent("bad_output", format!("the response ({kind}) is neither JSON nor a text in UTF-8"));
    String::from_utf8(bytes).map(Value::String).map_err(bad)
}

/// Headers by their names in small letters; cookies are not for the ledger.
fn shown(headers: &HeaderMap) -> Map<String, Value> {
    let mut all = Map::new();
    for name in headers.keys().filter(|name| **name != SET_COOKIE) {
        let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        all.insert(name.as_str().to_owned(), values.join(", ").into());
    }
    all
}

/// Trying again may help where the other side says so, or is at fault itself.
fn unsuccessful(status: StatusCode, headers: &HeaderMap, bytes: &[u8], now: Time) -> Failure {
    let code = status.as_u16();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SAID)]);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = match said.is_empty() {
        true => format!("the response is {status}"),
        false => format!("the response is {status}: {said}"),
    };
    let again = status.is_server_error() || matches!(code, 408 | 425 | 429);
    Failure {
        retryable: again,
        retry_after: asked_to_wait(headers, now),
        is: vec![format!("http_{}xx", code / 100), "HttpError".into()],
        ..Failure::new(format!("http_{code}"), message)
    }
}

/// How long the other side asks to wait, if it does.
pub(super) fn asked_to_wait(headers: &HeaderMap, now: Time) -> Option<Millis> {
    headers.get(RETRY_AFTER).and_then(|v| v.to_str().ok()).and_then(|text| retry_after(text, now))
}

/// Seconds, or an instant of the other side's clock.
fn retry_after(text: &str, now: Time) -> Option<Millis> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(Millis(seconds.saturating_mul(1_000)));
    }
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp().as_millisecond();
    Some(Time(u64::try_from(at).ok()?).since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_an_instant() {
        let now = Time(784_111_777_000 - 30_000);
        for (text, expected) in [
            ("7", Some(7_000)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(30_000)),
            ("Sun, 06 Nov 1994 08:40:37 GMT", Some(0)),
            ("soon", None),
            ("-3", None),
        ] {
            assert_eq!(retry_after(text, now).map(|m| m.0), expected, "{text}");
        }
    }
}
