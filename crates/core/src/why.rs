//! Why a run or a task is where it is: the reasons, down to whoever or whatever can move each of them.
//!
//! Nothing is decided here. The fold has decided; this reads its states, edges and timers back, so what is
//! said can never differ from what happens. Each task is explained once and named wherever it matters
//! again, so a diamond is no copy and a chain of a million tasks is a list, not a recursion.

mod because;
mod hold;
mod learn;
mod moves;
mod needs;
mod words;

pub use hold::{Closed, Hold, Holder, Shared};
pub use moves::Mover;
pub use words::Clock;

use crate::event::{Failure, TaskIx};
use crate::gate::OnDeadline;
use crate::id::RunId;
use crate::name::Name;
use crate::plan::{Accepts, Join, Resolution};
use crate::run::{Asked, End, Run};
use crate::state::{Phase, RunState, TaskState};
use crate::time::Time;
use crate::work::ItemId;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// More people may approve from an instant on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Escalates {
    /// From when on.
    #[serde(serialize_with = "instant")]
    pub at: Time,
    /// Who.
    pub to: Vec<Name>,
    /// When they were told, if they were.
    #[serde(serialize_with = "instant", skip_serializing_if = "is_never")]
    pub told: Time,
}

/// Why a run is where it is, or one task of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// Which run.
    pub run: RunId,
    /// Where the run is.
    pub state: RunState,
    /// What people see of that.
    pub phase: Phase,
    /// Whether it is paused.
    pub paused: bool,
    /// Who paused it, once the ledger was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<Act>,
    /// Who froze it, if somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen_by: Option<Act>,
    /// Who ended it, if somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<Act>,
    /// The failure that a program ended with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Who or what can move it, where no task is waited for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved_by: Vec<Mover>,
    /// The tasks it comes down to, each explained in `causes`.
    pub needs: Vec<Need>,
    /// Each task once, in the order in which a tree of them is read.
    pub causes: Vec<Cause>,
    #[serde(skip)]
    by_task: BTreeMap<TaskIx, usize>,
}

/// A task that matters to another one, or to the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Need {
    /// Which task.
    #[serde(skip)]
    pub task: TaskIx,
    /// Its printed name.
    pub path: String,
    /// What the edge accepts, where there is one and it is not just success.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<Resolution>,
    /// How the edge ended, if it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
}

/// Why one task is where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// Which task.
    #[serde(skip)]
    pub task: TaskIx,
    /// Its printed name.
    pub path: String,
    /// Where it is.
    pub state: TaskState,
    /// What people see of that.
    pub phase: Phase,
    /// The reason.
    #[serde(flatten)]
    pub because: Because,
    /// Who or what can move it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved_by: Vec<Mover>,
    /// The tasks behind the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
}

/// A reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum Because {
    /// Its in-edges do not allow it yet.
    Upstream {
        /// How many in-edges there are.
        edges: u32,
        /// How many must be accepted.
        needed: u32,
        /// How many are.
        accepted: u32,
    },
    /// Its program has not come to it.
    Before,
    /// Its program ended before it came to it.
    NotReached,
    /// Its own condition said no.
    When,
    /// What is inside of it has not ended.
    Inside {
        /// Which round of a loop it is in, which arm it took, or which handler it runs.
        scope: String,
    },
    /// Nobody has taken it.
    Unclaimed {
        /// What a worker must offer.
        action: String,
        /// Whether it may not be taken, because the run is paused.
        paused: bool,
        /// What it shares with others and lets no more begin, once somebody looked there.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        holds: Vec<Hold>,
        /// Since when.
        #[serde(serialize_with = "instant")]
        since: Time,
        /// When it fails if nobody does.
        #[serde(serialize_with = "instant")]
        until: Time,
    },
    /// Somebody works on it.
    AtWork {
        /// Which attempt.
        attempt: u16,
        /// How many it may have.
        max_attempts: u16,
        /// Who does, once the ledger was asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        worker: Option<Box<str>>,
        /// Since when.
        #[serde(serialize_with = "instant")]
        since: Time,
        /// When the attempt is ended.
        #[serde(serialize_with = "instant")]
        until: Time,
    },
    /// An attempt failed, and the next one is not due yet.
    Retry {
        /// The attempt that is waited for.
        attempt: u16,
        /// How many it may have.
        max_attempts: u16,
        /// When it is due.
        #[serde(serialize_with = "instant")]
        until: Time,
        /// How the last one failed.
        failure: Option<Failure>,
    },
    /// The run that does its work has not ended.
    Child {
        /// Which run.
        run: RunId,
        /// Of which flow.
        flow: Name,
        /// Which attempt it is.
        attempt: u16,
        /// How many there may be.
        max_attempts: u16,
        /// Since when.
        #[serde(serialize_with = "instant")]
        since: Time,
        /// When the task goes on without it.
        #[serde(serialize_with = "instant")]
        until: Time,
    },
    /// The item that does its work is not closed.
    Item {
        /// Which item.
        id: ItemId,
        /// What it is about, as far as the flow says.
        title: String,
        /// Whether something is in its way, so that nobody can close it as it stands; once the work graph was asked.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        blocked: bool,
        /// Since when.
        #[serde(serialize_with = "instant")]
        since: Time,
        /// When the task goes on without it.
        #[serde(serialize_with = "instant")]
        until: Time,
    },
    /// A gate waits for an instant.
    Time {
        /// Which.
        #[serde(serialize_with = "instant")]
        until: Time,
    },
    /// A gate waits for people.
    Approval {
        /// How many it takes.
        count: u32,
        /// Who may; anybody if empty.
        from: Vec<Name>,
        /// Who did.
        have: Vec<Name>,
        /// Who else may, and from when on.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        escalates: Vec<Escalates>,
        /// When it ends by itself.
        #[serde(serialize_with = "instant")]
        deadline: Time,
        /// How it ends then.
        on_deadline: OnDeadline,
    },
    /// A gate waits for a call of its address.
    Webhook {
        /// When it ends by itself.
        #[serde(serialize_with = "instant")]
        deadline: Time,
        /// How it ends then.
        on_deadline: OnDeadline,
    },
    /// A gate waits for another system.
    External {
        /// Which.
        system: Name,
        /// What it is called there.
        id: String,
        /// When it ends by itself.
        #[serde(serialize_with = "instant")]
        deadline: Time,
        /// How it ends then.
        on_deadline: OnDeadline,
    },
    /// A gate opens with a gate of the work graph.
    Shared {
        /// Which.
        gate: String,
        /// When it ends by itself.
        #[serde(serialize_with = "instant")]
        deadline: Time,
        /// How it ends then.
        on_deadline: OnDeadline,
    },
    /// Its items have not all ended.
    Items {
        /// How many there are.
        total: u32,
        /// How many have ended.
        done: u32,
        /// How many of these badly.
        failed: u32,
    },
    /// It succeeded.
    Succeeded {
        /// At which attempt.
        attempt: u16,
        /// When.
        #[serde(serialize_with = "instant")]
        at: Time,
    },
    /// An operator dealt with it.
    Resolved {
        /// When.
        #[serde(serialize_with = "instant")]
        at: Time,
    },
    /// It failed for good.
    Failed {
        /// How.
        failure: Failure,
        /// At which attempt; 0 if there was none.
        attempt: u16,
        /// How many it might have had.
        max_attempts: u16,
        /// Whether the flow has an answer to it.
        handled: bool,
        /// Whether what follows waits for an operator to decide.
        held: bool,
    },
    /// Its in-edges decided against it.
    LeftOut {
        /// How the deciding edge ended.
        resolution: Resolution,
    },
    /// Another task failed, and the rest was not wanted any more.
    Stopped,
    /// Somebody said so.
    Told(Act),
    /// The whole run was ended.
    RunEnded(Act),
    /// The ledger says no more.
    Unknown,
}

