//! A server in a folder of its own, and somebody who talks to it.

use crate::forms;
use edgewise_core::control::SettingChanged;
use edgewise_core::id::Token;
use edgewise_core::name::Name;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::Home;
use edgewise_engine::command::Command;
use edgewise_engine::engine::{Clock, Engine, Parts, wall_clock};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::publish::Telling;
use edgewise_engine::queues::Queues;
use edgewise_server::auth::{Kept, PREFIX, Role};
use edgewise_server::{App, Listen, Served, Serving, serve_as};
use edgewise_store::faulty::{Faults, FaultyLedger};
use edgewise_store::sqlite;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// One task that a worker does.
pub const FLOW: &str = "flow: greet\ninputs: { who: { type: string, default: world } }\ntasks:\n  hello: { action: greet, with: { name: '${{ inputs.who }}' }, retry: 3 }\n";
/// A gate that alice opens.
pub const GATED: &str = "flow: gated\ntasks:\n  ask: { gate: { approval: { from: [alice] } } }\n";

pub struct Stage {
    pub engine: Engine,
    pub address: SocketAddr,
    pub app: App,
    /// What the engine's ledger fails at; nothing unless a test says so.
    pub faults: Faults,
    /// Told when a stream of events has begun.
    pub listening: Notify,
    /// Sent with every request that has no token of its own.
    token: Option<String>,
    serving: Mutex<Vec<Serving>>,
    folder: TempDir,
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The code of a refusal.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

impl Stage {
    /// A server that lets its own machine in without tokens.
    pub async fn open() -> Self {
        Self::with(true).await
    }

    pub async fn with(trust_loopback: bool) -> Self {
        Self::listening(trust_loopback, Listen::default()).await
    }

    /// A server for which no time passes between two requests.
    pub async fn still() -> Self {
        let now = wall_clock();
        Self::by_clock(true, Listen::default(), Arc::new(move || now)).await
    }

    pub async fn listening(trust_loopback: bool, listen: Listen) -> Self {
        Self::by_clock(trust_loopback, listen, Arc::new(wall_clock)).await
    }

    /// A server, and its engine, for which more time passes than does: so many milliseconds more.
    pub async fn ahead(trust_loopback: bool) -> (Self, Arc<AtomicU64>) {
        let ahead = Arc::new(AtomicU64::new(0));
        let by = Arc::clone(&ahead);
        let clock: Clock = Arc::new(move || wall_clock().plus(Millis(by.load(Ordering::SeqCst))));
        (Self::by_clocks(trust_loopback, Listen::default(), (Arc::clone(&clock), clock)).await, ahead)
    }

    async fn by_clock(trust_loopback: bool, listen: Listen, clock: Clock) -> Self {
        Self::by_clocks(trust_loopback, listen, (Arc::new(wall_clock), clock)).await
    }

