//! The projections in `state.db`.

use super::STATE;
use super::control;
use super::error::Explain;
use super::flush::Writer;
use super::rows::Names;
use super::statements::Statements;
use super::transaction::{Then, read, write};
use super::{nodes, rows, search, work};
use crate::ledger::{Position, Stream};
use crate::projections::{Flush, ItemOrder, Projections, RunFilter, RunRows};
use edgewise_core::Result;
use edgewise_core::control::ControlRows;
use edgewise_core::event::TaskIx;
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::rows::{LeaseRow, OutboxRow, RunRow, TaskRow, TimerRow};
use edgewise_core::time::Time;
use edgewise_core::work::part::Drawer;
use edgewise_core::work::{ItemId, ItemRow, Note, WorkRows};
use rusqlite::{Connection, OptionalExtension, Params, Row};

/// The rows of a folder.
#[derive(Debug)]
pub struct SqliteProjections {
    pub(super) conn: Connection,
    rebuilt: Option<String>,
}

impl SqliteProjections {
    pub(super) fn new(conn: Connection, rebuilt: Option<String>) -> Self {
        Self { conn, rebuilt }
    }

    /// Why the rows that were there were thrown away at opening, if they were.
    pub fn rebuilt(&self) -> Option<&str> {
        self.rebuilt.as_deref()
    }

    fn list<T>(&self, sql: &str, params: impl Params, each: impl Fn(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
        collect(&self.conn, sql, params, each)
    }
}

fn collect<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    each: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(sql).of(STATE)?;
    let mut found = statement.query(params).of(STATE)?;
    let mut all = Vec::new();
    while let Some(row) = found.next().of(STATE)? {
        all.push(each(row)?);
    }
    Ok(all)
}

/// A run's number, and the seq its rows are at.
pub(super) fn find_run(conn: &Connection, stream: &Stream) -> Result<Option<(i64, u64)>> {
    let mut statement = conn.prepare_cached(include_str!("sql/state_find_run.sql")).of(STATE)?;
    let name = (stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str());
    statement.query_row(name, |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))).optional().of(STATE)
}

impl Projections for SqliteProjections {
    fn flush(&mut self, flush: &Flush) -> Result<()> {
        write(&self.conn, STATE, |conn| {
            let mut writer = Writer::new(conn);
            flush.runs.iter().try_for_each(|change| writer.change(change))?;
            flush.gone.iter().try_for_each(|stream| writer.forget(stream))?;
            flush.control.as_ref().map_or(Ok(()), |change| control::change(conn, change))?;
            flush.work.as_ref().map_or(Ok(()), |change| work::change(conn, change))?;
            let mut mark = conn.prepare_cached(include_str!("sql/state_set_watermark.sql")).of(STATE)?;
            mark.execute((flush.watermark.0 as i64,)).of(STATE)?;
            Ok(Then::Commit(()))
        })
    }

    fn load(&mut self, stream: &Stream) -> Result<Option<RunRows>> {
        read(&self.conn, STATE, |conn| {
            let name = (stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str());
            let mut found = collect(conn, include_str!("sql/state_load_run.sql"), name, rows::run)?;
            let Some((no, _, run)) = found.pop() else { return Ok(None) };
            let tasks = collect(conn, include_str!("sql/state_load_tasks.sql"), (no,), rows::task_row)?;
            let given = collect(conn, include_str!("sql/state_load_given.sql"), (no,), rows::given)?;
            Ok(Some(RunRows { run, tasks, given }))
        })
    }

    fn run(&mut self, stream: &Stream) -> Result<Option<RunRow>> {
        let name = (stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str());
        Ok(self.list(include_str!("sql/state_load_run.sql"), name, rows::run)?.pop().map(|(_, _, run)| run))
    }

