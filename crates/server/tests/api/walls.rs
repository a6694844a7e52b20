//! Many workspaces behind one address: what is in one cannot be reached from another.

use crate::stage::{Answer, FLOW, ask, name, status};
use crate::traces::{about, collector};
use edgewise_core::control::SettingChanged;
use edgewise_core::id::Token;
use edgewise_core::time::Time;
use edgewise_engine::Home;
use edgewise_engine::command::Command;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::folder::{Folder, Options};
use edgewise_engine::http::{Allowed, Http, Rules};
use edgewise_engine::queues::Queues;
use edgewise_server::auth::{Kept, PREFIX, Permission, Role};
use edgewise_server::routes::{Gives, table};
use edgewise_server::{Listen, Outside, Served, Serving, Workspaces, serve_as};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

fn options() -> Options {
    Options { home: Home::local(), work: None, background: true, queues: Queues::default() }
}

/// This machine may be told: the target of a hook is here.
fn outside() -> Outside {
    let rules = Rules { allow: vec![Allowed::parse("127.0.0.1").unwrap()] };
    Outside { collector: None, http: Http::new(rules, wall_clock), keep_events: None }
}

/// Makes a token in a workspace, and the workspace with it.
async fn token(dir: &Path, place: &str, who: &str, role: Role, expires: Option<Time>) -> String {
    let open = Folder::at(dir.join(place)).open_engine(&options()).await.unwrap().unwrap();
    let secret = Token(place.bytes().chain(who.bytes()).map(u128::from).sum());
    let (kept, text) = Kept::new(&name(who), secret, role, expires);
    let key = name(&format!("{PREFIX}{who}"));
    let change = SettingChanged { key, value: Some(serde_json::to_value(kept).unwrap()), by: name("test"), why: None };
    open.engine.ask(Command::ChangeSetting(change)).await.unwrap();
    open.close().await.unwrap();
    text
}

struct Site {
    address: SocketAddr,
    workspaces: Workspaces,
    dir: TempDir,
    _serving: Serving,
}

impl Site {
    async fn open(dir: TempDir) -> Self {
        Self::telling(dir, outside()).await
    }

    async fn telling(dir: TempDir, outside: Outside) -> Self {
        let workspaces = Workspaces::open(dir.path(), options(), outside).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = serve_as(listener, Served::Many(workspaces.clone()), Listen::default()).unwrap();
        Self { address: serving.address, workspaces, dir, _serving: serving }
    }

    async fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str())];
        ask(self.address, method, path, if token.is_empty() { &[] } else { &headers }, body).await
    }
}

/// Two workspaces of one tenant and one of another, each with an admin.
async fn site() -> (Site, [String; 3]) {
    let dir = tempfile::tempdir().unwrap();
    let mut tokens = Vec::new();
    for place in ["acme/web", "acme/ops", "umbrella/web"] {
        tokens.push(token(dir.path(), place, "ann", Role::Admin, None).await);
    }
    (Site::open(dir).await, tokens.try_into().unwrap())
}

#[tokio::test]
async fn spans_say_which_workspace_they_are_of() {
    let dir = tempfile::tempdir().unwrap();
    let token = token(dir.path(), "acme/web", "ann", Role::Admin, None).await;
    let (collector, mut told) = collector().await;
    let site = Site::telling(dir, Outside { collector: Some(collector), ..outside() }).await;
    let body = json!({ "source": "flow: f\ntasks: { a: { emit: x } }" }).to_string();
    let started = site.ask("POST", "/t/acme/web/api/v1/runs", &token, &body).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let sent = told.recv().await.unwrap();
    let about = about(&sent["resourceSpans"][0]["resource"]);
    assert_eq!((&about["edgewise.tenant"], &about["edgewise.workspace"]), (&json!("acme"), &json!("web")));
}

