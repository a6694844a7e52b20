//! The work graph in the engine: operations are one commit, undone as one, the same for all engines and after any crash.

mod alone;
mod dropped;
mod due;
mod expect;
mod explained;
mod faults;
mod folder;
mod gates;
mod ground;
mod import;
mod items;
mod joins;
mod keys;
mod races;
mod refusals;
mod shared;

use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_core::work::{Add, DependencyKind, Filter, GateWait, ItemId, Op, Status};
use edgewise_engine::Home;
use edgewise_engine::doctor::rebuild;
use edgewise_engine::work::Look;
use edgewise_store::memory::MemoryProjections;
use edgewise_store::{Ledger, Projections};
use ground::{LEASE, NOW, World, act, add, all, claim, close, depend, name, needs, one, ready};

#[test]
fn operations_of_one_command_see_each_other_and_are_one_record() {
    let world = World::default();
    let mut engine = world.engine(1);
    let named = |title: &str, name: &str| Add { title: title.into(), name: Some(name.into()), ..Add::default() };
    let ops = vec![
        Op::Add(Box::new(named("the plan", "plan"))),
        Op::Add(Box::new(Add { parent: Some("$plan".into()), ..named("first", "first") })),
        Op::Add(Box::new(Add { needs: vec!["$first".into()], ..named("second", "second") })),
    ];
    let done = all(&mut engine, "ada", ops).unwrap();
    let ids: Vec<String> = done.iter().map(|done| done.id.as_ref().unwrap().to_string()).collect();
    assert!(ids.iter().all(|id| id.starts_with("ew-")), "{ids:?}");
    let work = world.work();
    assert_eq!(work.parent(&ids[1]).unwrap().as_str(), ids[0]);
    assert!(work.is_blocked(&ids[2]));
    let mut ledger = world.ledger.clone();
    assert_eq!(ledger.read(&Home::local().stream(RunId::WORK), 0, 10).unwrap().len(), 1);
}

#[test]
fn a_refused_operation_refuses_all_of_its_command_and_none_of_its_neighbours() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    all(&mut engine, "ada", vec![add("ew-a"), add("ew-b"), needs("ew-b", "ew-a")]).unwrap();
    world.flush(&mut engine);
    let before = world.folded();
    let error = all(&mut engine, "ada", vec![add("ew-c"), close("ew-a"), needs("ew-a", "ew-b")]).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Conflict, "cycle_detected"));
    assert!(error.message.starts_with("operation 3 of 3: "), "{error}");
    assert_eq!(world.folded(), before);
    // In one commit with a command before it and one after it.
    let ops = |ops: Vec<Op>| {
        let ops = edgewise_engine::work::Ops { ops, by: name("ada"), key: None };
        edgewise_engine::committer::Request { command: edgewise_engine::command::Command::Work(ops), reply: 1 }
    };
    let asked = vec![ops(vec![add("ew-d")]), ops(vec![add("ew-e"), add("ew-d")]), ops(vec![needs("ew-d", "ew-b")])];
    let step = engine.step(NOW, asked).unwrap();
    let codes: Vec<_> = step.answers.iter().map(|(_, answer)| answer.as_ref().map(drop).map_err(|e| e.code)).collect();
    assert_eq!(codes, [Ok(()), Err("id_taken"), Ok(())]);
    let work = world.work();
    assert!(work.item("ew-e").is_none() && work.is_blocked("ew-d"));
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
    assert_eq!(world.rows.work(&Home::local().stream(RunId::WORK)).unwrap().unwrap(), world.folded());
}

#[test]
fn a_claim_is_one_persons_until_it_runs_out_and_the_token_is_needed() {
    let world = World::default();
    let mut engine = world.engine(1);
    one(&mut engine, add("ew-a")).unwrap();
    let mine = one(&mut engine, claim("ew-a")).unwrap();
    assert_eq!(mine.until, Some(NOW.plus(LEASE)));
    let error = all(&mut engine, "bob", vec![claim("ew-a")]).unwrap_err();
    assert_eq!(error.code, "item_claimed");
    let token = mine.token.unwrap();
    let stale = edgewise_core::id::Token(token.0 ^ 1);
    let extend = |token| Op::Extend { id: "ew-a".into(), token, lease: LEASE };
    assert!(one(&mut engine, extend(stale)).is_err());
    one(&mut engine, extend(token)).unwrap();
    let error = all(&mut engine, "bob", vec![Op::Release { id: "ew-a".into(), token: None }]).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Denied, "not_your_claim"));
    // Nobody asks for anything; time passes.
    let due = engine.step(NOW, vec![]).unwrap().wake.unwrap();
    assert!(due <= NOW.plus(LEASE));
    engine.step(NOW.plus(LEASE), vec![]).unwrap();
    assert!(world.work().item("ew-a").unwrap().claim.is_none());
    assert_eq!(ready(&world.work(), NOW.plus(LEASE)), ["ew-a"]);
    let error = one(&mut engine, extend(token)).unwrap_err();
    assert!(matches!(error.kind, Kind::Stale | Kind::Conflict), "{error}");
}

