//! Defects that other work graphs have, each held against this one.

use crate::world::{World, item, name, refused};
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_core::work::{
    Close, DependencyKind, GateWait, ItemKind, Obstacle, Reason, Standing, Status, When, Work, scratch,
};

fn world(ids: &[&str]) -> World {
    let mut world = World { now: 1_000, ..World::default() };
    world.tasks(ids);
    world
}

#[test]
fn two_items_that_wait_for_each_other_are_refused_with_the_path() {
    let mut world = world(&["ew-a", "ew-b"]);
    world.blocks("ew-a", "ew-b").unwrap();
    refused(world.blocks("ew-b", "ew-a"), "cycle_detected", "ew-b waits for ew-a, ew-a waits for ew-b");
    assert_eq!(world.ready(), ["ew-b"]);
}

#[test]
fn a_cycle_is_found_however_deep_it_is() {
    let names: Vec<String> = (0..300).map(|n| format!("ew-{n}")).collect();
    let mut world = world(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for pair in names.windows(2) {
        world.blocks(&pair[0], &pair[1]).unwrap();
    }
    refused(world.blocks("ew-299", "ew-0"), "cycle_detected", "steps more");
}

#[test]
fn a_timer_gate_opens_also_when_its_instant_passed_while_nothing_ran() {
    let mut world = world(&["ew-a"]);
    world.gate("ew-t", GateWait::Timer { wait_until: Time(5_000) }).unwrap();
    world.awaits("ew-a", "ew-t").unwrap();
    assert_eq!(world.work.due(), Some(Time(5_000)));
    let mut later = World { work: Work::from_rows(&world.work.rows()).unwrap(), ..World::default() };
    assert_eq!(later.work.standing("ew-a", Time(4_999)), Some(Standing::Blocked));
    later.elapse(900_000);
    assert_eq!(later.ready(), ["ew-a"]);
    assert_eq!(later.work.due(), None);
}

#[test]
fn blocked_is_not_stored_so_nothing_stays_blocked_after_a_rebuild() {
    let mut world = world(&["ew-a", "ew-b"]);
    world.blocks("ew-a", "ew-b").unwrap();
    let mut rows = world.work.rows();
    assert_eq!(world.work.shown_status("ew-a"), Some("blocked"));
    assert_eq!(world.work.item("ew-a").unwrap().status, Status::Open, "the base status is as it was");
    // Derived columns that are wrong do no harm: they are computed anew.
    rows.dependencies.clear();
    let loaded = Work::from_rows(&rows).unwrap();
    assert_eq!(loaded.shown_status("ew-a"), Some("open"));
}

#[test]
fn a_cancelled_plan_makes_its_dependents_visibly_unsatisfiable_with_a_way_out() {
    let mut world = world(&["ew-a"]);
    world.add(item("ew-plan", ItemKind::Plan)).unwrap();
    world.blocks("ew-a", "ew-plan").unwrap();
    world.close_as("ew-plan", Close::Cancelled).unwrap();
    let blockers = world.work.blockers("ew-a");
    assert_eq!((blockers.len(), blockers[0].reason), (1, Obstacle::Unsatisfiable));
    let why = world.work.why("ew-a", Time(1_000));
    let commands: Vec<&str> = why.because[0].help.iter().filter_map(|help| help.command.as_deref()).collect();
    assert_eq!(commands, ["edgewise reopen ew-plan", "edgewise dep remove ew-a ew-plan"]);
    world.undepend("ew-a", "ew-plan", DependencyKind::Blocks).unwrap();
    assert_eq!(world.ready(), ["ew-a"]);
}

#[test]
fn what_nobody_knows_is_in_the_way_until_it_comes_and_is_closed() {
    let mut world = world(&["ew-a"]);
    world.blocks("ew-a", "ew-later").unwrap();
    world.awaits("ew-a", "ew-gate").unwrap();
    world.blocks("ew-a", "https://example.org/7").unwrap();
    let reasons = |world: &World| world.work.blockers("ew-a").iter().map(|b| b.reason).collect::<Vec<_>>();
    assert_eq!(reasons(&world), [Obstacle::Unresolved; 3]);
    world.tasks(&["ew-later"]);
    world.gate("ew-gate", GateWait::Webhook).unwrap();
    assert_eq!(reasons(&world), [Obstacle::Gate, Obstacle::Open, Obstacle::Unresolved]);
    world.close("ew-later").unwrap();
    world.satisfy("ew-gate", Some("ci")).unwrap();
    assert_eq!(reasons(&world), [Obstacle::Unresolved]);
}

#[test]
fn an_epic_that_waits_for_its_own_children_does_not_lock_them() {
    let mut world = world(&["ew-epic", "ew-1", "ew-2", "ew-out"]);
    world.child("ew-1", "ew-epic").unwrap();
    world.child("ew-2", "ew-epic").unwrap();
    world.blocks("ew-epic", "ew-1").unwrap();
    world.blocks("ew-epic", "ew-2").unwrap();
    assert_eq!(world.ready(), ["ew-1", "ew-2", "ew-out"]);
    assert_eq!(world.blockers("ew-epic"), ["ew-1", "ew-2"]);
    world.blocks("ew-epic", "ew-out").unwrap();
    assert_eq!(world.ready(), ["ew-out"], "what is outside is in the way of the children too");
    assert_eq!(
        world.work.blockers("ew-1")[0].through.as_ref().map(edgewise_core::work::ItemId::as_str),
        Some("ew-epic")
    );
    world.close("ew-out").unwrap();
    world.close("ew-1").unwrap();
    world.close("ew-2").unwrap();
    assert_eq!(world.ready(), ["ew-epic"]);
}

#[test]
fn a_blocked_plan_blocks_what_is_below_it_and_an_open_one_does_not() {
    let mut world = world(&["ew-top", "ew-mid", "ew-low", "ew-x"]);
    world.child("ew-low", "ew-mid").unwrap();
    world.child("ew-mid", "ew-top").unwrap();
    assert!(world.ready().contains(&"ew-low".to_owned()));
    world.blocks("ew-top", "ew-x").unwrap();
    assert_eq!(world.ready(), ["ew-x"]);
    world.close("ew-x").unwrap();
    assert!(world.ready().contains(&"ew-low".to_owned()));
}

#[test]
fn what_follows_is_part_of_the_same_event() {
    let mut world = world(&["ew-a", "ew-b"]);
    world.blocks("ew-a", "ew-b").unwrap();
    world.close("ew-b").unwrap();
    assert!(world.changed.items.iter().any(|id| id.as_str() == "ew-a"), "the waiter's row is written with it");
    assert!(scratch::disagreements(&world.work).is_empty());
}

#[test]
fn every_blocker_is_recorded_each_with_its_reason() {
    let run = RunId(9);
    let mut world = world(&["ew-a", "ew-b", "ew-c", "ew-plan", "ew-d"]);
    world.gate("ew-g", GateWait::Webhook).unwrap();
    world.child("ew-a", "ew-plan").unwrap();
    world.blocks("ew-a", "ew-b").unwrap();
    world.blocks("ew-a", "ew-c").unwrap();
    world.awaits("ew-a", "ew-g").unwrap();
    world.awaits("ew-a", &run.to_string()).unwrap();
    world.blocks("ew-plan", "ew-d").unwrap();
    let all: Vec<(String, Obstacle)> =
        world.work.blockers("ew-a").iter().map(|b| (b.by.to_string(), b.reason)).collect();
    let expected = [
        (run.to_string(), Obstacle::Run),
        ("ew-b".into(), Obstacle::Open),
        ("ew-c".into(), Obstacle::Open),
        ("ew-g".into(), Obstacle::Gate),
        ("ew-d".into(), Obstacle::Open),
    ];
    assert_eq!(all, expected);
    world.run_ended(run, Some(RunState::Error)).unwrap();
    assert_eq!(world.work.blockers("ew-a")[0].reason, Obstacle::Unsatisfiable);
    world.run_ended(run, None).unwrap();
    world.run_ended(run, Some(RunState::Complete)).unwrap();
    assert_eq!(world.blockers("ew-a"), ["ew-b", "ew-c", "ew-g", "ew-d"]);
}

#[test]
fn of_many_claims_on_one_item_one_wins() {
    let mut world = world(&["ew-a"]);
    let won = (1..=8).filter(|token| world.claim("ew-a", "agent", *token, 100).is_ok()).count();
    assert_eq!(won, 1);
    let later = world.now + 100;
    world.elapse(later);
    assert_eq!(world.ready(), ["ew-a"], "a dead claimant's item comes back by itself");
    assert_eq!(world.work.item("ew-a").unwrap().fields.assignee, None);
    let won = (11..=18).filter(|token| world.claim("ew-a", "agent", *token, 100).is_ok()).count();
    assert_eq!(won, 1);
}

#[test]
fn nothing_that_is_said_to_help_destroys_anything() {
    fn commands(reason: &Reason, all: &mut Vec<String>) {
        all.extend(reason.help.iter().filter_map(|help| help.command.clone()));
        reason.because.iter().for_each(|reason| commands(reason, all));
    }
    let mut world = world(&["ew-a", "ew-b", "ew-c", "ew-d"]);
    world.blocks("ew-a", "ew-b").unwrap();
    world.blocks("ew-a", "ew-none").unwrap();
    world.blocks("ew-a", "ew-c").unwrap();
    world.close_as("ew-c", Close::Failed).unwrap();
    world.gate("ew-g", GateWait::Webhook).unwrap();
    world.awaits("ew-b", "ew-g").unwrap();
    let mut all = Vec::new();
    commands(&world.work.why("ew-a", Time(1_000)), &mut all);
    assert!(all.len() >= 4, "{all:?}");
    for refusal in [world.close("ew-a"), world.claim("ew-a", "ann", 1, 5), world.blocks("ew-b", "ew-a")] {
        all.push(refusal.unwrap_err().message);
    }
    for text in all {
        assert!(!["delete", "rm ", "reset", "--all"].iter().any(|word| text.contains(word)), "{text}");
    }
}

#[test]
fn ready_blocked_why_and_the_shown_status_agree_about_every_item() {
    let mut world = world(&["ew-a", "ew-b", "ew-c", "ew-d"]);
    world.blocks("ew-a", "ew-b").unwrap();
    world.claim("ew-c", "bob", 1, 50).unwrap();
    let now = Time(world.now);
    let any = edgewise_core::work::Filter::default();
    let names = |items: Vec<&edgewise_core::work::Item>| items.iter().map(|i| i.id.to_string()).collect::<Vec<_>>();
    let ready = names(world.work.ready(now, &any, None).unwrap());
    let blocked = names(world.work.blocked(now, &any).unwrap());
    for text in ["ew-a", "ew-b", "ew-c", "ew-d"] {
        let standing = world.work.standing(text, now).unwrap();
        let row = world.work.item_row(text).unwrap();
        assert_eq!(world.work.why(text, now).standing, Some(standing.clone()));
        assert_eq!(row.facts().standing(now), standing);
        assert_eq!(ready.contains(&text.to_owned()), standing == Standing::Ready);
        assert_eq!(blocked.contains(&text.to_owned()), standing == Standing::Blocked);
        assert_eq!(world.work.shown_status(text) == Some("blocked"), standing == Standing::Blocked);
    }
    let mine = names(world.work.ready(now, &any, Some(&name("bob"))).unwrap());
    assert!(mine.contains(&"ew-c".to_owned()), "what one has is ready for oneself");
}

#[test]
fn a_dependency_says_which_end_satisfies_it() {
    let ends = [Close::Done, Close::Failed, Close::Cancelled];
    for (when, good) in
        [(When::Success, [true, false, false]), (When::Any, [true, true, true]), (When::Failure, [false, true, false])]
    {
        for (how, good) in ends.into_iter().zip(good) {
            let mut world = world(&["ew-a", "ew-b"]);
            world.depend("ew-a", "ew-b", DependencyKind::Blocks, when).unwrap();
            assert_eq!(world.work.blockers("ew-a")[0].reason, Obstacle::Open);
            world.close_as("ew-b", how).unwrap();
            assert_eq!(world.ready() == ["ew-a"], good, "{when:?} {how:?}");
            world.reopen("ew-b").unwrap();
            assert_eq!(world.work.blockers("ew-a")[0].reason, Obstacle::Open);
        }
    }
}
