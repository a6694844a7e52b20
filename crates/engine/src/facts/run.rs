//! A run as programs see it: everything there is to know, paths instead of numbers.

use super::{own_key, rfc3339};
use edgewise_core::event::{Failure, TaskIx, TimerKey, TimerKind};
use edgewise_core::gate::Gate;
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::plan::{Join, Resolution, Work};
use edgewise_core::run::{Reason, Run};
use edgewise_core::state::{Phase, RunState, TaskState};
use edgewise_core::why::Act;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run with all its tasks.
#[derive(Serialize)]
pub struct RunFacts<'a> {
    run: RunId,
    flow: Option<&'a Name>,
    namespace: &'a Name,
    state: RunState,
    phase: Phase,
    paused: bool,
    /// Why only reads work on it.
    frozen: Option<String>,
    /// Who froze it; absent if nobody did and it is marked, as what is damaged is.
    #[serde(skip_serializing_if = "Option::is_none")]
    frozen_by: Option<Act>,
    engine: bool,
    /// Whose child it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<ParentFacts<'a>>,
    plan: PlanHash,
    rules: Option<u32>,
    by: Option<&'a Name>,
    key: Option<&'a String>,
    labels: Option<&'a BTreeMap<String, String>>,
    triggered_at: Option<String>,
    started_at: Option<String>,
    completed_at: Option<String>,
    input: Option<&'a Arc<Value>>,
    output: Option<Value>,
    output_error: Option<Failure>,
    /// The failure that a program ended with.
    failure: Option<&'a Failure>,
    cancel: Option<Act>,
    resolved: Option<Act>,
    given_up: Option<Act>,
    seq: u64,
    last_event: EventId,
    unknown_events: u32,
    counts: BTreeMap<String, u32>,
    tasks: Vec<TaskFacts<'a>>,
}

/// One task.
#[derive(Serialize)]
pub struct TaskFacts<'a> {
    path: String,
    task: TaskIx,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'a str>,
    /// The flow that it is a run of, and that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<&'a Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    child: Option<RunId>,
    state: TaskState,
    phase: Phase,
    generation: u16,
    attempt: u16,
    max_attempts: u16,
    ready_at: Option<String>,
    started_at: Option<String>,
    completed_at: Option<String>,
    output: Option<&'a Arc<Value>>,
    reason: Option<ReasonFacts<'a>>,
    join: Join,
    needs: Vec<EdgeFacts>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    timers: BTreeMap<TimerKind, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<GateFacts<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<SpreadFacts>,
    row_version: EventId,
}

/// The task that waits for the run.
#[derive(Serialize)]
struct ParentFacts<'a> {
    run: RunId,
    task: &'a str,
    generation: u16,
    attempt: u16,
}

/// Why it did not succeed.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ReasonFacts<'a> {
    Failed(&'a Failure),
    Upstream { task: String, resolution: Resolution },
    BecauseOf { task: String },
    When,
    Operator(Act),
}

#[derive(Serialize)]
struct EdgeFacts {
    task: String,
    accepts: Vec<Resolution>,
    resolution: Option<Resolution>,
}

#[derive(Serialize)]
struct GateFacts<'a> {
    #[serde(flatten)]
    gate: &'a Gate,
    approved_by: Vec<&'a Name>,
}

#[derive(Serialize)]
struct SpreadFacts {
    total: u32,
    made: u32,
    done: u32,
    failed: u32,
}

impl<'a> RunFacts<'a> {
    /// A run as it is now, or was; `frozen` is its mark, if it has one, and `engine` says whether somebody works on it.
    pub fn new(run: &'a Run, frozen: Option<String>, engine: bool) -> Self {
        let about = run.about.as_ref();
        let (output, output_error) = match run.state.is_done().then(|| run.final_output()) {
            Some(Ok(output)) => (Some(output), None),
            Some(Err(failure)) => (None, Some(failure)),
            None => (None, None),
        };
        let counts = TaskState::ALL.iter().zip(run.counts).filter(|(_, n)| *n > 0);
        Self {
            run: run.id,
            flow: about.map(|a| &a.flow),
            namespace: run.plan.namespace(),
            state: run.state,
            phase: run.state.phase(),
            paused: run.paused,
            frozen: frozen.or_else(|| run.freeze_mark()),
            frozen_by: run.frozen.as_ref().map(Act::from),
            engine,
            parent: run.parent.as_ref().map(|parent| ParentFacts {
                run: parent.run,
                task: &parent.path,
                generation: parent.link.generation,
                attempt: parent.link.attempt,
            }),
            plan: run.plan_hash,
            rules: about.map(|a| a.rules),
            by: about.map(|a| &a.by),
            key: own_key(about.and_then(|a| a.key.as_ref())),
            labels: about.map(|a| &a.labels),
            triggered_at: about.and_then(|a| rfc3339(a.at)),
            started_at: rfc3339(run.started_at),
            completed_at: rfc3339(run.completed_at),
            input: about.map(|a| &a.input),
            output,
            output_error,
            failure: run.failure(),
            cancel: run.cancel.as_ref().map(Act::from),
            resolved: run.resolved.as_ref().map(Act::from),
            given_up: run.given_up.as_ref().map(Act::from),
            seq: run.seq,
            last_event: run.last,
            unknown_events: run.unknown,
            counts: counts.map(|(state, n)| (format!("{state:?}"), n)).collect(),
            tasks: in_order(run, true).into_iter().map(|(task, _)| TaskFacts::new(run, task)).collect(),
        }
    }
}