#[test]
fn what_came_due_while_nothing_ran_happens_at_the_next_start() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let gate = Op::MakeGate {
        id: None,
        wait: GateWait::Timer { wait_until: Time(50_000) },
        title: None,
        name: Some("gate".into()),
        approvals: vec![],
    };
    let wait = depend("ew-a", "$gate", DependencyKind::Awaits);
    all(&mut engine, "ada", vec![add("ew-a"), add("ew-b"), gate, wait, claim("ew-b")]).unwrap();
    world.flush(&mut engine);
    assert_eq!(ready(&world.work(), NOW), Vec::<String>::new());
    drop(engine);
    let later = Time(10_000_000);
    let mut engine = world.engine_at(2, later).unwrap();
    engine.step(later, vec![]).unwrap();
    assert_eq!(ready(&world.work(), later), ["ew-a", "ew-b"]);
    let history = engine.look(later, &Look::History { id: "ew-a".into() }).unwrap();
    let last = history["history"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["what"], "auto_unblocked", "{history}");
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
}

#[test]
fn history_is_whole_whether_rows_are_written_or_not() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    all(&mut engine, "ada", vec![add("ew-a"), add("ew-b"), needs("ew-b", "ew-a")]).unwrap();
    let look = Look::History { id: "ew-b".into() };
    let before = engine.look(NOW, &look).unwrap();
    assert_eq!(world.reader().look(NOW, &look).unwrap(), before);
    let flush = engine.flush_all().unwrap();
    assert_eq!(engine.look(NOW, &look).unwrap(), before, "while rows are being written");
    let written = world.rows.flush(&flush);
    assert_eq!(engine.look(NOW, &look).unwrap(), before, "written, and nobody has said so yet");
    engine.flushed(NOW, &written);
    assert_eq!(engine.look(NOW, &look).unwrap(), before);
    assert_eq!(world.reader().look(NOW, &look).unwrap(), before);
    let done = one(&mut engine, close("ew-a")).unwrap();
    assert_eq!(done.unblocked.iter().map(ItemId::as_str).collect::<Vec<_>>(), ["ew-b"]);
    assert!(engine.look(NOW, &look).unwrap()["history"].as_array().unwrap().len() > 2);
}

#[test]
fn rows_that_are_lost_or_wrong_are_found_and_made_anew() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    all(&mut engine, "ada", vec![add("ew-a"), add("ew-b"), needs("ew-b", "ew-a")]).unwrap();
    world.flush(&mut engine);
    one(&mut engine, close("ew-a")).unwrap();
    assert_eq!(world.findings(), [], "rows may be behind");
    let stream = Home::local().stream(RunId::WORK);
    let good = world.rows.work(&stream).unwrap().unwrap();
    let mut wrong = good.items[1].clone();
    wrong.effective = 1;
    let change = edgewise_store::WorkChange {
        stream: stream.clone(),
        from_seq: good.applied_seq,
        applied_seq: good.applied_seq,
        version: good.version,
        due: None,
        items: vec![wrong],
        items_gone: vec![],
        dependencies: vec![],
        dependencies_gone: vec![],
        gates: vec![],
        gates_gone: vec![],
        runs: vec![],
        runs_gone: vec![],
        notes: vec![],
    };
    world.rows.flush(&edgewise_store::Flush { work: Some(change), ..Default::default() }).unwrap();
    let found = world.findings();
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), ["load_differs"], "{found:?}");
    assert!(found[0].what.contains("ew-b"), "{found:?}");
    let mut anew = MemoryProjections::default();
    rebuild(&mut world.ledger, &mut anew, &mut |_| Ok(())).unwrap();
    world.rows = anew;
    assert_eq!(world.findings(), []);
    assert_eq!(world.rows.work(&stream).unwrap().unwrap(), world.folded());
}

#[test]
fn deleting_says_how_much_went_with_it_and_looks_are_the_same_with_and_without_an_engine() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let ops = vec![add("ew-a"), add("ew-b"), add("ew-c"), needs("ew-b", "ew-a"), needs("ew-a", "ew-c")];
    all(&mut engine, "ada", ops).unwrap();
    let show = |id: &str| Look::Show { id: id.into() };
    let ready = Look::Ready { filter: Box::default(), who: None };
    let filter = Box::default();
    let looks = [
        show("b"),
        show("ew-a"),
        ready,
        Look::Stats,
        Look::Export,
        Look::Cycles,
        Look::List { filter },
        Look::Why { id: "ew-b".into() },
    ];
    for flushed in [false, true] {
        for look in &looks {
            assert_eq!(world.reader().look(NOW, look).unwrap(), engine.look(NOW, look).unwrap(), "{look:?} {flushed}");
        }
        if !flushed {
            world.flush(&mut engine);
        }
    }
    let first = Look::Ready { filter: Box::new(Filter { limit: Some(1), ..Filter::default() }), who: None };
    assert_eq!(world.reader().look(NOW, &first).unwrap()["items"].as_array().unwrap().len(), 1);
    let done = one(&mut engine, Op::Delete(act("ew-a"))).unwrap();
    assert_eq!((done.removed, done.unblocked.len()), (2, 1));
    assert_eq!(world.work().item("ew-a").unwrap().status, Status::Tombstone);
    assert_eq!(ground::ready(&world.work(), NOW), ["ew-b", "ew-c"]);
}
