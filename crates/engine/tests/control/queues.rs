//! What a queue is set to is a fact of the workspace: one commit, the same for every engine, undone with its commit.

use crate::ground::{Engine, World, ask, name};
use crate::{FLOW, start};
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::{Answer, Claim, Command, SetQueue};
use edgewise_engine::committer::Request;
use edgewise_engine::queues::{Bound, QueueChange, QueueSettings, Queues};
use edgewise_store::faulty::{Fault, Op};
use std::sync::Arc;

const SLOTS: fn(u32) -> QueueChange = |slots| QueueChange { slots: Some(Bound::At(slots)), ..QueueChange::default() };
const PAUSED: fn(bool) -> QueueChange = |paused| QueueChange { paused: Some(paused), ..QueueChange::default() };

fn set(change: Option<QueueChange>) -> Command {
    let why = Some("the partner is down".into());
    Command::SetQueue(SetQueue { queue: name("default"), change, by: name("ada"), why })
}

fn slots(slots: u32) -> Queues {
    [(name("default"), QueueSettings { slots: Some(slots), ..QueueSettings::default() })].into()
}

/// Five runs of one task each, begun by an engine.
fn five(engine: &mut Engine) {
    for _ in 0..5 {
        ask(engine, start(FLOW)).unwrap();
    }
}

fn claim_of_five() -> Claim {
    let actions = Arc::new([name("work")]);
    Claim { worker: "w".into(), actions, queues: None, max: 5, lease: Some(Millis(60_000)) }
}

fn claim() -> Command {
    Command::Claim(claim_of_five())
}

/// What a claim is given at once, after the engine has looked around; the claim waits on otherwise.
fn granted(engine: &mut Engine) -> usize {
    engine.sweep(Time(1_600));
    given(engine.step(Time(1_600), vec![Request { command: claim(), reply: 2 }]).unwrap().answers)
}

fn given(answers: Vec<(u64, edgewise_core::Result<Answer>)>) -> usize {
    let count = |answer| match answer {
        Ok(Answer::Granted { grants, .. }) => Vec::len(&grants),
        _ => 0,
    };
    answers.into_iter().map(|(_, answer)| count(answer)).sum()
}

#[test]
fn slots_that_one_engine_sets_are_kept_by_every_other() {
    let bounded = |world: &World, seed| {
        let mut engine = world.engine(seed);
        engine.set_queues(&slots(5));
        engine
    };
    let free = |world: &World, seed| world.engine(seed);
    let kinds: [fn(&World, u8) -> Engine; 2] = [bounded, free];
    for engine in kinds {
        let world = World::default();
        let (mut first, mut second) = (engine(&world, 1), engine(&world, 2));
        five(&mut first);
        assert!(matches!(ask(&mut first, set(Some(SLOTS(2)))), Ok(Answer::Done)));
        assert!(matches!(ask(&mut second, set(Some(SLOTS(2)))), Ok(Answer::Already)));
        assert_eq!((granted(&mut second), granted(&mut first)), (2, 0));
    }
}

#[test]
fn an_engine_whose_queue_is_bounded_hears_of_other_slots_before_it_gives_any_away() {
    let world = World::default();
    let (mut first, mut second) = (world.engine(1), world.engine(2));
    first.set_queues(&slots(5));
    second.set_queues(&slots(5));
    five(&mut second);
    ask(&mut first, set(Some(SLOTS(1)))).unwrap();
    let step = second.step(Time(1_600), vec![Request { command: claim(), reply: 2 }]).unwrap();
    assert_eq!(given(step.answers), 1, "without a sweep in between");
}

#[test]
fn a_queue_that_one_engine_pauses_and_resumes_rests_and_goes_on_at_the_other() {
    let world = World::default();
    let (mut first, mut second) = (world.engine(1), world.engine(2));
    five(&mut second);
    assert!(matches!(ask(&mut first, set(Some(PAUSED(true)))), Ok(Answer::Done)));
    assert_eq!(granted(&mut second), 0);
    assert!(matches!(ask(&mut first, set(Some(PAUSED(false)))), Ok(Answer::Done)));
    assert!(matches!(ask(&mut first, set(Some(PAUSED(false)))), Ok(Answer::Already)));
    second.sweep(Time(1_700));
    assert_eq!(given(second.step(Time(1_700), Vec::new()).unwrap().answers), 5, "to the claim that waits");
}

