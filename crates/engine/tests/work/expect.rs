//! Expectations and what comes from outside.

use super::ground::{NOW, World, add, all, close, name, one};
use edgewise_core::work::{Change, GateWait, ItemId, Op};
use edgewise_engine::work::{GateView, ItemView};
use serde_json::json;

fn version(world: &World, id: &str) -> String {
    let work = world.work();
    match work.item(id) {
        Some(item) => ItemView::whole(&work, NOW, item).version(),
        None => GateView::of(&work, work.gate(id).unwrap()).version(),
    }
}

fn expect(id: &str, version: &str) -> Op {
    Op::Expect { id: id.into(), version: vec![version.into()] }
}

fn retitle(id: &str, title: &str) -> Op {
    let change = Change { title: Some(title.into()), ..Change::default() };
    Op::Update { id: id.into(), change: Box::new(change) }
}

#[test]
fn what_was_seen_is_changed_once_and_what_changed_since_not_at_all() {
    let world = World::default();
    let (mut engine, mut other) = (world.engine(1), world.engine(2));
    one(&mut engine, add("ew-a")).unwrap();
    let seen = version(&world, "ew-a");
    all(&mut engine, "ada", vec![expect("ew-a", &seen), retitle("ew-a", "B")]).unwrap();
    // Another engine, which saw the same, finds out in its commit.
    let error = all(&mut other, "bob", vec![expect("ew-a", &seen), retitle("ew-a", "C")]).unwrap_err();
    assert_eq!(error.code, "version_mismatch");
    assert_eq!(world.work().item("ew-a").unwrap().fields.title, "B");
    let now = version(&world, "ew-a");
    all(&mut other, "bob", vec![expect("ew-a", &now), retitle("ew-a", "D")]).unwrap();
    assert_eq!(one(&mut engine, expect("ew-z", &now)).unwrap_err().code, "item_not_found");
}

#[test]
fn a_version_is_another_one_when_only_something_derived_is_different() {
    let world = World::default();
    let mut engine = world.engine(1);
    let waits =
        edgewise_core::work::Add { title: "b".into(), id: Some(ItemId::parse("ew-b").unwrap()), ..Default::default() };
    let waits = edgewise_core::work::Add { needs: vec!["ew-a".into()], ..waits };
    all(&mut engine, "ada", vec![add("ew-a"), Op::Add(Box::new(waits))]).unwrap();
    let blocked = version(&world, "ew-b");
    one(&mut engine, close("ew-a")).unwrap();
    assert_ne!(version(&world, "ew-b"), blocked);
}

#[test]
fn only_gates_that_wait_for_another_system_are_opened_from_outside() {
    let world = World::default();
    let mut engine = world.engine(1);
    let gate = |id: &str, wait| Op::MakeGate {
        wait,
        title: None,
        id: Some(ItemId::parse(id).unwrap()),
        name: None,
        approvals: vec![],
    };
    let external = GateWait::External { external_system: "ci".into(), external_id: "1".into() };
    let people = GateWait::Approval { required_approvers: vec![name("ann")], approval_count: None };
    let made = vec![
        gate("ew-w", GateWait::Webhook),
        gate("ew-x", external),
        gate("ew-p", people),
        gate("ew-t", GateWait::Timer { wait_until: NOW.plus(super::ground::LEASE) }),
    ];
    all(&mut engine, "ada", made).unwrap();
    let deliver = |id: &str| Op::Deliver { id: id.into(), evidence: json!({ "build": 7 }) };
    for (id, code) in [("ew-w", None), ("ew-x", None), ("ew-p", Some("wrong_gate")), ("ew-t", Some("wrong_gate"))] {
        assert_eq!(one(&mut engine, deliver(id)).err().map(|error| error.code), code, "{id}");
        let ended = world.work().gate(id).unwrap().ended.clone();
        assert_eq!(ended.and_then(|ended| ended.evidence), code.is_none().then(|| json!({ "build": 7 })), "{id}");
    }
    assert_eq!(one(&mut engine, deliver("ew-w")).unwrap_err().code, "gate_ended");
    let large = Op::Deliver { id: "ew-x".into(), evidence: "x".repeat(65 << 10).into() };
    assert!(one(&mut engine, large).is_err());
}
