//! `edgewise why`: a run or a task, why it is where it is, and who or what would move it.

mod tree;

use super::{Context, lock};
use crate::args::Why as Args;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::problem::Result;
use crate::view::View;
use edgewise_core::why::Why;
use edgewise_engine::engine::wall_clock;
use serde::Serialize;

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
    let lines = if task.is_some() { tree.of_task() } else { tree.of_run(&run) };
    let told = Told { task: args.task.as_deref(), frozen, engine, why: &why };
    context.printer.one(run.id.to_string(), &lines, &told)?;
    lock::say_if_nobody_works(&run, engine || told.frozen.is_some(), context);
    Ok(Exit::Ok)
}
