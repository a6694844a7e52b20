//! `edgewise why`: an item, a run or a task, why it is where it is, and who or what would move it.

mod tree;

use super::work::{self, Found, found, refuse_past};
use super::{Context, lock};
use crate::args::Why as Args;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::problem::Result;
use crate::style::Ink;
use crate::view::{AsOf, View, find_task};
use edgewise_core::history::Entry;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::why::{Because, Cause, Why};
use edgewise_engine::engine::wall_clock;
use serde::Serialize;
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

pub(super) fn perform(args: &Args, context: &mut Context<'_>) -> Result<Exit> {
    let (run, asked) = match found(&args.what, args.task.as_ref(), context)? {
        Found::Item(board, id) => {
            refuse_past(args.at)?;
            return work::why(&board, &id, context);
        }
        Found::Run(run, task) => (run, task),
    };
    let mut view = View::open(context.config)?;
    let run = view.run(&run)?;
    let then = args.at.map(|at| view.as_of(&run, at, wall_clock())).transpose()?;
    let past = then.is_some();
    // Neither a freeze nor who was at work is in the ledger, so nothing of it is said of the past.
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
    let clock = Clock::local(wall_clock());
    let written = |at| clock.second(at);
    let style = context.printer.out_style;
    let mut tree = tree::Tree::new(&why, &written, style, context.printer.columns);
    if let Some(reason) = &frozen {
        tree.frozen(&run, reason);
    }
    let mut lines: Vec<String> = as_of.iter().map(|as_of| style.paint(Ink::Dim, &as_of.sentence(&clock))).collect();
    lines.extend(if task.is_some() { tree.of_task() } else { tree.of_run(&run) });
    let inner = inner(&run, &why, &mut view)?;
    for (run, why) in &inner {
        let tree = tree::Tree::new(why, &written, context.printer.out_style, context.printer.columns);
        lines.extend(tree.of_run(run));
    }
    let inner = inner.iter().map(|(_, why)| why).collect();
    let told = Told { task: asked.as_deref(), as_of, frozen, engine, why: &why, inner };
    context.printer.one(run.id.to_string(), &lines, &told)?;
    lock::say_if_nobody_works(&run, past || engine || told.frozen.is_some(), context);
    Ok(Exit::Ok)
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