/// A path with something that does not exist in place of each parameter.
fn filled(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "0000000000000000" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_route_of_a_workspace_refuses_the_tokens_of_all_others() {
    let (site, [own, sibling, foreign]) = site().await;
    for route in table() {
        let path = filled(route.path);
        for (who, token, known) in [
            ("its own", &own, true),
            ("another of the tenant", &sibling, false),
            ("another tenant", &foreign, false),
            ("nobody", &String::new(), false),
        ] {
            let (path, bearer) = (format!("/t/acme/web{path}"), format!("Bearer {token}"));
            let found = match route.gives {
                Gives::Stream => status(site.address, &path, &[("Authorization", &bearer)]).await,
                _ => site.ask(route.method.as_str(), &path, token, "{}").await.status,
            };
            if route.needs == Permission::Open && path.starts_with("/t/acme/web/api/v1/") {
                continue;
            }
            assert_eq!(found == 401, !known, "{} for {who}: {found}", route.name);
        }
    }
}

/// What a stranger may ask of a place, and what they are answered: nothing without a token, and where none is needed
/// only what is nobody's.
fn strange() -> Vec<(String, String, u16)> {
    let closed = ["/api/v1/runs", "/metrics", "/healthz", "/nothing", "/", ""];
    let mut asked: Vec<_> = closed.map(|path| ("GET".to_owned(), path.to_owned(), 401)).into();
    for route in table().iter().filter(|route| route.needs == Permission::Open && route.path.starts_with("/api/v1/")) {
        let mut ask = |path: &str, status| asked.push((route.method.to_string(), path.to_owned(), status));
        match route.path.split_once('{') {
            None => ask(route.path, 200),
            Some((before, _)) => {
                ask(&filled(route.path), 404);
                ask(before, 404);
                ask(&format!("{before}%ff"), 400);
                ask(&format!("{before}x/y"), 401);
            }
        }
    }
    asked
}

/// The head of an answer, without when it was given.
fn undated(answer: &Answer) -> Vec<&str> {
    answer.head.lines().filter(|line| !line.to_ascii_lowercase().starts_with("date:")).collect()
}

#[tokio::test]
async fn whether_a_workspace_exists_is_told_to_nobody_who_is_not_in_it() {
    let (site, [own, ..]) = site().await;
    for (method, path, status) in strange() {
        for token in ["", own.as_str(), "ann.x", "nonsense"] {
            let there = site.ask(&method, &format!("/t/umbrella/web{path}"), token, "").await;
            assert_eq!(there.status, status, "{method} {path} with {token:?}: {}", there.text);
            for missing in ["umbrella/none", "none/web", "../web", "a%2fb/web", "umbrella/..", "%00/x", "UMBRELLA/web"]
            {
                let gone = site.ask(&method, &format!("/t/{missing}{path}"), token, "").await;
                let about = format!("{method} {missing}{path} with {token:?}");
                assert_eq!((undated(&gone), &gone.text), (undated(&there), &there.text), "{about}");
            }
        }
    }
    assert_eq!(site.workspaces.running().await, ["acme/ops", "acme/web", "umbrella/web"]);
}

#[tokio::test]
async fn runs_claims_keys_and_figures_stay_within_their_walls() {
    let (site, [own, _, foreign]) = site().await;
    let start = json!({ "source": FLOW, "key": "same" }).to_string();
    let key = [("Idempotency-Key", "same")];
    let mut runs = Vec::new();
    for (place, token) in [("acme/web", &own), ("umbrella/web", &foreign)] {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), key[0]];
        let answer = ask(site.address, "POST", &format!("/t/{place}/api/v1/runs"), &headers, &start).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.json()["new"], true, "the same keys mean nothing to each other");
        runs.push(answer.json()["run"].as_str().unwrap().to_owned());
    }
    for path in ["", "/end", "/why", "/events"] {
        let answer = site.ask("GET", &format!("/t/acme/web/api/v1/runs/{}{path}", runs[1]), &own, "").await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "run_not_found"), "{path}");
    }
    let cancel = site.ask("POST", &format!("/t/acme/web/api/v1/runs/{}/cancel", runs[1]), &own, "{}").await;
    assert_eq!(cancel.status, 404);
    let claim = json!({ "worker": "w", "actions": ["greet"], "max": 10 }).to_string();
    let leases = site.ask("POST", "/t/acme/web/api/v1/work/claim", &own, &claim).await.json();
    assert_eq!(leases["leases"].as_array().unwrap().len(), 1);
    assert_eq!(leases["leases"][0]["run"], runs[0].as_str());
    let report = json!({ "results": [{ "lease": leases["leases"][0]["lease"] }] }).to_string();
    let elsewhere = site.ask("POST", "/t/umbrella/web/api/v1/work/complete", &foreign, &report).await;
    assert_ne!(elsewhere.json()["results"][0]["status"], 200, "{}", elsewhere.text);
    let metrics = site.ask("GET", "/t/umbrella/web/metrics", &foreign, "").await;
    assert!(metrics.text.contains("edgewise_leases_total 0\n"), "{}", metrics.text);
}

