//! Where no engine runs, an item is told of by its own rows and those that it takes: just as an engine would tell it.

use super::ground::{NOW, World, add, all, depend, needs};
use super::import::{Dice, step};
use edgewise_core::work::{Add, DependencyKind, Filter, ItemId, ItemKind, Op};
use edgewise_engine::work::Look;
use edgewise_store::faulty::Op as StoreOp;

/// A graph of anything, its rows written.
fn world(seed: u64) -> (World, super::ground::Engine) {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let mut dice = Dice(seed);
    for n in 0..80 {
        let _ = all(&mut engine, "ada", vec![step(&mut dice, n)]);
        if dice.below(6) == 0 {
            let (one, other) = (format!("ew-{}", dice.below(12)), format!("ew-{}", dice.below(12)));
            let _ = all(&mut engine, "ada", vec![depend(&one, &other, DependencyKind::RelatesTo)]);
        }
        if dice.below(20) == 0 {
            let _ = all(&mut engine, "ada", vec![Op::Delete(super::ground::act(&format!("ew-{}", dice.below(12))))]);
        }
    }
    world.flush(&mut engine);
    (world, engine)
}

fn limited(limit: Option<usize>) -> Box<Filter> {
    let kinds = [ItemKind::Task, ItemKind::Plan].into();
    Box::new(Filter { limit, kinds, ..Filter::default() })
}

#[test]
fn an_item_is_told_of_by_a_few_rows_as_by_the_whole_graph() {
    let mut told = 0;
    for seed in 0..60 {
        let (world, mut engine) = world(seed);
        let names = (0..12).map(|n| format!("ew-{n}")).chain((0..3).map(|n| format!("gate-{n}")));
        let mut looks: Vec<Look> = names
            .chain(["ew".into(), "ew-".into(), "1".into(), "gate".into(), "nobody".into(), "11".into()])
            .flat_map(|id| [Look::Show { id: id.clone() }, Look::Why { id }])
            .collect();
        for limit in [None, Some(1), Some(3)] {
            looks.push(Look::Blocked { filter: limited(limit) });
            looks.push(Look::Ready { filter: limited(limit), who: None });
        }
        let loads = world.faults.count(StoreOp::Work);
        for look in &looks {
            let (alone, there) = (world.reader().look(NOW, look), engine.look(NOW, look));
            assert_eq!(
                alone.as_ref().map_err(ToString::to_string),
                there.as_ref().map_err(ToString::to_string),
                "{look:?} of {seed}"
            );
            told += usize::from(alone.is_ok_and(|seen| seen["reason"]["because"][0]["because"].is_array()));
        }
        assert_eq!(world.faults.count(StoreOp::Work), loads, "nobody loaded all of it");
    }
    assert!(told > 20, "reasons behind reasons were told {told} times");
}

#[test]
fn a_thread_is_told_whole_from_any_of_its_messages() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let message = |id: &str, to: Option<&str>| {
        let id = Some(ItemId::parse(id).unwrap());
        let replies_to = to.map(str::to_owned);
        Op::Add(Box::new(Add { title: "word".into(), id, kind: ItemKind::Message, replies_to, ..Add::default() }))
    };
    let words = vec![message("ew-a", None), message("ew-b", Some("ew-a")), message("ew-c", Some("ew-b"))];
    all(&mut engine, "ada", words).unwrap();
    all(&mut engine, "ada", vec![message("ew-d", Some("ew-a")), message("ew-e", None)]).unwrap();
    world.flush(&mut engine);
    for id in ["ew-a", "ew-b", "ew-c", "ew-d", "ew-e"] {
        let extent = edgewise_core::work::part::Extent::Bonds;
        let (_, part) = world.reader().work_about(NOW, id, extent).unwrap();
        let whole = world.work();
        let ids = |work: &edgewise_core::work::Work| -> Vec<String> {
            work.thread(id).iter().map(|message| message.id.to_string()).collect()
        };
        assert_eq!(ids(&part), ids(&whole));
    }
}

#[test]
fn few_rows_are_read_however_many_there_are() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let mut ops: Vec<Op> = (0..2_000).map(|n| add(&format!("ew-i{n}"))).collect();
    ops.extend((1..2_000).filter(|n| n % 10 > 0).map(|n| needs(&format!("ew-i{n}"), &format!("ew-i{}", n - 1))));
    all(&mut engine, "ada", ops).unwrap();
    world.flush(&mut engine);
    let extent = edgewise_core::work::part::Extent::Reasons;
    let (_, part) = world.reader().work_about(NOW, "ew-i1009", extent).unwrap();
    assert_eq!(part.len(), 10, "what it waits for, down to what is ready");
}
