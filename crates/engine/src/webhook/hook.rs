//! Hooks as they are kept: who is told what.

use super::dead::{self, DeadLetter, Replay};
use super::sign::{Former, OVERLAP, Secret, signatures};
use crate::entropy::Entropy;
use crate::publish::Shelf;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_store::{Consumer, Document, Domain, Space};
use serde::{Deserialize, Serialize};

/// Most hooks of a workspace.
const HOOKS: usize = 1_000;
/// Longest address.
const URL_BYTES: usize = 2_048;

/// A webhook.
#[derive(Clone, Serialize, Deserialize)]
pub struct Hook {
    /// Its name, given by chance.
    pub id: String,
    /// The queue whose events it is told.
    pub namespace: Name,
    /// Where they are sent.
    pub url: String,
    /// Only events of these names; of all if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<Name>,
    /// What both sides know; kept with the ledger, shown once.
    secret: String,
    /// The secret before, and until when it is used too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    former: Option<Former>,
    /// When it was made.
    pub at: Time,
    /// Why it is told nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// Up to here it was told everything when it was switched off. It is no consumer since then: a queue does not wait
    /// for whoever wants nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<u64>,
}

/// A hook without its secret.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "each is the field of the hook of the same name")]
pub struct Shown {
    pub id: String,
    pub namespace: Name,
    pub url: String,
    pub names: Vec<Name>,
    pub at: Time,
    pub off: Option<String>,
    /// Up to here it was told everything.
    pub place: u64,
    /// How many events it could not be told.
    pub dead: usize,
}

impl Hook {
    /// The name it acknowledges under.
    pub(super) fn consumer(&self) -> String {
        consumer(&self.id)
    }

    /// The signatures of a message.
    pub(super) fn sign(&self, id: &str, at: Time, body: &str) -> Result<String> {
        signatures((&self.secret, self.former.as_ref()), id, at, body)
    }

    /// Whether it wants an event.
    pub(super) fn wants(&self, name: &Name) -> bool {
        self.names.is_empty() || self.names.contains(name)
    }
}

/// All hooks of a workspace. Cloning gives another handle.
#[derive(Clone)]
pub struct Hooks(pub(super) Shelf);

impl Hooks {
    /// The hooks whose queues these are.
    pub fn new(shelf: Shelf) -> Self {
        Self(shelf)
    }

    /// Makes a hook. It is told what is published from now on. The secret is given here and never again.
    pub fn add(
        &self,
        (namespace, url): (Name, String),
        names: Vec<Name>,
        entropy: &mut Entropy,
        at: Time,
    ) -> Result<(Shown, Secret)> {
        check(&url)?;
        let secret = Secret::new(entropy);
        let id = format!("{:016x}", entropy.bits() as u64);
        let hook = Hook { id, namespace, url, names, secret: secret.text(), former: None, at, off: None, place: None };
        let shown = self.0.with(|ledger, space| {
            if ledger.kept(space, Document::Hook, "", HOOKS)?.len() >= HOOKS {
                let message = format!("a workspace has at most {HOOKS} webhooks: remove one first");
                return Err(Error::limit("too_many_webhooks", message));
            }
            let last = ledger.namespaces(space)?.iter().find(|n| n.name == hook.namespace).map_or(0, |n| n.last);
            let (namespace, name) = (hook.namespace.clone(), hook.consumer());
            ledger.acknowledge(space, &Consumer { namespace, name, place: last, at })?;
            put(ledger, space, &hook)?;
            show(ledger, space, &hook)
        })?;
        Ok((shown, secret))
    }

    /// All of them, without their secrets.
    pub fn list(&self) -> Result<Vec<Shown>> {
        self.0.with(|ledger, space| all(ledger, space)?.iter().map(|hook| show(ledger, space, hook)).collect())
    }

    /// Takes a hook away, with what it could not be told; also what is left of one that is gone.
    pub fn remove(&self, id: &str) -> Result<()> {
        self.0.with(|ledger, space| {
            let known = find(ledger, space, id);
            // Itself first: whoever still delivers looks for it after each write, and clears away what came too late.
            ledger.keep(space, Document::Hook, id, None)?;
            if clear(ledger, space, id)? { Ok(()) } else { known.map(drop) }
        })
    }

    /// Gives a hook another secret. The one before is used as well for a day.
    pub fn rotate(&self, id: &str, entropy: &mut Entropy, at: Time) -> Result<Secret> {
        let secret = Secret::new(entropy);
        self.0.with(|ledger, space| {
            let mut hook = find(ledger, space, id)?;
            let before = std::mem::replace(&mut hook.secret, secret.text());
            hook.former = Some((before, at.plus(OVERLAP)));
            put(ledger, space, &hook)
        })?;
        Ok(secret)
    }

