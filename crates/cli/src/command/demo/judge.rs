//! Whether anything was lost or done twice: what the run says is held against what its tasks said, and against what
//! was seen of it before each kill.

use super::tale::Tale;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::Result;
use crate::style::{Ink, Style};
use crate::text;
use edgewise_core::event::TaskIx;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// What was seen of the run over all lives of its engine.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    /// How often an engine was killed.
    pub killed: u32,
    /// The facts there were at the last look.
    seq: u64,
    done: BTreeSet<TaskIx>,
    lost: BTreeSet<String>,
    /// How many tasks there are so far.
    tasks: usize,
}

/// How it ended.
#[derive(Debug, Serialize)]
pub(super) struct Verdict {
    run: String,
    state: RunState,
    seconds: f64,
    killed: u32,
    tasks: usize,
    facts: u64,
    attempts: u64,
    lost: Vec<String>,
    twice: Vec<String>,
    clean: bool,
}

impl Watcher {
    /// What was done must stay done, and facts must not become fewer, whoever died in between.
    pub(super) fn look(&mut self, run: &Run) {
        let done = |task: &TaskIx| run.task(*task).is_some_and(|task| task.state == TaskState::Complete);
        let undone: Vec<TaskIx> = self.done.iter().copied().filter(|task| !done(task)).collect();
        self.lost.extend(undone.iter().map(|task| run.path(*task)));
        if run.seq < self.seq {
            self.lost.insert(format!("{} facts of the run", self.seq - run.seq));
        }
        self.seq = run.seq;
        self.tasks = run.present().count();
        self.done = run.present().filter(done).collect();
    }

    /// How many tasks are done, of how many.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.done.len(), self.tasks)
    }

    /// The end of it.
    pub(super) fn judge(mut self, run: &Run, tale: &Tale, clean: bool, taken: Duration) -> Verdict {
        self.look(run);
        let commands = run.present().filter(|task| run.has_attempts(*task));
        for task in commands {
            let (path, state) = (run.path(task), run.tasks[task.0 as usize].state);
            // Done without anybody having done it, or left behind by a run that has ended.
            if (state == TaskState::Complete && !tale.has_ended(&path)) || !state.is_done() {
                self.lost.insert(path);
            }
        }
        Verdict {
            run: run.id.to_string(),
            state: run.state,
            seconds: (taken.as_secs_f64() * 10.0).round() / 10.0,
            killed: self.killed,
            tasks: self.tasks,
            facts: run.seq,
            attempts: tale.begun(),
            lost: self.lost.into_iter().collect(),
            twice: tale.twice(),
            clean,
        }
    }
}

impl Verdict {
    /// Nothing lost, nothing done twice, nothing damaged, and the run has ended well.
    pub(super) fn good(&self) -> bool {
        self.lost.is_empty() && self.twice.is_empty() && self.clean && self.state == RunState::Complete
    }

    pub(super) fn tell(&self, context: &mut Context<'_>) -> Result<Exit> {
        let lines = self.lines(context.printer.out_style);
        context.printer.one(&self.run, &lines, self)?;
        Ok(if self.good() { Exit::Ok } else { Exit::Failed })
    }

    fn lines(&self, style: Style) -> Vec<String> {
        let (good, bad) = if style.unicode { ("✓", "✗") } else { ("+", "x") };
        let sign = |ok: bool| if ok { style.paint(Ink::Good, good) } else { style.paint(Ink::Bad, bad) };
        let ended = self.state == RunState::Complete;
        let count = |names: &[String]| match names.first() {
            None => "none".to_owned(),
            Some(first) => {
                format!("{}: {}{}", names.len(), text::escape(first), if names.len() > 1 { ", and more" } else { "" })
            }
        };
        let killed = match self.killed {
            0 => "never".to_owned(),
            1 => "once".to_owned(),
            n => format!("{n} times"),
        };
        [
            (ended, "run", format!("{} after {}s", self.state.phase().word(), self.seconds)),
            (true, "engine killed", killed),
            (true, "recorded", format!("{} tasks, {} attempts, {} facts", self.tasks, self.attempts, self.facts)),
            (self.lost.is_empty(), "lost", count(&self.lost)),
            (self.twice.is_empty(), "done twice", count(&self.twice)),
            (self.clean, "doctor --verify", if self.clean { "clean" } else { "found damage" }.to_owned()),
        ]
        .map(|(ok, what, value)| format!(" {} {what:<16}  {value}", sign(ok)))
        .to_vec()
    }
}

#[cfg(test)]
mod tests;
