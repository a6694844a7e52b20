//! What happened, counted: a kind of trouble, event, command or answer that never occurs is not tested.

use crate::weather::Trouble;
use edgewise_core::control::ControlEvent;
use edgewise_core::event::{self, Recorded, TimerKind};
use edgewise_core::work::WorkEvent;
use std::collections::BTreeMap;
use std::fmt;

/// Counts by group and kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cover(BTreeMap<&'static str, BTreeMap<String, u64>>);

/// Events of runs and of control that no storm comes to: advances are of spreads larger than those of chance, and
/// heartbeats are written by no engine.
const NOT_IN_STORMS: [&str; 2] = ["RunAdvanced", "TaskHeartbeat"];

/// Events that some command or chore of the engine can write.
fn events() -> impl Iterator<Item = &'static str> {
    let all = event::KNOWN.into_iter().chain(ControlEvent::KNOWN.iter().copied());
    all.filter(|name| !NOT_IN_STORMS.contains(name))
}

/// What is asked; nothing is imported in a storm (`Import`).
const COMMANDS: [&str; 29] = [
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
    "Work",
    "Register",
    "SetSchedule",
    "ChangeSetting",
    "SetQueue",
    "Remove",
];

/// Answers, good and bad ones.
const ANSWERS: [&str; 26] = [
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
    "Removed",
    "Worked",
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
    "token_exists",
    "too_busy",
    "unknown_commit",
];

/// Events of the work graph that some operation or chore of the engine can write; nothing is imported in a storm.
fn work() -> impl Iterator<Item = &'static str> {
    WorkEvent::KNOWN.iter().copied().filter(|name| !name.ends_with("Imported"))
}

/// Operations that were done; no storm expects a state of an item before it changes it (`Expect`).
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
const TOLD: [&str; 4] = ["run.ended", "task.ended", "edgewise.gate.asked", "edgewise.gate.escalated"];
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
/// What becomes of a tick; no storm has so many that wait (`QueueFull`).
const TICKS: [&str; 6] = ["Started", "Queued", "Overlap", "Missed", "Already", "Refused"];
const ENDS: [&str; 4] = ["Complete", "Error", "Cancelled", "ResolvedManually"];

/// What comes a few times in 10,000 seeds, and in fewer perhaps not at all: somebody takes back what they said to a gate
/// of the work graph, and a flow refuses what its schedule gives it.
const RARE: [(&str, &str); 3] = [("work", "GateWithdrawn"), ("operation", "Withdraw"), ("tick", "Refused")];

/// What a timer is for. A kind that is new belongs into the list above, too.
pub fn timer(kind: TimerKind) -> &'static str {
    match kind {
        TimerKind::Retry => "Retry",
        TimerKind::Gate => "Gate",
        TimerKind::Deadline => "Deadline",
        TimerKind::Queue => "Queue",
        TimerKind::Overall => "Overall",
        TimerKind::Attempt => "Attempt",
        TimerKind::Escalation => "Escalation",
    }
}

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

    /// Everything that must occur over many seeds and did not; what is rare only if it is asked for.
    pub fn missing(&self, rare: bool) -> Vec<String> {
        let troubles = Trouble::ALL.iter().map(|t| ("trouble", t.word()));
        let of = |group, kinds: &'static [&str]| kinds.iter().map(move |kind| (group, *kind));
        let wanted = troubles
            .chain(events().map(|kind| ("event", kind)))
            .chain(of("command", &COMMANDS))
            .chain(of("answer", &ANSWERS))
            .chain(of("attempt", &ATTEMPTS))
            .chain(TimerKind::ALL.iter().map(|kind| ("timer", timer(*kind))))
            .chain(of("tick", &TICKS))
            .chain(of("end", &ENDS))
            .chain(work().map(|kind| ("work", kind)))
            .chain(of("operation", &OPERATIONS))
            .chain(of("answer", &REFUSED))
            .chain(of("told", &TOLD));
        self.never(wanted.filter(|kind| rare || !RARE.contains(kind)))
    }

    /// Troubles that were not felt over files, where rows are never lost.
    pub fn not_felt_in_files(&self) -> Vec<String> {
        let troubles = Trouble::ALL.iter().filter(|trouble| **trouble != Trouble::LostRows);
        self.never(troubles.map(|trouble| ("trouble", trouble.word())))
    }

    fn never(&self, wanted: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_occurred_is_named_unless_no_storm_comes_to_it() {
        let mut cover = Cover::default();
        let missing = |cover: &Cover, kind: &str| cover.missing(false).contains(&kind.to_owned());
        for kind in ["event: LinkResolved", "event: ScheduleFired", "command: Work", "timer: Attempt", "tick: Missed"] {
            assert!(missing(&cover, kind), "{kind}");
        }
        for kind in ["answer: Removed", "answer: Worked"] {
            assert!(missing(&cover, kind), "{kind}");
        }
        for (group, kind) in RARE {
            let kind = format!("{group}: {kind}");
            assert!(!missing(&cover, &kind) && cover.missing(true).contains(&kind), "{kind}");
        }
        cover.count("timer", timer(TimerKind::Attempt));
        assert!(!missing(&cover, "timer: Attempt"));
        assert!(NOT_IN_STORMS.iter().all(|name| !missing(&cover, &format!("event: {name}"))));
    }

    #[test]
    fn over_files_every_trouble_is_felt_but_the_loss_of_all_rows() {
        let mut cover = Cover::default();
        assert_eq!(cover.not_felt_in_files().len(), Trouble::ALL.len() - 1);
        Trouble::ALL.iter().filter(|t| **t != Trouble::LostRows).for_each(|t| cover.count("trouble", t.word()));
        assert_eq!(cover.not_felt_in_files(), Vec::<String>::new());
    }
}
