//! OTLP export: spans of runs and attempts, derived from the ledger after the commit, sent as JSON over HTTP.
//!
//! ```text
//! ledger ──► tracer (reads what is committed) ──► bounded queue ──► sender ──► collector
//!                                                   full: dropped and counted
//! ```
//!
//! Nothing waits for it: the tracer is one more reader, and the sender is the only one that a collector can slow. What
//! a collector does not take is counted and gone; traces are for looking, the ledger is for keeping.

mod form;
mod tracer;

use crate::app::App;
use edgewise_core::{Error, Result};
use form::body;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tracer::{Span, Tracer};

/// Spans that wait for the collector before more are dropped.
const QUEUE: usize = 10_000;
/// Most spans of one request.
const BATCH: usize = 512;
/// How often the ledger is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Where traces go, below what is configured.
const PATH: &str = "/v1/traces";

/// What became of spans.
#[derive(Debug, Default)]
pub(crate) struct Exported {
    /// Taken by the collector.
    pub sent: AtomicU64,
    /// Not taken, or never sent because too many waited.
    pub dropped: AtomicU64,
}

/// Exports what is committed from now on to a collector, such as `http://localhost:4318`, as of a tenant's workspace.
pub(crate) async fn start(app: &App, collector: &str, known_as: (String, String)) -> Result<Arc<Exported>> {
    let exported = Arc::new(Exported::default());
    let home = app.home().clone();
    let tracer = app.readers().look(move |reader| Tracer::new(home, reader)).await?;
    // It may have been said before, by the runner of requests.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().timeout(PATIENCE).build().map_err(|error| {
        Error::unavailable("no_http", "requests to the collector cannot be made").with_source(error)
    })?;
    let url = format!("{}{PATH}", collector.trim_end_matches('/'));
    let (queue, spans) = mpsc::channel(QUEUE);
    tokio::spawn(send((client, url), known_as, spans, Arc::clone(&exported)));
    tokio::spawn(follow(app.clone(), tracer, queue, Arc::clone(&exported)));
    Ok(exported)
}

async fn follow(app: App, mut tracer: Tracer, queue: mpsc::Sender<Span>, exported: Arc<Exported>) {
    loop {
        let looked = app.readers().look(move |reader| tracer.look(reader)).await;
        let Ok((back, spans, more)) = looked else { return };
        tracer = back;
        for span in spans {
            match queue.try_send(span) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => drop(exported.dropped.fetch_add(1, Ordering::Relaxed)),
                Err(TrySendError::Closed(_)) => return,
            }
        }
        if !more {
            tokio::time::sleep(LOOK).await;
        }
    }
}

async fn send(
    (client, url): (reqwest::Client, String),
    known_as: (String, String),
    mut spans: mpsc::Receiver<Span>,
    exported: Arc<Exported>,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while spans.recv_many(&mut batch, BATCH).await > 0 {
        let count = batch.len() as u64;
        let request = client.post(&url).header("content-type", "application/json").body(body(&known_as, &batch));
        let taken = request.send().await.is_ok_and(|answer| answer.status().is_success());
        let counter = if taken { &exported.sent } else { &exported.dropped };
        counter.fetch_add(count, Ordering::Relaxed);
        batch.clear();
    }
}
