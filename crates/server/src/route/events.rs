//! Events as they are committed, of a run or of the whole workspace, as server-sent events. Whoever was cut off says the
//! last id and goes on behind it: nothing is lost and nothing comes twice, because an event's id is its place in the
//! ledger. A stream reads the ledger only as fast as its reader reads, and one that reads nothing for long is cut off.

mod follow;
mod pages;

use super::find;
use crate::app::App;
use crate::guard::Pass;
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::body::Bytes;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::{Error, Result as Done};
use edgewise_engine::facts::Teller;
use edgewise_engine::reader::{Committed, Reader};
use edgewise_store::Position;
pub(super) use follow::{Listening, reader};
use follow::{Looked, Source, stream};
pub(crate) use pages::Pages;
use pages::{Marked, Page};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::{fmt, io};

pub async fn of_run(
    State(app): State<App>,
    Extension(pass): Extension<Pass>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Result<Response> {
    let run = find(&app, run).await?;
    let wrong = || Error::invalid("bad_event_id", "Last-Event-ID is the `id` of an event of this stream: a number");
    let after = last_seen(&headers, |text| text.parse().ok()).ok_or_else(wrong)?.unwrap_or(0);
    let home = app.home().clone();
    let teller = app.readers().look(move |reader| {
        let now = reader.run(run)?;
        Ok(Teller::new(Run::new(run, now.plan_hash, Arc::clone(&now.plan)), home))
    });
    let teller = teller.await?;
    Ok(stream(&app, pass, OfRun { run, after, teller, told: 0 })?)
}

/// What `Last-Event-ID` says; `None` if it says something else.
pub(super) fn last_seen<T>(headers: &HeaderMap, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match headers.get("last-event-id") {
        None => Some(None),
        Some(value) => value.to_str().ok().and_then(read).map(Some),
    }
}

struct OfRun {
    run: RunId,
    /// Events up to this one are not wanted.
    after: u64,
    teller: Teller,
    /// Events up to this one were told.
    told: u64,
}

impl Source for OfRun {
    async fn look(mut self, app: &App, _: u64) -> Done<(Self, Looked)> {
        let look = move |reader: &mut Reader| self.read(reader).map(|looked| (self, looked));
        app.readers().look(look).await
    }
}

impl OfRun {
    fn read(&mut self, reader: &mut Reader) -> Done<Looked> {
        let mut text = Vec::new();
        let records = reader.some_records(self.run, self.told)?;
        let more = !records.is_empty();
        for entry in records.into_iter().flat_map(Committed::entries) {
            self.told = entry.seq;
            let facts = self.teller.tell(&entry)?;
            if entry.seq > self.after {
                write(&mut text, format_args!("{}", entry.seq), entry.event.name(), &facts)?;
            }
        }
        let over = !more && self.teller.run.state.is_done();
        Ok(Looked { text: text.into(), more, over })
    }
}

fn write(text: &mut Vec<u8>, id: fmt::Arguments<'_>, kind: &str, facts: &impl Serialize) -> Done<()> {
    let unprintable = |error| Error::bug("unprintable", "an event has no JSON form").with_source(error);
    let head = io::Write::write_fmt(text, format_args!("id: {id}\nevent: {kind}\ndata: "));
    head.map_err(serde_json::Error::io).and_then(|()| serde_json::to_writer(&mut *text, facts)).map_err(unprintable)?;
    text.extend_from_slice(b"\n\n");
    Ok(())
}

/// Which events of a workspace.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    #[serde(rename = "type")]
    kinds: Option<String>,
    run: Option<String>,
}

/// All of the workspace. Without a last id it begins with what happens from now on; `0` is the beginning of the ledger.
pub async fn of_workspace(
    State(app): State<App>,
    Extension(pass): Extension<Pass>,
    Query(asked): Query<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    let run = match asked.run {
        Some(run) => Some(find(&app, run).await?),
        None => None,
    };
    let wrong =
        || Error::invalid("bad_event_id", "Last-Event-ID is the `id` of an event of this stream, or a position");
    let (position, place) = match last_seen(&headers, place).ok_or_else(wrong)? {
        Some(seen) => seen,
        None => (app.readers().look(Reader::tail).await?.0, None),
    };
    // A record whose first events were seen is read again for the others.
    let at = Position(if place.is_some() { position.saturating_sub(1) } else { position });
    let kinds = asked.kinds.map(|kinds| kinds.split(',').map(|kind| kind.trim().to_owned()).collect());
    Ok(stream(&app, pass, OfWorkspace { at, seen: (position, place), kinds, run })?)
}

/// `17.2`, the third event of the record at 17; or `17`, all of it.
fn place(text: &str) -> Option<(u64, Option<u32>)> {
    match text.split_once('.') {
        Some((position, place)) => Some((position.parse().ok()?, Some(place.parse().ok()?))),
        None => Some((text.parse().ok()?, None)),
    }
}

struct OfWorkspace {
    at: Position,
    /// Nothing up to here is wanted.
    seen: (u64, Option<u32>),
    kinds: Option<Vec<String>>,
    run: Option<RunId>,
}

impl OfWorkspace {
    fn wants(&self, event: &Marked) -> bool {
        let (position, place) = self.seen;
        let new =
            event.position > position || (event.position == position && Some(event.place) > place && place.is_some());
        let kind = self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&event.kind));
        new && kind && self.run.is_none_or(|run| event.run == Some(run))
    }

    /// What is wanted of a page; all of it as it is, where that is so.
    fn of(&self, page: &Page) -> Bytes {
        if page.events.iter().all(|event| self.wants(event)) {
            return page.text.clone();
        }
        let mut text = Vec::new();
        for event in page.events.iter().filter(|event| self.wants(event)) {
            text.extend_from_slice(&page.text[event.at.clone()]);
        }
        text.into()
    }
}

impl Source for OfWorkspace {
    async fn look(mut self, app: &App, end: u64) -> Done<(Self, Looked)> {
        if self.at.0 >= end {
            return Ok((self, Looked::default()));
        }
        let page = app.pages().after(self.at, app.readers()).await?;
        let (text, more) = (self.of(&page), page.to != self.at);
        self.at = page.to;
        Ok((self, Looked { text, more, over: false }))
    }
}
