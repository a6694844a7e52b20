//! The wire types of the API: what is sent and what is answered, as JSON.
//!
//! Unknown fields of a request are refused, so that a misspelt one is not silently without effect; unknown fields of
//! an answer are ignored, so that an older client reads a newer server.

mod audit;
mod domain;
mod flow;
mod gate;
mod import;
mod item;
mod problem;
mod run;
mod shown;
mod work;

pub use audit::{Audit, AuditLine};
pub use domain::{
    Acknowledge, Acknowledged, ConsumerListed, DeadLetterListed, DeadLetters, DomainEventAt, DomainEvents,
    ForgetConsumer, NamespaceListed, Namespaces, ReplayRequest, Replayed, WebhookListed, WebhookMade, WebhookRequest,
    Webhooks,
};
pub use flow::{
    BackfillSchedule, CreateToken, FlowHook, FlowRegistered, FlowText, Registered, Retain, Retained, ScheduleTaken,
    Schedules, SetQueue, SetSchedule, Ticks, TokenList, TokenListed, WhatIf,
};
pub use gate::{ExternalReport, Gates, Hook, HookRequest, MakeGate, Opened};
pub use import::{ImportForm, ImportItems, Imported};
pub use item::{
    AddDependency, AddItem, BatchDone, BatchItems, ClaimItem, ClaimNextItem, CloseItem, ExtendClaim, ItemAct,
    ItemChange, ItemDone, Items, MoveItem, ReleaseItem, RemoveDependency, ReopenItem,
};
pub use problem::Problem;
pub use run::{
    ActRequest, ActTaken, Ended, FlowListed, Flows, GateRequest, RerunRequest, Runs, SatisfyRequest, Start, Started,
    SupplyRequest,
};
pub use shown::{
    Drawing, FlowChecked, FlowPlan, Foretold, GateShown, ItemCycles, ItemHistory, ItemReason, ItemShown, ItemStats,
    ItemTree, Primer, QueuesShown, RunGateShown, RunHistory, RunListed, RunLogs, RunShown, RunTiming, RunWhy,
    ScheduleShown, TaskShown,
};
pub use work::{
    AddWorker, Beat, Beats, Claim, Complete, Completed, Finish, Heartbeat, Lease, Leases, Outcome, PushAnswer, Release,
    TaskError, WorkerListed, WorkerSecret, Workers,
};
