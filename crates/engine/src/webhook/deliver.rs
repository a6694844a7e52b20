//! The tasks that send events to hooks. Time, chance, waiting and the network come from outside.

use super::dead::{self, DeadLetter};
use super::hook::{self, Hook, Hooks};
use super::judge::{Next, judge};
use crate::engine::Clock;
use crate::publish::place_of;
use edgewise_core::time::Millis;
use edgewise_core::{Kind, Result};
use edgewise_store::{Consumer, Domain, Queued, Space};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Events of one hook in memory at once.
const PAGE: usize = 20;
/// How often it is looked for new hooks, replays and events that were not told of.
const LOOK: Millis = Millis(1_000);

type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// Waits.
pub type Sleep = Arc<dyn Fn(Millis) -> Later<()> + Send + Sync>;
/// Sends a body with headers to an address.
pub type Post = Arc<dyn Fn(String, Vec<(&'static str, String)>, String) -> Later<Reply> + Send + Sync>;
/// Chance.
pub type Dice = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An answer, and how long the other side asks to wait.
    Status(u16, Option<Millis>),
    /// None, for this reason.
    Failed(String),
}

/// What deliveries are made with.
#[derive(Clone)]
pub struct Means {
    /// What time it is.
    pub clock: Clock,
    /// Chance, for waits.
    pub dice: Dice,
    /// How to wait.
    pub sleep: Sleep,
    /// How to send.
    pub post: Post,
    /// Changes when something was put into a queue.
    pub queued: watch::Receiver<u64>,
}

/// Hooks being told.
pub struct Delivering(JoinHandle<()>);

impl Delivering {
    /// Tells all hooks, and those that are made later, until it is stopped.
    pub fn start(hooks: Hooks, means: Means) -> Self {
        Self(tokio::spawn(tend(hooks, means)))
    }

    /// Ends. What was not acknowledged is sent again by whoever is next.
    pub fn stop(self) {
        self.0.abort();
    }
}

/// Tasks that end with whoever started them.
struct Tended(HashMap<String, JoinHandle<()>>);

impl Drop for Tended {
    fn drop(&mut self) {
        self.0.values().for_each(JoinHandle::abort);
    }
}

/// Has a task for each hook that is switched on, and none for the others.
async fn tend(hooks: Hooks, means: Means) {
    let mut tasks = Tended(HashMap::new());
    loop {
        // Before the look: one that switches itself off during it would be begun again by what was read before.
        tasks.0.retain(|_, task| !task.is_finished());
        if let Ok(all) = hooks.0.ask(hook::all).await {
            let on: HashMap<String, Hook> =
                all.into_iter().filter(|hook| hook.off.is_none()).map(|hook| (hook.id.clone(), hook)).collect();
            tasks.0.retain(|id, task| {
                let stays = on.contains_key(id);
                if !stays {
                    task.abort();
                }
                stays
            });
            for (id, hook) in on {
                let one = || tokio::spawn(Courier { hooks: hooks.clone(), means: means.clone(), hook }.run());
                tasks.0.entry(id).or_insert_with(one);
            }
        }
        (means.sleep)(LOOK).await;
    }
}

/// Tells one hook.
struct Courier {
    hooks: Hooks,
    means: Means,
    hook: Hook,
}

/// Whether a hook is told on.
#[derive(PartialEq, Eq)]
enum Goes {
    On,
    Off,
}

impl Courier {
    async fn run(mut self) {
        loop {
            let goes = match self.round().await {
                Ok((Goes::Off, _)) => return,
                Ok((Goes::On, more)) => more,
                // It was taken away.
                Err(error) if error.kind == Kind::NotFound => return,
                // The store did not answer: it is asked again a little later.
                Err(_) => false,
            };
            if !goes {
                tokio::select! {
                    _ = self.means.queued.changed() => {}
                    () = (self.means.sleep)(LOOK) => {}
                }
            }
        }
    }

    /// Sends a page, and what is to be sent again; true if there may be more.
    async fn round(&self) -> Result<(Goes, bool)> {
        let hook = self.hook.clone();
        let (page, letters) = self
            .hooks
            .0
            .ask(move |ledger, space| {
                let after = place_of(ledger, space, &hook.namespace, &hook.consumer())?;
                let page = ledger.queued(space, &hook.namespace, after, PAGE)?;
                Ok((page, dead::letters(ledger, space, &hook.id)?))
            })
            .await?;
        for letter in letters.into_iter().filter(|letter| letter.again) {
            if self.again(letter).await? == Goes::Off {
                return Ok((Goes::Off, false));
            }
        }
        let more = page.len() == PAGE;
        for queued in page {
            let place = queued.place;
            if self.hook.wants(&queued.event.name) && self.deliver(queued).await? == Goes::Off {
                return Ok((Goes::Off, false));
            }
            self.acknowledge(place).await?;
        }
        Ok((Goes::On, more))
    }

    async fn deliver(&self, queued: Queued) -> Result<Goes> {
        let mut attempt = 1;
        loop {
            let reply = self.send(&queued.event.id, &queued.event.body).await;
            match judge(&reply, attempt, (self.means.dice)()) {
                Next::Done => return Ok(Goes::On),
                Next::Again(wait) => (self.means.sleep)(wait).await,
                Next::Gone => return self.switch_off().await,
                Next::Dead(why) => {
                    let letter = dead::letter(queued, why, (self.means.clock)());
                    self.write(move |ledger, space, hook| dead::rest(ledger, space, &hook.id, letter)).await?;
                    return Ok(Goes::On);
                }
            }
            attempt += 1;
        }
    }

    /// One attempt at a dead letter: it goes, or it stays dead.
    async fn again(&self, letter: DeadLetter) -> Result<Goes> {
        let reply = self.send(&letter.id, &letter.body).await;
        match judge(&reply, super::ATTEMPTS, 0) {
            Next::Gone => return self.switch_off().await,
            Next::Done => {
                self.write(move |ledger, space, hook| dead::bury(ledger, space, &hook.id, letter.place)).await?;
            }
            Next::Again(_) | Next::Dead(_) => {
                let at = (self.means.clock)();
                let dead = DeadLetter { why: format!("sent again: {reply:?}"), at, ..letter };
                self.write(move |ledger, space, hook| dead::rest(ledger, space, &hook.id, dead)).await?;
            }
        }
        Ok(Goes::On)
    }

    async fn send(&self, id: &str, body: &str) -> Reply {
        let (hook, now) = (self.hook.id.clone(), (self.means.clock)());
        // As it is kept: its secret may have been changed since it was read, or since the last attempt.
        let hook = self.hooks.0.ask(move |ledger, space| hook::find(ledger, space, &hook)).await;
        let signed = match hook.and_then(|hook| hook.sign(id, now, body)) {
            Ok(signed) => signed,
            Err(error) => return Reply::Failed(error.message),
        };
        let headers = vec![
            ("content-type", "application/cloudevents+json".to_owned()),
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", (now.0 / 1_000).to_string()),
            ("webhook-signature", signed),
        ];
        (self.means.post)(self.hook.url.clone(), headers, body.to_owned()).await
    }

    async fn acknowledge(&self, place: u64) -> Result<()> {
        let at = (self.means.clock)();
        self.write(move |ledger, space, hook| {
            let (namespace, name) = (hook.namespace.clone(), hook.consumer());
            ledger.acknowledge(space, &Consumer { namespace, name, place, at }).map(drop)
        })
        .await
    }

    /// Writes something about the hook. Of one that was taken away meanwhile nothing stays: its queue would wait for it
    /// for good.
    async fn write(
        &self,
        work: impl FnOnce(&mut dyn Domain, &Space, &Hook) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let hook = self.hook.clone();
        let written = move |ledger: &mut dyn Domain, space: &Space| {
            work(ledger, space, &hook)?;
            match hook::find(ledger, space, &hook.id) {
                Err(error) if error.kind == Kind::NotFound => {
                    hook::clear(ledger, space, &hook.id)?;
                    Err(error)
                }
                found => found.map(drop),
            }
        };
        self.hooks.0.ask(written).await
    }

    async fn switch_off(&self) -> Result<Goes> {
        let id = self.hook.id.clone();
        let why = "the other side answered 410: it wants no more events".to_owned();
        self.hooks.0.ask(move |ledger, space| hook::switch_off(ledger, space, &id, why)).await?;
        Ok(Goes::Off)
    }
}
