//! Queues behind a faulty ledger. Nothing is decided on them, so they fail with the ledger's own operations: a
//! publication like an append, a look like a read.

use super::ledger::write;
use super::{Fault, FaultyLedger, Op, error};
use crate::domain::{Consumer, Document, Domain, Fresh, Namespace, Queued, Space, Span};
use crate::ledger::Position;
use edgewise_core::Result;
use edgewise_core::name::Name;
use edgewise_core::time::Time;

impl<L: Domain> FaultyLedger<L> {
    fn changing<T>(&mut self, work: impl FnOnce(&mut L) -> Result<T>) -> Result<T> {
        match self.faults.next(Op::Publish) {
            None => work(&mut self.inner),
            Some(Fault::Conflict) => Err(error(Fault::Refused, Op::Publish)),
            Some(fault) => write(fault, Op::Publish, || work(&mut self.inner)),
        }
    }

    fn looking<T>(&mut self, work: impl FnOnce(&mut L) -> Result<T>) -> Result<T> {
        self.read_or_fail(Op::Queued, work)
    }
}

impl<L: Domain> Domain for FaultyLedger<L> {
    fn published(&mut self, space: &Space) -> Result<Option<Position>> {
        self.looking(|inner| inner.published(space))
    }

    fn publish(&mut self, space: &Space, events: &[Fresh], span: Span) -> Result<Option<usize>> {
        self.changing(|inner| inner.publish(space, events, span))
    }

    fn queued(&mut self, space: &Space, namespace: &Name, after: u64, limit: usize) -> Result<Vec<Queued>> {
        self.looking(|inner| inner.queued(space, namespace, after, limit))
    }

    fn namespaces(&mut self, space: &Space) -> Result<Vec<Namespace>> {
        self.looking(|inner| inner.namespaces(space))
    }

    fn consumers(&mut self, space: &Space) -> Result<Vec<Consumer>> {
        self.looking(|inner| inner.consumers(space))
    }

    fn acknowledge(&mut self, space: &Space, consumer: &Consumer) -> Result<u64> {
        self.changing(|inner| inner.acknowledge(space, consumer))
    }

    fn forget_consumer(&mut self, space: &Space, namespace: &Name, name: &str) -> Result<()> {
        self.changing(|inner| inner.forget_consumer(space, namespace, name))
    }

    fn expire_events(&mut self, space: &Space, before: Time, limit: usize) -> Result<usize> {
        self.changing(|inner| inner.expire_events(space, before, limit))
    }

    fn keep(&mut self, space: &Space, kind: Document, key: &str, body: Option<&str>) -> Result<()> {
        self.changing(|inner| inner.keep(space, kind, key, body))
    }

    fn kept(&mut self, space: &Space, kind: Document, prefix: &str, limit: usize) -> Result<Vec<(String, String)>> {
        self.looking(|inner| inner.kept(space, kind, prefix, limit))
    }
}
