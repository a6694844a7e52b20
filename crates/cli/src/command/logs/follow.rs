//! Following logs: what is there is printed, then what comes, of attempts and tasks that begin meanwhile too, until the
//! run or the task is over. Whoever runs the commands writes the files; here they are only read.

use super::merge::{self, Attempt};
use super::{LABEL, Said, is_below, label, shown, word};
use crate::args::Logs;
use crate::clock::rfc3339;
use crate::command::{Context, lock};
use crate::exit::Exit;
use crate::looking::{LOOK, Looked, until_over};
use crate::output::Format;
use crate::problem::{Problem, Result};
use crate::text;
use crate::view::{View, find_task};
use edgewise_core::event::TaskIx;
use edgewise_core::fold::{Changes, Stamp, fold};
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_engine::runner::logs::{self, Line, log_path};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

pub(super) fn perform(args: &Logs, run: Run, mut view: View, context: &mut Context<'_>) -> Result<Exit> {
    // One JSON array has no end while more is waited for, and whoever reads along wants each line at once.
    if context.printer.format == Format::Json {
        context.printer.format = Format::Jsonl;
    }
    if !run.state.is_done() && !lock::is_at_work(context.config) {
        lock::say_if_nobody_works(&run, false, context);
    }
    let attempt = args.attempt.map(std::num::NonZero::get);
    let mut tail =
        Tail { dir: view.logs(run.id)?, run, only: None, attempt, read: BTreeMap::new(), columns: 0, last: None };
    let looked = until_over(LOOK, || {
        // What was over before its logs were read has written everything by then.
        tail.catch_up(&mut view)?;
        tail.dir = view.logs(tail.run.id)?;
        if let (Some(path), None) = (&args.task, tail.only) {
            // Before the plan is there, no task is.
            if !tail.run.planned {
                return Ok(tail.run.state.is_done());
            }
            tail.only = Some(find_task(&tail.run, path)?);
        }
        let over = tail.is_over();
        tail.print(context)?;
        context.printer.flush()?;
        Ok(over)
    })?;
    Ok(if looked == Looked::Stopped { Exit::Interrupted } else { Exit::Ok })
}

/// How far each log was read.
struct Tail {
    dir: PathBuf,
    run: Run,
    only: Option<TaskIx>,
    attempt: Option<u16>,
    read: BTreeMap<Attempt, u64>,
    columns: usize,
    /// Whose line was printed last.
    last: Option<Attempt>,
}

impl Tail {
    /// Folds what is new. Rounds of loops that are over stay: their lines need a path.
    fn catch_up(&mut self, view: &mut View) -> Result<()> {
        let mut changes = Changes::default();
        for record in view.reader.records(self.run.id, self.run.seq)? {
            for (n, event) in record.events.iter().enumerate() {
                changes.clear();
                let stamp = Stamp { id: record.envelope.id.plus(n as u64), at: record.envelope.at };
                fold(&mut self.run, stamp, event, &mut changes);
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let Some(task) = self.only else { return self.run.state.is_done() };
        let entry = self.run.tasks[task.0 as usize];
        let past = self.attempt.is_some_and(|wanted| entry.attempt > wanted);
        self.run.state.is_done() || entry.state.is_done() || past
    }

    /// Whether a task's lines are wanted. A log may be there before the event that made its task has been read.
    fn wants(&self, found: &Attempt) -> bool {
        let known = self.run.task(found.task).is_some();
        let is_meant = |only: TaskIx| found.task == only || is_below(&self.run, found.task, only);
        known && self.only.is_none_or(is_meant) && self.attempt.is_none_or(|wanted| found.attempt == wanted)
    }

    /// Prints the new lines of all logs, in the order of time.
    fn print(&mut self, context: &mut Context<'_>) -> Result<()> {
        let mut lines: Vec<(Time, Attempt, Line)> = Vec::new();
        for found in merge::attempts(&self.dir, self.run.id, |_| true)? {
            if self.wants(&found) {
                self.read_on(found, &mut lines)?;
            }
        }
        // Within one log the order stands.
        lines.sort_by_key(|(at, ..)| *at);
        lines.iter().try_for_each(|(_, attempt, line)| self.tell(attempt, line, context))
    }

    fn read_on(&mut self, found: Attempt, lines: &mut Vec<(Time, Attempt, Line)>) -> Result<()> {
        let path = log_path(&self.dir, self.run.id, found.task, found.generation, found.attempt);
        let from = self.read.entry(found).or_default();
        loop {
            match logs::read(&path, *from) {
                Ok(page) if page.next == *from => return Ok(()),
                Ok(page) => {
                    *from = page.next;
                    lines.extend(page.lines.into_iter().map(|line| (line.at, found, line)));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(Problem::file("read", &path, &error)),
            }
        }
    }

    fn tell(&mut self, attempt: &Attempt, line: &Line, context: &mut Context<'_>) -> Result<()> {
        let printer = &mut context.printer;
        if printer.format == Format::Jsonl && !printer.quiet {
            let path = self.run.path(attempt.task);
            let said = Said {
                time: rfc3339(line.at),
                task: &path,
                generation: attempt.generation,
                attempt: attempt.attempt,
                stream: word(line.stream),
                text: &line.text,
            };
            return printer.one("", &[], &said);
        }
        let alone = self.only == Some(attempt.task);
        let is_next = self.last.is_some_and(|last| last != *attempt);
        if alone && is_next {
            printer.say(&format!("attempt {}", attempt.attempt));
        }
        self.last = Some(*attempt);
        self.columns = self.columns.max(text::width(&label(&self.run, attempt)).min(LABEL));
        let prefix = Some(self.columns).filter(|_| !alone && !printer.quiet);
        let line = shown(&self.run, attempt, line, prefix, printer);
        printer.raw(&line)
    }
}
