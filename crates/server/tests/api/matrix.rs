//! Every route against everybody who may ask: made from the table, so that no route is forgotten.

use crate::stage::Stage;
use edgewise_core::time::Time;
use edgewise_server::auth::{Permission, Role};
use edgewise_server::routes::{Gives, table};

/// What becomes of a request that is let in or not: handlers answer other statuses than the guard.
fn check(route: &str, who: &str, status: u16, refused: Option<u16>) {
    match refused {
        Some(expected) => assert_eq!(status, expected, "{route} for {who}"),
        None => assert!(![401, 403].contains(&status), "{route} for {who}: {status}"),
    }
}

#[tokio::test]
async fn nobody_gets_past_a_guard_without_the_permission_that_the_route_needs() {
    let stage = Stage::with(false).await;
    let mut tokens = Vec::new();
    for role in Role::ALL {
        let who = format!("{role:?}").to_lowercase();
        tokens.push((who.clone(), Some(stage.token(&who, role, None).await), Some(role)));
    }
    let expired = stage.token("gone", Role::Admin, Some(Time(1))).await;
    let revoked = stage.token("taken-away", Role::Admin, None).await;
    stage.revoke("taken-away").await;
    // A token of another workspace: good there, and nobody's here.
    let elsewhere = Stage::with(false).await.token("somebody-else", Role::Admin, None).await;
    tokens.push(("somebody revoked".into(), Some(revoked), None));
    tokens.push(("another tenant".into(), Some(elsewhere), None));
    tokens.push(("nobody".into(), None, None));
    tokens.push(("a stranger".into(), Some("eve.0000000000000000000000000a".into()), None));
    tokens.push(("somebody late".into(), Some(expired), None));
    let mut asked = 0;
    for route in table() {
        // A run that does not exist: whoever is let in learns just that.
        let path = route.path.replace("{run}", "0000000000000000").replace(['{', '}'], "");
        for (who, token, role) in &tokens {
            let bearer = token.as_ref().map(|token| format!("Bearer {token}"));
            let headers: Vec<(&str, &str)> = bearer.iter().map(|b| ("Authorization", b.as_str())).collect();
            // A stream does not end by itself: its head says whether somebody was let in.
            let status = match route.gives {
                Gives::Stream => stage.status(&path, &headers).await,
                _ => stage.ask(route.method.as_str(), &path, &headers, "{}").await.status,
            };
            let refused = match role {
                _ if route.needs == Permission::Open => None,
                Some(role) if role.may(route.needs) => None,
                Some(_) => Some(403),
                None => Some(401),
            };
            check(route.name, who, status, refused);
            asked += 1;
        }
    }
    assert_eq!(asked, table().len() * (Role::ALL.len() + 5));
}

#[tokio::test]
async fn a_token_that_is_sent_counts_also_where_none_is_needed() {
    let stage = Stage::open().await;
    let viewer = format!("Bearer {}", stage.token("viewer", Role::Viewer, None).await);
    let denied = stage.ask("POST", "/api/v1/runs", &[("Authorization", &viewer)], "{}").await;
    assert_eq!((denied.status, denied.code().as_str()), (403, "not_permitted"));
    let bad = stage.ask("GET", "/api/v1/runs", &[("Authorization", "Bearer x.y")], "").await;
    assert_eq!((bad.status, bad.code().as_str()), (401, "bad_token"));
}

#[tokio::test]
async fn pages_of_other_sites_are_not_let_in_without_a_token() {
    let stage = Stage::open().await;
    let origin = stage.ask("GET", "/api/v1/runs", &[("Origin", "https://example.org")], "").await;
    assert_eq!((origin.status, origin.code().as_str()), (403, "foreign_origin"));
    let host = stage.raw(b"GET /api/v1/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").await;
    assert_eq!((host.status, host.code().as_str()), (403, "foreign_origin"));
}

/// A proxy on this machine is a neighbour, and whoever comes through it is not.
#[tokio::test]
async fn what_came_through_a_proxy_is_not_let_in_without_a_token() {
    let stage = Stage::open().await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    for (name, value) in [
        ("Forwarded", "for=203.0.113.7"),
        ("X-Forwarded-For", "203.0.113.7"),
        ("X-Forwarded-Host", "localhost"),
        ("X-Forwarded-Proto", "https"),
        ("X-Real-IP", "127.0.0.1"),
    ] {
        let refused = stage.ask("GET", "/api/v1/runs", &[(name, value)], "").await;
        assert_eq!((refused.status, refused.code().as_str()), (403, "forwarded"), "{name}");
        assert!(refused.text.contains("token"), "{}", refused.text);
        let known = stage.ask("GET", "/api/v1/runs", &[(name, value), ("Authorization", &admin)], "").await;
        assert_eq!(known.status, 200, "{name}: {}", known.text);
    }
}
