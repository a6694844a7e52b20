//! Lanes: ready tasks and waiting claims, by queue and action. Where one meets the other, a lease is made.
//!
//! Entries are hints: a task is taken out of its lane only to be looked at, and the run itself says whether
//! it is still ready. So an entry too many costs a look, never a wrong lease.
//!
//! A task whose key is full is set aside under that key when its turn comes, and nobody looks at it again until
//! somebody with the key leaves: a full key costs others nothing, however much waits for it.

mod aside;
mod line;

pub(crate) use line::{At, Line, Waiting};

use crate::queues::QueueNo;
use crate::turns::Bound;
use aside::Aside;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_store::quick::QuickMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Names a waiting claim.
pub(crate) type ClaimNo = u64;
/// Names a lane.
pub(crate) type LaneNo = u32;

/// A hint that a task waits for a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    pub run: RunId,
    pub task: TaskIx,
    pub generation: u16,
    pub attempt: u16,
}

/// A task that somebody waits for, and who.
pub(crate) struct Match {
    pub lane: LaneNo,
    pub waiting: Waiting,
    pub claim: ClaimNo,
    /// Whether it was set aside before.
    pub woken: bool,
}

/// What a waiting claim takes.
struct Wants {
    actions: Vec<u32>,
    /// All queues if absent.
    queues: Option<Vec<QueueNo>>,
    lanes: Vec<LaneNo>,
}

struct Lane {
    queue: QueueNo,
    line: Line,
    /// Tasks that had their turn, were set aside, and may try again: before all others of their priority.
    woken: Line,
    claims: VecDeque<ClaimNo>,
    /// When it was last taken from, so that lanes take turns.
    served: u64,
}

#[derive(Default)]
pub(crate) struct Lanes {
    actions: QuickMap<Arc<str>, u32>,
    numbers: QuickMap<(QueueNo, u32), LaneNo>,
    lanes: Vec<Lane>,
    /// Lanes with tasks and claims.
    busy: BTreeSet<LaneNo>,
    /// Claims that still wait.
    waiting: BTreeMap<ClaimNo, Wants>,
    aside: Aside,
    served: u64,
    /// Whether a task with a key was ever offered here.
    pub bounded: bool,
    /// Bounds that many tasks may share, each kept once.
    shared: QuickMap<Arc<str>, Arc<Bound>>,
}

/// So many bounds are remembered for sharing.
const SHARED: usize = 100_000;

impl Lanes {
    fn action(&mut self, action: &str) -> u32 {
        if let Some(number) = self.actions.get(action) {
            return *number;
        }
        let number = self.actions.len() as u32;
        self.actions.insert(action.into(), number);
        number
    }

    /// The lane of a queue and an action. A new one is told to whoever waits for such tasks already.
    fn lane(&mut self, queue: QueueNo, action: u32) -> LaneNo {
        if let Some(lane) = self.numbers.get(&(queue, action)) {
            return *lane;
        }
        let number = self.lanes.len() as LaneNo;
        self.numbers.insert((queue, action), number);
        let mut claims = VecDeque::new();
        for (claim, wants) in &mut self.waiting {
            let takes = wants.queues.as_ref().is_none_or(|queues| queues.contains(&queue));
            if takes && wants.actions.contains(&action) {
                wants.lanes.push(number);
                claims.push_back(*claim);
            }
        }
        self.lanes.push(Lane { queue, line: Line::default(), woken: Line::default(), claims, served: 0 });
        number
    }

    fn note(&mut self, lane: LaneNo) {
        let of = &self.lanes[lane as usize];
        if of.claims.is_empty() || of.top().is_none() {
            self.busy.remove(&lane);
        } else {
            self.busy.insert(lane);
        }
    }

    /// The same bound as other tasks have, if they do.
    pub fn shared(&mut self, bound: Bound) -> Arc<Bound> {
        self.bounded = true;
        if let Some(known) = self.shared.get(&bound.key)
            && **known == bound
        {
            return Arc::clone(known);
        }
        if self.shared.len() >= SHARED {
            self.shared.clear();
        }
        let bound = Arc::new(bound);
        self.shared.insert(Arc::clone(&bound.key), Arc::clone(&bound));
        bound
    }

