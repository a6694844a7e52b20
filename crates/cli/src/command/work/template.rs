//! An item plan from a flow: an item for each task of it, with what waits for what, and one item that holds them.
//!
//! What is inside of a spread, a loop or a branch becomes the children of its item; such an item closes by itself.

use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::plan::Resolution;
use edgewise_core::sketch::{NodeKind, Sketch};
use edgewise_core::work::{Add, Depend, DependencyKind, Details, ItemKind, Op, Phase, When};

/// What the item that holds the others is called in the same commit.
pub(crate) const ROOT: &str = "root";

/// The operations that make a flow's items. The first one makes the item that holds them: it is `root` with what the
/// flow says.
pub(crate) fn ops(sketch: &Sketch, root: Add) -> Result<Vec<Op>> {
    if sketch.nodes().is_empty() {
        let what = format!("the flow {} has no tasks to make items of", sketch.title);
        return Err(Problem::new(Kind::Invalid, "empty_template", what));
    }
    let groups = sketch.groups();
    let priority = root.priority;
    let mut ops = vec![Op::Add(Box::new(Add {
        title: if root.title.is_empty() { sketch.title.clone() } else { root.title.clone() },
        kind: ItemKind::Instance,
        phase: Some(Phase::Running),
        auto_complete: true,
        name: Some(ROOT.to_owned()),
        ..root
    }))];
    for (number, node) in sketch.nodes().iter().enumerate() {
        let holds = groups.get(number).copied().unwrap_or_default();
        let description = if node.kind == NodeKind::Gate { format!("Wait: {}", node.note) } else { node.note.clone() };
        ops.push(Op::Add(Box::new(Add {
            title: node.label.clone(),
            kind: if holds { ItemKind::Plan } else { ItemKind::Task },
            phase: holds.then_some(Phase::Active),
            priority,
            auto_complete: holds,
            details: Details { description, ..Details::default() },
            parent: Some(node.inside.map_or_else(|| format!("${ROOT}"), name)),
            name: Some(name(number as u32)[1..].to_owned()),
            ..Add::default()
        })));
    }
    for edge in sketch.edges() {
        let when = match () {
            () if edge.accepts.contains(Resolution::Success) && edge.accepts.contains(Resolution::Failed) => When::Any,
            () if edge.accepts.contains(Resolution::Failed) => When::Failure,
            () => When::Success,
        };
        let (id, on, kind) = (name(edge.to), Some(name(edge.from)), Some(DependencyKind::Blocks));
        ops.push(Op::Depend(Box::new(Depend { id, on, kind, when, gate: None, metadata: None })));
    }
    Ok(ops)
}

fn name(node: u32) -> String {
    format!("$n{node}")
}