#[tokio::test]
async fn a_workspace_that_is_made_later_is_opened_by_whoever_belongs_there() {
    let (site, [own, ..]) = site().await;
    let newcomer = token(site.dir.path(), "late/one", "bob", Role::Viewer, None).await;
    let late = token(site.dir.path(), "late/two", "bob", Role::Viewer, Some(Time(1))).await;
    assert_eq!(site.ask("GET", "/t/late/one/api/v1/runs", &own, "").await.status, 401);
    assert_eq!(site.ask("GET", "/t/late/two/api/v1/runs", &late, "").await.status, 401);
    assert_eq!(site.workspaces.running().await.len(), 3, "nobody has proven that they belong there");
    assert_eq!(site.ask("GET", "/t/late/one/api/v1/runs", &newcomer, "").await.status, 200);
    assert_eq!(site.workspaces.running().await.len(), 4);
}

#[tokio::test]
async fn the_server_says_of_itself_only_what_is_nobodys() {
    let (site, [own, ..]) = site().await;
    for (path, status) in [
        ("/healthz", 200),
        ("/readyz", 200),
        ("/api/openapi.json", 200),
        ("/metrics", 404),
        ("/api/v1/runs", 404),
        ("/t", 404),
        ("/", 404),
    ] {
        assert_eq!(site.ask("GET", path, &own, "").await.status, status, "{path}");
    }
}

#[tokio::test]
async fn the_webhooks_of_a_workspace_are_told_of_its_own_events() {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (site, [own, _, foreign]) = site().await;
    let url = format!("http://{}/told", target.local_addr().unwrap());
    let hook = json!({ "namespace": "told", "url": url }).to_string();
    let made = site.ask("POST", "/t/acme/web/api/v1/webhooks", &own, &hook).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let flow = "{ flow: told, publish: [{ name: told.done, condition: always }], tasks: { a: { emit: told.now } } }";
    for (place, token) in [("umbrella/web", &foreign), ("acme/web", &own)] {
        let start = json!({ "source": flow }).to_string();
        let started = site.ask("POST", &format!("/t/{place}/api/v1/runs"), token, &start).await;
        assert_eq!(started.status, 200, "{}", started.text);
    }
    for expected in ["told.now", "told.done"] {
        let (mut call, _) = target.accept().await.unwrap();
        let mut heard = Vec::new();
        // The body is the last that comes.
        while !heard.ends_with(b"}") {
            assert!(call.read_buf(&mut heard).await.unwrap() > 0);
        }
        let text = String::from_utf8_lossy(&heard).into_owned();
        assert!(text.contains(expected) && text.contains("webhook-signature"), "{text}");
        call.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await.unwrap();
    }
    let dead = site.ask("GET", "/t/umbrella/web/api/v1/webhooks", &foreign, "").await;
    assert!(!dead.text.contains(&url), "{}", dead.text);
}

