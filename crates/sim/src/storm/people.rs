//! Clients and an operator: they start runs, wait, approve, pause, cancel; some ask for what is not there.

use super::{Ask, Storm};
use crate::driver::{name, start_of};
use crate::plans::{PEOPLE, has_schedules};
use edgewise_core::event::TaskIx;
use edgewise_core::gate::Opens;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::plan::Work;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_engine::command::{Command, GateAct, RunAct, Satisfy, Start};
use serde_json::Map;
use serde_json::value::RawValue;

/// Runs that one storm starts at most.
const RUNS: usize = 4;
/// More steps than any program takes that ends, and than one takes of which nobody knows how it is to end.
const ENDLESS: usize = 5_000;
const ASTRAY: usize = 1_000;
/// Runs that a storm has room for. What begins by itself and begins others from spreads would fill any world.
const CROWD: usize = 200;
/// What runs are given.
const INPUTS: [&str; 3] = [r#"{"list":[1,2,3]}"#, r#"{"list":[]}"#, r#"{"list":["a"]}"#];

impl Storm {
    fn any_door(&mut self) -> usize {
        self.dice.below(self.orchestrators.len() as u64) as usize
    }

    pub(super) fn ask(&mut self, command: Command) {
        let to = self.any_door();
        self.send(to, vec![(Ask::Person, command)]);
    }

    /// A client starts a run, often with a key, so that it can ask again until it is answered.
    pub(super) fn start(&mut self) {
        let key = self.dice.one_in(2).then(|| self.dice.below(3));
        if self.witness.books.len() >= RUNS && key.is_none() {
            return;
        }
        // The same key names the same plan and input, but for a client that is mistaken.
        let body = key.filter(|_| !self.dice.one_in(8)).unwrap_or_else(|| self.dice.below(100));
        let (plan, children) = self.plans[body as usize % self.plans.len()].clone();
        let input = match plan.inputs.is_empty() {
            true => INPUTS[body as usize % 3].to_owned(),
            // What a program is not given has its default.
            false => edgewise_core::input::complete(&plan.inputs, &Map::new()).unwrap_or_else(|e| panic!("{e}")),
        };
        let input = RawValue::from_string(input).unwrap_or_else(|e| panic!("{e}"));
        self.ask(Command::Start(Start { key: key.map(|k| format!("key-{k}")), input, children, ..start_of(&plan) }));
    }

    /// A run, rather one that asks people for something; now and then one that does not exist.
    fn a_run(&mut self) -> Option<RunId> {
        if self.dice.one_in(30) {
            return Some(RunId(7));
        }
        let all: Vec<RunId> = self.witness.books.keys().copied().collect();
        let asks = |run: &RunId| asking(self.witness.run(*run)).next().is_some();
        let mut runs: Vec<RunId> = all.iter().copied().filter(asks).collect();
        if runs.is_empty() || self.dice.one_in(2) {
            runs = all;
        }
        self.dice.index(runs.len()).map(|at| runs[at])
    }

    /// Somebody, rather one who has already said yes if a yes is to be taken back.
    fn a_person(&mut self, run: RunId, back: bool) -> Name {
        let approvals = self.witness.books.get(&run).map(|book| &book.run.approvals);
        let given = approvals.and_then(|all| all.values().flatten().next()).map(|a| a.by.clone());
        given.filter(|_| back).unwrap_or_else(|| name(PEOPLE[self.dice.below(3) as usize]))
    }

    /// A gate that waits for somebody, or any name at all.
    fn a_gate(&mut self, run: RunId) -> String {
        let found = self.witness.books.get(&run).and_then(|book| asking(&book.run).next().map(|t| book.run.path(t)));
        found.unwrap_or_else(|| (*self.dice.pick(&["ask", "n0", "n1", "nothing"])).into())
    }

    pub(super) fn person(&mut self) {
        if self.changes_workspace() && self.dice.one_in(4) {
            return self.change_workspace();
        }
        if has_schedules(self.seed) && self.dice.one_in(2) {
            return self.schedule();
        }
        if self.removes() && self.dice.one_in(4) {
            return self.remove();
        }
        if self.sets_queues() && self.dice.one_in(4) {
            return self.set_a_queue();
        }
        if self.has_operator() && !self.dice.one_in(3) {
            return self.operate();
        }
        let Some(run) = self.a_run() else { return };
        let act = RunAct { run, by: name("op"), why: None };
        let roll = self.dice.below(24);
        let by = self.a_person(run, (10..=13).contains(&roll));
        let gate = GateAct { run, task: self.a_gate(run), by, comment: None };
        let command = match roll {
            0 => Command::Cancel(act),
            1..=4 => Command::Pause(act),
            5..=8 => Command::Resume(act),
            9 => Command::Reject(gate),
            10..=13 => Command::Withdraw(gate),
            14..=16 => Command::Wait(run),
            _ => self.yes(gate),
        };
        self.ask(command);
    }

    /// What opens a gate, or brings it nearer to that.
    fn yes(&self, act: GateAct) -> Command {
        let run = self.witness.books.get(&act.run).map(|book| &book.run);
        let work = run.and_then(|run| Some(&run.spec_of(run.find(&act.task)?).work));
        match work {
            Some(Work::Gate(gate)) if gate.wait.opens() == Opens::Outside => {
                let output = RawValue::from_string("{\"n\":1}".into()).ok();
                Command::Satisfy(Satisfy { act, generation: None, delivery: None, output })
            }
            _ => Command::Approve(act),
        }
    }

    /// Where runs have become a crowd, an operator cancels all of them. The witness looks at everything after every
    /// commit, so a storm of thousands would take hours and find nothing that one of hundreds does not.
    pub(super) fn thin_out(&mut self) {
        if self.witness.books.len() < CROWD {
            return;
        }
        for run in self.open_runs() {
            if self.witness.run(run).cancel.is_none() {
                self.ask(Command::Cancel(RunAct { run, by: name("op"), why: None }));
            }
        }
    }

    /// A program that people and faults led another way than its reference goes may loop for ever: somebody sees it.
    pub(super) fn end_what_never_ends(&mut self) {
        let most = if self.has_operator() { ASTRAY } else { ENDLESS };
        for run in self.open_runs() {
            let book = self.witness.run(run);
            if book.is_program() && book.tasks.len() > most && book.cancel.is_none() {
                self.ask(Command::Cancel(RunAct { run, by: name("op"), why: None }));
            }
        }
    }

    /// After some storms: somebody waits at every door for the end of every run. Not after all of them, because
    /// whoever is asked about a run looks at it, and that hides what was forgotten of it.
    pub(super) fn keep_vigil(&mut self) {
        if !self.seed.is_multiple_of(4) {
            return;
        }
        for run in self.open_runs() {
            for o in 0..self.orchestrators.len() {
                let no = self.send(o, vec![(Ask::Person, Command::Wait(run))]);
                self.vigils.insert(no);
            }
        }
    }

    /// After the storm: what is paused goes on, and whoever is asked says yes.
    pub(super) fn patient_people(&mut self) {
        self.stop_schedules();
        self.thin_out();
        self.unfreeze_all();
        self.close_items_of_tasks();
        self.open_gates_of_tasks();
        for run in self.open_runs() {
            let book = &self.witness.books[&run];
            let gates: Vec<String> = asking(&book.run).map(|t| book.run.path(t)).collect();
            if book.run.paused {
                self.ask(Command::Resume(RunAct { run, by: name("op"), why: None }));
            }
            for task in gates {
                for person in PEOPLE {
                    let yes = self.yes(GateAct { run, task: task.clone(), by: name(person), comment: None });
                    self.ask(yes);
                }
            }
        }
    }

    /// A run that is held at a failure ends when an operator says so.
    pub(super) fn end_what_is_held(&mut self) -> bool {
        let mut any = false;
        for run in self.open_runs() {
            if self.witness.run(run).state == RunState::BlockedByFailures {
                let command = self.let_go(run);
                self.ask(command);
                any = true;
            }
        }
        any
    }

    pub(super) fn open_runs(&self) -> Vec<RunId> {
        self.witness.books.values().map(|b| &b.run).filter(|run| !run.state.is_done()).map(|run| run.id).collect()
    }
}

/// The gates that wait for people or for something outside now.
fn asking(run: &Run) -> impl Iterator<Item = TaskIx> + '_ {
    (0..run.total()).map(TaskIx).filter(|task| {
        let waits = run.tasks[task.0 as usize].state == TaskState::InProgress;
        waits && matches!(&run.spec_of(*task).work, Work::Gate(gate) if gate.wait.opens() != Opens::Itself)
    })
}
