//! Gates of runs as programs see them: what waits for people or for the world, and what somebody must know to decide.

use super::history::{Moved, transitions};
use super::rfc3339;
use super::run::TaskFacts;
use crate::reader::Reader;
use edgewise_core::event::{Event, TaskIx};
use edgewise_core::gate::OnDeadline;
use edgewise_core::history::Stream;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::plan::Work;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_core::why::{Because, Cause, Escalates, Mover};
use edgewise_core::work::GateWait;
use edgewise_core::{Error, Result};
use edgewise_store::RunFilter;
use serde::Serialize;
use serde_json::{Value, json};

/// A gate that is closed.
#[derive(Debug, Serialize)]
pub struct ClosedGate {
    /// Which run.
    pub run: RunId,
    /// Its flow.
    pub flow: Option<Name>,
    /// The gate's path.
    pub task: String,
    /// Its generation.
    pub generation: u16,
    /// When it was reached.
    pub since: Option<String>,
    /// How many must say yes; absent if it only waits for an instant.
    pub count: Option<u32>,
    /// Who may.
    pub from: Vec<Name>,
    /// Who has.
    pub approved: Vec<Name>,
    /// Who may later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub escalates: Vec<Escalates>,
    /// Whether a call of its address opens it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub webhook: bool,
    /// The system that it waits for, and what it is called there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<Elsewhere>,
    /// The gate of the work graph that it opens with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<String>,
    /// When it opens by itself.
    pub opens_at: Option<String>,
    /// How long it may stay closed.
    pub deadline: Option<String>,
    /// What happens then.
    pub on_deadline: Option<OnDeadline>,
    /// What people would type.
    pub approve: Vec<String>,
    /// When it moves by itself at the latest, for whoever prints it otherwise.
    #[serde(skip)]
    pub until: Time,
}

/// Something in another system.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// Which system.
    pub system: Name,
    /// What it is called there.
    pub id: String,
}

impl ClosedGate {
    /// All that are closed in a run.
    pub fn of_run(run: &Run) -> Vec<Self> {
        let gates = (0..run.total()).map(TaskIx).filter(|task| is_closed(run, *task));
        gates.map(|task| Self::of(run, task)).collect()
    }

    fn of(run: &Run, task: TaskIx) -> Self {
        let cause = Cause::of(run, task);
        let entry = &run.tasks[task.0 as usize];
        let commands = cause.moved_by.into_iter().filter_map(|mover| match mover {
            Mover::Person { command, .. } => Some(command),
            _ => None,
        });
        let mut closed = Self {
            run: run.id,
            flow: run.about.as_ref().map(|about| about.flow.clone()),
            task: cause.path,
            generation: entry.generation,
            since: rfc3339(entry.started_at),
            approve: commands.collect(),
            count: None,
            from: Vec::new(),
            approved: Vec::new(),
            escalates: Vec::new(),
            webhook: false,
            external: None,
            shared: None,
            opens_at: None,
            deadline: None,
            on_deadline: None,
            until: Time::NEVER,
        };
        match cause.because {
            Because::Approval { count, from, have, escalates, deadline, on_deadline } => {
                (closed.count, closed.from, closed.approved) = (Some(count), from, have);
                (closed.deadline, closed.on_deadline) = (rfc3339(deadline), Some(on_deadline));
                (closed.escalates, closed.until) = (escalates, deadline);
            }
            Because::Webhook { deadline, on_deadline } => {
                (closed.webhook, closed.until) = (true, deadline);
                (closed.deadline, closed.on_deadline) = (rfc3339(deadline), Some(on_deadline));
            }
            Because::External { system, id, deadline, on_deadline } => {
                (closed.external, closed.until) = (Some(Elsewhere { system, id }), deadline);
                (closed.deadline, closed.on_deadline) = (rfc3339(deadline), Some(on_deadline));
            }
            Because::Shared { gate, deadline, on_deadline } => {
                (closed.shared, closed.until) = (Some(gate), deadline);
                (closed.deadline, closed.on_deadline) = (rfc3339(deadline), Some(on_deadline));
            }
            Because::Time { until } => (closed.opens_at, closed.until) = (rfc3339(until), until),
            _ => {}
        }
        closed
    }
}

fn is_closed(run: &Run, task: TaskIx) -> bool {
    run.tasks[task.0 as usize].state == TaskState::InProgress && matches!(run.spec_of(task).work, Work::Gate(_))
}

