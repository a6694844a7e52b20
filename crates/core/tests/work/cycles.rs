//! The cycle rule against brute force: a structure is a deadlock if its items cannot all be closed in some order.
//!
//! The simulation knows nothing of the waits-for graph: it closes whatever may be closed, until nothing more may.

use crate::world::{World, id, name, refused, target};
use edgewise_core::event::{LinkRef, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_core::work::{
    DependencyAdded, DependencyKind, DependencyRemoved, ItemAdded, ItemKind, ItemMoved, Waiter, When, Work, WorkEvent,
    check, scratch,
};

/// Parents and `blocks` edges of a few items.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub parents: Vec<Option<usize>>,
    pub waits: Vec<(usize, usize)>,
}

impl Model {
    pub fn above(&self, n: usize) -> Vec<usize> {
        let mut all = Vec::new();
        let mut at = self.parents[n];
        while let Some(parent) = at {
            if all.contains(&parent) {
                break;
            }
            all.push(parent);
            at = self.parents[parent];
        }
        all
    }

    /// An item may be closed when its children are closed, what it waits for is, and what each item around it waits
    /// for outside that item's subtree is.
    pub fn may_close(&self, n: usize, closed: &[bool]) -> bool {
        let children = (0..closed.len()).all(|child| self.parents[child] != Some(n) || closed[child]);
        let own = self.waits.iter().all(|(from, to)| *from != n || closed[*to]);
        let around = self.above(n).into_iter().all(|above| {
            let inside = |to: usize| self.above(to).contains(&above);
            self.waits.iter().all(|(from, to)| *from != above || inside(*to) || closed[*to])
        });
        children && own && around
    }

    fn is_deadlock(&self) -> bool {
        let mut closed = vec![false; self.parents.len()];
        while let Some(n) = (0..closed.len()).find(|n| !closed[*n] && self.may_close(*n, &closed)) {
            closed[n] = true;
        }
        closed.contains(&false)
    }

    /// Builds it by events; false if one of them was refused as a cycle.
    fn build(&self) -> (World, bool) {
        let mut world = World::default();
        for n in 0..self.parents.len() {
            world.tasks(&[&text(n)]);
        }
        let parents = self.parents.iter().enumerate().filter_map(|(n, parent)| Some((n, (*parent)?)));
        for (child, parent) in parents {
            world.child(&text(child), &text(parent)).unwrap();
        }
        for (from, to) in &self.waits {
            match world.blocks(&text(*from), &text(*to)) {
                Ok(()) => {}
                Err(error) => {
                    assert_eq!(error.code, "cycle_detected");
                    return (world, false);
                }
            }
        }
        (world, true)
    }
}

pub fn text(n: usize) -> String {
    format!("ew-{n}")
}

/// All hierarchies of so many items.
fn forests(count: usize) -> Vec<Vec<Option<usize>>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .into_iter()
            .flat_map(|parents: Vec<Option<usize>>| {
                (0..=count).map(move |parent| {
                    let mut parents = parents.clone();
                    parents.push((parent < count).then_some(parent));
                    parents
                })
            })
            .collect();
    }
    let acyclic = |parents: &Vec<Option<usize>>| {
        let model = Model { parents: parents.clone(), waits: Vec::new() };
        (0..count).all(|n| parents[n] != Some(n) && !model.above(n).contains(&n))
    };
    all.into_iter().filter(acyclic).collect()
}

/// All sets of at most `most` edges between so many items.
pub fn edge_sets(count: usize, most: u32) -> Vec<Vec<(usize, usize)>> {
    let pairs: Vec<(usize, usize)> =
        (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
    let sets = (0_u32..1 << pairs.len()).filter(|bits| bits.count_ones() <= most);
    sets.map(|bits| pairs.iter().enumerate().filter(|(n, _)| bits >> n & 1 == 1).map(|(_, pair)| *pair).collect())
        .collect()
}

fn models(count: usize, most: u32) -> Vec<Model> {
    let sets = edge_sets(count, most);
    let forests = forests(count);
    forests
        .iter()
        .flat_map(|parents| sets.iter().map(|waits| Model { parents: parents.clone(), waits: waits.clone() }))
        .collect()
}

/// Whether the graph would take an event.
fn takes(world: &World, event: &WorkEvent, what: &impl std::fmt::Debug) -> bool {
    match check(&world.work, Time(1), event) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.code, "cycle_detected", "{error} in {what:?}");
            false
        }
    }
}

