//! The trail: who did what.

use crate::app::App;
use crate::audit;
use crate::body::Json;
use crate::limits;
use crate::listed::audit_line;
use crate::params::Query;
use crate::problem::Result;
use axum::extract::State;
use edgewise_client::wire::Audit;
use edgewise_core::Error;
use edgewise_core::time::Time;
use serde::Deserialize;

/// What of the trail is wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    since: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

pub async fn list(State(app): State<App>, Query(asked): Query<AuditQuery>) -> Result<Json<Audit>> {
    let since = asked.since.as_deref().map_or(Ok(Time(0)), Time::parse)?;
    let after = asked.after.as_deref().map(audit::Mark::parse).transpose()?;
    let limit = asked.limit.unwrap_or(limits::PAGE_DEFAULT).clamp(1, limits::PAGE);
    let lines = tokio::task::spawn_blocking(move || {
        app.audit().settle();
        audit::page(app.dir(), since, (after.as_ref(), limit))
    });
    let page = lines.await.map_err(|_| Error::bug("reader_panicked", "a look at the trail panicked"))?;
    let (lines, next) = page?;
    let next = next.map(|mark| mark.to_string());
    Ok(Json(Audit { lines: lines.into_iter().map(audit_line).collect(), next }))
}