impl<'a> TaskFacts<'a> {
    /// A task as it is now.
    pub fn new(run: &'a Run, ix: TaskIx) -> Self {
        let (task, spec) = (&run.tasks[ix.0 as usize], run.spec_of(ix));
        let (kind, action, gate) = match &spec.work {
            Work::Action { action, .. } => ("action", Some(action.as_str()), None),
            Work::Command(_) => ("command", None, None),
            Work::Gate(gate) => ("gate", None, Some(gate)),
            other => (other.kind(), None, None),
        };
        let approved = run.approvals.get(&ix).into_iter().flatten().map(|a| &a.by);
        let timers = run.timers.range(TimerKey::all_of(ix));
        Self {
            path: run.path(ix),
            task: ix,
            kind,
            action,
            flow: run.sub_run(ix).map(|sub| &sub.flow),
            child: run.last_child(ix),
            state: task.state,
            phase: run.phase_of(ix),
            generation: task.generation,
            attempt: task.attempt,
            max_attempts: spec.retry.max_attempts,
            ready_at: rfc3339(task.ready_at),
            started_at: rfc3339(task.started_at),
            completed_at: rfc3339(task.completed_at),
            output: run.outputs.get(&ix),
            reason: run.reasons.get(&ix).map(|reason| ReasonFacts::new(run, reason)),
            join: run.region_of(run.scope_of(ix)).join(run.node_of(ix)),
            needs: edges(run, ix),
            timers: timers.map(|(key, due)| (key.kind, due.to_string())).collect(),
            gate: gate.map(|gate| GateFacts { gate, approved_by: approved.collect() }),
            spread: run.composites.get(&ix).filter(|_| forks(&spec.work)).map(|s| SpreadFacts {
                total: s.total,
                made: s.made(),
                done: s.done,
                failed: s.failed,
            }),
            row_version: task.version,
        }
    }
}

impl<'a> ReasonFacts<'a> {
    fn new(run: &Run, reason: &'a Reason) -> Self {
        match reason {
            Reason::Failed(failure) => Self::Failed(failure),
            Reason::Upstream { task, resolution } => Self::Upstream { task: run.path(*task), resolution: *resolution },
            Reason::BecauseOf { task } => Self::BecauseOf { task: run.path(*task) },
            Reason::When => Self::When,
            Reason::Operator(asked) => Self::Operator(Act::from(&**asked)),
        }
    }
}

/// Whether it does many things at once.
fn forks(work: &Work) -> bool {
    matches!(work, Work::Spread(_) | Work::Parallel(_))
}

fn edges(run: &Run, ix: TaskIx) -> Vec<EdgeFacts> {
    let scope = run.scope_of(ix);
    let needs = run.region_of(scope).needs(run.node_of(ix));
    let facts = needs.map(|(edge, need)| EdgeFacts {
        task: run.path(TaskIx(scope.task + need.up)),
        accepts: Resolution::ALL.into_iter().filter(|r| need.accepts.contains(*r)).collect(),
        resolution: run.resolution(scope, edge),
    });
    facts.collect()
}

/// All tasks in plan order, each composite followed by what is inside of it; with how deep they are nested. The items
/// of spreads and what a program did not come to are only there if all is wanted.
pub fn in_order(run: &Run, all: bool) -> Vec<(TaskIx, usize)> {
    let tasks_of = |scope: u32| {
        let scope = &run.scopes[scope as usize];
        scope.task..scope.task + run.region_of(scope).len()
    };
    let mut ordered = Vec::new();
    // What is left of each scope that was begun, the innermost last.
    let mut begun: Vec<(std::ops::Range<u32>, usize)> = Vec::new();
    if !run.scopes.is_empty() {
        begun.push((tasks_of(0), 0));
    }
    while let Some((left, depth)) = begun.last_mut() {
        let depth = *depth;
        let Some(task) = left.next().map(TaskIx) else {
            begun.pop();
            continue;
        };
        if !all && run.was_not_reached(task) {
            continue;
        }
        ordered.push((task, depth));
        let forks = matches!(run.spec_of(task).work, Work::Spread(_) | Work::Parallel(_));
        if let Some(spread) = run.composites.get(&task).filter(|_| all || !forks) {
            let scopes: Vec<u32> = spread.scopes().collect();
            begun.extend(scopes.into_iter().rev().map(|scope| (tasks_of(scope), depth + 1)));
        }
    }
    ordered
}
