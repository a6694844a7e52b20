//! The world around a committer: a store, a clock, workers' hands, and a witness that looks after every act.
//!
//! One thread and virtual time. A crash drops the committer and opens another one over the same memory;
//! the witness reads the store past all faults, so it sees what really happened.

mod ground;

pub use ground::{Tear, Torn};

use crate::flows::flow;
use crate::violation::Held;
use crate::witness::{Answerer, Witness};
use edgewise_core::event::{AttemptRef, Failure};
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::command::{Answer, Beat, Claim, Command, Finish, GateAct, Grant, LeaseRef, RunAct, Start};
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::reader::Reader;
use edgewise_store::Flush;
use edgewise_store::faulty::Faults;
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;
use tempfile::TempDir;

/// How long a lease of a worker elsewhere is good for.
pub const LEASE: Millis = Millis(30_000);

/// A name that is good.
pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Where everything here lives.
pub fn home() -> Home {
    Home { tenant: name("local"), workspace: name("default") }
}

/// A failure.
pub fn boom() -> Failure {
    Failure::new("boom", "it broke")
}

/// A start without a key.
pub fn start_of(plan: &Arc<Plan>) -> Start {
    let input = RawValue::from_string("{}".into()).unwrap_or_else(|e| panic!("{e}"));
    Start {
        plan: Arc::clone(plan),
        children: Vec::new(),
        input,
        by: name("tester"),
        key: None,
        labels: BTreeMap::new(),
    }
}

/// A claim of a worker elsewhere, or of one within the engine's own process if its name begins with `local/`.
pub fn claim_of(worker: &str, actions: &[&str], max: u32) -> Claim {
    let lease = (!worker.starts_with("local/")).then_some(LEASE);
    Claim { worker: worker.into(), actions: actions.iter().map(|a| name(a)).collect(), queues: None, max, lease }
}

/// A report of one attempt.
pub fn finish_of(lease: LeaseRef, outcome: std::result::Result<(), Failure>) -> Command {
    Command::Complete(Arc::from([Finish { lease, outcome: outcome.map(|()| None) }]))
}

fn witness_of(ledger: &MemoryLedger, rows: &MemoryProjections) -> Witness {
    let reader = Reader::over(Box::new(ledger.clone()), Box::new(rows.clone()), home());
    Witness::new(Box::new(ledger.clone()), Box::new(rows.clone()), reader)
}

/// The test fails if what must hold does not.
fn must_hold(held: Held) {
    held.unwrap_or_else(|violation| panic!("{violation}"));
}

/// A message's number: what an answer is sent with.
pub type No = u64;

/// One engine over a store in memory, or in a folder, driven by hand.
pub struct World {
    /// What was committed.
    pub ledger: MemoryLedger,
    /// What was derived.
    pub rows: MemoryProjections,
    /// How the store fails.
    pub faults: Faults,
    /// The one clock.
    pub now: Time,
    /// When the committer wants its next step.
    pub wake: Option<Time>,
    /// Whether it wants it right now.
    pub more: bool,
    /// Answers by message.
    pub answers: BTreeMap<No, Result<Answer>>,
    /// Grants that were delivered and not yet taken by the test.
    pub delivered: Vec<Grant>,
    /// Leases whose workers should stop.
    pub revoked: Vec<(RunId, AttemptRef)>,
    /// How many engines there were.
    pub lives: u32,
    /// How many steps there were.
    pub steps: u64,
    /// After which step the engine dies before anybody is answered; 0 for none.
    pub dies_after: u64,
    /// Who looks after every act.
    pub witness: Witness,
    /// Rows that are being written.
    pub writing: Option<Flush>,
    /// What the next write that is not confirmed leaves behind: the power fails in it.
    pub tears: Option<Tear>,
    /// Where the store is, if it is not in memory.
    folder: Option<TempDir>,
    committer: Option<Committer<No>>,
    next: No,
    seed: u64,
}

impl Default for World {
    fn default() -> Self {
        Self::with(0, Faults::none())
    }
}

impl World {
    /// A world without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// A world with a seed, whose stores fail as told.
    pub fn with(seed: u64, faults: Faults) -> Self {
        let (ledger, rows) = (MemoryLedger::default(), MemoryProjections::default());
        let mut world = Self {
            witness: witness_of(&ledger, &rows),
            ledger,
            rows,
            faults,
            now: Time(1_000_000_000),
            wake: None,
            more: false,
            answers: BTreeMap::new(),
            delivered: Vec::new(),
            revoked: Vec::new(),
            lives: 0,
            steps: 0,
            dies_after: 0,
            writing: None,
            tears: None,
            folder: None,
            committer: None,
            next: 1,
            seed,
        };
        world.crash();
        world
    }

