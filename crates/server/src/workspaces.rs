//! Many workspaces behind one address: each is a folder `DIR/TENANT/WORKSPACE` with a store, an engine, tokens and
//! limits of its own, and is asked at `/t/TENANT/WORKSPACE/api/v1/…`.
//!
//! The folder is the wall. Nothing that a request says is looked up in two of them: a token is known where it was
//! made and nowhere else, and whoever has none that is good there is answered the same whether the workspace exists
//! or not. An engine is started only for somebody who has proven that they belong there.

mod vacant;

use crate::app::{App, Parts};
use crate::audit::Line;
use crate::auth::{Permission, Tokens};
use crate::body::Json;
use crate::door::Visit;
use crate::entrance::{Rooted, ask};
use crate::guard::{bearer, no_token};
use crate::limits;
use crate::openapi::document;
use crate::problem::{Problem, status_of};
use crate::push::Pushing;
use crate::routes::{router, table};
use axum::extract::Request;
use axum::http::request::Parts as Head;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use edgewise_core::time::Millis;
use edgewise_core::{Error, Result};
use edgewise_engine::engine::{Clock, wall_clock};
use edgewise_engine::folder::{Folder, Open, Options};
use edgewise_engine::http::Http;
use edgewise_engine::reader::Reader;
use edgewise_engine::webhook::{Delivering, Hooks};
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;

/// What the addresses of workspaces begin with.
const PREFIX: &str = "/t/";
/// The longest name of a tenant or a workspace.
const NAME_BYTES: usize = 64;

/// The workspaces of a folder; cloning gives another handle to the same ones.
#[derive(Clone)]
pub struct Workspaces(Arc<Inner>);

struct Inner {
    dir: PathBuf,
    options: Options,
    outside: Outside,
    rooms: Mutex<BTreeMap<String, Arc<Room>>>,
    /// Answers wherever there is no room.
    vacant: Rooted,
}

/// What workspaces tell the world with.
#[derive(Clone)]
pub struct Outside {
    /// Where spans are exported to.
    pub collector: Option<String>,
    /// The network that webhooks are told, and push workers called, over.
    pub http: Http,
    /// How long domain events are kept that everybody has acknowledged.
    pub keep_events: Option<Millis>,
}

/// A workspace whose engine runs.
struct Room {
    app: App,
    router: Rooted,
    open: std::sync::Mutex<Option<(Open, Telling)>>,
}

/// What a workspace does by itself with the network.
struct Telling {
    delivering: Delivering,
    pushing: Pushing,
}

impl Telling {
    async fn stop(self) {
        self.delivering.stop();
        self.pushing.stop(limits::PUSH_STOPS).await;
    }
}

/// Where a request goes: which workspace, and the address within it.
struct Goal {
    place: String,
    path: String,
}

impl Workspaces {
    /// Opens all workspaces of a folder: their schedules and timers go on without anybody asking.
    pub async fn open(dir: &Path, options: Options, outside: Outside) -> Result<Self> {
        let (rooms, vacant) = (Mutex::default(), vacant::router());
        let own = Self(Arc::new(Inner { dir: dir.to_owned(), options, outside, rooms, vacant }));
        for place in places(dir)? {
            own.room(&place).await?;
        }
        Ok(own)
    }

    /// Ends all engines.
    pub async fn close(self) -> Result<()> {
        let rooms = std::mem::take(&mut *self.0.rooms.lock().await);
        let mut closing = tokio::task::JoinSet::new();
        for room in rooms.into_values() {
            let open = room.open.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            if let Some((open, telling)) = open {
                // Beside each other: the calls of one need not wait for those of another.
                closing.spawn(async move {
                    telling.stop().await;
                    open.close().await
                });
            }
        }
        let closed = closing.join_all().await;
        closed.into_iter().collect()
    }

    /// The names of those whose engines run.
    pub async fn running(&self) -> Vec<String> {
        self.0.rooms.lock().await.keys().cloned().collect()
    }

    /// How many fast domain events all listeners have lost.
    pub async fn dropped(&self) -> u64 {
        self.0.rooms.lock().await.values().map(|room| room.app.engine().listeners().counts().1).sum()
    }

    pub(crate) fn clock(&self) -> Clock {
        Arc::new(wall_clock)
    }

    pub(crate) async fn answer(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let Some(rest) = parts.uri.path().strip_prefix(PREFIX) else { return self.about(&parts).await };
        match self.admit(rest, &parts).await {
            Ok((router, goal)) => ask(&router, within(Request::from_parts(parts, body), goal)).await,
            Err(error) => {
                self.refused(rest, &parts, &error).await;
                Problem(error).into_response()
            }
        }
    }

