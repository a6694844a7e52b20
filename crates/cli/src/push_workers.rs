//! Push workers: in the data folder, or at a server, which also knows how they are reached.

use crate::clock::rfc3339;
use crate::place::Place;
use crate::problem::Result;
use crate::remote::{Asker, Remote};
use crate::shelves::{here, named};
use edgewise_client::wire::{ActTaken, AddWorker, WorkerSecret};
use edgewise_core::name::Name;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::entropy::Entropy;
use edgewise_engine::push::{PushWorker, PushWorkers, Wanted};
use serde_json::{Value, json};

/// Where they are.
pub enum Workers {
    /// In the data folder, past any engine.
    Here(PushWorkers),
    /// At a server.
    There(Asker),
}

use Workers::{Here, There};

impl Workers {
    /// Those that the settings mean. Whoever only looks changes nothing.
    pub fn of(place: &Place, writes: bool) -> Result<Self> {
        match Remote::of(place.config())? {
            Some(remote) => remote.asker().map(There),
            None => Ok(Here(PushWorkers::new(here(place, writes)?))),
        }
    }

    /// Makes one; its secret.
    pub fn add(&self, wanted: Wanted) -> Result<String> {
        match self {
            Here(workers) => Ok(workers.add(wanted, &mut Entropy::from_system()?, wall_clock())?.1.text()),
            There(server) => {
                let texts = |names: &[Name]| names.iter().map(Name::to_string).collect();
                let asked = AddWorker {
                    name: wanted.name.to_string(),
                    actions: texts(&wanted.actions),
                    queues: wanted.queues.as_deref().map(texts),
                    url: wanted.url,
                    slots: wanted.slots,
                    lease_ms: wanted.lease.map(|lease| lease.0),
                    timeout_ms: wanted.patience.map(|patience| patience.0),
                };
                Ok(server.post::<WorkerSecret>("/api/v1/workers", &asked)?.secret)
            }
        }
    }

    /// Gives one another secret.
    pub fn rotate(&self, name: &Name) -> Result<String> {
        match self {
            Here(workers) => Ok(workers.rotate(name, &mut Entropy::from_system()?, wall_clock())?.text()),
            There(server) => Ok(server.post::<WorkerSecret>(&at(name, "rotate"), &json!({}))?.secret),
        }
    }

    /// All of them.
    pub fn list(&self) -> Result<Vec<Value>> {
        match self {
            Here(workers) => Ok(workers.list()?.iter().map(facts).collect()),
            There(server) => {
                let mut all: Value = server.get("/api/v1/workers")?;
                Ok(all["workers"].as_array_mut().map(std::mem::take).unwrap_or_default())
            }
        }
    }

    /// One of them.
    pub fn show(&self, name: &Name) -> Result<Value> {
        match self {
            Here(workers) => Ok(facts(&workers.find(name)?)),
            There(server) => server.get(&at(name, "")),
        }
    }

    /// Gives one nothing for now.
    pub fn pause(&self, name: &Name) -> Result<()> {
        self.act(name, "pause", |workers| workers.pause(name, "paused").map(drop))
    }

    /// Gives one tasks again.
    pub fn resume(&self, name: &Name) -> Result<()> {
        self.act(name, "resume", |workers| workers.resume(name).map(drop))
    }

    /// Takes one away.
    pub fn remove(&self, name: &Name) -> Result<()> {
        self.act(name, "remove", |workers| workers.remove(name))
    }

    fn act(&self, name: &Name, act: &str, done: impl FnOnce(&PushWorkers) -> edgewise_core::Result<()>) -> Result<()> {
        match self {
            Here(workers) => Ok(done(workers)?),
            There(server) => server.post::<ActTaken>(&at(name, act), &json!({})).map(drop),
        }
    }
}

fn at(name: &Name, act: &str) -> String {
    named("workers", name.as_str(), act)
}

fn facts(worker: &PushWorker) -> Value {
    json!({ "name": worker.name, "url": worker.url, "actions": worker.actions, "queues": worker.queues,
        "slots": worker.slots, "lease_ms": worker.lease.0, "timeout_ms": worker.patience.0, "off": worker.off,
        "made_at": rfc3339(worker.at) })
}
