//! What happened, counted: a kind of trouble, event, command or answer that never occurs is not tested.

use crate::weather::Trouble;
use edgewise_core::event::Recorded;
use edgewise_core::work::WorkEvent;
use std::collections::BTreeMap;
use std::fmt;

/// Counts by group and kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cover(BTreeMap<&'static str, BTreeMap<String, u64>>);

/// Events that some command or chore of the engine can write.
const EVENTS: [&str; 23] = [
    "RunTriggered",
    "PlanCreated",
    "RunCancelRequested",
    "RunPauseRequested",
    "RunResumeRequested",
    "DispatchEnqueued",
    "DispatchReturned",
    "TaskFinished",
    "TimerFired",
    "ApprovalGiven",
    "ApprovalWithdrawn",
    "GateRejected",
    "GateSatisfied",
    "TaskSkipRequested",
    "TaskCancelRequested",
    "TaskResolvedManually",
    "TaskCompletedManually",
    "TaskResetForRetry",
    "RunRerunRequested",
    "RunResolvedManually",
    "RunGivenUp",
    "RunFrozen",
    "RunUnfrozen",
];

const COMMANDS: [&str; 23] = [
    "Start",
    "Cancel",
    "Pause",
    "Resume",
    "Approve",
    "Withdraw",
    "Reject",
    "Satisfy",
    "Claim",
    "Complete",
    "GiveBack",
    "Heartbeat",
    "Wait",
    "Skip",
    "CancelTask",
    "Resolve",
    "Supply",
    "Reset",
    "Rerun",
    "ResolveRun",
    "GiveUp",
    "Freeze",
    "Unfreeze",
];

/// Answers, good and bad ones.
const ANSWERS: [&str; 23] = [
    "Started",
    "Started again",
    "Done",
    "Already",
    "Granted",
    "Completed",
    "Report refused",
    "Continue",
    "Stop",
    "Ended",
    "attempt_over",
    "disk_full",
    "empty_claim",
    "key_taken",
    "not_an_approver",
    "refused",
    "Reopened",
    "run_frozen",
    "run_not_found",
    "store_busy",
    "task_not_found",
    "too_busy",
    "unknown_commit",
];

/// Events of the work graph that some operation or chore of the engine can write; nothing is imported in a storm.
fn work() -> impl Iterator<Item = &'static str> {
    WorkEvent::KNOWN.iter().copied().filter(|name| !name.ends_with("Imported"))
}

/// Operations that were done.
const OPERATIONS: [&str; 18] = [
    "Add",
    "Update",
    "Close",
    "Reopen",
    "Delete",
    "Move",
    "Claim",
    "ClaimNext",
    "Extend",
    "Release",
    "Depend",
    "Undepend",
    "MakeGate",
    "Approve",
    "Withdraw",
    "Satisfy",
    "Reject",
    "Deliver",
];

/// Domain events that were queued, and what of the work graph was refused or lapsed.
const TOLD: [&str; 2] = ["run.ended", "task.ended"];
const REFUSED: [&str; 8] = [
    "already_closed",
    "cycle_detected",
    "id_taken",
    "item_blocked",
    "item_claimed",
    "item_not_found",
    "open_children",
    "stale_token",
];

/// How attempts end.
const ATTEMPTS: [&str; 5] = ["success", "boom", "bang", "timeout", "worker_lost"];
const TIMERS: [&str; 5] = ["Retry", "Gate", "Deadline", "Queue", "Overall"];
const ENDS: [&str; 4] = ["Complete", "Error", "Cancelled", "ResolvedManually"];

impl Cover {
    /// Counts one more of a kind.
    pub fn count(&mut self, group: &'static str, kind: &str) {
        self.add(group, kind, 1);
    }

    /// Counts some more of a kind.
    pub fn add(&mut self, group: &'static str, kind: &str, more: u64) {
        let kinds = self.0.entry(group).or_default();
        match kinds.get_mut(kind) {
            Some(count) => *count += more,
            None => drop(kinds.insert(kind.to_owned(), more)),
        }
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Cover) {
        for (group, kinds) in &other.0 {
            kinds.iter().for_each(|(kind, count)| self.add(group, kind, *count));
        }
    }

    /// How often a kind occurred.
    pub fn get(&self, group: &str, kind: &str) -> u64 {
        self.0.get(group).and_then(|kinds| kinds.get(kind)).copied().unwrap_or(0)
    }

    /// Everything that must occur over many seeds and did not.
    pub fn missing(&self) -> Vec<String> {
        let troubles = Trouble::ALL.iter().map(|t| ("trouble", t.word()));
        let of = |group, kinds: &'static [&str]| kinds.iter().map(move |kind| (group, *kind));
        let wanted = troubles
            .chain(of("event", &EVENTS))
            .chain(of("command", &COMMANDS))
            .chain(of("answer", &ANSWERS))
            .chain(of("attempt", &ATTEMPTS))
            .chain(of("timer", &TIMERS))
            .chain(of("end", &ENDS))
            .chain(work().map(|kind| ("work", kind)))
            .chain(of("operation", &OPERATIONS))
            .chain(of("answer", &REFUSED))
            .chain(of("told", &TOLD));
        wanted.filter(|(group, kind)| self.get(group, kind) == 0).map(|(g, k)| format!("{g}: {k}")).collect()
    }
}

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, kinds) in &self.0 {
            for (kind, count) in kinds {
                writeln!(f, "{group:>8}  {kind:<28} {count:>12}")?;
            }
        }
        Ok(())
    }
}
