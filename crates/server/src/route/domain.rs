//! Domain events: read with a place, acknowledged by consumers, and as a stream.

use super::events::{Listening, last_seen, reader};
use crate::app::App;
use crate::body::Json;
use crate::guard::Pass;
use crate::limits;
use crate::listed;
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use edgewise_client::wire::{Acknowledge, Acknowledged, ActTaken, DomainEvents, ForgetConsumer, Namespaces};
use edgewise_core::Error;
use edgewise_core::name::Name;
use edgewise_core::plan::Delivery;
use edgewise_engine::publish::{Heard, Listener, Shelf};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

/// Events of one chunk.
const PAGE: usize = 100;

/// What is asked of a queue.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    after: Option<u64>,
    consumer: Option<String>,
    limit: Option<usize>,
}

pub async fn namespaces(State(app): State<App>) -> Result<Json<Namespaces>> {
    let shelf = app.shelf().await?;
    Ok(Json(Namespaces { namespaces: blocking(move || listed::namespaces(&shelf)).await? }))
}

pub async fn read(
    State(app): State<App>,
    Path(namespace): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Json<DomainEvents>> {
    let namespace = Name::parse(&namespace)?;
    let limit = asked.limit.unwrap_or(limits::PAGE_DEFAULT).clamp(1, limits::PAGE);
    let shelf = app.shelf().await?;
    let events = blocking(move || match (asked.consumer, asked.after) {
        (Some(_), Some(_)) => {
            let message = "`consumer` begins where it acknowledged, `after` elsewhere: send one of them";
            Err(Error::invalid("bad_parameter", message))
        }
        (Some(consumer), None) => {
            Name::parse(&consumer)?;
            shelf.next(&namespace, &consumer, limit).map(|batch| batch.events)
        }
        (None, after) => shelf.read(&namespace, after.unwrap_or(0), limit),
    });
    let events = events.await?;
    let next = events.last().filter(|_| events.len() == limit).map(|queued| queued.place);
    let events = events.iter().map(listed::event).collect::<edgewise_core::Result<Vec<_>>>()?;
    Ok(Json(DomainEvents { events, next }))
}

pub async fn acknowledge(
    State(app): State<App>,
    Path(namespace): Path<String>,
    Json(asked): Json<Acknowledge>,
) -> Result<Json<Acknowledged>> {
    let namespace = Name::parse(&namespace)?;
    let consumer = own(&asked.consumer)?;
    let (shelf, now) = (app.shelf().await?, app.now());
    let place = blocking(move || shelf.acknowledge(&namespace, &consumer, asked.place, now)).await?;
    Ok(Json(Acknowledged { place }))
}

pub async fn forget(
    State(app): State<App>,
    Path(namespace): Path<String>,
    Json(asked): Json<ForgetConsumer>,
) -> Result<Json<ActTaken>> {
    let namespace = Name::parse(&namespace)?;
    let consumer = own(&asked.consumer)?;
    let shelf = app.shelf().await?;
    blocking(move || shelf.forget(&namespace, &consumer)).await?;
    Ok(Json(ActTaken { already: false, reopened: None }))
}

/// The name of a consumer that is no webhook's.
fn own(consumer: &str) -> edgewise_core::Result<Name> {
    let consumer = Name::parse(consumer)?;
    if consumer.starts_with("webhook/") {
        return Err(Error::invalid("reserved_name", "names of consumers that begin with `webhook/` are ours"));
    }
    Ok(consumer)
}

/// Work that waits for the disk.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> edgewise_core::Result<T> + Send + 'static,
) -> edgewise_core::Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::bug("queue_panicked", "a look at the queues panicked").with_source(error)))
}

/// Durable events behind the last one that was seen, and fast ones as they happen. Only durable ones have an id.
pub async fn stream(
    State(app): State<App>,
    Extension(pass): Extension<Pass>,
    Path(namespace): Path<String>,
    headers: HeaderMap,
) -> Result<Response> {
    let namespace = Name::parse(&namespace)?;
    let listener = app.engine().listeners().listen();
    let queued = app.engine().listeners().watch_queues();
    let shelf = app.shelf().await?;
    let wrong = || Error::invalid("bad_event_id", "Last-Event-ID is the `id` of an event of this stream: a number");
    let after = match headers.contains_key("last-event-id") {
        true => last_seen(&headers, |id| id.parse().ok()).flatten().ok_or_else(wrong)?,
        false => {
            let all = shelf.ask(|ledger, space| ledger.namespaces(space)).await?;
            all.iter().find(|n| n.name == namespace).map_or(0, |n| n.last)
        }
    };
    let (reader, response) = reader(&app, pass)?;
    tokio::spawn(Following { shelf, namespace, after, reader }.run(listener, queued));
    Ok(response)
}

struct Following {
    shelf: Shelf,
    namespace: Name,
    /// Durable events up to this place were sent.
    after: u64,
    reader: Listening,
}

impl Following {
    async fn run(mut self, mut listener: Listener, mut queued: watch::Receiver<u64>) {
        loop {
            let Some(more) = self.page().await else { return };
            if more {
                continue;
            }
            let said = tokio::select! {
                _ = queued.changed() => String::new(),
                heard = listener.next() => match heard {
                    Some(heard) => self.fast(&heard),
                    // The engine has ended, and with it what could be told.
                    None => return,
                },
                () = self.reader.silent() => String::new(),
                () = self.reader.gone() => return,
            };
            if !self.reader.tell(said).await {
                return;
            }
        }
    }

    /// Sends what the queue has; whether there may be more. `None` if nobody reads any more.
    async fn page(&mut self) -> Option<bool> {
        let (shelf, namespace, after) = (self.shelf.clone(), self.namespace.clone(), self.after);
        let page = blocking(move || shelf.read(&namespace, after, PAGE)).await.ok()?;
        let mut text = String::new();
        for queued in &page {
            self.after = queued.place;
            text.push_str(&frame(Some(queued.place), &queued.event.name, &queued.event.body));
        }
        self.reader.tell(text).await.then_some(page.len() == PAGE)
    }

    /// What is told both ways comes from the queue, with its place.
    fn fast(&self, heard: &Heard) -> String {
        match heard {
            Heard::Event(told) if told.event.namespace == self.namespace && told.event.delivery == Delivery::Fast => {
                frame(None, &told.event.name, &told.body.to_string())
            }
            Heard::Event(_) => String::new(),
            Heard::Dropped(lost) => {
                format!(": up to {lost} fast events were lost, because they were not read in time\n\n")
            }
        }
    }
}

fn frame(place: Option<u64>, name: &Name, body: &str) -> String {
    // The body is JSON without line breaks; should one be there all the same, the frame must not break.
    let body =
        RawValue::from_string(body.to_owned()).map_or_else(|_| "null".to_owned(), |raw| raw.get().replace('\n', " "));
    let id = place.map_or_else(String::new, |place| format!("id: {place}\n"));
    format!("{id}event: {name}\ndata: {body}\n\n")
}
