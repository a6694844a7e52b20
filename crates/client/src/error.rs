//! What can go wrong between a program and a server: refusals with their stable code, and servers that are away.

use crate::wire::Problem;
use edgewise_core::Kind;
use std::fmt;

/// An error of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What the caller should do about it.
    pub kind: Kind,
    /// Stable and machine-readable, such as `run_not_found`; `no_server` where nobody answered.
    pub code: String,
    /// What was expected, what was found, what to do next.
    pub message: String,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
}

/// The result of everything that is asked of a server.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    pub(crate) fn new(kind: Kind, code: &str, message: impl Into<String>) -> Self {
        Self { kind, code: code.into(), message: message.into(), status: None }
    }

    /// Whether the same request may succeed a little later.
    pub fn is_passing(&self) -> bool {
        self.kind == Kind::Unavailable || matches!(self.status, Some(408 | 429 | 502..=504))
    }

    /// What a server's refusal means to whoever asked at an address.
    pub(crate) fn refused(status: u16, body: &[u8], address: &str) -> Self {
        let Ok(problem) = serde_json::from_slice::<Problem>(body) else {
            let message = format!(
                "{address} answered with status {status} and not as an Edgewise server does: check the address, and \
                 what stands between"
            );
            let kind = if status >= 500 { Kind::Unavailable } else { Kind::Invalid };
            return Self { status: Some(status), ..Self::new(kind, "not_a_server", message) };
        };
        if matches!(problem.code.as_str(), "no_route" | "bad_method") {
            let message = format!("the server does not know {address}: it is older than this program; update it");
            return Self { status: Some(status), ..Self::new(Kind::Unavailable, "older_server", message) };
        }
        Self { kind: kind_of(status), code: problem.code, message: problem.detail, status: Some(status) }
    }
}

/// What a caller does about a status.
fn kind_of(status: u16) -> Kind {
    match status {
        401 | 403 => Kind::Denied,
        404 => Kind::NotFound,
        409 | 412 => Kind::Conflict,
        413 => Kind::Limit,
        408 | 429 | 502..=504 => Kind::Unavailable,
        500.. => Kind::Bug,
        _ => Kind::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, body: &str, expected: (Kind, &str, bool)) {
        let error = Error::refused(status, body.as_bytes(), "http://x/api");
        assert_eq!((error.kind, error.code.as_str(), error.is_passing()), expected, "{status} {body}");
        assert_eq!(error.status, Some(status));
    }

    #[test]
    fn a_refusal_is_known_by_its_code_and_says_whether_it_passes() {
        let problem = |code: &str| format!(r#"{{"type":"x","title":"x","status":1,"detail":"d","code":"{code}"}}"#);
        check(404, &problem("run_not_found"), (Kind::NotFound, "run_not_found", false));
        check(401, &problem("bad_token"), (Kind::Denied, "bad_token", false));
        check(409, &problem("attempt_over"), (Kind::Conflict, "attempt_over", false));
        check(503, &problem("disk_full"), (Kind::Unavailable, "disk_full", true));
        check(429, &problem("too_many"), (Kind::Unavailable, "too_many", true));
        check(404, &problem("no_route"), (Kind::Unavailable, "older_server", true));
        check(404, "<html>", (Kind::Invalid, "not_a_server", false));
        check(502, "<html>", (Kind::Unavailable, "not_a_server", true));
    }
}