    fn task(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<TaskRow>> {
        read(&self.conn, STATE, |conn| {
            let Some((no, _)) = find_run(conn, stream)? else { return Ok(None) };
            let sql = include_str!("sql/state_load_task.sql");
            Ok(collect(conn, sql, (no, i64::from(task.0)), rows::task_row)?.pop())
        })
    }

    fn watermark(&mut self) -> Result<Position> {
        let mut statement = self.conn.prepare_cached(include_str!("sql/state_meta.sql")).of(STATE)?;
        let mark: i64 = statement.query_row((), |row| row.get(1)).of(STATE)?;
        Ok(Position(mark as u64))
    }

    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<(Stream, RunRow)>> {
        read(&self.conn, STATE, |conn| search::runs(conn, filter))
    }

    fn outbox(&mut self) -> Result<Vec<(Stream, OutboxRow)>> {
        let names = Names::default();
        self.list(include_str!("sql/state_list_outbox.sql"), (), |row| rows::outbox(row, &names))
    }

    fn timers(&mut self) -> Result<Vec<(Stream, TimerRow)>> {
        let names = Names::default();
        self.list(include_str!("sql/state_list_timers.sql"), (), |row| rows::timer(row, &names))
    }

    fn leases(&mut self) -> Result<Vec<(Stream, LeaseRow)>> {
        let names = Names::default();
        self.list(include_str!("sql/state_list_leases.sql"), (), |row| rows::lease(row, &names))
    }

    fn lease(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<LeaseRow>> {
        read(&self.conn, STATE, |conn| {
            let Some((no, _)) = find_run(conn, stream)? else { return Ok(None) };
            let (sql, names) = (include_str!("sql/state_load_lease.sql"), Names::default());
            let found = collect(conn, sql, (no, i64::from(task.0)), |row| rows::lease(row, &names))?;
            Ok(found.into_iter().next().map(|(_, row)| row))
        })
    }

    fn control(&mut self, stream: &Stream) -> Result<Option<ControlRows>> {
        read(&self.conn, STATE, |conn| control::load(conn, stream))
    }

    fn work(&mut self, stream: &Stream) -> Result<Option<WorkRows>> {
        read(&self.conn, STATE, |conn| work::load(conn, stream))
    }

    fn work_head(&mut self, stream: &Stream) -> Result<u64> {
        Ok(work::head(&self.conn, stream)?.map_or(0, |head| head.applied_seq))
    }

    fn work_due(&mut self, stream: &Stream) -> Result<Option<Time>> {
        Ok(work::head(&self.conn, stream)?.and_then(|head| head.due))
    }

    fn work_drawer(&mut self, stream: &Stream, see: &mut dyn FnMut(&mut dyn Drawer) -> Result<()>) -> Result<u64> {
        read(&self.conn, STATE, |conn| work::drawer(conn, stream, see))
    }

    fn work_ids(&mut self, stream: &Stream, prefix: &str, limit: usize) -> Result<Vec<ItemId>> {
        read(&self.conn, STATE, |conn| work::ids(conn, stream, prefix, limit))
    }

    fn walk_items(
        &mut self,
        stream: &Stream,
        order: ItemOrder,
        see: &mut dyn FnMut(ItemRow) -> Result<bool>,
    ) -> Result<u64> {
        read(&self.conn, STATE, |conn| work::walk(conn, stream, order, see))
    }

    fn work_notes(&mut self, stream: &Stream, item: &str) -> Result<Vec<Note>> {
        read(&self.conn, STATE, |conn| work::notes(conn, stream, item))
    }

    fn forget(&mut self, stream: &Stream) -> Result<()> {
        if stream.run == RunId::WORK {
            return write(&self.conn, STATE, |conn| work::forget(conn, stream).map(Then::Commit));
        }
        if stream.run == RunId::CONTROL {
            return write(&self.conn, STATE, |conn| control::forget(conn, stream).map(Then::Commit));
        }
        write(&self.conn, STATE, |conn| Writer::new(conn).forget(stream).map(Then::Commit))
    }

    fn has_plan(&mut self, plan: PlanHash) -> Result<bool> {
        Ok(nodes::find(&mut Statements::new(&self.conn, STATE), plan)?.is_some_and(|(_, written)| written))
    }
}
