//! `edgewise schedule list`, `show` and `next`: what there is, and what comes.

use super::{Context, find};
use crate::args::{ScheduleList, ScheduleName, ScheduleNext};
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use crate::view::View;
use edgewise_core::control::Outcome;
use edgewise_core::time::Time;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::schedule::{coming, schedule as facts};
use serde_json::{Value, json};

const HEADER: [&str; 6] = ["schedule", "flow", "when", "next", "last", "runs"];

pub(in crate::command) fn list(args: &ScheduleList, context: &mut Context<'_>) -> Result<Exit> {
    let control = View::open(context.config)?.reader.control()?;
    let now = wall_clock();
    let clock = Clock::local(now);
    let mut rows = Vec::new();
    for (name, known) in &control.schedules {
        if args.flow.as_ref().is_some_and(|flow| *flow != known.schedule.flow) {
            continue;
        }
        let next = coming(known, now).into_iter().flatten().next();
        let next = match next {
            _ if known.schedule.paused => Cell::new("paused", Ink::Wait),
            _ if known.schedule.backfill.is_some() => Cell::from("now"),
            Some(time) => Cell::from(clock.second(time)),
            None => Cell::new("over", Ink::Dim),
        };
        let cells = vec![
            Cell::new(name.as_str(), Ink::Bold),
            Cell::from(known.schedule.flow.as_str()),
            Cell::from(known.schedule.when.words()),
            next,
            Cell::from(known.last.as_ref().map(|last| clock.second(last.due)).unwrap_or_default()),
            Cell::from(known.started.to_string()),
        ];
        rows.push(Row::new(name.to_string(), cells, &facts(name, known, now))?);
    }
    if rows.is_empty() && context.printer.for_people() {
        context.printer.say("there are no schedules");
        return Ok(Exit::Ok);
    }
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}

pub(in crate::command) fn show(args: &ScheduleName, context: &mut Context<'_>) -> Result<Exit> {
    let (_, known) = find(&args.name, context)?;
    let now = wall_clock();
    let clock = Clock::local(now);
    let schedule = &known.schedule;
    let mut lines = vec![
        format!("schedule  {}", args.name),
        format!("flow      {}", schedule.flow),
        format!("when      {}", schedule.when.words()),
        format!("overlap   {}", schedule.overlap.word()),
        format!("catch up  {}", schedule.catch_up),
    ];
    if schedule.jitter.0 > 0 {
        lines.push(format!("jitter    {}", schedule.jitter));
    }
    if !schedule.input.is_empty() {
        lines.push(format!("with      {}", Value::Object(schedule.input.clone())));
    }
    if let Some(backfill) = &schedule.backfill {
        let (of, from, until) = (&backfill.of, backfill.from, backfill.until);
        lines.push(format!("backfill  of {of} from {from} to {until}, {} at once", backfill.at_once));
    }
    lines.push(format!("set       {} by {}", clock.second(known.set_at), known.by));
    if schedule.paused {
        lines.push("paused    `edgewise schedule resume` lets it go on".into());
    } else if let Some(next) = coming(&known, now).into_iter().flatten().next() {
        lines.push(format!("next      {}", clock.second(next)));
    }
    if let Some(last) = &known.last {
        let became = match &last.outcome {
            Outcome::Started(run) => format!("run {run}"),
            Outcome::Queued => "waits for the run before it".into(),
            Outcome::Skipped(skip) => format!("no run: {}", skip.why()),
        };
        lines.push(format!("last      {} {became}", clock.second(last.due)));
    }
    lines.push(format!(
        "ticks     {} became runs, {} did not, {} wait",
        known.started,
        known.skipped,
        known.queue.len()
    ));
    let lines: Vec<String> = lines.iter().map(|line| crate::text::escape(line).to_string()).collect();
    context.printer.one(args.name.to_string(), &lines, &facts(&args.name, &known, now))?;
    Ok(Exit::Ok)
}

pub(in crate::command) fn next(args: &ScheduleNext, context: &mut Context<'_>) -> Result<Exit> {
    let (_, known) = find(&args.name, context)?;
    let clock = Clock::local(wall_clock());
    let ticks: Vec<Time> = coming(&known, wall_clock())?.take(args.count as usize).collect();
    let row = |tick: &Time| {
        let cells = vec![Cell::from(tick.to_string()), Cell::from(clock.second(*tick))];
        Row::new(tick.to_string(), cells, &json!({ "tick": rfc3339(*tick) }))
    };
    let rows = ticks.iter().map(row).collect::<Result<Vec<Row>>>()?;
    context.printer.rows(&["tick", "here"], &rows)?;
    Ok(Exit::Ok)
}
