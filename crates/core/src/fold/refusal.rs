//! Refusals: why the state of a run forbids something, for programs and for people.
//!
//! A code exists only where whoever hears it would do something else. It is stable; the words behind it are not.

/// Why the state forbids something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// For programs: one of [`CODES`].
    pub code: &'static str,
    /// For people, with the better choice.
    pub why: &'static str,
}

/// Every code, and what to do about it.
pub const CODES: [(&str, &str); 18] = [
    ("run_over", "the run has ended: only a rerun opens it"),
    ("run_cancelled", "the run was cancelled: only a rerun opens it"),
    ("run_paused", "the run is paused: resume it"),
    ("run_frozen", "the run is frozen: unfreeze it"),
    ("not_over", "the run has not ended: wait, cancel it, or rerun one of its tasks"),
    ("not_held", "the flow does not hold failures: cancel or resolve the run"),
    ("not_failed", "nothing of it has failed: there is nothing to reset, to give up or to rerun from"),
    ("opened_too_often", "it was rerun too often: start the flow again"),
    ("task_done", "the task is done: a rerun opens it"),
    ("task_not_done", "the task is not done: let it finish, or skip or cancel it"),
    ("not_reached", "the run has not come to it: wait"),
    ("gone_on", "what is around it has gone on or is over: rerun that"),
    ("through_its_parts", "it is reset through what failed in it: reset that"),
    ("left_out", "something before it left it out: rerun that"),
    ("shared_gate", "it opens with a gate of the work graph: what is said is said to that one"),
    ("other_gate", "it is no gate of this kind: it is opened in another way, or not at all"),
    ("gate_over", "the gate is not waiting any more: whatever was decided stays"),
    ("refused", "none of these: the message says why"),
];

/// Whether a code says that the state of something forbids what was asked.
pub fn is_refusal(code: &str) -> bool {
    CODES.iter().any(|(known, _)| *known == code)
}

impl Refusal {
    pub(crate) const RUN_COMPLETE: Self = Self::new("run_over", "the run is complete");
    pub(crate) const RUN_OVER: Self = Self::new("run_over", "the run is over");
    pub(crate) const RUN_CANCELLED: Self = Self::new("run_cancelled", "the run was cancelled");
    pub(crate) const RUN_PAUSED: Self = Self::new("run_paused", "the run is paused");
    pub(crate) const RUN_FROZEN: Self = Self::new("run_frozen", "the run is frozen");
    pub(crate) const NOT_OVER: Self =
        Self::new("not_over", "the run is not over: rerun one of its tasks, or cancel it first");
    pub(crate) const NOT_HELD: Self =
        Self::new("not_held", "its flow does not hold failures (`on_failure: hold`): cancel it, or resolve it");
    pub(crate) const FAILED_ITSELF: Self = Self::new(
        "not_failed",
        "the program failed by itself, not at one of its tasks: rerun it whole, or from one of them",
    );
    pub(crate) const HOLDS_NOTHING: Self =
        Self::new("not_failed", "it holds no failure: nothing of it has failed for good");
    pub(crate) const NOTHING_FAILED: Self =
        Self::new("not_failed", "nothing of it has failed: rerun it whole, or one of its tasks");
    pub(crate) const TASK_NOT_FAILED: Self = Self::new("not_failed", "only a failed task can be reset");
    pub(crate) const TOO_OFTEN: Self =
        Self::new("opened_too_often", "it was opened too often already: start the flow again");
    pub(crate) const TASK_COMPLETE: Self = Self::new("task_done", "the task is complete");
    pub(crate) const TASK_DONE: Self = Self::new("task_done", "the task is done");
    pub(crate) const TASK_RESOLVED: Self = Self::new("task_done", "the task is resolved");
    pub(crate) const TASK_NOT_DONE: Self =
        Self::new("task_not_done", "the task is not done: let it finish, or skip or cancel it first");
    pub(crate) const GATE_NOT_REACHED: Self = Self::new("not_reached", "the gate is not reached yet");
    pub(crate) const NOT_COME_TO: Self = Self::new("not_reached", "the program has not come to it yet");
    pub(crate) const DONE_ANEW: Self = Self::new("gone_on", "what it was part of was done anew since");
    pub(crate) const DONE_IN_CHAIN: Self = Self::new("gone_on", "the program has gone on from it: rerun it instead");
    pub(crate) const GIVEN_BACK: Self =
        Self::new("gone_on", "its spread ended well and has given it back: rerun the spread");
    pub(crate) const HANDLED: Self = Self::new("gone_on", "a handler has dealt with it: rerun the try");
    pub(crate) const ROUND_OVER: Self = Self::new("gone_on", "its round of the loop is over: rerun the loop");
    pub(crate) const COMPOSITE: Self =
        Self::new("through_its_parts", "it is reset through the task in it that failed, or rerun as a whole");
    pub(crate) const SPREAD: Self = Self::new("through_its_parts", "a spread is reset through its failed items");
    pub(crate) const LEFT_OUT: Self =
        Self::new("left_out", "it was left out because of a task before it: rerun that one");
    pub(crate) const LEFT_OUT_BY_WHEN: Self =
        Self::new("left_out", "its own `when` left it out: rerun what that reads");
    pub(crate) const PROGRAM_STOPPED: Self =
        Self::new("left_out", "the program did not come to it: rerun what it stopped at, or the whole run");
    pub(crate) const ASKS_PEOPLE: Self = Self::new("other_gate", "it asks for approvals, which nobody can go round");
    pub(crate) const NO_APPROVAL_GATE: Self = Self::new("other_gate", "it is not an approval gate");
    pub(crate) const NO_GATE: Self = Self::new("other_gate", "it is not a gate");
    pub(crate) const OPENS_ITSELF: Self = Self::new("other_gate", "it opens by itself when its time has come");
    pub(crate) const SHARED: Self =
        Self::new("shared_gate", "it opens with a gate of the work graph: speak to that one, `edgewise why` names it");
    pub(crate) const GATE_OVER: Self = Self::new("gate_over", "the gate is not waiting any more");
    pub(crate) const CHILD_OF_ANOTHER: Self = Self::new("refused", "the run is another task's");
    pub(crate) const FAULT: Self = Self::new("refused", "the run would be frozen: this is a fault in edgewise");
    pub(crate) const LONG_NAME: Self = Self::new("refused", "the name of a schedule has at most 80 bytes");
    pub(crate) const MANY_SCHEDULES: Self = Self::new("refused", "a workspace has at most 100,000 schedules");
    pub(crate) const MANY_TICKS: Self = Self::new("refused", "too many ticks are waiting already");
    pub(crate) const NOT_A_CHILD: Self = Self::new("refused", "the run was started by somebody else");
    pub(crate) const NO_APPROVAL: Self = Self::new("refused", "there is no approval of theirs to withdraw");
    pub(crate) const NO_ATTEMPT: Self = Self::new("refused", "no attempt is left");

