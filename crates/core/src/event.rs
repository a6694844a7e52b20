//! Events: the facts of one run. Everything else is derived from them.
//!
//! The wire form is compact JSON, one object with one key per event, readable with `jq`:
//! `{"TaskFinished":{"t":3,"a":1,"k":"…","output":{"sha":"…"}}}`. Tasks are dense numbers here;
//! whoever prints an event knows the plan and prints paths.

mod link;
mod record;
mod timer;

pub use link::{LinkRef, LinkRequested, LinkResolved};
pub(crate) use record::known_rules;
pub use record::{Envelope, NEWER_RULES, Record, Recorded, VERSION, decode, decode_events, encode, encode_events};
pub use timer::{TimerFired, TimerKey, TimerKind};

use crate::id::{PlanHash, TokenHash};
use crate::limits;
use crate::name::Name;
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The number of a task in its run: dense, given in the order in which scopes are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskIx(pub u32);

/// The version of the rules that a run is folded by. A change of what the fold derives is a new one, and runs of before
/// keep theirs.
///
/// 2: what is put together of outputs is bounded, causes of failures are cut, to read a pattern costs steps, and a rerun of
/// what failed or of everything forgets that failures were given up.
pub const RULES: u32 = 2;

/// A fact of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// Somebody wants a run; pins the plan and the rules.
    RunTriggered(RunTriggered),
    /// The plan is there: tasks exist from here on.
    PlanCreated(PlanCreated),
    /// Nothing of this run may start any more.
    RunCancelRequested(Request),
    /// No new leases for now.
    RunPauseRequested(Request),
    /// Leases again.
    RunResumeRequested(Request),
    /// The fold goes on where its bound on inline work stopped it.
    RunAdvanced(RunAdvanced),
    /// A lease: one attempt of a task is a worker's.
    DispatchEnqueued(DispatchEnqueued),
    /// A lease that never reached its worker; the attempt is not spent.
    DispatchReturned(AttemptRef),
    /// Progress of an attempt worth keeping.
    TaskHeartbeat(TaskHeartbeat),
    /// One attempt ended, said by its worker, a timeout or the sweep.
    TaskFinished(TaskFinished),
    /// An instant was reached.
    TimerFired(TimerFired),
    /// A person said yes.
    ApprovalGiven(Approved),
    /// A person took their yes back.
    ApprovalWithdrawn(Approved),
    /// A person said no.
    GateRejected(GateRejected),
    /// What a gate waited for outside is so.
    GateSatisfied(GateSatisfied),
    /// A gate stayed closed for so long that more people are asked.
    GateEscalated(GateEscalated),
    /// An operator declares a task dealt with, without output.
    TaskResolvedManually(TaskAct),
    /// An operator supplies a task's output.
    TaskCompletedManually(TaskCompletedManually),
    /// An operator gives a failed task new attempts.
    TaskResetForRetry(TaskAct),
    /// An operator leaves a task out.
    TaskSkipRequested(TaskAct),
    /// An operator cancels one task.
    TaskCancelRequested(TaskAct),
    /// An operator declares the whole run dealt with.
    RunResolvedManually(Request),
    /// An operator lets the failures stand that a run holds.
    RunGivenUp(Request),
    /// An operator has work that is done opened again, with all that follows it.
    RunRerunRequested(Rerun),
    /// An operator lets nothing but reads work on the run.
    RunFrozen(Request),
    /// An operator lets a frozen run go on.
    RunUnfrozen(Unfrozen),
    /// A task of another run waits for this one.
    LinkRequested(LinkRequested),
    /// The run that a task of this one waited for ended so.
    LinkResolved(LinkResolved),
    /// Written by a newer program: folds to nothing and is counted.
    #[serde(skip)]
    Unknown(Box<str>),
}

