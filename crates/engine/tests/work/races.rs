//! Races: many want one item, and exactly one has it.

use super::ground::{NOW, World, add, all, claim, name, one};
use edgewise_core::time::Time;
use edgewise_core::work::{Filter, Op};
use edgewise_engine::command::{Answer, Command};
use edgewise_engine::committer::Request;
use edgewise_engine::engine::{Engine, Parts};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::queues::Queues;
use edgewise_engine::work::Ops;
use std::sync::Arc;

const RACERS: usize = 16;

#[test]
fn two_engines_that_give_one_item_at_the_same_time_give_it_once() {
    let world = World::default();
    let mut engines: Vec<_> = (1..=3).map(|seed| world.engine(seed)).collect();
    for round in 0..200 {
        let id = format!("ew-r{round}");
        one(&mut engines[0], add(&id)).unwrap();
        let won = engines.iter_mut().filter_map(|engine| all(engine, "ada", vec![claim(&id)]).ok()).count();
        assert_eq!(won, 1, "{id}");
        let held = world.work();
        assert!(held.item(&id).unwrap().claim.is_some());
    }
}

#[test]
fn racers_in_one_commit_get_different_items_and_the_last_ones_none() {
    let world = World::default();
    let mut engine = world.engine(1);
    let items = (0..RACERS - 4).map(|n| add(&format!("ew-i{n}"))).collect();
    all(&mut engine, "ada", items).unwrap();
    let asked = (0..RACERS).map(|n| {
        let op = Op::ClaimNext { filter: Box::new(Filter::default()), lease: super::ground::LEASE };
        let ops = Ops { ops: vec![op], by: name(&format!("racer{n}")), key: None };
        Request { command: Command::Work(ops), reply: n as u64 }
    });
    let step = engine.step(NOW, asked.collect()).unwrap();
    let mut got: Vec<_> = Vec::new();
    for (_, answer) in step.answers {
        let Ok(Answer::Worked(done)) = answer else { panic!("{answer:?}") };
        got.extend(done[0].id.clone());
    }
    assert_eq!(got.len(), RACERS - 4);
    got.sort();
    got.dedup();
    assert_eq!(got.len(), RACERS - 4, "nobody has what another one has");
}

/// A thousand times, sixteen tasks of one process ask the same engine for the same item.
#[test]
fn of_sixteen_racers_for_one_item_exactly_one_wins_in_every_round() {
    let world = World::default();
    let parts = Parts {
        ledger: Box::new(world.ledger.clone()),
        reader: Box::new(world.rows.clone()),
        writer: Box::new(world.rows.clone()),
        home: edgewise_engine::Home::local(),
        clock: Arc::new(|| Time(1_000_000)),
        entropy: Entropy::from_seed([7; 32]),
        queues: Queues::default(),
    };
    let engine = Engine::start(parts).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        for round in 0..1_000 {
            let id = format!("ew-{round}");
            engine.work(vec![add(&id)], name("ada"), None).await.unwrap();
            let racers: Vec<_> = (0..RACERS)
                .map(|racer| {
                    let (engine, id) = (engine.clone(), id.clone());
                    tokio::spawn(
                        async move { engine.work(vec![claim(&id)], name(&format!("racer{racer}")), None).await },
                    )
                })
                .collect();
            let mut won = Vec::new();
            for (racer, task) in racers.into_iter().enumerate() {
                match task.await.unwrap() {
                    Ok(done) => won.push((racer, done[0].token.unwrap())),
                    Err(error) => assert_eq!(error.code, "item_claimed"),
                }
            }
            assert_eq!(won.len(), 1, "round {round}");
            let (racer, token) = won[0];
            let held = engine.with_work(move |work, _| work.item(&id).unwrap().claim.clone().unwrap()).await.unwrap();
            assert_eq!((held.by.as_str(), held.token), (format!("racer{racer}").as_str(), token.hash()));
        }
    });
    engine.stop().unwrap();
}