#[test]
fn a_structure_is_refused_exactly_if_its_items_could_not_all_be_closed() {
    let (mut good, mut bad) = (0, 0);
    for model in models(3, 6).into_iter().chain(models(4, 3)) {
        let deadlock = model.is_deadlock();
        assert_eq!(model.build().1, !deadlock, "{model:?}");
        *(if deadlock { &mut bad } else { &mut good }) += 1;
    }
    assert!(good > 1_000 && bad > 1_000, "{good} and {bad}");
}

#[test]
fn moving_and_leaving_a_parent_is_refused_exactly_if_what_comes_of_it_is_a_deadlock() {
    let mut refusals = 0;
    for model in models(3, 6).into_iter().chain(models(4, 2)).filter(|model| !model.is_deadlock()) {
        let (world, _) = model.build();
        let count = model.parents.len();
        for item in 0..count {
            for parent in (0..count).map(Some).chain([None]).filter(|parent| *parent != model.parents[item]) {
                let mut after = model.clone();
                after.parents[item] = parent;
                let into_itself =
                    parent == Some(item) || parent.is_some_and(|parent| model.above(parent).contains(&item));
                let expected = !into_itself && !after.is_deadlock();
                let event = WorkEvent::ItemMoved(ItemMoved {
                    id: id(&text(item)),
                    parent: parent.map(|parent| id(&text(parent))),
                    by: name("ann"),
                });
                assert_eq!(takes(&world, &event, &after), expected, "{item} to {parent:?} in {model:?}");
                refusals += usize::from(!expected && !into_itself);
                if let (None, Some(old)) = (parent, model.parents[item]) {
                    let (source, target, kind) = (id(&text(item)), target(&text(old)), DependencyKind::ParentChild);
                    let event = DependencyRemoved { source, target, kind, by: name("ann") };
                    assert_eq!(
                        takes(&world, &WorkEvent::DependencyRemoved(event), &after),
                        expected,
                        "{item} {model:?}"
                    );
                }
            }
        }
    }
    assert!(refusals > 1_000, "{refusals}");
}

#[test]
fn deleting_never_makes_a_deadlock() {
    for model in models(3, 6).into_iter().chain(models(4, 2)).filter(|model| !model.is_deadlock()) {
        for item in 0..model.parents.len() {
            let mut after = model.clone();
            after.waits.retain(|(from, to)| *from != item && *to != item);
            let above = model.parents[item];
            after.parents.iter_mut().filter(|parent| **parent == Some(item)).for_each(|parent| *parent = above);
            after.parents[item] = None;
            assert!(!after.is_deadlock(), "{item} of {model:?}");
        }
    }
}

#[test]
fn a_ring_of_ten_thousand_is_refused_at_its_last_edge() {
    let mut world = World::default();
    let names: Vec<String> = (0..10_000).map(|n| format!("ew-{n}")).collect();
    for text in &names {
        world.tasks(&[text]);
    }
    for pair in names.windows(2) {
        world.blocks(&pair[0], &pair[1]).unwrap();
    }
    let error =
        refused(world.blocks("ew-9999", "ew-0"), "cycle_detected", "ew-9999 waits for ew-0, ew-0 waits for ew-1");
    assert!(error.message.contains("steps more") && error.message.len() < 2_000, "{error}");
    assert!(world.work.cycles().is_empty());
}

#[test]
fn the_path_of_a_cycle_is_told_through_parents_children_and_runs() {
    let mut world = World::default();
    world.tasks(&["ew-a", "ew-b", "ew-c", "ew-plan"]);
    refused(world.blocks("ew-a", "ew-a"), "cycle_detected", "Cannot create self-referential dependency");
    world.blocks("ew-a", "ew-b").unwrap();
    world.blocks("ew-b", "ew-c").unwrap();
    let words = "ew-c waits for ew-a, ew-a waits for ew-b, ew-b waits for ew-c";
    refused(world.blocks("ew-c", "ew-a"), "cycle_detected", words);
    world.child("ew-c", "ew-plan").unwrap();
    refused(world.blocks("ew-plan", "ew-a"), "cycle_detected", "ew-c is in ew-plan");
    refused(world.blocks("ew-c", "ew-plan"), "cycle_detected", "ew-plan holds ew-c");
}

#[test]
fn a_run_waits_for_the_items_that_it_made() {
    let run = RunId(7);
    let mut world = World::default();
    world.tasks(&["ew-a"]);
    let link = edgewise_core::event::LinkRef { task: edgewise_core::event::TaskIx(0), generation: 1, attempt: 1 };
    let made = edgewise_core::work::ItemAdded {
        waiter: Some(Box::new(Waiter { run, within: Vec::new(), link })),
        ..crate::world::item("ew-made", ItemKind::Task)
    };
    world.add(made).unwrap();
    world.awaits("ew-a", &run.to_string()).unwrap();
    refused(world.blocks("ew-made", "ew-a"), "cycle_detected", &format!("run {run} waits for ew-made"));
    refused(world.awaits("ew-made", &run.to_string()), "cycle_detected", "ew-made waits for run");
}

