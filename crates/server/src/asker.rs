//! Who asks for tasks, and whether they may be given the values of secrets.
//!
//! A secret leaves this machine only to a worker, and only where nobody else can read it on the way.

use crate::auth::{Principal, Role};
use crate::door::Visit;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use std::convert::Infallible;

/// What is known of whoever asks.
pub(crate) struct Asker {
    role: Option<Role>,
    /// Whether they showed a token; without one only programs of this machine are let in.
    token: bool,
    /// Whether the connection is encrypted, or does not leave this machine.
    private: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let visit = parts.extensions.get::<Visit>();
        Ok(Self {
            role: parts.extensions.get::<Principal>().map(|principal| principal.role),
            token: parts.headers.contains_key(header::AUTHORIZATION),
            private: visit.is_some_and(|visit| visit.door.tls.is_some() || visit.peer.is_loopback()),
        })
    }
}

impl Asker {
    /// Whether they may have the values of secrets that are lent; why not otherwise.
    pub fn may_have_secrets(&self, trusts_loopback: bool) -> Result<(), &'static str> {
        let trusted = if self.token { self.role == Some(Role::Worker) } else { trusts_loopback };
        match (self.private, trusted) {
            (false, _) => Err("the connection is not encrypted: serve with --tls-cert and --tls-key"),
            (_, false) => Err("the token is not of a worker: make one with `edgewise token create NAME --role worker`"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_to_workers_alone_and_only_where_nobody_can_read_them_on_the_way() {
        let check = |role: Role, token: bool, private: bool, trusts: bool, may: bool| {
            let asker = Asker { role: Some(role), token, private };
            let found = asker.may_have_secrets(trusts);
            assert_eq!(found.is_ok(), may, "{role:?}, token {token}, private {private}: {found:?}");
        };
        check(Role::Worker, true, true, false, true);
        check(Role::Worker, true, false, false, false);
        check(Role::Worker, true, false, true, false);
        check(Role::Admin, true, true, false, false);
        check(Role::Admin, true, true, true, false);
        check(Role::Operator, true, true, false, false);
        check(Role::Admin, false, true, true, true);
        check(Role::Admin, false, true, false, false);
        check(Role::Admin, false, false, true, false);
    }
}
