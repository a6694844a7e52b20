//! Versions of what is shown: an `ETag` with it, `If-None-Match` to hear of changes only, `If-Match` to change only what
//! was seen. Whether a version still holds is decided by the engine, in the commit of the change.

use crate::body::Json;
use crate::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use edgewise_core::work::Op;
use edgewise_core::{Error, Result};
use serde_json::Value;

/// What `If-Match` says: the versions that somebody saw, any of them.
pub struct Expected(Option<Vec<String>>);

impl Expected {
    /// The operation that refuses its commit unless the version holds; `None` where nothing is expected.
    pub fn guard(self, id: &str) -> Option<Op> {
        self.0.map(|version| Op::Expect { id: id.to_owned(), version })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Expected {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> std::result::Result<Self, Problem> {
        Ok(Self(tags(&parts.headers, &header::IF_MATCH)?))
    }
}

/// What is shown, or that it is still as it was seen.
pub fn answer(headers: &HeaderMap, version: &str, shown: Value) -> Result<Response> {
    let etag = [(header::ETAG, format!("\"{version}\""))];
    match tags(headers, &header::IF_NONE_MATCH)? {
        Some(seen) if seen.iter().any(|seen| seen == version) => Ok((StatusCode::NOT_MODIFIED, etag).into_response()),
        _ => Ok((etag, Json(shown)).into_response()),
    }
}

/// The versions in a header; `None` where it is absent or `*`, which fits whatever is there.
fn tags(headers: &HeaderMap, name: &header::HeaderName) -> Result<Option<Vec<String>>> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let tag = |tag: &str| {
        let tag = tag.trim();
        let plain = tag.strip_prefix("W/").unwrap_or(tag).strip_prefix('"')?.strip_suffix('"')?;
        Some(plain.to_owned())
    };
    let wrong = || Error::invalid("bad_version", format!("{name} is the `ETag` of an answer, with its quotes, or *"));
    text.split(',').map(tag).collect::<Option<Vec<_>>>().map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_they_were_sent() {
        let of = |text: &str| {
            let headers = HeaderMap::from_iter([(header::IF_MATCH, text.parse().unwrap())]);
            tags(&headers, &header::IF_MATCH)
        };
        assert_eq!(of("\"a\"").unwrap(), Some(vec!["a".to_owned()]));
        assert_eq!(of("\"a\", W/\"b\"").unwrap(), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(of("*").unwrap(), None);
        for bad in ["", "a", "\"a", "\"a\",", "a\""] {
            assert_eq!(of(bad).unwrap_err().code, "bad_version", "{bad}");
        }
    }
}
