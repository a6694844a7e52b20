//! Everything that is refused: with a stable code, and words that say what, why and what next.

use crate::world::{World, fields, id, item, name, refused, target};
use edgewise_core::error::Kind;
use edgewise_core::id::TokenHash;
use edgewise_core::limits;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{
    Change, Close, DependencyAdded, DependencyKind, Details, GateWait, ItemClosed, ItemKind, Phase, Status, When,
    WorkEvent,
};
use serde_json::{Value, json};

fn world(ids: &[&str]) -> World {
    let mut world = World { now: 1_000, ..World::default() };
    world.tasks(ids);
    world
}

fn approval(names: &[&str], count: Option<u32>) -> GateWait {
    GateWait::Approval { required_approvers: names.iter().map(|text| name(text)).collect(), approval_count: count }
}

#[test]
fn a_title_a_priority_and_tags_are_within_their_limits() {
    let mut world = world(&["ew-a"]);
    let long = "x".repeat(limits::WORK_TITLE_BYTES + 1);
    for (title, code) in
        [("", "bad_title"), ("  ", "bad_title"), ("a\u{1b}[2J", "bad_title"), (&long, "title_too_long")]
    {
        let mut event = item("ew-b", ItemKind::Task);
        event.fields = fields(title);
        refused(world.add(event), code, "title");
        refused(world.change("ew-a", Change { title: Some(title.into()), ..Change::default() }), code, "title");
    }
    for priority in [0, 6, 255] {
        let mut event = item("ew-b", ItemKind::Task);
        event.fields.priority = priority;
        refused(world.add(event), "bad_priority", "1 (first) to 5 (last)");
        refused(world.change("ew-a", Change { priority: Some(priority), ..Change::default() }), "bad_priority", "1 (");
    }
    let many = (0..=limits::WORK_TAGS).map(|n| name(&format!("t{n}"))).collect();
    let mut event = item("ew-b", ItemKind::Task);
    event.fields.tags = many;
    let tag = event.fields.tags.clone();
    refused(world.add(event), "too_many_tags", "64");
    refused(world.change("ew-a", Change { tag, ..Change::default() }), "too_many_tags", "64");
}

#[test]
fn long_fields_and_metadata_are_within_their_limits() {
    let mut world = world(&["ew-a"]);
    let text = "x".repeat(limits::WORK_TEXT_BYTES + 1);
    let large = json!({ "k": "x".repeat(limits::WORK_METADATA_BYTES) });
    let Value::Object(large) = large else { unreachable!() };
    for (details, code) in [
        (Details { description: text.clone(), ..Details::default() }, "text_too_long"),
        (Details { acceptance: text.clone(), ..Details::default() }, "text_too_long"),
        (Details { metadata: large.clone(), ..Details::default() }, "metadata_too_large"),
    ] {
        let mut event = item("ew-b", ItemKind::Task);
        event.fields.details = Some(Box::new(details));
        assert_eq!(world.add(event).unwrap_err().code, code);
    }
    refused(world.change("ew-a", Change { metadata: large, ..Change::default() }), "metadata_too_large", "65536");
    refused(world.change("ew-a", Change { description: Some(text), ..Change::default() }), "text_too_long", "at most");
    refused(world.change("ew-a", Change::default()), "nothing_to_change", "ew-a");
}

#[test]
fn an_id_is_given_once_even_after_a_delete() {
    let mut world = world(&["ew-a"]);
    refused(world.add(item("ew-a", ItemKind::Task)), "id_taken", "already");
    world.gate("ew-g", GateWait::Webhook).unwrap();
    refused(world.add(item("ew-g", ItemKind::Task)), "id_taken", "already");
    refused(world.gate("ew-a", GateWait::Webhook), "id_taken", "already");
    world.delete("ew-a").unwrap();
    refused(world.add(item("ew-a", ItemKind::Task)), "id_taken", "already");
}

