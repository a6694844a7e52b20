//! Gates that ask more people as time goes by: each from their own instant on, and after a restart as before. Gates that
//! something outside opens.

use super::ground::{Engine, World, name};
use edgewise_core::event::Event;
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_engine::command::{Answer, Command, GateAct, Rerun, RerunOf, Satisfy, Start};
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
    start_of(engine, FLOW)
}

fn start_of(engine: &mut Engine, flow: &str) -> RunId {
    let plan = Arc::new(edgewise_core::flow::compile(flow, "f.yaml").unwrap().plan);
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

/// The steps that a run has told of.
fn told(world: &World, run: RunId) -> Vec<u16> {
    let entries = world.reader().ledger(run).unwrap();
    let step = |event: &Event| if let Event::GateEscalated(e) = event { Some(e.step) } else { None };
    entries.iter().filter_map(|entry| step(&entry.event)).collect()
}

fn pass(engine: &mut Engine, hours: u64) {
    while engine.step(Time(START + hours * HOUR), vec![]).unwrap().more {}
}

#[test]
fn each_step_is_told_once_when_it_falls_due_also_if_nothing_ran_then() {
    for (restarted, rows) in [(false, true), (true, true), (true, false)] {
        let mut world = World::default();
        let mut engine = world.engine(1);
        let run = start(&mut engine);
        let again = |world: &mut World, engine: &mut Engine, seed: u8| {
            if restarted {
                world.flush(engine);
                if !rows {
                    world.rows = Default::default();
                }
                *engine = world.engine(seed);
            }
        };
        for (seed, hours, steps) in [(2, 23, &[][..]), (3, 24, &[1]), (4, 47, &[1]), (5, 71, &[1, 2]), (6, 71, &[1, 2])]
        {
            again(&mut world, &mut engine, seed);
            pass(&mut engine, hours);
            assert_eq!(told(&world, run), steps, "after {hours} h, restarted: {restarted}, with rows: {rows}");
        }
        assert!(matches!(ask_at(&mut engine, 71, approve(run, "owner")), Ok(Answer::Done)));
        pass(&mut engine, 100);
        world.flush(&mut engine);
        assert_eq!(world.findings(), []);
    }
}

#[test]
fn a_ledger_of_a_program_that_told_nobody_is_caught_up_with() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    drop(engine);
    // Its rows are of an earlier format, and made anew; both steps have been due for long.
    world.rows = Default::default();
    let mut engine = world.engine(2);
    pass(&mut engine, 60);
    assert_eq!(told(&world, run), [1, 2]);
}

#[test]
fn a_gate_that_is_over_asks_nobody_more_and_one_that_is_opened_again_asks_again() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    pass(&mut engine, 30);
    assert!(matches!(ask_at(&mut engine, 31, approve(run, "boss")), Ok(Answer::Done)));
    pass(&mut engine, 60);
    assert_eq!(told(&world, run), [1]);
    let rerun = Rerun { run, from: RerunOf::Start, by: name("ada"), why: None };
    assert!(ask_at(&mut engine, 61, Command::Rerun(rerun)).is_ok());
    pass(&mut engine, 84);
    assert_eq!(told(&world, run), [1]);
    pass(&mut engine, 85);
    assert_eq!(told(&world, run), [1, 1]);
}

#[test]
fn nobody_may_approve_after_the_deadline() {
    for was_there in [true, false] {
        let world = World::default();
        let mut engine = world.engine(1);
        let run = start(&mut engine);
        while was_there && engine.step(Time(START + 72 * HOUR), vec![]).unwrap().more {}
        assert!(ask_at(&mut engine, 72, approve(run, "owner")).is_err(), "somebody was there at its time: {was_there}");
        assert_eq!(world.reader().run(run).unwrap().state, RunState::Error);
    }
}

