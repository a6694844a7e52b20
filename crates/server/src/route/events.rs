//! Events of a run as they are committed, as server-sent events. Whoever was cut off says the last id and goes on
//! behind it: nothing is lost and nothing comes twice, because an event's id is its place in the ledger.

use super::find;
use crate::app::App;
use crate::limits;
use crate::params::Path;
use crate::problem::Result;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use edgewise_core::history::Entry;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::{Error, Result as Done};
use edgewise_engine::facts::Teller;
use edgewise_engine::reader::Reader;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Chunks that wait for a slow reader before its stream stops reading the ledger.
const AHEAD: usize = 4;

pub async fn of_run(State(app): State<App>, Path(run): Path<String>, headers: HeaderMap) -> Result<Response> {
    let run = find(&app, run).await?;
    let after = last_seen(&headers)?;
    let home = app.home().clone();
    let teller = app.readers().look(move |reader| {
        let now = reader.run(run)?;
        Ok(Teller::new(Run::new(run, now.plan_hash, Arc::clone(&now.plan)), home))
    });
    let teller = teller.await?;
    let permit = Arc::clone(app.streams()).try_acquire_owned().map_err(|_| {
        let most = limits::STREAMS;
        Error::limit("too_many", format!("{most} event streams are open, no more are: close one, or come again later"))
    })?;
    let (send, chunks) = mpsc::channel(AHEAD);
    tokio::spawn(follow(Following { app, run, after, teller, told: 0 }, send, permit));
    let body = Body::from_stream(Chunks(chunks));
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, body).into_response())
}

pub(super) fn last_seen(headers: &HeaderMap) -> Done<u64> {
    let Some(value) = headers.get("last-event-id") else { return Ok(0) };
    let seq = value.to_str().ok().and_then(|text| text.parse().ok());
    seq.ok_or_else(|| Error::invalid("bad_event_id", "Last-Event-ID is the `id` of an event of this stream: a number"))
}

struct Following {
    app: App,
    run: RunId,
    /// Events up to this one are not wanted.
    after: u64,
    teller: Teller,
    /// Events up to this one were told.
    told: u64,
}

async fn follow(mut following: Following, send: mpsc::Sender<Bytes>, _permit: OwnedSemaphorePermit) {
    let mut spoke = Instant::now();
    loop {
        let app = following.app.clone();
        let looked = app.readers().look(move |reader| following.look(reader)).await;
        let Ok((back, text, over)) = looked else { return };
        following = back;
        if !text.is_empty() || spoke.elapsed() > limits::STREAM_ALIVE {
            let text = if text.is_empty() { ": still here\n\n".to_owned() } else { text };
            // A reader that is gone is no error.
            if send.send(text.into()).await.is_err() {
                return;
            }
            spoke = Instant::now();
        }
        if over {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(limits::STREAM_PAUSE) => {}
            () = send.closed() => return,
        }
    }
}

impl Following {
    /// What is new, and whether nothing more will come.
    fn look(mut self, reader: &mut Reader) -> Done<(Self, String, bool)> {
        let mut text = String::new();
        for record in reader.records(self.run, self.told)? {
            for entry in entries(&record) {
                self.told = entry.seq;
                let facts = self.teller.tell(&entry)?;
                if entry.seq > self.after {
                    let data = serde_json::to_string(&facts)
                        .map_err(|error| Error::bug("unprintable", "an event has no JSON form").with_source(error))?;
                    text.push_str(&format!("id: {}\nevent: {}\ndata: {data}\n\n", entry.seq, entry.event.name()));
                }
            }
        }
        let over = self.teller.run.state.is_done();
        Ok((self, text, over))
    }
}

fn entries(record: &edgewise_engine::reader::Committed) -> Vec<Entry> {
    let source: Arc<str> = record.envelope.source.as_ref().into();
    let place = |(n, event): (u64, &edgewise_core::event::Event)| Entry {
        seq: record.first + n,
        stamp: edgewise_core::fold::Stamp { id: record.envelope.id.plus(n), at: record.envelope.at },
        source: Arc::clone(&source),
        event: event.clone(),
    };
    (0..).zip(&record.events).map(place).collect()
}

/// A channel as a stream.
pub(super) struct Chunks(pub(super) mpsc::Receiver<Bytes>);

impl futures_core::Stream for Chunks {
    type Item = std::result::Result<Bytes, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(Ok))
    }
}
