//! Refusals as answers: RFC 9457, with the stable code of the error.

use crate::audit::Code;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use edgewise_client::wire;
use edgewise_core::{Error, Kind};

/// What a handler can fail with.
#[derive(Debug)]
pub struct Problem(pub Error);

/// The result of every handler.
pub type Result<T> = std::result::Result<T, Problem>;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// The status of an error, and its kind in words.
pub fn status_of(error: &Error) -> (StatusCode, &'static str) {
    match (error.kind, error.code) {
        (_, "no_token" | "bad_token") => (StatusCode::UNAUTHORIZED, "The token is missing or not good"),
        (_, "no_route") => (StatusCode::NOT_FOUND, "There is nothing at this address"),
        (_, "bad_method") => (StatusCode::METHOD_NOT_ALLOWED, "This address is not asked this way"),
        (_, "not_json") => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body must be JSON"),
        (_, "too_often") => (StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
        (_, "too_many") => (StatusCode::TOO_MANY_REQUESTS, "Too many at once"),
        (_, "version_mismatch") => (StatusCode::PRECONDITION_FAILED, "It is not as it was seen"),
        (_, "too_slow") => (StatusCode::REQUEST_TIMEOUT, "The request came too slowly"),
        (Kind::Invalid, _) => (StatusCode::BAD_REQUEST, "The request cannot succeed as it is"),
        (Kind::NotFound, _) => (StatusCode::NOT_FOUND, "What is named does not exist"),
        (Kind::Denied, _) => (StatusCode::FORBIDDEN, "This is not allowed"),
        (Kind::Conflict | Kind::Stale, _) => (StatusCode::CONFLICT, "The state forbids it"),
        (Kind::Limit, _) => (StatusCode::PAYLOAD_TOO_LARGE, "A limit would be crossed"),
        (Kind::Unavailable, _) => (StatusCode::SERVICE_UNAVAILABLE, "Not now"),
        (Kind::Corrupt, _) => (StatusCode::INTERNAL_SERVER_ERROR, "Stored data is damaged"),
        (Kind::Bug, _) => (StatusCode::INTERNAL_SERVER_ERROR, "A rule of ours was broken"),
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, title) = status_of(&self.0);
        let problem = wire::Problem {
            kind: format!("urn:edgewise:problem:{}", self.0.code),
            title: title.into(),
            status: status.as_u16(),
            detail: self.0.to_string(),
            code: self.0.code.into(),
        };
        let code = Code(self.0.code);
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (status, body).into_response();
        response.extensions_mut().insert(code);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_error_has_the_status_a_caller_acts_on() {
        for (error, status) in [
            (Error::invalid("bad_name", ""), 400),
            (Error::denied("no_token", ""), 401),
            (Error::denied("not_permitted", ""), 403),
            (Error::not_found("run_not_found", ""), 404),
            (Error::stale("attempt_over", ""), 409),
            (Error::limit("request_too_large", ""), 413),
            (Error::limit("too_many", ""), 429),
            (Error::bug("x", ""), 500),
            (Error::unavailable("disk_full", ""), 503),
        ] {
            assert_eq!(status_of(&error).0.as_u16(), status, "{}", error.code);
        }
    }
}