    /// How many tasks wait, but for those that are set aside.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(|lane| lane.line.len() + lane.woken.len()).sum()
    }

    /// A task waits for a worker. One that stands here already keeps its place, as the attempt that it is now: were it
    /// to stand in two, the other place would be that of an attempt which is over, and hide the next one.
    pub fn offer(&mut self, action: &str, queue: QueueNo, waiting: Waiting) {
        let action = self.action(action);
        let lane = self.lane(queue, action);
        let Offer { run, task, .. } = waiting.offer;
        if let Some(bound) = &waiting.bound
            && self.aside.has(bound, lane, waiting.offer)
        {
            return self.aside.put(lane, waiting, At::Back);
        }
        let of = &mut self.lanes[lane as usize];
        let woken = waiting.bound.is_some() && of.woken.has(run, task);
        let line = if woken { &mut of.woken } else { &mut of.line };
        line.put(waiting, At::Back);
        self.note(lane);
    }

    /// Whether a task stands where it should: in its lane, or set aside. Asked only of lanes whose claims wait for
    /// nothing, because what is in a lane is worked off.
    pub fn is_missing(&self, action: &str, queue: QueueNo, bound: Option<&Bound>, offer: Offer) -> bool {
        let lane = self.actions.get(action).and_then(|action| self.numbers.get(&(queue, *action)));
        let Some(lane) = lane else { return true };
        let of = &self.lanes[*lane as usize];
        let idle = !of.claims.is_empty() && of.top().is_none();
        idle && !bound.is_some_and(|bound| self.aside.has(bound, *lane, offer))
    }

    /// How many tasks of a run are set aside.
    pub fn aside_of(&self, run: RunId) -> u32 {
        self.aside.of_run(run)
    }

    /// A task waits no longer, but was not taken either.
    pub fn withdraw(&mut self, action: &str, queue: QueueNo, bound: Option<&Bound>, offer: Offer) {
        let lane = self.actions.get(action).and_then(|action| self.numbers.get(&(queue, *action)).copied());
        let Some(lane) = lane else { return };
        let of = &mut self.lanes[lane as usize];
        of.line.take(offer.run, offer.task);
        let woken = of.woken.take(offer.run, offer.task);
        self.note(lane);
        if let Some(bound) = bound {
            self.aside.take(bound, lane, offer);
            if woken {
                self.rouse(&bound.key, 1);
            }
        }
    }

    /// Takes one offer out of its lane.
    pub fn take(&mut self, lane: LaneNo, offer: Offer) {
        self.lanes[lane as usize].line.take(offer.run, offer.task);
        self.note(lane);
    }

    /// Takes the offers of runs away: whoever loads them again offers anew, and nothing twice.
    pub fn forget(&mut self, runs: &[RunId]) {
        let mut wakes: Vec<Arc<Bound>> = Vec::new();
        for run in runs {
            for lane in 0..self.lanes.len() as LaneNo {
                let of = &mut self.lanes[lane as usize];
                of.line.forget(*run);
                wakes.extend(of.woken.forget(*run));
                self.note(lane);
            }
        }
        self.aside.forget(runs);
        // Whoever was woken in vain passes it on.
        wakes.iter().for_each(|bound| self.rouse(&bound.key, 1));
    }

    /// A worker waits for tasks.
    pub fn wait<'a>(&mut self, claim: ClaimNo, actions: impl Iterator<Item = &'a str>, queues: Option<Vec<QueueNo>>) {
        let actions: Vec<u32> = actions.map(|action| self.action(action)).collect();
        let mut lanes: BTreeSet<LaneNo> = BTreeSet::new();
        for action in &actions {
            for queue in queues.as_deref().unwrap_or(&[QueueNo::DEFAULT]) {
                lanes.insert(self.lane(*queue, *action));
            }
        }
        if queues.is_none() {
            lanes.extend(self.numbers.iter().filter(|((_, a), _)| actions.contains(a)).map(|(_, lane)| *lane));
        }
        for lane in &lanes {
            self.lanes[*lane as usize].claims.push_back(claim);
            self.note(*lane);
        }
        self.waiting.insert(claim, Wants { actions, queues, lanes: lanes.into_iter().collect() });
    }

    /// A claim is answered, or given up.
    pub fn leave(&mut self, claim: ClaimNo) {
        let Some(wants) = self.waiting.remove(&claim) else { return };
        for lane in wants.lanes {
            let claims = &mut self.lanes[lane as usize].claims;
            // The oldest claim is at the front, and that is the one that was served.
            if claims.front() == Some(&claim) {
                claims.pop_front();
            } else {
                claims.retain(|c| *c != claim);
            }
            self.note(lane);
        }
    }

    /// The next ready task of an open queue that somebody waits for, and who. Lanes of the same priority take turns.
    pub fn next(&mut self, open: impl Fn(QueueNo) -> bool) -> Option<Match> {
        let at = |lane: &LaneNo| &self.lanes[*lane as usize];
        let ready = self.busy.iter().filter(|lane| open(at(lane).queue));
        let lane = *ready.max_by_key(|lane| (at(lane).top(), Reverse((at(lane).served, **lane))))?;
        let of = &mut self.lanes[lane as usize];
        self.served += 1;
        of.served = self.served;
        let claim = *of.claims.front()?;
        let woken = of.woken.top() >= of.line.top();
        let waiting = if woken { of.woken.pop()? } else { of.line.pop()? };
        self.note(lane);
        Some(Match { lane, waiting, claim, woken })
    }

    /// A task that was taken out for a claim that is gone goes where it was.
    pub fn put_back(&mut self, found: Match) {
        let of = &mut self.lanes[found.lane as usize];
        let line = if found.woken { &mut of.woken } else { &mut of.line };
        line.put(found.waiting, At::Front);
        self.note(found.lane);
    }

    /// Which queue a lane belongs to.
    pub fn queue_of(&self, lane: LaneNo) -> QueueNo {
        self.lanes[lane as usize].queue
    }

    /// Sets a task aside until somebody with its key leaves. One that was woken for nothing keeps its place.
    pub fn set_aside(&mut self, found: Match) {
        let at = if found.woken { At::Front } else { At::Back };
        self.aside.put(found.lane, found.waiting, at);
    }

    /// Lets so many tasks of each lane that were set aside under a key try again.
    pub fn rouse(&mut self, key: &str, count: u32) {
        for (lane, waiting) in self.aside.wake(key, count) {
            self.lanes[lane as usize].woken.put(waiting, At::Back);
            self.note(lane);
        }
    }

    /// Whether tasks are set aside under a key.
    pub fn is_aside(&self, key: &str) -> bool {
        self.aside.any(key)
    }

    /// The keys under which tasks are set aside.
    pub fn keys_aside(&self) -> Vec<Arc<str>> {
        self.aside.keys()
    }

    /// The queues that have tasks which somebody waits for.
    pub fn busy_queues(&self) -> impl Iterator<Item = QueueNo> + '_ {
        self.busy.iter().map(|lane| self.lanes[*lane as usize].queue)
    }
}

impl Lane {
    fn top(&self) -> Option<i16> {
        self.line.top().max(self.woken.top())
    }
}

#[cfg(test)]
mod tests;
