//! Rows out of a run, and a run out of its rows.
//!
//! Loading a run is its rows plus the ledger's tail after them, so the rows hold all that the fold
//! needs. What follows from something else is not stored twice: edges follow from plan and task rows,
//! counts from edges, scopes from the spreads that made them.

use super::{About, Asked, Chunk, Reason, Run, SpreadState};
use crate::error::{Error, Result};
use crate::event::{TaskIx, TimerKey, TimerKind};
use crate::gate::Approval;
use crate::id::TokenHash;
use crate::limits;
use crate::plan::{Plan, Resolution};
use crate::rows::{OutboxRow, RunRow, TaskRow};
use crate::state::TaskState;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
struct RunBody {
    about: Option<About>,
    planned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancel: Option<Asked>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolved: Option<Asked>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    kept: BTreeMap<u32, Resolution>,
    #[serde(default, skip_serializing_if = "is_zero")]
    unknown: u32,
}

#[derive(Default, Serialize, Deserialize)]
struct TaskBody {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    timers: Vec<(TimerKind, u16, Time)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    returned: Vec<TokenHash>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    approvals: Vec<Approval>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spread: Option<SpreadBody>,
}

#[derive(Serialize, Deserialize)]
struct SpreadBody {
    items: Arc<Vec<Value>>,
    total: u32,
    chunks: Vec<Chunk>,
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
}

