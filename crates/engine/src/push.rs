//! Push workers as they are kept: workers that do not ask for tasks but are called with them.
//!
//! Each lease is sent to the worker's address as one request, signed as Standard Webhooks says. Who calls them is not
//! here: it is the server, because a lease on its way has the form of its API.

use crate::entropy::Entropy;
use crate::publish::Shelf;
use crate::webhook::{Former, OVERLAP, Secret, signatures};
use edgewise_core::name::Name;
use edgewise_core::run::{COMMAND_ACTION, HTTP_ACTION};
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use edgewise_store::{Document, Domain, Space};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::ops::RangeInclusive;

/// Most push workers of a workspace.
const WORKERS: usize = 256;
/// Most actions, and most queues, of one.
const NAMES: usize = 1_000;
/// Longest address.
const URL_BYTES: usize = 2_048;
/// How many tasks at once.
pub const SLOTS: RangeInclusive<u32> = 1..=1_000;
/// How long a lease is good for without a sign of life.
pub const LEASE: RangeInclusive<Millis> = Millis(1_000)..=Millis(24 * 3_600_000);
/// How long a call may stay open.
pub const PATIENCE: RangeInclusive<Millis> = Millis(1_000)..=Millis(3_600_000);

/// A worker that is called.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushWorker {
    /// What it is called.
    pub name: Name,
    /// Where its tasks are sent.
    pub url: String,
    /// The actions it can do.
    pub actions: Vec<Name>,
    /// The queues it takes tasks from; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<Vec<Name>>,
    /// How many tasks it takes at once.
    pub slots: u32,
    /// How long a lease is good for without a sign of life.
    pub lease: Millis,
    /// How long a call may stay open.
    pub patience: Millis,
    /// When it was made.
    pub at: Time,
    /// Why it is given nothing for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// What both sides know; kept with the ledger, shown once.
    secret: String,
    /// The secret before, and until when it is used too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    former: Option<Former>,
}

/// A push worker to be made.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "each is the field of the push worker of the same name")]
pub struct Wanted {
    pub name: Name,
    pub url: String,
    pub actions: Vec<Name>,
    pub queues: Option<Vec<Name>>,
    pub slots: Option<u32>,
    pub lease: Option<Millis>,
    pub patience: Option<Millis>,
}

impl PushWorker {
    /// The name that its leases are claimed with. No worker that asks over HTTP can be called so.
    pub fn claims_as(&self) -> String {
        format!("push:{}", self.name)
    }

    /// Whether what is sent to it can be read by nobody on the way: it is encrypted, or does not leave this machine.
    pub fn is_private(&self) -> bool {
        let here = |host: &str| host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        reqwest::Url::parse(&self.url).is_ok_and(|url| url.scheme() == "https" || url.host_str().is_some_and(here))
    }

    /// The signatures of a message, for the header `webhook-signature`.
    pub fn sign(&self, id: &str, at: Time, body: &str) -> Result<String> {
        signatures((&self.secret, self.former.as_ref()), id, at, body)
    }
}

/// All push workers of a workspace. Cloning gives another handle.
#[derive(Clone)]
pub struct PushWorkers(Shelf);

impl PushWorkers {
    /// The push workers that are kept beside these queues.
    pub fn new(shelf: Shelf) -> Self {
        Self(shelf)
    }

    /// Makes one. The secret is given here and never again.
    pub fn add(&self, wanted: Wanted, entropy: &mut Entropy, at: Time) -> Result<(PushWorker, Secret)> {
        let secret = Secret::new(entropy);
        let worker = checked(wanted, &secret, at)?;
        self.0.with(|ledger, space| {
            let all = all(ledger, space)?;
            if all.iter().any(|known| known.name == worker.name) {
                let message = format!("there is a push worker {} already: remove it first", worker.name);
                return Err(Error::conflict("worker_exists", message));
            }
            if all.len() >= WORKERS {
                let message = format!("a workspace has at most {WORKERS} push workers: remove one first");
                return Err(Error::limit("too_many_workers", message));
            }
            put(ledger, space, &worker)
        })?;
        Ok((worker, secret))
    }

    /// All of them, by name.
    pub fn list(&self) -> Result<Vec<PushWorker>> {
        self.0.with(all)
    }

    /// The same for whoever must not block.
    pub async fn listed(&self) -> Result<Vec<PushWorker>> {
        self.0.ask(all).await
    }

    /// One of them.
    pub fn find(&self, name: &Name) -> Result<PushWorker> {
        self.0.with(|ledger, space| find(ledger, space, name))
    }

    /// The same for whoever must not block.
    pub async fn found(&self, name: Name) -> Result<PushWorker> {
        self.0.ask(move |ledger, space| find(ledger, space, &name)).await
    }

    /// Takes one away. What it has at work may still be answered.
    pub fn remove(&self, name: &Name) -> Result<()> {
        self.0.with(|ledger, space| {
            find(ledger, space, name)?;
            ledger.keep(space, Document::PushWorker, name.as_str(), None)
        })
    }

    /// Gives it nothing from now on, for a reason; true if that is new.
    pub fn pause(&self, name: &Name, why: &str) -> Result<bool> {
        let paused = |worker: &mut PushWorker| worker.off.replace(why.to_owned()).is_none();
        self.change(name, paused)
    }

    /// Gives it tasks again; true if that is new.
    pub fn resume(&self, name: &Name) -> Result<bool> {
        self.change(name, |worker| worker.off.take().is_some())
    }

