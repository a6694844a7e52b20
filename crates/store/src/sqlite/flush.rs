//! Writing what changed of runs. What is not in the change is not touched; a task's row costs about 1 us.

use super::STATE;
use super::error::Explain;
use super::nodes;
use super::projections::find_run;
use super::statements::Statements;
use crate::ledger::Stream;
use crate::projections::RunChange;
use edgewise_core::Result;
use edgewise_core::event::TaskIx;
use edgewise_core::name::Name;
use edgewise_core::rows::RunRow;
use rusqlite::{Connection, params};

/// Labels first: the run's row says where they are.
const FORGET: [&str; 7] = [
    include_str!("sql/state_drop_labels.sql"),
    include_str!("sql/state_forget_tasks.sql"),
    include_str!("sql/state_forget_given.sql"),
    include_str!("sql/state_forget_timers.sql"),
    include_str!("sql/state_forget_outbox.sql"),
    include_str!("sql/state_forget_leases.sql"),
    include_str!("sql/state_forget_run.sql"),
];

/// Writes the changes of one flush.
pub(super) struct Writer<'c>(Statements<'c>);

/// The id of a task's rows: unlike a pair of keys it needs no index.
pub(super) fn id(run: i64, task: TaskIx) -> i64 {
    run << 32 | i64::from(task.0)
}

impl<'c> Writer<'c> {
    pub fn new(conn: &'c Connection) -> Self {
        Self(Statements::new(conn, STATE))
    }

    pub fn change(&mut self, change: &RunChange) -> Result<()> {
        change.check()?;
        let plan = nodes::number(&mut self.0, change.run.plan, change.plan.as_deref())?;
        let labelled = !change.run.marks.labels.is_empty();
        let no = if change.from_seq == 0 {
            self.add_run(change, plan)?
        } else {
            let no = self.at(change)?;
            if labelled {
                self.drop_labels(no)?;
            }
            self.set_run(no, &change.run)?;
            no
        };
        if labelled {
            self.0.get(include_str!("sql/state_add_labels.sql"))?.execute((no,)).of(STATE)?;
        }
        self.tasks(no, change)?;
        self.given(no, change)?;
        self.waiting(no, change)
    }

    /// Takes all rows of a run away.
    pub fn forget(&mut self, stream: &Stream) -> Result<()> {
        let Some((no, _)) = find_run(self.0.conn, stream)? else { return Ok(()) };
        FORGET.iter().try_for_each(|sql| self.0.get(sql)?.execute((no,)).of(STATE).map(drop))
    }

    /// The number of a run whose rows are at the seq the change goes on from.
    fn at(&self, change: &RunChange) -> Result<i64> {
        match find_run(self.0.conn, &change.stream)? {
            Some((no, seq)) if seq == change.from_seq => Ok(no),
            found => Err(change.moved(found.map_or(0, |(_, seq)| seq))),
        }
    }

    /// Labels stand by the state of their run: those of the state before must go.
    fn drop_labels(&mut self, no: i64) -> Result<()> {
        self.0.get(include_str!("sql/state_drop_labels.sql"))?.execute((no,)).of(STATE).map(drop)
    }

    /// A run's first row, and its number.
    fn add_run(&mut self, change: &RunChange, plan: i64) -> Result<i64> {
        let RunChange { stream: Stream { tenant, workspace, .. }, run, .. } = change;
        let added = self
            .0
            .get(include_str!("sql/state_add_run.sql"))?
            .execute(params![
                run.id.to_string(),
                tenant.as_str(),
                workspace.as_str(),
                run.flow.as_str(),
                plan,
                run.state as u8,
                run.paused,
                counts(run),
                run.triggered_at.0 as i64,
                run.started_at.0 as i64,
                run.completed_at.0 as i64,
                run.applied_seq as i64,
                run.version.to_string(),
                run.body,
                run.marks.namespace.as_ref().map_or("", |namespace| namespace.as_str()),
                marks(run),
                run.marks.by.as_ref().map(Name::as_str),
                run.marks.key
            ])
            .of(STATE)?;
        if added == 0 {
            return Err(change.moved(find_run(self.0.conn, &change.stream)?.map_or(0, |(_, seq)| seq)));
        }
        Ok(self.0.conn.last_insert_rowid())
    }

