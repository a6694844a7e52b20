//! An item plan from a flow: an item for each task of it, with what waits for what, and one item that holds them.
//!
//! What is inside of a spread, a loop or a branch becomes the children of its item; such an item closes by itself.
//! A gate that something follows becomes a gate, which what follows awaits; it needs no item of its own. How long a
//! wait lasts that is counted from when it is reached, or what another system calls something that is computed, is not
//! known beforehand: those stay items.

use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::gate::Wait;
use edgewise_core::name::Name;
use edgewise_core::plan::{Plan, Resolution, Work};
use edgewise_core::sketch::{Edge, NodeKind, Sketch};
use edgewise_core::template::Template;
use edgewise_core::work::{Add, Depend, DependencyKind, Details, GateWait, ItemKind, Op, Phase, When};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the item that holds the others is called in the same commit.
pub(crate) const ROOT: &str = "root";

/// A flow as items see it.
struct Drawing<'p> {
    sketch: Sketch,
    works: Vec<Option<&'p Work>>,
    /// The nodes that become gates.
    gates: BTreeMap<u32, GateWait>,
}

/// The operations that make a flow's items. The first one makes the item that holds them: it is `root` with what the
/// flow says.
pub(crate) fn ops(plan: &Plan, root: Add) -> Result<Vec<Op>> {
    let (sketch, works) = Sketch::of_plan_with_work(plan);
    if sketch.nodes().is_empty() {
        let what = format!("the flow {} has no tasks to make items of", sketch.title);
        return Err(Problem::new(Kind::Invalid, "empty_template", what));
    }
    let gates = gates(&sketch, &works);
    let drawing = Drawing { sketch, works, gates };
    let (priority, groups) = (root.priority, drawing.sketch.groups());
    let mut ops = vec![Op::Add(Box::new(Add {
        title: if root.title.is_empty() { drawing.sketch.title.clone() } else { root.title.clone() },
        kind: ItemKind::Instance,
        auto_complete: true,
        name: Some(ROOT.to_owned()),
        ..root
    }))];
    for number in 0..drawing.sketch.nodes().len() as u32 {
        let holds = groups.get(number as usize).copied().unwrap_or_default();
        ops.push(match drawing.gates.get(&number) {
            Some(wait) => drawing.gate(number, wait),
            None => {
                let add = Add { priority, ..drawing.item(number, holds) };
                Op::Add(Box::new(with_known(add, drawing.work(number))))
            }
        });
    }
    for number in (0..drawing.sketch.nodes().len() as u32).filter(|number| !drawing.gates.contains_key(number)) {
        ops.extend(drawing.waits(number));
    }
    Ok(ops)
}

/// What becomes a gate: a wait whose end is known beforehand, and that something follows.
fn gates(sketch: &Sketch, works: &[Option<&Work>]) -> BTreeMap<u32, GateWait> {
    let followed = |number: u32| sketch.edges().iter().any(|edge| edge.from == number);
    let gate = |(number, work): (u32, &Option<&Work>)| match work {
        Some(Work::Gate(gate)) if followed(number) => Some((number, wait(&gate.wait)?)),
        _ => None,
    };
    (0..).zip(works).filter_map(gate).collect()
}

fn wait(wait: &Wait) -> Option<GateWait> {
    Some(match wait {
        Wait::After(_) => return None,
        Wait::Until(at) => GateWait::Timer { wait_until: *at },
        Wait::Approval { from, count } => {
            GateWait::Approval { required_approvers: from.clone(), approval_count: Some(*count) }
        }
        Wait::Webhook => GateWait::Webhook,
        Wait::External { system, id: Template::Value(Value::String(id)) } => {
            GateWait::External { external_system: system.to_string(), external_id: id.clone() }
        }
        Wait::External { .. } | Wait::Shared { .. } => return None,
    })
}

impl Drawing<'_> {
    fn work(&self, number: u32) -> Option<&Work> {
        self.works.get(number as usize).copied().flatten()
    }

    fn gate(&self, number: u32, wait: &GateWait) -> Op {
        let (title, name) = (Some(self.sketch.nodes()[number as usize].label.clone()), Some(called(number)));
        Op::MakeGate { wait: wait.clone(), title, id: None, name, approvals: vec![] }
    }

    fn item(&self, number: u32, holds: bool) -> Add {
        let node = &self.sketch.nodes()[number as usize];
        let description = if node.kind == NodeKind::Gate { format!("Wait: {}", node.note) } else { node.note.clone() };
        Add {
            title: node.label.clone(),
            kind: if holds { ItemKind::Plan } else { ItemKind::Task },
            phase: holds.then_some(Phase::Active),
            auto_complete: holds,
            details: Details { description, ..Details::default() },
            parent: Some(format!("${}", node.inside.map_or_else(|| ROOT.to_owned(), called))),
            name: Some(called(number)),
            ..Add::default()
        }
    }

    /// What an item waits for: what is before it, and what is before the gates that are.
    fn waits(&self, number: u32) -> Vec<Op> {
        let mut before: BTreeMap<u32, When> = BTreeMap::new();
        let mut open = vec![number];
        while let Some(at) = open.pop() {
            for edge in self.sketch.edges().iter().filter(|edge| edge.to == at) {
                if before.contains_key(&edge.from) {
                    continue;
                }
                before.insert(edge.from, when(edge));
                open.extend(self.gates.contains_key(&edge.from).then_some(edge.from));
            }
        }
        let wait = |(from, when): (u32, When)| {
            let gate = self.gates.contains_key(&from);
            let kind = Some(if gate { DependencyKind::Awaits } else { DependencyKind::Blocks });
            let (id, on) = (format!("${}", called(number)), Some(format!("${}", called(from))));
            Op::Depend(Box::new(Depend { id, on, kind, when, gate: None, metadata: None }))
        };
        before.into_iter().map(wait).collect()
    }
}

fn when(edge: &Edge) -> When {
    match (edge.accepts.contains(Resolution::Success), edge.accepts.contains(Resolution::Failed)) {
        (true, true) => When::Any,
        (false, true) => When::Failure,
        _ => When::Success,
    }
}

fn called(node: u32) -> String {
    format!("n{node}")
}

/// An item with what a task says of the item that it would make.
fn with_known(add: Add, work: Option<&Work>) -> Add {
    let Some(Work::Item(task)) = work else { return add };
    let known = task.known();
    let text = |key: &str| known.get(key).and_then(Value::as_str).map(str::to_owned);
    let tags = known.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let priority = known.get("priority").and_then(Value::as_u64).and_then(|number| u8::try_from(number).ok());
    Add {
        title: text("title").unwrap_or(add.title),
        priority: priority.or(add.priority),
        assignee: text("assignee").and_then(|name| Name::parse(&name).ok()),
        tags: tags.filter_map(|tag| Name::parse(tag).ok()).collect(),
        details: Details {
            description: text("description").unwrap_or_default(),
            acceptance: text("acceptance").unwrap_or_default(),
            ..Details::default()
        },
        ..add
    }
}