#[test]
fn whoever_speaks_to_a_gate_that_another_engine_opened_again_is_heard() {
    let world = World::default();
    let (mut engine, mut other) = (world.engine(1), world.engine(2));
    let run = start(&mut engine);
    ask_at(&mut engine, 1, approve(run, "lead")).unwrap();
    let rerun = Rerun { run, from: RerunOf::Start, by: name("ada"), why: None };
    ask_at(&mut other, 2, Command::Rerun(rerun.clone())).unwrap();
    assert!(
        matches!(ask_at(&mut engine, 3, approve(run, "lead")), Ok(Answer::Done)),
        "its copy is of the generation before"
    );
    assert_eq!(world.reader().run(run).unwrap().state, RunState::Complete);
    // And so is whoever wants it done again.
    ask_at(&mut other, 4, Command::Rerun(rerun)).unwrap();
    ask_at(&mut other, 5, approve(run, "lead")).unwrap();
    let task = Rerun { run, from: RerunOf::Task("agree".into()), by: name("ada"), why: None };
    assert!(matches!(ask_at(&mut engine, 6, Command::Rerun(task)), Ok(Answer::Reopened(1))));
}

const OUTSIDE: &str = "{ flow: outside, tasks: { came: { gate: { webhook: {}, deadline: 2d } }, \
                       ticket: { gate: { external: { system: jira, id: ABC-1 } } } }, output: '${{ tasks.came.output }}' }";

fn satisfy(run: RunId, task: &str, generation: Option<u16>, output: &str) -> Command {
    let act = GateAct { run, task: task.into(), by: name("webhook"), comment: None };
    let output = Some(RawValue::from_string(output.into()).unwrap());
    Command::Satisfy(Satisfy { act, generation, delivery: Some("m1".into()), output })
}

#[test]
fn what_comes_from_outside_is_kept_over_restarts_and_speaks_of_one_generation() {
    for restarted in [false, true] {
        let world = World::default();
        let mut engine = world.engine(1);
        let again = |engine: &mut Engine, seed: u8| {
            if restarted {
                *engine = world.engine(seed);
            }
        };
        let run = start_of(&mut engine, OUTSIDE);
        again(&mut engine, 2);
        let answer = ask_at(&mut engine, 1, satisfy(run, "came", Some(1), "{\"n\":7}"));
        assert!(matches!(answer, Ok(Answer::Done)), "{answer:?}");
        again(&mut engine, 3);
        let twice = ask_at(&mut engine, 2, satisfy(run, "came", Some(1), "8")).unwrap_err();
        assert_eq!(twice.code, "gate_over");
        assert!(matches!(ask_at(&mut engine, 2, satisfy(run, "ticket", None, "null")), Ok(Answer::Done)));
        assert_eq!(world.reader().run(run).unwrap().final_output().unwrap(), serde_json::json!({ "n": 7 }));
        let rerun = Rerun { run, from: RerunOf::Start, by: name("op"), why: None };
        assert!(matches!(ask_at(&mut engine, 3, Command::Rerun(rerun)), Ok(Answer::Reopened(_))));
        again(&mut engine, 4);
        let old = ask_at(&mut engine, 4, satisfy(run, "came", Some(1), "9")).unwrap_err();
        assert_eq!(old.code, "stale", "an old address says nothing to a gate that asks again");
        assert!(matches!(ask_at(&mut engine, 4, satisfy(run, "came", Some(2), "10")), Ok(Answer::Done)));
    }
}

#[test]
fn a_deadline_that_passed_while_nothing_ran_ends_what_nobody_called() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start_of(&mut engine, OUTSIDE);
    let mut engine = world.engine(2);
    engine.step(Time(START + 49 * HOUR), Vec::new()).unwrap();
    let found = world.reader().run(run).unwrap();
    let came = found.find("came").unwrap();
    assert_eq!(found.failure_of(came).unwrap().kind, "deadline");
}

#[test]
fn what_is_too_large_or_meant_for_another_kind_of_gate_is_refused() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start_of(&mut engine, FLOW);
    assert_eq!(ask_at(&mut engine, 1, satisfy(run, "agree", None, "1")).unwrap_err().code, "other_gate");
    assert_eq!(ask_at(&mut engine, 1, satisfy(run, "none", None, "1")).unwrap_err().code, "task_not_found");
    let run = start_of(&mut engine, OUTSIDE);
    let large = format!("\"{}\"", "x".repeat(edgewise_core::limits::OUTPUT_BYTES));
    assert_eq!(ask_at(&mut engine, 1, satisfy(run, "came", None, &large)).unwrap_err().code, "output_too_large");
}
