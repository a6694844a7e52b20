//! Claimers: ask the engine for what a push worker can do, as long as it has a slot and is not left alone.

use super::call::Call;
use super::{Hub, LOOK};
use crate::limits;
use crate::route::work::unsealed;
use edgewise_core::name::Name;
use edgewise_engine::command::{Claim, Command, Grant};
use edgewise_engine::push::PushWorker;
use std::sync::Arc;

/// Asks for the tasks of one push worker.
pub(super) struct Claimer {
    hub: Arc<Hub>,
    worker: Arc<PushWorker>,
    name: Arc<str>,
    actions: Arc<[Name]>,
    queues: Option<Arc<[Name]>>,
}

impl Claimer {
    pub(super) fn new(hub: Arc<Hub>, worker: PushWorker) -> Self {
        let (name, actions) = (worker.claims_as().into(), worker.actions.clone().into());
        let queues = worker.queues.clone().map(Into::into);
        Self { hub, worker: Arc::new(worker), name, actions, queues }
    }

    pub(super) async fn run(self) {
        loop {
            let max = self.room().await;
            let (worker, actions, queues) = (self.name.clone(), self.actions.clone(), self.queues.clone());
            let claim = Claim { worker, actions, queues, max, lease: Some(self.worker.lease) };
            let failures = self.hub.app.push().of(&self.worker.name).failures;
            let granted = tokio::select! {
                biased;
                granted = self.hub.app.engine().claim(claim, limits::WAIT) => granted,
                // What it would be given now would come back: others may take it.
                () = self.fails(failures) => continue,
            };
            match granted {
                Ok(grants) if grants.is_empty() => {}
                // The hub's from here on: a claimer may be ended at any moment, and grants are not lost with it.
                Ok(grants) => self.hub.spawn(send(Arc::clone(&self.hub), Arc::clone(&self.worker), grants)),
                Err(_) => self.hub.wait(LOOK).await,
            }
        }
    }

    /// How many tasks it can take, as soon as it can take any. Counted by the engine from live leases, also those that
    /// were granted before this server started.
    async fn room(&self) -> u32 {
        let push = self.hub.app.push();
        let mut changed = push.room();
        loop {
            changed.borrow_and_update();
            let seen = push.of(&self.worker.name);
            if let Some(left) = seen.held_off((self.hub.means.clock)()) {
                tokio::select! {
                    _ = changed.changed() => {}
                    () = self.hub.wait(left) => {}
                }
                continue;
            }
            let held = self.hub.app.engine().held(&self.name).await.unwrap_or(usize::MAX);
            let free = self.worker.slots.saturating_sub(u32::try_from(held).unwrap_or(u32::MAX));
            let free = match (seen.failures, seen.calling) {
                (0, _) => free,
                // It has failed: one task shows whether it is back.
                (_, 0) => free.min(1),
                _ => 0,
            };
            if free > 0 && seen.failures > 0 && !self.is_there(seen.failures).await {
                continue;
            }
            if free > 0 {
                return free;
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = self.hub.wait(LOOK) => {}
            }
        }
    }

    /// Whether somebody listens at the address of a worker that has failed. Looked at before it is given a task, so that
    /// no task waits for one that is away. One that is not there is left alone again.
    async fn is_there(&self, before: u32) -> bool {
        let Err(why) = self.hub.http.reach(&self.worker.url).await else { return true };
        let (now, dice) = ((self.hub.means.clock)(), (self.hub.means.dice)());
        self.hub.app.push().bad(&self.worker.name, before, (why, None), (now, dice));
        false
    }

    /// Returns when it has failed again.
    async fn fails(&self, before: u32) {
        let push = self.hub.app.push();
        let mut changed = push.room();
        while push.of(&self.worker.name).failures <= before {
            // The sender lives as long as the server.
            let _ = changed.changed().await;
        }
    }
}

/// Sends what was granted, unless the worker is not to have it any more.
async fn send(hub: Arc<Hub>, worker: Arc<PushWorker>, grants: Vec<Grant>) {
    if !is_still(&hub, &worker).await {
        return give_back(&hub, &grants).await;
    }
    let granted = grants.len();
    let open = unsealed(&hub.app, may_have_secrets(&worker), grants).await;
    if open.len() < granted {
        // What was refused holds no slot any more.
        hub.app.push().stir();
    }
    // Nothing is waited for between this look and the calls: one that began after another had failed would count as a
    // second failure in a row.
    if hub.app.push().of(&worker.name).held_off((hub.means.clock)()).is_some() {
        return give_back(&hub, &open).await;
    }
    for grant in open {
        let call = Call::new(Arc::clone(&hub), Arc::clone(&worker), grant.lease);
        hub.spawn(call.run(grant));
    }
}

async fn give_back(hub: &Hub, grants: &[Grant]) {
    let leases = grants.iter().map(|grant| grant.lease).collect();
    // An engine that has stopped brings them back when it starts.
    let _ = hub.app.engine().ask(Command::GiveBack(leases)).await;
    hub.app.push().stir();
}

/// Whether a worker is kept as it was: nobody took it away, let it rest or gave it another secret.
async fn is_still(hub: &Hub, worker: &PushWorker) -> bool {
    hub.workers.found(worker.name.clone()).await.is_ok_and(|found| found == *worker)
}

/// Whether nobody else can read what is sent to a worker.
fn may_have_secrets(worker: &PushWorker) -> std::result::Result<(), &'static str> {
    match worker.is_private() {
        true => Ok(()),
        false => Err("the push worker is not called over https"),
    }
}
