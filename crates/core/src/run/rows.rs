//! Rows out of a run, and a run out of its rows.
//!
//! Loading a run is its rows plus the ledger's tail after them, so the rows hold all that the fold
//! needs. What follows from something else is not stored twice: edges follow from plan and task rows,
//! counts from edges, scopes from the spreads that made them.

mod given;
mod load;

use super::{About, Adopted, Asked, Chunk, End, Held, Reason, Run};
use crate::event::{Failure, LinkRef, LinkRequested, TaskFinished, TaskIx, TimerKey, TimerKind};
use crate::fold::Ignored;
use crate::gate::Approval;
use crate::id::{RunId, TokenHash};
use crate::plan::{Resolution, Var, Work};
use crate::rows::{KeyLimit, Marks, OutboxRow, RunRow, TaskRow, Turn};
use crate::state::TaskState;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
struct RunBody {
    about: Option<About>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<LinkRequested>,
    /// Whether the input stands in a row of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    given: bool,
    planned: bool,
    /// How often finished work of it was opened again, and one.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    generation: u16,
    /// Children that nobody waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    disowned: Vec<(LinkRef, RunId)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frozen: Option<Asked>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancel: Option<Asked>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolved: Option<Asked>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given_up: Option<Asked>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    kept: BTreeMap<u32, Resolution>,
    #[serde(default, skip_serializing_if = "is_zero")]
    unknown: u32,
    /// How many scopes, tasks and edges were made, where some may have been given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<(u32, u32, u32)>,
    /// Chains that stand at no task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stalled: Vec<Stalled>,
    /// How a program ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
struct Stalled {
    scope: u32,
    at: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    since: Vec<(Var, Held)>,
}

#[derive(Default, Serialize, Deserialize)]
struct TaskBody {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    timers: Vec<(TimerKind, u16, Time)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    returned: Vec<TokenHash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    adopted: Option<Adopted>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    approvals: Vec<Approval>,
    /// When more people were asked, step by step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    escalated: Vec<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    composite: Option<CompositeBody>,
    /// How many items and variables stand in a row of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given: Option<(u32, u32)>,
    /// What its chain assigned just before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<(Var, Held)>,
    /// What its chain was handed while it is at work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    since: Vec<(Var, Held)>,
}

#[derive(Serialize, Deserialize)]
struct CompositeBody {
    #[serde(default, skip_serializing_if = "is_empty")]
    items: Arc<Vec<Value>>,
    total: u32,
    chunks: Vec<Chunk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caught: Option<Box<Failure>>,
    /// How many scopes ended, and how many badly, where they were given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<(u32, u32)>,
    /// What it had handed on when its last scope began, once it is done: before, its chain has just that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    handed: Vec<(Var, Held)>,
}

fn is_empty(items: &Arc<Vec<Value>>) -> bool {
    items.is_empty()
}

fn one() -> u16 {
    1
}

fn is_one(n: &u16) -> bool {
    *n == 1
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn json<T: Serialize>(value: &T) -> String {
    // Our own types are all JSON: maps have text keys, numbers are finite.
    serde_json::to_string(value).unwrap_or_default()
}

impl RunRow {
    /// What was asked for, if the row can be read.
    pub fn about(&self) -> Option<About> {
        serde_json::from_str::<RunBody>(&self.body).ok()?.about
    }

    /// Who froze it, if an operator did and the row can be read.
    pub fn frozen(&self) -> Option<Asked> {
        serde_json::from_str::<RunBody>(&self.body).ok()?.frozen
    }

    /// Whose child the run is, if it is one and the row can be read.
    pub fn parent(&self) -> Option<LinkRequested> {
        serde_json::from_str::<RunBody>(&self.body).ok()?.parent
    }
}

impl TaskRow {
    /// What the run would say to a report about an attempt that is over, read off the row alone: a loop that is
    /// past it has given it back.
    pub fn answer_again(&self, report: &TaskFinished) -> Ignored {
        let current = self.generation == report.generation && self.attempt == report.attempt;
        let made = || self.output.as_ref().map_or(Some(Value::Null), |text| serde_json::from_str(text).ok());
        let told = || report.output.as_ref().map_or(Some(Value::Null), |raw| serde_json::from_str(raw.get()).ok());
        let same = || match &report.error {
            None => self.state == TaskState::Complete && made() == told(),
            Some(failure) => {
                let reason = self.error.as_ref().and_then(|text| serde_json::from_str::<Reason>(text).ok());
                matches!(reason, Some(Reason::Failed(first)) if *first == *failure)
            }
        };
        let again = current && self.token == report.token && report.attempt > 0 && same();
        if again { Ignored::Duplicate } else { Ignored::Stale }
    }
}

impl Run {
    /// The run's own row.
    pub fn row(&self) -> Option<RunRow> {
        let about = self.about.as_ref()?;
        let given = self.has_much_input();
        let told = if given { About { input: Arc::default(), ..about.clone() } } else { about.clone() };
        Some(RunRow {
            id: self.id,
            flow: about.flow.clone(),
            plan: self.plan_hash,
            state: self.state,
            paused: self.paused,
            counts: self.counts,
            triggered_at: about.at,
            started_at: self.started_at,
            completed_at: self.completed_at,
            applied_seq: self.seq,
            version: self.last,
            marks: self.marks(about),
            body: json(&RunBody {
                about: Some(told),
                given,
                parent: self.parent.clone(),
                planned: self.planned,
                generation: self.generation,
                disowned: self.disowned.iter().map(|(link, child)| (*link, *child)).collect(),
                frozen: self.frozen.clone(),
                cancel: self.cancel.clone(),
                resolved: self.resolved.clone(),
                given_up: self.given_up.clone(),
                kept: self.kept.clone(),
                unknown: self.unknown,
                made: self.may_have_gaps().then(|| self.made()),
                stalled: self.stalled_chains(),
                end: self.end.clone(),
            }),
        })
    }

    fn marks(&self, about: &About) -> Marks {
        let namespace = self.plan.naming.namespace.clone().filter(|namespace| *namespace != about.flow);
        let (by, key, labels) = (Some(about.by.clone()), about.key.clone(), about.labels.clone());
        Marks { namespace, by, key, parent: None, labels }
    }

    /// A task's row.
    pub fn task_row(&self, ix: TaskIx) -> TaskRow {
        let task = &self.tasks[ix.0 as usize];
        let is_spread = matches!(self.spec_of(ix).work, Work::Spread(_) | Work::Parallel(_));
        TaskRow {
            task: ix,
            scope: task.scope,
            region: self.scopes[task.scope as usize].region,
            node: ix.0 - self.scopes[task.scope as usize].task,
            path: (task.scope != 0).then(|| self.path(ix)),
            generation: task.generation,
            state: task.state,
            attempt: task.attempt,
            token: task.token,
            ready_at: task.ready_at,
            started_at: task.started_at,
            completed_at: task.completed_at,
            // A spread's list is its items' outputs, which have rows of their own, unless an operator gave it.
            output: self.outputs.get(&ix).filter(|_| !is_spread || self.given_by_operator(ix)).map(ToString::to_string),
            error: self.reasons.get(&ix).map(json),
            body: self.task_body(ix),
            version: task.version,
        }
    }

    fn task_body(&self, ix: TaskIx) -> Option<String> {
        let timers: Vec<_> =
            self.timers.range(TimerKey::all_of(ix)).map(|(k, due)| (k.kind, k.attempt, *due)).collect();
        let approvals = self.approvals.get(&ix).cloned().unwrap_or_default();
        let escalated = self.escalated.get(&ix).cloned().unwrap_or_default();
        let given = self.given_to(ix);
        let composite = self.composites.get(&ix).map(|c| CompositeBody {
            items: if given.is_none() { Arc::clone(&c.items) } else { Arc::default() },
            total: c.total,
            chunks: c.chunks.clone(),
            caught: c.caught.clone(),
            ended: (c.chunks.is_empty() && c.done > 0).then_some((c.done, c.failed)),
            handed: if self.tasks[ix.0 as usize].state.is_done() { c.handed.clone() } else { Vec::new() },
        });
        let returned = self.returned.get(&ix).cloned().unwrap_or_default();
        let before = self.before.get(&ix).filter(|_| given.is_none()).cloned().unwrap_or_default();
        let since = self.since(ix);
        let adopted = self.adopted.get(&ix).cloned();
        let unasked = approvals.is_empty() && escalated.is_empty();
        let plain = timers.is_empty() && returned.is_empty() && unasked && composite.is_none();
        if plain && given.is_none() && before.is_empty() && since.is_empty() && adopted.is_none() {
            return None;
        }
        Some(json(&TaskBody { timers, returned, adopted, approvals, escalated, composite, given, before, since }))
    }

    /// What a chain was handed since the task it stands at began.
    fn since(&self, ix: TaskIx) -> Vec<(Var, Held)> {
        let number = self.tasks[ix.0 as usize].scope;
        match self.chains.get(&number) {
            Some(chain) if !chain.fresh.is_empty() && self.is_at(number, ix) => chain.since(),
            _ => Vec::new(),
        }
    }

    /// Whether scopes may have been given back: by loops and spreads of programs, or because they were done anew.
    pub(crate) fn may_have_gaps(&self) -> bool {
        self.is_program() || self.generation > 1
    }

    fn made(&self) -> (u32, u32, u32) {
        (self.scopes.len() as u32, self.tasks.len() as u32, self.edges.len() as u32)
    }

    fn stalled_chains(&self) -> Vec<Stalled> {
        let one = |scope: &u32| {
            let chain = self.chains.get(scope)?;
            Some(Stalled { scope: *scope, at: chain.at, since: chain.since() })
        };
        self.stalled.iter().filter_map(one).collect()
    }

    /// Whether a spread's output is not the list of its items' outputs.
    fn given_by_operator(&self, ix: TaskIx) -> bool {
        self.outputs.get(&ix).is_some_and(|output| self.gather(ix).as_ref() != Ok(&**output))
    }

    /// The outbox row of a run with statements that its fold has still to run.
    pub fn stall_row(&self) -> Option<OutboxRow> {
        let action = crate::name::Name::parse(super::ADVANCE_ACTION).ok()?;
        let ready_at = self.about.as_ref()?.at;
        let turn = Turn::default();
        let row = OutboxRow { task: super::WHOLE_RUN, generation: 1, attempt: 1, action, ready_at, turn };
        (!self.stalled.is_empty()).then_some(row)
    }

    /// The outbox row of a run with children that its tasks went on without.
    pub fn disowned_row(&self) -> Option<OutboxRow> {
        let action = crate::name::Name::parse(super::DISOWNED_ACTION).ok()?;
        let ready_at = self.about.as_ref()?.at;
        let turn = Turn::default();
        let row = OutboxRow { task: super::DISOWNED, generation: 1, attempt: 1, action, ready_at, turn };
        (!self.disowned.is_empty()).then_some(row)
    }

    /// The outbox row of a task that waits for a worker, of a spread that is still to be made whole, or of a task
    /// that waits for its child.
    pub fn outbox_row(&self, ix: TaskIx) -> Option<OutboxRow> {
        let task = &self.tasks[ix.0 as usize];
        let (action, attempt) = match task.state {
            TaskState::Enqueued => (self.action_of(ix)?, task.attempt + 1),
            TaskState::InProgress if self.advancing.contains(&ix) => (super::ADVANCE_ACTION, task.attempt + 1),
            _ => (super::SUB_RUN_ACTION, self.awaited(ix)?.attempt),
        };
        let action = crate::name::Name::parse(action).ok()?;
        let generation = task.generation;
        let turn = if task.state == TaskState::Enqueued { self.turn(ix) } else { Turn::default() };
        Some(OutboxRow { task: ix, generation, attempt, action, ready_at: task.ready_at, turn })
    }

    /// How a task takes its turn among others. Its key was evaluated when it became ready, from facts, so that comes
    /// to the same here.
    pub fn turn(&self, ix: TaskIx) -> Turn {
        let share = &self.spec_of(ix).share;
        let limit = share.limit.as_ref().and_then(|limit| {
            let key = self.limit_key(ix).ok().flatten()?;
            Some(KeyLimit { key, max: limit.max, rate: limit.rate })
        });
        Turn { queue: share.queue.clone(), priority: share.priority, limit }
    }

    /// Whether a task has left its first state, and so has a row.
    pub fn has_row(&self, ix: TaskIx) -> bool {
        let task = &self.tasks[ix.0 as usize];
        task.state != TaskState::Pending || task.generation > self.scopes[task.scope as usize].generation
    }
}
