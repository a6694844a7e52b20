//! `edgewise gate list`: what waits for people or for the world, over all items and all runs that are not over.

use super::Context;
use super::work::{self, Asks, Board, Found, found};
use crate::args::{GateList, RunRef};
use crate::clock::Clock;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_core::why::Escalates;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::gate::{ClosedGate, begun};

const HEADER: [&str; 6] = ["of", "gate", "since", "until", "has", "for"];
/// Commands that are shown below the table, at most.
const SHOWN: usize = 5;

pub(super) fn perform(args: &GateList, context: &mut Context<'_>) -> Result<Exit> {
    let only = args.of.as_ref().map(|of| found(of, None, Asks::Whole, context)).transpose()?;
    let (mut rows, mut commands) = (Vec::new(), Vec::new());
    if !matches!(only, Some(Found::Item(..))) {
        let run = only.as_ref().and_then(|only| if let Found::Run(run, _) = only { Some(run) } else { None });
        of_runs(run, &mut rows, &mut commands, context)?;
    }
    let listed = match &only {
        Some(Found::Run(..)) => Vec::new(),
        Some(Found::Item(board, id)) => work::gate_list(Some(id), args.all, board)?,
        None => work::gate_list(None, args.all, &Board::open(context)?)?,
    };
    for (row, command) in listed {
        rows.push(row);
        commands.extend(command);
    }
    if rows.is_empty() && context.printer.for_people() {
        context.printer.say("no gate waits");
        return Ok(Exit::Ok);
    }
    context.printer.rows(&HEADER, &rows)?;
    // Below the table, because a command that was cut could not be copied.
    if context.printer.for_people() {
        commands.iter().take(SHOWN).for_each(|command| context.printer.say(&format!("next: {command}")));
    }
    Ok(Exit::Ok)
}

/// The closed gates of a run, or of all that are not over.
fn of_runs(
    only: Option<&RunRef>,
    rows: &mut Vec<Row>,
    commands: &mut Vec<String>,
    context: &mut Context<'_>,
) -> Result<()> {
    let mut view = View::open(context.config)?;
    let runs = match only {
        Some(run) => vec![view.find(run)?],
        None => begun(&mut view.reader)?,
    };
    let clock = Clock::local(wall_clock());
    for id in runs {
        let run = match view.reader.run(id) {
            Ok(run) => run,
            // One damaged run does not hide what waits in the others.
            Err(error) if error.kind == Kind::Corrupt && only.is_none() => {
                context.printer.say(&format!("run {id} cannot be read: {}", error.message));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for closed in ClosedGate::of_run(&run) {
            let (row, command) = row(&run, closed, &clock)?;
            rows.push(row);
            commands.extend(command);
        }
    }
    Ok(())
}

/// The gate, and the first command that brings it nearer to being open.
fn row(run: &Run, closed: ClosedGate, clock: &Clock) -> Result<(Row, Option<String>)> {
    let since = run.find(&closed.task).map_or(Time::NEVER, |task| run.tasks[task.0 as usize].started_at);
    let later = |step: &Escalates| match step.told.known() {
        Some(told) => format!("; since {} {}", clock.short(told), list(&step.to)),
        None => format!("; from {} on {}", clock.short(step.at), list(&step.to)),
    };
    let whom = match closed.count {
        Some(count) => whom(count, &closed.from) + &closed.escalates.iter().map(later).collect::<String>(),
        None if closed.opens_at.is_some() => "the clock".to_owned(),
        None if closed.webhook => "a call of its address".to_owned(),
        None => closed.external.as_ref().map(|at| format!("{} about {}", at.system, at.id)).unwrap_or_default(),
    };
    let cells = vec![
        Cell::new(run.id.short(), Ink::Bold),
        Cell::new(&closed.task, Ink::Wait),
        Cell::from(clock.short(since)),
        Cell::from(clock.short(closed.until)),
        Cell::from(list(&closed.approved)),
        Cell::from(whom),
    ];
    let row = Row::new(format!("{} {}", closed.run, closed.task), cells, &closed)?;
    Ok((row, closed.approve.into_iter().next()))
}

fn whom(count: u32, from: &[Name]) -> String {
    match (count, from) {
        (1, []) => "anybody".into(),
        (n, []) => format!("{n} people"),
        (n, from) if from.len() as u32 == n => list(from),
        (n, from) => format!("{n} of {}", list(from)),
    }
}

fn list(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}
