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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{World, name};
    use edgewise_core::time::Time;
    use edgewise_store::{Domain, Span};

    fn event(id: &str) -> Fresh {
        Fresh { namespace: name("ops"), id: id.into(), name: name("run.ended"), at: Time(1), body: "{}".into() }
    }

    /// Two events are to be told, and some are in the queue.
    fn check(queued: &[&str], so_far: Result<(), &str>, in_the_end: Result<(), &str>) {
        let mut world = World::new();
        let told = [(Position(1), event("a")), (Position(2), event("b"))].into();
        let queue = Queue { told, found: 0, place: 0 };
        let domain: Box<dyn Domain> = Box::new(world.ledger.clone());
        world.witness.queues = QueueBook { domain: Some(domain), queues: [(name("ops"), queue)].into() };
        let queued: Vec<Fresh> = queued.iter().map(|id| event(id)).collect();
        world.ledger.publish(&space(), &queued, Span { after: None, upto: Position(0) }).unwrap();
        let rule = |held: Held| held.map_err(|broken| broken.invariant);
        assert_eq!(rule(world.witness.look_at_queues()), so_far.map_err(str::to_owned), "{queued:?}");
        assert_eq!(rule(world.witness.queues_are_whole()), in_the_end.map_err(str::to_owned), "{queued:?}");
    }

    #[test]
    fn events_that_are_queued_in_another_order_or_not_at_all_are_told() {
        check(&["a", "b"], Ok(()), Ok(()));
        check(&["a"], Ok(()), Err("durable_events_are_queued"));
        let order = Err("events_are_queued_once_in_order");
        check(&["b", "a"], order, order);
        check(&["a", "b", "c"], order, order);
    }
}
