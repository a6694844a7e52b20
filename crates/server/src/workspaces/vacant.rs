//! A place where no workspace is. What needs no token is answered there to the byte as a workspace answers to which
//! the address means nothing: whoever tries addresses learns nothing about who is served here.

use crate::entrance::Rooted;
use crate::hook::{Of, no_hook};
use crate::params::Path;
use crate::problem::Problem;
use crate::route::flow::schema_of_flows;
use crate::routes::nowhere;
use axum::Router;
use axum::routing::{get, post};
use hyper_util::service::TowerToHyperService;

/// The router of all such places.
pub(super) fn router() -> Rooted {
    let nothing = |of: Of| post(async move |_: Path<String>| Problem(no_hook(of)));
    let router = Router::new()
        .route("/api/v1/hooks/{hook}", nothing(Of::Gate))
        .route("/api/v1/starts/{hook}", nothing(Of::Flow))
        .route("/api/v1/flows/schema", get(schema_of_flows))
        .fallback(nowhere);
    TowerToHyperService::new(router)
}
