//! The dependency tree: what an item leads to, or what leads to it, down to a depth.

use super::{Dependency, DependencyKind, Target, Work};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which way a tree is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// What it depends on.
    Dependencies,
    /// What depends on it.
    Dependents,
}

/// One place in a tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// What stands here.
    pub id: Target,
    /// What it is called; empty for what is outside.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The status that is shown, of an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The kind of the dependency that led here; absent at the root.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<DependencyKind>,
    /// It stands further up, or on another branch, with what is below it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen: bool,
    /// There is more below than the depth shows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// What it leads to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<Branch>,
}

/// Deepest tree that is made, whatever is asked for: a deeper one could not be printed or read back.
const DEEPEST: usize = 100;

impl Work {
    /// The tree of an item, each thing with its branches once; `relates-to` is followed from both ends.
    pub fn tree(&self, id: &str, direction: Direction, depth: usize) -> Branch {
        let target = Target::parse(id).unwrap_or_else(|_| Target::nothing());
        let mut seen = BTreeSet::from([target.clone()]);
        self.branch(target, None, (direction, depth.min(DEEPEST)), &mut seen)
    }

    fn branch(
        &self,
        id: Target,
        kind: Option<DependencyKind>,
        (direction, depth): (Direction, usize),
        seen: &mut BTreeSet<Target>,
    ) -> Branch {
        let next = self.next(&id, direction);
        let title = self.title(id.as_str()).unwrap_or_default().to_owned();
        let status = self.shown_status(id.as_str()).map(str::to_owned);
        let mut branch = Branch { id, title, status, kind, seen: false, cut: false, branches: Vec::new() };
        if depth == 0 {
            branch.cut = !next.is_empty();
            return branch;
        }
        for (to, kind) in next {
            branch.branches.push(if seen.insert(to.clone()) {
                self.branch(to, Some(kind), (direction, depth - 1), seen)
            } else {
                let mut again = self.branch(to, Some(kind), (direction, 0), seen);
                (again.seen, again.cut) = (true, false);
                again
            });
        }
        branch
    }

    fn next(&self, id: &Target, direction: Direction) -> Vec<(Target, DependencyKind)> {
        let down = self.dependencies_of(id.as_str());
        let up = self.dependents_of(id.as_str());
        let relates = |dependency: &&Dependency| dependency.kind == DependencyKind::RelatesTo;
        let forward = |d: &Dependency| (d.target.clone(), d.kind);
        let back = |d: &Dependency| (Target::from(d.source.clone()), d.kind);
        match direction {
            Direction::Dependencies => {
                let also = up.into_iter().filter(relates).map(back);
                down.into_iter().map(forward).chain(also).collect()
            }
            Direction::Dependents => {
                let also = down.into_iter().filter(relates).map(forward);
                up.into_iter().map(back).chain(also).collect()
            }
        }
    }

    /// The title of an item or gate.
    pub(super) fn title(&self, id: &str) -> Option<&str> {
        let gate = || self.gate(id).and_then(|gate| gate.title.as_deref());
        self.item(id).map(|item| item.fields.title.as_str()).or_else(gate)
    }
}
