//! A quick look: what is there, how far the rows are, what is frozen, what is left over. Nothing is refolded.

use super::{rows_gone, tail};
use crate::command::lock;
use crate::problem::Result;
use crate::style::{Ink, Style};
use crate::text;
use crate::view::LOGS;
use edgewise_core::id::RunId;
use edgewise_engine::Home;
use edgewise_engine::doctor::{Finding, count_runs, frozen_by};
use edgewise_store::{Ledger, Projections, sqlite};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// What to do about a run that somebody froze.
const UNFREEZE: &str = "edgewise unfreeze RUN lets it go on";
/// What to do about a run that nobody froze.
const VERIFY: &str = "edgewise doctor --verify says what is wrong with it";

/// The state of a folder.
#[derive(Serialize)]
pub(super) struct Health {
    version: &'static str,
    dir: String,
    ledger_bytes: u64,
    state_bytes: Option<u64>,
    runs: u64,
    tail: u64,
    watermark: Option<u64>,
    engine_at_work: bool,
    frozen: Vec<RunId>,
    logs_of_unknown_runs: Vec<String>,
}

pub(super) fn look(dir: &Path, home: &Home) -> Result<(Health, Vec<Finding>)> {
    let mut findings = Vec::new();
    let (mut ledger, watermark) = match sqlite::open_reader(dir) {
        Ok(mut stores) => {
            let mark = stores.projections.watermark()?;
            (stores.ledger, Some(mark.0))
        }
        Err(error) => {
            let ledger = sqlite::open_ledger_reader(dir)?;
            findings.extend(rows_gone(error));
            (ledger, None)
        }
    };
    let frozen = ledger.frozen()?;
    for (stream, reason) in &frozen {
        let next = if frozen_by(&mut ledger, stream)?.is_some() { UNFREEZE } else { VERIFY };
        findings.push(Finding { run: Some(stream.run), code: "frozen", what: format!("it is frozen: {reason}"), next });
    }
    let health = Health {
        version: env!("CARGO_PKG_VERSION"),
        dir: dir.display().to_string(),
        ledger_bytes: size(&dir.join("ledger.db")) + size(&dir.join("ledger.db-wal")),
        state_bytes: dir
            .join("state.db")
            .is_file()
            .then(|| size(&dir.join("state.db")) + size(&dir.join("state.db-wal"))),
        runs: count_runs(&mut ledger)?,
        tail: tail(&mut ledger)?,
        watermark,
        engine_at_work: lock::is_held(dir),
        frozen: frozen.into_iter().map(|(stream, _)| stream.run).collect(),
        logs_of_unknown_runs: strangers(&dir.join(LOGS), home, &mut ledger)?,
    };
    Ok((health, findings))
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Folders of logs whose run is not in the ledger.
fn strangers(logs: &Path, home: &Home, ledger: &mut dyn Ledger) -> Result<Vec<String>> {
    let mut strangers = Vec::new();
    let names = fs::read_dir(logs).into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    for name in names {
        let known = match RunId::parse(&name) {
            Ok(run) => ledger.head(&home.stream(run))?.seq > 0,
            Err(_) => false,
        };
        if !known {
            strangers.push(name);
        }
    }
    strangers.sort();
    Ok(strangers)
}

impl Health {
    pub(super) fn lines(&self, style: Style) -> Vec<String> {
        let rows = match (self.state_bytes, self.watermark) {
            (None, _) => "none: made anew at the next start, and nothing is lost".to_owned(),
            (Some(_), None) => "cannot be used".to_owned(),
            (Some(bytes), Some(mark)) if mark >= self.tail => format!("up to date, {}", human(bytes)),
            (Some(bytes), Some(mark)) => format!("{} records behind, {}", self.tail - mark, human(bytes)),
        };
        let engine = if self.engine_at_work { "at work" } else { "none at work" };
        let logs = match self.logs_of_unknown_runs.len() {
            0 => "all of known runs".to_owned(),
            n => format!("{n} left over of unknown runs, such as {}", self.logs_of_unknown_runs[0]),
        };
        let facts = [
            ("folder", self.dir.clone(), true),
            ("ledger", format!("{} runs, {} records, {}", self.runs, self.tail, human(self.ledger_bytes)), true),
            ("rows", rows, self.watermark.is_some() || self.state_bytes.is_none()),
            ("engine", engine.to_owned(), true),
            (
                "frozen",
                if self.frozen.is_empty() { "none".into() } else { self.frozen.len().to_string() },
                self.frozen.is_empty(),
            ),
            ("logs", logs, self.logs_of_unknown_runs.is_empty()),
        ];
        let line = |(label, value, good): (&str, String, bool)| {
            let (sign, ink) = match (good, style.unicode) {
                (true, true) => ("✓", Ink::Good),
                (true, false) => ("+", Ink::Good),
                (false, _) => ("!", Ink::Wait),
            };
            format!("{} {}  {}", style.paint(ink, sign), text::pad(label, 6), text::escape(&value))
        };
        facts.into_iter().map(line).collect()
    }
}

fn human(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