    /// Another engine over the same store.
    pub fn over(other: &World) -> Self {
        let mut world = Self::with(other.seed + 1, Faults::none());
        (world.ledger, world.rows) = (other.ledger.clone(), other.rows.clone());
        world.witness = witness_of(&world.ledger, &world.rows);
        world.now = other.now;
        world.crash();
        world
    }

    /// A world whose runs are too large to be looked at after every act.
    pub fn unwatched() -> Self {
        let mut world = Self::new();
        world.witness.rests = true;
        world
    }

    /// A look at the store from outside.
    pub fn reader(&self) -> Reader {
        Reader::over(Box::new(self.ledger.clone()), Box::new(self.rows.clone()), home())
    }

    /// The engine itself.
    pub fn committer(&mut self) -> &mut Committer<No> {
        self.committer.as_mut().expect("an engine")
    }

    /// The engine dies and another one takes over: everything in memory is gone, and so are local workers.
    pub fn crash(&mut self) {
        self.writing = None;
        self.delivered.retain(|g| !self.witness.is_local(&g.lease));
        self.committer = None;
        self.answers.clear();
        for _ in 0..1_000 {
            self.faults.restart();
            self.lives += 1;
            let mut key = [0; 32];
            key[..8].copy_from_slice(&self.seed.to_le_bytes());
            key[8..12].copy_from_slice(&self.lives.to_le_bytes());
            let (ledger, rows) = self.faulty();
            let source = format!("engine-{}", self.lives).into();
            let entropy = Entropy::from_seed(key);
            let mut committer = Committer::new(ledger, rows, home(), source, entropy);
            if committer.recover(self.now).is_ok() {
                self.committer = Some(committer);
                self.step(Vec::new());
                return;
            }
        }
        panic!("the engine did not come up in 1,000 tries");
    }

    /// The rows are lost with the engine: the next one has the ledger alone.
    pub fn lose_rows(&mut self) {
        self.rows = MemoryProjections::default();
        let reader = self.reader();
        self.witness.rows_are_now(Box::new(self.rows.clone()), reader);
        self.crash();
    }

    /// One step of the committer. A failed sync ends the process, so a new one comes up.
    pub fn step(&mut self, commands: Vec<(No, Command)>) {
        for (no, command) in &commands {
            self.witness.asked(*no, command);
        }
        let requests = commands.into_iter().map(|(reply, command)| Request { command, reply }).collect();
        self.steps += 1;
        let (now, Some(committer)) = (self.now, self.committer.as_mut()) else { return };
        match committer.step(now, requests) {
            Ok(_) if self.steps == self.dies_after => {
                must_hold(self.witness.look(now));
                self.crash();
            }
            Ok(step) => {
                (self.wake, self.more) = (step.wake, step.more);
                self.revoked.extend(step.revoked);
                must_hold(self.witness.look(now));
                for (no, answer) in step.answers {
                    self.hear(no, answer);
                }
            }
            Err(error) => {
                assert_eq!(error.code, "sync_failed", "only a failed sync may end the engine: {error}");
                self.lose_power(Torn::Ledger);
                must_hold(self.witness.look(now));
                self.crash();
            }
        }
    }

    fn hear(&mut self, no: No, answer: Result<Answer>) {
        let source = format!("engine-{}", self.lives);
        let by = Answerer { source: &source, now: self.now, crowded: true };
        must_hold(self.witness.heard(no, &answer, by));
        if let Ok(Answer::Granted { grants, .. }) = &answer {
            self.delivered.extend(grants.iter().cloned());
        }
        assert!(self.answers.insert(no, answer).is_none(), "message {no} was answered twice");
    }

    /// Sends commands in one bundle; answers are found under these numbers.
    pub fn send(&mut self, commands: Vec<Command>) -> Vec<No> {
        let numbers: Vec<No> = (self.next..).take(commands.len()).collect();
        self.next += commands.len() as u64;
        self.step(numbers.iter().copied().zip(commands).collect());
        numbers
    }

    /// Sends one command; its answer, if there is one by now.
    pub fn ask(&mut self, command: Command) -> Option<Result<Answer>> {
        let no = self.send(vec![command])[0];
        self.answers.remove(&no)
    }

    /// Sends a command that must be answered at once, and well.
    pub fn must(&mut self, command: Command) -> Answer {
        self.ask(command).expect("an answer at once").expect("a good answer")
    }

    /// Sends a command that must be refused at once.
    pub fn must_fail(&mut self, command: Command) -> Error {
        self.ask(command).expect("an answer at once").expect_err("an error")
    }

