//! A part of the work graph: as many of its rows as it takes to say why one item stands as it does, or what binds it,
//! and no more. On those the graph comes to the same answers as it would on all of its rows.
//!
//! ```text
//! known    its row, and the items around it          what is outside a subtree is seen from these
//! judged   and what it and these wait for, known     so whether it is blocked, and by what
//! told     and all that is in its way, told          so every reason behind it
//! ```

use super::ids::{Names, resolve};
use super::{DependencyKind, DependencyRow, GateRow, ItemId, ItemKind, ItemRow, RunEndRow, Target, WorkRows};
use crate::error::Result;
use crate::id::RunId;
use crate::limits;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where rows are read one by one.
pub trait Drawer {
    /// An item, also a deleted one.
    fn item(&mut self, id: &str) -> Result<Option<ItemRow>>;
    /// A gate.
    fn gate(&mut self, id: &str) -> Result<Option<GateRow>>;
    /// A run that ended.
    fn run(&mut self, run: RunId) -> Result<Option<RunEndRow>>;
    /// What an item is the source of, by kind and target.
    fn dependencies(&mut self, id: &str) -> Result<Vec<DependencyRow>>;
    /// What points to something, by kind and source.
    fn dependents(&mut self, target: &str) -> Result<Vec<DependencyRow>>;
    /// The ids of gates and of items that are not deleted, from a text on, in order.
    fn ids_from(&mut self, text: &str, limit: usize) -> Result<Vec<ItemId>>;
}

/// What is to be said of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Why it stands as it does.
    Reasons,
    /// All that binds it, from both ends; of a message its thread.
    Bonds,
}

impl Names for dyn Drawer + '_ {
    fn known(&mut self, text: &str) -> Result<Option<ItemId>> {
        if let Some(row) = self.item(text)? {
            return Ok(Some(row.id));
        }
        Ok(self.gate(text)?.map(|row| row.id))
    }

    fn from(&mut self, text: &str, limit: usize) -> Result<Vec<ItemId>> {
        self.ids_from(text, limit)
    }
}

/// The item or gate that a text means, and the rows that it takes to say something of it.
pub fn part(drawer: &mut dyn Drawer, text: &str, extent: Extent) -> Result<(ItemId, WorkRows)> {
    let id = resolve(drawer, text)?;
    let mut gather = Gather { drawer, items: BTreeMap::new(), judged: BTreeSet::new(), rows: Found::default() };
    match extent {
        Extent::Reasons => gather.tell(&id)?,
        Extent::Bonds => gather.bind(&id)?,
    }
    let Gather { items, rows, .. } = gather;
    let rows = WorkRows {
        items: items.into_values().collect(),
        dependencies: rows.dependencies.into_values().collect(),
        gates: rows.gates.into_values().collect(),
        runs: rows.runs.into_values().collect(),
        ..WorkRows::default()
    };
    Ok((id, rows))
}

struct Gather<'a> {
    drawer: &'a mut dyn Drawer,
    items: BTreeMap<ItemId, ItemRow>,
    judged: BTreeSet<ItemId>,
    rows: Found,
}

#[derive(Default)]
struct Found {
    dependencies: BTreeMap<(ItemId, DependencyKind, Target), DependencyRow>,
    gates: BTreeMap<ItemId, GateRow>,
    runs: BTreeMap<RunId, RunEndRow>,
}

