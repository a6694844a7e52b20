//! Domain events: what the ledger tells the outside world stands in its queues, once and in the ledger's order.
//!
//! Derived here from the witness's own fold; what an engine's publisher has heard, missed or had to begin again does not
//! matter. Whatever the cursor has passed is in a queue already; after the storm nothing is missing.

use super::{Witness, unreadable};
use crate::teller::space;
use crate::violation::{Held, ensure};
use edgewise_core::domain::DomainEvent;
use edgewise_core::name::Name;
use edgewise_store::{Domain, Fresh, Position};
use std::collections::BTreeMap;

/// The queues, and what must be in them.
#[derive(Default)]
pub struct QueueBook {
    /// A handle that never fails; none in storms that tell nothing.
    pub(crate) domain: Option<Box<dyn Domain>>,
    queues: BTreeMap<Name, Queue>,
}

/// One queue.
#[derive(Default)]
struct Queue {
    /// What must be in it, in order, and where in the ledger it came to be.
    told: Vec<(Position, Fresh)>,
    /// How many of these were found there, and the place of the last.
    found: usize,
    place: u64,
}

impl QueueBook {
    /// What a record tells the outside world.
    pub(super) fn tell(&mut self, at: Position, events: Vec<DomainEvent>) {
        let space = space();
        for event in events.into_iter().filter(|event| event.delivery.is_durable()) {
            let body = event.cloud_event(&space.tenant, &space.workspace).to_string();
            let DomainEvent { namespace, id, name, at: when, .. } = event;
            let fresh = Fresh { namespace: namespace.clone(), id, name, at: when, body };
            self.queues.entry(namespace).or_default().told.push((at, fresh));
        }
    }
}

impl Witness {
    /// What is new in the queues is what comes next, and what the cursor has passed is there.
    pub(crate) fn look_at_queues(&mut self) -> Held {
        let QueueBook { domain: Some(domain), queues } = &mut self.queues else { return Ok(()) };
        let space = space();
        let cursor = domain.published(&space).map_err(|e| unreadable(&e))?.unwrap_or_default();
        for (namespace, queue) in queues {
            let new = domain.queued(&space, namespace, queue.place, usize::MAX).map_err(|e| unreadable(&e))?;
            for queued in new {
                let next = queue.told.get(queue.found).map(|(_, event)| event);
                let said = || format!("{:?} is in the queue, where {next:?} is next", queued.event);
                ensure(next == Some(&queued.event), "events_are_queued_once_in_order", said)?;
                (queue.found, queue.place) = (queue.found + 1, queued.place);
                self.cover.count("told", queued.event.name.as_str());
            }
            let passed = queue.told.iter().take_while(|(at, _)| *at <= cursor).count();
            let said = || format!("{} of {namespace} are queued, the cursor has passed {passed}", queue.found);
            ensure(queue.found >= passed, "what_is_published_is_queued", said)?;
        }
        Ok(())
    }

    /// Everything is over: nothing is missing.
    pub(super) fn queues_are_whole(&mut self) -> Held {
        self.look_at_queues()?;
        for (namespace, queue) in self.queues.queues.iter().filter(|_| self.queues.domain.is_some()) {
            let (found, told) = (queue.found, queue.told.len());
            let said = || format!("{found} of {told} events of {namespace} are queued");
            ensure(found == told, "durable_events_are_queued", said)?;
        }
        Ok(())
    }
}
