//! What the outside world is told of a run's gates that wait for people: that they are asked, and that more of them are.
//!
//! Nobody declares these: they all go into one queue, whatever the flow, so that whoever brings questions to people by chat
//! or mail reads one queue and hears of flows that are registered tomorrow.

use super::{DomainEvent, Subject, labels};
use crate::event::{TaskIx, TimerKey, TimerKind};
use crate::gate::{Gate, Wait};
use crate::name::Name;
use crate::plan::{Delivery, Work};
use crate::run::Run;
use crate::time::Time;
use serde_json::{Map, Value, json};

/// The queue of everything that is told of gates of runs.
pub const NAMESPACE: &str = "gates";

/// The gate was reached, and its first people are asked. Nothing if it does not wait for people.
pub(super) fn asked(run: &Run, task: TaskIx, at: Time) -> Option<DomainEvent> {
    let Work::Gate(gate) = &run.spec_of(task).work else { return None };
    let Wait::Approval { from, .. } = &gate.wait else { return None };
    told(run, (task, gate), at, &Said { what: "asked", step: 0, asked: from })
}

/// The gate stayed closed, and more people are asked.
pub(super) fn escalated(run: &Run, task: TaskIx, at: Time) -> Option<DomainEvent> {
    let Work::Gate(gate) = &run.spec_of(task).work else { return None };
    let step = run.next_step(task) - 1;
    let asked = &run.escalation(task, step)?.to;
    told(run, (task, gate), at, &Said { what: "escalated", step, asked })
}

/// What is new.
struct Said<'a> {
    what: &'static str,
    /// The step of `escalate`; 0 is before the first.
    step: u16,
    /// Who is asked now; anybody if empty.
    asked: &'a [Name],
}

fn told(run: &Run, (task, gate): (TaskIx, &Gate), at: Time, said: &Said<'_>) -> Option<DomainEvent> {
    let path = run.path(task);
    let entry = &run.tasks[task.0 as usize];
    let mut data = Map::new();
    data.insert("flow".into(), run.plan.flow.as_str().into());
    data.insert("run".into(), run.id.to_string().into());
    data.insert("task".into(), path.as_str().into());
    data.insert("generation".into(), entry.generation.into());
    data.insert("what".into(), said.what.into());
    if said.step > 0 {
        data.insert("step".into(), said.step.into());
    }
    data.insert("asked".into(), json!(said.asked));
    if let Wait::Approval { count, .. } = gate.wait {
        data.insert("count".into(), count.into());
    }
    let approved: Vec<&Name> = run.approvals.get(&task).into_iter().flatten().map(|given| &given.by).collect();
    data.insert("approved".into(), json!(approved));
    data.insert("since".into(), entry.ready_at.to_string().into());
    let deadline = run.timers.range(TimerKey::all_of(task)).find(|(key, _)| key.kind == TimerKind::Deadline);
    data.extend(deadline.map(|(_, due)| ("deadline".into(), Value::from(due.to_string()))));
    data.extend(labels(run).map(|labels| ("labels".into(), labels)));
    let name = Name::parse(&format!("edgewise.gate.{}", said.what)).ok()?;
    let text = format!("{}/{}/{}/{}/{name}", run.id, task.0, entry.generation, said.step);
    Some(DomainEvent {
        id: blake3::hash(text.as_bytes()).to_hex().as_str()[..32].to_owned(),
        namespace: Name::parse(NAMESPACE).ok()?,
        name,
        delivery: Delivery::Broadcast,
        about: Subject::Task(run.id, path),
        at,
        data: data.into(),
    })
}
