//! `edgewise show`: an item, or a run and its tasks, in the order of the plan.

mod attempts;
mod lines;
mod task;

use super::work::{self, Asks, Found, found, refuse_past};
use super::{Context, lock};
use crate::args::Show;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::problem::Result;
use crate::style::Ink;
use crate::view::{AsOf, Then, View, find_task};
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::{RunFacts, in_order};
use serde::Serialize;
use std::collections::BTreeMap;

/// A run as it was, for programs.
#[derive(Serialize)]
struct Past<'a> {
    as_of: &'a AsOf,
    #[serde(flatten)]
    facts: RunFacts<'a>,
}

pub(super) fn perform(args: &Show, context: &mut Context<'_>) -> Result<Exit> {
    let (run, task) = match found(&args.what, args.task.as_ref(), Asks::Bonds, context)? {
        Found::Item(board, id) => {
            refuse_past(args.at)?;
            return work::show(&board, &id, context);
        }
        Found::Run(run, task) => (run, task),
    };
    let mut view = View::open(context.config)?;
    let run = view.run(&run)?;
    let then = args.at.map(|at| view.as_of(&run, at, wall_clock())).transpose()?;
    if let Some(path) = &task {
        return match then {
            Some(then) => task::show(&then.run, find_task(&then.run, path)?, &then.entries, Some(&then.as_of), context),
            None => {
                let (run, task) = view.with_task(run, path)?;
                task::show(&run, task, &view.ledger(run.id)?, None, context)
            }
        };
    }
    if let Some(then) = then {
        return as_it_was(&then, args.all, context);
    }
    let frozen = view.reader.frozen(run.id)?;
    let engine = lock::is_at_work(context.config);
    if !context.printer.for_people() {
        context.printer.one(run.id.to_string(), &[], &RunFacts::new(&run, frozen, engine))?;
        return Ok(Exit::Ok);
    }
    let children = children(&run, args.all, &mut view)?;
    lines::Look { children, ..look(&run, wall_clock(), args.all, context) }
        .lines(&run, frozen.as_deref())
        .iter()
        .try_for_each(|line| context.printer.raw(line))?;
    lock::say_if_nobody_works(&run, engine || frozen.is_some(), context);
    Ok(Exit::Ok)
}

/// Who was at work then, and whether damage had been found, is not in its ledger.
fn as_it_was(then: &Then, all: bool, context: &mut Context<'_>) -> Result<Exit> {
    let run = &then.run;
    if !context.printer.for_people() {
        let past = Past { as_of: &then.as_of, facts: RunFacts::new(run, None, false) };
        context.printer.one(run.id.to_string(), &[], &past)?;
        return Ok(Exit::Ok);
    }
    let said = then.as_of.sentence(&Clock::local(wall_clock()));
    context.printer.raw(&context.printer.out_style.paint(Ink::Dim, &said))?;
    let lines = look(run, then.as_of.time, all, context).lines(run, None);
    lines.iter().try_for_each(|line| context.printer.raw(line))?;
    Ok(Exit::Ok)
}

/// How a person looks at a run, as of an instant.
fn look(run: &Run, now: Time, all: bool, context: &Context<'_>) -> lines::Look {
    let (style, columns) = (context.printer.out_style, context.printer.columns);
    // Most tasks are done on the day the run was asked for, and the head of it says which day that was.
    let day = run.about.as_ref().map_or(now, |about| about.at);
    let (clock, tasks) = (Clock::local(wall_clock()), Clock::local(day));
    lines::Look { clock, tasks, now, style, columns, all, children: BTreeMap::new() }
}

/// The children of those tasks that are shown, and where they are.
fn children(run: &Run, all: bool, view: &mut View) -> Result<BTreeMap<TaskIx, (RunId, Option<RunState>)>> {
    let mut found = BTreeMap::new();
    let shown = in_order(run, all).into_iter();
    for (task, child) in shown.filter_map(|(task, _)| Some((task, run.last_child(task)?))) {
        found.insert(task, (child, view.reader.row(child)?.map(|row| row.state)));
    }
    Ok(found)
}
