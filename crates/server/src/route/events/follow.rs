//! Following the ledger for one reader: look, tell, wait until there is more.

use crate::app::App;
use crate::guard::Pass;
use crate::limits;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_engine::engine::Clock;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

/// Chunks that wait for a slow reader before its stream stops reading the ledger.
const AHEAD: usize = 4;
/// What a stream says that has nothing to tell.
const STILL_HERE: &[u8] = b": still here\n\n";

/// Something whose events are told, in its own order.
pub trait Source: Sized + Send + 'static {
    /// What is new, a bounded part of it, given where the ledger was seen to end.
    fn look(self, app: &App, end: u64) -> impl Future<Output = Result<(Self, Looked)>> + Send;
}

/// What one look found.
#[derive(Default)]
pub struct Looked {
    /// What is told.
    pub text: Bytes,
    /// Whether to look again without waiting for news.
    pub more: bool,
    /// Whether nothing will come any more.
    pub over: bool,
}

/// A stream of what a source tells, from now on.
pub fn stream(app: &App, pass: Pass, source: impl Source) -> Result<Response> {
    let (reader, response) = reader(app, pass)?;
    tokio::spawn(follow(app.clone(), source, reader));
    Ok(response)
}

/// Somebody who reads a stream: one of a bounded number.
pub struct Listening {
    send: mpsc::Sender<Bytes>,
    pass: Pass,
    clock: Clock,
    /// When something was told last.
    told: Time,
    _permit: OwnedSemaphorePermit,
}

impl Listening {
    /// Hands text over; where there is none, and was none for long, that the stream is still there. False if nobody
    /// reads any more, nothing was read for too long, or whoever reads would not be let in any more: this is asked with
    /// every word, and so of a silent stream as well, however much happens that it does not tell.
    pub async fn tell(&mut self, text: impl Into<Bytes>) -> bool {
        let mut text = text.into();
        if text.is_empty() {
            if !self.patience().is_zero() {
                return true;
            }
            text = Bytes::from_static(STILL_HERE);
        }
        let told =
            self.pass.holds().await && matches!(timeout(limits::STREAM_STALL, self.send.send(text)).await, Ok(Ok(())));
        self.told = (self.clock)();
        told
    }

    /// Until it is time to say that the stream is still there.
    pub async fn silent(&self) {
        tokio::time::sleep(self.patience()).await;
    }

    /// Until nobody reads any more.
    pub async fn gone(&self) {
        self.send.closed().await;
    }

    /// How long the stream may still be silent; not at all after a clock was set back.
    fn patience(&self) -> Duration {
        let now = (self.clock)();
        if now < self.told {
            return Duration::ZERO;
        }
        limits::STREAM_ALIVE.saturating_sub(Duration::from_millis(now.since(self.told).0))
    }
}

/// A stream whose text is told by hand.
pub fn reader(app: &App, pass: Pass) -> Result<(Listening, Response)> {
    let permit = Arc::clone(app.streams()).try_acquire_owned().map_err(|_| {
        let most = limits::STREAMS;
        Error::limit("too_many", format!("{most} event streams are open, no more are: close one, or come again later"))
    })?;
    let (send, chunks) = mpsc::channel(AHEAD);
    let body = Body::from_stream(Chunks(chunks));
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    let listening = Listening { send, pass, clock: app.clock(), told: app.now(), _permit: permit };
    Ok((listening, (headers, body).into_response()))
}

async fn follow(app: App, mut source: impl Source, mut reader: Listening) {
    let mut tail = app.tail();
    loop {
        // Marked before the look: what is committed during it is looked for again.
        let end = *tail.borrow_and_update();
        let Ok((back, Looked { text, more, over })) = source.look(&app, end).await else { return };
        source = back;
        if !reader.tell(text).await || over {
            return;
        }
        if !more {
            tokio::select! {
                news = tail.changed() => if news.is_err() { return },
                () = reader.silent() => {}
                () = reader.gone() => return,
            }
        }
        tokio::time::sleep(rest(app.readers_of_streams())).await;
    }
}

/// How long each stream rests between two looks: the more there are, the longer, so that all of them together take a
/// bounded share of the machine and runs are not slowed by whoever looks on.
fn rest(streams: usize) -> Duration {
    let streams = u32::try_from(streams).unwrap_or(u32::MAX);
    limits::STREAM_REST.saturating_mul(streams).min(limits::STREAM_REST_MOST)
}

/// A channel as a stream.
struct Chunks(mpsc::Receiver<Bytes>);

impl futures_core::Stream for Chunks {
    type Item = std::result::Result<Bytes, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(Ok))
    }
}
