//! `edgewise runs --watch`: the table drawn anew in its place, or a line for each change where there is no terminal.

use super::{HEADER, Listing};
use crate::args::Runs;
use crate::clock::Clock;
use crate::command::Context;
use crate::exit::Exit;
use crate::live::{Screen, can_draw, size, span};
use crate::looking::{Looked, until_over};
use crate::output::{Format, Row};
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style};
use crate::table;
use crate::text;
use crate::view::View;
use edgewise_core::id::RunId;
use edgewise_core::rows::RunRow;
use edgewise_core::state::RunState;
use edgewise_store::RunFilter;
use std::collections::BTreeMap;
use std::io::{Stdout, stdout};
use std::time::Duration;

/// Between two looks: a table is read more slowly than a single run.
const PAUSE: Duration = Duration::from_millis(250);
/// Lines of the terminal that are left to others.
const SPARE: usize = 2;

pub(super) fn perform(args: &Runs, filter: &RunFilter, mut view: View, context: &mut Context<'_>) -> Result<Exit> {
    // One JSON array has no end while more is waited for.
    if context.printer.format == Format::Json {
        context.printer.format = Format::Jsonl;
    }
    let mut screen = (context.printer.for_people() && can_draw()).then(|| Screen::new(stdout()));
    let mut told = Told::default();
    let looked = until_over(PAUSE, || {
        let listing = Listing::of(filter, args.all, &mut view.reader)?;
        match &mut screen {
            Some(screen) => draw(&listing, screen, context.printer.out_style)?,
            None => tell(&listing, &mut told, context)?,
        }
        Ok(args.until_idle && listing.rows.iter().all(|row| is_idle(row, &listing)))
    })?;
    Ok(if looked == Looked::Stopped { Exit::Interrupted } else { Exit::Ok })
}

/// Whether nothing of a run is ready, at work or about to be tried again, or nobody may touch it.
fn is_idle(row: &RunRow, listing: &Listing) -> bool {
    let waits = matches!(row.state, RunState::WaitingForDependencies | RunState::BlockedByFailures);
    let rests = row.paused && row.state != RunState::TasksInProcess;
    row.state.is_done() || waits || rests || listing.frozen.contains_key(&row.id)
}

fn draw(listing: &Listing, screen: &mut Screen<Stdout>, style: Style) -> Result<()> {
    let (width, height) = size();
    let rows = listing.printed(style)?;
    let room = height.saturating_sub(SPARE).max(1);
    let shown = if rows.len() > room { room.saturating_sub(1) } else { rows.len() };
    let cells = rows[..shown].iter().map(Row::cells);
    let mut lines = table::lines(&HEADER, cells, style, Some(width));
    if rows.is_empty() {
        lines.push(style.paint(Ink::Dim, "there are no runs like that yet"));
    }
    if shown < rows.len() {
        lines.push(style.paint(Ink::Dim, &format!("and {} more", rows.len() - shown)));
    }
    // A line that is too long would be folded by the terminal, and the next frame would be drawn beside it.
    let lines = lines.iter().map(|line| text::cut(line, width, style.cut_mark())).collect();
    screen.show(lines, width).map_err(|error| Problem::output(&error))
}

/// How far each run had come when it was last told, and whether it was frozen.
#[derive(Default)]
struct Told(BTreeMap<RunId, (u64, bool)>);

impl Told {
    fn is_news(&mut self, run: RunId, seq: u64, frozen: bool) -> bool {
        self.0.insert(run, (seq, frozen)) != Some((seq, frozen))
    }
}

/// A line for each run that is not as it was told last; the oldest first, as they happened.
fn tell(listing: &Listing, told: &mut Told, context: &mut Context<'_>) -> Result<()> {
    let printed = listing.printed(context.printer.out_style)?;
    for (row, printed) in listing.rows.iter().zip(printed).rev() {
        if !told.is_news(row.id, row.applied_seq, listing.frozen.contains_key(&row.id)) {
            continue;
        }
        if context.printer.for_people() {
            context.printer.raw(&line(listing, row))?;
        } else {
            context.printer.rows(&[], &[printed])?;
        }
    }
    context.printer.flush()
}

/// `12:00:05 k3f9x2ab release running 3/8`
fn line(listing: &Listing, row: &RunRow) -> String {
    let listed = listing.listed(row);
    let (word, _) = super::word(&listed);
    let took = row.completed_at.known().and_then(|_| super::took(row, listing.now));
    let after = took.map(|took| format!(" after {}", span(took))).unwrap_or_default();
    let clock = Clock::local(listing.now).second(listing.now);
    let (id, flow) = (listed.run.short(), text::escape(&listed.flow).into_owned());
    format!("{clock} {id} {flow} {word} {}/{}{after}", listed.tasks_done, listed.tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_change_is_not_told_again() {
        let mut told = Told::default();
        let (one, other) = (RunId(1), RunId(2));
        let looks =
            [(one, 3, false), (one, 3, false), (other, 3, false), (one, 4, false), (one, 4, true), (one, 4, true)];
        let news = looks.map(|(run, seq, frozen)| told.is_news(run, seq, frozen));
        assert_eq!(news, [true, false, true, true, true, false]);
    }
}
