//! The worker protocol: claim, heartbeat, complete, release.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A worker's wish for work. Answered when there is some, or when the wait is over.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Who asks, for people to read.
    pub worker: String,
    /// The actions it can do.
    pub actions: Vec<String>,
    /// The queues it takes tasks from; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<Vec<String>>,
    /// At most so many leases; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// How long a lease is good for without a heartbeat, in milliseconds; 30,000 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// How long to wait for work, in milliseconds; not at all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// The answer to a claim.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Leases {
    /// None if there was no work.
    pub leases: Vec<Lease>,
}

/// One attempt of a task, the worker's until its deadline.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Lease {
    /// Names the attempt and proves the right to speak for it. To be sent back as it is, and kept secret.
    pub lease: String,
    /// The run.
    pub run: String,
    /// The task's path.
    pub task: String,
    /// Which attempt, from 1.
    pub attempt: u16,
    /// How many there may be.
    pub max_attempts: u16,
    /// The same for every attempt of the task: to be used where an effect must happen once.
    pub key: String,
    /// What is to be done.
    pub action: String,
    /// What it is given.
    pub input: Value,
    /// Until when without a heartbeat.
    pub deadline: Option<String>,
    /// How long that is from now on, in milliseconds: a worker's clock may be another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// What joins the worker's spans to those of whoever started the run: W3C Trace Context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// Attempts are still at work.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// Which.
    pub leases: Vec<String>,
}

/// The answers to heartbeats, in the same order.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Beats {
    /// One for each lease.
    pub beats: Vec<Beat>,
}

/// The answer to one heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beat {
    /// Which lease.
    pub lease: String,
    /// Go on; stop at once if false: the lease is over.
    #[serde(rename = "continue")]
    pub go_on: bool,
    /// Until when it is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
}

/// Attempts have ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// Which, and how.
    pub results: Vec<Finish>,
    /// Asks for the next tasks in the same commit; what is not there then is not waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
}

/// How one attempt ended: with an output, or with an error.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// Which lease.
    pub lease: String,
    /// What it made; null if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
}

/// Why an attempt failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskError {
    /// What a flow's `retry` and handlers name.
    #[serde(rename = "type")]
    pub kind: String,
    /// For people.
    #[serde(default)]
    pub message: String,
    /// Trying again cannot help.
    #[serde(default)]
    pub permanent: bool,
    /// How long to wait at least before the next attempt, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The wider types that it also is, nearest first: a handler or a policy for one of them fits too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub is: Vec<String>,
}

/// What became of reports, in the same order.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Completed {
    /// One for each.
    pub results: Vec<Outcome>,
    /// What the claim that came along got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leases: Vec<Lease>,
}

/// What became of one report.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Which lease.
    pub lease: String,
    /// 200 if it counts, else the status that it would be refused with alone: 409 where the attempt is over.
    pub status: u16,
    /// The stable code of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Leases that are given back: their attempts are not spent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Which.
    pub leases: Vec<String>,
}

/// What a push worker answers with 200: the report of the lease that it was sent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PushAnswer {
    /// Which lease; the one that was sent if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// What it made; null if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
}

/// A push worker to be made: a worker that is called with its tasks.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddWorker {
    /// What it is called.
    pub name: String,
    /// Where its tasks are sent.
    pub url: String,
    /// The actions it can do.
    pub actions: Vec<String>,
    /// The queues it takes tasks from; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<Vec<String>>,
    /// How many tasks it takes at once; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// How long a lease is good for without a sign of life, in milliseconds; 30,000 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// How long a call may stay open, in milliseconds; 300,000 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// The secret of a push worker.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WorkerSecret {
    /// Which worker.
    pub name: String,
    /// What its calls are signed with. It is not shown again.
    pub secret: String,
}

/// All push workers.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Workers {
    /// Without their secrets.
    pub workers: Vec<WorkerListed>,
}

/// One push worker.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WorkerListed {
    /// What it is called.
    pub name: String,
    /// Where its tasks are sent.
    pub url: String,
    /// The actions it can do.
    pub actions: Vec<String>,
    /// The queues it takes tasks from; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<Vec<String>>,
    /// How many tasks it takes at once.
    pub slots: u32,
    /// How long a lease is good for without a sign of life, in milliseconds.
    pub lease_ms: u64,
    /// How long a call may stay open, in milliseconds.
    pub timeout_ms: u64,
    /// Why it is given nothing for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// When it was made.
    pub made_at: String,
    /// How many tasks it has, those that it reports by itself included.
    pub at_work: u32,
    /// How many calls are open.
    pub calling: u32,
    /// How often in a row it was not reached, or answered what cannot be used.
    pub failures: u32,
    /// What was wrong the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// It is left alone until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_off_until: Option<String>,
}
