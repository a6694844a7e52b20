//! Somebody who is called, and a server that calls, its time in the hands of a test.

use crate::stage::Stage;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::http::{Allowed, Http, Rules};
use edgewise_engine::webhook::{Means, Secret};
use edgewise_server::Pushing;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// What is only waited for in a test that lets it pass.
pub const LEASE: u64 = 60_000;
pub const TIMEOUT: u64 = 120_000;
/// How often the server looks around.
pub const LOOK: Millis = Millis(1_000);

/// Somebody who is called.
pub struct Target(TcpListener);

/// One call, as it came.
pub struct Call {
    pub head: HashMap<String, String>,
    pub text: String,
    stream: TcpStream,
}

impl Target {
    pub async fn open() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub fn url(&self) -> String {
        format!("http://{}/tasks", self.0.local_addr().unwrap())
    }

    /// The next call. Somebody who only looks whether anybody is here says nothing.
    pub async fn call(&self) -> Call {
        loop {
            let within = tokio::time::timeout(Duration::from_secs(60), self.0.accept()).await;
            let (stream, _) = within.expect("a call comes").unwrap();
            if let Some(call) = read(stream).await {
                return call;
            }
        }
    }

    /// Whether nobody is calling now.
    pub async fn is_left_alone(&self) -> bool {
        tokio::time::timeout(Duration::from_millis(50), self.0.accept()).await.is_err()
    }
}

/// What is sent over a connection; nothing if it is only opened.
async fn read(mut stream: TcpStream) -> Option<Call> {
    let mut bytes = Vec::new();
    let (head, start) = loop {
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            assert!(bytes.is_empty(), "it hung up");
            return None;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let pairs = head.lines().skip(1).filter_map(|line| line.split_once(": "));
            let pairs = pairs.map(|(key, value)| (key.to_ascii_lowercase(), value.to_owned()));
            break (pairs.collect::<HashMap<_, _>>(), head.len() + 4);
        }
    };
    while bytes.len() < start + head["content-length"].parse::<usize>().unwrap() {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "it hung up");
    }
    Some(Call { head, text: String::from_utf8(bytes[start..].to_vec()).unwrap(), stream })
}

impl Call {
    pub fn lease(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub fn token(&self) -> String {
        self.lease()["lease"].as_str().unwrap().to_owned()
    }

    pub async fn answer(mut self, status: u16, more: &str, body: &str) {
        let text =
            format!("HTTP/1.1 {status} X\r\nConnection: close\r\n{more}Content-Length: {}\r\n\r\n{body}", body.len());
        self.stream.write_all(text.as_bytes()).await.unwrap();
        let _ = self.stream.shutdown().await;
    }

    pub async fn says(self, body: &Value) {
        self.answer(200, "", &body.to_string()).await;
    }

    /// Returns when the other side has hung up.
    pub async fn hung_up(mut self) {
        let mut rest = [0; 16];
        let heard = self.stream.read(&mut rest);
        let read = tokio::time::timeout(Duration::from_secs(60), heard).await.expect("it hangs up");
        assert_eq!(read.unwrap_or(0), 0);
    }
}

/// A server that calls, its time in the hands of a test.
pub struct Caller {
    pub stage: Stage,
    pushing: Option<Pushing>,
    pub time: Arc<Waits>,
}

/// Time that passes when somebody lets it; the machine's own goes on beside it.
pub struct Waits {
    ahead: watch::Sender<u64>,
    /// Lets whoever waits for a look have it.
    looks: Arc<Notify>,
}

impl Default for Waits {
    fn default() -> Self {
        Self { ahead: watch::Sender::new(0), looks: Arc::default() }
    }
}

impl Waits {
    pub fn pass(&self, ms: u64) {
        self.ahead.send_modify(|ahead| *ahead += ms);
    }

    fn now(&self) -> Time {
        wall_clock().plus(Millis(*self.ahead.borrow()))
    }

    async fn sleep(self: Arc<Self>, span: Millis) {
        let mut ahead = self.ahead.subscribe();
        let until = *ahead.borrow() + span.0;
        let passed = ahead.wait_for(|ahead| *ahead >= until);
        let looks = async {
            match span == LOOK {
                true => self.looks.notified().await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = passed => {}
            () = looks => {}
        }
    }
}

impl Caller {
    pub async fn open() -> Self {
        Self::of(Stage::open().await).await
    }

    pub async fn of(stage: Stage) -> Self {
        let time: Arc<Waits> = Arc::default();
        let pushing = Some(start(&stage, &time).await);
        Self { stage, pushing, time }
    }

    pub async fn add(&self, name: &str, url: &str, more: Value) -> Secret {
        let mut body =
            json!({ "name": name, "url": url, "actions": ["greet"], "lease_ms": LEASE, "timeout_ms": TIMEOUT });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = self.stage.post("/api/v1/workers", &body).await;
        assert_eq!(made.status, 200, "{}", made.text);
        Secret::parse(made.json()["secret"].as_str().unwrap()).unwrap()
    }

    pub async fn act(&self, name: &str, what: &str) -> Value {
        let done = self.stage.post(&format!("/api/v1/workers/{name}/{what}"), &json!({})).await;
        assert_eq!(done.status, 200, "{}", done.text);
        done.json()
    }

    /// The next call, also where only a look finds that there is something to be done.
    pub async fn called(&self, target: &Target) -> Call {
        let look = async {
            loop {
                self.time.looks.notify_waiters();
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            call = target.call() => call,
            () = look => unreachable!("it looks on"),
        }
    }

    pub async fn end(&self, run: &str) -> Value {
        self.stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=60000")).await.json()
    }

    /// The worker as it is shown, as soon as it is so.
    pub async fn shown(&self, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let look = async {
            loop {
                let shown = self.stage.get(&format!("/api/v1/workers/{name}")).await.json();
                if wanted(&shown) {
                    return shown;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), look).await.expect("it is so")
    }

    pub async fn stop(mut self) -> Stage {
        self.pushing.take().unwrap().stop(Duration::ZERO).await;
        self.stage
    }
}

async fn start(stage: &Stage, time: &Arc<Waits>) -> Pushing {
    let rules = Rules { allow: vec![Allowed::parse("127.0.0.1").unwrap()] };
    let http = Http::new(rules, wall_clock);
    let (waits, clock) = (Arc::clone(time), Arc::clone(time));
    let means = Means {
        clock: Arc::new(move || clock.now()),
        dice: Arc::new(|| 0),
        sleep: Arc::new(move |span| Box::pin(Arc::clone(&waits).sleep(span))),
        ..http.means(stage.engine.listeners().watch_queues())
    };
    Pushing::start_with(&stage.app, http, means).await.unwrap()
}