    /// All of them.
    pub const ALL: [Self; 42] = [
        Self::RUN_COMPLETE,
        Self::RUN_OVER,
        Self::RUN_CANCELLED,
        Self::RUN_PAUSED,
        Self::RUN_FROZEN,
        Self::NOT_OVER,
        Self::NOT_HELD,
        Self::FAILED_ITSELF,
        Self::HOLDS_NOTHING,
        Self::NOTHING_FAILED,
        Self::TASK_NOT_FAILED,
        Self::TOO_OFTEN,
        Self::TASK_COMPLETE,
        Self::TASK_DONE,
        Self::TASK_RESOLVED,
        Self::TASK_NOT_DONE,
        Self::GATE_NOT_REACHED,
        Self::NOT_COME_TO,
        Self::DONE_ANEW,
        Self::DONE_IN_CHAIN,
        Self::GIVEN_BACK,
        Self::HANDLED,
        Self::ROUND_OVER,
        Self::COMPOSITE,
        Self::SPREAD,
        Self::LEFT_OUT,
        Self::LEFT_OUT_BY_WHEN,
        Self::PROGRAM_STOPPED,
        Self::ASKS_PEOPLE,
        Self::NO_APPROVAL_GATE,
        Self::NO_GATE,
        Self::OPENS_ITSELF,
        Self::SHARED,
        Self::GATE_OVER,
        Self::CHILD_OF_ANOTHER,
        Self::FAULT,
        Self::LONG_NAME,
        Self::MANY_SCHEDULES,
        Self::MANY_TICKS,
        Self::NOT_A_CHILD,
        Self::NO_APPROVAL,
        Self::NO_ATTEMPT,
    ];

    const fn new(code: &'static str, why: &'static str) -> Self {
        Self { code, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_a_code_that_is_explained_and_every_code_is_somebodys() {
        for refusal in Refusal::ALL {
            assert!(is_refusal(refusal.code), "{refusal:?}");
        }
        for (code, what) in CODES {
            assert!(Refusal::ALL.iter().any(|refusal| refusal.code == code) && !what.is_empty(), "{code}");
        }
    }
}
