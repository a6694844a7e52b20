//! `edgewise why`: a run or a task, why it is where it is, and who or what would move it.

mod tree;

use super::{Context, lock};
use crate::args::Why as Args;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::problem::Result;
use crate::view::View;
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
    let mut view = View::open(context.config)?;
    let run = view.run(&args.run)?;
    let frozen = view.reader.frozen(run.id)?;
    let engine = lock::is_held(&view.dir);
    let (run, task) = match &args.task {
        Some(path) => view.with_task(run, path).map(|(run, task)| (run, Some(task)))?,
        None => (run, None),
    };
    let why = match task {
        Some(task) => Why::of_task(&run, task),
        None => Why::of_run(&run),
    };
    let clock = Clock::local(wall_clock());
    let written = |at| clock.second(at);
    let mut tree = tree::Tree::new(&why, &written, context.printer.out_style, context.printer.columns);
    if let Some(reason) = &frozen {
        tree.frozen(&run, reason);
    }
    let mut lines = if task.is_some() { tree.of_task() } else { tree.of_run(&run) };
    let inner = inner(&run, &why, &mut view)?;
    for (run, why) in &inner {
        let tree = tree::Tree::new(why, &written, context.printer.out_style, context.printer.columns);
        lines.extend(tree.of_run(run));
    }
    let inner = inner.iter().map(|(_, why)| why).collect();
    let told = Told { task: args.task.as_deref(), frozen, engine, why: &why, inner };
    context.printer.one(run.id.to_string(), &lines, &told)?;
    lock::say_if_nobody_works(&run, engine || told.frozen.is_some(), context);
    Ok(Exit::Ok)
}
