//! Writing a plan's names and edges, once per plan, for the views.

use super::STATE;
use super::error::Explain;
use super::statements::Statements;
use edgewise_core::Result;
use edgewise_core::id::PlanHash;
use edgewise_core::plan::{Accepts, OnFailure, Plan, Region, Resolution};
use rusqlite::{OptionalExtension, params};
use std::fmt::Write;

/// A plan's number, and whether its nodes are written; `None` if no run named it yet.
pub(super) fn find(statements: &mut Statements<'_>, hash: PlanHash) -> Result<Option<(i64, bool)>> {
    let statement = statements.get(include_str!("sql/state_find_plan.sql"))?;
    statement.query_row((hash.to_string(),), |row| Ok((row.get(0)?, row.get(1)?))).optional().of(STATE)
}

/// A plan's number; its nodes are written if they are given and not there.
pub(super) fn number(statements: &mut Statements<'_>, hash: PlanHash, plan: Option<&Plan>) -> Result<i64> {
    let (no, written) = match find(statements, hash)? {
        Some(found) => found,
        None => {
            let statement = statements.get(include_str!("sql/state_add_plan.sql"))?;
            statement.execute((hash.to_string(),)).of(STATE)?;
            (statements.conn.last_insert_rowid(), false)
        }
    };
    if let Some(plan) = plan.filter(|_| !written) {
        write(statements, no, plan)?;
    }
    Ok(no)
}

fn write(statements: &mut Statements<'_>, no: i64, plan: &Plan) -> Result<()> {
    let add = statements.get(include_str!("sql/state_add_node.sql"))?;
    let mut needs = String::new();
    for (number, region) in plan.regions.iter().enumerate() {
        for node in 0..region.len() {
            let spec = plan.spec(number as u32, node);
            pack(region, node, &mut needs);
            let (name, kind, attempts) = (region.name(node), spec.work.kind(), spec.retry.max_attempts);
            add.execute(params![no, number as u32, node, name, kind, attempts, needs]).of(STATE)?;
        }
    }
    let done = statements.get(include_str!("sql/state_set_plan.sql"))?;
    done.execute((no, plan.on_failure == OnFailure::Hold)).of(STATE)?;
    Ok(())
}

/// In-edges as a JSON list of numbers, `(upstream << 4) | accepts`: what the views take apart again.
fn pack(region: &Region, node: u32, needs: &mut String) {
    needs.clear();
    needs.push('[');
    for (nth, (_, edge)) in region.needs(node).enumerate() {
        let comma = if nth > 0 { "," } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(needs, "{comma}{}", u64::from(edge.up) << 4 | bits(edge.accepts));
    }
    needs.push(']');
}

fn bits(accepts: Accepts) -> u64 {
    Resolution::ALL.iter().filter(|r| accepts.contains(**r)).map(|r| 1 << (*r as u8 - 1)).sum()
}