#[test]
fn what_is_not_there_or_was_deleted_cannot_be_touched() {
    let mut world = world(&["ew-a", "ew-gone"]);
    world.delete("ew-gone").unwrap();
    for (text, code) in [("ew-none", "item_not_found"), ("ew-gone", "item_deleted")] {
        refused(world.close(text), code, text);
        refused(world.reopen(text), code, text);
        refused(world.delete(text), code, text);
        refused(world.claim(text, "ann", 1, 9), code, text);
        refused(world.extend(text, 1, 9), code, text);
        refused(world.release(text, 1, None), code, text);
        refused(world.move_to(text, None), code, text);
        refused(world.move_to("ew-a", Some(text)), code, text);
        refused(world.blocks(text, "ew-a"), code, text);
        refused(world.child("ew-a", text), code, text);
        refused(world.undepend(text, "ew-a", DependencyKind::Blocks), code, text);
        refused(world.change(text, Change { priority: Some(1), ..Change::default() }), code, text);
    }
    refused(world.blocks("ew-a", "ew-gone"), "item_deleted", "ew-gone");
    refused(world.undepend("ew-a", "ew-b", DependencyKind::Blocks), "dependency_not_found", "edgewise dep list ew-a");
    for result in [world.approve("gate-x", "ann"), world.satisfy("gate-x", None), world.reject("gate-x", "ann")] {
        refused(result, "gate_not_found", "gate-x");
    }
}

#[test]
fn closing_what_is_blocked_or_has_open_children_needs_force() {
    let mut world = world(&["ew-a", "ew-b", "ew-plan", "ew-child"]);
    world.blocks("ew-a", "ew-b").unwrap();
    world.child("ew-child", "ew-plan").unwrap();
    refused(world.close("ew-a"), "item_blocked", "blocked by ew-b");
    refused(world.close("ew-plan"), "open_children", "ew-child");
    world.force("ew-a").unwrap();
    world.force("ew-plan").unwrap();
    refused(world.close("ew-a"), "already_closed", "ew-a");
    refused(world.reopen("ew-b"), "not_closed", "open");
    refused(world.change("ew-a", Change { status: Some(Status::Open), ..Change::default() }), "item_closed", "reopen");
    refused(world.change("ew-b", Change { status: Some(Status::Closed), ..Change::default() }), "bad_status", "close");
    refused(
        world.change("ew-b", Change { status: Some(Status::Tombstone), ..Change::default() }),
        "bad_status",
        "close",
    );
}

#[test]
fn only_what_is_ready_and_nobodys_can_be_claimed() {
    let mut world = world(&["ew-a", "ew-b", "ew-later", "ew-aside"]);
    world.blocks("ew-a", "ew-b").unwrap();
    refused(world.claim("ew-a", "ann", 1, 100), "item_blocked", "edgewise why ew-a");
    world.claim("ew-b", "ann", 1, 100).unwrap();
    refused(world.claim("ew-b", "bob", 2, 100), "item_claimed", "ann has ew-b");
    refused(world.claim("ew-b", "ann", 3, 100), "item_claimed", "ann has ew-b");
    world.change("ew-later", Change { scheduled_for: Some(Some(Time(2_000))), ..Change::default() }).unwrap();
    refused(world.claim("ew-later", "ann", 1, 100), "not_ready", "edgewise why");
    world.change("ew-aside", Change { status: Some(Status::Deferred), ..Change::default() }).unwrap();
    refused(world.claim("ew-aside", "ann", 1, 100), "not_ready", "edgewise why");
    world.add(item("ew-doc", ItemKind::Document)).unwrap();
    refused(world.claim("ew-doc", "ann", 1, 100), "not_work", "ew-doc");
    world.close("ew-b").unwrap();
    refused(world.claim("ew-b", "ann", 1, 100), "item_closed", "over");
    refused(world.claim("ew-a", "ann", 1, 0), "bad_lease", "over already");
}

