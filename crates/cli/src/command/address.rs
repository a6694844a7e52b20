//! Addresses that need no token. In a folder they are made from its secret; a server keeps its own to itself, and is asked.

use super::Context;
use super::schedule::record;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::remote::Remote;
use crate::view::{View, home};
use edgewise_client::wire::HookRequest;
use edgewise_core::Kind;
use edgewise_core::control::{HOOK_SECRET, SettingChanged};
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::folder::Ask;
use edgewise_server::hook::{Of, Secret};
use serde::Deserialize;

/// Where a server is that nobody named.
const DEFAULT: &str = "http://127.0.0.1:7420";

/// An address that is wanted.
pub(super) struct Wanted<'a> {
    pub of: Of,
    /// What the address calls it.
    pub named: &'a str,
    /// The route of a server that makes it.
    pub route: String,
    /// For how long it is good.
    pub expires: Millis,
    /// Where others reach the server, if that was said.
    pub server: Option<&'a str>,
}

/// What every route for an address answers.
#[derive(Deserialize)]
struct Made {
    path: String,
    expires_at: String,
}

impl Wanted<'_> {
    /// The address, and until when it is good.
    pub fn make(&self, context: &Context<'_>) -> Result<(String, String)> {
        let Some(remote) = Remote::of(context.config)? else {
            let expires = wall_clock().plus(self.expires);
            let path = secret(context)?.path(&home()?, (self.of, self.named), expires);
            return Ok((joined(self.server.unwrap_or(DEFAULT), &path), expires.to_string()));
        };
        let asked = HookRequest { expires: Some(self.expires.to_string()) };
        let Made { path, expires_at } = remote.asker()?.post(&self.route, &asked)?;
        let reached = self.server.or(context.config.addr.value.as_deref());
        Ok((joined(reached.unwrap_or(DEFAULT), &path), expires_at))
    }
}

/// A path at a server. A server of many workspaces answers with a path from its root, which its address may begin with.
fn joined(server: &str, path: &str) -> String {
    let server = server.trim_end_matches('/');
    let root = server.find("://").and_then(|at| Some(at + 3 + server[at + 3..].find('/')?));
    match root {
        Some(root) if path.starts_with(&format!("{}/", &server[root..])) => format!("{}{path}", &server[..root]),
        _ => format!("{server}{path}"),
    }
}

/// The folder's secret; the first address makes it.
fn secret(context: &Context<'_>) -> Result<Secret> {
    let kept = || Ok::<_, Problem>(Secret::of(&View::open(context.config)?.reader.control()?.settings)?);
    if let Some(secret) = kept()? {
        return Ok(secret);
    }
    let (key, by) = (Name::parse(HOOK_SECRET)?, context.config.who.value.clone());
    let change = SettingChanged { key, value: Some(Secret::fresh()?.into()), by, why: None };
    record(&Place::of(context.config), Ask::ChangeSetting(change))?;
    // Somebody else may have been first: what is kept counts.
    kept()?.ok_or_else(|| Problem::new(Kind::Bug, "no_secret", "a secret that was just kept is not there"))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn a_path_that_begins_with_the_workspace_is_not_put_behind_it_again() {
        for (server, path, expected) in [
            ("http://a:1", "/api/x", "http://a:1/api/x"),
            ("http://a:1/", "/api/x", "http://a:1/api/x"),
            ("http://a:1/t/acme/web", "/t/acme/web/api/x", "http://a:1/t/acme/web/api/x"),
            ("http://a:1/t/acme/web/", "/api/x", "http://a:1/t/acme/web/api/x"),
            ("https://a/t/acme/we", "/t/acme/web/api/x", "https://a/t/acme/we/t/acme/web/api/x"),
            ("https://a/proxy", "/api/x", "https://a/proxy/api/x"),
        ] {
            assert_eq!(joined(server, path), expected);
        }
    }
}
