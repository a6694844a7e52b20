//! What is refused where it is asked, although a graph that has it stays as it is.

use super::ground::{World, add, all, close, depend, depend_if, needs, one, reopen};
use edgewise_core::work::{Add, Depend, DependencyKind, GateWait, ItemId, ItemKind, Op, ReopenOp, Status, When};

fn under(id: &str, kind: ItemKind) -> Op {
    Op::Add(Box::new(Add { title: "it".into(), kind, id: Some(ItemId::parse(id).unwrap()), ..Add::default() }))
}

#[test]
fn when_is_said_only_of_what_is_waited_for() {
    let world = World::default();
    let mut engine = world.engine(1);
    all(&mut engine, "ada", vec![add("ew-a"), add("ew-b")]).unwrap();
    for kind in DependencyKind::ALL.into_iter().filter(|kind| !kind.is_waiting()) {
        let Op::Depend(asked) = depend("ew-a", "ew-b", kind) else { unreachable!() };
        let error = one(&mut engine, Op::Depend(Box::new(Depend { when: When::Any, ..*asked }))).unwrap_err();
        assert_eq!(error.code, "bad_when", "{}", kind.name());
    }
    assert_eq!(world.work().dependencies().count(), 0);
}

#[test]
fn nothing_is_opened_again_within_something_closed_unless_it_is_forced() {
    let world = World::default();
    let mut engine = world.engine(1);
    let within = depend("ew-a", "ew-p", DependencyKind::ParentChild);
    all(&mut engine, "ada", vec![add("ew-p"), add("ew-a"), within, close("ew-a"), close("ew-p")]).unwrap();
    let error = one(&mut engine, Op::Reopen(reopen("ew-a"))).unwrap_err();
    assert!(error.code == "parent_closed" && error.message.contains("edgewise reopen ew-p"), "{error}");
    one(&mut engine, Op::Reopen(ReopenOp { force: true, ..reopen("ew-a") })).unwrap();
    assert_eq!(one(&mut engine, Op::Reopen(reopen("ew-a"))).unwrap_err().code, "not_closed");
    one(&mut engine, close("ew-a")).unwrap();
    all(&mut engine, "ada", vec![Op::Reopen(reopen("ew-p")), Op::Reopen(reopen("ew-a"))]).unwrap();
    assert_eq!(world.work().item("ew-a").unwrap().status, Status::Open);
}

#[test]
fn nothing_open_is_put_into_something_closed() {
    let world = World::default();
    let mut engine = world.engine(1);
    let ops = vec![add("ew-p"), close("ew-p"), add("ew-a"), add("ew-b"), close("ew-b")];
    all(&mut engine, "ada", ops).unwrap();
    let child = Add { title: "child".into(), parent: Some("ew-p".into()), ..Add::default() };
    for op in [
        Op::Add(Box::new(child)),
        depend("ew-a", "ew-p", DependencyKind::ParentChild),
        Op::Move { id: "ew-a".into(), parent: Some("ew-p".into()) },
    ] {
        let error = one(&mut engine, op).unwrap_err();
        assert!(error.code == "item_closed" && error.message.contains("reopen ew-p"), "{error}");
    }
    one(&mut engine, Op::Move { id: "ew-b".into(), parent: Some("ew-p".into()) }).unwrap();
    assert_eq!(world.work().parent("ew-b").unwrap().as_str(), "ew-p");
}

#[test]
fn what_is_waited_for_before_it_is_there_comes_as_it_is_waited_for() {
    let world = World::default();
    let mut engine = world.engine(1);
    let ops = vec![add("ew-a"), needs("ew-a", "ew-later"), depend("ew-a", "ew-gate", DependencyKind::Awaits)];
    all(&mut engine, "ada", ops).unwrap();
    let gate = |id: &str| Op::MakeGate {
        wait: GateWait::Webhook,
        title: None,
        id: Some(ItemId::parse(id).unwrap()),
        name: None,
        approvals: vec![],
    };
    for op in [under("ew-later", ItemKind::Message), gate("ew-later"), under("ew-gate", ItemKind::Task)] {
        let error = one(&mut engine, op).unwrap_err();
        assert!(error.code == "wrong_target" && error.message.contains("dep remove ew-a"), "{error}");
    }
    one(&mut engine, under("ew-later", ItemKind::Plan)).unwrap();
    one(&mut engine, gate("ew-gate")).unwrap();
    for again in [under("ew-gate", ItemKind::Task), gate("ew-later")] {
        assert_eq!(one(&mut engine, again).unwrap_err().code, "id_taken");
    }
    assert_eq!(world.work().blockers("ew-a").len(), 2);
}

#[test]
fn a_gate_comes_with_who_approved_it_elsewhere() {
    let world = World::default();
    let mut engine = world.engine(1);
    let wait = GateWait::Approval {
        required_approvers: ["ann", "bob"].map(super::ground::name).to_vec(),
        approval_count: None,
    };
    let gate = |id: &str, approvals: &[&str]| Op::MakeGate {
        wait: wait.clone(),
        title: None,
        id: Some(ItemId::parse(id).unwrap()),
        name: None,
        approvals: approvals.iter().map(|who| super::ground::name(who)).collect(),
    };
    all(&mut engine, "ada", vec![gate("ew-g", &["ann"]), gate("ew-h", &["ann", "bob"])]).unwrap();
    let work = world.work();
    assert!(work.gate("ew-g").unwrap().ended.is_none() && work.gate("ew-g").unwrap().approvals.len() == 1);
    assert_eq!(work.gate("ew-h").unwrap().ended.as_ref().unwrap().by, Some(super::ground::name("bob")));
    for wrong in [&["eve"][..], &["ann", "ann"]] {
        assert_eq!(one(&mut engine, gate("ew-i", wrong)).unwrap_err().code, "bad_gate", "{wrong:?}");
    }
    assert_eq!(one(&mut engine, depend_if("ew-g", "ew-h", None)).unwrap_err().code, "item_not_found");
}
