//! Queues, webhooks and lines of the trail as programs see them: the same from a route and at the command line.

use crate::audit::Line;
use edgewise_client::wire::{
    AuditLine, ConsumerListed, DeadLetterListed, DomainEventAt, NamespaceListed, Replayed, WebhookListed,
};
use edgewise_core::name::Name;
use edgewise_core::{Error, Result};
use edgewise_engine::facts::rfc3339;
use edgewise_engine::publish::Shelf;
use edgewise_engine::webhook::{DeadLetter, Replay, Shown};
use edgewise_store::Queued;

/// All queues, with whoever reads them.
pub fn namespaces(shelf: &Shelf) -> Result<Vec<NamespaceListed>> {
    let (queues, consumers) = shelf.with(|ledger, space| Ok((ledger.namespaces(space)?, ledger.consumers(space)?)))?;
    let listed = queues.into_iter().map(|queue| {
        let own = consumers.iter().filter(|consumer| consumer.namespace == queue.name);
        let consumers =
            own.map(|one| ConsumerListed { name: one.name.clone(), place: one.place, at: rfc3339(one.at) }).collect();
        let (namespace, events, first, last) = (queue.name.to_string(), queue.events, queue.first, queue.last);
        NamespaceListed { namespace, events, first, last, consumers }
    });
    Ok(listed.collect())
}

/// An event with its place.
pub fn event(queued: &Queued) -> Result<DomainEventAt> {
    let event = serde_json::from_str(&queued.event.body).map_err(|error| {
        let message = format!("the event at {} is damaged: restore a backup", queued.place);
        Error::corrupt("damaged_row", message).with_source(error)
    })?;
    Ok(DomainEventAt { place: queued.place, event })
}

/// A webhook.
pub fn webhook(hook: Shown) -> WebhookListed {
    let names = hook.names.iter().map(Name::to_string).collect();
    let Shown { id, namespace, url, off, place, dead, at, .. } = hook;
    WebhookListed { id, namespace: namespace.to_string(), url, names, off, place, dead, made_at: rfc3339(at) }
}

/// An event that a webhook could not be told.
pub fn dead_letter(letter: DeadLetter) -> DeadLetterListed {
    let DeadLetter { place, id, name, why, at, .. } = letter;
    DeadLetterListed { place, id, name: name.to_string(), why, at: rfc3339(at) }
}

/// What a webhook is sent again.
pub fn replayed(replay: Replay) -> Replayed {
    let Replay { events, next } = replay;
    Replayed { events, next }
}

/// A line of the trail.
pub fn audit_line(line: Line) -> AuditLine {
    let Line { at, who, role, peer, route, path, made, status, code, times } = line;
    let role = role.map(|role| format!("{role:?}").to_lowercase());
    AuditLine { at: at.to_string(), who, role, peer, route, path, made, status, code, times }
}
