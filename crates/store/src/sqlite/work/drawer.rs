//! Single rows of a work graph, for whoever needs a few of many: each read is one look along a key.

use super::read::{dependency_row, gate_row, head, id, item_row, list, run_end_row};
use crate::ledger::Stream;
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_core::work::part::Drawer;
use edgewise_core::work::{DependencyRow, GateRow, ItemId, ItemRow, RunEndRow};
use rusqlite::Connection;

struct Rows<'c> {
    conn: &'c Connection,
    graph: i64,
}

pub(in super::super) fn drawer(
    conn: &Connection,
    stream: &Stream,
    see: &mut dyn FnMut(&mut dyn Drawer) -> Result<()>,
) -> Result<u64> {
    let Some(head) = head(conn, stream)? else { return Ok(0) };
    see(&mut Rows { conn, graph: head.graph })?;
    Ok(head.applied_seq)
}

impl Drawer for Rows<'_> {
    fn item(&mut self, id: &str) -> Result<Option<ItemRow>> {
        let sql = include_str!("../sql/state_load_work_item.sql");
        Ok(list(self.conn, sql, (self.graph, id), item_row)?.pop())
    }

    fn gate(&mut self, id: &str) -> Result<Option<GateRow>> {
        let sql = include_str!("../sql/state_load_work_gate.sql");
        Ok(list(self.conn, sql, (self.graph, id), gate_row)?.pop())
    }

    fn run(&mut self, run: RunId) -> Result<Option<RunEndRow>> {
        let sql = include_str!("../sql/state_load_work_run.sql");
        Ok(list(self.conn, sql, (self.graph, run.to_string()), run_end_row)?.pop())
    }

    fn dependencies(&mut self, id: &str) -> Result<Vec<DependencyRow>> {
        list(self.conn, include_str!("../sql/state_load_work_dependencies_of.sql"), (self.graph, id), dependency_row)
    }

    fn dependents(&mut self, target: &str) -> Result<Vec<DependencyRow>> {
        list(self.conn, include_str!("../sql/state_load_work_dependents_of.sql"), (self.graph, target), dependency_row)
    }

    fn ids_from(&mut self, text: &str, limit: usize) -> Result<Vec<ItemId>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        list(self.conn, include_str!("../sql/state_find_work_ids_from.sql"), (self.graph, text, limit), |row| {
            id(row, 0)
        })
    }
}
