//! The client: what is asked of a server, and asked again where that does no harm.
//!
//! Looks are repeated, and so is everything that the server does once however often it hears it: a request under an
//! `Idempotency-Key`, a heartbeat, a report. Everything else is asked once, and an error says that nobody knows.

mod backoff;
mod events;
mod runs;
mod work;

pub use backoff::Backoff;
pub(crate) use backoff::key;
pub use events::{Event, Events};

use crate::error::{Error, Result};
use edgewise_core::Kind;
use reqwest::{Method, RequestBuilder, Response, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// How long an answer may take beyond what it was asked to wait.
const ANSWER: Duration = Duration::from_secs(30);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a connection is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(60);
/// Longest wait that a server can ask for.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// A server, and who asks. Cloning gives another handle to the same one.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
    name: Option<String>,
    backoff: Backoff,
}

/// One request.
pub(crate) struct Ask<'a> {
    method: Method,
    path: &'a str,
    body: Option<Vec<u8>>,
    /// Under which it is done once.
    key: Option<String>,
    /// Whether it may be asked again where nobody knows if it was heard.
    repeat: bool,
    /// How long the server is asked to wait before it answers.
    wait: Duration,
}

impl<'a> Ask<'a> {
    /// Looks at something.
    pub(crate) fn get(path: &'a str) -> Self {
        Self { method: Method::GET, path, body: None, key: None, repeat: true, wait: Duration::ZERO }
    }

    /// Asks for something to be done, which is done once however often it is heard.
    pub(crate) fn once(path: &'a str, body: &impl Serialize) -> Result<Self> {
        Ok(Self { key: Some(key()), ..Self::again(path, body)? })
    }

    /// The same for what needs no key, because hearing it twice changes nothing.
    pub(crate) fn again(path: &'a str, body: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_vec(body).map_err(|error| {
            Error::new(Kind::Invalid, "unprintable", format!("what is to be sent has no JSON form: {error}"))
        })?;
        Ok(Self { method: Method::POST, body: Some(body), ..Self::get(path) })
    }

    /// The same for what the server may take so long to answer.
    pub(crate) fn waiting(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }
}

impl Client {
    /// A client of the server at an address such as `http://127.0.0.1:7420` or `https://example.org/edgewise`.
    pub fn new(base: &str) -> Result<Self> {
        let base = base.trim_end_matches('/');
        let rest = base.strip_prefix("http://").or_else(|| base.strip_prefix("https://"));
        if rest.is_none_or(str::is_empty) {
            let message =
                format!("{base:?} is no address of a server: it begins with http:// or https://, then the host");
            return Err(Error::new(Kind::Invalid, "bad_address", message));
        }
        // A process has one; whoever chose before us keeps theirs.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| {
                Error::new(Kind::Unavailable, "no_client", format!("no connection can be made: {error}"))
            })?;
        let base = base.to_owned();
        Ok(Self(Arc::new(Inner { http, base, token: None, name: None, backoff: Backoff::default() })))
    }

    /// The same client, with a token.
    #[must_use]
    pub fn with_token(self, token: impl Into<String>) -> Self {
        Self(Arc::new(Inner { token: Some(token.into()), ..Arc::unwrap_or_clone(self.0) }))
    }

    /// The same client, saying who it is. Believed only where a server lets its own machine in without a token.
    #[must_use]
    pub fn acting_as(self, name: impl Into<String>) -> Self {
        Self(Arc::new(Inner { name: Some(name.into()), ..Arc::unwrap_or_clone(self.0) }))
    }

    /// The same client, repeating requests otherwise.
    #[must_use]
    pub fn with_backoff(self, backoff: Backoff) -> Self {
        Self(Arc::new(Inner { backoff, ..Arc::unwrap_or_clone(self.0) }))
    }

    /// Where the server is.
    pub fn address(&self) -> &str {
        &self.0.base
    }

    pub(crate) fn backoff(&self) -> &Backoff {
        &self.0.backoff
    }

    /// Looks at any address of the server that gives JSON, such as `/api/v1/runs`.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.ask(&Ask::get(path)).await
    }

    /// Sends JSON to any address of the server. It is done once, however often it must be sent.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T> {
        self.ask(&Ask::once(path, body)?).await
    }

    /// Asks, and asks again while that may help.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, ask: &Ask<'_>) -> Result<T> {
        let bytes = self.bytes(ask).await?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("{}{} answered something else than was expected: {error}", self.0.base, ask.path);
            Error::new(Kind::Unavailable, "other_version", message)
        })
    }

    async fn bytes(&self, ask: &Ask<'_>) -> Result<Vec<u8>> {
        for tries in 1.. {
            let (error, pause) = match self.send(ask).await {
                Ok(bytes) => return Ok(bytes),
                Err(failed) => failed,
            };
            let passing = error.is_passing() && error.code != "older_server";
            if !ask.repeat || !passing || tries >= self.0.backoff.tries {
                return Err(error);
            }
            tokio::time::sleep(pause.unwrap_or_else(|| self.0.backoff.after(tries))).await;
        }
        unreachable!("it is tried until it ends")
    }

    /// Asks once; gives what came back, or why not and how long the server asks to wait.
    async fn send(&self, ask: &Ask<'_>) -> Result<Vec<u8>, (Error, Option<Duration>)> {
        let request = self.request(ask.method.clone(), ask.path).timeout(ANSWER + ask.wait);
        let request = match &ask.key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        let request = match &ask.body {
            Some(body) => request.header(header::CONTENT_TYPE, "application/json").body(body.clone()),
            None => request,
        };
        let response = request.send().await.map_err(|error| (self.away(&error), None))?;
        let (status, pause) = (response.status(), retry_after(&response));
        let body = response.bytes().await.map_err(|error| (self.away(&error), None))?;
        if status.is_success() {
            return Ok(body.into());
        }
        Err((Error::refused(status.as_u16(), &body, &format!("{}{}", self.0.base, ask.path)), pause))
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.0.http.request(method, format!("{}{path}", self.0.base));
        match (&self.0.token, &self.0.name) {
            (Some(token), _) => request.bearer_auth(token),
            (None, Some(name)) => request.header("edgewise-as", name),
            (None, None) => request,
        }
    }

    /// What is said when nobody answered.
    pub(crate) fn away(&self, error: &reqwest::Error) -> Error {
        let mut why = error.to_string();
        let mut beneath = std::error::Error::source(error);
        while let Some(source) = beneath {
            why = source.to_string();
            beneath = source.source();
        }
        let base = &self.0.base;
        let message =
            format!("the server at {base} does not answer ({why}): check that it runs and is reached from here");
        Error::new(Kind::Unavailable, "no_server", message)
    }
}

/// How long a server asks to be left alone.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER))
}

/// A text as one part of a path or a query.
pub(crate) fn part(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_servers_are_taken() {
        for good in ["http://127.0.0.1:7420", "https://example.org/", "http://[::1]:7420/edgewise"] {
            assert!(Client::new(good).is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:7420", "http://", "https:///", "ftp://x", "unix:/x"] {
            let error = Client::new(bad).err().map(|error| error.code);
            assert_eq!(error.as_deref(), Some("bad_address"), "{bad}");
        }
    }

    #[test]
    fn a_part_of_a_path_cannot_leave_its_place() {
        for (text, written) in [("a-b.c_~9", "a-b.c_~9"), ("a/b?c#d", "a%2Fb%3Fc%23d"), ("é ", "%C3%A9%20")] {
            assert_eq!(part(text), written);
        }
    }
}
