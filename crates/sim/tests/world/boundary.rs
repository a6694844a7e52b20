//! Crash at every write boundary: for each scenario and each store operation, the operation fails before or
//! after it happened, or the engine dies around it; the run comes to the same end as without any fault.

use edgewise_core::Kind;
use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Command, Grant, Rerun, RerunOf, Start};
use edgewise_sim::driver::{World, boom, claim_of, finish_of, name};
use edgewise_sim::flows::{CHAIN, DIAMOND, GATE, MENDED, NESTED, SPREAD, composed};
use edgewise_store::faulty::{Fault, Faults};
use std::collections::BTreeMap;

/// What a handler does, by the task's path and the attempt: the same in every life.
type Handler = fn(&str, u16) -> Result<(), Failure>;

struct Scenario {
    /// The flow, and those it starts runs of.
    flows: &'static [&'static str],
    handler: Handler,
    end: RunState,
    /// What is not done again when the run is rerun from its failure, with handlers that have been mended; `None` if it is not.
    kept: Option<&'static [&'static str]>,
    /// Whether it is frozen and let go on before anybody works for it.
    freezes: bool,
}

const SCENARIOS: [Scenario; 7] = [
    Scenario {
        flows: &[CHAIN],
        handler: |path, attempt| fails_if(path == "b" && attempt == 1),
        end: RunState::Complete,
        kept: None,
        freezes: false,
    },
    Scenario {
        flows: &[DIAMOND],
        handler: |path, _| fails_if(path == "left"),
        end: RunState::Complete,
        kept: None,
        freezes: false,
    },
    Scenario {
        flows: &[SPREAD],
        handler: |path, _| fails_if(path == "each[2]"),
        end: RunState::Complete,
        kept: None,
        freezes: false,
    },
    Scenario { flows: &[GATE], handler: |_, _| Ok(()), end: RunState::Complete, kept: None, freezes: false },
    // The inmost run fails, so the middle one is made once more, with another one in it.
    Scenario {
        flows: &NESTED,
        handler: |path, _| fails_if(path == "j"),
        end: RunState::Error,
        kept: None,
        freezes: false,
    },
    // The inmost run fails and all with it; then each goes on from there, and does only what it had not done.
    Scenario {
        flows: &MENDED,
        handler: |path, _| fails_if(path == "j"),
        end: RunState::Complete,
        kept: Some(&["a", "x", "i"]),
        freezes: false,
    },
    Scenario {
        flows: &[CHAIN],
        handler: |path, attempt| fails_if(path == "b" && attempt == 1),
        end: RunState::Complete,
        kept: None,
        freezes: true,
    },
];

fn fails_if(bad: bool) -> Result<(), Failure> {
    if bad { Err(boom()) } else { Ok(()) }
}

/// How the run and those it started ended: their own states and that of each task, by the flow.
type End = (RunState, Vec<(String, RunState, BTreeMap<String, TaskState>)>);

struct Life<'a> {
    world: World,
    start: Start,
    scenario: &'a Scenario,
    /// How often a handler began, by run, path and generation.
    began: BTreeMap<(RunId, String, u16), u16>,
    /// Whether the handlers have been mended.
    mended: bool,
}

impl<'a> Life<'a> {
    fn new(scenario: &'a Scenario, faults: Faults) -> Self {
        let start = Start { key: Some("once".into()), ..composed(scenario.flows) };
        Self { world: World::with(7, faults), start, scenario, began: BTreeMap::new(), mended: false }
    }

    /// A client that asks until it is answered, with a key so that it starts one run.
    fn start(&mut self) -> RunId {
        for _ in 0..100 {
            if let Some(Ok(Answer::Started { run, .. })) = self.world.ask(Command::Start(self.start.clone())) {
                return run;
            }
        }
        panic!("the run was never accepted");
    }

    /// A worker elsewhere that claims, does, and reports until it is heard.
    fn work(&mut self, run: RunId) -> End {
        for _ in 0..200 {
            if self.world.run(run).state.is_done() {
                return self.end(run);
            }
            self.world.ask(Command::Claim(claim_of("w", &["work"], 2)));
            self.world.settle();
            for grant in self.world.take() {
                self.attempt(&grant);
            }
            self.world.flush_if_due();
            self.world.pass(Millis(1_000));
        }
        let tasks: Vec<TaskState> = self.world.run(run).tasks.iter().map(|t| t.state).collect();
        panic!("the run does not end: {tasks:?}");
    }

    fn attempt(&mut self, grant: &Grant) {
        let again = grant.lease.generation > 1 && self.scenario.kept.is_some_and(|kept| kept.contains(&&*grant.path));
        assert!(!again, "{} was done already", grant.path);
        let began = self.began.entry((grant.lease.run, grant.path.clone(), grant.lease.generation)).or_default();
        *began += 1;
        assert!(*began <= grant.max_attempts, "the handler of {} began {began} times", grant.path);
        for _ in 0..100 {
            let outcome = if self.mended { Ok(()) } else { (self.scenario.handler)(&grant.path, grant.lease.attempt) };
            if let Some(Ok(_)) = self.world.ask(finish_of(grant.lease, outcome)) {
                return;
            }
        }
        panic!("the report was never heard");
    }

