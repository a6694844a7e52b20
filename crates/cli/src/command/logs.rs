//! `edgewise logs`: what commands wrote, of one task or of a whole run in the order of time.

mod follow;
mod merge;

use super::Context;
use crate::args::Logs;
use crate::clock::rfc3339;
use crate::exit::Exit;
use crate::output::{Format, Printer, Row};
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::text;
use crate::view::{View, find_task};
use edgewise_core::Kind;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::plan::Work;
use edgewise_core::run::Run;
use edgewise_engine::runner::logs::{self, Line, Stream, log_path};
use merge::{Attempt, Merge};
use serde::Serialize;
use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::path::Path;

/// A line as programs see it.
#[derive(Serialize)]
struct Said<'a> {
    time: Option<String>,
    task: &'a str,
    generation: u16,
    attempt: u16,
    stream: &'static str,
    text: &'a str,
}

pub(super) fn perform(args: &Logs, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let run = view.run(&args.run)?;
    // Rounds of loops that are over have logs too, and each line needs its path.
    let run = view.whole(run)?;
    if args.follow {
        return follow::perform(args, run, view, context);
    }
    let dir = view.logs(run.id)?;
    let found = match &args.task {
        Some(path) => match round(&run, path) {
            Some(tasks) => merge::attempts(&dir, run.id, |task| tasks.contains(&task))?,
            None => of_task(&run, find_task(&run, path)?, args.attempt, &dir)?,
        },
        None => merge::attempts(&dir, run.id, |task| run.task(task).is_some())?,
    };
    // With one attempt there is nothing to tell apart.
    let prefix = if found.len() == 1 && args.task.is_some() { None } else { Some(widest(&run, &found)) };
    let any = if args.raw {
        copy(&run, &found, &dir, context.printer)?
    } else {
        print(&run, Merge::new(&dir, run.id, found), prefix, context.printer)?
    };
    if !any {
        context.printer.say(&nothing(&run, args.task.as_deref()));
    }
    if args.task.is_none() {
        children(&run).iter().for_each(|line| context.printer.say(line));
    }
    Ok(Exit::Ok)
}

/// One attempt after the other, and nothing between them; whether there was anything.
fn copy(run: &Run, found: &[Attempt], dir: &Path, printer: &mut Printer) -> Result<bool> {
    let mut any = false;
    for Attempt { task, generation, attempt } in found {
        let path = log_path(dir, run.id, *task, *generation, *attempt);
        let mut bytes = Vec::new();
        logs::copy(&path, &mut bytes).map_err(|error| Problem::file("read", &path, &error))?;
        printer.bytes(&bytes)?;
        any |= !bytes.is_empty();
    }
    Ok(any)
}

/// The attempt that was asked for, or the last one; of a spread, those of all its items.
fn of_task(run: &Run, task: TaskIx, attempt: Option<NonZeroU16>, dir: &Path) -> Result<Vec<Attempt>> {
    if run.composites.contains_key(&task) {
        let below = |t: TaskIx| is_below(run, t, task);
        let mut all = merge::attempts(dir, run.id, |t| run.task(t).is_some() && below(t))?;
        if let Some(attempt) = attempt {
            all.retain(|found| found.attempt == attempt.get());
        }
        return Ok(all);
    }
    let generation = run.tasks[task.0 as usize].generation;
    let all = merge::attempts(dir, run.id, |t| t == task)?;
    let Some(wanted) = attempt else {
        return Ok(all.into_iter().max_by_key(|found| (found.generation, found.attempt)).into_iter().collect());
    };
    let path = log_path(dir, run.id, task, generation, wanted.get());
    if path.is_file() {
        return Ok(vec![Attempt { task, generation, attempt: wanted.get() }]);
    }
    let there: BTreeSet<u16> = all.iter().filter(|a| a.generation == generation).map(|a| a.attempt).collect();
    let there: Vec<String> = there.iter().map(ToString::to_string).collect();
    let what = format!("`{}` has no log of attempt {wanted}", run.path(task));
    let next = if there.is_empty() {
        "it has none at all".to_owned()
    } else {
        format!("there is one of attempt {}", there.join(", "))
    };
    Err(Problem::new(Kind::NotFound, "no_such_attempt", what).next(next))
}

/// The tasks of one round, handler or call, such as `for#3`, which is no task itself.
fn round(run: &Run, path: &str) -> Option<BTreeSet<TaskIx>> {
    if !run.is_program() || !path.ends_with(|c: char| c.is_ascii_digit() || c == ')' || c == ']') {
        return None;
    }
    let inside = format!("{path}.");
    let tasks: BTreeSet<TaskIx> = run.present().filter(|task| run.path(*task).starts_with(&inside)).collect();
    (!tasks.is_empty() && run.find(path).is_none()).then_some(tasks)
}