#[test]
fn a_token_must_be_that_of_the_claim() {
    let mut world = world(&["ew-a"]);
    refused(world.extend("ew-a", 1, 50), "stale_token", "claim it again");
    world.claim("ew-a", "ann", 1, 100).unwrap();
    refused(world.extend("ew-a", 2, 50), "stale_token", "claim it again");
    refused(world.release("ew-a", 2, Some("ann")), "stale_token", "claim it again");
    refused(world.release("ew-a", 1, None), "too_early", "has not run out");
    refused(world.extend("ew-a", 1, 0), "bad_lease", "over already");
    let close = |token, by: &str, force| {
        let token = Some(TokenHash(token)).filter(|token| token.0 > 0);
        WorkEvent::ItemClosed(ItemClosed { token, by: name(by), force, ..World::close_event("ew-a", Close::Done) })
    };
    for force in [false, true] {
        let error = refused(world.fold(close(2, "ann", force)), "stale_token", "claim it again");
        assert_eq!(error.kind, Kind::Stale);
    }
    refused(world.fold(close(0, "bob", false)), "item_claimed", "ann has ew-a");
    world.elapse(1_100);
    refused(world.fold(close(1, "ann", false)), "stale_token", "claim it again");
    world.claim("ew-a", "bob", 5, 100).unwrap();
    refused(world.fold(close(1, "ann", false)), "stale_token", "claim it again");
    world.fold(close(5, "bob", false)).unwrap();
}

#[test]
fn an_item_has_one_parent_and_moves_by_one_event() {
    let mut world = world(&["ew-a", "ew-p", "ew-q"]);
    world.child("ew-a", "ew-p").unwrap();
    refused(world.child("ew-a", "ew-q"), "second_parent", "one parent");
    refused(world.child("ew-a", "ew-p"), "dependency_exists", "already");
    refused(world.move_to("ew-a", Some("ew-p")), "already_there", "in ew-p");
    refused(world.move_to("ew-p", Some("ew-a")), "cycle_detected", "ew-a is in ew-p");
    refused(world.move_to("ew-p", Some("ew-p")), "cycle_detected", "in itself");
    refused(world.child("ew-p", "outside"), "item_not_found", "a parent must be there");
    world.move_to("ew-a", Some("ew-q")).unwrap();
    assert_eq!((world.work.parent("ew-a"), world.work.children("ew-p").len()), (Some(&id("ew-q")), 0));
    world.move_to("ew-a", None).unwrap();
    refused(world.move_to("ew-a", None), "already_there", "at the top");
}

#[test]
fn messages_are_never_changed_and_only_answer_messages() {
    let mut world = world(&["ew-a"]);
    for text in ["ew-m1", "ew-m2", "ew-m3"] {
        world.add(item(text, ItemKind::Message)).unwrap();
    }
    let change = Change { title: Some("other".into()), ..Change::default() };
    refused(world.change("ew-m1", change), "message_immutable", "write another one");
    refused(world.close("ew-m1"), "message_immutable", "ew-m1");
    let reply = |world: &mut World, from, to| world.depend(from, to, DependencyKind::RepliesTo, When::Success);
    refused(reply(&mut world, "ew-a", "ew-m1"), "wrong_target", "message to a message");
    refused(reply(&mut world, "ew-m1", "ew-a"), "wrong_target", "message to a message");
    refused(reply(&mut world, "ew-m1", "ew-none"), "wrong_target", "message to a message");
    reply(&mut world, "ew-m2", "ew-m1").unwrap();
    reply(&mut world, "ew-m3", "ew-m2").unwrap();
    refused(reply(&mut world, "ew-m1", "ew-m3"), "cycle_detected", "thread");
    refused(reply(&mut world, "ew-m2", "ew-m3"), "second_reply", "already");
    let thread = |text: &str| world.work.thread(text).iter().map(|item| item.id.to_string()).collect::<Vec<_>>();
    assert_eq!(thread("ew-m3"), ["ew-m1", "ew-m2", "ew-m3"]);
    assert_eq!(thread("ew-m1"), thread("ew-m2"));
}

