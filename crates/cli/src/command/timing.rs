//! `edgewise timing`: where the time of a run went, which tasks decided when it ended, and how much room the others had.

use super::Context;
use crate::args::Timing as Args;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::live;
use crate::problem::Result;
use crate::style::{Ink, Style, ink};
use crate::table::{self, Cell};
use crate::text;
use crate::view::View;
use edgewise_core::history::Stream;
use edgewise_core::run::Run;
use edgewise_core::time::Millis;
use edgewise_core::timing::{Link, Timed, Timing};
use edgewise_engine::engine::wall_clock;

const HEADER: [&str; 6] = ["task", "ready", "waited", "ran", "slack", "on the critical path"];
/// A longer path is told as its ends.
const LINKS: usize = 12;
/// Most tasks inside of others that are shown unless all are wanted.
const INSIDE: usize = 20;
/// Less than this is not worth a word.
const HELD: Millis = Millis(100);
/// Columns of the bar that the longest task would have.
const BAR: u64 = 24;

pub(super) fn perform(args: &Args, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let run = view.run(&args.run)?;
    let entries = view.ledger(run.id)?;
    let stream = Stream { run: run.id, plan_hash: run.plan_hash, plan: &run.plan, entries: &entries };
    let timing = Timing::of(&stream, wall_clock());
    let (style, columns) = (context.printer.out_style, context.printer.columns);
    let lines = if context.printer.for_people() {
        lines(&view.whole(run)?, &timing, args.all, style, columns)
    } else {
        Vec::new()
    };
    context.printer.one(timing.run.to_string(), &lines, &timing)?;
    Ok(Exit::Ok)
}

fn lines(run: &Run, timing: &Timing, all: bool, style: Style, columns: Option<usize>) -> Vec<String> {
    let mut lines = vec![head(run, timing, style)];
    let inside = timing.tasks.iter().filter(|task| task.depth > 0 && task.critical).count();
    // Of what is inside of others, the critical path is shown as far as it is short.
    let is_shown = |task: &&Timed| all || task.depth == 0 || (task.critical && inside <= INSIDE);
    let shown: Vec<&Timed> = timing.tasks.iter().filter(is_shown).collect();
    let rows: Vec<Vec<Cell>> = shown.iter().map(|task| row(run, timing, task, style)).collect();
    if rows.is_empty() {
        lines.push(style.paint(Ink::Dim, "no task became ready yet"));
        return lines;
    }
    lines.push(String::new());
    lines.extend(table::lines(&HEADER, rows.iter().map(Vec::as_slice), style, columns));
    lines.push(String::new());
    lines.extend(path(timing, style, columns));
    lines
}

/// As short as it can be read, but for what takes no second: that is what one wants to know here.
fn span(length: Millis) -> String {
    match length.0 {
        0 => "0".to_owned(),
        ms if ms < 1_000 => format!("{ms}ms"),
        _ => live::span(length),
    }
}

/// `release k3f9x2ab  took 12s, from 12:00:05`
fn head(run: &Run, timing: &Timing, style: Style) -> String {
    let phase = run.state.phase();
    let flow = run.about.as_ref().map_or("(unknown)", |about| about.flow.as_str());
    let name = style.paint(Ink::Bold, &format!("{} {}", text::escape(flow), run.id.short()));
    let sign = style.paint(ink(phase), style.glyph(phase));
    let word = style.paint(ink(phase), phase.word());
    let from = Clock::local(wall_clock()).second(timing.from);
    let took = span(timing.took());
    let took = if timing.over { format!("took {took}") } else { format!("{took} so far") };
    format!("{sign} {name}  {word}, {took}, from {from}")
}

fn row(run: &Run, timing: &Timing, task: &Timed, style: Style) -> Vec<Cell> {
    let phase = run.phase_of(task.task);
    let offset = format!("+{}", span(task.ready_at.since(timing.from)));
    let slack = match task.slack {
        Some(slack) if task.critical && slack.0 == 0 => String::new(),
        Some(slack) => span(slack),
        None => String::new(),
    };
    let plain = if task.critical { Ink::Bold } else { Ink::Plain };
    vec![
        Cell::new(format!("{}{} {}", "  ".repeat(task.depth as usize), style.glyph(phase), task.path), plain),
        Cell::new(offset, Ink::Dim),
        Cell::from(span(task.waited)),
        Cell::from(span(task.ran)),
        Cell::from(slack),
        Cell::new(if task.critical { bar(timing, task, style) } else { String::new() }, Ink::Live),
    ]
}

/// Where in the run's time a task was, as a bar.
fn bar(timing: &Timing, task: &Timed, style: Style) -> String {
    let whole = timing.took().0.max(1);
    let end = task.ended_at.known().unwrap_or(timing.until);
    let place = |ms: u64| (ms.min(whole) * BAR / whole) as usize;
    let (from, to) = (place(task.ready_at.since(timing.from).0), place(end.since(timing.from).0));
    let sign = if style.unicode { "━" } else { "=" };
    format!("{}{}", " ".repeat(from), sign.repeat((to - from).max(1)))
}

/// `critical path: build 3.0s → test[2] 5.0s → publish 1.0s`
fn path(timing: &Timing, style: Style, columns: Option<usize>) -> Vec<String> {
    let arrow = if style.unicode { "→" } else { "->" };
    let links = &timing.critical_path;
    let mut words: Vec<String> = Vec::new();
    for (n, link) in links.iter().enumerate() {
        if links.len() > LINKS && n == LINKS / 2 {
            words.push(format!("({} more)", links.len() - LINKS));
        }
        if links.len() <= LINKS || n < LINKS / 2 || n >= links.len() - LINKS / 2 {
            words.push(told(link, n > 0));
        }
    }
    let head = "critical path: ";
    let said = format!("{head}{}", words.join(&format!(" {arrow} ")));
    let columns = columns.unwrap_or(usize::MAX);
    let lines = text::wrap(&said, columns, columns.saturating_sub(2)).into_iter().enumerate();
    lines.map(|(n, line)| if n == 0 { line } else { format!("  {line}") }).collect()
}

fn told(link: &Link, follows: bool) -> String {
    let held = if follows && link.held >= HELD { format!("(held {}) ", span(link.held)) } else { String::new() };
    format!("{held}{} {}", text::escape(&link.path), span(link.took))
}