fn is_below(run: &Run, mut task: TaskIx, spread: TaskIx) -> bool {
    while run.tasks[task.0 as usize].scope != 0 {
        task = run.scope_of(task).parent;
        if task == spread {
            return true;
        }
    }
    false
}

fn nothing(run: &Run, task: Option<&str>) -> String {
    let Some(path) = task else { return "no task of this run has written anything here".into() };
    let Some((ix, task)) = find_task(run, path).ok().and_then(|ix| Some((ix, run.task(ix)?))) else {
        return format!("`{path}` has not written anything yet");
    };
    match &run.spec_of(ix).work {
        Work::Gate(_) => format!("`{path}` is a gate: it writes nothing; see `edgewise why`"),
        Work::SubRun(_) => run.last_child(ix).map_or_else(
            || format!("`{path}` is a run of its own, which has not begun"),
            |child| format!("`{path}` is a run of its own: `edgewise logs {}`", child.short()),
        ),
        Work::Action { .. } => format!("`{path}` is an action: what its worker writes stays with the worker"),
        Work::Command(_) if task.state.is_done() && task.attempt == 0 => {
            format!("`{path}` never ran; `edgewise why {} {}` says why", run.id.short(), text::quoted(path))
        }
        _ if task.state.is_done() => format!("`{path}` wrote nothing"),
        _ => format!("`{path}` has not written anything yet"),
    }
}

/// More children are only counted.
const CHILDREN: usize = 5;

/// Where the logs of tasks are that are runs of their own.
fn children(run: &Run) -> Vec<String> {
    let found: Vec<_> = run.present().filter_map(|task| Some((task, run.last_child(task)?))).collect();
    let told = |(task, child): &(TaskIx, RunId)| {
        format!("`{}` is a run of its own: `edgewise logs {}`", text::escape(&run.path(*task)), child.short())
    };
    let mut lines: Vec<String> = found.iter().take(CHILDREN).map(told).collect();
    if found.len() > CHILDREN {
        lines.push(format!("and {} more: `edgewise show {}`", found.len() - CHILDREN, run.id.short()));
    }
    lines
}

fn label(run: &Run, attempt: &Attempt) -> String {
    let path = run.path(attempt.task);
    if attempt.attempt > 1 { format!("{path} ({})", attempt.attempt) } else { path }
}

/// Paths are padded to the longest, but not beyond this.
const LABEL: usize = 24;

fn widest(run: &Run, found: &[Attempt]) -> usize {
    found.iter().map(|attempt| text::width(&label(run, attempt))).max().unwrap_or(0).min(LABEL)
}

/// Whether there was anything to print.
fn print(run: &Run, mut merge: Merge, prefix: Option<usize>, printer: &mut Printer) -> Result<bool> {
    let mut any = false;
    if printer.for_people() || printer.quiet {
        while let Some((attempt, line)) = merge.next()? {
            let shown = shown(run, &attempt, &line, prefix.filter(|_| !printer.quiet), printer);
            printer.raw(&shown)?;
            any = true;
        }
        return Ok(any);
    }
    debug_assert!(matches!(printer.format, Format::Json | Format::Jsonl));
    let mut listing = printer.listing(&[]);
    while let Some((attempt, line)) = merge.next()? {
        let said = Said {
            time: rfc3339(line.at),
            task: &run.path(attempt.task),
            generation: attempt.generation,
            attempt: attempt.attempt,
            stream: word(line.stream),
            text: &line.text,
        };
        listing.push(Row::new("", Vec::new(), &said)?)?;
        any = true;
    }
    listing.end()?;
    Ok(any)
}

/// Whatever a command wrote is shown, never obeyed; stderr and our own notes are dim.
fn shown(run: &Run, attempt: &Attempt, line: &Line, prefix: Option<usize>, printer: &Printer) -> String {
    let style = printer.out_style;
    let text = text::escape_log(&line.text);
    let text = if line.stream == Stream::Out { text.into_owned() } else { style.paint(Ink::Dim, &text) };
    let Some(columns) = prefix else { return text };
    let label = text::pad(&text::cut(&label(run, attempt), columns, style.cut_mark()), columns);
    let bar = if style.unicode { "│" } else { "|" };
    format!("{} {} {text}", style.paint(Ink::Live, &label), style.paint(Ink::Dim, bar))
}

fn word(stream: Stream) -> &'static str {
    match stream {
        Stream::Out => "stdout",
        Stream::Err => "stderr",
        Stream::Note => "note",
    }
}
