//! The work graph in rows: one for each item, dependency, gate and run. Base facts are read back from them; what is
//! derived stands in columns for whoever searches, and is computed anew when a graph is loaded.

use super::table::{GateSlot, Known, Slot};
use super::waits::Node;
use super::{
    Dependency, DependencyKey, DependencyKind, Facts, Item, ItemId, ItemKind, RunGateEnd, Status, Target, TaskType,
    Work, WorkGate,
};
use crate::error::{Error, Result};
use crate::id::{EventId, RunId};
use crate::name::Name;
use crate::state::RunState;
use crate::time::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemRow {
    /// Its id.
    pub id: ItemId,
    /// What it is.
    pub kind: ItemKind,
    /// Its base status.
    pub status: Status,
    /// Whether it could be begun, time and claims left aside. Derived.
    pub structurally_ready: bool,
    /// Whether something is in its way. Derived.
    pub blocked: bool,
    /// Its effective priority. Derived.
    pub effective: u8,
    /// Its priority.
    pub priority: u8,
    /// When it was made.
    pub created_at: Time,
    /// Not before.
    pub scheduled_for: Option<Time>,
    /// Who has it.
    pub claim_by: Option<Name>,
    /// Until when.
    pub claim_until: Option<Time>,
    /// Who does it.
    pub assignee: Option<Name>,
    /// Who answers for it.
    pub owner: Option<Name>,
    /// What kind of task.
    pub task_type: TaskType,
    /// When it should be done.
    pub deadline: Option<Time>,
    /// Its parent.
    pub parent: Option<ItemId>,
    /// The ephemeral instance, itself or around it. Derived.
    pub ephemeral_in: Option<ItemId>,
    /// The plan that is being written, itself or around it. Derived.
    pub draft_in: Option<ItemId>,
    /// What it is about.
    pub title: String,
    /// All of it, as JSON, only read by the core.
    pub body: String,
    /// Everything in its way, as JSON. Derived.
    pub blockers: String,
}

/// One dependency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DependencyRow {
    /// Whose it is: the waiter.
    pub source: ItemId,
    /// What it points to: the prerequisite.
    pub target: Target,
    /// What it says.
    pub kind: DependencyKind,
    /// All of it, as JSON, only read by the core.
    pub body: String,
}

/// One gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateRow {
    /// Its id.
    pub id: ItemId,
    /// When it opens by itself, if it does and has not.
    pub opens_at: Option<Time>,
    /// Whether it is open or rejected.
    pub ended: bool,
    /// All of it, as JSON, only read by the core.
    pub body: String,
}

/// A run that items wait for and of which something has ended: who waits for what stands in the dependencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEndRow {
    /// Which run.
    pub run: RunId,
    /// How it ended.
    pub state: Option<RunState>,
    /// How gates of it ended, by their paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<Box<str>, RunGateEnd>,
}

/// All rows of a work graph, read in one snapshot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkRows {
    /// The seq of the last event folded into them.
    pub applied_seq: u64,
    /// The id of that event.
    pub version: EventId,
    /// Items, by their ids.
    pub items: Vec<ItemRow>,
    /// Dependencies, by source, kind and target.
    pub dependencies: Vec<DependencyRow>,
    /// Gates, by their ids.
    pub gates: Vec<GateRow>,
    /// Runs, by their ids.
    pub runs: Vec<RunEndRow>,
}

impl ItemRow {
    /// What the item's standing is told by.
    pub fn facts(&self) -> Facts {
        Facts {
            kind: self.kind,
            status: self.status,
            blocked: self.blocked,
            scheduled_for: self.scheduled_for,
            claim: self.claim_by.clone().zip(self.claim_until),
            draft_in: self.draft_in.clone(),
            ephemeral_in: self.ephemeral_in.clone(),
        }
    }

    /// The whole item.
    pub fn item(&self) -> Result<Item> {
        read(self.id.as_str(), &self.body)
    }

    /// Everything in its way.
    pub fn blockers(&self) -> Result<Vec<super::Blocker>> {
        read(self.id.as_str(), &self.blockers)
    }
}

impl DependencyRow {
    /// The whole dependency.
    pub fn dependency(&self) -> Result<Dependency> {
        read(self.source.as_str(), &self.body)
    }
}

impl GateRow {
    /// The whole gate.
    pub fn gate(&self) -> Result<WorkGate> {
        read(self.id.as_str(), &self.body)
    }
}

impl Work {
    /// The row of an item.
    pub fn item_row(&self, id: &str) -> Option<ItemRow> {
        self.number(id).map(|n| self.row_of(n))
    }

    fn row_of(&self, n: u32) -> ItemRow {
        let slot = self.slot(n);
        let Item { id, kind, fields, status, created_at, claim, .. } = &slot.item;
        let name = |n: Option<u32>| n.map(|n| self.id(n).clone());
        ItemRow {
            id: id.clone(),
            kind: *kind,
            status: *status,
            structurally_ready: slot.structurally_ready(),
            blocked: slot.blocked() && !slot.over(),
            effective: slot.effective(),
            priority: fields.priority,
            created_at: *created_at,
            scheduled_for: fields.scheduled_for,
            claim_by: claim.as_ref().map(|claim| claim.by.clone()),
            claim_until: claim.as_ref().map(|claim| claim.until),
            assignee: fields.assignee.clone(),
            owner: fields.owner.clone(),
            task_type: fields.task_type,
            deadline: fields.deadline,
            parent: name(self.parent_of(n)),
            ephemeral_in: name(slot.around.ephemeral_in),
            draft_in: name(slot.around.draft_in),
            title: fields.title.clone(),
            body: text(&slot.item),
            blockers: text(&self.blockers_of(n)),
        }
    }

