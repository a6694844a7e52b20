//! The HTTP runner: one attempt of an `http:` task, from the request to its output.
//!
//! ```text
//! request ──► address allowed? ──► connect ──► response ──► output { status, headers, body } | Failure
//!                  ▲                               │ 3xx
//!                  └───────────────────────────────┘
//! ```
//!
//! A flow may be written by somebody who may not reach what this machine can reach. So an address is looked
//! at where it is used: names are resolved here, only what they resolved to is connected to, and every
//! redirect is looked at again. Nothing that is sent back is trusted: it is bounded in size, hops and time.

mod address;
mod call;
mod post;
mod redirect;
mod response;

pub use address::{Allowed, Rules};
pub use call::{Called, Missed};

use crate::runner::Stop;
use edgewise_core::event::Failure;
use edgewise_core::plan::{OWN_HEADERS, is_header};
use edgewise_core::time::{Millis, Time};
use redirect::{HOPS, Hop};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Url};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an attempt may take if its task does not say.
const TOTAL: Duration = Duration::from_secs(60);

/// Makes requests, within its rules. Cloning gives another handle to the same connections.
#[derive(Clone)]
pub struct Http {
    /// Made for the first request: it reads the certificates that this machine trusts.
    client: Arc<OnceLock<Client>>,
    rules: Arc<Rules>,
    clock: fn() -> Time,
}

/// One attempt of a request.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// `method`, `url`, `headers`, and `json` or `body`.
    pub request: Value,
    /// How long it may take.
    pub timeout: Option<Millis>,
    /// The same for every attempt of a task, sent as `Idempotency-Key` so that the other side can do it once.
    pub key: String,
}

impl Http {
    /// A runner with these rules.
    pub fn new(rules: Rules, clock: fn() -> Time) -> Self {
        Self { client: Arc::default(), rules: Arc::new(rules), clock }
    }

    fn client(&self) -> Result<&Client, Failure> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Fails only if there is one already, and then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let made = Client::builder()
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .user_agent(concat!("edgewise/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(address::Resolver(Arc::clone(&self.rules))))
            .build()
            .map_err(|e| Failure::new("no_http", format!("requests cannot be made here: {e}")))?;
        Ok(self.client.get_or_init(|| made))
    }

    /// Makes one attempt: the response is its output.
    pub async fn run(&self, attempt: Attempt, stop: Stop) -> Result<Value, Failure> {
        let most = attempt.timeout.map_or(TOTAL, |span| Duration::from_millis(span.0));
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(Failure::new("cancelled", "the attempt was cancelled")),
            made = tokio::time::timeout(most, self.make(&attempt)) => match made {
                Ok(result) => result,
                Err(_) => Err(Failure::new("timeout", format!("no whole response within {most:?}"))),
            },
        }
    }

    async fn make(&self, attempt: &Attempt) -> Result<Value, Failure> {
        let client = self.client()?;
        let mut hop = first(attempt)?;
        for _ in 0..=HOPS {
            self.rules.check(&hop.url)?;
            let mut request = client.request(hop.method.clone(), hop.url.clone()).headers(hop.headers.clone());
            if let Some(body) = &hop.body {
                request = request.body(body.clone());
            }
            let response = request.send().await.map_err(|e| not_sent(&hop.url, &e))?;
            match redirect::next(&hop, &response)? {
                Some(next) => hop = next,
                None => return response::read(response, (self.clock)()).await,
            }
        }
        Err(Failure::permanent("too_many_redirects", format!("more than {HOPS} redirects, the last to {}", hop.url)))
    }
}

/// What is sent first. What cannot be sent fails for good: it would be the same the next time.
fn first(attempt: &Attempt) -> Result<Hop, Failure> {
    let request = &attempt.request;
    let bad = |what: String| Failure::permanent("bad_request", what);
    let text = |key: &str| request.get(key).and_then(Value::as_str);
    let method = text("method").unwrap_or("GET");
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| bad(format!("{method:?} is no method")))?;
    let url = text("url").ok_or_else(|| bad("the address is not a text".into()))?;
    let url = Url::parse(url).map_err(|e| bad(format!("{url:?} is no address ({e}): write https://host/path")))?;
    let (body, kind) = match (request.get("json"), request.get("body")) {
        (Some(json), _) => (Some(json.to_string()), Some("application/json")),
        (None, Some(Value::String(text))) => (Some(text.clone()), Some("text/plain; charset=utf-8")),
        (None, Some(other)) => (Some(other.to_string()), Some("text/plain; charset=utf-8")),
        (None, None) => (None, None),
    };
    let mut headers = HeaderMap::new();
    headers.insert("accept", HeaderValue::from_static("application/json, */*;q=0.5"));
    if let Some(kind) = kind {
        headers.insert("content-type", HeaderValue::from_static(kind));
    }
    if let Ok(key) = HeaderValue::from_str(&attempt.key) {
        headers.insert("idempotency-key", key);
    }
    for (name, value) in own_headers(request.get("headers"))? {
        headers.insert(name, value);
    }
    Ok(Hop { method, url, headers, body })
}

fn own_headers(given: Option<&Value>) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
    let bad = |what: String| Failure::permanent("bad_request", what);
    let map = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(bad("`headers` is not a map of texts".into())),
    };
    let mut headers = Vec::with_capacity(map.len());
    for (name, value) in map {
        if !is_header(name) || OWN_HEADERS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            return Err(bad(format!("{name:?} cannot be a header of a request")));
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // Neither the name nor the value is said: the value may be a secret.
        let value = HeaderValue::from_str(&text)
            .map_err(|_| bad(format!("the value of header {name} has characters that no header can have")))?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(format!("{name:?} is no header")))?;
        headers.push((name, value));
    }
    Ok(headers)
}

/// A request without a response. Whether it arrived is not known, so whoever retries sends the same key.
fn not_sent(url: &Url, error: &reqwest::Error) -> Failure {
    let mut why = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(deeper) = source {
        if let Some(refused) = deeper.downcast_ref::<address::Refused>() {
            return refused.failure(url);
        }
        why = deeper.to_string();
        source = deeper.source();
    }
    let host = url.host_str().unwrap_or_default();
    let kind = if error.is_timeout() { "timeout" } else { "unreachable" };
    Failure { is: vec!["HttpError".into()], ..Failure::new(kind, format!("no response from {host}: {why}")) }
}
