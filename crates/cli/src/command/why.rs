//! `edgewise why`: an item, a run or a task, why it is where it is, and who or what would move it.

mod tree;

use super::work::{self, Asks, Found, found, refuse_past};
use super::{Context, lock};
use crate::args::{At, RunRef, Why as Args};
use crate::clock::Clock;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::view::{AsOf, View, find_task};
use edgewise_core::Kind;
use edgewise_core::history::Entry;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::why::{Because, Cause, Why};
use edgewise_engine::engine::wall_clock;
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;

/// The reasons with what stands outside of the run.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<AsOf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frozen: Option<String>,
    /// Whether somebody is there to move it.
    engine: bool,
    #[serde(flatten)]
    why: &'a Why,
    /// The runs that it comes down to, and why these are where they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inner: Vec<&'a Why>,
}

/// Most runs within a run that are explained.
const RUNS: usize = 10;

/// The runs that tasks wait for or failed because of, and those that these wait for, down to whoever can move them.
fn inner(run: &Run, why: &Why, view: &mut View) -> Result<Vec<(Run, Why)>> {
    let children = |run: &Run, why: &Why| {
        let told = |cause: &&Cause| matches!(cause.because, Because::Child { .. } | Because::Failed { .. });
        let causes = why.causes.iter().filter(told);
        causes.filter_map(|cause| run.last_child(cause.task)).collect::<Vec<RunId>>()
    };
    let mut next: VecDeque<RunId> = children(run, why).into();
    let mut found = Vec::new();
    while let Some(child) = next.pop_front().filter(|_| found.len() < RUNS) {
        if view.reader.row(child)?.is_none() {
            continue;
        }
        let run = view.reader.run(child)?;
        let why = Why::of_run(&run);
        next.extend(children(&run, &why));
        found.push((run, why));
    }
    Ok(found)
}

/// A run or one of its tasks, and all that is known of why it is where it is.
struct Explained {
    run: Run,
    asked: Option<String>,
    why: Why,
    frozen: Option<String>,
    engine: bool,
    as_of: Option<AsOf>,
    inner: Vec<(Run, Why)>,
}

impl Explained {
    fn told(&self) -> Told<'_> {
        Told {
            task: self.asked.as_deref(),
            as_of: self.as_of.clone(),
            frozen: self.frozen.clone(),
            engine: self.engine,
            why: &self.why,
            inner: self.inner.iter().map(|(_, why)| why).collect(),
        }
    }
}

fn explain(run: &RunRef, asked: Option<String>, at: Option<At>, context: &Context<'_>) -> Result<Explained> {
    let mut view = View::open(context.config)?;
    let run = view.run(run)?;
    let then = at.map(|at| view.as_of(&run, at, wall_clock())).transpose()?;
    let past = then.is_some();
    // Neither damage nor who was at work is in the ledger, so nothing of it is said of the past.
    let frozen = if past { None } else { view.reader.frozen(run.id)? };
    let engine = !past && lock::is_at_work(context.config);
    let (run, entries, as_of) = match then {
        Some(then) => (then.run, Some(then.entries), Some(then.as_of)),
        None => (run, None, None),
    };
    let (run, task) = match &asked {
        Some(path) if past => find_task(&run, path).map(|task| (run, Some(task)))?,
        Some(path) => view.with_task(run, path).map(|(run, task)| (run, Some(task)))?,
        None => (run, None),
    };
    let mut why = match task {
        Some(task) => Why::of_task(&run, task),
        None => Why::of_run(&run),
    };
    learn(&mut why, &run, entries, &mut view)?;
    let inner = inner(&run, &why, &mut view)?;
    let frozen = frozen.or_else(|| run.freeze_mark());
    Ok(Explained { run, asked, why, frozen, engine, as_of, inner })
}

/// The same for programs.
pub(super) fn told(run: &RunRef, task: Option<String>, context: &Context<'_>) -> Result<Value> {
    let explained = explain(run, task, None, context)?;
    serde_json::to_value(explained.told())
        .map_err(|error| Problem::new(Kind::Bug, "unprintable", "a value has no JSON form").why(error.to_string()))
}

pub(super) fn perform(args: &Args, context: &mut Context<'_>) -> Result<Exit> {
    let (run, asked) = match found(&args.what, args.task.as_ref(), Asks::Reasons, context)? {
        Found::Item(board, id) => {
            refuse_past(args.at)?;
            return work::why(&board, &id, context);
        }
        Found::Run(run, task) => (run, task),
    };
    let explained = explain(&run, asked, args.at, context)?;
    let (run, clock) = (&explained.run, Clock::local(wall_clock()));
    let lines = lines(&explained, &clock, context);
    context.printer.one(run.id.to_string(), &lines, &explained.told())?;
    let somebody = explained.as_of.is_some() || explained.engine || explained.frozen.is_some();
    lock::say_if_nobody_works(run, somebody, context);
    Ok(Exit::Ok)
}

fn lines(explained: &Explained, clock: &Clock, context: &Context<'_>) -> Vec<String> {
    let Explained { run, why, as_of, .. } = explained;
    let written = |at| clock.second(at);
    let (style, columns) = (context.printer.out_style, context.printer.columns);
    let mut tree = tree::Tree::new(why, &written, style, columns);
    // Who froze it stands in the line of the run itself, if there is one.
    if let Some(reason) = explained.frozen.as_ref().filter(|_| run.frozen.is_none() || explained.asked.is_some()) {
        tree.frozen(run, reason);
    }
    let mut lines: Vec<String> = as_of.iter().map(|as_of| style.paint(Ink::Dim, &as_of.sentence(clock))).collect();
    lines.extend(if explained.asked.is_some() { tree.of_task() } else { tree.of_run(run) });
    for (run, why) in &explained.inner {
        lines.extend(tree::Tree::new(why, &written, style, columns).of_run(run));
    }
    lines
}

/// Asks the ledger who it was, where it knows more than the run.
fn learn(why: &mut Why, run: &Run, entries: Option<Vec<Entry>>, view: &mut View) -> Result<()> {
    if !why.could_learn() {
        return Ok(());
    }
    if let Some(entries) = entries {
        entries.iter().for_each(|entry| why.learn(entry));
        return Ok(());
    }
    view.entries(run.id, |entry| {
        why.learn(&entry);
        Ok(())
    })
}