/// See [`Event::RunTriggered`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunTriggered {
    /// The flow's name.
    pub flow: Name,
    /// The plan it is pinned to.
    pub plan: PlanHash,
    /// The rules it is folded by.
    pub rules: u32,
    /// What the caller gave.
    pub input: Box<RawValue>,
    /// Who asked.
    pub by: Name,
    /// The caller's own key, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// For people to search by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// See [`Event::PlanCreated`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlanCreated {
    /// The plan, by its hash.
    pub plan: PlanHash,
}

/// Something a person asked of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// See [`Event::RunUnfrozen`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfrozen {
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the run was marked with, where no event says so: damage that was found once and is not there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// See [`Event::RunAdvanced`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunAdvanced {}

/// Names one attempt of a task, and proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRef {
    /// The task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// Its generation.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// Which attempt.
    #[serde(rename = "a")]
    pub attempt: u16,
    /// The hash of the lease's token.
    #[serde(rename = "k")]
    pub token: TokenHash,
}

/// See [`Event::DispatchEnqueued`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DispatchEnqueued {
    /// The task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// Its generation.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// Which attempt this is.
    #[serde(rename = "a")]
    pub attempt: u16,
    /// The hash of the lease's token.
    #[serde(rename = "k")]
    pub token: TokenHash,
    /// Who has it: audit, never permission.
    #[serde(rename = "w")]
    pub worker: Box<str>,
    /// For how long without a heartbeat; absent for a worker that ends with its engine's process. Whoever takes over
    /// finds here what the worker was told, whatever became of the rows.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Millis>,
}

/// See [`Event::TaskHeartbeat`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskHeartbeat {
    /// Which attempt.
    #[serde(flatten)]
    pub attempt: AttemptRef,
    /// What the worker wants remembered.
    pub progress: Box<RawValue>,
}

/// See [`Event::TaskFinished`]: a success unless there is an error.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskFinished {
    /// The task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// Its generation.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// Which attempt ended.
    #[serde(rename = "a")]
    pub attempt: u16,
    /// The hash of the lease's token.
    #[serde(rename = "k")]
    pub token: TokenHash,
    /// What it made; absent is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Why something failed. A type on the wire, never a map that happens to look like one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The type of the failure, such as `exit_1` or `timeout`.
    #[serde(rename = "type")]
    pub kind: String,
    /// For people.
    pub message: String,
    /// Whether the worker thinks another attempt could help. It can only narrow the flow's policy.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub retryable: bool,
    /// How long the worker asks to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Millis>,
    /// The wider types it also is, nearest first: what a handler or a policy for one of them catches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub is: Vec<String>,
    /// The failure that was being handled when this one happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Failure>>,
    /// The failures it stands for, if it stands for several; the first ones of very many.
    #[serde(default, skip_serializing_if = "<[Failure]>::is_empty")]
    pub errors: Box<[Failure]>,
}

/// See [`Event::ApprovalGiven`] and [`Event::ApprovalWithdrawn`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Approved {
    /// The gate's task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// Its generation.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// Who.
    pub by: Name,
    /// What they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// See [`Event::GateRejected`].
pub type GateRejected = Approved;

/// See [`Event::GateSatisfied`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GateSatisfied {
    /// The gate's task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// Its generation.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// Who said so.
    pub by: Name,
    /// What they added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// What the sender calls the call that said so: a second one of it is known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    /// What came with it, which is the gate's output; absent is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
}

/// See [`Event::GateEscalated`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateEscalated {
    /// The gate's task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// Its generation.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// Which step of its `escalate`, from 1.
    pub step: u16,
}

/// Something an operator did to a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskAct {
    /// The task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// The generation the operator looked at.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// See [`Event::TaskCompletedManually`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskCompletedManually {
    /// The act.
    #[serde(flatten)]
    pub act: TaskAct,
    /// The output supplied.
    pub output: Box<RawValue>,
}

/// See [`Event::RunRerunRequested`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rerun {
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What is done again.
    pub from: RerunFrom,
    /// The generation of the run that the operator looked at.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
}

