//! Commands: what is asked of the engine, and what it answers.
//!
//! One command, one file: what people ask of runs is in `request`, what workers report in `result`, what
//! gets work to workers in `enqueue`.

use crate::queues::QueueChange;
use crate::retention::{Kept, Removing};
use crate::secrets::Sealed;
use crate::work::{Import, Ops};
use edgewise_core::control::{Hook, ScheduleSet, SettingChanged};
use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::id::{RunId, Token};
use edgewise_core::name::Name;
use edgewise_core::plan::{OutputForm, Plan};
use edgewise_core::schedule::Schedule;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_core::trace::Context;
use edgewise_core::work::Done;
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
    /// Say that what a gate waits for outside is so.
    Satisfy(Satisfy),
    /// Leave a task out.
    Skip(TaskAct),
    /// Cancel one task.
    CancelTask(TaskAct),
    /// Declare a task dealt with, without output.
    Resolve(TaskAct),
    /// Supply a task's output.
    Supply(Supply),
    /// Give a failed task new attempts.
    Reset(TaskAct),
    /// Declare a whole run dealt with.
    ResolveRun(RunAct),
    /// Let the failures stand that a run holds.
    GiveUp(RunAct),
    /// Let nothing but reads work on a run.
    Freeze(RunAct),
    /// Let a frozen run go on.
    Unfreeze(RunAct),
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
    /// Take runs away that are over.
    Remove(Removing),
    /// Put a flow under its name, with the schedules that stand in its text.
    Register(Register),
    /// Make, change or take away a schedule.
    SetSchedule(ScheduleSet),
    /// Change or take away a setting.
    ChangeSetting(SettingChanged),
    /// Have finished work of a run done again.
    Rerun(Rerun),
    /// Say what a queue is from now on.
    SetQueue(SetQueue),
    /// Operations on the work graph: all of them, or none.
    Work(Ops),
    /// Bring a work graph in, as it was elsewhere.
    Import(Import),
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
    /// The others are gone.
    Removed {
        /// Those that were not taken away, and why.
        kept: Vec<Kept>,
        /// Whether there is something left on the disk to give back: ask again, for no runs.
        more: bool,
    },
    /// So many tasks were opened again.
    Reopened(u32),
    /// What each operation on the work graph came to.
    Worked(Vec<Done>),
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

/// Put a flow under its name.
#[derive(Debug, Clone)]
pub struct Register {
    /// What runs of it get from now on; the flow's name stands in it.
    pub plan: Arc<Plan>,
    /// The plans of all flows that it starts, and that these start.
    pub children: Vec<Arc<Plan>>,
    /// The schedules that stand in its text, by their names: those it had before and that are not here go.
    pub schedules: BTreeMap<Name, Schedule>,
    /// How a call of its address begins it; `None` if it does not.
    pub hook: Option<Hook>,
    /// Who asks.
    pub by: Name,
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

/// Something an operator does to a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskAct {
    /// Which run.
    pub run: RunId,
    /// The task's path.
    pub task: String,
    /// Who.
    pub by: Name,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Have finished work of a run done again, with all that follows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rerun {
    /// Which run.
    pub run: RunId,
    /// What of it.
    pub from: RerunOf,
    /// Who.
    pub by: Name,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Say what a queue is from now on, for every engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetQueue {
    /// Which queue.
    pub queue: Name,
    /// What of it is changed; absent if it is again what whoever runs an engine says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<QueueChange>,
    /// Who.
    pub by: Name,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// An output that an operator supplies in place of a task's own.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Supply {
    /// For which task, by whom, why.
    pub act: TaskAct,
    /// The output, as JSON text.
    pub output: Box<RawValue>,
}

/// What is done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RerunOf {
    /// The whole run.
    Start,
    /// What failed and nobody answered, and what was stopped.
    Failure,
    /// The task of a path.
    Task(String),
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

/// What a gate waits for outside is so.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Satisfy {
    /// Which gate, and who says so.
    pub act: GateAct,
    /// The gate's generation, where an address is good for one; the one that waits now if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u16>,
    /// What the sender calls the call that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    /// What came with it, as JSON text; null if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
}

/// A claim: who asks, for what, for how many.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Who asks: audit, never permission.
    pub worker: Arc<str>,
    /// The actions it can do.
    pub actions: Arc<[Name]>,
    /// The queues it takes tasks from; all of them if absent.
    pub queues: Option<Arc<[Name]>>,
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
#[derive(Debug, Clone)]
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
    /// The secrets in it, by name; `None` if there are none.
    pub sealed: Option<Sealed>,
    /// Until when, if the worker must send heartbeats.
    pub deadline: Option<Time>,
    /// What joins the spans of the worker to those of whoever started the run.
    pub trace: Option<Context>,
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
    /// A request for the built-in HTTP runner.
    Http {
        /// `method`, `url`, `headers`, and `json` or `body`.
        request: Value,
        /// How long an attempt may take.
        timeout: Option<Millis>,
    },
}

/// The answer to one heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// Go on; the lease is good until then at least, whichever engine looks. It moves on with the next heartbeats.
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
