//! Bodies: JSON that is read whole, within its size and its time, and answered as JSON.

use crate::door::Visit;
use crate::limits;
use crate::problem::Problem;
use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use edgewise_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A body of a form. Unknown fields are refused by the form itself.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        check_type(request.headers())?;
        let bytes = read_within(request, limits::BODY_BYTES).await?;
        // An empty body is an empty object: most acts have nothing more to say.
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let value = serde_json::from_slice(text)
            .map_err(|error| Error::invalid("bad_body", format!("the body is not what this address takes: {error}")))?;
        Ok(Self(value))
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
            Err(error) => {
                Problem(Error::bug("unprintable", "an answer has no JSON form").with_source(error)).into_response()
            }
        }
    }
}

/// A browser sends forms and texts across sites without asking; JSON it does not.
fn check_type(headers: &HeaderMap) -> Result<()> {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let kind = kind.to_str().unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Error::invalid("not_json", format!("the body is said to be {kind:?}: send application/json")))
}

/// A body as it came, if it comes within its size and its time.
pub async fn read_within(request: Request, most: usize) -> Result<Bytes> {
    let patience = request.extensions().get::<Visit>().map_or(limits::BODY, |visit| visit.door.patience.body);
    let body = tokio::time::timeout(patience, to_bytes(request.into_body(), most)).await;
    let Ok(body) = body else {
        let message = format!("the body did not arrive within {} seconds", patience.as_secs());
        return Err(Error::unavailable("too_slow", message));
    };
    body.map_err(|error| {
        Error::limit("body_too_large", format!("the body broke off or is larger than {most} bytes")).with_source(error)
    })
}
