//! `edgewise gate list`: what waits for people or for the world, over all items and all runs that are not over.

use super::Context;
use super::work::{self, Board, Found, found};
use crate::args::{GateList, RunRef};
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::event::TaskIx;
use edgewise_core::gate::OnDeadline;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::plan::Work;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_core::why::{Because, Cause, Escalates, Mover};
use edgewise_engine::engine::wall_clock;
use edgewise_store::RunFilter;
use serde::Serialize;

const HEADER: [&str; 6] = ["of", "gate", "since", "until", "has", "for"];
/// Commands that are shown below the table, at most.
const SHOWN: usize = 5;

/// A gate that is closed.
#[derive(Serialize)]
struct Closed {
    run: RunId,
    flow: Option<Name>,
    task: String,
    generation: u16,
    since: Option<String>,
    /// How many must say yes; absent if it only waits for an instant.
    count: Option<u32>,
    from: Vec<Name>,
    approved: Vec<Name>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    escalates: Vec<Escalates>,
    opens_at: Option<String>,
    deadline: Option<String>,
    on_deadline: Option<OnDeadline>,
    approve: Vec<String>,
}

pub(super) fn perform(args: &GateList, context: &mut Context<'_>) -> Result<Exit> {
    let only = args.of.as_ref().map(|of| found(of, None, context)).transpose()?;
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
        None => unfinished(&mut view)?,
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
        for task in (0..run.total()).map(TaskIx).filter(|t| is_closed(&run, *t)) {
            let (row, command) = row(&run, task, &clock)?;
            rows.push(row);
            commands.extend(command);
        }
    }
    Ok(())
}

/// The oldest first: whoever waited longest is read first.
fn unfinished(view: &mut View) -> Result<Vec<RunId>> {
    let states = RunState::ALL.into_iter().filter(|state| !state.is_done()).collect();
    let rows = view.reader.runs(&RunFilter { states, limit: usize::MAX, ..RunFilter::default() })?;
    let begun = rows.iter().rev().filter(|row| row.counts[TaskState::InProgress as usize] > 0);
    Ok(begun.map(|row| row.id).collect())
}

fn is_closed(run: &Run, task: TaskIx) -> bool {
    run.tasks[task.0 as usize].state == TaskState::InProgress && matches!(run.spec_of(task).work, Work::Gate(_))
}

/// The gate, and the first command that brings it nearer to being open.
fn row(run: &Run, task: TaskIx, clock: &Clock) -> Result<(Row, Option<String>)> {
    let (closed, whom, until) = Closed::new(run, task, clock);
    let cells = vec![
        Cell::new(run.id.short(), Ink::Bold),
        Cell::new(&closed.task, Ink::Wait),
        Cell::from(clock.short(run.tasks[task.0 as usize].started_at)),
        Cell::from(clock.short(until)),
        Cell::from(list(&closed.approved)),
        Cell::from(whom),
    ];
    let row = Row::new(format!("{} {}", closed.run, closed.task), cells, &closed)?;
    Ok((row, closed.approve.into_iter().next()))
}

impl Closed {
    /// The gate, for whom it waits in words, and until when at most.
    fn new(run: &Run, task: TaskIx, clock: &Clock) -> (Self, String, Time) {
        let cause = Cause::of(run, task);
        let entry = &run.tasks[task.0 as usize];
        let commands = cause.moved_by.into_iter().filter_map(|mover| match mover {
            Mover::Person { command, .. } => Some(command),
            _ => None,
        });
        let mut closed = Self {
            run: run.id,
            flow: run.about.as_ref().map(|about| about.flow.clone()),
            task: cause.path,
            generation: entry.generation,
            since: rfc3339(entry.started_at),
            approve: commands.collect(),
            count: None,
            from: Vec::new(),
            approved: Vec::new(),
            escalates: Vec::new(),
            opens_at: None,
            deadline: None,
            on_deadline: None,
        };
        match cause.because {
            Because::Approval { count, from, have, escalates, deadline, on_deadline } => {
                let later = |step: &Escalates| format!("; from {} on {}", clock.short(step.at), list(&step.to));
                let whom = whom(count, &from) + &escalates.iter().map(later).collect::<String>();
                closed.escalates.clone_from(&escalates);
                (closed.count, closed.from, closed.approved) = (Some(count), from, have);
                (closed.deadline, closed.on_deadline) = (rfc3339(deadline), Some(on_deadline));
                (closed, whom, deadline)
            }
            Because::Time { until } => {
                closed.opens_at = rfc3339(until);
                (closed, "the clock".to_owned(), until)
            }
            _ => (closed, String::new(), Time::NEVER),
        }
    }
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
