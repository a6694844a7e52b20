//! `edgewise runs export`: runs with their tasks and events, one JSON line each, as they are read.

use super::act::count;
use super::{Context, events};
use crate::args::Export;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::RunFacts;
use edgewise_engine::query;
use edgewise_store::{RunFilter, Term};
use std::fs::File;
use std::io::{BufWriter, Write};

/// Runs looked up at once.
const PAGE: usize = 100;
/// Runs between two words about how far it is.
const PROGRESS: usize = 10_000;

pub(super) fn perform(args: &Export, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let filter = filter(&args.query.join(" "), &mut view)?;
    let mut to = match &args.to {
        Some(path) => {
            let file = File::create_new(path).map_err(|error| Problem::file("made", path, &error))?;
            Some((BufWriter::new(file), path))
        }
        None => None,
    };
    let mut write = |context: &mut Context<'_>, bytes: &[u8]| match &mut to {
        Some((file, path)) => file.write_all(bytes).map_err(|error| Problem::file("written", path, &error)),
        None => context.printer.bytes(bytes),
    };
    let mut done = 0;
    let mut page = RunFilter { limit: PAGE, ..filter };
    loop {
        let rows = view.reader.runs(&page)?;
        let Some(last) = rows.last() else { break };
        page.after = Some((last.triggered_at, last.id));
        for row in &rows {
            done += usize::from(one(&mut view, row.id, |bytes| write(context, bytes))?);
            if done > 0 && done % PROGRESS == 0 {
                context.printer.say(&format!("exported {}", count(done)));
            }
        }
    }
    match to {
        Some((file, path)) => {
            let file = file.into_inner().map_err(|error| Problem::file("written", path, error.error()))?;
            file.sync_all().map_err(|error| Problem::file("written", path, &error))?;
            context.printer.say(&format!("exported {} to {}", count(done), path.display()));
        }
        None => context.printer.say(&format!("exported {}", count(done))),
    }
    Ok(Exit::Ok)
}

fn filter(text: &str, view: &mut View) -> Result<RunFilter> {
    match text {
        "@" => {
            let last = view.find(&crate::args::RunRef::Last)?;
            Ok(RunFilter { terms: vec![Term::Run(last)], ..RunFilter::default() })
        }
        text => Ok(query::parse(text, wall_clock())?),
    }
}

/// Writes one run: what `show` knows of it, and its events behind that. False if it was taken away meanwhile.
fn one(view: &mut View, id: RunId, mut write: impl FnMut(&[u8]) -> Result<()>) -> Result<bool> {
    let run = match view.reader.run(id) {
        Ok(run) => view.whole(run)?,
        Err(error) if error.kind == Kind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let frozen = view.reader.frozen(id)?;
    let facts = serde_json::to_string(&RunFacts::new(&run, frozen, false))
        .map_err(|error| Problem::new(Kind::Bug, "unprintable", "a run has no JSON form").why(error.to_string()))?;
    // The map is left open for the events, which are too many to be held.
    write(&facts.as_bytes()[..facts.len() - 1])?;
    write(b",\"events\":[")?;
    let mut first = true;
    events::each(view, &run, |event| {
        let comma: &[u8] = if std::mem::take(&mut first) { b"" } else { b"," };
        write(comma)?;
        write(event.as_bytes())
    })?;
    write(b"]}\n")?;
    Ok(true)
}