impl Run {
    /// The run's own row.
    pub fn row(&self) -> Option<RunRow> {
        let about = self.about.as_ref()?;
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
            body: json(&RunBody {
                about: self.about.clone(),
                planned: self.planned,
                cancel: self.cancel.clone(),
                resolved: self.resolved.clone(),
                kept: self.kept.clone(),
                unknown: self.unknown,
            }),
        })
    }

    /// A task's row.
    pub fn task_row(&self, ix: TaskIx) -> TaskRow {
        let task = &self.tasks[ix.0 as usize];
        let is_spread = self.spreads.contains_key(&ix);
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
        let spread = self.spreads.get(&ix).map(|s| SpreadBody {
            items: Arc::clone(&s.items),
            total: s.total,
            chunks: s.chunks.clone(),
        });
        let returned = self.returned.get(&ix).cloned().unwrap_or_default();
        if timers.is_empty() && returned.is_empty() && approvals.is_empty() && spread.is_none() {
            return None;
        }
        Some(json(&TaskBody { timers, returned, approvals, spread }))
    }

    /// Whether a spread's output is not the list of its items' outputs.
    fn given_by_operator(&self, ix: TaskIx) -> bool {
        self.outputs.get(&ix).is_some_and(|output| **output != self.gather(ix))
    }

    /// The outbox row of a task that waits for a worker, or of a spread that is still to be made whole.
    pub fn outbox_row(&self, ix: TaskIx) -> Option<OutboxRow> {
        let task = &self.tasks[ix.0 as usize];
        let action = match task.state {
            TaskState::Enqueued => self.action_of(ix)?,
            TaskState::InProgress if self.advancing.contains(&ix) => super::ADVANCE_ACTION,
            _ => return None,
        };
        let action = crate::name::Name::parse(action).ok()?;
        let (generation, attempt) = (task.generation, task.attempt + 1);
        Some(OutboxRow { task: ix, generation, attempt, action, ready_at: task.ready_at })
    }

    /// Whether a task has left its first state, and so has a row.
    pub fn has_row(&self, ix: TaskIx) -> bool {
        let task = &self.tasks[ix.0 as usize];
        task.state != TaskState::Pending || task.generation > 1
    }

    /// A run as its rows say it is. The ledger's tail is still to be folded.
    pub fn from_rows(row: &RunRow, tasks: Vec<TaskRow>, plan: Arc<Plan>) -> Result<Self> {
        let corrupt = |what: &str| {
            let message = format!(
                "the rows of run {} do not fit together: {what}. Rebuild them with `edgewise doctor --rebuild`",
                row.id
            );
            Error::corrupt("bad_rows", message)
        };
        let body: RunBody = serde_json::from_str(&row.body).map_err(|_| corrupt("its body cannot be read"))?;
        // The next event, and the next one of a type that is not known, must still have a number.
        if row.applied_seq > u64::MAX / 2 || u64::from(body.unknown) > row.applied_seq {
            return Err(corrupt("its seq is not one that a ledger comes to"));
        }
        let mut run = Run::new(row.id, row.plan, plan);
        run.seq = row.applied_seq;
        run.last = row.version;
        run.state = row.state;
        run.paused = row.paused;
        run.started_at = row.started_at;
        run.completed_at = row.completed_at;
        run.about = body.about;
        run.planned = body.planned;
        run.cancel = body.cancel;
        run.resolved = body.resolved;
        run.kept = body.kept;
        run.unknown = body.unknown;
        if run.planned {
            run.add_root();
        }
        for task in tasks {
            run.put_back(&task).ok_or_else(|| corrupt("a task does not fit its plan"))?;
        }
        if !run.is_laid_out() {
            return Err(corrupt("a spread or its scopes are missing"));
        }
        run.derive_edges();
        run.derive_counts();
        Ok(run)
    }

    fn put_back(&mut self, row: &TaskRow) -> Option<()> {
        let task = self.tasks.get_mut(row.task.0 as usize)?;
        if row.attempt > limits::MAX_ATTEMPTS || row.generation == 0 {
            return None;
        }
        task.version = row.version;
        task.ready_at = row.ready_at;
        task.started_at = row.started_at;
        task.completed_at = row.completed_at;
        task.token = row.token;
        task.generation = row.generation;
        task.attempt = row.attempt;
        task.state = row.state;
        if task.scope != row.scope {
            return None;
        }
        if let Some(text) = &row.output {
            self.outputs.insert(row.task, Arc::new(serde_json::from_str(text).ok()?));
        }
        if let Some(text) = &row.error {
            self.reasons.insert(row.task, serde_json::from_str::<Reason>(text).ok()?);
        }
        let Some(text) = &row.body else { return Some(()) };
        let body: TaskBody = serde_json::from_str(text).ok()?;
        for (kind, attempt, due) in body.timers {
            self.timers.insert(TimerKey { task: row.task, kind, generation: row.generation, attempt }, due);
        }
        if !body.returned.is_empty() {
            self.returned.insert(row.task, body.returned);
        }
        if !body.approvals.is_empty() {
            self.approvals.insert(row.task, body.approvals);
        }
        if let Some(spread) = body.spread {
            self.put_back_spread(row.task, spread)?;
        }
        Some(())
    }

    fn put_back_spread(&mut self, task: TaskIx, body: SpreadBody) -> Option<()> {
        let crate::plan::Work::Spread(spread) = &self.spec_of(task).work else { return None };
        let region = spread.region;
        let mut index = 0;
        for chunk in &body.chunks {
            if !self.may_hold(chunk, region) || chunk.count > body.items.len() as u32 - index {
                return None;
            }
            // Chunks of several spreads may interleave; they come back in the order of their scopes below.
            self.reserve_scopes(chunk, region, task, index);
            index += chunk.count;
        }
        let state = SpreadState { items: body.items, total: body.total, chunks: body.chunks, done: 0, failed: 0 };
        if state.made() < state.total && !self.tasks[task.0 as usize].state.is_done() {
            self.advancing.insert(task);
        }
        self.spreads.insert(task, state);
        Some(())
    }

    /// Whether scopes at this place stay within what a run may come to: damage must not become memory.
    fn may_hold(&self, chunk: &Chunk, region: u32) -> bool {
        let densest = self.plan.regions.iter().map(|r| r.edge_count().div_ceil(r.len().max(1))).max();
        let region = &self.plan.regions[region as usize];
        let end = |first: u32, each: u32| u64::from(first) + u64::from(chunk.count) * u64::from(each);
        let (tasks, most) = (end(chunk.task, region.len()), limits::RUN_TASKS as u64);
        tasks <= most
            && end(chunk.scope, 1) <= most + 1
            && end(chunk.edge, region.edge_count()) <= tasks * u64::from(densest.unwrap_or(0))
    }

    /// Whether scopes lie one after the other, with nothing missing in between.
    fn is_laid_out(&self) -> bool {
        let (mut task, mut edge) = (0, 0);
        for scope in &self.scopes {
            if (scope.task, scope.edge) != (task, edge) {
                return false;
            }
            task += self.region_of(scope).len();
            edge += self.region_of(scope).edge_count();
        }
        (self.tasks.len(), self.edges.len()) == (task as usize, edge as usize)
    }

    /// Lays scopes out exactly where they were, whatever is missing before them comes with its own spread.
    fn reserve_scopes(&mut self, chunk: &Chunk, region: u32, parent: TaskIx, first_index: u32) {
        let (nodes, edges) = {
            let region = &self.plan.regions[region as usize];
            (region.len(), region.edge_count())
        };
        let hole = super::Scope { region, task: 0, edge: 0, parent, index: 0, open: 0, bad: 0 };
        let end = (chunk.scope + chunk.count) as usize;
        if self.scopes.len() < end {
            self.scopes.resize(end, hole);
        }
        let tasks = (chunk.task + chunk.count * nodes) as usize;
        if self.tasks.len() < tasks {
            self.tasks.resize(tasks, super::Task { generation: 1, ..Default::default() });
        }
        let all_edges = (chunk.edge + chunk.count * edges) as usize;
        if self.edges.len() < all_edges {
            self.edges.resize(all_edges, 0);
        }
        for n in 0..chunk.count {
            let number = chunk.scope + n;
            let (task, edge) = (chunk.task + n * nodes, chunk.edge + n * edges);
            self.scopes[number as usize] =
                super::Scope { region, task, edge, parent, index: first_index + n, open: 0, bad: 0 };
            for t in task..task + nodes {
                self.tasks[t as usize].scope = number;
            }
        }
    }

    /// All out-edges of a task resolve alike, so they follow from its state, but for those that are kept.
    fn derive_edges(&mut self) {
        let plan = Arc::clone(&self.plan);
        for number in 0..self.scopes.len() {
            let scope = self.scopes[number];
            let region = &plan.regions[scope.region as usize];
            for edge in 0..region.edge_count() {
                let fact = self.fact_of(TaskIx(scope.task + region.edge(edge).up));
                self.edges[(scope.edge + edge) as usize] = fact.map_or(0, |r| r as u8);
            }
        }
        for (edge, fact) in &self.kept {
            if let Some(byte) = self.edges.get_mut(*edge as usize) {
                *byte = *fact as u8;
            }
        }
    }

    fn derive_counts(&mut self) {
        self.counts = [0; 11];
        self.leased = 0;
        for scope in &mut self.scopes {
            (scope.open, scope.bad) = (0, 0);
        }
        for ix in (0..self.total()).map(TaskIx) {
            let (accepted, refused) = self.count_edges(ix);
            let leasable = self.is_leasable(ix);
            let task = &mut self.tasks[ix.0 as usize];
            (task.accepted, task.refused) = (accepted, refused);
            self.counts[task.state as usize] += 1;
            self.leased += u32::from(leasable && task.state == TaskState::InProgress);
            let scope = &mut self.scopes[task.scope as usize];
            scope.open += u32::from(!task.state.is_done());
            scope.bad += u32::from(matches!(task.state, TaskState::Error | TaskState::Cancelled));
        }
        let spreads: Vec<TaskIx> = self.spreads.keys().rev().copied().collect();
        for spread in spreads {
            self.recount_spread(spread);
            let ended_well = self.tasks[spread.0 as usize].state == TaskState::Complete;
            if ended_well && !self.outputs.contains_key(&spread) {
                self.outputs.insert(spread, Arc::new(self.gather(spread)));
            }
        }
    }
}
