//! Push workers are called: their leases are claimed here, sent to their addresses, and what they answer is reported.
//!
//! ```text
//! engine ──► one claimer for each worker ──► signed POST ──► 200: the answer is the report
//!              ▲        holds off                 │          202: it reports by itself, and keeps the lease
//!              └──────────────────────────────────┤     429, 503: the lease goes back unspent
//!                                                 └ anything else: the attempt has failed
//! ```
//!
//! A claimer is a worker like any other that asks over HTTP: its leases have deadlines and outlive the server, which
//! keeps them up while a call is open. Each worker has a claimer, slots and a hold-off of its own, so that one that
//! hangs or is away delays neither a run nor another worker, and tasks that it would have taken are free for others.

mod call;
mod claim;
mod judge;
mod reach;

pub(crate) use reach::Push;
pub use reach::{ENDS, Seen};

use crate::app::App;
use edgewise_core::Result;
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_engine::command::LeaseRef;
use edgewise_engine::engine::Revoked;
use edgewise_engine::http::Http;
use edgewise_engine::push::{PushWorker, PushWorkers};
use edgewise_engine::webhook::Means;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

/// How often it is looked for push workers that were made or changed elsewhere.
const LOOK: Millis = Millis(1_000);

/// Push workers being called.
pub struct Pushing {
    tending: JoinHandle<()>,
    hanging_up: JoinHandle<()>,
    hub: Arc<Hub>,
}

impl Pushing {
    /// Calls all push workers of a server, and those that are made later, over this network.
    pub async fn start(app: &App, http: Http) -> Result<Self> {
        let means = http.means(app.engine().listeners().watch_queues());
        Self::start_with(app, http, means).await
    }

    /// The same with other time, waits and chance.
    pub async fn start_with(app: &App, http: Http, means: Means) -> Result<Self> {
        let workers = PushWorkers::new(app.shelf().await?);
        let (calls, open) = Default::default();
        let hub = Arc::new(Hub { app: app.clone(), workers, http, means, calls, open });
        let hanging_up = tokio::spawn(hang_up(Arc::clone(&hub), app.engine().listen()));
        Ok(Self { tending: tokio::spawn(tend(Arc::clone(&hub))), hanging_up, hub })
    }

    /// Claims no more. Calls that are open may go on for so long; what is left then keeps its lease until the deadline,
    /// and the worker can still report it.
    pub async fn stop(self, patience: Duration) {
        self.tending.abort();
        // Ended, not only told to: whatever it claims has been handed on or goes back.
        let _ = self.tending.await;
        let deadline = tokio::time::Instant::now() + patience;
        while !self.hub.calls().is_empty() && tokio::time::Instant::now() < deadline {
            let mut room = self.hub.app.push().room();
            let _ = tokio::time::timeout_at(deadline.min(tokio::time::Instant::now() + REAP), room.changed()).await;
            self.hub.reap();
        }
        self.hub.calls().abort_all();
        self.hanging_up.abort();
    }
}

/// How often calls that have ended are looked for while the server stops.
const REAP: Duration = Duration::from_millis(20);

/// One dispatch: an attempt that was given back is another one the next time.
type Dispatch = (RunId, TokenHash);

fn dispatch_of(lease: &LeaseRef) -> Dispatch {
    (lease.run, lease.token.hash())
}

/// What all claimers and calls of a workspace share.
struct Hub {
    app: App,
    workers: PushWorkers,
    http: Http,
    means: Means,
    /// They belong to nobody but the hub: a worker that is taken away may still answer.
    calls: Mutex<JoinSet<()>>,
    /// Told to hang up.
    open: Mutex<HashMap<Dispatch, Arc<Notify>>>,
}

impl Hub {
    fn calls(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Dispatch, Arc<Notify>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.calls().spawn(task);
    }

    fn reap(&self) {
        let mut calls = self.calls();
        while calls.try_join_next().is_some() {}
    }

    async fn wait(&self, span: Millis) {
        (self.means.sleep)(span).await;
    }
}

/// Claimers that end with whoever started them.
#[derive(Default)]
struct Tended(HashMap<Name, (PushWorker, JoinHandle<()>)>);

impl Drop for Tended {
    fn drop(&mut self) {
        self.0.values().for_each(|(_, task)| task.abort());
    }
}

/// Has a claimer for each push worker that is on, as it is kept now, and none for the others.
async fn tend(hub: Arc<Hub>) {
    let mut tended = Tended::default();
    let mut changed: watch::Receiver<u64> = hub.app.push().settings();
    loop {
        changed.borrow_and_update();
        if let Ok(all) = hub.workers.listed().await {
            hub.app.push().retain(|name| all.iter().any(|worker| worker.name == *name));
            let on: HashMap<Name, PushWorker> =
                all.into_iter().filter(|worker| worker.off.is_none()).map(|w| (w.name.clone(), w)).collect();
            tended.0.retain(|name, (known, task)| {
                let stays = !task.is_finished() && on.get(name) == Some(known);
                if !stays {
                    task.abort();
                }
                stays
            });
            for (name, worker) in on {
                let begin = || {
                    let claimer = claim::Claimer::new(Arc::clone(&hub), worker.clone());
                    (worker, tokio::spawn(claimer.run()))
                };
                tended.0.entry(name).or_insert_with(begin);
            }
        }
        hub.reap();
        tokio::select! {
            _ = changed.changed() => {}
            () = hub.wait(LOOK) => {}
        }
    }
}

/// Hangs up on those whose attempts are over: that is how a worker that is called hears of a cancel.
async fn hang_up(hub: Arc<Hub>, mut revoked: mpsc::UnboundedReceiver<Revoked>) {
    while let Some((run, attempt)) = revoked.recv().await {
        if let Some(call) = hub.open().get(&(run, attempt.token)) {
            call.notify_one();
        }
    }
}
