//! Several engines at one ledger: each publishes what all of them commit, once and in the ledger's order.

use crate::stage::*;
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_engine::Home;
use edgewise_engine::command::{Answer, Command, GateAct};
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::publish::Ear;

const FLOW: &str = "flow: f\ntasks:\n  a: { gate: { approval: {} }, publish: [a] }\n  b: { after: a, gate: { approval: {} }, publish: [b] }";
const NOW: Time = Time(1_700_000_000_000);

fn engine(place: &Place, seed: u8) -> Committer<()> {
    let rows = place.rows.clone();
    let entropy = Entropy::from_seed([seed; 32]);
    let mut engine = Committer::new(Box::new(place.ledger.clone()), Box::new(rows), Home::local(), "e".into(), entropy);
    engine.recover(NOW).unwrap();
    engine
}

fn ask(engine: &mut Committer<()>, command: Command) -> Result<Answer> {
    let step = engine.step(NOW, vec![Request { command, reply: () }]).unwrap();
    step.answers.into_iter().next().unwrap().1
}

fn start(engine: &mut Committer<()>) -> RunId {
    match ask(engine, Command::Start(flow(FLOW))) {
        Ok(Answer::Started { run, .. }) => run,
        other => panic!("{other:?}"),
    }
}

fn approve(engine: &mut Committer<()>, run: RunId, task: &str) -> Result<Answer> {
    ask(engine, Command::Approve(GateAct { run, task: task.into(), by: name("ada"), comment: None }))
}

#[test]
fn what_another_engine_wrote_to_a_run_that_was_loaded_anew_is_told_before_what_comes_after_it() {
    let place = Place::default();
    let (mut one, mut other) = (engine(&place, 1), engine(&place, 2));
    let mut publisher = place.publisher();
    let ear = Ear::of(&mut one, 10);
    let (first, second) = (start(&mut one), start(&mut one));
    approve(&mut other, first, "a").unwrap();
    // Whoever would refuse looks at the ledger first, so the run is on the desk with what the other engine wrote.
    assert!(matches!(approve(&mut one, first, "a"), Ok(Answer::Already)));
    one.sweep(NOW);
    approve(&mut one, second, "a").unwrap();
    approve(&mut one, second, "b").unwrap();
    publisher.take(&ear).unwrap();
    publisher.write().unwrap();
    assert_eq!(place.names("f"), ["a", "a", "b"], "and nothing is passed over");
}
