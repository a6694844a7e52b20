//! Queues of domain events, webhooks and the trail: in the data folder, or at a server. Both say the same.

use crate::place::Place;
use crate::problem::Result;
use crate::remote::{Asker, Remote};
use edgewise_client::wire::{
    Acknowledge, Acknowledged, ActTaken, Audit, AuditLine, DeadLetterListed, DeadLetters, DomainEventAt, DomainEvents,
    ForgetConsumer, NamespaceListed, Namespaces, ReplayRequest, Replayed, WebhookListed, WebhookMade, WebhookRequest,
    Webhooks,
};
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_engine::Home;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::entropy::Entropy;
use edgewise_engine::publish::Shelf;
use edgewise_engine::webhook::Hooks;
use edgewise_server::{audit, listed};
use edgewise_store::{Space, sqlite};
use serde_json::json;

/// Most events that a server gives at once.
const PAGE: usize = edgewise_server::limits::PAGE;

/// Where they are.
pub enum Shelves {
    /// In the data folder, past any engine.
    Here(Shelf),
    /// At a server.
    There(Asker),
}

use Shelves::{Here, There};

/// From where a queue is read on.
#[derive(Debug, Clone)]
pub enum From {
    /// Behind this place.
    Place(u64),
    /// Behind what this consumer has acknowledged.
    Consumer(String),
}

impl Shelves {
    /// The queues that the settings mean. Whoever only looks changes nothing, also not an older ledger.
    pub fn of(place: &Place, writes: bool) -> Result<Self> {
        if let Some(remote) = Remote::of(place.config())? {
            return remote.asker().map(There);
        }
        here(place, writes).map(Here)
    }

    /// All queues, with whoever reads them.
    pub fn namespaces(&self) -> Result<Vec<NamespaceListed>> {
        match self {
            Here(shelf) => Ok(listed::namespaces(shelf)?),
            There(server) => Ok(server.get::<Namespaces>("/api/v1/domain")?.namespaces),
        }
    }

    /// At most so many events of a queue.
    pub fn read(&self, namespace: &Name, from: &From, limit: usize) -> Result<Vec<DomainEventAt>> {
        match (self, from) {
            (Here(shelf), From::Place(after)) => {
                let page = shelf.read(namespace, *after, limit)?;
                Ok(page.iter().map(listed::event).collect::<edgewise_core::Result<_>>()?)
            }
            (Here(shelf), From::Consumer(consumer)) => {
                let page = shelf.next(namespace, consumer, limit)?.events;
                Ok(page.iter().map(listed::event).collect::<edgewise_core::Result<_>>()?)
            }
            (There(server), from) => read_there(server, namespace, from, limit),
        }
    }

    /// A consumer has dealt with everything up to a place; where it is now.
    pub fn acknowledge(&self, namespace: &Name, consumer: &str, place: u64) -> Result<u64> {
        match self {
            Here(shelf) => Ok(shelf.acknowledge(namespace, consumer, place, wall_clock())?),
            There(server) => {
                let asked = Acknowledge { consumer: consumer.to_owned(), place };
                Ok(server.post::<Acknowledged>(&format!("{}/ack", queue(namespace)), &asked)?.place)
            }
        }
    }

    /// A consumer is gone: its queue waits for it no more.
    pub fn forget(&self, namespace: &Name, consumer: &str) -> Result<()> {
        match self {
            Here(shelf) => Ok(shelf.forget(namespace, consumer)?),
            There(server) => {
                let asked = ForgetConsumer { consumer: consumer.to_owned() };
                server.post::<ActTaken>(&format!("{}/forget", queue(namespace)), &asked).map(drop)
            }
        }
    }

    /// Makes a webhook.
    pub fn add_hook(&self, namespace: &Name, url: &str, names: &[Name]) -> Result<WebhookMade> {
        match self {
            Here(shelf) => {
                let of = (namespace.clone(), url.to_owned());
                let hooks = Hooks::new(shelf.clone());
                let (hook, secret) = hooks.add(of, names.to_vec(), &mut Entropy::from_system()?, wall_clock())?;
                Ok(WebhookMade { id: hook.id, secret: secret.text() })
            }
            There(server) => {
                let names = names.iter().map(Name::to_string).collect();
                let asked = WebhookRequest { namespace: namespace.to_string(), url: url.to_owned(), names };
                server.post("/api/v1/webhooks", &asked)
            }
        }
    }

    /// All webhooks.
    pub fn hooks(&self) -> Result<Vec<WebhookListed>> {
        match self {
            Here(shelf) => Ok(Hooks::new(shelf.clone()).list()?.into_iter().map(listed::webhook).collect()),
            There(server) => pages("/api/v1/webhooks", |path| {
                let page = server.get::<Webhooks>(path)?;
                Ok((page.webhooks, page.next))
            }),
        }
    }

    /// Takes a webhook away.
    pub fn remove_hook(&self, id: &str) -> Result<()> {
        match self {
            Here(shelf) => Ok(Hooks::new(shelf.clone()).remove(id)?),
            There(server) => server.post::<ActTaken>(&hook(id, "remove"), &json!({})).map(drop),
        }
    }