    fn set_run(&mut self, no: i64, run: &RunRow) -> Result<()> {
        self.0
            .get(include_str!("sql/state_set_run.sql"))?
            .execute(params![
                no,
                run.state as u8,
                run.paused,
                counts(run),
                run.started_at.0 as i64,
                run.completed_at.0 as i64,
                run.applied_seq as i64,
                run.version.to_string(),
                run.body
            ])
            .of(STATE)
            .map(drop)
    }

    fn tasks(&mut self, no: i64, change: &RunChange) -> Result<()> {
        for row in &change.tasks {
            let (state, token, version) = (row.state as u8, row.token.0 as i64, row.version.to_string());
            let (ready, started, completed) =
                (row.ready_at.0 as i64, row.started_at.0 as i64, row.completed_at.0 as i64);
            self.0
                .get(include_str!("sql/state_set_task.sql"))?
                .execute(params![
                    id(no, row.task),
                    row.scope,
                    row.region,
                    row.node,
                    row.path,
                    row.generation,
                    state,
                    row.attempt,
                    token,
                    ready,
                    started,
                    completed,
                    row.output,
                    row.error,
                    row.body,
                    version
                ])
                .of(STATE)?;
        }
        Ok(())
    }

    /// Large, and written once: a row of its own, so that the task's row stays small.
    fn given(&mut self, no: i64, change: &RunChange) -> Result<()> {
        for task in &change.given_gone {
            self.0.get(include_str!("sql/state_drop_given.sql"))?.execute((id(no, *task),)).of(STATE)?;
        }
        for row in &change.given {
            let (id, body) = (id(no, row.task), &row.body);
            self.0.get(include_str!("sql/state_set_given.sql"))?.execute((id, body)).of(STATE)?;
        }
        Ok(())
    }

    /// What goes away goes first: a task may leave the outbox and come back within one change.
    fn waiting(&mut self, no: i64, change: &RunChange) -> Result<()> {
        for key in &change.timers_gone {
            self.0
                .get(include_str!("sql/state_drop_timer.sql"))?
                .execute((id(no, key.task), key.kind as u8, key.generation, key.attempt))
                .of(STATE)?;
        }
        for task in &change.outbox_gone {
            self.0.get(include_str!("sql/state_drop_outbox.sql"))?.execute((id(no, *task),)).of(STATE)?;
        }
        for task in &change.leases_gone {
            self.0.get(include_str!("sql/state_drop_lease.sql"))?.execute((id(no, *task),)).of(STATE)?;
        }
        for row in &change.timers {
            let key = row.key;
            self.0
                .get(include_str!("sql/state_set_timer.sql"))?
                .execute((id(no, key.task), key.kind as u8, key.generation, key.attempt, row.due.0 as i64))
                .of(STATE)?;
        }
        for row in &change.outbox {
            let (turn, limit) = (&row.turn, row.turn.limit.as_ref());
            self.0
                .get(include_str!("sql/state_set_outbox.sql"))?
                .execute(params![
                    id(no, row.task),
                    row.generation,
                    row.attempt,
                    row.action.as_str(),
                    row.ready_at.0 as i64,
                    turn.queue.as_deref(),
                    turn.priority,
                    limit.map(|limit| limit.key.as_str()),
                    limit.and_then(|limit| limit.max),
                    limit.and_then(|limit| limit.rate).map(|rate| rate.to_string())
                ])
                .of(STATE)?;
        }
        for row in &change.leases {
            let (token, worker, deadline) = (row.token.0 as i64, row.worker.as_str(), row.deadline.0 as i64);
            let (span, queue, key) = (row.span.map(|s| s.0 as i64), row.queue.as_deref(), row.key.as_deref());
            self.0
                .get(include_str!("sql/state_set_lease.sql"))?
                .execute((id(no, row.task), row.generation, row.attempt, token, worker, deadline, span, queue, key))
                .of(STATE)?;
        }
        Ok(())
    }
}

fn marks(run: &RunRow) -> String {
    // A map of texts is always JSON.
    serde_json::to_string(&run.marks).unwrap_or_default()
}

fn counts(run: &RunRow) -> String {
    // A list of numbers is always JSON.
    serde_json::to_string(&run.counts).unwrap_or_default()
}
