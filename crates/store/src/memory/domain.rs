//! Queues of domain events in memory.

use super::ledger::MemoryLedger;
use crate::domain::{Consumer, Document, Domain, Fresh, Namespace, Queued, Space, Span};
use crate::ledger::Position;
use edgewise_core::Result;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// What one space has.
#[derive(Debug, Default)]
pub(super) struct Queues {
    published: BTreeMap<Space, Position>,
    /// All events ever, or the hole one left; its place is its index plus one.
    events: Vec<Option<(Space, Fresh)>>,
    consumers: BTreeMap<(Space, Name, String), (u64, Time)>,
    kept: BTreeMap<(Space, Document, String), String>,
}

impl Queues {
    fn of<'a>(&'a self, space: &'a Space) -> impl Iterator<Item = (u64, &'a Fresh)> {
        let places = (1..).zip(&self.events);
        places.filter_map(move |(place, event)| event.as_ref().filter(|e| e.0 == *space).map(|e| (place, &e.1)))
    }

    fn acknowledged_by_all(&self, space: &Space, namespace: &Name) -> u64 {
        let of = self.consumers.iter().filter(|((s, n, _), _)| s == space && n == namespace);
        of.map(|(_, (place, _))| *place).min().unwrap_or(u64::MAX)
    }
}

impl Domain for MemoryLedger {
    fn published(&mut self, space: &Space) -> Result<Option<Position>> {
        Ok(self.domain().published.get(space).copied())
    }

    fn publish(&mut self, space: &Space, events: &[Fresh], span: Span) -> Result<Option<usize>> {
        let mut domain = self.domain();
        if domain.published.get(space).copied() != span.after {
            return Ok(None);
        }
        let mut known: BTreeSet<String> = domain.of(space).map(|(_, event)| event.id.clone()).collect();
        let mut fresh = 0;
        for event in events.iter().filter(|event| known.insert(event.id.clone())) {
            domain.events.push(Some((space.clone(), event.clone())));
            fresh += 1;
        }
        domain.published.insert(space.clone(), span.upto);
        Ok(Some(fresh))
    }

    fn queued(&mut self, space: &Space, namespace: &Name, after: u64, limit: usize) -> Result<Vec<Queued>> {
        let domain = self.domain();
        let of = domain.of(space).filter(|(place, event)| *place > after && event.namespace == *namespace);
        Ok(of.take(limit).map(|(place, event)| Queued { place, event: event.clone() }).collect())
    }

    fn namespaces(&mut self, space: &Space) -> Result<Vec<Namespace>> {
        let domain = self.domain();
        let mut found: BTreeMap<&Name, Namespace> = BTreeMap::new();
        for (place, event) in domain.of(space) {
            let name = event.namespace.clone();
            let fresh = || Namespace { name, events: 0, first: place, last: place };
            let known = found.entry(&event.namespace).or_insert_with(fresh);
            known.events += 1;
            known.last = place;
        }
        Ok(found.into_values().collect())
    }

    fn consumers(&mut self, space: &Space) -> Result<Vec<Consumer>> {
        let domain = self.domain();
        let of = domain.consumers.iter().filter(|((s, ..), _)| s == space);
        let one = |((_, namespace, name), (place, at)): (&(Space, Name, String), &(u64, Time))| Consumer {
            namespace: namespace.clone(),
            name: name.clone(),
            place: *place,
            at: *at,
        };
        Ok(of.map(one).collect())
    }

    fn acknowledge(&mut self, space: &Space, consumer: &Consumer) -> Result<u64> {
        let mut domain = self.domain();
        let key = (space.clone(), consumer.namespace.clone(), consumer.name.clone());
        let known = domain.consumers.entry(key).or_default();
        *known = (known.0.max(consumer.place), consumer.at);
        Ok(known.0)
    }

    fn forget_consumer(&mut self, space: &Space, namespace: &Name, name: &str) -> Result<()> {
        self.domain().consumers.remove(&(space.clone(), namespace.clone(), name.to_owned()));
        Ok(())
    }

    fn expire_events(&mut self, space: &Space, before: Time, limit: usize) -> Result<usize> {
        let mut domain = self.domain();
        let old = domain.of(space).filter(|(place, event)| {
            event.at < before && *place <= domain.acknowledged_by_all(space, &event.namespace)
        });
        let old: Vec<u64> = old.map(|(place, _)| place).take(limit).collect();
        for place in &old {
            domain.events[*place as usize - 1] = None;
        }
        Ok(old.len())
    }

    fn keep(&mut self, space: &Space, kind: Document, key: &str, body: Option<&str>) -> Result<()> {
        let mut domain = self.domain();
        let key = (space.clone(), kind, key.to_owned());
        match body {
            Some(body) => drop(domain.kept.insert(key, body.to_owned())),
            None => drop(domain.kept.remove(&key)),
        }
        Ok(())
    }

    fn kept(&mut self, space: &Space, kind: Document, prefix: &str, limit: usize) -> Result<Vec<(String, String)>> {
        let domain = self.domain();
        let of = domain.kept.iter().filter(|((s, k, key), _)| s == space && *k == kind && key.starts_with(prefix));
        Ok(of.take(limit).map(|((.., key), body)| (key.clone(), body.clone())).collect())
    }
}
