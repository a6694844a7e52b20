//! Crashes and stores that fail, between any two writes: what is blocked and ready afterwards is what the ledger says.

use super::ground::{Engine, NOW, World, act, add, all, claim, close, name, needs, ready, reopen};
use edgewise_core::work::{Add, Op, Work};
use edgewise_engine::command::Command;
use edgewise_engine::committer::Request;
use edgewise_engine::work::{Import, Ops};
use edgewise_store::Projections;
use edgewise_store::faulty::{Fault, FaultyProjections, Op as StoreOp};

/// What is done, one commit each.
fn steps() -> Vec<Vec<Op>> {
    let child = |id: &str| {
        let id = Some(edgewise_core::work::ItemId::parse(id).unwrap());
        Op::Add(Box::new(Add { title: "part".into(), id, parent: Some("ew-p".into()), ..Add::default() }))
    };
    vec![
        vec![add("ew-p"), child("ew-c1"), child("ew-c2")],
        vec![add("ew-a"), add("ew-b"), needs("ew-p", "ew-a"), needs("ew-a", "ew-b")],
        vec![claim("ew-b")],
        vec![Op::Release { id: "ew-b".into(), token: None }, close("ew-b")],
        vec![needs("ew-c2", "ew-c1")],
        vec![close("ew-a")],
        vec![Op::Reopen(reopen("ew-b"))],
        vec![Op::Delete(act("ew-c1"))],
    ]
}

/// What can be told apart of a graph.
fn seen(work: &Work) -> (Vec<String>, Vec<String>, u64) {
    let blocked = work.blocked(NOW, &Default::default()).unwrap().iter().map(|item| item.id.to_string()).collect();
    (ready(work, NOW), blocked, work.seq)
}

fn flush(world: &mut World, engine: &mut Engine) {
    let Ok(flush) = engine.flush_all() else { return };
    // Rows are written through the faults, as the engine's own compactor would.
    let result = FaultyProjections::new(world.rows.clone(), world.faults.clone()).flush(&flush);
    engine.flushed(NOW, &result);
}

/// Plays all steps; after each, rows are written. What fails is asked again after the engine was killed.
fn play(world: &mut World, after: impl Fn(&World, usize)) {
    let mut engine = world.engine(1);
    for (n, ops) in steps().into_iter().enumerate() {
        let before = world.work().seq;
        if all(&mut engine, "ada", ops.clone()).is_err() {
            engine = world.engine(2);
            // What was in doubt may be there: whoever asks without a key looks first.
            if world.work().seq == before {
                all(&mut engine, "ada", ops).unwrap();
            }
        }
        flush(world, &mut engine);
        after(world, n);
    }
    world.flush(&mut engine);
}

#[test]
fn a_fault_at_any_write_changes_nothing_of_what_is_blocked_and_ready() {
    let mut calm = World::default();
    let right = std::cell::RefCell::new(Vec::new());
    play(&mut calm, |world, _| right.borrow_mut().push(seen(&world.work())));
    let (right, writes) = (right.into_inner(), calm.faults.writes());
    let lost = |landed| Fault::AnswerLost { landed };
    for fault in [Fault::Refused, Fault::DiskFull, lost(false), lost(true)] {
        for nth in 1..=writes {
            let mut world = World::default();
            world.faults = world.faults.clone().fail_nth_write(nth, fault);
            play(&mut world, |world, n| assert_eq!(seen(&world.work()), right[n], "{fault:?} at write {nth}"));
            assert_eq!(world.findings(), [], "{fault:?} at write {nth}");
        }
    }
}

#[test]
fn an_engine_that_is_killed_after_any_commit_is_followed_by_one_that_sees_the_same() {
    let mut calm = World::default();
    let right = std::cell::RefCell::new(Vec::new());
    play(&mut calm, |world, _| right.borrow_mut().push(seen(&world.work())));
    let right = right.into_inner();
    for flushed_after in 0..right.len() {
        let mut world = World::default();
        for (n, ops) in steps().into_iter().enumerate() {
            // Every commit by an engine of its own, rows written by one of them.
            let mut engine = world.engine(n as u8 + 1);
            all(&mut engine, "ada", ops).unwrap();
            if n == flushed_after {
                world.flush(&mut engine);
            }
            assert_eq!(seen(&world.work()), right[n]);
            assert_eq!(seen(engine.work(NOW).unwrap()), right[n]);
        }
        assert_eq!(world.findings(), []);
    }
}

