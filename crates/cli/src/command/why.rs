//! `edgewise why`: an item, a run or a task, why it is where it is, and who or what would move it.

mod tree;

use super::work::{self, Asks, found, refuse_past};
use super::{Context, lock};
use crate::args::{At, RunRef, Why as Args};
use crate::clock::Clock;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::view::{AsOf, Then, View, find_task};
use edgewise_core::Kind;
use edgewise_core::why::Why;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::why::Explained;
use serde::Serialize;
use serde_json::Value;

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
    reasons: &'a Explained,
}

/// A run or one of its tasks, and all that is known of why it is where it is.
struct Found {
    asked: Option<String>,
    reasons: Explained,
    frozen: Option<String>,
    engine: bool,
    as_of: Option<AsOf>,
}

impl Found {
    fn told(&self) -> Told<'_> {
        Told {
            task: self.asked.as_deref(),
            as_of: self.as_of.clone(),
            frozen: self.frozen.clone(),
            engine: self.engine,
            reasons: &self.reasons,
        }
    }
}

fn explain(run: &RunRef, asked: Option<String>, at: Option<At>, context: &Context<'_>) -> Result<Found> {
    let mut view = View::open(context.config)?;
    let (run, now) = (view.run(run)?, wall_clock());
    if let Some(at) = at {
        return past(view.as_of(&run, at, now)?, asked);
    }
    let (frozen, engine) = (view.reader.frozen(run.id)?, lock::is_at_work(context.config));
    let (run, task) = match &asked {
        Some(path) => view.with_task(run, path).map(|(run, task)| (run, Some(task)))?,
        None => (run, None),
    };
    let reasons = view.reader.explain(run, task, &context.config.queues.value, now)?;
    let frozen = frozen.or_else(|| reasons.run.freeze_mark());
    Ok(Found { asked, reasons, frozen, engine, as_of: None })
}

/// Neither damage, nor who was at work, nor how other runs and items were is in the run's ledger, so nothing of it is said
/// of the past.
fn past(then: Then, asked: Option<String>) -> Result<Found> {
    let Then { run, entries, as_of, .. } = then;
    let mut why = match &asked {
        Some(path) => Why::of_task(&run, find_task(&run, path)?),
        None => Why::of_run(&run),
    };
    if why.could_learn() {
        entries.iter().for_each(|entry| why.learn(entry));
    }
    let frozen = run.freeze_mark();
    let reasons = Explained { run, why, inner: Vec::new(), more_runs: 0, items: Vec::new(), more_items: 0 };
    Ok(Found { asked, reasons, frozen, engine: false, as_of: Some(as_of) })
}

/// The same for programs.
pub(super) fn told(run: &RunRef, task: Option<String>, context: &Context<'_>) -> Result<Value> {
    let found = explain(run, task, None, context)?;
    serde_json::to_value(found.told())
        .map_err(|error| Problem::new(Kind::Bug, "unprintable", "a value has no JSON form").why(error.to_string()))
}

pub(super) fn perform(args: &Args, context: &mut Context<'_>) -> Result<Exit> {
    let (run, asked) = match found(&args.what, args.task.as_ref(), Asks::Reasons, context)? {
        work::Found::Item(board, id) => {
            refuse_past(args.at)?;
            return work::why(&board, &id, context);
        }
        work::Found::Run(run, task) => (run, task),
    };
    let found = explain(&run, asked, args.at, context)?;
    let (run, clock) = (&found.reasons.run, Clock::local(wall_clock()));
    let lines = lines(&found, &clock, context);
    context.printer.one(run.id.to_string(), &lines, &found.told())?;
    let somebody = found.as_of.is_some() || found.engine || found.frozen.is_some();
    lock::say_if_nobody_works(run, somebody, context);
    Ok(Exit::Ok)
}

fn lines(found: &Found, clock: &Clock, context: &Context<'_>) -> Vec<String> {
    let Explained { run, why, inner, more_runs, items, more_items } = &found.reasons;
    let written = |at| clock.second(at);
    let (style, columns) = (context.printer.out_style, context.printer.columns);
    let mut tree = tree::Tree::new(why, &written, style, columns);
    // Who froze it stands in the line of the run itself, if there is one.
    if let Some(reason) = found.frozen.as_ref().filter(|_| run.frozen.is_none() || found.asked.is_some()) {
        tree.frozen(run, reason);
    }
    let mut lines: Vec<String> =
        found.as_of.iter().map(|as_of| style.paint(Ink::Dim, &as_of.sentence(clock))).collect();
    lines.extend(if found.asked.is_some() { tree.of_task() } else { tree.of_run(run) });
    for inner in inner {
        lines.extend(tree::Tree::new(&inner.why, &written, style, columns).of_run(&inner.run));
    }
    if *more_runs > 0 {
        let words = format!("and {more_runs} more behind these; `edgewise why RUN` goes on from one of them");
        lines.push(style.paint(Ink::Dim, &words));
    }
    for item in items {
        lines.extend(work::reason_lines(item, &|_| None, style, columns));
    }
    if *more_items > 0 {
        let words = format!("and {more_items} more tasks wait for items; `edgewise why ID` tells of one of them");
        lines.push(style.paint(Ink::Dim, &words));
    }
    lines
}