    /// Starts a flow; it is a new run.
    pub fn start(&mut self, text: &str) -> RunId {
        self.start_plan(&flow(text))
    }

    /// Starts a plan; it is a new run.
    pub fn start_plan(&mut self, plan: &Arc<Plan>) -> RunId {
        match self.must(Command::Start(start_of(plan))) {
            Answer::Started { run, new: true } => run,
            other => panic!("{other:?}"),
        }
    }

    /// Claims as a worker, and takes what was delivered (also to claims that were waiting).
    pub fn claim(&mut self, worker: &str, max: u32) -> Vec<Grant> {
        self.send(vec![Command::Claim(claim_of(worker, &["work"], max))]);
        self.take()
    }

    /// Claims one task, which must be there.
    pub fn claim_one(&mut self, worker: &str) -> Grant {
        let mut grants = self.claim(worker, 1);
        assert_eq!(grants.len(), 1, "one task for {worker}");
        grants.remove(0)
    }

    /// Takes what was delivered.
    pub fn take(&mut self) -> Vec<Grant> {
        std::mem::take(&mut self.delivered)
    }

    /// Reports how an attempt ended.
    pub fn report(&mut self, lease: LeaseRef, outcome: std::result::Result<(), Failure>) -> Result<()> {
        match self.must(finish_of(lease, outcome)) {
            Answer::Completed(mut each) => each.remove(0),
            other => panic!("{other:?}"),
        }
    }

    /// A heartbeat for one lease.
    pub fn beat(&mut self, lease: LeaseRef) -> Beat {
        match self.must(Command::Heartbeat(vec![lease])) {
            Answer::Beats(beats) => beats[0],
            other => panic!("{other:?}"),
        }
    }

    /// Something the operator does to a run.
    pub fn act(&self, run: RunId) -> RunAct {
        RunAct { run, by: name("op"), why: None }
    }

    /// Something a person does to a gate.
    pub fn gate_act(&self, run: RunId, task: &str, by: &str) -> GateAct {
        GateAct { run, task: task.into(), by: name(by), comment: None }
    }

    /// Steps until there is nothing more to do right now.
    pub fn settle(&mut self) {
        for _ in 0..1_000 {
            if !self.more {
                return;
            }
            self.step(Vec::new());
        }
        panic!("the engine spins: 1,000 steps at one instant and still more to do");
    }

    /// Lets time pass as a shell would: it sleeps until the committer wants to be woken.
    pub fn pass(&mut self, span: Millis) {
        let until = self.now.plus(span);
        self.settle();
        while let Some(wake) = self.wake.filter(|w| *w <= until) {
            self.now = self.now.max(wake);
            self.step(Vec::new());
            self.settle();
            self.flush_if_due();
        }
        self.now = until;
        self.step(Vec::new());
        self.settle();
    }

    /// What a shell does after each step: writes rows if it is time.
    pub fn flush_if_due(&mut self) {
        let now = self.now;
        if self.writing.is_none() {
            self.writing = self.committer().flush(now).expect("a flush or none");
        }
        self.write();
        // The shell takes the result as a message, and a message is a step.
        self.step(Vec::new());
    }

    /// Brings all rows up to date.
    pub fn flush(&mut self) {
        self.write();
        match self.committer().flush_all() {
            Ok(flush) => self.writing = Some(flush),
            Err(error) => assert_eq!(error.kind, edgewise_core::Kind::Unavailable, "{error}"),
        }
        self.write();
    }

    /// Writes the rows that are being written, if any.
    pub fn write(&mut self) {
        if let Some(flush) = self.writing.take() {
            let result = self.faulty().1.flush(&flush);
            if result.as_ref().is_err_and(|error| error.code == "sync_failed") && self.lose_power(Torn::Rows) {
                return self.crash();
            }
            let now = self.now;
            self.committer().flushed(now, &result);
            must_hold(self.witness.look_at_rows());
        }
    }

    /// A run as the ledger has it.
    pub fn run(&self, run: RunId) -> &Run {
        self.witness.run(run)
    }

    /// Where a task is, by its path.
    pub fn task(&self, run: RunId, path: &str) -> TaskState {
        let run = self.run(run);
        let task = run.find(path).unwrap_or_else(|| panic!("no task {path}"));
        run.tasks[task.0 as usize].state
    }

    /// The run must be there.
    pub fn is(&self, run: RunId, state: RunState) {
        assert_eq!(self.run(run).state, state);
    }

    /// How many appends there were.
    pub fn appends(&self) -> u64 {
        self.faults.count(edgewise_store::faulty::Op::Append)
    }
}
