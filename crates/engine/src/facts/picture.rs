//! Items as a sketch: what is to be drawn of the work graph.

use super::gate::opens;
use super::work::seen;
use edgewise_core::plan::Accepts;
use edgewise_core::plan::Resolution;
use edgewise_core::sketch::{Edge, Node, NodeKind, Now, Sketch};
use edgewise_core::state::Phase;
use edgewise_core::time::Time;
use edgewise_core::work::{Dependency, DependencyKind, Group, ItemId, Standing, Status, When, Work};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most items in one picture.
const MOST: usize = 2_000;

/// An item with all that it waits for and that waits for it; or all items that are not over. The second value says how
/// many were left out.
pub fn sketch(work: &Work, now: Time, id: Option<&ItemId>) -> (Sketch, usize) {
    let mut ids = match id {
        Some(id) => around(work, id),
        None => {
            let open = |item: &&edgewise_core::work::Item| !matches!(item.status, Status::Closed | Status::Tombstone);
            work.items().filter(open).map(|item| item.id.to_string()).collect()
        }
    };
    let left_out = ids.len().saturating_sub(MOST);
    if left_out > 0 {
        ids = ids.into_iter().take(MOST).collect();
    }
    let mut sketch = Sketch::new(id.map_or("work", ItemId::as_str));
    let mut numbers = BTreeMap::new();
    for id in &ids {
        numbers.insert(id.clone(), numbers.len() as u32);
        sketch.add(node(work, now, id));
    }
    for id in &ids {
        for one in work
            .dependencies_of(id)
            .into_iter()
            .filter(|one| one.kind.group() == Group::Blocking && one.source.as_str() == id)
        {
            if let Some(target) = numbers.get(one.target.as_str()) {
                sketch.join(edge(one, numbers[id], *target));
            }
        }
    }
    (sketch, left_out)
}

/// Everything that is joined to an item by blocking dependencies, in either direction.
fn around(work: &Work, id: &ItemId) -> BTreeSet<String> {
    let mut found = BTreeSet::from([id.to_string()]);
    let mut next = VecDeque::from([id.to_string()]);
    while let Some(id) = next.pop_front() {
        let blocking = |one: &&Dependency| one.kind.group() == Group::Blocking;
        let out = work.dependencies_of(&id).into_iter().filter(blocking).map(|one| one.target.to_string());
        let back = work.dependents_of(&id).into_iter().filter(blocking).map(|one| one.source.to_string());
        for other in out.chain(back).collect::<Vec<_>>() {
            if found.insert(other.clone()) {
                next.push_back(other);
            }
        }
    }
    found
}

/// A parent ends after its children; everybody else after what they wait for.
fn edge(one: &Dependency, source: u32, target: u32) -> Edge {
    let accepts = match one.when {
        When::Success => Accepts::SUCCESS,
        When::Failure => Accepts::of(Resolution::Failed),
        When::Any => Accepts::DONE,
    };
    let (from, to) = if one.kind == DependencyKind::ParentChild { (source, target) } else { (target, source) };
    Edge { from, to, accepts, resolution: None }
}

fn node(work: &Work, at: Time, id: &str) -> Node {
    let now = |phase| Some(Now { phase, attempt: 0, max_attempts: 0, count: None });
    if let Some(item) = work.item(id) {
        let (label, seen) =
            (format!("{id} {}", item.fields.title), seen(item, &work.standing(id, at).unwrap_or(Standing::NotWork)));
        return Node {
            id: id.to_owned(),
            label,
            kind: NodeKind::Action,
            note: String::new(),
            inside: None,
            now: now(seen),
        };
    }
    let gate = work.gate(id);
    let note = gate.map(|gate| opens(&gate.wait)).unwrap_or_default();
    let phase = match gate.and_then(|gate| gate.ended.as_ref()) {
        Some(ended) if ended.satisfied => Phase::Succeeded,
        Some(_) => Phase::Failed,
        None => Phase::Waiting,
    };
    Node { id: id.to_owned(), label: id.to_owned(), kind: NodeKind::Gate, note, inside: None, now: now(phase) }
}