#[test]
fn an_engine_folds_what_another_one_wrote_without_loading_the_graph_again() {
    let mut world = World::default();
    let (mut first, mut second) = (world.engine(1), world.engine(2));
    all(&mut first, "ada", vec![add("ew-a"), add("ew-b")]).unwrap();
    world.flush(&mut first);
    let loads = world.faults.count(StoreOp::Work);
    for n in 0..20 {
        all(&mut first, "ada", vec![add(&format!("ew-f{n}"))]).unwrap();
        all(&mut second, "ada", vec![add(&format!("ew-s{n}")), needs(&format!("ew-s{n}"), &format!("ew-f{n}"))])
            .unwrap();
        all(&mut first, "ada", vec![close(&format!("ew-f{n}"))]).unwrap();
        assert!(!second.work(NOW).unwrap().is_blocked(&format!("ew-s{n}")));
    }
    assert_eq!(world.faults.count(StoreOp::Work), loads);
    world.flush(&mut first);
    assert_eq!(world.findings(), []);
}

#[test]
fn an_import_of_ten_thousand_is_all_there_or_not_at_all() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let chain = |n: u32| vec![add(&format!("ew-n{n}")), needs(&format!("ew-n{n}"), &format!("ew-n{}", n.max(1) - 1))];
    let mut ops: Vec<Op> = vec![add("ew-n0")];
    ops.extend((1..5_000).flat_map(chain));
    let mut ring = ops.clone();
    ring.push(needs("ew-n0", "ew-n4999"));
    let error = all(&mut engine, "ada", ring).unwrap_err();
    assert_eq!(error.code, "cycle_detected");
    assert!(error.message.starts_with("operation 10000 of 10000: "), "{}", &error.message[..80]);
    assert_eq!((world.work().seq, engine.work(NOW).unwrap().len()), (0, 0));
    world.faults.fail_next(StoreOp::Append, Fault::DiskFull);
    assert!(all(&mut engine, "ada", ops.clone()).is_err());
    assert_eq!(world.work().seq, 0);
    all(&mut engine, "ada", ops).unwrap();
    assert_eq!((world.work().seq, world.work().len()), (9_999, 5_000));
    assert_eq!(ready(&world.work(), NOW), ["ew-n0"]);
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
}

#[test]
fn what_is_refused_at_its_last_operation_is_undone_and_nothing_is_read_again() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let many = (0..500).map(|n| add(&format!("ew-i{n}")));
    let chain = (1..500).map(|n| needs(&format!("ew-i{n}"), &format!("ew-i{}", n - 1)));
    all(&mut engine, "ada", many.chain(chain).collect()).unwrap();
    world.flush(&mut engine);
    let before = world.folded();
    let (loads, reads) = (world.faults.count(StoreOp::Work), world.faults.count(StoreOp::Read));
    let ops = |ops: Vec<Op>| {
        let command = Command::Work(Ops { ops, by: name("ada"), key: None });
        Request { command, reply: 1 }
    };
    for n in 0..50 {
        let cycle = vec![add("ew-new"), close("ew-i0"), needs("ew-new", "ew-i9"), needs("ew-i1", "ew-i499")];
        let (good, bad) = (format!("ew-n{n}"), vec![add("ew-c"), Op::Delete(act("ew-i7")), add("ew-i8")]);
        let step = engine.step(NOW, vec![ops(cycle), ops(vec![add(&good)]), ops(bad)]).unwrap();
        let codes: Vec<_> = step.answers.iter().map(|(_, told)| told.as_ref().map(drop).map_err(|e| e.code)).collect();
        assert_eq!(codes, [Err("cycle_detected"), Ok(()), Err("id_taken")]);
    }
    let whole = Import { items: vec![before.items[0].item().unwrap()], ..Import::default() };
    let twice = engine.step(NOW, vec![Request { command: Command::Import(whole), reply: 1 }]).unwrap();
    assert_eq!(twice.answers[0].1.as_ref().map(drop).map_err(|e| e.code), Err("id_taken"));
    assert_eq!((world.faults.count(StoreOp::Work), world.faults.count(StoreOp::Read)), (loads, reads));
    let work = world.work();
    assert!(work.item("ew-n49").is_some() && work.item("ew-c").is_none() && work.is_blocked("ew-i1"));
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
    assert_eq!(world.folded(), engine.work(NOW).unwrap().rows());
}
