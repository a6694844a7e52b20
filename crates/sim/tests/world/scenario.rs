//! Scenarios that are played again and again, each time with another thing going wrong, and always come to the same end.

use edgewise_core::Kind;
use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Command, Grant, Rerun, RerunOf, Start};
use edgewise_sim::driver::{World, boom, claim_of, finish_of, name};
use edgewise_sim::flows::{CHAIN, DIAMOND, GATE, MENDED, NESTED, PROGRAM, SPREAD, composed};
use edgewise_store::faulty::Faults;
use std::collections::BTreeMap;

/// What a handler does, by the task's path and the attempt: the same in every life.
type Handler = fn(&str, u16) -> Result<(), Failure>;

/// A flow and what becomes of it.
pub struct Scenario {
    /// The flow, and those it starts runs of.
    flows: &'static [&'static str],
    handler: Handler,
    pub end: RunState,
    /// What is not done again when the run is rerun from its failure, with handlers that have been mended; `None` if it is not.
    kept: Option<&'static [&'static str]>,
    /// Whether it is frozen and let go on before anybody works for it.
    freezes: bool,
}

pub const SCENARIOS: [Scenario; 8] = [
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
    // The first round is tried twice and dealt with, the second arm fails and is borne.
    Scenario {
        flows: &[PROGRAM],
        handler: |path, _| {
            fails_if(path.starts_with("for#0.try.") || (path.starts_with("arms[1]") && path.ends_with(".z")))
        },
        end: RunState::Complete,
        kept: None,
        freezes: false,
    },
];

fn fails_if(bad: bool) -> Result<(), Failure> {
    if bad { Err(boom()) } else { Ok(()) }
}

/// How the run and those it started ended: their own states and that of each task, by the flow.
pub type End = (RunState, Vec<(String, RunState, BTreeMap<String, TaskState>)>);

/// Somebody who starts it, and works for it until it has ended.
pub struct Life<'a> {
    pub world: World,
    start: Start,
    scenario: &'a Scenario,
    /// How often a handler began, by run, path and generation.
    began: BTreeMap<(RunId, String, u16), u16>,
    /// Whether the handlers have been mended.
    mended: bool,
}

impl<'a> Life<'a> {
    /// Over memory that fails as told.
    pub fn new(scenario: &'a Scenario, faults: Faults) -> Self {
        Self::over(scenario, World::with(7, faults))
    }

    pub fn over(scenario: &'a Scenario, world: World) -> Self {
        let start = Start { key: Some("once".into()), ..composed(scenario.flows) };
        Self { world, start, scenario, began: BTreeMap::new(), mended: false }
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

    pub fn live(mut self) -> (End, World) {
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