#[test]
fn a_dependency_points_to_something_of_the_right_kind() {
    let mut world = world(&["ew-a", "ew-b"]);
    world.gate("ew-g", GateWait::Webhook).unwrap();
    world.add(item("ew-m", ItemKind::Message)).unwrap();
    world.add(item("ew-e", ItemKind::Entity)).unwrap();
    refused(world.blocks("ew-a", "ew-g"), "wrong_target", "`awaits`");
    refused(world.awaits("ew-a", "ew-b"), "wrong_target", "`blocks`");
    refused(world.blocks("ew-a", "ew-m"), "wrong_target", "for ever");
    refused(world.blocks("ew-m", "ew-a"), "wrong_target", "cannot wait");
    refused(world.child("ew-a", "ew-e"), "wrong_target", "nothing can be in it");
    refused(world.depend("ew-a", "ew-b", DependencyKind::ParentChild, When::Any), "bad_when", "`when`");
    for kind in [DependencyKind::AuthoredBy, DependencyKind::AssignedTo, DependencyKind::ApprovedBy] {
        refused(world.depend("ew-a", "ew-b", kind, When::Success), "wrong_target", "a person or an entity");
        refused(world.depend("ew-a", "12!", kind, When::Success), "wrong_target", "a person or an entity");
        world.depend("ew-a", "alice", kind, When::Success).unwrap();
        world.depend("ew-a", "ew-e", kind, When::Success).unwrap();
    }
    world.blocks("ew-a", "ew-b").unwrap();
    refused(world.depend("ew-a", "ew-b", DependencyKind::Blocks, When::Any), "dependency_exists", "already");
    world.depend("ew-b", "ew-a", DependencyKind::RelatesTo, When::Success).unwrap();
    refused(world.depend("ew-a", "ew-b", DependencyKind::RelatesTo, When::Success), "dependency_exists", "already");
}

#[test]
fn metadata_of_dependencies_is_checked_when_it_is_written() {
    let mut world = world(&["ew-a", "ew-b"]);
    let mut add = |kind, metadata: Option<Value>| {
        world.fold(WorkEvent::DependencyAdded(Box::new(DependencyAdded {
            source: id("ew-a"),
            target: target("ew-b"),
            kind,
            when: When::Success,
            metadata,
            by: name("ann"),
        })))
    };
    for (metadata, words) in [
        (None, "testType"),
        (Some(json!({ "result": "pass" })), "testType"),
        (Some(json!({ "testType": "unit" })), "result"),
        (Some(json!({ "testType": "unit", "result": "maybe" })), "result"),
        (Some(json!({ "testType": "unit", "result": "pass", "details": 7 })), "details"),
        (Some(json!({ "testType": "unit", "result": "pass", "color": "red" })), "color"),
    ] {
        refused(add(DependencyKind::Validates, metadata), "bad_metadata", words);
    }
    refused(add(DependencyKind::References, Some(json!([1]))), "bad_metadata", "object");
    let large = json!({ "k": "x".repeat(limits::WORK_METADATA_BYTES) });
    refused(add(DependencyKind::References, Some(large)), "metadata_too_large", "65536");
    refused(add(DependencyKind::Awaits, Some(json!({ "gateType": "timer" }))), "bad_gate", "make the gate");
    add(DependencyKind::Validates, Some(json!({ "testType": "unit", "result": "pass" }))).unwrap();
    let said = Some(json!({ "role": "first" }));
    add(DependencyKind::ParentChild, said.clone()).unwrap();
    add(DependencyKind::CausedBy, said.clone()).unwrap();
    for one in world.work.dependencies().filter(|one| one.kind != DependencyKind::Validates) {
        assert_eq!(one.metadata, said, "{} keeps what was said of it", one.kind.name());
    }
}

#[test]
fn a_gate_that_could_not_open_as_it_is_meant_is_refused() {
    let mut world = world(&[]);
    for (wait, words) in [
        (GateWait::Timer { wait_until: Time::NEVER }, "waitUntil"),
        (approval(&["ann", "bob"], Some(3)), "only 2 may approve: name more people"),
        (approval(&["ann"], Some(0)), "at least one"),
        (approval(&["ann", "ann"], None), "twice"),
        (GateWait::External { external_system: String::new(), external_id: "7".into() }, "externalSystem"),
        (GateWait::External { external_system: "jira".into(), external_id: " ".into() }, "externalId"),
    ] {
        refused(world.gate("ew-g", wait), "bad_gate", words);
    }
    for (metadata, words) in [
        (json!({}), "gateType"),
        (json!({ "gateType": "moon" }), "timer, approval, external, webhook"),
        (json!({ "gateType": "timer" }), "waitUntil"),
        (json!({ "gateType": "timer", "waitUntil": 5, "approvalCount": 1 }), "approvalCount"),
        (json!({ "gateType": "external", "externalSystem": "jira" }), "externalId"),
        (json!({ "gateType": "approval", "requiredApprovers": ["ann"], "approvalCount": 2 }), "only 1"),
    ] {
        refused(GateWait::from_metadata(&metadata).map(drop), "bad_gate", words);
    }
    let good = json!({ "gateType": "approval", "requiredApprovers": ["ann"] });
    assert_eq!(GateWait::from_metadata(&good).unwrap(), approval(&["ann"], None));
}

