//! Repeated requests: the same `Idempotency-Key` from the same person at the same address gets the first answer again.
//!
//! Kept in memory, the newest of them: this spares a client that lost an answer a second effect. What must not happen
//! twice over a restart either has a key of its own in the ledger, which is made of the same three ([`OwnKey`]): starts
//! of runs, and changes of items. The rest cannot happen twice anyway (a lease, an approval).

use crate::app::App;
use crate::auth::Principal;
use crate::body::read_within;
use crate::limits;
use crate::problem::Problem;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use edgewise_core::{Error, Result};
use edgewise_engine::facts::REQUEST_KEY;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

const HEADER: &str = "idempotency-key";

/// Who asks, where, and under which key, as a hash: whatever they sent, it takes the same room.
type Key = blake3::Hash;

/// The key that what is asked has in the ledger; `None` where the request has no `Idempotency-Key`.
#[derive(Clone, Default)]
pub struct OwnKey(pub Option<String>);

impl OwnKey {
    fn of(key: &Key) -> Self {
        Self(Some(format!("{REQUEST_KEY}{}", &key.to_hex()[..32])))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for OwnKey {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> std::result::Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// A first answer.
#[derive(Clone)]
struct First {
    /// The hash of the request's body: another body under the same key is a mistake.
    body: [u8; 32],
    status: StatusCode,
    headers: HeaderMap,
    bytes: Bytes,
}

/// The answers that are kept.
#[derive(Default)]
pub struct Repeats(Mutex<Known>);

#[derive(Default)]
struct Known {
    answers: HashMap<Key, Arc<OnceCell<First>>>,
    order: VecDeque<Key>,
    /// Bytes of all answers.
    bytes: usize,
}

impl Repeats {
    fn cell(&self, key: Key) -> Arc<OnceCell<First>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = known.answers.get(&key) {
            return Arc::clone(cell);
        }
        if known.order.len() >= limits::REPEATS.0 {
            known.forget_oldest();
        }
        known.order.push_back(key);
        Arc::clone(known.answers.entry(key).or_default())
    }

    /// An answer of so many bytes is kept: the oldest go where all together are too many.
    fn grew(&self, bytes: usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.bytes += bytes;
        while known.bytes > limits::REPEATS_BYTES && known.forget_oldest() {}
    }
}

impl Known {
    fn forget_oldest(&mut self) -> bool {
        let Some(oldest) = self.order.pop_front() else { return false };
        let answer = self.answers.remove(&oldest);
        let bytes = answer.and_then(|cell| cell.get().map(|first| first.bytes.len()));
        self.bytes = self.bytes.saturating_sub(bytes.unwrap_or(0));
        true
    }
}

/// Answers a repeated request with what was answered first; those that come at the same time wait for it.
pub async fn once(State(app): State<App>, request: Request, next: Next) -> Response {
    let key = match key_of(&request) {
        Ok(Some(key)) => key,
        Ok(None) => return next.run(request).await,
        Err(error) => return Problem(error).into_response(),
    };
    match perform(&app, key, request, next).await {
        Ok(response) => response,
        Err(error) => Problem(error).into_response(),
    }
}

async fn perform(app: &App, key: Key, request: Request, next: Next) -> Result<Response> {
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(OwnKey::of(&key));
    let mut bare = Request::new(body);
    *bare.extensions_mut() = parts.extensions.clone();
    let body = read_within(bare, limits::BODY_BYTES).await?;
    let digest = *blake3::hash(&body).as_bytes();
    let cell = app.repeats().cell(key);
    let first = cell
        .get_or_try_init(|| async {
            let response = next.run(Request::from_parts(parts, Body::from(body))).await;
            let first = keep(digest, response).await?;
            app.repeats().grew(first.bytes.len());
            Ok::<First, Box<Response>>(first)
        })
        .await;
    match first {
        Ok(first) if first.body != digest => Err(Error::conflict(
            "key_taken",
            "this Idempotency-Key came with another body before: use a new key for a new request",
        )),
        Ok(first) => Ok((first.status, first.headers.clone(), first.bytes.clone()).into_response()),
        Err(response) => Ok(*response),
    }
}

/// Keeps what will be the same next time; a failure of ours may be over by then.
async fn keep(body: [u8; 32], response: Response) -> Result<First, Box<Response>> {
    if response.status().is_server_error() || response.status() == StatusCode::TOO_MANY_REQUESTS {
        return Err(Box::new(response));
    }
    let (parts, rest) = response.into_parts();
    let bytes = to_bytes(rest, usize::MAX).await.unwrap_or_default();
    let first = First { body, status: parts.status, headers: parts.headers.clone(), bytes: bytes.clone() };
    if bytes.len() > limits::REPEATS.1 {
        return Err(Box::new(Response::from_parts(parts, Body::from(bytes))));
    }
    Ok(first)
}

fn key_of(request: &Request) -> Result<Option<Key>> {
    let Some(value) = request.headers().get(HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() || text.len() > limits::KEY_BYTES {
        let message = format!("an Idempotency-Key has 1 to {} printable characters", limits::KEY_BYTES);
        return Err(Error::invalid("bad_key", message));
    }
    let who = request.extensions().get::<Principal>().map_or("", |principal| principal.name.as_str());
    Ok(Some(hashed(who, request.uri().path(), text)))
}

/// None of the three has a line break, so no two requests are written the same.
fn hashed(who: &str, path: &str, key: &str) -> Key {
    blake3::hash(format!("{who}\n{path}\n{key}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answers_go_when_all_together_are_too_large() {
        let repeats = Repeats::default();
        let key = |n: usize| hashed("ann", "/api", &n.to_string());
        let (many, large) = (200, 1 << 20);
        for n in 0..many {
            let (status, headers) = (StatusCode::OK, HeaderMap::new());
            let first = First { body: [0; 32], status, headers, bytes: Bytes::from(vec![0; large]) };
            assert!(repeats.cell(key(n)).set(first).is_ok());
            repeats.grew(large);
        }
        let known = repeats.0.lock().unwrap();
        assert_eq!((known.answers.len(), known.order.len()), (64, 64));
        assert!(known.answers.contains_key(&key(many - 1)) && known.bytes <= limits::REPEATS_BYTES);
    }

    #[test]
    fn a_key_takes_the_same_room_whatever_was_sent_and_is_in_the_ledger_what_it_always_was() {
        fn takes_no_more_than_itself<T: Copy>(_: &T) {}
        let request = Request::builder().uri(format!("/{}", "x".repeat(60_000))).header(HEADER, "k");
        takes_no_more_than_itself(&key_of(&request.body(Body::empty()).unwrap()).unwrap());
        let request = Request::builder().uri("/api/v1/runs").header(HEADER, "k");
        let own = key_of(&request.body(Body::empty()).unwrap()).unwrap().map(|key| OwnKey::of(&key).0);
        assert_eq!(own.flatten().as_deref(), Some("request:a70d2ec27c865be6e8d000499b80e1cf"));
    }
}