    /// Tells the trail of a workspace who was not let in.
    async fn refused(&self, rest: &str, request: &Head, error: &Error) {
        let Some(room) = self.0.rooms.lock().await.get(&goal(rest).place).cloned() else { return };
        let peer = request.extensions.get::<Visit>().map(|visit| visit.peer.to_string());
        room.app.metrics().refused(error.code);
        room.app.audit().sum(Line {
            at: room.app.now(),
            who: None,
            role: None,
            peer: peer.unwrap_or_default(),
            route: "entrance".into(),
            path: None,
            made: None,
            status: status_of(error).0.as_u16(),
            code: Some(error.code.into()),
            times: 1,
        });
    }

    /// What is asked of the server itself, which says nothing about anybody's work.
    async fn about(&self, request: &Head) -> Response {
        match (&request.method, request.uri.path()) {
            (&Method::GET, "/healthz") => "ok\n".into_response(),
            (&Method::GET, "/readyz") => match self.trouble().await {
                None => "ready\n".into_response(),
                // Which workspace it is says its name.
                Some(_) => Problem(Error::unavailable("not_ready", "a workspace cannot write now")).into_response(),
            },
            (&Method::GET, "/api/openapi.json") => Json(document()).into_response(),
            _ => {
                let message = "this server has many workspaces: ask at /t/TENANT/WORKSPACE/api/v1/…";
                Problem(Error::not_found("no_route", message)).into_response()
            }
        }
    }

    async fn trouble(&self) -> Option<String> {
        let rooms = self.0.rooms.lock().await;
        rooms.values().find_map(|room| room.app.engine().trouble().borrow().clone())
    }

    /// Who answers: the workspace of whoever has a token that is good there. What needs none is asked of any place.
    async fn admit(&self, rest: &str, request: &Head) -> Result<(Rooted, Goal)> {
        let goal = goal(rest);
        let known = self.0.rooms.lock().await.get(&goal.place).cloned();
        if is_open(&request.method, &goal.path) {
            return Ok((known.map_or_else(|| self.0.vacant.clone(), |room| room.router.clone()), goal));
        }
        let token = bearer(&request.headers)?.ok_or_else(no_token)?;
        let (tokens, now) = match &known {
            Some(room) => (room.app.tokens().await?, room.app.now()),
            None => (Arc::new(self.tokens(&goal.place).await?), wall_clock()),
        };
        tokens.check(token, now)?;
        Ok((self.room(&goal.place).await?.router.clone(), goal))
    }

    /// The tokens of a workspace whose engine does not run; none of one that does not exist.
    async fn tokens(&self, place: &str) -> Result<Tokens> {
        let Some(dir) = self.folder(place).filter(|dir| dir.join("ledger.db").is_file()) else {
            return Ok(Tokens::default());
        };
        let home = self.0.options.home.clone();
        let read = tokio::task::spawn_blocking(move || Ok(Tokens::of(&Reader::open(&dir, home)?.control()?.settings)));
        read.await.unwrap_or_else(|_| Err(Error::bug("reader_panicked", "a look at the store panicked")))
    }

    fn folder(&self, place: &str) -> Option<PathBuf> {
        let (tenant, workspace) = place.split_once('/').filter(|(a, b)| is_name(a) && is_name(b))?;
        Some(self.0.dir.join(tenant).join(workspace))
    }

    async fn room(&self, place: &str) -> Result<Arc<Room>> {
        let mut rooms = self.0.rooms.lock().await;
        if let Some(room) = rooms.get(place) {
            return Ok(Arc::clone(room));
        }
        if rooms.len() >= limits::WORKSPACES {
            let message =
                format!("{} workspaces are open, no more are: serve some of them elsewhere", limits::WORKSPACES);
            return Err(Error::unavailable("too_many_workspaces", message));
        }
        let dir = self.folder(place).ok_or_else(|| Error::invalid("bad_name", format!("{place:?} is no workspace")))?;
        let (tenant, workspace) = place.split_once('/').unwrap_or_default();
        let folder = Folder::at(&dir).keeping_events(self.0.outside.keep_events).known_as(tenant, workspace);
        let open = folder.open_engine(&self.0.options).await?.ok_or_else(|| {
            Error::unavailable("workspace_busy", format!("another process is the engine of {place}: stop it first"))
        })?;
        let room = Arc::new(self.furnish((tenant, workspace), dir, open).await?);
        rooms.insert(place.to_owned(), Arc::clone(&room));
        Ok(room)
    }

