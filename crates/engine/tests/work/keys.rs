//! Keys: operations that somebody asks for twice are done once, whatever became of the first answer.

use super::ground::{Engine, NOW, World, add, ask, claim, name};
use edgewise_core::Result;
use edgewise_core::work::{Add, Done, Op};
use edgewise_engine::command::{Answer, Command};
use edgewise_engine::committer::Request;
use edgewise_engine::work::Ops;
use edgewise_store::faulty::{Fault, Op as StoreOp};

fn keyed(engine: &mut Engine, ops: Vec<Op>, by: &str) -> Result<Vec<Done>> {
    match ask(engine, Command::Work(Ops { ops, by: name(by), key: Some("k1".into()) }))? {
        Answer::Worked(done) => Ok(done),
        other => panic!("{other:?}"),
    }
}

fn anything() -> Vec<Op> {
    vec![Op::Add(Box::new(Add { title: "once".into(), ..Add::default() }))]
}

#[test]
fn the_same_operations_with_the_same_key_are_done_once_and_answered_alike() {
    let world = World::default();
    let mut engine = world.engine(1);
    let first = keyed(&mut engine, anything(), "ada").unwrap();
    assert_eq!(keyed(&mut engine, anything(), "ada").unwrap(), first);
    assert_eq!(keyed(&mut engine, anything(), "bob").unwrap_err().code, "key_taken");
    assert_eq!(keyed(&mut engine, vec![add("ew-x")], "ada").unwrap_err().code, "key_taken");
    let mut other = world.engine(2);
    let again = keyed(&mut other, anything(), "ada").unwrap();
    assert!(again[0].already, "another engine knows that it was done");
    assert_eq!(world.work().len(), 1);
}

#[test]
fn a_commit_in_doubt_is_not_done_twice() {
    for landed in [false, true] {
        let world = World::default();
        let mut engine = world.engine(1);
        world.faults.fail_next(StoreOp::Append, Fault::AnswerLost { landed });
        // Not even the heads can be read back: nobody knows.
        world.faults.fail_after(StoreOp::Head, 1, Fault::Refused);
        let error = keyed(&mut engine, anything(), "ada").unwrap_err();
        assert_eq!(error.code, "unknown_commit", "{error}");
        let again = keyed(&mut engine, anything(), "ada").unwrap();
        assert_eq!(again.len(), 1);
        assert_eq!((world.work().len(), world.work().seq), (1, 1), "landed: {landed}");
    }
}

#[test]
fn a_claim_asked_for_twice_with_one_key_is_one_claim() {
    let world = World::default();
    let mut engine = world.engine(1);
    ask(&mut engine, Command::Work(Ops { ops: vec![add("ew-a")], by: name("ada"), key: None })).unwrap();
    let first = keyed(&mut engine, vec![claim("ew-a")], "ada").unwrap();
    assert_eq!(keyed(&mut engine, vec![claim("ew-a")], "ada").unwrap(), first, "the token is said again");
    assert_eq!(world.work().item("ew-a").unwrap().claim.as_ref().unwrap().token, first[0].token.unwrap().hash());
    assert!(engine.step(NOW, vec![]).unwrap().answers.is_empty());
}

#[test]
fn what_was_never_written_is_not_said_again_once_another_engine_has_done_it() {
    let world = World::default();
    let (mut engine, mut other) = (world.engine(1), world.engine(2));
    world.faults.fail_next(StoreOp::Append, Fault::Refused);
    keyed(&mut engine, anything(), "ada").unwrap_err();
    let done = keyed(&mut other, anything(), "ada").unwrap();
    let again = keyed(&mut engine, anything(), "ada").unwrap();
    assert!(again[0].already && again[0].id.is_none(), "{again:?}, and the other engine made {done:?}");
}

#[test]
fn the_same_key_twice_in_one_commit_is_done_once_and_answered_alike() {
    let world = World::default();
    let mut engine = world.engine(1);
    let ops = Ops { ops: anything(), by: name("ada"), key: Some("k1".into()) };
    let twice = [1, 2].map(|reply| Request { command: Command::Work(ops.clone()), reply });
    let answers = engine.step(NOW, twice.into()).unwrap().answers;
    let said: Vec<String> = answers.iter().map(|(_, answer)| format!("{answer:?}")).collect();
    assert_eq!(said[0], said[1]);
    assert_eq!(world.work().len(), 1);
}
