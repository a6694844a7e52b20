//! Domain events: what the outside world is told of a run or of the work graph, derived from what an event changed in it.
//!
//! Nothing here is a fact of its own. The same ledger tells the same domain events under the same ids on any
//! machine, so whoever publishes may crash and begin again without losing one and without telling one twice.

mod gate;
mod work;

pub use gate::NAMESPACE as GATES;
pub use work::{Cause, NAMESPACE as WORK, told_of_work};

use crate::event::{Failure, TaskIx};
use crate::fold::Changes;
use crate::id::RunId;
use crate::limits;
use crate::name::Name;
use crate::plan::{Condition, Delivery, Emit, Publish, Work};
use crate::run::{End, Run};
use crate::state::{Move, RunState, TaskState};
use crate::template::Template;
use crate::time::Time;
use crate::work::ItemId;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What the outside world is told.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainEvent {
    /// The same for the same thing, however often it is derived.
    pub id: String,
    /// The queue it belongs to.
    pub namespace: Name,
    /// What it is called.
    pub name: Name,
    /// How it travels.
    pub delivery: Delivery,
    /// What it tells of.
    pub about: Subject,
    /// When what it tells of was committed.
    pub at: Time,
    /// What is told.
    pub data: Value,
}

/// What a domain event tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A run.
    Run(RunId),
    /// A task of a run, by its path.
    Task(RunId, String),
    /// An item or a gate of the work graph.
    Item(ItemId),
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run(run) => write!(f, "{run}"),
            Self::Task(run, path) => write!(f, "{run}/{path}"),
            Self::Item(id) => f.write_str(id.as_str()),
        }
    }
}

/// How something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Well.
    Success,
    /// An attempt failed, and there is another one.
    RetryableFailure,
    /// For good.
    PermanentFailure,
    /// It never began.
    Skipped,
    /// It was not wanted any more.
    Cancelled,
}

impl Ended {
    /// Whether this is what a condition waits for.
    pub fn fits(self, condition: Condition) -> bool {
        match condition {
            Condition::Always => true,
            Condition::Success => self == Self::Success,
            Condition::Failure => matches!(self, Self::RetryableFailure | Self::PermanentFailure),
            Condition::RetryableFailure => self == Self::RetryableFailure,
            Condition::PermanentFailure => self == Self::PermanentFailure,
        }
    }

    /// How a task ended that has come to this state; `None` if it has not ended.
    fn of_task(state: TaskState) -> Option<Self> {
        Some(match state {
            TaskState::Complete | TaskState::ResolvedManually => Self::Success,
            TaskState::WaitingForRetry => Self::RetryableFailure,
            TaskState::Error => Self::PermanentFailure,
            TaskState::Skipped => Self::Skipped,
            TaskState::Cancelled => Self::Cancelled,
            _ => return None,
        })
    }

    fn of_run(state: RunState) -> Option<Self> {
        Some(match state {
            RunState::Complete | RunState::ResolvedManually => Self::Success,
            RunState::Error => Self::PermanentFailure,
            RunState::Cancelled => Self::Cancelled,
            _ => return None,
        })
    }
}

/// Calls `tell` with what the outside world is told of what one event has changed in a run.
pub fn told(run: &Run, at: Time, changes: &Changes, tell: &mut dyn FnMut(DomainEvent)) {
    let plan = std::sync::Arc::clone(&run.plan);
    if !plan.tells.anything() {
        return;
    }
    for step in &changes.moves {
        // What was opened again by the very event that ended it has not ended for anybody.
        let Some(task) = run.task(step.task).filter(|task| task.state == step.to) else { continue };
        if step.by == Move::Begun {
            gate::asked(run, step.task, at).into_iter().for_each(&mut *tell);
        }
        let Some(ended) = Ended::of_task(step.to) else { continue };
        let spec = run.spec_of(step.task);
        let about = About { task: Some(step.task), generation: task.generation, attempt: task.attempt, ended, at };
        match &spec.work {
            Work::Emit(emit) if (step.to, step.by) == (TaskState::Complete, Move::Evaluated) => {
                tell(emitted(run, &about, emit));
            }
            _ => {}
        }
        for publish in spec.publish.iter().filter(|publish| ended.fits(publish.condition)) {
            tell(published(run, &about, publish));
        }
    }
    changes.escalated.iter().filter_map(|task| gate::escalated(run, *task, at)).for_each(&mut *tell);
    let moved = changes.run_moves.last().filter(|(from, to)| !from.is_done() && *to == run.state);
    let Some(ended) = moved.and_then(|(_, to)| Ended::of_run(*to)) else { return };
    let about = About { task: None, generation: run.generation, attempt: 0, ended, at };
    for publish in plan.publish.iter().filter(|publish| ended.fits(publish.condition)) {
        tell(published(run, &about, publish));
    }
}

