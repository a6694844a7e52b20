//! `edgewise what-if`: facts that have not happened, and what would come of them. Nothing is written.

use super::Context;
use crate::args::WhatIf;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style, ink};
use crate::table::{self, Cell};
use crate::text;
use crate::view::View;
use edgewise_core::id::RunId;
use edgewise_core::state::Phase;
use edgewise_core::what_if::{Change, Foretold, Supposition};
use edgewise_engine::engine::wall_clock;
use serde::Serialize;
use std::collections::BTreeMap;

const HEADER: [&str; 4] = ["task", "now", "then", "because"];
/// Changes beyond this many that say the same are counted, not shown.
const ALIKE: usize = 10;

/// For programs.
#[derive(Serialize)]
struct Told<'a> {
    run: RunId,
    facts: Vec<String>,
    to_end: bool,
    #[serde(flatten)]
    foretold: &'a Foretold,
}

pub(super) fn perform(args: &WhatIf, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let run = view.run(&args.run)?;
    let id = run.id;
    if let Some(reason) = view.reader.frozen(id)? {
        let what = format!("run {} is frozen: nothing can happen to it", id.short());
        return Err(Problem::new(edgewise_core::Kind::Conflict, "run_frozen", what)
            .why(reason)
            .next(if run.frozen.is_some() { "edgewise unfreeze RUN" } else { "edgewise doctor --verify" }));
    }
    let mut supposition = Supposition::of(run, wall_clock(), context.config.who.value.clone());
    for fact in &args.facts {
        supposition.suppose(fact)?;
    }
    if args.to_end {
        supposition.rest_goes_well()?;
    }
    let facts: Vec<String> = args.facts.iter().map(ToString::to_string).collect();
    let foretold = supposition.end();
    let lines = lines(&facts, args.to_end, &foretold, context);
    let told = Told { run: id, facts, to_end: args.to_end, foretold: &foretold };
    context.printer.one(id.to_string(), &lines, &told)?;
    if context.printer.for_people() {
        assumed(&foretold, context);
        context.printer.say("nothing was written");
    }
    Ok(Exit::Ok)
}

/// Says what the answer rests on.
fn assumed(foretold: &Foretold, context: &mut Context<'_>) {
    if foretold.assumed_null.is_empty() {
        return;
    }
    let tasks = foretold.assumed_null.join(", ");
    context.printer.say(&format!(
        "something failed for what it was given, and the output of {tasks} was taken as null: give it as TASK:=JSON"
    ));
}

fn lines(facts: &[String], to_end: bool, foretold: &Foretold, context: &Context<'_>) -> Vec<String> {
    let (style, columns) = (context.printer.out_style, context.printer.columns);
    let mut said = facts.join(", then ");
    if to_end {
        said += if said.is_empty() { "all goes well" } else { ", and the rest goes well" };
    }
    let mut lines = vec![style.paint(Ink::Bold, &format!("if {}:", text::escape(&said)))];
    let clock = Clock::local(wall_clock());
    if foretold.changes.is_empty() {
        lines.push("  no task would move".to_owned());
    } else {
        lines.extend(table(foretold, &clock, style, columns).into_iter().map(|line| format!("  {line}")));
    }
    lines.push(ending(foretold, &clock, style));
    lines
}

fn table(foretold: &Foretold, clock: &Clock, style: Style, columns: Option<usize>) -> Vec<String> {
    let mut alike: BTreeMap<(Option<Phase>, Phase), usize> = BTreeMap::new();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for change in &foretold.changes {
        let count = alike.entry((change.from, change.to.phase)).or_default();
        *count += 1;
        if *count <= ALIKE {
            rows.push(row(change, clock, style));
        }
    }
    for ((from, to), count) in alike.iter().filter(|(_, count)| **count > ALIKE) {
        let more = Cell::new(format!("and {} more", *count - ALIKE), Ink::Dim);
        rows.push(vec![more, Cell::new(word(*from), Ink::Dim), Cell::new(to.word(), ink(*to)), Cell::from("")]);
    }
    table::lines(&HEADER, rows.iter().map(Vec::as_slice), style, columns.map(|columns| columns.saturating_sub(2)))
}

fn row(change: &Change, clock: &Clock, style: Style) -> Vec<Cell> {
    let phase = change.to.phase;
    let said = change.to.sentence(&|at| clock.second(at));
    let said = said.strip_prefix(phase.word()).unwrap_or(&said).trim_start_matches([',', ' ']);
    // When it would be is no more than now.
    let said = if phase == Phase::Succeeded { "" } else { said.strip_prefix("because ").unwrap_or(said) };
    vec![
        Cell::from(&change.to.path),
        Cell::new(word(change.from), Ink::Dim),
        Cell::new(format!("{} {}", style.glyph(phase), phase.word()), ink(phase)),
        Cell::from(said),
    ]
}

fn word(phase: Option<Phase>) -> &'static str {
    phase.map_or("not there", Phase::word)
}

/// `the run would end: ✗ failed: a failure was not answered`
fn ending(foretold: &Foretold, clock: &Clock, style: Style) -> String {
    let phase = foretold.phase;
    let paused = foretold.why.paused && !foretold.over;
    let word =
        style.paint(ink(phase), &format!("{} {}", style.glyph(phase), if paused { "paused" } else { phase.word() }));
    let verb = if foretold.over { "the run would end" } else { "the run would go on" };
    let sentence = text::escape(&foretold.why.sentence(&|at| clock.second(at))).into_owned();
    let sentence =
        sentence.strip_prefix(phase.word()).map_or(sentence.as_str(), |rest| rest.trim_start_matches([':', ' ']));
    format!("{verb}: {word}, {sentence}")
}
