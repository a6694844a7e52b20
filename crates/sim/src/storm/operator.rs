//! An operator who does everything an operator can, at random: also to what is not there, and what must be refused.
//!
//! Only in seeds with two endings, so that the dice of all others fall as before.
//! Half of these operators never open finished work again: there the oracle judges every run.

use super::{Ask, Storm};
use crate::driver::name;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::state::TaskState;
use edgewise_engine::command::{Command, Rerun, RerunOf, RunAct, Supply, TaskAct};
use serde_json::value::RawValue;

/// What an operator supplies as the output of a task: lists of several lengths, and what is no list.
const OUTPUTS: [&str; 4] = ["[]", "[1,2]", r#"["a"]"#, "null"];

impl Storm {
    /// Whether this seed has an operator.
    pub(super) fn has_operator(&self) -> bool {
        matches!(self.seed % 10, 4 | 5)
    }

    /// Whether the operator of this seed opens finished work again.
    fn reopens(&self) -> bool {
        (self.seed / 10).is_multiple_of(2)
    }

    /// The operator does one thing.
    pub(super) fn operate(&mut self) {
        let Some(run) = self.any_run() else { return };
        let act = self.on_run(run);
        let command = match self.dice.below(20) {
            0..=2 => Command::Skip(self.on_task(run, is_open)),
            3 | 4 => Command::CancelTask(self.on_task(run, is_open)),
            5 | 6 => Command::Resolve(self.on_task_to_end(run)),
            7 | 8 => self.supply(run),
            9 => Command::ResolveRun(act),
            10 | 11 => Command::GiveUp(act),
            12 | 13 => self.freeze(act),
            14 | 15 => Command::Unfreeze(act),
            16 if self.reopens() => Command::Rerun(self.rerun(run)),
            17 if self.reopens() => Command::Rerun(Rerun { from: RerunOf::Start, ..self.rerun(run) }),
            18 | 19 if self.reopens() => Command::Reset(self.on_task(run, has_failed)),
            _ => Command::Skip(self.on_task(run, is_open)),
        };
        self.ask(command);
    }

    fn any_run(&mut self) -> Option<RunId> {
        if self.dice.one_in(30) {
            return Some(RunId(7));
        }
        let all: Vec<RunId> = self.witness.books.keys().copied().collect();
        self.dice.index(all.len()).map(|at| all[at])
    }

    fn on_run(&mut self, run: RunId) -> RunAct {
        RunAct { run, by: name("op"), why: self.dice.one_in(2).then(|| "by chance".into()) }
    }

    /// A task, rather one for which the act is meant; now and then one that does not exist.
    fn on_task(&mut self, run: RunId, meant: fn(TaskState) -> bool) -> TaskAct {
        let meant = if self.dice.one_in(6) { |_| true } else { meant };
        let task = self.a_task(run, meant).unwrap_or_else(|| "nothing".into());
        let RunAct { run, by, why } = self.on_run(run);
        TaskAct { run, task, by, why }
    }

    /// A task for an act that opens what is done: one that is open, where the operator opens nothing.
    fn on_task_to_end(&mut self, run: RunId) -> TaskAct {
        if self.reopens() {
            return self.on_task(run, |state| is_open(state) || has_failed(state));
        }
        let task = self.a_task(run, is_open).unwrap_or_else(|| "nothing".into());
        TaskAct { run, task, by: name("op"), why: None }
    }

    fn a_task(&mut self, run: RunId, meant: impl Fn(TaskState) -> bool) -> Option<String> {
        let run = &self.witness.books.get(&run)?.run;
        let tasks: Vec<TaskIx> = run.present().filter(|task| meant(run.tasks[task.0 as usize].state)).collect();
        let at = self.dice.index(tasks.len())?;
        Some(run.path(tasks[at]))
    }

    fn supply(&mut self, run: RunId) -> Command {
        let act = self.on_task_to_end(run);
        let output = (*self.dice.pick(&OUTPUTS)).to_owned();
        let output = RawValue::from_string(output).unwrap_or_else(|e| panic!("{e}"));
        Command::Supply(Supply { act, output })
    }

    fn rerun(&mut self, run: RunId) -> Rerun {
        let from = match self.dice.below(3) {
            0 => RerunOf::Failure,
            _ => RerunOf::Task(self.on_task(run, TaskState::is_done).task),
        };
        Rerun { run, from, by: name("op"), why: None }
    }

    fn freeze(&mut self, act: RunAct) -> Command {
        self.marked.insert(act.run);
        Command::Freeze(act)
    }

    /// After the storm: what was frozen goes on. Said at one door: the others hear of it from the ledger. Said again of
    /// what is frozen after that, because a freeze from the storm may still have waited at another door.
    pub(super) fn unfreeze_all(&mut self) {
        let mut marked = std::mem::take(&mut self.marked);
        marked.extend(self.witness.frozen());
        for run in marked {
            let door = (run.0 % self.orchestrators.len() as u128) as usize;
            let act = RunAct { run, by: name("op"), why: None };
            self.send(door, vec![(Ask::Person, Command::Unfreeze(act))]);
        }
    }

    /// What an operator does at last with a run that is held at a failure.
    pub(super) fn let_go(&mut self, run: RunId) -> Command {
        let act = RunAct { run, by: name("op"), why: Some("held".into()) };
        if !self.has_operator() {
            return Command::Cancel(act);
        }
        match self.dice.below(4) {
            0 => Command::Cancel(act),
            1 if self.reopens() => Command::Reset(self.on_task(run, has_failed)),
            _ => Command::GiveUp(act),
        }
    }
}

fn is_open(state: TaskState) -> bool {
    !state.is_done()
}

fn has_failed(state: TaskState) -> bool {
    state == TaskState::Error
}
