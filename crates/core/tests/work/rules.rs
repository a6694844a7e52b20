//! What happens by itself, how history tells it, and how things are found and shown.

use crate::dice::Dice;
use crate::world::{World, id, item, name};
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{
    Change, Close, DependencyKind, Direction, Filter, ItemKind, NoteKind, Phase, Sort, Standing, Status, When,
};

fn world(ids: &[&str]) -> World {
    let mut world = World { now: 1_000, ..World::default() };
    world.tasks(ids);
    world
}

#[test]
fn history_tells_what_followed_with_the_status_that_was_shown() {
    let mut world = world(&["ew-a", "ew-b"]);
    world.change("ew-a", Change { status: Some(Status::Review), ..Change::default() }).unwrap();
    world.blocks("ew-a", "ew-b").unwrap();
    let notes = world.notes("ew-a");
    assert!(matches!(notes[0], NoteKind::DependencyAdded(_)), "{notes:?}");
    assert_eq!(notes[1], &NoteKind::AutoBlocked { previous: Status::Review });
    assert!(matches!(world.notes("ew-b")[..], [NoteKind::DependencyAdded(_)]));
    world.close("ew-b").unwrap();
    assert_eq!(world.notes("ew-a"), [&NoteKind::AutoUnblocked { status: Status::Review }]);
    world.reopen("ew-b").unwrap();
    assert_eq!(world.notes("ew-a"), [&NoteKind::AutoBlocked { previous: Status::Review }]);
    world.force("ew-a").unwrap();
    assert_eq!(world.notes("ew-a").len(), 1, "what is closed is not unblocked");
    let note = serde_json::to_value(&world.changed.notes[0]).unwrap();
    assert_eq!(note["what"], "closed");
    assert_eq!(note["by"], "ann");
}

#[test]
fn a_deleted_item_takes_its_dependencies_along_and_its_children_belong_to_its_parent() {
    let mut world = world(&["ew-top", "ew-mid", "ew-low", "ew-a", "ew-b"]);
    world.child("ew-mid", "ew-top").unwrap();
    world.child("ew-low", "ew-mid").unwrap();
    world.blocks("ew-a", "ew-mid").unwrap();
    world.blocks("ew-mid", "ew-b").unwrap();
    world.delete("ew-mid").unwrap();
    let removed = world.changed.notes.iter().filter(|note| matches!(note.what, NoteKind::DependencyRemoved(_)));
    assert_eq!(removed.count(), 8, "each of four links is told on both ends");
    assert_eq!(world.work.parent("ew-low"), Some(&id("ew-top")));
    assert_eq!(world.work.item("ew-mid").unwrap().status, Status::Tombstone);
    assert!(world.work.dependencies_of("ew-mid").is_empty() && world.work.dependents_of("ew-mid").is_empty());
    assert_eq!(world.ready(), ["ew-a", "ew-b", "ew-low", "ew-top"], "whoever waited for it is looked at again");
}

#[test]
fn an_item_whose_children_are_all_over_is_eligible_or_closes_by_itself() {
    let mut world = world(&["ew-1", "ew-2", "ew-x"]);
    for (text, auto) in [("ew-plan", true), ("ew-top", false)] {
        let mut event = item(text, ItemKind::Plan);
        event.fields.auto_complete = auto;
        world.add(event).unwrap();
    }
    world.child("ew-1", "ew-plan").unwrap();
    world.child("ew-2", "ew-plan").unwrap();
    world.child("ew-plan", "ew-top").unwrap();
    world.close("ew-1").unwrap();
    assert!(world.notes("ew-plan").is_empty());
    world.close("ew-2").unwrap();
    let done = NoteKind::AutoCompleted { how: Close::Done };
    assert_eq!(world.notes("ew-plan"), [&NoteKind::CompletionEligible, &done]);
    assert_eq!(world.work.item("ew-plan").unwrap().phase, Some(Phase::Completed));
    assert_eq!(world.notes("ew-top"), [&NoteKind::CompletionEligible]);
    assert_eq!(world.work.item("ew-top").unwrap().status, Status::Open);
    world.reopen("ew-1").unwrap();
    world.reopen("ew-plan").unwrap();
    world.blocks("ew-plan", "ew-x").unwrap();
    world
        .fold(edgewise_core::work::WorkEvent::ItemClosed(edgewise_core::work::ItemClosed {
            force: true,
            ..World::close_event("ew-1", Close::Failed)
        }))
        .unwrap();
    assert_eq!(world.work.item("ew-plan").unwrap().status, Status::Open, "it is blocked");
    world.close("ew-x").unwrap();
    let failed = world.work.item("ew-plan").unwrap().closed.as_ref().map(|closed| closed.how);
    assert_eq!(failed, Some(Close::Failed), "a child failed");
}

