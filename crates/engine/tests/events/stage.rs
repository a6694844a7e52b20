//! An engine in memory that publishes, and a worker that does as its task is called.

use edgewise_core::event::Failure;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_engine::command::Start;
use edgewise_engine::engine::{Clock, Keeping};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::handler::Handlers;
use edgewise_engine::publish::{Listeners, Publisher, Shelf, Telling};
use edgewise_engine::worker::{Worker, Working};
use edgewise_engine::{Engine, Home, Parts};
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use edgewise_store::{Domain, Space};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Long enough for any machine; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, future).await.unwrap_or_else(|_| panic!("hangs: {what}"))
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub fn space() -> Space {
    Space { tenant: name("local"), workspace: name("default") }
}

/// A clock that ticks when it is looked at.
pub fn ticking() -> Clock {
    let at = AtomicU64::new(1_700_000_000_000);
    Arc::new(move || Time(at.fetch_add(1, Ordering::Relaxed)))
}

/// A store in memory that outlives its engines.
#[derive(Clone, Default)]
pub struct Place {
    pub ledger: MemoryLedger,
    pub rows: MemoryProjections,
}

impl Place {
    fn parts(&self) -> Parts {
        Parts {
            ledger: Box::new(self.ledger.clone()),
            reader: Box::new(self.rows.clone()),
            writer: Box::new(self.rows.clone()),
            home: Home::local(),
            clock: ticking(),
            entropy: Entropy::from_system().unwrap(),
            queues: Default::default(),
        }
    }

    /// An engine that publishes.
    pub fn engine(&self) -> Engine {
        self.engine_with(Box::new(self.ledger.clone()))
    }

    /// One that writes its queues through another handle.
    pub fn engine_with(&self, queues: Box<dyn Domain>) -> Engine {
        let telling = Telling { news: Box::new(self.ledger.clone()), queues };
        Engine::start_telling(self.parts(), Keeping::default(), Some(telling)).unwrap()
    }

    /// One that was killed before it published anything: as if its publisher had never got a turn.
    pub fn silent_engine(&self) -> Engine {
        Engine::start(self.parts()).unwrap()
    }

    pub fn shelf(&self) -> Shelf {
        Shelf::new(Box::new(self.ledger.clone()), space())
    }

    pub fn publisher(&self) -> Publisher {
        Publisher::open(Box::new(self.ledger.clone()), space(), Listeners::default()).unwrap()
    }

    /// The names and ids in a queue, in order.
    pub fn queue(&self, namespace: &str) -> Vec<(String, String)> {
        let mut ledger = self.ledger.clone();
        let queued = ledger.queued(&space(), &name(namespace), 0, usize::MAX).unwrap();
        queued.into_iter().map(|queued| (queued.event.name.to_string(), queued.event.id)).collect()
    }

    pub fn names(&self, namespace: &str) -> Vec<String> {
        self.queue(namespace).into_iter().map(|(name, _)| name).collect()
    }
}

pub fn flow(text: &str) -> Start {
    let mut flows = edgewise_core::flow::compile_file(text, "test").unwrap_or_else(|p| panic!("{p:?}"));
    let plan = flows.remove(0).plan;
    let input = serde_json::value::RawValue::from_string("{}".into()).unwrap();
    Start { plan: Arc::new(plan), children: Vec::new(), input, by: name("tester"), key: None, labels: BTreeMap::new() }
}

/// `ok` succeeds, `bad` fails for good, `flaky` fails once and then succeeds.
pub fn work(engine: &Engine) -> Working {
    let bad = |_| async { Err::<Value, _>(Failure::permanent("boom", "it broke")) };
    let flaky = |task: edgewise_engine::handler::Task| async move {
        match task.attempt {
            1 => Err(Failure { retry_after: Some(edgewise_core::time::Millis(0)), ..Failure::new("boom", "it broke") }),
            attempt => Ok(json!({ "attempt": attempt })),
        }
    };
    let handlers =
        Handlers::default().on(name("ok"), |_| async { Ok(json!(1)) }).on(name("bad"), bad).on(name("flaky"), flaky);
    Worker { handlers, commands: None, http: None, secrets: Default::default(), slots: 4 }.start(engine)
}

pub async fn run(engine: &Engine, start: Start) -> RunId {
    within("start", engine.start_run(start)).await.unwrap().0
}

pub async fn end(engine: &Engine, run: RunId) -> RunState {
    within("the run's end", engine.wait(run)).await.unwrap()
}
