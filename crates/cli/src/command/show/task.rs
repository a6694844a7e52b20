//! One task of a run: everything there is to know of it, also if it is in a round of a loop that is over.

use super::attempts;
use crate::clock::Clock;
use crate::command::Context;
use crate::exit::Exit;
use crate::live::span;
use crate::problem::Result;
use crate::style::{Ink, ink};
use crate::text;
use crate::view::AsOf;
use edgewise_core::attempts::Attempt;
use edgewise_core::event::TaskIx;
use edgewise_core::history::{Entry, Stream};
use edgewise_core::run::Run;
use edgewise_core::why::Cause;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::TaskFacts;
use serde::Serialize;
use serde_json::Value;

/// Columns of the words before each fact.
const LABEL: usize = 8;

/// A task for programs.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<&'a AsOf>,
    #[serde(flatten)]
    facts: TaskFacts<'a>,
    attempts: &'a [Attempt],
}

pub(super) fn show(
    run: &Run,
    ix: TaskIx,
    entries: &[Entry],
    as_of: Option<&AsOf>,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let path = run.path(ix);
    let stream = Stream { run: run.id, plan_hash: run.plan_hash, plan: &run.plan, entries };
    let tried = edgewise_core::attempts::of(&stream, ix);
    if !context.printer.for_people() {
        context.printer.one(path, &[], &Shown { as_of, facts: TaskFacts::new(run, ix), attempts: &tried })?;
        return Ok(Exit::Ok);
    }
    let style = context.printer.out_style;
    let clock = Clock::local(wall_clock());
    let (phase, cause) = (run.phase_of(ix), Cause::of(run, ix));
    let sign = style.paint(ink(phase), style.glyph(phase));
    let sentence = cause.sentence(&|at| clock.second(at));
    let mut lines: Vec<String> =
        as_of.map(|as_of| style.paint(Ink::Dim, &as_of.sentence(&clock))).into_iter().collect();
    lines.push(format!("{sign} {}  {}", style.paint(Ink::Bold, &text::escape(&path)), text::escape(&sentence)));
    for (label, value) in facts(run, ix, &clock) {
        let label = style.paint(Ink::Dim, &text::pad(label, LABEL));
        lines.push(format!("  {label}  {}", text::escape(&value)));
    }
    lines.extend(attempts::lines(&tried, &clock, style, context.printer.columns));
    lines.extend(output(run, ix).iter().map(|line| format!("  {}", text::escape_log(line))));
    lines.iter().try_for_each(|line| context.printer.raw(line))?;
    Ok(Exit::Ok)
}

fn facts(run: &Run, ix: TaskIx, clock: &Clock) -> Vec<(&'static str, String)> {
    let (task, spec) = (&run.tasks[ix.0 as usize], run.spec_of(ix));
    let kind = run.action_of(ix).filter(|_| spec.work.kind() == "action");
    let mut facts =
        vec![("kind", kind.map_or_else(|| spec.work.kind().to_owned(), |action| format!("action {action}")))];
    if task.attempt > 0 {
        facts.push(("attempt", format!("{} of {}", task.attempt, spec.retry.max_attempts.max(task.attempt))));
    }
    if let Some(began) = task.started_at.known() {
        let took = task.completed_at.known().map_or(String::new(), |end| format!(", took {}", span(end.since(began))));
        facts.push(("started", format!("{}{took}", clock.second(began))));
    }
    if let Some(cause) = run.failure_of(ix).and_then(|failure| failure.cause.as_deref()) {
        facts.push(("cause", cause.chain()));
    }
    facts
}

/// The whole of it: a text as it is, anything else as JSON.
fn output(run: &Run, ix: TaskIx) -> Vec<String> {
    let shown = match run.output(ix) {
        Value::Null => return Vec::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    shown.lines().map(str::to_owned).collect()
}
