//! Stores and answers that no engine gives, and which rule each of them breaks.

use super::*;
use crate::driver::{World, name, start_of};
use crate::flows::{ONE, flow};
use edgewise_core::Result;
use edgewise_engine::Home;
use edgewise_engine::command::{Answer, Beat, Command, Grant};
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::entropy::Entropy;
use edgewise_store::Flush;
use edgewise_store::faulty::{Fault, Faults, FaultyLedger};

/// Which rule is broken, if one is.
fn rule(held: Held) -> std::result::Result<(), String> {
    held.map_err(|broken| broken.invariant)
}

fn broken(rule: &str) -> std::result::Result<(), String> {
    Err(rule.to_owned())
}

/// Somebody who comes later, and sees the ledger fail as told.
fn another(world: &World, faults: Faults) -> Witness {
    let ledger = FaultyLedger::new(world.ledger.clone(), faults);
    Witness::new(Box::new(ledger), Box::new(world.rows.clone()), world.reader())
}

#[test]
fn a_ledger_that_cannot_be_read_or_has_lost_its_beginning_is_told() {
    let mut world = World::new();
    world.start(ONE);
    world.claim_one("w");
    assert_eq!(rule(another(&world, Faults::none()).look(world.now)), Ok(()));
    let mut damaged = another(&world, Faults::none().fail_nth(1, Fault::Damaged));
    assert_eq!(rule(damaged.look(world.now)), broken("the_ledger_is_readable"));
    let mut late = another(&world, Faults::none());
    late.at = world.ledger.read_all(Position(0), 1).unwrap()[0].position;
    assert_eq!(rule(late.look(world.now)), broken("seq_is_dense"));
}

#[test]
fn a_run_of_somebody_else_is_told() {
    let mut world = World::new();
    let (ledger, rows) = (Box::new(world.ledger.clone()), Box::new(world.rows.clone()));
    let elsewhere = Home { tenant: name("other"), ..home() };
    let mut engine = Committer::new(ledger, rows, elsewhere, "other".into(), Entropy::from_seed([9; 32]));
    let start = Request { command: Command::Start(start_of(&flow(ONE))), reply: 1 };
    engine.step(world.now, vec![start]).unwrap();
    assert_eq!(rule(world.witness.look(world.now)), broken("tenant_is_constant"));
}

#[test]
fn rows_that_are_ahead_of_the_ledger_are_told() {
    let mut world = World::new();
    world.start(ONE);
    world.flush();
    assert_eq!(rule(world.witness.look_at_rows()), Ok(()));
    let watermark = Position(world.ledger.tail().unwrap().0 + 1);
    world.rows.flush(&Flush { watermark, ..Flush::default() }).unwrap();
    assert_eq!(rule(world.witness.look_at_rows()), broken("watermark_is_in_the_ledger"));
}

/// What an engine says to a worker that the ledger does not have.
fn says(world: &mut World, grants: Vec<Grant>) -> std::result::Result<(), String> {
    let by = Answerer { source: "engine-1", now: world.now, crowded: false };
    let answer: Result<Answer> = Ok(Answer::Granted { grants, claimed: 1 });
    rule(world.witness.heard(99, &answer, by))
}

#[test]
fn grants_that_are_not_in_the_ledger_are_told() {
    let mut world = World::new();
    world.start(ONE);
    let mut grant = world.claim_one("w");
    assert_eq!(says(&mut world, Vec::new()), broken("grants_are_kept"), "of nothing");
    grant.lease.token.0 += 1;
    assert_eq!(says(&mut world, vec![grant]), broken("grants_are_kept"));
}

#[test]
fn a_worker_that_may_go_on_with_what_is_over_is_told() {
    let mut world = World::new();
    world.start(ONE);
    let grant = world.claim_one("w");
    let beat = |world: &mut World, crowded| {
        let by = Answerer { source: "engine-1", now: world.now, crowded };
        world.witness.asked(99, &Command::Heartbeat(vec![grant.lease]));
        let answer: Result<Answer> = Ok(Answer::Beats(vec![Beat::Continue(world.now)]));
        rule(world.witness.heard(99, &answer, by))
    };
    assert_eq!(beat(&mut world, false), Ok(()));
    world.report(grant.lease, Ok(())).unwrap();
    world.pass(Millis(1));
    assert_eq!(beat(&mut world, true), Ok(()), "it may have ended in the very commit");
    assert_eq!(beat(&mut world, false), broken("the_late_are_told"));
    world.witness.in_doubt = true;
    assert_eq!(beat(&mut world, false), Ok(()), "others may have ended it");
}
