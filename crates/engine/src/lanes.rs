//! Lanes: ready tasks and waiting claims, by action. Where one meets the other, a lease is made.
//!
//! Entries are hints: a task is taken out of its lane only to be looked at, and the run itself says whether
//! it is still ready. So an entry too many costs a look, never a wrong lease.

use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Names a waiting claim.
pub(crate) type ClaimNo = u64;

/// A hint that a task waits for a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    pub run: RunId,
    pub task: TaskIx,
    pub generation: u16,
    pub attempt: u16,
}

#[derive(Default)]
struct Lane {
    offers: VecDeque<Offer>,
    claims: VecDeque<ClaimNo>,
}

#[derive(Default)]
pub(crate) struct Lanes {
    numbers: HashMap<Arc<str>, usize>,
    lanes: Vec<Lane>,
    /// Claims that still wait, with the lanes they wait in.
    waiting: BTreeMap<ClaimNo, Arc<[usize]>>,
}

impl Lanes {
    fn number(&mut self, action: &str) -> usize {
        if let Some(number) = self.numbers.get(action) {
            return *number;
        }
        self.numbers.insert(action.into(), self.lanes.len());
        self.lanes.push(Lane::default());
        self.lanes.len() - 1
    }

    /// A task waits for a worker.
    pub fn offer(&mut self, action: &str, offer: Offer) {
        let lane = self.number(action);
        self.lanes[lane].offers.push_back(offer);
    }

    /// Takes the offers of runs away: whoever loads them again offers anew, and nothing twice.
    pub fn forget(&mut self, runs: &[RunId]) {
        let gone: HashSet<&RunId> = runs.iter().collect();
        for lane in &mut self.lanes {
            lane.offers.retain(|offer| !gone.contains(&offer.run));
        }
    }

    /// A worker waits for tasks.
    pub fn wait<'a>(&mut self, claim: ClaimNo, actions: impl Iterator<Item = &'a str>) {
        let lanes: Arc<[usize]> = actions.map(|a| self.number(a)).collect();
        for lane in lanes.iter() {
            self.lanes[*lane].claims.push_back(claim);
        }
        self.waiting.insert(claim, lanes);
    }

    /// A claim is answered, or given up.
    pub fn leave(&mut self, claim: ClaimNo) {
        let Some(lanes) = self.waiting.remove(&claim) else { return };
        for lane in lanes.iter() {
            let claims = &mut self.lanes[*lane].claims;
            // The oldest claim is at the front, and that is the one that was served.
            if claims.front() == Some(&claim) {
                claims.pop_front();
            } else {
                claims.retain(|c| *c != claim);
            }
        }
    }

    /// The next ready task that somebody waits for, and who.
    pub fn next(&mut self) -> Option<(Offer, ClaimNo)> {
        let lane = self.lanes.iter_mut().find(|l| !l.offers.is_empty() && !l.claims.is_empty())?;
        let claim = *lane.claims.front()?;
        Some((lane.offers.pop_front()?, claim))
    }

    /// The actions that workers wait for and nobody offers.
    pub fn waiting_in_vain(&self) -> impl Iterator<Item = &str> {
        let idle = |lane: &Lane| lane.offers.is_empty() && !lane.claims.is_empty();
        self.numbers.iter().filter(move |(_, number)| idle(&self.lanes[**number])).map(|(action, _)| &**action)
    }

    /// Whether any task and any claim could meet.
    pub fn could_match(&self) -> bool {
        self.lanes.iter().any(|l| !l.offers.is_empty() && !l.claims.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(run: u128, task: u32) -> Offer {
        Offer { run: RunId(run), task: TaskIx(task), generation: 1, attempt: 1 }
    }

    #[test]
    fn a_run_that_is_offered_anew_after_every_failure_takes_no_more_room() {
        let mut lanes = Lanes::default();
        lanes.offer("a", offer(2, 0));
        for _ in 0..100 {
            lanes.forget(&[RunId(1)]);
            (0..10).for_each(|task| lanes.offer("a", offer(1, task)));
        }
        assert_eq!(lanes.lanes[0].offers.len(), 11, "each task once, and the other run's too");
    }

    #[test]
    fn a_claim_that_left_is_nowhere_even_if_it_named_a_lane_twice() {
        let mut lanes = Lanes::default();
        lanes.wait(1, ["a", "a", "b"].into_iter());
        lanes.wait(2, ["a"].into_iter());
        lanes.leave(1);
        lanes.offer("a", offer(1, 0));
        lanes.offer("b", offer(1, 1));
        assert_eq!(lanes.next(), Some((offer(1, 0), 2)));
        assert_eq!(lanes.next(), None);
    }
}