    /// The row of a dependency; `None` if it is gone.
    pub fn dependency_row(&self, key: &DependencyKey) -> Option<DependencyRow> {
        self.dependency(key).map(dependency_row)
    }

    /// The row of a gate.
    pub fn gate_row(&self, id: &str) -> Option<GateRow> {
        self.gate(id).map(gate_row)
    }

    /// The row of a run; `None` while nothing of it is known to have ended.
    pub fn run_row(&self, run: RunId) -> Option<RunEndRow> {
        let slot = &self.runs[*self.run_numbers.get(&run)? as usize];
        let known = slot.state.is_some() || !slot.gates.is_empty();
        known.then(|| RunEndRow { run, state: slot.state, gates: slot.gates.clone() })
    }

    /// All rows.
    pub fn rows(&self) -> WorkRows {
        WorkRows {
            applied_seq: self.seq,
            version: self.last,
            items: self.ids.keys().filter_map(|id| self.item_row(id.as_str())).collect(),
            dependencies: self.dependencies().map(dependency_row).collect(),
            gates: self.gates().map(gate_row).collect(),
            runs: self.run_numbers.keys().filter_map(|run| self.run_row(*run)).collect(),
        }
    }

    /// The graph just as its rows say it is; everything derived is computed anew.
    pub fn from_rows(rows: &WorkRows) -> Result<Self> {
        let mut work = Self { seq: rows.applied_seq, last: rows.version, ..Self::default() };
        work.order.loading = true;
        for row in &rows.runs {
            let n = work.run_number(row.run);
            let slot = &mut work.runs[n as usize];
            (slot.state, slot.gates) = (row.state, row.gates.clone());
        }
        for row in &rows.gates {
            work.insert_gate(row.gate()?);
        }
        for row in &rows.items {
            work.insert_item(row.item()?);
        }
        let mut parents = Vec::new();
        for row in &rows.dependencies {
            match row.kind {
                DependencyKind::ParentChild => work.load(row)?,
                _ => parents.push(row),
            }
        }
        // The hierarchy first: what is outside a subtree is seen from it.
        for row in parents {
            work.load(row)?;
        }
        work.arrange_all();
        work.settle_silently();
        Ok(work)
    }

    /// A part of the graph, as [`super::part::part`] found it. Urgency comes from items that are not in it: it is taken
    /// from the rows.
    pub fn from_part(rows: &WorkRows) -> Result<Self> {
        let mut work = Self::from_rows(rows)?;
        for row in &rows.items {
            if let Some(n) = work.number(row.id.as_str()) {
                work.slot_mut(n).may.level = row.effective;
            }
        }
        Ok(work)
    }

    fn load(&mut self, row: &DependencyRow) -> Result<()> {
        let mut dependency = row.dependency()?;
        let Some(source) = self.number(row.source.as_str()) else {
            let message = format!("the row of a dependency of {} is there, the item is not", row.source);
            return Err(Error::corrupt("bad_work_row", message));
        };
        // One text for each id, however many point to it.
        dependency.source = self.id(source).clone();
        if let Some((id, _)) = self.ids.get_key_value(dependency.target.as_str()) {
            dependency.target = id.clone().into();
        }
        self.add_edge(source, dependency);
        Ok(())
    }

    /// Gives an item its number.
    pub(super) fn insert_item(&mut self, item: Item) -> u32 {
        let n = self.items.len() as u32;
        self.ids.insert(item.id.clone(), Known::Item(n));
        if let Some(claim) = &item.claim {
            self.claims.insert((claim.until, n));
        }
        if let Some(span) = item.fields.ephemeral.filter(|_| item.status != Status::Tombstone) {
            self.ephemeral.insert((item.created_at.plus(span), n));
        }
        let waiter = item.waiter.clone();
        let target = Target::from(item.id.clone());
        let over = item.status.is_over();
        self.items.push(Slot::new(item));
        self.stand_last(Node::may(n));
        self.stand_last(Node::outer(n));
        if let Some(waiter) = waiter {
            let run = self.link_runs(&waiter);
            self.run_mut(run).made.push(n);
            self.arrange(&[(Node::run(run), Node::may(n))]);
            if !over {
                self.lend(Node::run(run), Node::may(n));
            }
        }
        self.pending.nodes.push(Node::may(n));
        self.pending.around.push(n);
        self.pending.touched.push(n);
        self.introduce(&target);
        n
    }

    /// Gives a gate its number.
    pub(super) fn insert_gate(&mut self, gate: WorkGate) {
        let n = self.gates.len() as u32;
        self.ids.insert(gate.id.clone(), Known::Gate(n));
        if let Some(at) = gate.opens_at() {
            self.timers.insert((at, n));
        }
        let target = Target::from(gate.id.clone());
        self.gates.push(GateSlot { gate, into: Vec::new() });
        self.find_waiters(n, true);
        self.introduce(&target);
    }
}

fn dependency_row(dependency: &Dependency) -> DependencyRow {
    let Dependency { source, target, kind, .. } = dependency;
    DependencyRow { source: source.clone(), target: target.clone(), kind: *kind, body: text(dependency) }
}

fn gate_row(gate: &WorkGate) -> GateRow {
    GateRow { id: gate.id.clone(), opens_at: gate.opens_at(), ended: gate.ended.is_some(), body: text(gate) }
}

fn text(body: &impl Serialize) -> String {
    // Our own types always have a JSON form.
    serde_json::to_string(body).unwrap_or_default()
}

fn read<T: DeserializeOwned>(id: &str, body: &str) -> Result<T> {
    serde_json::from_str(body).map_err(|error| {
        Error::corrupt("bad_work_row", format!("the row of {id} in the work graph cannot be read: {error}"))
    })
}
