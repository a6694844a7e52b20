//! The guard before every route: who is it, and may they.

use crate::app::App;
use crate::audit::{Code, Line, Made};
use crate::auth::{Permission, Principal, Role};
use crate::door::Visit;
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
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
    /// Whether asking may change something.
    pub changes: bool,
}

/// What somebody was let in with. What goes on for long asks now and then whether they would still be let in.
#[derive(Clone)]
pub struct Pass {
    app: App,
    token: Option<String>,
    needs: Permission,
}

impl Pass {
    /// Whether it still holds: its token has not expired, was not revoked, and is trusted with as much.
    pub async fn holds(&self) -> bool {
        let Some(token) = &self.token else { return true };
        // Who cannot be asked about is told nothing: a reader comes again and goes on where it was.
        let Ok(tokens) = self.app.tokens().await else { return false };
        tokens.check(token, self.app.now()).is_ok_and(|who| who.role.may(self.needs))
    }
}

/// Lets a request through to its handler, with who asks, or answers why not.
pub async fn guard(State(guarded): State<Guarded>, request: Request, next: Next) -> Response {
    // What somebody has done is done and told in the trail, also if they hang up before the answer. Workers that
    // hang up while they wait for work must not be given any.
    if guarded.changes && guarded.needs != Permission::Work {
        let answered = tokio::spawn(pass(guarded, request, next)).await;
        let broken = |_| Problem(Error::bug("handler_panicked", "the request could not be answered")).into_response();
        return answered.unwrap_or_else(broken);
    }
    pass(guarded, request, next).await
}

async fn pass(guarded: Guarded, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let mut line = begin(&guarded, &request);
    let principal = admit(&guarded, request.headers()).await;
    let admitted = principal.and_then(|principal| {
        line.who = Some(principal.name.to_string());
        line.role = Some(principal.role);
        permit(&principal, guarded.needs).map(|()| principal)
    });
    let response = match admitted {
        Ok(principal) => match paced(&guarded, &request, &principal) {
            Ok(()) => {
                let token = bearer(request.headers()).ok().flatten().map(str::to_owned);
                request.extensions_mut().insert(Pass { app: guarded.app.clone(), token, needs: guarded.needs });
                request.extensions_mut().insert(principal);
                next.run(request).await
            }
            Err(refused) => *refused,
        },
        Err(error) => Problem(error).into_response(),
    };
    guarded.app.metrics().answered(guarded.route, response.status(), begun.elapsed());
    note(&guarded, line, &response);
    response
}

/// The line of a request as far as it is known when it comes.
fn begin(guarded: &Guarded, request: &Request) -> Line {
    let peer = request.extensions().get::<Visit>().map(|visit| visit.peer.to_string());
    Line {
        at: guarded.app.now(),
        who: None,
        role: None,
        peer: peer.unwrap_or_default(),
        route: guarded.route.into(),
        path: guarded.changes.then(|| crate::hook::without_proof(request.uri().path())),
        made: None,
        status: 0,
        code: None,
        times: 1,
    }
}

/// What changed something is noted, and what was refused. Whoever only looked is not.
fn note(guarded: &Guarded, mut line: Line, response: &Response) {
    let status = response.status();
    let refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS);
    if !guarded.changes && !refused {
        return;
    }
    line.status = status.as_u16();
    line.code = response.extensions().get::<Code>().map(|code| code.0.to_owned());
    line.made = response.extensions().get::<Made>().map(|made| made.0.clone());
    if let Some(code) = line.code.as_deref().filter(|_| refused) {
        guarded.app.metrics().refused(code);
    }
    // Where anybody may come, anybody may fail as often as they like.
    let failed = guarded.needs == Permission::Open && !status.is_success();
    if refused || failed || guarded.needs == Permission::Work {
        guarded.app.audit().sum(line);
    } else {
        guarded.app.audit().note(line);
    }
}

/// Whether somebody does not come too often. Where anybody may come they are nobody in particular, and a pace of all of
/// them together would let one hold up the others: there the pace of their address is all.
fn paced(guarded: &Guarded, request: &Request, who: &Principal) -> std::result::Result<(), Box<Response>> {
    match request.extensions().get::<Visit>() {
        Some(visit) if guarded.needs != Permission::Open => visit.may_ask_as(who.name.as_str()),
        _ => Ok(()),
    }
}

async fn admit(guarded: &Guarded, headers: &HeaderMap) -> Result<Principal> {
    let app = &guarded.app;
    if guarded.needs == Permission::Open {
        return Ok(Principal { name: local()?, role: Role::Viewer });
    }
    match bearer(headers)? {
        Some(token) => spoken(app.tokens().await?.check(token, app.now())?, headers),
        None => neighbour(app, headers),
    }
}

/// Lets somebody do what needs a permission, or says why not.
pub fn permit(who: &Principal, needs: Permission) -> Result<()> {
    let Principal { name, role } = who;
    if role.may(needs) {
        return Ok(());
    }
    let message = format!("{name} is trusted as {role:?} and this needs the permission to {needs:?}");
    Err(Error::denied("not_permitted", message.to_lowercase()))
}

pub(crate) fn bearer(headers: &HeaderMap) -> Result<Option<&str>> {
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
        return Err(no_token());
    }
    if headers.keys().any(|name| is_forwarding(name.as_str())) {
        let message = "this came through a proxy, and only programs of this machine are let in without a token: send \
                       one, and serve with --require-tokens behind a proxy; `edgewise token create` makes one";
        return Err(Error::denied("forwarded", message));
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
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

/// Whether a header says that somebody else is at the other end: a proxy on this machine is a neighbour, and whoever
/// comes through it is not.
fn is_forwarding(name: &str) -> bool {
    name.starts_with("x-forwarded-") || matches!(name, "forwarded" | "x-real-ip" | "via")
}

/// Somebody has no token where one is needed.
pub(crate) fn no_token() -> Error {
    let message = "this server lets nobody in without a token: send `Authorization: Bearer NAME.SECRET`; \
                   `edgewise token create` makes one";
    Error::denied("no_token", message)
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
