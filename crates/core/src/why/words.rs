//! Reasons in words. How an instant is written is the reader's business: they know their time zone.

use super::moves::is_engines;
use super::{Act, Because, Cause, Escalates, Hold, Mover, Need, Why};
use crate::name::Name;
use crate::plan::Resolution;
use crate::state::{RunState, TaskState};
use crate::time::Time;

/// Writes an instant.
pub type Clock<'a> = &'a dyn Fn(Time) -> String;

impl Why {
    /// One sentence about the run.
    pub fn sentence(&self, clock: Clock<'_>) -> String {
        match &self.frozen_by {
            Some(act) => format!("frozen {}; {}", by(act, clock), self.moves_or_not(clock)),
            None => self.moves_or_not(clock),
        }
    }

    fn moves_or_not(&self, clock: Clock<'_>) -> String {
        let waits = match self.state {
            RunState::Pending => "it is accepted, and waits for an engine to plan it",
            RunState::Initializing => "it is planned, and nothing has moved yet",
            RunState::EnqueuingTasks if self.paused => "tasks are ready, but it is paused",
            RunState::EnqueuingTasks => "tasks are ready and wait to be taken",
            RunState::TasksInProcess | RunState::EvaluatingResults => "tasks are at work",
            RunState::WaitingForDependencies => "nothing is at work; it waits",
            RunState::WaitingForRetry => "a failed task waits for its next attempt",
            RunState::BlockedByFailures => "it holds at a failure until an operator decides",
            RunState::Complete => "every task ended well, or its failure was answered",
            RunState::Error => match &self.failure {
                Some(failure) => return format!("failed with {}", failure.chain()),
                None => "a failure was not answered",
            },
            RunState::Cancelled | RunState::ResolvedManually => return self.ended(clock),
        };
        match (&self.paused_by, self.state) {
            (Some(act), RunState::EnqueuingTasks) => format!("{waits} {}", by(act, clock)),
            (Some(act), state) if !state.is_done() => format!("{waits}; paused {}", by(act, clock)),
            _ => waits.to_owned(),
        }
    }

    fn ended(&self, clock: Clock<'_>) -> String {
        let what = if self.state == RunState::Cancelled { "cancelled" } else { "declared dealt with" };
        match &self.ended_by {
            Some(act) => format!("{what} {}", by(act, clock)),
            None => "a task was cancelled from outside".to_owned(),
        }
    }
}

impl Cause {
    /// One sentence about the task, without its name.
    pub fn sentence(&self, clock: Clock<'_>) -> String {
        match &self.because {
            Because::Upstream { edges, needed, accepted } => upstream(*edges, *needed, *accepted),
            Because::Before => "its program has not come to it".into(),
            Because::Inside { scope } => format!("running, in {scope}"),
            Because::Unclaimed { paused: true, .. } => "ready, but the run is paused".into(),
            Because::Unclaimed { holds, .. } if !holds.is_empty() => {
                let holds: Vec<String> = holds.iter().map(|hold: &Hold| hold.sentence(clock)).collect();
                format!("ready, but {}", holds.join(" and "))
            }
            Because::Unclaimed { action, .. } if is_engines(action) => "ready, waits for a free slot".into(),
            Because::Unclaimed { action, since, .. } => {
                format!("ready, waits for a worker that offers {action}{}", from(*since, clock))
            }
            Because::AtWork { attempt, max_attempts, worker, since, .. } => {
                let whose = worker.as_ref().map(|worker| format!(" at {worker}")).unwrap_or_default();
                format!("running, {}{whose}{}", tries(*attempt, *max_attempts), from(*since, clock))
            }
            Because::Retry { attempt, max_attempts, until, failure } => {
                let after = failure.as_ref().map(|f| format!(", after {}", f.kind)).unwrap_or_default();
                format!("waits until {} for {}{after}", clock(*until), tries(*attempt, *max_attempts))
            }
            Because::Child { run, flow, attempt, max_attempts, .. } => {
                let tries =
                    if *max_attempts > 1 { format!(", {}", tries(*attempt, *max_attempts)) } else { String::new() };
                format!("waits for run {} of {flow}{tries}", run.short())
            }
            Because::Item { id, title, blocked: true, .. } => {
                format!("waits until item {id} is closed, which is blocked: {title}")
            }
            Because::Item { id, title, .. } => format!("waits until item {id} is closed: {title}"),
            Because::Time { until } => format!("gate, opens at {}", clock(*until)),
            Because::Approval { count, from, have, escalates, .. } => {
                let from: Vec<&str> = from.iter().map(Name::as_str).collect();
                let have: Vec<&str> = have.iter().map(Name::as_str).collect();
                let more = |step: &Escalates| {
                    let to: Vec<&str> = step.to.iter().map(Name::as_str).collect();
                    match step.told.known() {
                        Some(told) => format!("; also {}, asked at {}", to.join(", "), clock(told)),
                        None => format!("; from {} on also {}", clock(step.at), to.join(", ")),
                    }
                };
                approval(*count, &from, &have) + &escalates.iter().map(more).collect::<String>()
            }
            Because::Webhook { .. } => "gate, opens when its address is called".into(),
            Because::External { system, id, .. } => format!("gate, opens when {system} says so of {id}"),
            Because::Shared { gate, .. } => format!("gate, opens with {gate} of the work graph"),
            Because::Items { total, done, failed, .. } => {
                let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
                format!("running, {done} of {total} items ended{failed}")
            }
            _ => self.ending(clock),
        }
    }

