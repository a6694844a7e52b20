//! From a connection to a router: one workspace behind its own addresses, or many behind `/t/TENANT/WORKSPACE`.

use crate::app::App;
use crate::door::{Door, Visit};
use crate::routes::router;
use crate::workspaces::Workspaces;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use edgewise_engine::engine::Clock;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// What a server serves.
#[derive(Clone)]
pub enum Served {
    /// One workspace.
    One(App),
    /// Many, each behind its prefix.
    Many(Workspaces),
}

impl Served {
    pub(crate) fn clock(&self) -> Clock {
        match self {
            Self::One(app) => app.clock(),
            Self::Many(workspaces) => workspaces.clock(),
        }
    }
}

/// A router that can be called.
pub(crate) type Rooted = TowerToHyperService<axum::Router>;

/// Asks a router.
pub(crate) async fn ask(router: &Rooted, request: Request) -> Response {
    match router.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Answers the requests of one connection.
#[derive(Clone)]
pub(crate) struct Entrance {
    way: Way,
    visit: Option<Visit>,
}

#[derive(Clone)]
enum Way {
    One(Rooted),
    Many(Workspaces),
}

impl Entrance {
    pub fn new(served: Served) -> Self {
        let way = match served {
            Served::One(app) => Way::One(TowerToHyperService::new(router(&app))),
            Served::Many(workspaces) => Way::Many(workspaces),
        };
        Self { way, visit: None }
    }

    /// The entrance for one visitor.
    pub fn to(&self, visit: Visit) -> Self {
        Self { way: self.way.clone(), visit: Some(visit) }
    }

    pub fn door(&self) -> Option<Arc<Door>> {
        self.visit.as_ref().map(|visit| Arc::clone(&visit.door))
    }
}

impl Service<hyper::Request<Incoming>> for Entrance {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let Self { way, visit } = self.clone();
        let mut request = request.map(Body::new);
        Box::pin(async move {
            if let Some(visit) = visit {
                if let Err(refused) = visit.may_ask() {
                    return Ok(*refused);
                }
                request.extensions_mut().insert(visit);
            }
            Ok(match way {
                Way::One(router) => ask(&router, request).await,
                Way::Many(workspaces) => workspaces.answer(request).await,
            })
        })
    }
}