/// What somebody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Act {
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When.
    #[serde(serialize_with = "instant")]
    pub at: Time,
}

impl From<&Asked> for Act {
    fn from(asked: &Asked) -> Self {
        Self { by: asked.by.clone(), why: asked.why.clone(), at: asked.at }
    }
}

fn is_never(time: &Time) -> bool {
    time.known().is_none()
}

/// An instant as people and programs read it; null for "not at all".
pub(crate) fn instant<S: Serializer>(time: &Time, s: S) -> Result<S::Ok, S::Error> {
    match time.known() {
        Some(time) => s.collect_str(&time),
        None => s.serialize_none(),
    }
}

impl Why {
    /// Why a run is where it is.
    pub fn of_run(run: &Run) -> Self {
        Self::new(run, needs::of_run(run))
    }

    /// Why a task is where it is.
    pub fn of_task(run: &Run, task: TaskIx) -> Self {
        Self::new(run, vec![needs::plain(run, task)])
    }

    fn new(run: &Run, needs: Vec<Need>) -> Self {
        let causes = causes(run, &needs);
        Self {
            run: run.id,
            state: run.state,
            phase: run.state.phase(),
            paused: run.paused,
            paused_by: None,
            frozen_by: run.frozen.as_ref().map(Act::from),
            ended_by: run.cancel.as_ref().or(run.resolved.as_ref()).map(Act::from),
            failure: match &run.end {
                Some(End::Failed(failure)) => Some((**failure).clone()),
                _ => None,
            },
            moved_by: moves::of_run(run),
            needs,
            by_task: causes.iter().enumerate().map(|(at, cause)| (cause.task, at)).collect(),
            causes,
        }
    }

    /// The explanation of a task, if it is among the causes.
    pub fn cause(&self, task: TaskIx) -> Option<&Cause> {
        self.by_task.get(&task).map(|at| &self.causes[*at])
    }
}

/// Depth first, each task where it is first met.
fn causes(run: &Run, needs: &[Need]) -> Vec<Cause> {
    let mut seen = BTreeSet::new();
    let mut stack: Vec<TaskIx> = needs.iter().rev().map(|need| need.task).collect();
    let mut causes = Vec::new();
    while let Some(task) = stack.pop() {
        if !seen.insert(task) {
            continue;
        }
        let cause = Cause::of(run, task);
        stack.extend(cause.needs.iter().rev().map(|need| need.task).filter(|t| !seen.contains(t)));
        causes.push(cause);
    }
    causes
}

impl Cause {
    /// Why a task is where it is, without following what it needs.
    pub fn of(run: &Run, task: TaskIx) -> Self {
        let because = because::of(run, task);
        Self {
            task,
            path: run.path(task),
            state: run.tasks[task.0 as usize].state,
            phase: run.phase_of(task),
            moved_by: moves::of_task(run, task, &because),
            needs: needs::of_task(run, task),
            because,
        }
    }
}

/// What an edge accepts, where that is worth a word.
fn unusual(accepts: Accepts) -> Vec<Resolution> {
    if accepts == Accepts::SUCCESS {
        return Vec::new();
    }
    Resolution::ALL.into_iter().filter(|r| accepts.contains(*r)).collect()
}

/// Whether every in-edge is needed.
fn needs_all(run: &Run, task: TaskIx) -> bool {
    run.region_of(run.scope_of(task)).join(run.node_of(task)) == Join::All
}