/// What a rerun begins with; all that follows it is done again too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RerunFrom {
    /// The whole run.
    Start,
    /// What failed and was not answered, and what was stopped.
    Failure,
    /// One task.
    Task {
        /// The task.
        #[serde(rename = "t")]
        task: TaskIx,
        /// Its generation.
        #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
        generation: u16,
    },
}

impl Failure {
    /// A failure of a type; the message is cut at the limit.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > limits::MESSAGE_BYTES {
            let mut end = limits::MESSAGE_BYTES;
            while !message.is_char_boundary(end) {
                end -= 1;
            }
            message.truncate(end);
            message.push_str(" … (cut)");
        }
        Self {
            kind: kind.into(),
            message,
            retryable: true,
            retry_after: None,
            is: Vec::new(),
            cause: None,
            errors: Box::default(),
        }
    }

    /// A failure that would happen again in just the same way, so there is no other attempt.
    pub fn permanent(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { retryable: false, ..Self::new(kind, message) }
    }

    /// Cuts off causes of causes that nobody could read again.
    pub fn cut_causes(&mut self) {
        fn cut(failure: &mut Failure, left: usize) {
            let within = failure.cause.as_deref_mut().into_iter().chain(&mut *failure.errors);
            match left.checked_sub(1) {
                Some(left) => within.for_each(|one| cut(one, left)),
                None => (failure.cause, failure.errors) = Default::default(),
            }
        }
        cut(self, limits::CAUSES);
    }

    /// A value that is of another type than an expression needs.
    pub(crate) fn mismatch(message: String) -> Self {
        Self { is: vec!["EvalError".into()], ..Self::permanent("TypeMismatch", message) }
    }

    /// `Type: message`, and so on down to the failure that was first.
    pub fn chain(&self) -> String {
        let mut said = String::new();
        let mut next = Some(self);
        while let Some(failure) = next {
            said += if said.is_empty() { "" } else { ", caused by " };
            said += &failure.kind;
            if !failure.message.is_empty() {
                said += ": ";
                said += &failure.message;
            }
            next = failure.cause.as_deref();
        }
        said
    }

    /// Whether it is of a type, by its own name or by that of a wider type.
    pub fn is_a(&self, kind: &str) -> bool {
        self.kind == kind || self.is.iter().any(|wider| wider == kind)
    }
}

impl TaskFinished {
    /// The attempt this ends.
    pub fn attempt(&self) -> AttemptRef {
        AttemptRef { task: self.task, generation: self.generation, attempt: self.attempt, token: self.token }
    }
}

impl Event {
    /// The event's type, as the model names it.
    pub fn name(&self) -> &str {
        match self {
            Event::RunTriggered(_) => "RunTriggered",
            Event::PlanCreated(_) => "PlanCreated",
            Event::RunCancelRequested(_) => "RunCancelRequested",
            Event::RunPauseRequested(_) => "RunPauseRequested",
            Event::RunResumeRequested(_) => "RunResumeRequested",
            Event::RunAdvanced(_) => "RunAdvanced",
            Event::DispatchEnqueued(_) => "DispatchEnqueued",
            Event::DispatchReturned(_) => "DispatchReturned",
            Event::TaskHeartbeat(_) => "TaskHeartbeat",
            Event::TaskFinished(_) => "TaskFinished",
            Event::TimerFired(_) => "TimerFired",
            Event::ApprovalGiven(_) => "ApprovalGiven",
            Event::ApprovalWithdrawn(_) => "ApprovalWithdrawn",
            Event::GateRejected(_) => "GateRejected",
            Event::GateSatisfied(_) => "GateSatisfied",
            Event::GateEscalated(_) => "GateEscalated",
            Event::TaskResolvedManually(_) => "TaskResolvedManually",
            Event::TaskCompletedManually(_) => "TaskCompletedManually",
            Event::TaskResetForRetry(_) => "TaskResetForRetry",
            Event::TaskSkipRequested(_) => "TaskSkipRequested",
            Event::TaskCancelRequested(_) => "TaskCancelRequested",
            Event::RunResolvedManually(_) => "RunResolvedManually",
            Event::RunGivenUp(_) => "RunGivenUp",
            Event::RunRerunRequested(_) => "RunRerunRequested",
            Event::RunFrozen(_) => "RunFrozen",
            Event::RunUnfrozen(_) => "RunUnfrozen",
            Event::LinkRequested(_) => "LinkRequested",
            Event::LinkResolved(_) => "LinkResolved",
            Event::Unknown(name) => name,
        }
    }