    /// Gives a webhook another secret.
    pub fn rotate_hook(&self, id: &str) -> Result<WebhookMade> {
        match self {
            Here(shelf) => {
                let secret = Hooks::new(shelf.clone()).rotate(id, &mut Entropy::from_system()?, wall_clock())?;
                Ok(WebhookMade { id: id.to_owned(), secret: secret.text() })
            }
            There(server) => server.post(&hook(id, "rotate"), &json!({})),
        }
    }

    /// What a webhook could not be told.
    pub fn dead(&self, id: &str) -> Result<Vec<DeadLetterListed>> {
        match self {
            Here(shelf) => Ok(Hooks::new(shelf.clone()).dead(id)?.into_iter().map(listed::dead_letter).collect()),
            There(server) => pages(&hook(id, "dead"), |path| {
                let page = server.get::<DeadLetters>(path)?;
                Ok((page.dead, page.next.map(|place| place.to_string())))
            }),
        }
    }

    /// Sends again what could not be told, or what stands between two places; how much that is.
    pub fn replay(&self, id: &str, range: Option<(u64, u64)>) -> Result<Replayed> {
        match self {
            Here(shelf) => Ok(listed::replayed(Hooks::new(shelf.clone()).replay(id, range, wall_clock())?)),
            There(server) => {
                let (from, to) = (range.map(|range| range.0), range.map(|range| range.1));
                server.post(&hook(id, "replay"), &ReplayRequest { from, to })
            }
        }
    }
}

/// The queues of the folder.
pub fn here(place: &Place, writes: bool) -> Result<Shelf> {
    place.there_are_runs()?;
    let Home { tenant, workspace } = Home::local();
    let dir = place.folder.dir();
    let ledger = if writes { sqlite::open_ledger(dir) } else { sqlite::open_ledger_reader(dir) };
    Ok(Shelf::new(Box::new(ledger?), Space { tenant, workspace }))
}

/// The newest lines of the trail.
pub fn trail(place: &Place, since: Time, limit: usize) -> Result<Vec<AuditLine>> {
    if let Some(remote) = Remote::of(place.config())? {
        let path = format!("/api/v1/audit?since={since}&limit={limit}");
        return Ok(remote.asker()?.get::<Audit>(&path)?.lines);
    }
    Ok(audit::read(place.folder.dir(), since, limit)?.into_iter().map(listed::audit_line).collect())
}

/// All of a list that comes in pages.
fn pages<T>(path: &str, mut page: impl FnMut(&str) -> Result<(Vec<T>, Option<String>)>) -> Result<Vec<T>> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let (part, next) = page(&format!("{path}?limit={PAGE}{after}"))?;
        all.extend(part);
        match next {
            Some(next) => after = format!("&after={}", quoted(&next)),
            None => return Ok(all),
        }
    }
}

fn read_there(server: &Asker, namespace: &Name, from: &From, limit: usize) -> Result<Vec<DomainEventAt>> {
    let (mut all, mut from) = (Vec::new(), from.clone());
    while all.len() < limit {
        let asked = match &from {
            From::Place(after) => format!("after={after}"),
            From::Consumer(consumer) => format!("consumer={}", quoted(consumer)),
        };
        let path = format!("{}?{asked}&limit={}", queue(namespace), (limit - all.len()).min(PAGE));
        let page: DomainEvents = server.get(&path)?;
        all.extend(page.events);
        match page.next {
            Some(next) => from = From::Place(next),
            None => break,
        }
    }
    Ok(all)
}

fn queue(namespace: &Name) -> String {
    format!("/api/v1/domain/{}", quoted(namespace.as_str()))
}

/// The address of something that has a name, and of an act on it.
pub fn named(noun: &str, name: &str, act: &str) -> String {
    let path = format!("/api/v1/{noun}/{}", quoted(name));
    if act.is_empty() { path } else { format!("{path}/{act}") }
}

fn hook(id: &str, act: &str) -> String {
    named("webhooks", id, act)
}

/// A text as one part of an address.
pub fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn all_pages_of_a_list_are_asked_for_and_each_begins_behind_the_one_before() {
        let asked = RefCell::new(Vec::new());
        let all = pages("/list", |path| {
            asked.borrow_mut().push(path.to_owned());
            Ok(if path.contains("after") { (vec![3], None) } else { (vec![1, 2], Some("1.b c".to_owned())) })
        });
        assert_eq!(all.unwrap(), [1, 2, 3]);
        assert_eq!(*asked.borrow(), ["/list?limit=1000", "/list?limit=1000&after=1.b%20c"]);
    }

    #[test]
    fn a_part_of_an_address_stays_one_part() {
        for (text, expected) in [("shop", "shop"), ("shop/eu", "shop%2Feu"), ("a b?c#d", "a%20b%3Fc%23d"), ("..", "..")]
        {
            assert_eq!(quoted(text), expected);
        }
    }
}