    /// A workspace with all that it tells the world.
    async fn furnish(&self, (tenant, workspace): (&str, &str), dir: PathBuf, open: Open) -> Result<Room> {
        let Outside { collector, http, .. } = &self.0.outside;
        let app = App::new(Parts {
            engine: open.engine.clone(),
            home: self.0.options.home.clone(),
            dir,
            clock: Arc::new(wall_clock),
            trust_loopback: false,
        });
        app.set_queues(self.0.options.queues.clone());
        app.set_prefix(format!("{PREFIX}{tenant}/{workspace}"));
        if let Some(collector) = collector {
            app.export_as(collector, (tenant.to_owned(), workspace.to_owned())).await?;
        }
        let means = http.means(open.engine.listeners().watch_queues());
        let delivering = Delivering::start(Hooks::new(app.shelf().await?), means);
        let pushing = Pushing::start(&app, http.clone()).await?;
        let router = TowerToHyperService::new(router(&app));
        let telling = Telling { delivering, pushing };
        Ok(Room { app, router, open: std::sync::Mutex::new(Some((open, telling))) })
    }
}

/// Every `TENANT/WORKSPACE` of a folder that has a store.
fn places(dir: &Path) -> Result<Vec<String>> {
    let unreadable = |error| {
        let message = format!("{} cannot be read: name a folder with TENANT/WORKSPACE in it", dir.display());
        Error::unavailable("no_workspaces", message).with_source(error)
    };
    let mut found = Vec::new();
    for tenant in names(dir).map_err(unreadable)? {
        for workspace in names(&dir.join(&tenant)).map_err(unreadable)? {
            if dir.join(&tenant).join(&workspace).join("ledger.db").is_file() {
                found.push(format!("{tenant}/{workspace}"));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The folders of a folder whose names are names.
fn names(dir: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        // A link could lead out of the folder.
        if entry.file_type()?.is_dir()
            && let Some(name) = entry.file_name().to_str().filter(|name| is_name(name))
        {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Whether a text may be the name of a tenant or a workspace: it becomes the name of a folder.
pub fn is_name(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=NAME_BYTES).contains(&text.len()) && text.bytes().all(good) && text.as_bytes()[0].is_ascii_alphanumeric()
}

fn goal(rest: &str) -> Goal {
    let mut parts = rest.splitn(3, '/');
    let mut next = || parts.next().unwrap_or_default();
    let place = format!("{}/{}", next(), next());
    Goal { place, path: format!("/{}", next()) }
}

/// Whether an address within a workspace needs no token: it has a proof of its own. What is said of the server itself
/// is not asked of a workspace.
fn is_open(method: &Method, path: &str) -> bool {
    let fits = |pattern: &str| {
        let (mut expected, mut found) = (pattern.split('/'), path.split('/'));
        loop {
            match (expected.next(), found.next()) {
                (None, None) => return true,
                (Some(expected), Some(found)) if expected == found || expected.starts_with('{') => {}
                _ => return false,
            }
        }
    };
    path.starts_with("/api/v1/")
        && table().iter().any(|route| route.needs == Permission::Open && route.method == *method && fits(route.path))
}

/// The request as the workspace sees it: without the prefix.
fn within(mut request: Request, goal: Goal) -> Request {
    let mut text = goal.path;
    if let Some(query) = request.uri().query() {
        text.push('?');
        text.push_str(query);
    }
    // It was a part of a good one.
    if let Ok(path) = text.parse::<PathAndQuery>() {
        *request.uri_mut() = Uri::from(path);
    }
    if let Some(visit) = request.extensions_mut().get_mut::<Visit>() {
        visit.place = goal.place.into();
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_workspaces_cannot_lead_anywhere_else() {
        for good in ["acme", "a", "a-b_c", "9lives", &"x".repeat(64)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a.b", "A", "-a", "_a", "a b", "a%2f", "a\0", "\u{1b}", "ä", &"x".repeat(65)]
        {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn an_address_is_a_workspace_and_what_is_asked_of_it() {
        for (rest, place, path) in [
            ("acme/web/api/v1/runs", "acme/web", "/api/v1/runs"),
            ("acme/web", "acme/web", "/"),
            ("acme", "acme/", "/"),
            ("", "/", "/"),
            ("../../etc", "../..", "/etc"),
        ] {
            let found = goal(rest);
            assert_eq!((found.place.as_str(), found.path.as_str()), (place, path), "{rest}");
        }
    }
}
