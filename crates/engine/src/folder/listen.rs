//! Listening: clients of the folder ask, the engine answers.
//!
//! A connection is one task that reads and writes; each request is a task of its own, so that a wait for a
//! run's end does not hold up a cancel. When the engine leaves, what was asked is answered, waits are not,
//! and `bye` says how far was read: a client knows what it may ask elsewhere. An empty line of welcome comes first, so
//! that who was still in line then knows it too.

use super::door::answer;
use super::open::Stay;
use super::wire::{Ask, CONNECTIONS, LINE_BYTES, PENDING, Read, Response, Said, encode, read_line, understand};
use crate::engine::Engine;
use crate::runner::Stop;
use edgewise_core::{Error, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, JoinSet};

/// How long clients that do not read may hold up the end.
const GOODBYE: Duration = Duration::from_secs(2);
/// How long to rest when the system gives no connection, such as when files run out.
const REST: Duration = Duration::from_millis(100);

/// An engine that can be talked to.
pub(super) struct Listening {
    stop: Stop,
    task: JoinHandle<()>,
}

#[derive(Clone)]
struct Host {
    engine: Engine,
    stay: Stay,
    stop: Stop,
}

impl Listening {
    pub(super) fn start(listener: UnixListener, engine: Engine, stay: Stay) -> Self {
        let stop = Stop::new();
        let host = Host { engine, stay, stop: stop.clone() };
        Self { stop, task: tokio::spawn(accept(listener, host)) }
    }

    /// Reads nothing more, answers what was asked, says goodbye.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        let mut task = self.task;
        if tokio::time::timeout(GOODBYE, &mut task).await.is_err() {
            task.abort();
        }
    }
}

async fn accept(listener: UnixListener, host: Host) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let (mut connections, stop) = (JoinSet::new(), host.stop.clone());
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            _ = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let permit = Arc::clone(&room).try_acquire_owned().ok();
                    connections.spawn(welcome(stream, host.clone(), permit));
                }
                Err(_) => tokio::time::sleep(REST).await,
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn welcome(stream: UnixStream, host: Host, permit: Option<OwnedSemaphorePermit>) {
    let same_user = stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw());
    let (from, to) = stream.into_split();
    let mut talk = Talk { from: BufReader::new(from), to, host, read: 0, asked: 0, pending: JoinSet::new() };
    // Said before anything is read: who hears nothing knows that nothing of theirs was.
    if talk.say(&Response::default()).await.is_err() || !same_user {
        return;
    }
    if permit.is_none() {
        let message = format!("the engine has {CONNECTIONS} connections already: close some of them, then try again");
        return talk.refuse(0, Error::unavailable("too_many_connections", message)).await;
    }
    // A client that is gone needs no goodbye.
    let _ = talk.run().await;
}

/// One client.
struct Talk {
    from: BufReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
    host: Host,
    /// The id of the last request that was read.
    read: u64,
    /// How many of those that are not waits have no answer yet.
    asked: usize,
    pending: JoinSet<(bool, Response)>,
}

impl Talk {
    async fn run(&mut self) -> Result<(), ()> {
        let (mut buffer, stop) = (Vec::new(), self.host.stop.clone());
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(answered) = self.pending.join_next() => self.answer(answered.ok()).await?,
                read = read_line(&mut self.from, &mut buffer, LINE_BYTES), if self.pending.len() < PENDING => match read {
                    Read::Line(line) => self.begin(&line).await?,
                    Read::TooLong => {
                        self.refuse(0, Error::limit("line_too_long", "the line is longer than a request may be")).await;
                        return Err(());
                    }
                    Read::End => return Ok(()),
                },
            }
        }
        while self.asked > 0 {
            let answered = self.pending.join_next().await.and_then(Result::ok);
            self.answer(answered).await?;
        }
        self.say(&Response::bye(self.read)).await
    }

    /// Begins with a request. One that cannot be understood ends the connection: what follows would not be either.
    async fn begin(&mut self, line: &[u8]) -> Result<(), ()> {
        let (id, ask) = match understand(line) {
            Ok(request) => request,
            Err((id, error)) => {
                self.refuse(id, error).await;
                return Err(());
            }
        };
        self.read = id;
        let is_wait = matches!(ask, Ask::Wait(_));
        self.asked += usize::from(!is_wait);
        let host = self.host.clone();
        self.pending.spawn(async move { (is_wait, Response::to(id, host.ask(ask).await)) });
        Ok(())
    }

    async fn answer(&mut self, answered: Option<(bool, Response)>) -> Result<(), ()> {
        // A request that panicked is not answered; the end of the connection tells its client.
        let (is_wait, response) = answered.ok_or(())?;
        self.asked -= usize::from(!is_wait);
        self.say(&response).await
    }

    async fn refuse(&mut self, id: u64, error: Error) {
        let _ = self.say(&Response::to(id, Err(error))).await;
    }

    async fn say(&mut self, response: &Response) -> Result<(), ()> {
        let line = encode(response).map_err(drop)?;
        self.to.write_all(&line).await.map_err(drop)
    }
}

impl Host {
    async fn ask(&self, ask: Ask) -> Result<Said> {
        answer(&self.engine, ask, &self.stay).await
    }
}
