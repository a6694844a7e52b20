//! Repeated requests: the same `Idempotency-Key` from the same person at the same address gets the first answer again.
//!
//! Kept in memory, the newest of them: this spares a client that lost an answer a second effect. What must not happen
//! twice over a restart either has a key of its own in the ledger, which is made of the same three ([`OwnKey`]): starts
//! of runs, and changes of items. The rest cannot happen twice anyway (a lease, an approval).
//!
//! What is kept is bounded in number and in bytes, and what is counted is what is kept: an answer is counted when it is
//! there, and the oldest go. What is still being answered is not in that line, and leaves nothing behind if no answer
//! comes of it that would be the same next time.

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
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// Those with an answer, the oldest first, and its bytes.
    order: VecDeque<(Key, usize)>,
    /// Bytes of all answers.
    bytes: usize,
}

impl Repeats {
    /// Somebody wants the answer to a request.
    fn turn(&self, key: Key) -> Turn<'_> {
        let cell = Arc::clone(self.known().answers.entry(key).or_default());
        Turn { repeats: self, key, cell }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// There is an answer of so many bytes: the oldest go where there are too many, or all together are too large.
    fn keep(&mut self, key: Key, bytes: usize) {
        self.order.push_back((key, bytes));
        self.bytes += bytes;
        while self.order.len() > limits::REPEATS.0 || self.bytes > limits::REPEATS_BYTES {
            let Some((oldest, bytes)) = self.order.pop_front() else { return };
            self.answers.remove(&oldest);
            self.bytes -= bytes;
        }
    }
}

/// Somebody who wants the answer to a request, and makes it if nobody has.
struct Turn<'r> {
    repeats: &'r Repeats,
    key: Key,
    cell: Arc<OnceCell<First>>,
}

impl Turn<'_> {
    /// The first answer; those who come while it is made wait for it.
    async fn first<E>(&self, make: impl Future<Output = Result<First, E>>) -> Result<&First, E> {
        let mut made = None;
        let first = self.cell.get_or_try_init(|| async {
            let first = make.await?;
            made = Some(first.bytes.len());
            Ok(first)
        });
        let first = first.await?;
        if let Some(bytes) = made {
            self.repeats.known().keep(self.key, bytes);
        }
        Ok(first)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut known = self.repeats.known();
        // Given back before the next one counts.
        let cell = std::mem::take(&mut self.cell);
        // No answer came, and nobody else waits for one: the list has one handle, and this is the other.
        if cell.get().is_none() && Arc::strong_count(&cell) == 2 {
            known.answers.remove(&self.key);
        }
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
    let turn = app.repeats().turn(key);
    let first = turn.first(async {
        let response = next.run(Request::from_parts(parts, Body::from(body))).await;
        keep(digest, response).await
    });
    match first.await {
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

    fn key(n: usize) -> Key {
        hashed("ann", "/api", &n.to_string())
    }

    fn answer(bytes: usize) -> First {
        First { body: [0; 32], status: StatusCode::OK, headers: HeaderMap::new(), bytes: vec![0; bytes].into() }
    }

    async fn answered(repeats: &Repeats, n: usize, bytes: usize) {
        let first: Result<_, ()> = repeats.turn(key(n)).first(async { Ok(answer(bytes)) }).await.map(|_| ());
        assert_eq!(first, Ok(()));
    }

    /// How many answers there are, and that no more and no less than those are counted.
    fn counted(repeats: &Repeats) -> usize {
        let known = repeats.known();
        let kept = known.answers.values().filter_map(|cell| cell.get());
        assert_eq!(known.bytes, kept.map(|first| first.bytes.len()).sum::<usize>());
        known.order.len()
    }

    #[tokio::test]
    async fn the_oldest_answers_go_when_they_are_too_many_or_too_large_together() {
        for (many, bytes, kept) in [(200, 1 << 20, 64), (limits::REPEATS.0 + 7, 1, limits::REPEATS.0)] {
            let repeats = Repeats::default();
            for n in 0..many {
                answered(&repeats, n, bytes).await;
            }
            assert_eq!((counted(&repeats), repeats.known().answers.len()), (kept, kept));
            assert!(repeats.known().answers.contains_key(&key(many - 1)));
            assert!(!repeats.known().answers.contains_key(&key(many - kept - 1)));
        }
    }

    #[tokio::test]
    async fn what_is_still_being_answered_is_not_forgotten_however_much_is_answered_meanwhile() {
        let repeats = Repeats::default();
        let slow = repeats.turn(key(0));
        for n in 1..=limits::REPEATS.0 {
            answered(&repeats, n, 1).await;
        }
        let again = repeats.turn(key(0));
        assert!(Arc::ptr_eq(&slow.cell, &again.cell), "a second one would do it twice");
        let first: Result<_, ()> = slow.first(async { Ok(answer(9)) }).await;
        assert_eq!(first.map(|first| first.bytes.len()), Ok(9));
        let second: Result<_, ()> = again.first(async { Err(()) }).await;
        assert_eq!(second.map(|first| first.bytes.len()), Ok(9));
        assert_eq!(counted(&repeats), limits::REPEATS.0);
    }

    #[tokio::test]
    async fn a_request_without_an_answer_that_can_be_kept_leaves_nothing_behind() {
        let repeats = Repeats::default();
        let (one, other) = (repeats.turn(key(0)), repeats.turn(key(0)));
        assert_eq!(one.first(async { Err("busy") }).await.map(|_| ()), Err("busy"));
        drop(one);
        assert!(repeats.known().answers.contains_key(&key(0)), "somebody still waits");
        drop(other);
        assert!(repeats.known().answers.is_empty());
        answered(&repeats, 0, 5).await;
        assert_eq!(counted(&repeats), 1);
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
