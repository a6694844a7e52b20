//! Blocked: what is in the way of an item. Derived, never stored as a status.
//!
//! An item is blocked by its own unsatisfied prerequisites, and by those of every item around it that are outside that
//! item's subtree. So a blocked plan blocks what is in it, and a plan that waits for its own children does not.

use super::table::{Edge, End};
use super::{Blocker, Close, Obstacle, RunGateEnd, Status, When, Work};
use crate::state::{Phase, RunState};

impl Work {
    /// Why a dependency is in the way; `None` if it is satisfied.
    pub(super) fn obstacle(&self, edge: &Edge) -> Option<Obstacle> {
        let when = edge.dependency.when;
        match edge.end {
            End::Nobody => Some(Obstacle::Unresolved),
            End::Item(n) => {
                let item = &self.slot(n).item;
                match (item.status, &item.closed) {
                    (Status::Closed, Some(closed)) => when.unless(closed.how.into()),
                    _ => Some(Obstacle::Open),
                }
            }
            End::Gate(n) => match &self.gates[n as usize].gate.ended {
                Some(ended) => when.unless(if ended.satisfied { Ending::Well } else { Ending::Badly }),
                None => Some(Obstacle::Gate),
            },
            End::Run(n) => self.obstacle_of_run(edge, n),
        }
    }

    /// The run itself, or one of its gates.
    fn obstacle_of_run(&self, edge: &Edge, n: u32) -> Option<Obstacle> {
        let (run, when) = (&self.runs[n as usize], edge.dependency.when);
        match edge.dependency.target.as_task() {
            Some((_, path)) => match run.gates.get(path) {
                Some(end) => when.unless((*end).into()),
                None => Some(Obstacle::Gate),
            },
            None => match run.state {
                Some(state) => when.unless(state.into()),
                None => Some(Obstacle::Run),
            },
        }
    }

    /// Everything in the way of an item, its own first, then what is in the way of the items around it.
    pub fn blockers(&self, id: &str) -> Vec<Blocker> {
        self.number(id).map(|n| self.blockers_of(n)).unwrap_or_default()
    }

    pub(super) fn blockers_of(&self, n: u32) -> Vec<Blocker> {
        let slot = self.slot(n);
        if slot.over() || !slot.blocked() {
            return Vec::new();
        }
        let mut all = Vec::new();
        self.obstacles(n, false, &mut all);
        if slot.around.inherited {
            for above in self.above(n) {
                if self.slot(above).exo > 0 {
                    self.obstacles(above, true, &mut all);
                }
            }
        }
        all
    }

    /// The obstacles of one item in the order of their names; of an item around it those outside its subtree.
    fn obstacles(&self, n: u32, around: bool, all: &mut Vec<Blocker>) {
        let from = all.len();
        for edge in self.slot(n).out.iter().map(|edge| self.edge(*edge)) {
            if edge.counted && (edge.outside || !around) {
                let Some(reason) = self.obstacle(edge) else { continue };
                let through = around.then(|| self.id(n).clone());
                all.push(Blocker { by: edge.dependency.target.clone(), reason, through });
            }
        }
        all[from..].sort();
    }
}

/// How something that was waited for ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Well,
    Badly,
    Otherwise,
}

impl From<Close> for Ending {
    fn from(how: Close) -> Self {
        match how {
            Close::Done => Self::Well,
            Close::Failed => Self::Badly,
            Close::Cancelled => Self::Otherwise,
        }
    }
}

impl From<RunState> for Ending {
    fn from(state: RunState) -> Self {
        match state.phase() {
            Phase::Succeeded => Self::Well,
            Phase::Failed => Self::Badly,
            _ => Self::Otherwise,
        }
    }
}

impl From<RunGateEnd> for Ending {
    fn from(end: RunGateEnd) -> Self {
        match end {
            RunGateEnd::Open => Self::Well,
            RunGateEnd::Rejected => Self::Badly,
            RunGateEnd::Missed => Self::Otherwise,
        }
    }
}

impl When {
    /// In the way for good, unless this end is one that satisfies.
    fn unless(self, ending: Ending) -> Option<Obstacle> {
        let satisfied = match self {
            Self::Any => true,
            Self::Success => ending == Ending::Well,
            Self::Failure => ending == Ending::Badly,
        };
        (!satisfied).then_some(Obstacle::Unsatisfiable)
    }
}