    /// The clock of the engine, and that of its door.
    async fn by_clocks(trust_loopback: bool, listen: Listen, (ticks, clock): (Clock, Clock)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stores = sqlite::open(folder.path()).unwrap();
        let reader = sqlite::open_reader(folder.path()).unwrap();
        let queues = sqlite::open_ledger(folder.path()).unwrap();
        let telling = Telling { news: Box::new(reader.ledger), queues: Box::new(queues) };
        let faults = Faults::none();
        let parts = Parts {
            ledger: Box::new(FaultyLedger::new(stores.ledger, faults.clone())),
            reader: Box::new(reader.projections),
            writer: Box::new(stores.projections),
            home: Home::local(),
            clock: ticks,
            entropy: Entropy::from_system().unwrap(),
            queues: Queues::default(),
        };
        let engine = Engine::start_telling(parts, Default::default(), Some(telling)).unwrap();
        let parts = edgewise_server::Parts {
            engine: engine.clone(),
            home: Home::local(),
            dir: folder.path().to_owned(),
            clock,
            trust_loopback,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let app = App::new(parts);
        let serving = serve_as(listener, Served::One(app.clone()), listen).unwrap();
        let (listening, token) = (Notify::new(), None);
        let (address, serving) = (serving.address, Mutex::new(vec![serving]));
        Self { engine, app, address, faults, listening, token, serving, folder }
    }

    /// Where everything is kept.
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Another door of the same engine, which remembers nothing of what was answered at the first.
    pub async fn another_door(&self) -> SocketAddr {
        let parts = edgewise_server::Parts {
            engine: self.engine.clone(),
            home: Home::local(),
            dir: self.folder.path().to_owned(),
            clock: Arc::new(wall_clock),
            trust_loopback: true,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = serve_as(listener, Served::One(App::new(parts)), Listen::default()).unwrap();
        let address = serving.address;
        self.keep(serving);
        address
    }

    /// Another server of the same engine, which ends with this one.
    pub fn keep(&self, serving: Serving) {
        self.serving.lock().unwrap().push(serving);
    }

    /// How many bytes come back to these, on a connection that stays open on this side.
    pub async fn raw_open(&self, bytes: &[u8]) -> usize {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        // A connection that is cut has said nothing either.
        stream.read_to_end(&mut Vec::new()).await.unwrap_or(0)
    }

    /// Says something and hangs up at once.
    pub async fn send_and_leave(&self, text: &str) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// The same server, and somebody with a token talks to it.
    pub fn speaking(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    /// Makes a token; `expires` in the past makes one that has expired.
    pub async fn token(&self, who: &str, role: Role, expires: Option<Time>) -> String {
        let (kept, text) = Kept::new(&name(who), Token(who.len() as u128 + 77), role, expires);
        self.set_token(who, Some(serde_json::to_value(kept).unwrap())).await;
        text
    }

    /// Takes a token away.
    pub async fn revoke(&self, who: &str) {
        self.set_token(who, None).await;
    }

    /// Has the setting of a token say something, whatever that is.
    pub async fn set_token(&self, who: &str, value: Option<Value>) {
        let key = name(&format!("{PREFIX}{who}"));
        let change = SettingChanged { key, value, by: name("test"), why: None };
        self.engine.ask(Command::ChangeSetting(change)).await.unwrap();
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[], &body.to_string()).await
    }

    /// One request on a connection of its own.
    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let own = self.token.iter().map(|token| ("Authorization", token.as_str()));
        let headers: Vec<(&str, &str)> = own.chain(headers.iter().copied()).collect();
        self.bare(method, path, &headers, body).await
    }

    /// Events of a stream behind an id, until there are so many.
    pub async fn raw_events(&self, path: &str, after: &str, count: usize) -> String {
        self.listen(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: {after}\r\n\r\n"), count).await
    }

    /// Events of the workspace from now on, until there are so many.
    pub async fn raw_events_from_now(&self, count: usize) -> String {
        self.listen("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n", count).await
    }

    /// The status of a `GET`, without waiting for its body.
    pub async fn status(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        status(self.address, path, headers).await
    }

    async fn listen(&self, head: &str, count: usize) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut heard = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let text = String::from_utf8_lossy(&heard).into_owned();
            if text.contains("\r\n\r\n") {
                self.listening.notify_one();
            }
            if text.matches("\n\n").count() >= count {
                return parse(&heard).text;
            }
            let read = stream.read(&mut chunk).await.unwrap();
            assert!(read > 0, "the stream ended: {text}");
            heard.extend_from_slice(&chunk[..read]);
        }
    }

    /// The same without a token.
    pub async fn bare(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        ask(self.address, method, path, headers, body).await
    }

    /// Bytes as they are, and everything that comes back.
    pub async fn raw(&self, bytes: &[u8]) -> Answer {
        raw(self.address, bytes).await
    }

    /// Starts a run of a flow whose text comes along.
    pub async fn start(&self, source: &str) -> String {
        let answer = self.post("/api/v1/runs", &serde_json::json!({ "source": source })).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["run"].as_str().unwrap().to_owned()
    }
}

/// One request on a connection of its own.
pub async fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let answer = raw(address, written(method, path, headers, body).as_bytes()).await;
    if answer.status == 200 {
        forms::check(method, path, &answer.text);
    }
    answer
}

/// The status of a `GET`, without waiting for its body: a stream does not end by itself.
pub async fn status(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> u16 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(written("GET", path, headers, "").as_bytes()).await.unwrap();
    let mut first = [0; 64];
    let read = stream.read(&mut first).await.unwrap();
    parse(&first[..read]).status
}

/// A request as bytes.
pub fn written(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for (key, value) in headers {
        request.push_str(&format!("{key}: {value}\r\n"));
    }
    if !matches!(method, "GET" | "DELETE") {
        request.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    }
    format!("{request}\r\n{body}")
}

/// Bytes as they are, and everything that comes back.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that has heard enough may hang up before everything is said.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    parse(&answer)
}

pub fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    Answer { status, head: head.to_owned(), text: if chunked { unchunk(body) } else { body.to_owned() } }
}

fn unchunk(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        if size == 0 || rest.len() < size {
            break;
        }
        text.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    text
}
