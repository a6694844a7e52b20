//! Stands in for what is being written elsewhere.
#![allow(missing_docs, clippy::all, dead_code, unused)]
use super::*;
use crate::error::{Error, Result};
use crate::fold::Stamp;
use crate::id::{EventId, RunId};
use crate::name::Name;
use crate::state::RunState;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Work {
    pub seq: u64,
    pub last: EventId,
}
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DependencyKey {
    pub source: ItemId,
    pub target: Target,
    pub kind: DependencyKind,
}
#[derive(Debug, Clone, Default)]
pub struct Changed {
    pub items: BTreeSet<ItemId>,
    pub dependencies: BTreeSet<DependencyKey>,
    pub gates: BTreeSet<ItemId>,
    pub runs: BTreeSet<RunId>,
    pub notes: Vec<Note>,
}
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub item: ItemId,
    pub seq: u64,
    pub at: Time,
    pub by: Option<Name>,
    pub what: NoteKind,
}
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum NoteKind {
    AutoBlocked { before: Status },
    AutoUnblocked { before: Status },
    Other,
}
#[derive(Debug, Clone, PartialEq)]
pub struct ItemRow {
    pub id: ItemId,
    pub kind: ItemKind,
    pub status: Status,
    pub structurally_ready: bool,
    pub blocked: bool,
    pub effective: u8,
    pub priority: u8,
    pub created_at: Time,
    pub scheduled_for: Option<Time>,
    pub claim_by: Option<Name>,
    pub claim_until: Option<Time>,
    pub assignee: Option<Name>,
    pub owner: Option<Name>,
    pub task_type: TaskType,
    pub deadline: Option<Time>,
    pub parent: Option<ItemId>,
    pub ephemeral_in: Option<ItemId>,
    pub draft_in: Option<ItemId>,
    pub title: String,
    pub body: String,
    pub blockers: String,
}
#[derive(Debug, Clone, PartialEq)]
pub struct DependencyRow {
    pub key: DependencyKey,
    pub body: String,
}
#[derive(Debug, Clone, PartialEq)]
pub struct GateRow {
    pub id: ItemId,
    pub body: String,
}
#[derive(Debug, Clone, PartialEq)]
pub struct RunEndRow {
    pub run: RunId,
    pub state: RunState,
}
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkRows {
    pub applied_seq: u64,
    pub version: EventId,
    pub items: Vec<ItemRow>,
    pub dependencies: Vec<DependencyRow>,
    pub gates: Vec<GateRow>,
    pub runs: Vec<RunEndRow>,
}
pub fn check(work: &Work, at: Time, event: &WorkEvent) -> Result<()> {
    Ok(())
}
pub fn fold(work: &mut Work, stamp: Stamp, event: &WorkEvent, changed: &mut Changed) -> Result<()> {
    Ok(())
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub enum Direction {
    #[default]
    Down,
    Up,
}
impl Work {
    pub fn awaited_runs(&self) -> impl Iterator<Item = RunId> {
        std::iter::empty()
    }
    pub fn knows_run(&self, run: RunId) -> bool {
        false
    }
    pub fn item_row(&self, id: &ItemId) -> Option<ItemRow> {
        None
    }
    pub fn dependency_row(&self, id: &DependencyKey) -> Option<DependencyRow> {
        None
    }
    pub fn gate_row(&self, id: &ItemId) -> Option<GateRow> {
        None
    }
    pub fn run_row(&self, id: RunId) -> Option<RunEndRow> {
        None
    }
    pub fn from_rows(rows: &WorkRows) -> Result<Self> {
        Ok(Self::default())
    }
    pub fn due(&self) -> Option<Time> {
        None
    }
    pub fn overdue(&self, now: Time) -> Vec<WorkEvent> {
        vec![]
    }
    pub fn item(&self, id: &str) -> Option<&Item> {
        None
    }
    pub fn gate(&self, id: &str) -> Option<&WorkGate> {
        None
    }
    pub fn run_end(&self, run: RunId) -> Option<RunState> {
        None
    }
    pub fn resolve(&self, text: &str) -> Result<ItemId> {
        ItemId::parse(text)
    }
    pub fn fresh_id(&self, prefix: &str, chance: u128) -> ItemId {
        todo!()
    }
    pub fn ready(&self, now: Time, filter: &Filter, who: Option<&Name>) -> Result<Vec<&Item>> {
        todo!()
    }
    pub fn blocked(&self, now: Time, filter: &Filter) -> Result<Vec<&Item>> {
        todo!()
    }
    pub fn list(&self, filter: &Filter) -> Result<Vec<&Item>> {
        todo!()
    }
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        std::iter::empty()
    }
    pub fn gates(&self) -> impl Iterator<Item = &WorkGate> {
        std::iter::empty()
    }
    pub fn dependencies_of(&self, id: &str) -> impl Iterator<Item = &Dependency> {
        std::iter::empty()
    }
    pub fn dependents_of(&self, id: &str) -> impl Iterator<Item = &Dependency> {
        std::iter::empty()
    }
    pub fn parent(&self, id: &str) -> Option<&ItemId> {
        None
    }
    pub fn children(&self, id: &str) -> Vec<ItemId> {
        vec![]
    }
    pub fn why(&self, id: &str, now: Time) -> Result<Reason> {
        todo!()
    }
    pub fn tree(&self, id: &str, d: Direction, depth: usize) -> Result<u8> {
        todo!()
    }
    pub fn cycles(&self) -> Vec<Vec<ItemId>> {
        todo!()
    }
    pub fn stats(&self, now: Time) -> u8 {
        todo!()
    }
    pub fn thread(&self, id: &str) -> Vec<&Item> {
        todo!()
    }
    pub fn shown_status(&self, id: &str) -> &str {
        todo!()
    }
    pub fn standing(&self, id: &str, now: Time) -> Standing {
        todo!()
    }
    pub fn blockers(&self, id: &str) -> Vec<Blocker> {
        vec![]
    }
    pub fn effective_priority(&self, id: &str) -> u8 {
        3
    }
}
