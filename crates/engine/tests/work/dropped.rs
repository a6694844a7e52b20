//! Scopes that a rerun gives up: what their tasks waited for is let go, however much that is, and also if the tasks
//! themselves are gone before it is.

use super::gates::{says, start_flow};
use super::ground::{Engine, NOW, World, ask, name, one};
use super::shared::gate;
use edgewise_core::id::RunId;
use edgewise_core::work::{Close, Item};
use edgewise_engine::command::{Command, Rerun, RerunOf};
use edgewise_store::faulty::{Fault, Op};

/// More than is let go of in one commit.
const MANY: usize = 1_500;

/// What happens after the commit that gave the scopes up.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// Their rows are written, so that they take no more memory.
    Flushed,
    /// Another engine goes on with what the rows have.
    Loaded,
    /// Another engine goes on with what the ledger has.
    Folded,
    /// Their rows are written, and then the store does not answer once.
    Unanswered,
}

impl Then {
    const ALL: [Then; 4] = [Then::Flushed, Then::Loaded, Then::Folded, Then::Unanswered];
}

fn calm(engine: &mut Engine) {
    while engine.step(NOW, vec![]).unwrap().more {}
}

/// A run with a gate that is open and a spread behind it of which each item waits for something.
fn begun(engine: &mut Engine, what: &str) -> RunId {
    let each = format!("each: {{ after: [ok], each: 'range({MANY})', {what} }}");
    let text = format!("{{ flow: f, tasks: {{ ok: {{ gate: {{ approval: {{ from: [lead] }} }} }}, {each} }} }}");
    let run = start_flow(engine, &text, "f.yaml");
    ask(engine, Command::Approve(says(run, "ok"))).unwrap();
    calm(engine);
    run
}

/// The gate is asked again, which gives up all that is behind it; and then something happens.
fn asked_again(world: &mut World, mut engine: Engine, run: RunId, then: Then) -> Engine {
    let from = RerunOf::Task("ok".into());
    ask(&mut engine, Command::Rerun(Rerun { run, from, by: name("ada"), why: None })).unwrap();
    if !matches!(then, Then::Folded) {
        world.flush(&mut engine);
    }
    match then {
        Then::Flushed => {}
        Then::Loaded | Then::Folded => engine = world.engine_at(2, NOW).unwrap(),
        Then::Unanswered => {
            world.faults.fail_next(Op::Head, Fault::Refused);
            engine.step(NOW, vec![]).unwrap();
        }
    }
    calm(&mut engine);
    engine
}

#[test]
fn every_item_of_a_spread_that_is_given_up_is_cancelled() {
    for then in Then::ALL {
        let mut world = World::default();
        let mut engine = world.engine(1);
        let run = begun(&mut engine, "item: Look");
        assert_eq!(world.work().items().filter(|item| !item.status.is_over()).count(), MANY);
        let mut engine = asked_again(&mut world, engine, run, then);
        let cancelled = |item: &&Item| item.closed.as_ref().is_some_and(|closed| closed.how == Close::Cancelled);
        assert_eq!(world.work().items().filter(cancelled).count(), MANY, "{then:?}");
        assert!(world.reader().run(run).unwrap().disowned.is_empty(), "{then:?}");
        world.flush(&mut engine);
        assert_eq!(world.findings(), [], "{then:?}");
    }
}

#[test]
fn a_shared_gate_forgets_every_task_of_a_spread_that_is_given_up() {
    for then in Then::ALL {
        let mut world = World::default();
        let mut engine = world.engine(1);
        one(&mut engine, gate("ew-g")).unwrap();
        let run = begun(&mut engine, "gate: { shared: ew-g }");
        let waiting = |world: &World| world.work().gate("ew-g").unwrap().tasks.iter().count();
        assert_eq!(waiting(&world), MANY);
        let mut engine = asked_again(&mut world, engine, run, then);
        assert_eq!(waiting(&world), 0, "{then:?}");
        assert!(world.reader().run(run).unwrap().disowned.is_empty(), "{then:?}");
        world.flush(&mut engine);
        assert_eq!(world.findings(), [], "{then:?}");
    }
}
