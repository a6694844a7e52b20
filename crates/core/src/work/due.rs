//! What happens by itself when time passes: timer gates open, claims run out, ephemeral instances go away.

use super::table::Edge;
use super::{GateSatisfied, ItemAct, ItemReleased, Target, Work, WorkEvent};
use crate::id::RunId;
use crate::name::Name;
use crate::time::Time;
use std::collections::BTreeSet;

impl Work {
    /// The earliest instant at which something happens by itself.
    pub fn due(&self) -> Option<Time> {
        [&self.timers, &self.claims, &self.ephemeral].into_iter().filter_map(|set| set.first()).map(|(at, _)| *at).min()
    }

    /// Whether a gate that tasks of runs wait for opens by itself.
    pub fn opens_for_tasks(&self) -> bool {
        self.timers.iter().any(|(_, n)| !self.gates[*n as usize].gate.tasks.is_empty())
    }

    /// What has happened by itself up to an instant, as events that have yet to be written: one after another, since
    /// an instance that goes takes along what is below it.
    pub fn overdue(&self, now: Time) -> Vec<WorkEvent> {
        let mut events = Vec::new();
        for (_, n) in self.timers.iter().take_while(|(at, _)| *at <= now) {
            let gate = self.gates[*n as usize].gate.id.clone();
            events.push(WorkEvent::GateSatisfied(GateSatisfied { gate, by: None, why: None, evidence: None }));
        }
        for (_, n) in self.claims.iter().take_while(|(at, _)| *at <= now) {
            let item = &self.slot(*n).item;
            if let Some(claim) = &item.claim {
                events.push(WorkEvent::ItemReleased(ItemReleased {
                    id: item.id.clone(),
                    token: claim.token,
                    by: None,
                }));
            }
        }
        let mut gone = std::collections::BTreeSet::new();
        for (_, n) in self.ephemeral.iter().take_while(|(at, _)| *at <= now) {
            // Children first, so that none of them is moved up on the way.
            for below in self.subtree(*n).into_iter().rev() {
                if gone.insert(below) {
                    events.push(WorkEvent::ItemDeleted(ItemAct {
                        id: self.id(below).clone(),
                        by: by_itself(),
                        why: Some("its time is over".into()),
                    }));
                }
            }
        }
        events
    }

    /// Whether something waits for a run or a gate of it, or did until that ended.
    pub fn is_awaited(&self, run: RunId) -> bool {
        self.waits_for(run).next().is_some()
    }

    /// Runs that are waited for, or gates of which are, and of which that is not known to have ended.
    pub fn awaited_runs(&self) -> impl Iterator<Item = RunId> {
        self.run_numbers.iter().filter_map(|(run, n)| {
            let slot = &self.runs[*n as usize];
            let untold = |edge: &Edge| match edge.dependency.target.as_task() {
                Some((_, path)) => !slot.gates.contains_key(path),
                None => slot.state.is_none(),
            };
            let mut edges = slot.into.iter().map(|edge| self.edge(*edge));
            edges.any(|edge| edge.waits() && untold(edge)).then_some(*run)
        })
    }

    /// Whether something waits for a run itself, or did until it ended.
    pub fn is_awaited_whole(&self, run: RunId) -> bool {
        self.waits_for(run).any(|target| target.as_run().is_some())
    }

    /// The paths of the gates of a run that something waits for, or did until they ended.
    pub fn awaited_gates(&self, run: RunId) -> BTreeSet<&str> {
        self.waits_for(run).filter_map(|target| Some(target.as_task()?.1)).collect()
    }

    /// What of a run is waited for.
    fn waits_for(&self, run: RunId) -> impl Iterator<Item = &Target> {
        let slot = self.run_numbers.get(&run).map(|n| &self.runs[*n as usize]);
        let edges = slot.into_iter().flat_map(|slot| &slot.into).map(|edge| self.edge(*edge));
        edges.filter(|edge| edge.waits()).map(|edge| &edge.dependency.target)
    }
}

/// Who did what time did.
fn by_itself() -> Name {
    Name::parse("edgewise").expect("a name")
}