#[tokio::test]
async fn domain_events_say_which_workspace_they_come_from() {
    let (site, tokens) = site().await;
    let flow = json!({ "source": "flow: f\nnamespace: shop\ntasks: { a: { emit: told } }" }).to_string();
    for (place, token) in ["acme/web", "acme/ops", "umbrella/web"].iter().zip(&tokens) {
        assert_eq!(site.ask("POST", &format!("/t/{place}/api/v1/runs"), token, &flow).await.status, 200);
        let path = format!("/t/{place}/api/v1/domain/shop");
        let look = async {
            loop {
                let told = site.ask("GET", &path, token, "").await.json();
                if let Some(source) = told["events"][0]["event"]["source"].as_str() {
                    return source.to_owned();
                }
                tokio::task::yield_now().await;
            }
        };
        let source = tokio::time::timeout(std::time::Duration::from_secs(60), look).await.expect("the event comes");
        assert_eq!(source, format!("/{place}/shop"));
    }
}

#[tokio::test]
async fn the_push_workers_of_a_workspace_are_called_with_its_own_tasks() {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (site, [own, _, foreign]) = site().await;
    let url = format!("http://{}/tasks", target.local_addr().unwrap());
    let worker = json!({ "name": "w", "url": url, "actions": ["greet"] }).to_string();
    let made = site.ask("POST", "/t/acme/web/api/v1/workers", &own, &worker).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let mut runs = Vec::new();
    for (place, token) in [("umbrella/web", &foreign), ("acme/web", &own)] {
        let start = json!({ "source": FLOW }).to_string();
        let started = site.ask("POST", &format!("/t/{place}/api/v1/runs"), token, &start).await;
        runs.push(started.json()["run"].as_str().unwrap().to_owned());
    }
    let (mut call, _) = target.accept().await.unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(b"}") {
        assert!(call.read_buf(&mut heard).await.unwrap() > 0);
    }
    let text = String::from_utf8_lossy(&heard).into_owned();
    assert!(text.contains(&runs[1]) && !text.contains(&runs[0]), "{text}");
    call.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
    let end = site.ask("GET", &format!("/t/acme/web/api/v1/runs/{}/end?wait_ms=60000", runs[1]), &own, "").await;
    assert_eq!(end.json()["state"], "Complete");
    let elsewhere = site.ask("GET", "/t/umbrella/web/api/v1/workers", &foreign, "").await;
    assert_eq!(elsewhere.json(), json!({ "workers": [] }));
    site.workspaces.clone().close().await.unwrap();
}

#[tokio::test]
async fn the_addresses_that_a_workspace_gives_out_lead_back_to_it() {
    let (site, [own, ..]) = site().await;
    let at = |path: &str| format!("/t/acme/web/api/v1/{path}");
    let flow = "flow: begun\non: { webhook: {} }\ntasks:\n  hook: { gate: { webhook: {} } }\n";
    let registered = site.ask("POST", &at("flows"), &own, &json!({ "source": flow }).to_string()).await;
    assert_eq!(registered.status, 200, "{}", registered.text);
    let url = async |path: String| {
        let made = site.ask("POST", &at(&path), &own, "{}").await;
        assert_eq!(made.status, 200, "{path}: {}", made.text);
        made.json()["path"].as_str().unwrap().to_owned()
    };
    let begun = site.ask("POST", &url("flows/begun/url".into()).await, "", "{}").await;
    assert_eq!(begun.status, 200, "{}", begun.text);
    let run = begun.json()["run"].as_str().unwrap().to_owned();
    let of_run = site.ask("POST", &url(format!("runs/{run}/gates/hook/url")).await, "", "{}").await;
    assert_eq!(of_run.status, 200, "{}", of_run.text);
    let gate = site.ask("POST", &at("gates"), &own, &json!({ "gateType": "webhook" }).to_string()).await.json();
    let of_items = url(format!("gates/{}/url", gate["id"].as_str().unwrap())).await;
    // Not at another workspace, and not at the server's own root.
    for elsewhere in [of_items.replace("acme/web", "acme/ops"), of_items.replace("/t/acme/web", "")] {
        assert_eq!(site.ask("POST", &elsewhere, "", "{}").await.status, 404, "{elsewhere}");
    }
    assert_eq!(site.ask("POST", &of_items, "", "{}").await.status, 200);
}
