//! Lineage: a run waits for its sub-runs, so whoever waits for a run waits for the items of its sub-runs too.
//!
//! What run a run is a sub-run of is learned with the first item that one of them makes: before that, nothing in the
//! graph depends on it. It never changes, so the first one to say it is believed.

use super::cycle::Difference;
use super::waits::Node;
use super::{Waiter, Work};
use crate::error::{Error, Result};
use std::collections::BTreeSet;

impl Work {
    /// Refuses a lineage that goes round, or that closes a cycle with what is known.
    pub(super) fn check_runs(&self, waiter: &Waiter) -> Result<()> {
        let mut seen = BTreeSet::from([waiter.run]);
        if let Some(twice) = waiter.within.iter().find(|run| !seen.insert(**run)) {
            return Err(Error::invalid("bad_lineage", format!("run {twice} would be a sub-run of itself")));
        }
        // A run that is not known yet has nobody else around it or below it: it only joins its neighbours.
        let lineage = std::iter::once(&waiter.run).chain(&waiter.within);
        let known: Vec<u32> = lineage.filter_map(|run| self.run_numbers.get(run).copied()).collect();
        let new = known.windows(2).filter(|pair| self.runs[pair[0] as usize].within.is_none());
        let added = new.map(|pair| (Node::run(pair[1]), Node::run(pair[0]))).collect();
        self.check_cycle(&Difference { added, ..Difference::default() })
    }

    /// Notes which runs wait for the run of a waiter; gives that run's number.
    pub(super) fn link_runs(&mut self, waiter: &Waiter) -> u32 {
        for (inner, outer) in waiter.pairs() {
            let (inner, outer) = (self.run_number(inner), self.run_number(outer));
            if self.runs[inner as usize].within.is_some() {
                continue;
            }
            self.run_mut(inner).within = Some(outer);
            self.run_mut(outer).below.push(inner);
            self.arrange(&[(Node::run(outer), Node::run(inner))]);
            self.lend(Node::run(outer), Node::run(inner));
        }
        self.run_number(waiter.run)
    }
}