    /// Gives it another secret. The one before is used as well for a day.
    pub fn rotate(&self, name: &Name, entropy: &mut Entropy, at: Time) -> Result<Secret> {
        let secret = Secret::new(entropy);
        self.change(name, |worker| {
            let before = std::mem::replace(&mut worker.secret, secret.text());
            worker.former = Some((before, at.plus(OVERLAP)));
        })?;
        Ok(secret)
    }

    fn change<T>(&self, name: &Name, change: impl FnOnce(&mut PushWorker) -> T) -> Result<T> {
        self.0.with(|ledger, space| {
            let mut worker = find(ledger, space, name)?;
            let changed = change(&mut worker);
            put(ledger, space, &worker)?;
            Ok(changed)
        })
    }
}

fn checked(wanted: Wanted, secret: &Secret, at: Time) -> Result<PushWorker> {
    let Wanted { name, url, mut actions, mut queues, slots, lease, patience } = wanted;
    check_url(&url)?;
    actions.sort();
    actions.dedup();
    if actions.is_empty() {
        return Err(Error::invalid("empty_claim", "a push worker has actions: name at least one that it can do"));
    }
    if let Some(own) = actions.iter().find(|action| [COMMAND_ACTION, HTTP_ACTION].contains(&action.as_str())) {
        let message = format!("{own} is done by the engine itself: name actions of the worker");
        return Err(Error::invalid("own_action", message));
    }
    if actions.len() > NAMES || queues.as_ref().is_some_and(|queues| queues.len() > NAMES) {
        return Err(Error::limit("too_many_names", format!("a push worker has at most {NAMES} actions and queues")));
    }
    queues.iter_mut().for_each(|queues| queues.sort());
    let slots = slots.unwrap_or(1);
    if !SLOTS.contains(&slots) {
        let (least, most) = (SLOTS.start(), SLOTS.end());
        return Err(Error::invalid("bad_slots", format!("a push worker has {least} to {most} slots, not {slots}")));
    }
    let lease = within("lease", lease.unwrap_or(Millis(30_000)), &LEASE)?;
    let patience = within("timeout", patience.unwrap_or(Millis(300_000)), &PATIENCE)?;
    let (secret, former, off) = (secret.text(), None, None);
    Ok(PushWorker { name, url, actions, queues, slots, lease, patience, at, off, secret, former })
}

fn within(what: &str, span: Millis, bounds: &RangeInclusive<Millis>) -> Result<Millis> {
    if bounds.contains(&span) {
        return Ok(span);
    }
    let message = format!("the {what} of a push worker is {} to {}, not {span}", bounds.start(), bounds.end());
    Err(Error::invalid("bad_span", message))
}

/// An address with a name and a password in it would show them to everybody who may look.
fn check_url(url: &str) -> Result<()> {
    let good = |url: &reqwest::Url| {
        let bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        matches!(url.scheme(), "http" | "https") && url.has_host() && bare
    };
    if url.len() <= URL_BYTES && reqwest::Url::parse(url).is_ok_and(|url| good(&url)) {
        return Ok(());
    }
    let message = format!(
        "this is no address of a push worker: write https://host/path, at most {URL_BYTES} bytes, without a name, a \
         password or a fragment"
    );
    Err(Error::invalid("bad_url", message))
}

fn all(ledger: &mut dyn Domain, space: &Space) -> Result<Vec<PushWorker>> {
    let kept = ledger.kept(space, Document::PushWorker, "", WORKERS)?;
    kept.iter().map(|(_, body)| read(body)).collect()
}

fn find(ledger: &mut dyn Domain, space: &Space, name: &Name) -> Result<PushWorker> {
    let kept = ledger.kept(space, Document::PushWorker, name.as_str(), 1)?;
    let found = kept.first().filter(|(key, _)| key == name.as_str());
    found.map(|(_, body)| read(body)).transpose()?.ok_or_else(|| {
        let message = format!("there is no push worker {name}: `edgewise worker list` lists them");
        Error::not_found("worker_not_found", message)
    })
}

fn put(ledger: &mut dyn Domain, space: &Space, worker: &PushWorker) -> Result<()> {
    let body = serde_json::to_string(worker)
        .map_err(|e| Error::bug("unprintable", format!("a push worker has no JSON form: {e}")))?;
    ledger.keep(space, Document::PushWorker, worker.name.as_str(), Some(&body))
}

fn read(body: &str) -> Result<PushWorker> {
    serde_json::from_str(body).map_err(|e| Error::corrupt("bad_document", format!("a push worker cannot be read: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_encrypted_or_stays_on_this_machine_is_private() {
        for (url, private) in [
            ("https://example.org/", true),
            ("http://127.0.0.1:9000/", true),
            ("http://[::1]/", true),
            ("http://example.org/", false),
            ("http://10.0.0.1/", false),
            // A name may come to mean another machine.
            ("http://localhost/", false),
        ] {
            let actions = vec![Name::parse("a").unwrap()];
            let (name, url) = (Name::parse("w").unwrap(), url.to_owned());
            let wanted = Wanted { name, url, actions, queues: None, slots: None, lease: None, patience: None };
            let worker = checked(wanted, &Secret::new(&mut Entropy::from_seed([1; 32])), Time(1)).unwrap();
            assert_eq!(worker.is_private(), private, "{}", worker.url);
        }
    }
}