    fn ending(&self, clock: Clock<'_>) -> String {
        match &self.because {
            Because::Succeeded { attempt, at } if *attempt > 1 => {
                format!("succeeded at attempt {attempt}, at {}", clock(*at))
            }
            Because::Succeeded { at, .. } => format!("succeeded at {}", clock(*at)),
            Because::Resolved { at } => format!("dealt with by an operator at {}", clock(*at)),
            Because::Failed { failure, attempt, max_attempts, handled, held } => {
                let tries =
                    if *attempt > 0 { format!(" at {}", tries(*attempt, *max_attempts)) } else { String::new() };
                let then = match (held, handled) {
                    (true, _) => "; what follows is held until an operator decides",
                    (false, true) => "; the flow answered it",
                    (false, false) => "",
                };
                format!("failed{tries} with {}: {}{then}", failure.kind, failure.message)
            }
            Because::LeftOut { resolution } => {
                let word = if self.state == TaskState::Cancelled { "cancelled" } else { "skipped" };
                format!("{word}, because what it needs {}", past(*resolution))
            }
            Because::When => "skipped, because its `when` is false".into(),
            Because::NotReached => "skipped, because its program did not come to it".into(),
            Because::Stopped => "cancelled, because another task failed and the rest was not wanted any more".into(),
            Because::Told(act) => format!("{} {}", self.phase.word(), by(act, clock)),
            Because::RunEnded(act) => format!("{} with the whole run, {}", self.phase.word(), by(act, clock)),
            _ => self.phase.word().to_owned(),
        }
    }
}

impl Need {
    /// What the edge wants, where that is not plain success: `must fail`.
    pub fn condition(&self) -> Option<String> {
        let words: Vec<&str> = self.accepts.iter().map(|r| wish(*r)).collect();
        match words.as_slice() {
            [] => None,
            all if all.len() == Resolution::ALL.len() => Some("must end, however".into()),
            [one] => Some(format!("must {one}")),
            [first @ .., last] => Some(format!("must {} or {last}", first.join(", "))),
        }
    }
}

impl Mover {
    /// What is to be done or waited for.
    pub fn sentence(&self, clock: Clock<'_>) -> String {
        match self {
            Self::Clock { at, then } => format!("at {} {then}", clock(*at)),
            Self::Worker { action } => format!("a worker that offers {action}"),
            Self::Run { run } => format!("run {} ends: `edgewise why {}`", run.short(), run.short()),
            Self::Slot { run, task, command } => {
                format!("{task} of run {} ends, by itself or by `{command}`", run.short())
            }
            Self::Setting { queue } => format!("edgewise queues resume {queue}"),
            Self::Engine => "an engine at work in this folder".into(),
            Self::Holder => "its worker reports how it ended".into(),
            Self::Person { command, .. } => command.clone(),
        }
    }
}

fn upstream(edges: u32, needed: u32, accepted: u32) -> String {
    match (edges, needed) {
        (1, _) => "blocked".into(),
        (_, 1) => format!("blocked, needs one of {edges}"),
        _ => format!("blocked, has {accepted} of {needed} that it needs"),
    }
}

/// `, since 12:00:05`
fn from(since: Time, clock: Clock<'_>) -> String {
    since.known().map(|at| format!(", since {}", clock(at))).unwrap_or_default()
}

fn tries(attempt: u16, max_attempts: u16) -> String {
    format!("attempt {attempt} of {}", max_attempts.max(attempt))
}

/// `gate, waits for 2 of lead, quality (has lead)`
fn approval(count: u32, from: &[&str], have: &[&str]) -> String {
    let whom = match (from, count) {
        ([], 1) => "anybody".to_owned(),
        ([], _) => format!("{count} people"),
        ([one], _) => (*one).to_owned(),
        _ => format!("{count} of {}", from.join(", ")),
    };
    let have = if have.is_empty() { String::new() } else { format!(" (has {})", have.join(", ")) };
    format!("gate, waits for {whom}{have}")
}

/// `by ada at 12:00:05: wrong version`
fn by(act: &Act, clock: Clock<'_>) -> String {
    let why = act.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("by {} at {}{why}", act.by, clock(act.at))
}

fn past(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Success => "succeeded",
        Resolution::Failed => "failed",
        Resolution::Skipped => "was skipped",
        Resolution::Cancelled => "was cancelled",
    }
}

fn wish(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Success => "succeed",
        Resolution::Failed => "fail",
        Resolution::Skipped => "be skipped",
        Resolution::Cancelled => "be cancelled",
    }
}
