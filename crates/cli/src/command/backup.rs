//! `edgewise backup`: everything that cannot be made anew, copied while it is in use, and checked.

use super::Context;
use crate::args::Backup;
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::output::Printer;
use crate::place::Place;
use crate::problem::Result;
use edgewise_core::time::Time;
use edgewise_engine::backup::{self, Manifest, Progress};
use edgewise_engine::engine::wall_clock;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two words about how far it is.
const SILENCE: Duration = Duration::from_secs(2);

/// A backup as programs see it.
#[derive(Serialize)]
struct Told<'a> {
    backup: &'a Path,
    made_at: Option<String>,
    last_at: Option<String>,
    ledger: &'a str,
    position: u64,
    runs: u64,
    records: u64,
    events: u64,
    bytes: u64,
    logs: u64,
    checksum: &'a str,
}

pub(super) fn perform(args: &Backup, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    place.there_are_runs()?;
    let to = context.cwd.join(&args.to);
    let mut pace = Pace::new();
    let made =
        backup::backup(&place.folder, &to, !args.no_logs, wall_clock(), &mut |step| pace.tell(step, context.printer));
    tell("backed up", &to, &made?, context)?;
    Ok(Exit::Ok)
}

/// Says what is in a backup.
pub(super) fn tell(done: &str, path: &Path, manifest: &Manifest, context: &mut Context<'_>) -> Result<()> {
    let Manifest { runs, events, records, bytes, logs, position, .. } = *manifest;
    let clock = Clock::local(wall_clock());
    let s = |n: u64| if n == 1 { "" } else { "s" };
    let lines = [
        format!("{done} {}", path.display()),
        format!("  {runs} run{}: {events} event{} in {records} record{}", s(runs), s(events), s(records)),
        format!("  {logs} log{}, {} of ledger", s(logs), size(bytes)),
        format!("  made {}, the last event {}", when(&clock, manifest.made_at), when(&clock, manifest.last_at)),
        format!("  every record checked; checksum {}", &manifest.checksum[..16.min(manifest.checksum.len())]),
    ];
    let value = Told {
        backup: path,
        made_at: rfc3339(manifest.made_at),
        last_at: rfc3339(manifest.last_at),
        ledger: &manifest.ledger,
        position,
        runs,
        records,
        events,
        bytes,
        logs,
        checksum: &manifest.checksum,
    };
    context.printer.one(path.display().to_string(), &lines, &value)
}

fn when(clock: &Clock, time: Time) -> String {
    if time.known().is_none() { "never".into() } else { clock.second(time) }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        1_000_000..10_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Says how far long work is, now and then.
pub(super) struct Pace {
    said: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { said: Instant::now() }
    }

    pub(super) fn tell(&mut self, step: Progress, printer: &mut Printer) {
        if self.said.elapsed() < SILENCE {
            return;
        }
        self.said = Instant::now();
        let (what, done, all) = match step {
            Progress::Copied(done, all) => ("copied", done, all),
            Progress::Checked(done, all) => ("checked", done, all),
            Progress::Rows(done, all) => ("made rows of", done, all),
        };
        let percent = done * 100 / all.max(1);
        printer.say(&format!("{what} {percent} % ({done} of {all})"));
    }
}