/// What is told of: which attempt of which task, or the run itself, and how it ended.
struct About {
    task: Option<TaskIx>,
    generation: u16,
    attempt: u16,
    ended: Ended,
    at: Time,
}

fn emitted(run: &Run, about: &About, emit: &Emit) -> DomainEvent {
    let payload = about.task.map(|task| run.output(task).clone()).unwrap_or_default();
    event(run, about, (&emit.name, emit.delivery), Ok(payload))
}

fn published(run: &Run, about: &About, publish: &Publish) -> DomainEvent {
    let payload = match (&publish.payload, about.task) {
        (Some(template), _) => payload(run, about.task, template),
        (None, Some(task)) => Ok(run.output(task).clone()),
        (None, None) => run.final_output(),
    };
    event(run, about, (&publish.name, publish.delivery), payload)
}

fn payload(run: &Run, task: Option<TaskIx>, template: &Template) -> Result<Value, Failure> {
    let place = task.unwrap_or_default();
    if run.task(place).is_none() {
        return Ok(Value::Null);
    }
    run.evaluate(place, template).map(std::borrow::Cow::into_owned)
}

fn event(
    run: &Run,
    about: &About,
    (name, delivery): (&Name, Delivery),
    payload: Result<Value, Failure>,
) -> DomainEvent {
    let namespace = run.plan.namespace().clone();
    let path = about.task.map(|task| run.path(task));
    let mut data = facts(run, about, path.as_deref());
    // Something is always told: that a payload could not be made must not hide that the task has ended.
    match payload.map_err(|failure| failure.chain()).and_then(fitting) {
        Ok(payload) => data.insert("payload".into(), payload),
        Err(why) => data.insert("payload_error".into(), why.into()),
    };
    let id = id(run.id, about, name);
    let (at, subject) = (about.at, path.map_or(Subject::Run(run.id), |path| Subject::Task(run.id, path)));
    DomainEvent { id, namespace, name: name.clone(), delivery, about: subject, at, data: data.into() }
}

fn fitting(payload: Value) -> Result<Value, String> {
    let most = limits::DOMAIN_PAYLOAD_BYTES;
    match serde_json::to_string(&payload).map_or(usize::MAX, |text| text.len()) {
        bytes if bytes <= most => Ok(payload),
        bytes => Err(format!("the payload has {bytes} bytes, at most {most} are told: read the run's output instead")),
    }
}

fn facts(run: &Run, about: &About, path: Option<&str>) -> Map<String, Value> {
    let mut data = Map::new();
    data.insert("flow".into(), run.plan.flow.as_str().into());
    data.insert("run".into(), run.id.to_string().into());
    if let Some(path) = path {
        data.insert("task".into(), path.into());
    }
    data.insert("generation".into(), about.generation.into());
    if about.task.is_some() {
        data.insert("attempt".into(), about.attempt.into());
    }
    data.insert("ended".into(), json!(about.ended));
    if let Some(failure) = failure(run, about) {
        data.insert("error".into(), json!({ "type": failure.kind, "message": failure.message }));
    }
    data.extend(labels(run).map(|labels| ("labels".into(), labels)));
    data
}

fn labels(run: &Run) -> Option<Value> {
    let labels: BTreeMap<&str, &str> =
        run.about.iter().flat_map(|asked| &asked.labels).map(|(key, value)| (key.as_str(), value.as_str())).collect();
    (!labels.is_empty()).then(|| json!(labels))
}

fn failure<'r>(run: &'r Run, about: &About) -> Option<&'r Failure> {
    match (about.task, about.ended) {
        (_, Ended::Success | Ended::Skipped) => None,
        (Some(task), _) => run.failure_of(task),
        (None, _) => match &run.end {
            Some(End::Failed(failure)) => Some(failure),
            _ => None,
        },
    }
}

/// A hash of run, task, generation, attempt, how it ended and name: the same whoever derives it. How it ended, because an
/// attempt that failed and was to be tried again may still be cancelled, or run out of time: that is told too.
fn id(run: RunId, about: &About, name: &Name) -> String {
    let task = about.task.map_or(u32::MAX, |task| task.0);
    let ended = json!(about.ended);
    let text = format!("{run}/{task}/{}/{}/{ended}/{name}", about.generation, about.attempt);
    blake3::hash(text.as_bytes()).to_hex().as_str()[..32].to_owned()
}

impl DomainEvent {
    /// The form that travels: CloudEvents 1.0 as JSON.
    pub fn cloud_event(&self, tenant: &str, workspace: &str) -> Value {
        json!({
            "specversion": "1.0",
            "id": self.id,
            "source": format!("/{tenant}/{workspace}/{}", self.namespace),
            "type": self.name.as_str(),
            "subject": self.about.to_string(),
            "time": self.at.to_string(),
            "datacontenttype": "application/json",
            "data": self.data,
        })
    }
}
