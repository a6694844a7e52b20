//! Gates that ask more people as time goes by: each from their own instant on, and after a restart as before.

use super::ground::{Engine, World, name};
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_engine::command::{Answer, Command, GateAct, Start};
use edgewise_engine::committer::Request;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

const FLOW: &str = "{ flow: expense, tasks: { agree: { gate: { approval: { from: [lead] }, deadline: 3d, \
                    escalate: [{ after: 1d, to: [boss] }, { after: 2d, to: [owner] }] } } } }";
const HOUR: u64 = 3_600_000;
const START: u64 = 1_800_000_000_000;

fn ask_at(engine: &mut Engine, hours: u64, command: Command) -> edgewise_core::Result<Answer> {
    let step = engine.step(Time(START + hours * HOUR), vec![Request { command, reply: 1 }]).unwrap();
    step.answers.into_iter().next().unwrap().1
}

fn start(engine: &mut Engine) -> RunId {
    let plan = Arc::new(edgewise_core::flow::compile(FLOW, "f.yaml").unwrap().plan);
    let start = Start {
        plan,
        children: Vec::new(),
        input: RawValue::from_string("null".into()).unwrap(),
        by: name("ada"),
        key: None,
        labels: BTreeMap::new(),
    };
    match ask_at(engine, 0, Command::Start(start)) {
        Ok(Answer::Started { run, .. }) => run,
        other => panic!("{other:?}"),
    }
}

fn approve(run: RunId, who: &str) -> Command {
    Command::Approve(GateAct { run, task: "agree".into(), by: name(who), comment: None })
}

#[test]
fn each_person_may_approve_from_their_own_instant_on() {
    // When somebody says yes, and whether it counts.
    for (hours, who, counts) in [
        (1, "lead", true),
        (1, "boss", false),
        (23, "boss", false),
        (24, "boss", true),
        (24, "owner", false),
        (48, "owner", true),
        (48, "lead", true),
        (48, "stranger", false),
    ] {
        for restarted in [false, true] {
            let world = World::default();
            let mut engine = world.engine(1);
            let run = start(&mut engine);
            if restarted {
                engine = world.engine(2);
            }
            let answer = ask_at(&mut engine, hours, approve(run, who));
            let said = format!("{who} after {hours} h, restarted: {restarted}: {answer:?}");
            match answer {
                Ok(Answer::Done) => assert!(counts, "{said}"),
                Err(error) => {
                    assert!(!counts && error.code == "not_an_approver", "{said}");
                    assert!(error.message.contains("lead, boss (after 1d), owner (after 2d)"), "{said}");
                }
                _ => panic!("{said}"),
            }
            let ended = world.reader().run(run).unwrap().state == RunState::Complete;
            assert_eq!(ended, counts, "{said}");
        }
    }
}

#[test]
fn nobody_may_approve_after_the_deadline() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    while engine.step(Time(START + 72 * HOUR), vec![]).unwrap().more {}
    assert!(ask_at(&mut engine, 72, approve(run, "owner")).is_err());
    assert_eq!(world.reader().run(run).unwrap().state, RunState::Error);
}
