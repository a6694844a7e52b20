//! Commands: what is asked of the engine, and what it answers.
//!
//! One command, one file: what people ask of runs is in `request`, what workers report in `result`, what
//! gets work to workers in `enqueue`.

use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::id::{RunId, Token};
use edgewise_core::name::Name;
use edgewise_core::plan::{OutputForm, Plan};
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something asked of the engine.
#[derive(Debug)]
pub enum Command {
    /// Start a run.
    Start(Start),
    /// Nothing of a run may start any more.
    Cancel(RunAct),
    /// No new leases of a run for now.
    Pause(RunAct),
    /// Leases again.
    Resume(RunAct),
    /// Say yes to a gate.
    Approve(GateAct),
    /// Take a yes back.
    Withdraw(GateAct),
    /// Say no to a gate.
    Reject(GateAct),
    /// Ask for work, and wait until there is some.
    Claim(Claim),
    /// Report how attempts ended.
    Complete(Arc<[Finish]>),
    /// Give leases back that never reached a worker.
    GiveBack(Vec<LeaseRef>),
    /// Say that attempts are still at work.
    Heartbeat(Vec<LeaseRef>),
    /// Wait for a run's end.
    Wait(RunId),
}

/// What the engine answers.
#[derive(Debug)]
pub enum Answer {
    /// The run, and whether it is new.
    Started {
        /// Which run.
        run: RunId,
        /// False if the same key had started it before.
        new: bool,
    },
    /// It is so now, durably.
    Done,
    /// It was so already.
    Already,
    /// Leases, and how many were claimed: the claim is over, also where it was filled in part.
    Granted {
        /// The leases.
        grants: Vec<Grant>,
        /// How many there could have been.
        claimed: u32,
    },
    /// For each report, whether it counted.
    Completed(Vec<Result<()>>),
    /// For each lease, how long it is good for, or that it is over.
    Beats(Vec<Beat>),
    /// How the run ended.
    Ended(RunState),
}

/// Start a run of a plan.
#[derive(Debug, Clone)]
pub struct Start {
    /// What to run.
    pub plan: Arc<Plan>,
    /// The plans of all flows that it starts, and that these start; those that are in the ledger may be left out.
    pub children: Vec<Arc<Plan>>,
    /// What it is given, as JSON text.
    pub input: Box<RawValue>,
    /// Who asks.
    pub by: Name,
    /// The caller's own key: the same key gives the same run.
    pub key: Option<String>,
    /// For people to search by.
    pub labels: BTreeMap<String, String>,
}

/// Something a person does to a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunAct {
    /// Which run.
    pub run: RunId,
    /// Who.
    pub by: Name,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Something a person does to a gate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateAct {
    /// Which run.
    pub run: RunId,
    /// The gate's path.
    pub task: String,
    /// Who.
    pub by: Name,
    /// What they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// A claim: who asks, for what, for how many.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Who asks: audit, never permission.
    pub worker: Arc<str>,
    /// The actions it can do.
    pub actions: Arc<[Name]>,
    /// At most so many leases.
    pub max: u32,
    /// How long a lease is good for without a heartbeat; `None` for a worker that ends with this process.
    pub lease: Option<Millis>,
}

/// Names one attempt, and proves the right to speak for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRef {
    /// Which run.
    pub run: RunId,
    /// Which task.
    pub task: TaskIx,
    /// Its generation.
    pub generation: u16,
    /// Which attempt.
    pub attempt: u16,
    /// The lease's token.
    pub token: Token,
}

/// A report: how an attempt ended.
#[derive(Debug)]
pub struct Finish {
    /// Which attempt.
    pub lease: LeaseRef,
    /// What it made, or why it failed.
    pub outcome: Outcome,
}

/// What an attempt came to: its output (`None` is null), or why it failed.
pub type Outcome = std::result::Result<Option<Box<RawValue>>, Failure>;

/// One attempt of a task, given to a worker.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Which attempt, with its token.
    pub lease: LeaseRef,
    /// The task's path.
    pub path: String,
    /// How many attempts it may have.
    pub max_attempts: u16,
    /// What is to be done.
    pub work: Job,
    /// Until when, if the worker must send heartbeats.
    pub deadline: Option<Time>,
}

/// What is to be done.
#[derive(Debug, Clone)]
pub enum Job {
    /// An action with its input.
    Action {
        /// The action's name.
        action: Name,
        /// What it is given.
        input: Value,
    },
    /// A command for the built-in runner.
    Command {
        /// The script.
        script: String,
        /// Its variables.
        env: Vec<(String, String)>,
        /// How its output is read.
        output: OutputForm,
    },
}

/// The answer to one heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// Go on; the lease is good until then.
    Continue(Time),
    /// Stop: the lease is over.
    Cancel,
}

impl Grant {
    /// The same for every attempt of a task in its generation, so that a handler can make its effects happen once.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.lease.run, self.path, self.lease.generation)
    }
}

/// A run that does not exist.
pub(crate) fn no_such_run(run: RunId) -> Error {
    Error::not_found("run_not_found", format!("there is no run {run}; `edgewise runs` lists them"))
}
