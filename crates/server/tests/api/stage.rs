//! A server in a folder of its own, and somebody who talks to it.

use edgewise_core::control::SettingChanged;
use edgewise_core::id::Token;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_engine::Home;
use edgewise_engine::command::Command;
use edgewise_engine::engine::{Engine, Parts, wall_clock};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::queues::Queues;
use edgewise_server::auth::{Kept, PREFIX, Role};
use edgewise_server::{App, Serving, serve};
use edgewise_store::sqlite;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One task that a worker does.
pub const FLOW: &str = "flow: greet\ninputs: { who: { type: string, default: world } }\ntasks:\n  hello: { action: greet, with: { name: '${{ inputs.who }}' }, retry: 3 }\n";
/// A gate that alice opens.
pub const GATED: &str = "flow: gated\ntasks:\n  ask: { gate: { approval: { from: [alice] } } }\n";

pub struct Stage {
    pub engine: Engine,
    pub address: SocketAddr,
    _serving: Serving,
    _folder: TempDir,
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
        let folder = tempfile::tempdir().unwrap();
        let stores = sqlite::open(folder.path()).unwrap();
        let reader = sqlite::open_reader(folder.path()).unwrap();
        let domain = sqlite::open_ledger(folder.path()).unwrap();
        let parts = Parts {
            ledger: Box::new(stores.ledger),
            reader: Box::new(reader.projections),
            writer: Box::new(stores.projections),
            home: Home::local(),
            clock: Arc::new(wall_clock),
            entropy: Entropy::from_system().unwrap(),
            queues: Queues::default(),
        };
        let engine = Engine::start_telling(parts, Default::default(), Some(Box::new(domain))).unwrap();
        let parts = edgewise_server::Parts {
            engine: engine.clone(),
            home: Home::local(),
            dir: folder.path().to_owned(),
            clock: Arc::new(wall_clock),
            trust_loopback,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = serve(listener, &App::new(parts)).unwrap();
        Self { engine, address: serving.address, _serving: serving, _folder: folder }
    }

    /// Makes a token; `expires` in the past makes one that has expired.
    pub async fn token(&self, who: &str, role: Role, expires: Option<Time>) -> String {
        let (kept, text) = Kept::new(&name(who), Token(who.len() as u128 + 77), role, expires);
        let key = name(&format!("{PREFIX}{who}"));
        let change = SettingChanged { key, value: Some(serde_json::to_value(kept).unwrap()), by: name("test") };
        self.engine.ask(Command::ChangeSetting(change)).await.unwrap();
        text
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[], &body.to_string()).await
    }

    /// One request on a connection of its own.
    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        for (key, value) in headers {
            request.push_str(&format!("{key}: {value}\r\n"));
        }
        if method == "POST" {
            request.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        }
        self.raw(format!("{request}\r\n{body}").as_bytes()).await
    }

    /// Bytes as they are, and everything that comes back.
    pub async fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that has heard enough may hang up before everything is said.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        parse(&answer)
    }

    /// Starts a run of a flow whose text comes along.
    pub async fn start(&self, source: &str) -> String {
        let answer = self.post("/api/v1/runs", &serde_json::json!({ "source": source })).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["run"].as_str().unwrap().to_owned()
    }
}

fn parse(bytes: &[u8]) -> Answer {
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