#[test]
fn a_draft_plan_holds_back_what_is_in_it() {
    let mut world = world(&["ew-a"]);
    let mut plan = item("ew-plan", ItemKind::Plan);
    plan.phase = Some(Phase::Draft);
    world.add(plan).unwrap();
    world.child("ew-a", "ew-plan").unwrap();
    assert_eq!(world.work.standing("ew-a", Time(1_000)), Some(Standing::Draft(id("ew-plan"))));
    assert!(world.ready().is_empty());
    world.change("ew-plan", Change { phase: Some(Phase::Active), ..Change::default() }).unwrap();
    assert_eq!(world.ready(), ["ew-a"]);
    assert!(world.changed.items.contains(&id("ew-a")), "its row differs");
}

#[test]
fn an_ephemeral_instance_is_ready_for_who_asks_and_goes_away_with_what_is_in_it() {
    let mut world = world(&["ew-a", "ew-b"]);
    let mut instance = item("ew-w", ItemKind::Instance);
    instance.fields.ephemeral = Some(Millis(500));
    world.add(instance).unwrap();
    world.child("ew-a", "ew-w").unwrap();
    world.child("ew-b", "ew-a").unwrap();
    assert!(world.ready().is_empty());
    let asked = Filter { ephemeral: true, ..Filter::default() };
    assert_eq!(world.work.ready(Time(1_000), &asked, None).unwrap().len(), 2);
    assert_eq!(world.work.item("ew-w").unwrap().phase, Some(Phase::Pending));
    world.claim("ew-b", "ann", 1, 100).unwrap();
    assert_eq!(world.work.item("ew-w").unwrap().phase, Some(Phase::Running));
    world.elapse(1_499);
    assert_eq!(world.work.item("ew-w").unwrap().status, Status::Open);
    world.elapse(1_500);
    for text in ["ew-w", "ew-a", "ew-b"] {
        assert_eq!(world.work.item(text).unwrap().status, Status::Tombstone, "{text}");
    }
    assert_eq!(world.work.due(), None);
}

#[test]
fn an_item_is_as_urgent_as_the_most_urgent_that_waits_for_it() {
    let mut world = world(&[]);
    for (text, priority) in [("ew-low", 5), ("ew-mid", 3), ("ew-top", 1), ("ew-two", 2)] {
        world.priority(text, priority);
    }
    assert_eq!(world.ready(), ["ew-top", "ew-two", "ew-mid", "ew-low"]);
    world.blocks("ew-mid", "ew-low").unwrap();
    world.blocks("ew-top", "ew-mid").unwrap();
    assert_eq!(world.ready(), ["ew-low", "ew-two"]);
    assert_eq!(world.work.effective_priority("ew-low"), Some(1));
    let by_priority = Filter { sort: Sort::Priority, ..Filter::default() };
    assert_eq!(world.work.ready(Time(1_000), &by_priority, None).unwrap()[0].id, id("ew-two"));
    world.change("ew-top", Change { priority: Some(4), ..Change::default() }).unwrap();
    assert_eq!(world.work.effective_priority("ew-low"), Some(3));
    assert_eq!(world.ready(), ["ew-two", "ew-low"]);
}

#[test]
fn filters_and_orders_hold_together() {
    let mut world = world(&["ew-plan", "ew-x"]);
    for (text, tags, who, deadline) in
        [("ew-1", "web", Some("ann"), Some(9_000)), ("ew-2", "api", None, Some(3_000)), ("ew-3", "web", None, None)]
    {
        let mut event = item(text, ItemKind::Task);
        event.fields.tags = [name(tags), name("all")].into();
        event.fields.assignee = who.map(name);
        event.fields.deadline = deadline.map(Time);
        world.add(event).unwrap();
        world.child(text, "ew-plan").unwrap();
    }
    world.blocks("ew-x", "ew-3").unwrap();
    let check = |filter: Filter, expected: &[&str]| {
        let found = world.work.ready(Time(1_000), &filter, None).unwrap();
        let found: Vec<&str> = found.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(found, expected, "{filter:?}");
    };
    let none = Filter::default;
    check(Filter { plan: Some("plan".into()), ..none() }, &["ew-1", "ew-2", "ew-3"]);
    check(Filter { parent: Some("ew-plan".into()), limit: Some(2), ..none() }, &["ew-1", "ew-2"]);
    check(Filter { tags: [name("web"), name("all")].into(), ..none() }, &["ew-1", "ew-3"]);
    check(Filter { any_tags: [name("api"), name("web")].into(), unassigned: true, ..none() }, &["ew-2", "ew-3"]);
    check(Filter { no_tags: [name("web")].into(), tags: [name("all")].into(), ..none() }, &["ew-2"]);
    check(Filter { assignee: Some(name("ann")), ..none() }, &["ew-1"]);
    check(Filter { due_before: Some(Time(5_000)), ..none() }, &["ew-2"]);
    check(Filter { text: Some("EW-3".into()), ..none() }, &["ew-3"]);
    check(Filter { sort: Sort::Deadline, limit: Some(2), ..none() }, &["ew-2", "ew-1"]);
    check(Filter { sort: Sort::Unblocks, limit: Some(1), ..none() }, &["ew-3"]);
    assert_eq!(
        world.work.ready(Time(1), &Filter { parent: Some("zz".into()), ..none() }, None).unwrap_err().code,
        "item_not_found"
    );
}