    fn end(&self, run: RunId) -> End {
        let tasks = |run: &Run| {
            let all = (0..run.total()).map(TaskIx);
            all.map(|t| (run.path(t), run.task(t).unwrap().state)).collect()
        };
        let books = self.world.witness.books.values().map(|book| &book.run);
        let mut ends: Vec<_> = books.map(|run| (run.plan.flow.to_string(), run.state, tasks(run))).collect();
        ends.sort();
        (self.world.run(run).state, ends)
    }

    /// An operator who asks until it is done; once it is, nothing is left that failed.
    fn rerun(&mut self, run: RunId) {
        self.mended = true;
        for _ in 0..100 {
            let rerun = Rerun { run, from: RerunOf::Failure, by: name("op"), why: None };
            match self.world.ask(Command::Rerun(rerun)) {
                Some(Ok(_)) => return,
                Some(Err(error)) if error.kind == Kind::Conflict => return,
                _ => {}
            }
        }
        panic!("the rerun was never accepted");
    }

    /// An operator who freezes it, and then lets it go on, each until it is done.
    fn freeze(&mut self, run: RunId) {
        self.world.witness.watches_marks = true;
        let act = self.world.act(run);
        for command in [Command::Freeze, Command::Unfreeze] {
            let done = (0..100).any(|_| matches!(self.world.ask(command(act.clone())), Some(Ok(_))));
            assert!(done, "it was never answered");
            self.world.flush_if_due();
            self.world.pass(Millis(1_000));
        }
        let said =
            |kind: &str| self.world.witness.books[&run].entries.iter().filter(|e| e.event.name() == kind).count();
        assert_eq!((said("RunFrozen"), said("RunUnfrozen")), (1, 1), "each is said once, however often it was asked");
    }

    fn live(mut self) -> (End, World) {
        let run = self.start();
        if self.scenario.freezes {
            self.freeze(run);
        }
        let mut end = self.work(run);
        if self.scenario.kept.is_some() {
            assert_eq!(end.0, RunState::Error);
            self.rerun(run);
            end = self.work(run);
        }
        self.world.witness.close().unwrap();
        (end, self.world)
    }
}

/// The end without any fault, and how many operations it takes.
fn undisturbed(scenario: &Scenario) -> (End, u64) {
    let (end, world) = Life::new(scenario, Faults::none()).live();
    assert_eq!(end.0, scenario.end);
    (end, world.faults.total())
}

fn disturbed(scenario: &Scenario, faults: &[Fault]) {
    let (expected, operations) = undisturbed(scenario);
    assert!(operations > 20, "the scenario touches the store {operations} times");
    for n in 1..=operations {
        for fault in faults {
            let (end, _) = Life::new(scenario, Faults::none().fail_nth(n, *fault)).live();
            assert_eq!(end, expected, "operation {n} of {operations} failed as {fault:?}");
        }
    }
}

const BEFORE: [Fault; 3] = [Fault::Refused, Fault::AnswerLost { landed: false }, Fault::SyncFailed { landed: false }];
const AFTER: [Fault; 2] = [Fault::AnswerLost { landed: true }, Fault::SyncFailed { landed: true }];

#[test]
fn a_chain_with_a_retry_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[0], &BEFORE);
    disturbed(&SCENARIOS[0], &AFTER);
}

#[test]
fn a_diamond_with_a_handled_failure_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[1], &BEFORE);
    disturbed(&SCENARIOS[1], &AFTER);
}

#[test]
fn a_spread_that_bears_a_failure_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[2], &BEFORE);
    disturbed(&SCENARIOS[2], &AFTER);
}

#[test]
fn a_gate_with_a_deadline_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[3], &BEFORE);
    disturbed(&SCENARIOS[3], &AFTER);
}

#[test]
fn runs_within_runs_end_the_same_whatever_fails() {
    disturbed(&SCENARIOS[4], &BEFORE);
    disturbed(&SCENARIOS[4], &AFTER);
}

#[test]
fn runs_within_runs_go_on_from_their_failure_whatever_fails() {
    disturbed(&SCENARIOS[5], &BEFORE);
    disturbed(&SCENARIOS[5], &AFTER);
}

#[test]
fn a_run_that_is_frozen_and_let_go_on_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[6], &BEFORE);
    disturbed(&SCENARIOS[6], &AFTER);
}

#[test]
fn an_engine_that_dies_between_a_commit_and_its_answer_changes_no_end() {
    for scenario in &SCENARIOS {
        let (expected, world) = Life::new(scenario, Faults::none()).live();
        assert!(world.steps > 20, "the scenario takes {} steps", world.steps);
        for n in 2..=world.steps {
            let mut life = Life::new(scenario, Faults::none());
            life.world.dies_after = n;
            assert_eq!(life.live().0, expected, "died after step {n} of {}", world.steps);
        }
    }
}

/// An answer and its neighbour: the append's result is lost, and then it cannot be read back either.
#[test]
fn a_result_in_doubt_that_stays_in_doubt_for_a_while_changes_no_end() {
    for scenario in &SCENARIOS {
        let (expected, operations) = undisturbed(scenario);
        for n in 1..=operations {
            for landed in [false, true] {
                let faults = Faults::none().fail_nth(n, Fault::AnswerLost { landed }).fail_nth(n + 1, Fault::Refused);
                let (end, _) = Life::new(scenario, faults).live();
                assert_eq!(end, expected, "operations {n} and {} of {operations} failed, landed: {landed}", n + 1);
            }
        }
    }
}
