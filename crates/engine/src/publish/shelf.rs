//! The shelf: queues of domain events, for whoever reads and acknowledges them beside the publisher.

use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_store::{Consumer, Domain, Namespace, Queued, Space};
use std::sync::{Arc, Mutex, PoisonError};

/// Queues that many may ask at once. Cloning gives another handle.
#[derive(Clone)]
pub struct Shelf {
    ledger: Arc<Mutex<Box<dyn Domain>>>,
    space: Space,
}

/// The next events for a consumer, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The events, in order.
    pub events: Vec<Queued>,
    /// Everything up to here is dealt with.
    pub acknowledged: u64,
}

impl Shelf {
    /// The queues of a space.
    pub fn new(ledger: Box<dyn Domain>, space: Space) -> Self {
        Self { ledger: Arc::new(Mutex::new(ledger)), space }
    }

    /// Does something with the queues. Nothing is half done under the lock, so a panic elsewhere breaks nothing.
    pub fn with<T>(&self, work: impl FnOnce(&mut dyn Domain, &Space) -> Result<T>) -> Result<T> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut **ledger, &self.space)
    }

    /// The same for whoever must not block.
    pub async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Domain, &Space) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shelf = self.clone();
        let done = tokio::task::spawn_blocking(move || shelf.with(work)).await;
        done.unwrap_or_else(|e| Err(Error::bug("queue_panicked", "a look at the queues panicked").with_source(e)))
    }

    /// All queues.
    pub fn namespaces(&self) -> Result<Vec<Namespace>> {
        self.with(|ledger, space| ledger.namespaces(space))
    }

    /// The events of a queue after a place.
    pub fn read(&self, namespace: &Name, after: u64, limit: usize) -> Result<Vec<Queued>> {
        self.with(|ledger, space| ledger.queued(space, namespace, after, limit))
    }

    /// The next events for a consumer. Nothing is acknowledged by reading: until it is, the same ones come again.
    pub fn next(&self, namespace: &Name, consumer: &str, limit: usize) -> Result<Batch> {
        self.with(|ledger, space| {
            let acknowledged = place_of(ledger, space, namespace, consumer)?;
            Ok(Batch { events: ledger.queued(space, namespace, acknowledged, limit)?, acknowledged })
        })
    }

    /// A consumer has dealt with everything up to a place. A place that the queue has not come to is refused: what is
    /// put in later would be lost to it.
    pub fn acknowledge(&self, namespace: &Name, consumer: &str, place: u64, at: Time) -> Result<u64> {
        self.with(|ledger, space| {
            let known = place_of(ledger, space, namespace, consumer)?;
            let last = ledger.namespaces(space)?.iter().find(|n| n.name == *namespace).map_or(0, |n| n.last);
            if place > last.max(known) {
                let message = format!(
                    "{namespace} has come to {last}, so {place} cannot be acknowledged: use a place that was read"
                );
                return Err(Error::invalid("not_there_yet", message));
            }
            ledger.acknowledge(space, &Consumer { namespace: namespace.clone(), name: consumer.to_owned(), place, at })
        })
    }
}

impl Shelf {
    /// Forgets a consumer that is gone: the queue waits for it no more. Should it come back, it begins anew.
    pub fn forget(&self, namespace: &Name, consumer: &str) -> Result<()> {
        self.with(|ledger, space| {
            let known = ledger.consumers(space)?;
            if !known.iter().any(|known| known.namespace == *namespace && known.name == consumer) {
                let message = format!(
                    "{namespace} has no consumer {consumer}: `edgewise domain list` says who reads which queue"
                );
                return Err(Error::not_found("consumer_not_found", message));
            }
            ledger.forget_consumer(space, namespace, consumer)
        })
    }
}

/// Where a consumer is; 0 for one that never acknowledged anything.
pub(crate) fn place_of(ledger: &mut dyn Domain, space: &Space, namespace: &Name, consumer: &str) -> Result<u64> {
    let all = ledger.consumers(space)?;
    Ok(all.iter().find(|c| c.namespace == *namespace && c.name == consumer).map_or(0, |c| c.place))
}