/// An item of a run, with the runs that wait for that one.
pub fn made_by(text: &str, run: u128, within: &[u128]) -> ItemAdded {
    let link = LinkRef { task: TaskIx(0), generation: 1, attempt: 1 };
    let within = within.iter().map(|run| RunId(*run)).collect();
    let waiter = Some(Box::new(Waiter { run: RunId(run), within, link }));
    ItemAdded { waiter, ..crate::world::item(text, ItemKind::Task) }
}

#[test]
fn a_run_waits_for_its_sub_runs_and_so_for_the_items_that_they_made() {
    let [outer, inner] = [RunId(7).to_string(), RunId(9).to_string()];
    let whole = format!("ew-made waits for run {outer}, run {outer} waits for run {}", RunId(8));
    let mut world = World::default();
    world.add(made_by("ew-made", 9, &[8, 7])).unwrap();
    refused(world.awaits("ew-made", &outer), "cycle_detected", &whole);
    refused(world.awaits("ew-made", &inner), "cycle_detected", &format!("run {inner} waits for ew-made"));
    assert!(world.work.cycles().is_empty() && scratch::disagreements(&world.work).is_empty());
}

#[test]
fn who_waits_for_a_run_first_is_known_when_a_sub_run_of_it_makes_an_item() {
    let outer = RunId(7).to_string();
    let mut world = World::default();
    world.priority("ew-first", 1);
    world.awaits("ew-first", &outer).unwrap();
    world.add(made_by("ew-made", 9, &[8, 7])).unwrap();
    assert_eq!(world.work.item_row("ew-made").unwrap().effective, 1, "what the run waits for is as urgent");
    let words = format!("run {outer} waits for run {}", RunId(8));
    refused(world.blocks("ew-made", "ew-first"), "cycle_detected", &words);
    // The same once it is loaded from rows, where items come in another order than they were made in.
    world.work = Work::from_rows(&world.work.rows()).unwrap();
    refused(world.blocks("ew-made", "ew-first"), "cycle_detected", &words);
    // What goes on beside the sub-run waits for nobody.
    world.add(made_by("ew-beside", 7, &[])).unwrap();
    world.blocks("ew-beside", "ew-made").unwrap();
    assert_eq!(scratch::disagreements(&world.work), Vec::<String>::new());
}

#[test]
fn a_lineage_that_goes_round_is_refused() {
    let mut world = World::default();
    refused(world.add(made_by("ew-a", 7, &[8, 7])), "bad_lineage", "sub-run of itself");
    world.add(made_by("ew-a", 7, &[])).unwrap();
    world.awaits("ew-a", &RunId(8).to_string()).unwrap();
    // An item of an older program did not say whose sub-run made it; the next one does.
    refused(world.add(made_by("ew-b", 7, &[9, 8])), "cycle_detected", &format!("waits for run {}", RunId(7)));
    assert!(world.work.cycles().is_empty());
}

#[test]
fn satisfied_dependencies_count_so_that_reopening_is_safe() {
    let mut world = World::default();
    world.tasks(&["ew-a", "ew-b"]);
    world.blocks("ew-a", "ew-b").unwrap();
    world.close("ew-b").unwrap();
    refused(world.blocks("ew-b", "ew-a"), "cycle_detected", "ew-a waits for ew-b");
    world.close("ew-a").unwrap();
    refused(world.blocks("ew-b", "ew-a"), "cycle_detected", "ew-a waits for ew-b");
}

#[test]
fn kinds_that_nobody_waits_through_may_go_round() {
    let mut world = World::default();
    world.tasks(&["ew-a", "ew-b"]);
    for kind in [DependencyKind::References, DependencyKind::CausedBy, DependencyKind::Mentions] {
        world.depend("ew-a", "ew-b", kind, When::Success).unwrap();
        world.depend("ew-b", "ew-a", kind, When::Success).unwrap();
    }
    assert_eq!(world.ready(), ["ew-a", "ew-b"]);
    let dependency = DependencyAdded {
        source: id("ew-a"),
        target: target("ew-a"),
        kind: DependencyKind::RelatesTo,
        when: When::Success,
        metadata: None,
        by: name("ann"),
    };
    refused(world.fold(WorkEvent::DependencyAdded(Box::new(dependency))), "cycle_detected", "self-referential");
}
