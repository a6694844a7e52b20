//! The rows of a workspace's work graph in `state.db`: writing them. What is not in the change is not touched.

mod drawer;
mod read;

pub(super) use drawer::drawer;
pub(super) use read::{head, ids, load, notes, walk};

use super::STATE;
use super::error::{Explain, damaged};
use super::statements::Statements;
use crate::ledger::Stream;
use crate::projections::WorkChange;
use edgewise_core::Result;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::{DependencyKind, ItemId, ItemRow};
use rusqlite::{Connection, OptionalExtension, Params, params};
use serde::Serialize;

const FORGET: [&str; 6] = [
    include_str!("sql/state_forget_work_items.sql"),
    include_str!("sql/state_forget_work_dependencies.sql"),
    include_str!("sql/state_forget_work_gates.sql"),
    include_str!("sql/state_forget_work_runs.sql"),
    include_str!("sql/state_forget_work_notes.sql"),
    include_str!("sql/state_forget_work.sql"),
];

/// Writes what changed; refused if the rows are not where they must be.
pub(super) fn change(conn: &Connection, change: &WorkChange) -> Result<()> {
    change.check()?;
    let Some(graph) = move_head(conn, change)? else {
        return Err(change.moved(head(conn, &change.stream)?.map_or(0, |head| head.applied_seq)));
    };
    let mut writer = Writer { graph, statements: Statements::new(conn, STATE) };
    writer.take_away(change)?;
    change.items.iter().try_for_each(|row| writer.item(row))?;
    writer.put(change)
}

/// Takes all rows away.
pub(super) fn forget(conn: &Connection, stream: &Stream) -> Result<()> {
    let Some(head) = head(conn, stream)? else { return Ok(()) };
    let drop_all = |sql: &&str| conn.prepare_cached(sql).and_then(|mut all| all.execute((head.graph,))).of(STATE);
    FORGET.iter().try_for_each(|sql| drop_all(sql).map(drop))
}

/// The graph's number, or nothing if its rows are not at the seq they must be at.
fn move_head(conn: &Connection, change: &WorkChange) -> Result<Option<i64>> {
    let (tenant, workspace) = walls(&change.stream);
    let (seq, version, from) = (change.applied_seq as i64, change.version.to_string(), change.from_seq as i64);
    let due = change.due.map(|due| due.0 as i64);
    if from == 0 {
        let mut add = conn.prepare_cached(include_str!("sql/state_add_work.sql")).of(STATE)?;
        return add.query_row((tenant, workspace, seq, version, due), |row| row.get(0)).optional().of(STATE);
    }
    let mut set = conn.prepare_cached(include_str!("sql/state_set_work.sql")).of(STATE)?;
    set.query_row((tenant, workspace, seq, version, from, due), |row| row.get(0)).optional().of(STATE)
}

/// Writes the rows of one graph.
struct Writer<'c> {
    graph: i64,
    statements: Statements<'c>,
}

impl Writer<'_> {
    fn run(&mut self, sql: &'static str, params: impl Params) -> Result<()> {
        self.statements.get(sql)?.execute(params).of(STATE).map(drop)
    }

    fn take_away(&mut self, change: &WorkChange) -> Result<()> {
        let graph = self.graph;
        for id in &change.items_gone {
            self.run(include_str!("sql/state_drop_work_item.sql"), (graph, id.as_str()))?;
        }
        for key in &change.dependencies_gone {
            let key = (graph, key.source.as_str(), kind_no(key.kind), key.target.as_str());
            self.run(include_str!("sql/state_drop_work_dependency.sql"), key)?;
        }
        for id in &change.gates_gone {
            self.run(include_str!("sql/state_drop_work_gate.sql"), (graph, id.as_str()))?;
        }
        for run in &change.runs_gone {
            self.run(include_str!("sql/state_drop_work_run.sql"), (graph, run.to_string()))?;
        }
        Ok(())
    }

    fn item(&mut self, row: &ItemRow) -> Result<()> {
        let time = |time: Option<Time>| time.map(|time| time.0 as i64);
        let (kind, status, task_type) = (word(&row.kind)?, word(&row.status)?, word(&row.task_type)?);
        let graph = self.graph;
        let row = params![
            graph,
            row.id.as_str(),
            kind,
            status,
            row.structurally_ready,
            row.blocked,
            row.effective,
            row.priority,
            row.created_at.0 as i64,
            time(row.scheduled_for),
            row.claim_by.as_ref().map(Name::as_str),
            time(row.claim_until),
            row.assignee.as_ref().map(Name::as_str),
            row.owner.as_ref().map(Name::as_str),
            task_type,
            time(row.deadline),
            row.parent.as_ref().map(ItemId::as_str),
            row.ephemeral_in.as_ref().map(ItemId::as_str),
            row.draft_in.as_ref().map(ItemId::as_str),
            row.title,
            row.body,
            row.blockers,
        ];
        self.statements.get(include_str!("sql/state_set_work_item.sql"))?.execute(row).of(STATE).map(drop)
    }

    fn put(&mut self, change: &WorkChange) -> Result<()> {
        let graph = self.graph;
        for row in &change.dependencies {
            let row = (graph, row.source.as_str(), kind_no(row.kind), row.target.as_str(), &row.body);
            self.run(include_str!("sql/state_set_work_dependency.sql"), row)?;
        }
        for row in &change.gates {
            let opens_at = row.opens_at.map(|at| at.0 as i64);
            let row = (graph, row.id.as_str(), opens_at, row.ended, &row.body);
            self.run(include_str!("sql/state_set_work_gate.sql"), row)?;
        }
        for row in &change.runs {
            let state = row.state.map(|state| state as u8);
            let gates = serde_json::to_string(&row.gates).map_err(|e| damaged(STATE, e))?;
            self.run(include_str!("sql/state_set_work_run.sql"), (graph, row.run.to_string(), state, gates))?;
        }
        for note in &change.notes {
            let body = serde_json::to_string(note).map_err(|e| damaged(STATE, e))?;
            self.run(include_str!("sql/state_add_work_note.sql"), (graph, note.item.as_str(), body))?;
        }
        Ok(())
    }
}

/// The number of a kind: rows are in the order of kinds.
fn kind_no(kind: DependencyKind) -> i64 {
    DependencyKind::ALL.iter().position(|known| *known == kind).map_or(-1, |no| no as i64)
}

/// The name of one of a few things, as it stands on the wire.
fn word(of: &impl Serialize) -> Result<String> {
    let quoted = serde_json::to_string(of).map_err(|e| damaged(STATE, e))?;
    Ok(quoted.trim_matches('"').to_owned())
}

fn walls(stream: &Stream) -> (&str, &str) {
    (stream.tenant.as_str(), stream.workspace.as_str())
}
