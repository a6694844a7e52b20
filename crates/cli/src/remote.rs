//! A server in place of the folder: the same commands, asked over HTTP.
//!
//! What is done goes to the server's engine as it would go over the folder's socket; what is looked at is read off the
//! server's store by the same reader. So a command does not know where it is.

mod asker;
mod logs;

pub use asker::Asker;
pub use logs::Logs;

use crate::config::Config;
use crate::problem::{Problem, Result};
use edgewise_client::Client;
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::{Error, Kind};
use edgewise_engine::folder::{Answering, Ask, Elsewhere, Said, wire};
use edgewise_engine::reader::{Peek, Reader};
use edgewise_engine::{Door, Home};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

const ASK: &str = "/api/v1/ask";
const LOOK: &str = "/api/v1/look";
/// How long one wait for a run's end is; then it is asked again.
const WAIT: Duration = Duration::from_secs(3_600);

/// The server that the settings name.
pub struct Remote {
    address: String,
    token: Option<String>,
    who: String,
}

impl Remote {
    /// The server that is used; `None` if it is the folder.
    pub fn of(config: &Config) -> Result<Option<Self>> {
        let Some(address) = config.addr.value.clone() else { return Ok(None) };
        let remote = Self { address, token: config.token.clone(), who: config.who.value.to_string() };
        // A wrong address is said before anything is asked.
        remote.client().map_err(|error| {
            Problem::from(told(error)).next("set EDGEWISE_ADDR to something like http://127.0.0.1:7420")
        })?;
        Ok(Some(remote))
    }

    fn client(&self) -> edgewise_client::Result<Client> {
        let client = Client::new(&self.address)?.acting_as(&self.who);
        Ok(match &self.token {
            Some(token) => client.with_token(token),
            None => client,
        })
    }

    /// A way to the server's engine.
    pub fn door(self) -> Door {
        Door::elsewhere(Box::new(Far { remote: self, client: None }))
    }

    /// Whoever asks it one plain thing after the other.
    pub fn asker(self) -> Result<Asker> {
        Asker::of(&self)
    }

    /// What brings logs here.
    pub fn logs(self) -> Result<Logs> {
        Logs::of(self)
    }

    /// A look at the server's store.
    pub fn reader(self, home: Home) -> Reader {
        let line = Line::open(self);
        Reader::elsewhere(Arc::new(move |peek| line.ask(peek)), home)
    }
}

/// The server's engine.
struct Far {
    remote: Remote,
    client: Option<Client>,
}

impl Far {
    async fn said(&mut self, ask: &Ask) -> Result<Said, edgewise_client::Error> {
        let client = match &self.client {
            Some(client) => client.clone(),
            None => self.client.insert(self.remote.client()?).clone(),
        };
        match ask {
            Ask::Wait(run) => ended(&client, *run).await.map(Said::Ended),
            ask => client.post(ASK, ask).await,
        }
    }
}

impl Elsewhere for Far {
    fn ask<'a>(&'a mut self, ask: &'a Ask) -> Answering<'a> {
        Box::pin(async move { self.said(ask).await.map_err(told) })
    }
}

/// Waits for a run's end, as often as it takes.
async fn ended(client: &Client, run: RunId) -> edgewise_client::Result<RunState> {
    loop {
        if let Some(state) = client.wait(&run.to_string(), WAIT).await?.state {
            return serde_json::from_value(Value::String(state)).map_err(|error| edgewise_client::Error {
                kind: Kind::Unavailable,
                code: "other_version".into(),
                message: format!("the server says that the run ended in a way that is not known here: {error}"),
                status: None,
            });
        }
    }
}

/// Looks are asked for by code that waits for the answer, often on a thread that runs other things: so they are sent
/// from a thread of their own.
struct Line(Sender<(Peek, Sender<Result<String, Error>>)>);

impl Line {
    fn open(remote: Remote) -> Self {
        let (ask, asked) = channel::<(Peek, Sender<Result<String, Error>>)>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let (Ok(runtime), Ok(client)) = (runtime, remote.client()) else { return };
            while let Ok((peek, tell)) = asked.recv() {
                let seen = runtime.block_on(client.post::<Box<RawValue>>(LOOK, &peek));
                // Whoever asked may not wait any more.
                let _ = tell.send(seen.map(|raw| Box::<str>::from(raw).into_string()).map_err(told));
            }
        });
        Self(ask)
    }

    fn ask(&self, peek: &Peek) -> Result<String, Error> {
        let gone = || Error::unavailable("no_thread", "the system gave no thread to ask the server from");
        let (tell, told) = channel();
        self.0.send((peek.clone(), tell)).map_err(|_| gone())?;
        told.recv().unwrap_or_else(|_| Err(gone()))
    }
}

/// An error of the server, or of the way there, as every other.
fn told(error: edgewise_client::Error) -> Error {
    let message = match error.code.as_str() {
        "no_token" => {
            "the server lets nobody in without a token: set EDGEWISE_TOKEN to yours; whoever runs it makes one \
                       with `edgewise token create NAME --role ROLE`"
                .to_owned()
        }
        _ => error.message,
    };
    Error::new(error.kind, wire::known_code(&error.code), message)
}