    /// Who said it and what they added, if it is the act of a person.
    pub fn said(&self) -> Option<(&Name, Option<&str>)> {
        match self {
            Event::RunTriggered(e) => Some((&e.by, None)),
            Event::RunCancelRequested(e)
            | Event::RunPauseRequested(e)
            | Event::RunResumeRequested(e)
            | Event::RunGivenUp(e)
            | Event::RunFrozen(e)
            | Event::RunResolvedManually(e) => Some((&e.by, e.why.as_deref())),
            Event::RunRerunRequested(e) => Some((&e.by, e.why.as_deref())),
            Event::RunUnfrozen(e) => Some((&e.by, e.why.as_deref())),
            Event::ApprovalGiven(e) | Event::ApprovalWithdrawn(e) | Event::GateRejected(e) => {
                Some((&e.by, e.comment.as_deref()))
            }
            Event::GateSatisfied(e) => Some((&e.by, e.comment.as_deref())),
            Event::TaskResolvedManually(e)
            | Event::TaskResetForRetry(e)
            | Event::TaskSkipRequested(e)
            | Event::TaskCancelRequested(e) => Some((&e.by, e.why.as_deref())),
            Event::TaskCompletedManually(e) => Some((&e.act.by, e.act.why.as_deref())),
            _ => None,
        }
    }

    /// The task it is about, if it is about one.
    pub fn task(&self) -> Option<TaskIx> {
        match self {
            Event::DispatchEnqueued(e) => Some(e.task),
            Event::DispatchReturned(e) => Some(e.task),
            Event::TaskHeartbeat(e) => Some(e.attempt.task),
            Event::TaskFinished(e) => Some(e.task),
            Event::TimerFired(e) => Some(e.timer.task),
            Event::ApprovalGiven(e) | Event::ApprovalWithdrawn(e) | Event::GateRejected(e) => Some(e.task),
            Event::GateSatisfied(e) => Some(e.task),
            Event::GateEscalated(e) => Some(e.task),
            Event::TaskResolvedManually(e)
            | Event::TaskResetForRetry(e)
            | Event::TaskSkipRequested(e)
            | Event::TaskCancelRequested(e) => Some(e.task),
            Event::TaskCompletedManually(e) => Some(e.act.task),
            Event::RunRerunRequested(Rerun { from: RerunFrom::Task { task, .. }, .. }) => Some(*task),
            Event::LinkResolved(e) => Some(e.link.task),
            _ => None,
        }
    }
}

/// The event types this program knows.
pub const KNOWN: [&str; 28] = [
    "RunTriggered",
    "PlanCreated",
    "RunCancelRequested",
    "RunPauseRequested",
    "RunResumeRequested",
    "RunAdvanced",
    "DispatchEnqueued",
    "DispatchReturned",
    "TaskHeartbeat",
    "TaskFinished",
    "TimerFired",
    "ApprovalGiven",
    "ApprovalWithdrawn",
    "GateRejected",
    "GateSatisfied",
    "GateEscalated",
    "TaskResolvedManually",
    "TaskCompletedManually",
    "TaskResetForRetry",
    "TaskSkipRequested",
    "TaskCancelRequested",
    "RunResolvedManually",
    "RunGivenUp",
    "RunRerunRequested",
    "RunFrozen",
    "RunUnfrozen",
    "LinkRequested",
    "LinkResolved",
];

fn one() -> u16 {
    1
}
fn is_one(n: &u16) -> bool {
    *n == 1
}
fn yes() -> bool {
    true
}
fn is_true(b: &bool) -> bool {
    *b
}