impl Gather<'_> {
    fn keep(&mut self, row: DependencyRow) {
        self.rows.dependencies.insert((row.source.clone(), row.kind, row.target.clone()), row);
    }

    /// Reads what a text stands for; of an item all those around it too.
    fn know(&mut self, text: &str) -> Result<()> {
        let mut next = Some(text.to_owned());
        while let Some(text) = next.take().filter(|text| !self.items.contains_key(text.as_str())) {
            let Some(row) = self.drawer.item(&text)? else { return self.know_other(&text) };
            if row.parent.is_some() {
                let all = self.drawer.dependencies(&text)?;
                all.into_iter().filter(|one| one.kind == DependencyKind::ParentChild).for_each(|one| self.keep(one));
            }
            next = row.parent.as_ref().map(ToString::to_string);
            self.items.insert(row.id.clone(), row);
        }
        Ok(())
    }

    fn know_other(&mut self, text: &str) -> Result<()> {
        if let Some(gate) = self.drawer.gate(text)? {
            self.rows.gates.insert(gate.id.clone(), gate);
        } else if let Some(run) = Target::parse(text).ok().and_then(|target| target.of_run()) {
            let ended = self.drawer.run(run)?;
            self.rows.runs.extend(ended.map(|row| (run, row)));
        }
        Ok(())
    }

    /// Reads all that decides whether an item is blocked.
    fn judge(&mut self, text: &str) -> Result<()> {
        self.know(text)?;
        let mut next = self.items.get(text).map(|row| row.id.clone());
        while let Some(id) = next.take().filter(|id| !self.judged.contains(id.as_str())) {
            for row in self.drawer.dependencies(id.as_str())? {
                if matches!(row.kind, DependencyKind::Blocks | DependencyKind::Awaits) {
                    self.know(row.target.as_str())?;
                    self.keep(row);
                }
            }
            next = self.items.get(&id).and_then(|row| row.parent.clone());
            self.judged.insert(id);
        }
        Ok(())
    }

    /// Reads all reasons, no deeper than they are told.
    fn tell(&mut self, id: &ItemId) -> Result<()> {
        let mut seen = BTreeSet::from([id.to_string()]);
        let mut open = VecDeque::from([(id.to_string(), 0)]);
        while let Some((text, depth)) = open.pop_front() {
            self.judge(&text)?;
            if depth >= limits::REASON_DEPTH {
                continue;
            }
            for reason in self.reasons(&text)? {
                if seen.insert(reason.clone()) {
                    open.push_back((reason, depth + 1));
                }
            }
        }
        Ok(())
    }

    /// What an item stands as it does because of: what is in its way, or else its open children.
    fn reasons(&mut self, text: &str) -> Result<Vec<String>> {
        let Some(row) = self.items.get(text).filter(|row| !row.status.is_over()) else { return Ok(Vec::new()) };
        let blockers = row.blockers()?;
        if !blockers.is_empty() {
            return Ok(blockers.into_iter().map(|blocker| blocker.by.to_string()).collect());
        }
        let mut children = Vec::new();
        for row in self.drawer.dependents(text)? {
            if row.kind == DependencyKind::ParentChild {
                self.know(row.source.as_str())?;
                children.push(row.source.to_string());
                self.keep(row);
            }
        }
        let over = |text: &String| self.items.get(text.as_str()).is_none_or(|row| row.status.is_over());
        children.retain(|text| !over(text));
        Ok(children)
    }

    /// Reads all that something is bound to, each judged.
    fn bind(&mut self, id: &ItemId) -> Result<()> {
        self.judge(id.as_str())?;
        let (of, on) = (self.drawer.dependencies(id.as_str())?, self.drawer.dependents(id.as_str())?);
        for row in of.into_iter().chain(on) {
            let other = if row.source == *id { row.target.to_string() } else { row.source.to_string() };
            self.judge(&other)?;
            self.keep(row);
        }
        match self.items.get(id).map(|row| row.kind) {
            Some(ItemKind::Message) => self.thread(id),
            _ => Ok(()),
        }
    }

    /// Reads a whole conversation: up to its first message, and down from there.
    fn thread(&mut self, id: &ItemId) -> Result<()> {
        let reply = |row: &DependencyRow| row.kind == DependencyKind::RepliesTo;
        let mut top = id.to_string();
        while let Some(row) = self.drawer.dependencies(&top)?.into_iter().find(reply) {
            top = row.target.to_string();
            self.know(&top)?;
            self.keep(row);
        }
        let mut open = vec![top];
        while let Some(text) = open.pop() {
            for row in self.drawer.dependents(&text)?.into_iter().filter(reply) {
                self.know(row.source.as_str())?;
                open.push(row.source.to_string());
                self.keep(row);
            }
        }
        Ok(())
    }
}
