//! Where the nodes of a block go, and what they are called: as what they call, or as what their result is called.
//!
//! What is called a second time is numbered. A number is ours to choose, a name is the author's: none that is written
//! in the block is taken by a number, whether it is written above or below.

use super::body::{Regions, sleep};
use crate::plan::{self, Join, Statement as Line};
use crate::text::tree::{ActionCall, Call, Statement, StatementKind, Value, Work};
use crate::time::Millis;
use std::collections::{BTreeMap, BTreeSet};

/// What a region is written into while its block is read.
pub(super) struct Place {
    pub(super) region: usize,
    /// The last number of a name that was used for a node.
    used: BTreeMap<String, u32>,
    /// What the author wrote that looks as if it were numbered.
    written: BTreeSet<String>,
}

impl Place {
    pub(super) fn new(region: usize, block: &[Statement]) -> Self {
        Self { region, used: BTreeMap::new(), written: block.iter().filter_map(numbered).collect() }
    }

    pub(super) fn lines(&self, regions: &mut Regions, line: Option<Line>) {
        if let (Some(script), Some(line)) = (&mut regions.drafts[self.region].script, line) {
            script.push(line);
        }
    }

    pub(super) fn line(&self, regions: &mut Regions, line: Line) {
        self.lines(regions, Some(line));
    }

    /// Adds a node under a name of its own.
    pub(super) fn node(&mut self, regions: &mut Regions, name: &str, work: plan::Work) -> u32 {
        let spec = regions.spec(work);
        let time = match self.used.get_mut(name) {
            Some(time) => {
                *time += 1;
                while !self.written.is_empty() && self.written.contains(&format!("{name}-{time}")) {
                    *time += 1;
                }
                *time
            }
            None => *self.used.entry(name.to_owned()).or_insert(1),
        };
        regions.drafts[self.region].numbered(name, time, spec, Join::All)
    }

    /// Adds a node whose regions come after it.
    pub(super) fn reserve(&mut self, regions: &mut Regions, name: &str) -> u32 {
        self.node(regions, name, sleep(Millis(0)))
    }

    pub(super) fn fill(&self, regions: &mut Regions, node: u32, work: plan::Work) -> u32 {
        let spec = regions.drafts[self.region].spec_of(node);
        regions.specs[spec as usize].work = work;
        node
    }
}

pub(super) fn name_of_action(call: &ActionCall) -> String {
    call.name.replace('.', "-")
}

pub(super) fn name_of_flow(call: &ActionCall) -> String {
    call.name.replace(['.', '/'], "-")
}

/// The name of a statement's node, if it is that of what it calls and ends with a number.
fn numbered(statement: &Statement) -> Option<String> {
    let work = match &statement.kind {
        StatementKind::Do(work) | StatementKind::Return(Some(Value::Work(work))) => work,
        StatementKind::Assign { targets, value: Value::Work(work) } if targets.len() != 1 => work,
        _ => return None,
    };
    let is_numbered = |call: &ActionCall| {
        let parts = call.name.rsplit_once(['-', '.', '/']);
        parts.is_some_and(|(_, number)| number.bytes().all(|b| b.is_ascii_digit()))
    };
    match work {
        Work::Call(Call::Action(call)) if is_numbered(call) => Some(name_of_action(call)),
        Work::Call(Call::Flow(call)) if is_numbered(call) => Some(name_of_flow(call)),
        _ => None,
    }
}