#[test]
fn a_gate_is_opened_by_those_who_may_once_each_and_then_no_more() {
    let mut world = world(&["ew-a"]);
    world.gate("ew-g", approval(&["ann", "bob"], None)).unwrap();
    world.gate("ew-t", GateWait::Timer { wait_until: Time(2_000) }).unwrap();
    world.gate("ew-w", GateWait::Webhook).unwrap();
    let error = refused(world.approve("ew-g", "eve"), "not_an_approver", "ann, bob");
    assert_eq!(error.kind, Kind::Denied);
    assert!(error.message.contains("`edgewise gate approve ew-g --as ann`"), "{error}");
    refused(world.reject("ew-g", "eve"), "not_an_approver", "`edgewise gate reject ew-g --as ann`");
    refused(world.satisfy("ew-g", Some("ann")), "wrong_gate", "`edgewise gate approve ew-g --as ann`");
    refused(world.withdraw("ew-g", "ann"), "not_approved", "nothing to take back");
    world.approve("ew-g", "ann").unwrap();
    refused(world.approve("ew-g", "ann"), "already_approved", "different people");
    refused(world.satisfy("ew-g", Some("root")), "wrong_gate", "gate approve");
    refused(world.approve("ew-t", "ann"), "wrong_gate", "opens by itself at");
    refused(world.approve("ew-w", "ann"), "wrong_gate", "`edgewise gate satisfy ew-w`");
    refused(world.satisfy("ew-t", None), "too_early", "not yet");
    refused(world.satisfy("ew-w", None), "wrong_gate", "nobody is named");
    world.approve("ew-g", "bob").unwrap();
    for result in [world.approve("ew-g", "ann"), world.withdraw("ew-g", "ann"), world.reject("ew-g", "ann")] {
        refused(result, "gate_ended", "nothing follows");
    }
}

#[test]
fn phases_and_ephemeral_belong_to_plans_and_instances() {
    let mut world = world(&["ew-a"]);
    let phase = |phase| Change { phase: Some(phase), ..Change::default() };
    refused(world.change("ew-a", phase(Phase::Active)), "bad_phase", "only a plan");
    let mut event = item("ew-b", ItemKind::Task);
    event.fields.ephemeral = Some(Millis(5));
    refused(world.add(event), "not_an_instance", "put the item into one");
    world.add(item("ew-plan", ItemKind::Plan)).unwrap();
    refused(world.change("ew-plan", phase(Phase::Running)), "bad_phase", "Draft, Active");
    refused(world.change("ew-plan", phase(Phase::Completed)), "bad_phase", "closing");
    world.change("ew-plan", phase(Phase::Draft)).unwrap();
    world.close_as("ew-plan", Close::Cancelled).unwrap();
    assert_eq!(world.work.item("ew-plan").unwrap().phase, Some(Phase::Cancelled));
    refused(world.change("ew-plan", phase(Phase::Active)), "item_closed", "reopen");
}

#[test]
fn how_a_run_ended_is_said_once() {
    let mut world = world(&["ew-a"]);
    let run = edgewise_core::id::RunId(4);
    refused(world.run_ended(run, Some(RunState::TasksInProcess)), "not_ended", "has not ended");
    refused(world.run_ended(run, None), "already_known", "already");
    refused(world.run_ended(edgewise_core::id::RunId::WORK, Some(RunState::Complete)), "bad_id", "not a run");
    world.run_ended(run, Some(RunState::Complete)).unwrap();
    refused(world.run_ended(run, Some(RunState::Complete)), "already_known", "already");
    refused(world.fold(WorkEvent::Unknown("MoonRose".into())), "unknown_event", "newer program");
}