/// Runs in which a gate may be closed, the oldest first: whoever waited longest is read first.
pub fn begun(reader: &mut Reader) -> Result<Vec<RunId>> {
    let states = RunState::ALL.into_iter().filter(|state| !state.is_done()).collect();
    let rows = reader.runs(&RunFilter { states, limit: usize::MAX, ..RunFilter::default() })?;
    let begun = rows.iter().rev().filter(|row| row.counts[TaskState::InProgress as usize] > 0);
    Ok(begun.map(|row| row.id).collect())
}

/// A gate with what somebody must know to decide: what the run was given, what the tasks before it made (or those that
/// are named), and what was said so far.
pub fn with_evidence(reader: &mut Reader, run: RunId, path: &str, named: &[String]) -> Result<Value> {
    let run = reader.run(run)?;
    let run = reader.whole(run)?;
    let gate = find(&run, path)?;
    let Work::Gate(about) = &run.spec_of(gate).work else {
        let message = format!("`{path}` of run {} is no gate", run.id);
        return Err(Error::invalid("not_a_gate", message));
    };
    let before: Vec<TaskIx> = match (named, about.evidence.as_slice()) {
        ([], []) => upstream(&run, gate),
        ([], evidence) => evidence.iter().filter_map(|name| run.find(name)).collect(),
        (named, _) => named.iter().map(|path| find(&run, path)).collect::<Result<_>>()?,
    };
    let entries = reader.ledger(run.id)?;
    let stream = Stream { run: run.id, plan_hash: run.plan_hash, plan: &run.plan, entries: &entries };
    let about_people = |moved: &Moved| moved.said.is_some() || !moved.asked.is_empty();
    let said: Vec<Moved> = transitions(&run, &stream, Some(gate)).into_iter().filter(about_people).collect();
    let closed = is_closed(&run, gate).then(|| ClosedGate::of(&run, gate));
    let evidence: Vec<TaskFacts<'_>> = before.into_iter().map(|task| TaskFacts::new(&run, task)).collect();
    Ok(json!({
        "gate": TaskFacts::new(&run, gate),
        "waits": closed,
        "input": run.about.as_ref().map(|about| &about.input),
        "evidence": evidence,
        "said": said,
    }))
}

/// Whether a gate of a run was opened by a delivery, in a generation.
pub fn opened_by(reader: &mut Reader, run: RunId, (task, generation): (TaskIx, u16), delivery: &str) -> Result<bool> {
    let same = |event: &Event| {
        matches!(event, Event::GateSatisfied(e)
            if (e.task, e.generation) == (task, generation) && e.delivery.as_deref() == Some(delivery))
    };
    Ok(reader.ledger(run)?.iter().any(|entry| same(&entry.event)))
}

fn upstream(run: &Run, task: TaskIx) -> Vec<TaskIx> {
    let scope = run.scope_of(task);
    run.region_of(scope).needs(run.node_of(task)).map(|(_, need)| TaskIx(scope.task + need.up)).collect()
}

fn find(run: &Run, path: &str) -> Result<TaskIx> {
    run.find(path).ok_or_else(|| {
        let message = format!("run {} has no task `{path}`; `edgewise show {}` lists them", run.id, run.id.short());
        Error::not_found("task_not_found", message)
    })
}

/// What opens a gate, in words.
pub fn opens(wait: &GateWait) -> String {
    match wait {
        GateWait::Timer { wait_until } => format!("opens at {wait_until}"),
        GateWait::Approval { required_approvers, approval_count } => {
            let names: Vec<&str> = required_approvers.iter().map(Name::as_str).collect();
            let all = u32::try_from(names.len()).unwrap_or(u32::MAX).max(1);
            match (approval_count.unwrap_or(all), names.as_slice()) {
                (1, []) => "opens when anybody approves".to_owned(),
                (n, []) => format!("opens when {n} people approve"),
                (n, names) if n == all => {
                    format!("opens when {} approve{}", names.join(" and "), if all == 1 { "s" } else { "" })
                }
                (n, names) => format!("opens when {n} of {} approve", names.join(", ")),
            }
        }
        GateWait::External { external_system, external_id } => {
            format!("opens when {external_system} says so of {external_id}")
        }
        GateWait::Webhook => "opens when its address is called".to_owned(),
    }
}
