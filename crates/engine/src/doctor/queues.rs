//! Queues of domain events, examined: what the ledger tells is derived once more and held against what stands in them.
//!
//! Old events are taken away once everybody has acknowledged them, so a queue may begin anywhere; behind its beginning
//! nothing may be missing, stand twice or stand elsewhere. Events of runs that were taken away stay and are not judged.

use super::{Finding, RESTORE};
use crate::publish::Publisher;
use edgewise_core::Result;
use edgewise_core::name::Name;
use edgewise_store::{Domain, Space};
use std::collections::BTreeMap;

/// Events read at once.
const PAGE: usize = 1_000;
/// What to do about a queue that lacks something: its consumers must be told some other way.
const TELL: &str = "whoever reads the queue may have missed it or had it twice: tell them, and report it to us";

/// A queue as it is: the place of each event, and what was found of it so far.
struct Queue {
    places: BTreeMap<String, u64>,
    /// The place of the last event that the ledger told; nothing before the first of them is expected.
    last: Option<u64>,
    missing: u64,
}

/// Looks at all queues of a space.
pub fn queues(mut ledger: Box<dyn Domain>, space: &Space) -> Result<Vec<Finding>> {
    let mut found = cursors(&mut *ledger, space)?;
    let mut queues = BTreeMap::new();
    for namespace in ledger.namespaces(space)? {
        let places = places(&mut *ledger, space, &namespace.name, &mut found)?;
        queues.insert(namespace.name, Queue { places, last: None, missing: 0 });
    }
    Publisher::again(ledger, space.clone(), &mut |event| {
        let Some(queue) = queues.get_mut(&event.namespace) else { return Ok(()) };
        match (queue.places.get(&event.id), queue.last) {
            (None, None) => {}
            (None, Some(_)) => queue.missing += 1,
            (Some(place), Some(last)) if *place < last => {
                let what = format!("{} of {} stands at {place}, but behind {last}", event.id, event.namespace);
                found.push(finding("event_out_of_order", what, TELL));
            }
            (Some(place), _) => queue.last = Some(*place),
        }
        Ok(())
    })?;
    let missing = queues.iter().filter(|(_, queue)| queue.missing > 0);
    found.extend(missing.map(|(name, queue)| {
        finding(
            "events_missing",
            format!("{} events of {name} are in the ledger and not in the queue", queue.missing),
            TELL,
        )
    }));
    Ok(found)
}

/// Nobody has come further than there is something.
fn cursors(ledger: &mut dyn Domain, space: &Space) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    let (tail, published) = (ledger.tail()?, ledger.published(space)?);
    if let Some(published) = published.filter(|published| *published > tail) {
        let what = format!("events are published up to position {}, but the ledger ends at {}", published.0, tail.0);
        found.push(finding("published_beyond_end", what, RESTORE));
    }
    let queues: BTreeMap<Name, u64> = ledger.namespaces(space)?.into_iter().map(|n| (n.name, n.last)).collect();
    for consumer in ledger.consumers(space)? {
        // A queue whose events are all taken away does not say how far it came.
        if let Some(last) = queues.get(&consumer.namespace).filter(|last| consumer.place > **last) {
            let (name, place) = (&consumer.name, consumer.place);
            let what = format!("{name} has acknowledged {} up to {place}, but it ends at {last}", consumer.namespace);
            found.push(finding("consumer_beyond_end", what, TELL));
        }
    }
    Ok(found)
}

/// The place of each event of a queue.
fn places(
    ledger: &mut dyn Domain,
    space: &Space,
    namespace: &Name,
    found: &mut Vec<Finding>,
) -> Result<BTreeMap<String, u64>> {
    let (mut places, mut after) = (BTreeMap::new(), 0);
    loop {
        let page = ledger.queued(space, namespace, after, PAGE)?;
        let Some(last) = page.last().map(|queued| queued.place) else { return Ok(places) };
        for queued in page {
            if let Some(first) = places.insert(queued.event.id.clone(), queued.place) {
                let (id, place) = (queued.event.id, queued.place);
                let what = format!("{id} of {namespace} stands at {first} and again at {place}");
                found.push(finding("event_twice", what, TELL));
            }
        }
        after = last;
    }
}

fn finding(code: &'static str, what: String, next: &'static str) -> Finding {
    Finding { run: None, code, what, next }
}