    /// What a hook could not be told.
    pub fn dead(&self, id: &str) -> Result<Vec<DeadLetter>> {
        self.0.with(|ledger, space| {
            find(ledger, space, id)?;
            dead::letters(ledger, space, id)
        })
    }

    /// Has events sent again: those between two places (both included), or all dead letters. Switches the hook on
    /// again.
    pub fn replay(&self, id: &str, range: Option<(u64, u64)>, at: Time) -> Result<Replay> {
        self.0.with(|ledger, space| {
            let mut hook = find(ledger, space, id)?;
            let replay = dead::replay(ledger, space, &hook, range, at)?;
            if hook.off.take().is_some() {
                // Its place first: without one it would be told everything from the beginning.
                if let Some(place) = hook.place.take() {
                    let (namespace, name) = (hook.namespace.clone(), hook.consumer());
                    ledger.acknowledge(space, &Consumer { namespace, name, place, at })?;
                }
                put(ledger, space, &hook)?;
            }
            Ok(replay)
        })
    }
}

fn consumer(id: &str) -> String {
    format!("webhook/{id}")
}

fn check(url: &str) -> Result<()> {
    let known = reqwest::Url::parse(url).ok().filter(|url| {
        let secretless = url.username().is_empty() && url.password().is_none();
        matches!(url.scheme(), "http" | "https") && url.has_host() && secretless
    });
    // The parser leaves out what is no part of an address: what is kept and shown must be what is asked.
    let plain = !url.contains(|c: char| c.is_control() || c.is_whitespace());
    if known.is_some() && plain && url.len() <= URL_BYTES {
        return Ok(());
    }
    let message = format!(
        "{url:?} is no address of a webhook: write https://host/path, without a name or a password in it, at most \
         {URL_BYTES} bytes"
    );
    Err(Error::invalid("bad_url", message))
}

pub(super) fn all(ledger: &mut dyn Domain, space: &Space) -> Result<Vec<Hook>> {
    let kept = ledger.kept(space, Document::Hook, "", HOOKS)?;
    kept.iter().map(|(_, body)| read(body)).collect()
}

pub(super) fn find(ledger: &mut dyn Domain, space: &Space, id: &str) -> Result<Hook> {
    let kept = ledger.kept(space, Document::Hook, id, 1)?.into_iter().find(|(key, _)| key == id);
    kept.map(|(_, body)| read(&body)).transpose()?.ok_or_else(|| {
        Error::not_found("webhook_not_found", format!("there is no webhook {id}: `edgewise webhook list` lists them"))
    })
}

pub(super) fn put(ledger: &mut dyn Domain, space: &Space, hook: &Hook) -> Result<()> {
    ledger.keep(space, Document::Hook, &hook.id, Some(&written(hook)?))
}

/// Clears away what belongs to a hook that is gone; whether a queue waited for it.
pub(super) fn clear(ledger: &mut dyn Domain, space: &Space, id: &str) -> Result<bool> {
    dead::clear(ledger, space, id)?;
    let name = consumer(id);
    let waiting: Vec<_> = ledger.consumers(space)?.into_iter().filter(|known| known.name == name).collect();
    for Consumer { namespace, name, .. } in &waiting {
        ledger.forget_consumer(space, namespace, name)?;
    }
    Ok(!waiting.is_empty())
}

/// Up to where a hook was told everything.
fn place(ledger: &mut dyn Domain, space: &Space, hook: &Hook) -> Result<u64> {
    hook.place.map_or_else(|| crate::publish::place_of(ledger, space, &hook.namespace, &hook.consumer()), Ok)
}

/// A hook is told nothing any more, and its queue does not wait for it.
pub(super) fn switch_off(ledger: &mut dyn Domain, space: &Space, id: &str, why: String) -> Result<()> {
    let mut hook = find(ledger, space, id)?;
    hook.place = Some(place(ledger, space, &hook)?);
    hook.off = Some(why);
    put(ledger, space, &hook)?;
    ledger.forget_consumer(space, &hook.namespace, &hook.consumer())
}

fn show(ledger: &mut dyn Domain, space: &Space, hook: &Hook) -> Result<Shown> {
    let place = place(ledger, space, hook)?;
    let dead = dead::letters(ledger, space, &hook.id)?.len();
    let Hook { id, namespace, url, names, at, off, .. } = hook.clone();
    Ok(Shown { id, namespace, url, names, at, off, place, dead })
}

pub(super) fn read<'b, T: Deserialize<'b>>(body: &'b str) -> Result<T> {
    serde_json::from_str(body).map_err(|e| Error::corrupt("bad_document", format!("a webhook cannot be read: {e}")))
}

pub(super) fn written(document: &impl Serialize) -> Result<String> {
    serde_json::to_string(document).map_err(|e| Error::bug("unprintable", format!("a webhook has no JSON form: {e}")))
}
