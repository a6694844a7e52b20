//! The guard before every route: who is it, and may they.

use crate::app::App;
use crate::auth::{Permission, Principal, Role};
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use edgewise_core::name::Name;
use edgewise_core::{Error, Result};
use std::time::Instant;

/// Who somebody without a token says that they are.
const AS: &str = "edgewise-as";
const LOCAL: &str = "local";

/// What a guard stands before.
#[derive(Clone)]
pub struct Guarded {
    pub app: App,
    pub route: &'static str,
    pub needs: Permission,
}

/// Lets a request through to its handler, with who asks, or answers why not.
pub async fn guard(State(guarded): State<Guarded>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let Guarded { app, route, needs } = guarded;
    let response = match admit(&app, needs, request.headers()).await {
        Ok(principal) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        Err(error) => Problem(error).into_response(),
    };
    app.metrics().answered(route, response.status(), begun.elapsed());
    response
}

async fn admit(app: &App, needs: Permission, headers: &HeaderMap) -> Result<Principal> {
    if needs == Permission::Open {
        return Ok(Principal { name: local()?, role: Role::Viewer });
    }
    let principal = match bearer(headers)? {
        Some(token) => spoken(app.tokens().await?.check(token, app.now())?, headers)?,
        None => neighbour(app, headers)?,
    };
    if principal.role.may(needs) {
        return Ok(principal);
    }
    let Principal { name, role } = principal;
    let message = format!("{name} is trusted as {role:?} and this needs the permission to {needs:?}");
    Err(Error::denied("not_permitted", message.to_lowercase()))
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let token = value.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
    let wrong = || Error::denied("bad_token", "the header must be `Authorization: Bearer NAME.SECRET`");
    token.map(|token| Some(token.trim())).ok_or_else(wrong)
}

/// Whose name stands beside what is done: the token's own. An admin may act for somebody else, as when a proxy of theirs
/// knows who is at the other end.
fn spoken(principal: Principal, headers: &HeaderMap) -> Result<Principal> {
    let Some(name) = headers.get(AS) else { return Ok(principal) };
    let name = Name::parse(name.to_str().unwrap_or_default())?;
    if name == principal.name || principal.role == Role::Admin {
        return Ok(Principal { name, ..principal });
    }
    let message = format!("this token is {}'s: it cannot speak for {name}; leave Edgewise-As out", principal.name);
    Err(Error::denied("not_yourself", message))
}

/// Somebody on this machine, where nobody else can connect. A page of another site that a browser has open can
/// connect too: it is known by its origin, or by a name that is not this machine's.
fn neighbour(app: &App, headers: &HeaderMap) -> Result<Principal> {
    if !app.trusts_loopback() {
        let message = "this server lets nobody in without a token: send `Authorization: Bearer NAME.SECRET`; \
                       `edgewise token create` makes one";
        return Err(Error::denied("no_token", message));
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let foreign = headers.get(header::ORIGIN).is_some_and(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        origin.split_once("://").is_none_or(|(_, from)| from != host)
    });
    if foreign || !is_loopback(host) {
        let message = "only programs of this machine are let in without a token, not pages of other sites: ask for \
                       http://127.0.0.1 or send a token";
        return Err(Error::denied("foreign_origin", message));
    }
    let name = match headers.get(AS) {
        Some(name) => Name::parse(name.to_str().unwrap_or_default())?,
        None => local()?,
    };
    Ok(Principal { name, role: Role::Admin })
}

fn local() -> Result<Name> {
    Name::parse(LOCAL)
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_names_of_this_machine_are_believed_to_be_it() {
        for good in ["localhost", "LOCALHOST:7420", "127.0.0.1:7420", "127.8.8.8", "[::1]:7420", "[::1]"] {
            assert!(is_loopback(good), "{good}");
        }
        for bad in
            ["", "example.org", "localhost.example.org", "10.0.0.1:7420", "[2001:db8::1]:7420", "127.0.0.1.nip.io"]
        {
            assert!(!is_loopback(bad), "{bad}");
        }
    }
}
