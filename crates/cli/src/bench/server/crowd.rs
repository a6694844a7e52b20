//! A crowd at a server: workers that wait, readers of streams, and a webhook's target that never answers.
//!
//! All of them are connections of their own. They ask for what never comes, or read what happens; how much slower runs
//! are beside them, and what of the server's memory they take, is what is measured.

use super::{Bench, failed};
use edgewise_client::wire;
use edgewise_core::{Error, Result};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::http::{Allowed, Http, Rules};
use edgewise_engine::webhook::{Delivering, Hooks};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Workers that wait.
pub const WORKERS: usize = 1_000;
/// Readers of streams: half of them of everything, half of domain events.
pub const READERS: usize = 200;
/// Events that wait for the webhook's target.
const UNHEARD: usize = 50;
/// Tells them.
const TELLS: &str = "flow: unheard\nnamespace: crowd\ntasks: { one: { emit: told } }\n";
/// Connections that are made at once: more might not fit into the system's queue.
const AT_ONCE: usize = 64;

/// All of them, until it is dropped.
pub(super) struct Crowd {
    _connections: JoinSet<()>,
    hooks: Option<Delivering>,
}

impl Crowd {
    /// Everybody comes; returns once the server knows all of them.
    pub async fn gather(bench: &Bench) -> Result<Self> {
        let mut connections = JoinSet::new();
        let target = TcpListener::bind("127.0.0.1:0").await.map_err(no_socket)?;
        let hang = target.local_addr().map_err(no_socket)?;
        connections.spawn(never_answer(target));
        let hooks = Some(hook(bench, hang).await?);
        let address = bench.serving.address;
        let claims = (0..WORKERS).map(|n| {
            let body = format!("{{\"worker\":\"w{n}\",\"actions\":[\"never\"],\"wait_ms\":60000}}");
            let length = body.len();
            (
                "POST /api/v1/work/claim",
                format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"),
            )
        });
        let streams = (0..READERS).map(|n| {
            let path = if n % 2 == 0 { "GET /api/v1/events" } else { "GET /api/v1/domain/crowd/events" };
            (path, "\r\n".to_owned())
        });
        let requests: Vec<_> = claims.chain(streams).collect();
        for some in requests.chunks(AT_ONCE) {
            for (line, rest) in some {
                let stream = TcpStream::connect(address).await.map_err(no_socket)?;
                connections.spawn(keep_asking(stream, format!("{line} HTTP/1.1\r\nHost: localhost\r\n{rest}")));
            }
            tokio::task::yield_now().await;
        }
        bench.until_waiting(WORKERS, READERS).await?;
        Ok(Self { _connections: connections, hooks })
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.hooks.take().into_iter().for_each(Delivering::stop);
    }
}

/// A webhook for which events wait already.
async fn hook(bench: &Bench, target: SocketAddr) -> Result<Delivering> {
    let body = serde_json::json!({ "namespace": "crowd", "url": format!("http://{target}/") });
    bench.client.post::<serde_json::Value>("/api/v1/webhooks", &body).await.map_err(failed)?;
    for _ in 0..UNHEARD {
        let asked = wire::Start { source: Some(TELLS.into()), ..Default::default() };
        bench.client.start(&asked).await.map_err(failed)?;
    }
    let rules = Rules { allow: vec![Allowed::parse("127.0.0.1")?] };
    let http = Http::new(rules, wall_clock);
    let means = http.means(bench.engine.listeners().watch_queues());
    Ok(Delivering::start(Hooks::new(bench.app.shelf().await?), means))
}

/// Takes connections and everything that is said on them, and says nothing.
async fn never_answer(target: TcpListener) {
    let mut held = Vec::new();
    while let Ok((stream, _)) = target.accept().await {
        held.push(stream);
    }
}

/// Asks, reads whatever comes, and asks again when the server is done with an answer that ends.
async fn keep_asking(mut stream: TcpStream, request: String) {
    let mut chunk = vec![0; 16 << 10];
    if stream.write_all(request.as_bytes()).await.is_err() {
        return;
    }
    while let Ok(read) = stream.read(&mut chunk).await {
        let over = request.starts_with("POST") && read > 0;
        if read == 0 || (over && stream.write_all(request.as_bytes()).await.is_err()) {
            return;
        }
    }
}

fn no_socket(error: std::io::Error) -> Error {
    let message = "connections could not be made: raise the limit of open files (`ulimit -n 8192`)";
    Error::unavailable("bench_socket", message).with_source(error)
}
