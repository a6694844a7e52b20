//! Each scenario over SQLite, with the power failing in each of its writes.
//!
//! The ledger is synced at every commit, so only the write at hand can be torn; the rows are not, so their last one may be
//! torn at any time.

use super::SECTOR;
use crate::scenario::{End, Life, SCENARIOS, Scenario};
use edgewise_sim::driver::{Torn, World};
use edgewise_store::faulty::{Fault, Faults};
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// The sectors of the last transaction that reached the disk.
#[derive(Debug, Clone, Copy)]
enum Cut {
    First,
    Half,
    AllButTheLast,
    AllButTheFirst,
    OnlyTheLast,
    All,
}

/// Those of which something is missing.
const CUTS: [Cut; 5] = [Cut::First, Cut::Half, Cut::AllButTheLast, Cut::AllButTheFirst, Cut::OnlyTheLast];
/// One write in so many is also played with all of it on the disk, and nobody told.
const WHOLE_ONE_IN: u64 = 6;

impl Cut {
    fn has(self, sector: usize, of: usize) -> bool {
        match self {
            Self::First => sector == 0,
            Self::Half => sector < of / 2,
            Self::AllButTheLast => sector + 1 < of,
            Self::AllButTheFirst => sector > 0,
            Self::OnlyTheLast => sector + 1 == of,
            Self::All => true,
        }
    }
}

/// A scenario with fewer writes is short.
const SHORT: u64 = 30;

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Where the last transaction of a log stands: a header, then frames of a page each, the last of a transaction with the
/// size of the file in it.
fn last_transaction(log: &[u8]) -> Range<usize> {
    const HEADER: usize = 32;
    let frame = 24 + number(log, 8) as usize;
    let is_live = |at: &usize| at + frame <= log.len() && log[at + 8..at + 16] == log[16..24];
    let frames = (HEADER..).step_by(frame).take_while(is_live);
    let ends: Vec<usize> = frames.filter(|at| number(log, at + 4) > 0).map(|at| at + frame).collect();
    let [.., end] = ends[..] else { panic!("a log without a transaction") };
    ends.iter().rev().nth(1).copied().unwrap_or(HEADER)..end
}

/// The sectors, as the file has them, of some bytes of it.
fn sectors(bytes: Range<usize>) -> Vec<Range<usize>> {
    let first = bytes.start / SECTOR;
    let all = first..bytes.end.div_ceil(SECTOR);
    all.map(|n| (n * SECTOR).max(bytes.start)..((n + 1) * SECTOR).min(bytes.end)).collect()
}

/// Leaves of the last transaction of a log what a cut says; behind the last sector that is there the file ends, or not.
/// Gives how many bytes of the transaction are not there any more; `None` if the log has nothing.
fn tear(log: &Path, cut: Cut, ends: bool) -> Option<usize> {
    let mut bytes = std::fs::read(log).ok().filter(|bytes| !bytes.is_empty())?;
    let whole = bytes.clone();
    let sectors = sectors(last_transaction(&bytes));
    assert!(sectors.len() > 4, "{} sectors are too few to be torn", sectors.len());
    let mut end = sectors[0].start;
    for (n, sector) in sectors.iter().enumerate() {
        match cut.has(n, sectors.len()) {
            true => end = sector.end,
            false => bytes[sector.clone()].fill(0),
        }
    }
    let lost = whole.iter().zip(&bytes).filter(|(was, is)| was != is).count();
    if ends {
        bytes.truncate(end);
    }
    std::fs::write(log, bytes).unwrap();
    Some(lost)
}

fn undisturbed(scenario: &Scenario) -> (End, u64) {
    let (end, world) = Life::over(scenario, World::in_a_folder(7, Faults::none())).live();
    assert_eq!(end.0, scenario.end);
    (end, world.faults.writes())
}

/// The power fails in a write, which leaves so much of it behind; the end, and how many bytes of the write were lost.
fn torn(scenario: &Scenario, write: u64, cut: Cut) -> (End, usize) {
    let faults = Faults::none().fail_nth_write(write, Fault::SyncFailed { landed: true });
    let mut life = Life::over(scenario, World::in_a_folder(7, faults));
    let lost = Rc::new(Cell::new(0));
    let told = Rc::clone(&lost);
    life.world.tears = Some(Box::new(move |dir, torn| {
        let ends = write.is_multiple_of(2);
        let log = match torn {
            Torn::Ledger => dir.join("ledger.db-wal"),
            Torn::Rows => dir.join("state.db-wal"),
        };
        let lost = tear(&log, cut, ends);
        told.set(lost.unwrap_or_else(|| panic!("write {write} left no log of {torn:?}")));
        if torn == Torn::Ledger && write.is_multiple_of(3) {
            // There may be no rows yet.
            tear(&dir.join("state.db-wal"), cut, !ends);
        }
    }));
    let (end, world) = life.live();
    assert!(world.tears.is_none(), "the power never failed in write {write}");
    (end, lost.get())
}

/// Every write is torn in a way, or in two where a scenario is short; every way comes up in turn.
fn check(number: usize) {
    let scenario = &SCENARIOS[number];
    let (expected, writes) = undisturbed(scenario);
    assert!(writes > 8, "the scenario writes {writes} times");
    let mut count = 0;
    for write in 1..=writes {
        let turns = if writes < SHORT { 2 } else { 1 };
        for turn in [write, write + 3].into_iter().take(turns) {
            let cut = CUTS[(turn as usize + number) % CUTS.len()];
            let (end, lost) = torn(scenario, write, cut);
            assert_eq!(end, expected, "write {write} of {writes} left {cut:?}");
            assert!(lost > 0, "write {write} of {writes} was to leave {cut:?}, and lost nothing");
            count += 1;
        }
        if write.is_multiple_of(WHOLE_ONE_IN) {
            assert_eq!(torn(scenario, write, Cut::All), (expected.clone(), 0), "write {write} of {writes} was whole");
        }
    }
    println!("{writes} writes, torn {count} times");
}

#[test]
fn a_chain_with_a_retry_ends_the_same_whatever_is_left_of_a_write() {
    check(0);
}

#[test]
fn a_diamond_with_a_handled_failure_ends_the_same_whatever_is_left_of_a_write() {
    check(1);
}

#[test]
fn a_spread_that_bears_a_failure_ends_the_same_whatever_is_left_of_a_write() {
    check(2);
}

#[test]
fn a_gate_with_a_deadline_ends_the_same_whatever_is_left_of_a_write() {
    check(3);
}

#[test]
fn runs_within_runs_end_the_same_whatever_is_left_of_a_write() {
    check(4);
}

#[test]
fn runs_within_runs_go_on_from_their_failure_whatever_is_left_of_a_write() {
    check(5);
}

#[test]
fn a_run_that_is_frozen_and_let_go_on_ends_the_same_whatever_is_left_of_a_write() {
    check(6);
}

#[test]
fn a_program_ends_the_same_whatever_is_left_of_a_write() {
    check(7);
}