#[test]
fn a_beginning_of_an_id_is_enough_if_it_fits_no_other() {
    let mut world = world(&["ew-7k2", "ew-7k9", "ew-a1", "bd-x"]);
    let resolve = |world: &World, text: &str| world.work.resolve(text).map(|id| id.to_string());
    for (text, expected) in
        [("ew-7k2", "ew-7k2"), ("7k9", "ew-7k9"), ("a", "ew-a1"), ("ew-a", "ew-a1"), ("x", "bd-x"), ("bd", "bd-x")]
    {
        assert_eq!(resolve(&world, text).unwrap(), expected, "{text}");
    }
    let error = resolve(&world, "7k").unwrap_err();
    assert!(error.code == "ambiguous_id" && error.message.contains("ew-7k2, ew-7k9"), "{error}");
    for text in ["q", "", "ew-9", "🦀"] {
        assert_eq!(resolve(&world, text).unwrap_err().code, "item_not_found", "{text}");
    }
    world.delete("ew-7k9").unwrap();
    assert_eq!(resolve(&world, "7k").unwrap(), "ew-7k2");
}

#[test]
fn new_ids_are_short_and_grow_with_their_number() {
    let mut world = World::default();
    let mut lengths = std::collections::BTreeSet::new();
    for n in 0..5_000_u128 {
        let fresh = world.work.fresh_id(&name("ew"), n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
        lengths.insert((fresh.as_str().len(), n < 4_000));
        world.tasks(&[fresh.as_str()]);
    }
    assert!(
        lengths.contains(&(6, true)) && !lengths.contains(&(7, true)) && lengths.contains(&(7, false)),
        "{lengths:?}"
    );
    for (prefix, plain) in [("Team/Web.x", "teamwebx-"), ("a-b", "ab-")] {
        assert!(world.work.fresh_id(&name(prefix), 7).as_str().starts_with(plain), "{prefix}");
    }
    let again = world.work.fresh_id(&name("ew"), 0);
    assert!(world.work.item(again.as_str()).is_none());
}

#[test]
fn a_tree_marks_diamonds_and_loops_and_honours_its_depth() {
    let mut world = world(&["ew-a", "ew-b", "ew-c", "ew-d"]);
    for (from, to) in [("ew-a", "ew-b"), ("ew-a", "ew-c"), ("ew-b", "ew-d"), ("ew-c", "ew-d")] {
        world.blocks(from, to).unwrap();
    }
    world.depend("ew-d", "ew-a", DependencyKind::RelatesTo, When::Success).unwrap();
    let tree = world.work.tree("ew-a", Direction::Dependencies, 5);
    let shape = |branch: &edgewise_core::work::Branch| {
        branch.branches.iter().map(|b| (b.id.to_string(), b.seen, b.cut)).collect::<Vec<_>>()
    };
    assert_eq!(
        shape(&tree),
        [("ew-b".into(), false, false), ("ew-c".into(), false, false), ("ew-d".into(), true, false)]
    );
    assert_eq!(shape(&tree.branches[0]), [("ew-d".into(), false, false)]);
    assert_eq!(shape(&tree.branches[0].branches[0]), [("ew-a".into(), true, false)], "relates-to leads back");
    assert_eq!(shape(&tree.branches[1]), [("ew-d".into(), true, false)]);
    let flat = world.work.tree("ew-a", Direction::Dependencies, 1);
    assert_eq!(shape(&flat)[0], ("ew-b".into(), false, true), "there is more below");
    let up = world.work.tree("ew-d", Direction::Dependents, 1);
    assert_eq!(up.branches.len(), 3);
}

#[test]
fn why_tells_everything_once_down_to_who_can_help() {
    let mut world = world(&["ew-a", "ew-b", "ew-c", "ew-d"]);
    for (from, to) in [("ew-a", "ew-b"), ("ew-a", "ew-c"), ("ew-b", "ew-d"), ("ew-c", "ew-d")] {
        world.blocks(from, to).unwrap();
    }
    let wait = edgewise_core::work::GateWait::Approval {
        required_approvers: vec![name("ann"), name("bob")],
        approval_count: None,
    };
    world.gate("ew-g", wait).unwrap();
    world.awaits("ew-d", "ew-g").unwrap();
    world.approve("ew-g", "ann").unwrap();
    let why = world.work.why("ew-a", Time(1_000));
    assert_eq!(why.says, "ew-a is blocked by 2 things");
    let gate = &why.because[0].because[0].because[0];
    assert_eq!(gate.says, "gate ew-g has 1 of 2 approvals");
    assert_eq!((gate.help.len(), gate.help[0].who.as_str()), (1, "bob"));
    assert_eq!(gate.help[0].command.as_deref(), Some("edgewise gate approve ew-g --as bob"));
    let again = &why.because[1].because[0];
    assert!(again.seen && again.because.is_empty() && again.id.as_str() == "ew-d", "{again:?}");
}

#[test]
fn a_chain_of_reasons_that_is_too_deep_to_print_says_where_to_ask_on() {
    let names: Vec<String> = (0..100).map(|n| format!("ew-{n}")).collect();
    let mut world = world(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for pair in names.windows(2) {
        world.blocks(&pair[0], &pair[1]).unwrap();
    }
    let mut reason = &world.work.why("ew-0", Time(1_000));
    while let Some(next) = reason.because.first() {
        reason = next;
    }
    assert_eq!(reason.help[0].command.as_deref(), Some("edgewise why ew-40"));
    let text = serde_json::to_string(&world.work.why("ew-0", Time(1_000))).unwrap();
    assert!(serde_json::from_str::<edgewise_core::work::Reason>(&text).is_ok(), "it reads back");
}

#[test]
fn what_there_is_is_counted() {
    let mut world = world(&["ew-a", "ew-b", "ew-c", "ew-d", "ew-gone"]);
    world.blocks("ew-a", "ew-b").unwrap();
    world.claim("ew-c", "ann", 1, 50).unwrap();
    world.close("ew-d").unwrap();
    world.delete("ew-gone").unwrap();
    let stats = world.work.stats(Time(1_000));
    assert_eq!((stats.items, stats.ready, stats.blocked, stats.claimed, stats.dependencies), (4, 1, 1, 1, 1));
    assert_eq!(stats.status[&Status::Closed], 1);
}

#[test]
fn a_claim_is_extended_given_back_and_leaves_whose_it_was() {
    let mut world = world(&["ew-a"]);
    world.change("ew-a", Change { assignee: Some(Some(name("carol"))), ..Change::default() }).unwrap();
    world.claim("ew-a", "ann", 1, 100).unwrap();
    assert_eq!(world.work.item("ew-a").unwrap().fields.assignee, Some(name("ann")));
    world.extend("ew-a", 1, 500).unwrap();
    assert_eq!(world.work.due(), Some(Time(1_500)));
    world.release("ew-a", 1, Some("ann")).unwrap();
    let item = world.work.item("ew-a").unwrap();
    assert_eq!((item.fields.assignee.clone(), item.status), (Some(name("carol")), Status::Open));
}

/// As many tasks, of which the first seven tenths wait for later ones by twice as many `blocks` edges, and a plan for
/// each ten.
fn large(tasks: usize) -> World {
    let mut world = World::default();
    let mut dice = Dice::new(7);
    for n in 0..tasks / 10 {
        world.add(item(&format!("ew-p{n}"), ItemKind::Plan)).unwrap();
    }
    for n in 0..tasks {
        world.tasks(&[&format!("ew-t{n}")]);
        if n % 2 == 0 {
            world.child(&format!("ew-t{n}"), &format!("ew-p{}", n / 2 % (tasks / 10))).unwrap();
        }
    }
    for n in 0..tasks * 2 {
        let source = n % (tasks * 7 / 10);
        let target = source + 1 + dice.below((tasks - source - 1) as u64) as usize;
        let _ = world.blocks(&format!("ew-t{source}"), &format!("ew-t{target}"));
    }
    world
}

#[test]
fn what_the_first_few_cost_does_not_grow_with_how_many_there_are() {
    let filter = Filter { limit: Some(20), ..Filter::default() };
    for tasks in [10_000, 100_000] {
        let mut world = large(tasks);
        let looked = |world: &World| {
            let (found, looked) = world.work.ready_counted(Time(world.now), &filter, None).unwrap();
            assert_eq!(found.len(), 20, "{tasks}");
            looked
        };
        assert_eq!(looked(&world), 20, "{tasks}");
        // What is in front and somebody's costs one look each, and nothing else does.
        let first: Vec<String> = world.ready().into_iter().take(30).collect();
        for id in &first {
            world.claim(id, "bob", 7, 1_000_000).unwrap();
        }
        assert_eq!(looked(&world), 20 + 30, "{tasks}");
    }
}