#[test]
fn the_first_bound_of_all_is_set_although_others_wrote_and_claims_wait() {
    let world = World::default();
    let (mut first, mut second) = (world.engine(1), world.engine(2));
    five(&mut second);
    ask(&mut first, start(FLOW)).unwrap();
    let both = vec![Request { command: set(Some(SLOTS(1))), reply: 1 }, Request { command: claim(), reply: 2 }];
    let step = second.step(Time(1_600), both).unwrap();
    assert!(matches!(step.answers[0], (1, Ok(Answer::Done))), "{:?}", step.answers);
    let at_once = given(step.answers);
    let next = step.wake.unwrap();
    let later = given(second.step(next, Vec::new()).unwrap().answers);
    assert_eq!(at_once + later, 1);
}

#[test]
fn what_is_not_said_of_a_queue_stays_and_what_is_taken_back_is_as_the_file_says() {
    let world = World::default();
    let mut engine = world.engine(1);
    engine.set_queues(&slots(3));
    five(&mut engine);
    ask(&mut engine, set(Some(PAUSED(true)))).unwrap();
    let known = world.control().settings[&name("queue/default")].clone();
    assert_eq!(known.value, serde_json::json!({ "slots": 3, "rate": null, "paused": true }));
    assert_eq!((known.by, known.why.as_deref()), (name("ada"), Some("the partner is down")));
    ask(&mut engine, set(Some(SLOTS(1)))).unwrap();
    assert_eq!(granted(&mut engine), 0, "still paused");
    let step = engine.step(Time(1_700), vec![Request { command: set(None), reply: 1 }]).unwrap();
    assert!(matches!(step.answers[0], (1, Ok(Answer::Done))));
    assert_eq!(given(step.answers), 3, "to the claim that waits, in the same commit");
    assert!(matches!(ask(&mut engine, set(None)), Ok(Answer::Already)));
}

#[test]
fn a_queue_whose_setting_could_not_be_written_is_as_it_was() {
    for fault in [Fault::Refused, Fault::AnswerLost { landed: false }, Fault::DiskFull] {
        let world = World::default();
        let mut engine = world.engine(1);
        five(&mut engine);
        world.faults.fail_next(Op::Append, fault);
        assert!(ask(&mut engine, set(Some(PAUSED(true)))).is_err(), "{fault:?}");
        assert_eq!(granted(&mut engine), 5, "{fault:?}");
    }
}

#[test]
fn no_engine_is_told_of_slots_that_no_queue_can_have() {
    let world = World::default();
    let mut engine = world.engine(1);
    for bad in [0, u32::MAX] {
        assert_eq!(ask(&mut engine, set(Some(SLOTS(bad)))).unwrap_err().code, "bad_slots", "{bad}");
    }
    assert_eq!(world.control().seq, 0);
}

#[test]
fn tasks_that_were_set_aside_while_the_store_did_not_answer_all_begin_once_it_does() {
    const KEYED: &str = "{ flow: f, tasks: { a: { action: work, limit: { key: '\"k\"', max: 5 } } } }";
    let world = World::default();
    let mut engine = world.engine(1);
    for _ in 0..7 {
        ask(&mut engine, start(KEYED)).unwrap();
    }
    world.faults.fail_next(Op::ReadAll, Fault::Refused);
    let all = Claim { max: 7, ..claim_of_five() };
    let step = engine.step(Time(1_600), vec![Request { command: Command::Claim(all), reply: 2 }]).unwrap();
    assert_eq!(given(step.answers), 0, "nobody knows who holds the key");
    let next = engine.step(Time(2_100), Vec::new()).unwrap();
    assert_eq!(given(next.answers), 5, "as many as may, without a sweep");
}
