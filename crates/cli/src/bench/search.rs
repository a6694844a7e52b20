//! Searching among many runs that are over: rows written straight through the projections, then asked for.

use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::rows::{Marks, RunRow};
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_engine::{Home, query};
use edgewise_store::{Flush, Projections, RunChange, sqlite};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Runs written in one flush.
const BATCH: usize = 2_000;
/// How often each search is made.
const TIMES: usize = 21;
/// How long one search is measured at most.
const LONG_MS: f64 = 2_000.0;
/// When the last run was asked for; one every 10 seconds before it.
const NOW: Time = Time(1_900_000_000_000);
const EVERY: u64 = 10_000;
const FLOWS: u64 = 50;
const TEAMS: u64 = 10;

/// What is searched for: each alone, all together, and what nothing fits though much fits each part of it.
const SEARCHES: [&str; 22] = [
    "",
    "state:failed",
    "state:cancelled",
    "-state:complete",
    "flow:f7",
    "since:1d",
    "until:60d",
    "label.team=t3",
    "label.rare=yes",
    "label.env=prod label.rare=yes",
    "label.team=t3 label.env=prod",
    "label.team=t3 label.zone=east",
    "by:p3 label.rare=yes",
    "state:failed flow:f7",
    "state:failed flow:f7 since:1d label.team=t3",
    "flow:f7 label.team=t7 until:30d",
    "state:failed flow:f0",
    "state:failed label.team=t0",
    "namespace:ops state:cancelled",
    "by:p3 flow:f7",
    "by:nobody",
    "f1 state:failed",
];

/// What one search took.
#[derive(Debug, Serialize)]
pub struct Searched {
    /// What was typed.
    pub search: &'static str,
    /// How many were on the first page.
    pub found: usize,
    /// Median over all times.
    pub median_ms: f64,
    /// The longest.
    pub worst_ms: f64,
}

/// What was measured.
#[derive(Debug, Serialize)]
pub struct SearchFigures {
    /// How many runs there are.
    pub runs: usize,
    /// How long writing one of them took, in a flush of many.
    pub write_us: f64,
    /// Each search.
    pub searches: Vec<Searched>,
}

/// Fills a folder with so many runs, then searches.
pub fn search(folder: &Path, runs: usize) -> Result<SearchFigures> {
    let mut rows = sqlite::open(folder)?.projections;
    let began = Instant::now();
    for from in (0..runs).step_by(BATCH) {
        let changes = (from..runs.min(from + BATCH)).map(|n| change(n as u64, runs as u64));
        let runs = changes.collect::<Result<Vec<_>>>()?;
        rows.flush(&Flush { runs, ..Flush::default() })?;
    }
    let write_us = began.elapsed().as_secs_f64() * 1e6 / runs as f64;
    // As `edgewise runs` does: a fresh look by somebody who wrote nothing.
    let mut reader = sqlite::open_reader(folder)?.projections;
    let searches = SEARCHES.iter().map(|text| measure(&mut reader, text)).collect::<Result<Vec<_>>>()?;
    Ok(SearchFigures { runs, write_us, searches })
}

fn measure(rows: &mut impl Projections, text: &'static str) -> Result<Searched> {
    let filter = edgewise_store::RunFilter { limit: 20, ..query::parse(text, NOW)? };
    let (mut times, mut found): (Vec<f64>, usize) = (Vec::new(), 0);
    // One that reads every run is slow enough to be seen at once.
    while times.len() < TIMES && times.iter().sum::<f64>() < LONG_MS {
        let began = Instant::now();
        found = rows.runs(&filter)?.len();
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(Searched { search: text, found, median_ms: times[times.len() / 2], worst_ms: times[times.len() - 1] })
}

/// A finished run with everything that a search can ask for. Nothing of f0 and of team t0 ever failed.
fn change(n: u64, all: u64) -> Result<RunChange> {
    // Ids come in no order.
    let id = RunId::from_bits(u128::from(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(n));
    let (flow, team) = (n % FLOWS, n / 3 % TEAMS);
    let good = flow == 0 || team == 0;
    let state = match n / 7 % 100 {
        0..=7 if !good => RunState::Error,
        8 if !good => RunState::Cancelled,
        _ => RunState::Complete,
    };
    let mut labels =
        vec![("team", format!("t{team}")), ("env", if n.is_multiple_of(2) { "prod".into() } else { "test".into() })];
    if team == 1 {
        // One in ten has it, and none of any other team.
        labels.push(("zone", "east".into()));
    }
    if n % 100_000 == 99 {
        labels.push(("rare", "yes".into()));
    }
    let at = Time(NOW.0 - (all - n) * EVERY);
    let marks = Marks {
        namespace: if flow % 5 == 0 { Some(name("ops")?) } else { None },
        by: Some(name(&format!("p{}", n % 13))?),
        key: None,
        parent: None,
        labels: labels.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    };
    let row = RunRow {
        id,
        flow: name(&format!("f{flow}"))?,
        plan: PlanHash(u128::from(flow) + 1),
        state,
        paused: false,
        counts: [0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0],
        triggered_at: at,
        started_at: at,
        completed_at: Time(at.0 + 3_000),
        applied_seq: 9,
        version: EventId(u128::from(n) + 1),
        marks,
        body: format!("{{\"about\":null,\"planned\":true,\"filler\":\"{}\"}}", "x".repeat(200)),
    };
    let none = RunChange {
        stream: Home::local().stream(id),
        from_seq: 0,
        run: row,
        plan: None,
        tasks: vec![],
        given: vec![],
        given_gone: vec![],
        timers: vec![],
        timers_gone: vec![],
        outbox: vec![],
        outbox_gone: vec![],
        leases: vec![],
        leases_gone: vec![],
    };
    Ok(none)
}

fn name(text: &str) -> Result<Name> {
    Name::parse(text).map_err(|error| Error::bug("bad_bench", error.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_search_of_the_benchmark_is_understood_and_finds_what_it_should() {
        let folder = tempfile::tempdir().unwrap();
        let figures = search(folder.path(), 3_000).unwrap();
        let found = |text: &str| figures.searches.iter().find(|s| s.search == text).unwrap().found;
        assert_eq!((found(""), found("flow:f7"), found("label.rare=yes")), (20, 20, 1));
        assert_eq!((found("state:failed flow:f0"), found("state:failed label.team=t0"), found("by:nobody")), (0, 0, 0));
        assert!(found("state:failed") == 20 && found("-state:complete") == 20);
    }
}
