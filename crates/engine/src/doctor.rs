//! The doctor: reads everything again, compares, and makes what is derived anew.
//!
//! One run at a time, so that memory is bounded by the largest run. Damage concerns its own run only: it is
//! found, told with what to do about it, and the others are looked at all the same.

mod control;
mod examine;
mod left_over;
mod marks;
mod queues;
mod read;
mod rebuild;
mod work;

pub use marks::frozen_by;
pub use queues::queues;
pub use rebuild::rebuild;

use edgewise_core::event::NEWER_RULES;
use edgewise_core::id::RunId;
use edgewise_core::{Kind, Result};
use edgewise_store::{Ledger, Projections, Stream};

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Of which run, if of one.
    pub run: Option<RunId>,
    /// Stable and machine-readable.
    pub code: &'static str,
    /// What was expected and what was found.
    pub what: String,
    /// What to do about it.
    pub next: &'static str,
}

/// What to do about a damaged ledger: it is ground, nothing gives it back.
pub const RESTORE: &str = "restore ledger.db from a backup; until then the run is only good for looking";
/// What to do about damaged rows: they are derived.
pub const REBUILD: &str = "edgewise doctor --rebuild makes the rows anew from the ledger";
/// What to do about a broken rule.
pub const REPORT: &str = "this is a fault in edgewise: please report it with `edgewise events RUN -o jsonl`";

/// What to do about a run of a newer program.
const UPGRADE: &str = "use the newer program that began it; if the run is frozen, unfreeze it there";

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Runs.
    pub runs: u64,
    /// Records of the ledger.
    pub records: u64,
    /// Events in them.
    pub events: u64,
}

/// What is told while the doctor is at work.
pub enum Told {
    /// So many runs of so many are done.
    Progress(u64, u64),
    /// Something was found.
    Found(Finding),
}

/// How many groups the streams are listed in, so that not all of them are held at once.
const GROUPS: u128 = 1_024;

/// The streams of a ledger, a group at a time: those whose run id begins with the same two characters.
fn group(ledger: &mut dyn Ledger, number: u128) -> Result<Vec<Stream>> {
    let first = RunId(number << 70).to_string();
    ledger.find(&first[..2], usize::MAX)
}

/// How many streams there are.
pub fn count_runs(ledger: &mut dyn Ledger) -> Result<u64> {
    let mut count = 0;
    for number in 0..GROUPS {
        count += group(ledger, number)?.iter().filter(|stream| stream.run.is_run()).count() as u64;
    }
    Ok(count)
}

/// Refolds every run, checks every invariant, and compares the rows, if there are any, row by row.
pub fn verify<'a>(
    ledger: &'a mut dyn Ledger,
    rows: Option<&'a mut dyn Projections>,
    tell: &mut dyn FnMut(Told) -> Result<()>,
) -> Result<Seen> {
    let (total, tail) = (count_runs(ledger)?, ledger.tail()?);
    let (mut examiner, unreadable) = examine::Examiner::new(ledger, rows)?;
    unreadable.map_or(Ok(()), |finding| tell(Told::Found(finding)))?;
    let mut seen = Seen::default();
    for number in 0..GROUPS {
        for stream in group(examiner.ledger, number)? {
            if !stream.run.is_run() {
                examiner.own_stream(&stream, &mut seen)?.map_or(Ok(()), |finding| tell(Told::Found(finding)))?;
                continue;
            }
            for finding in examiner.examine(&stream, &mut seen)? {
                tell(Told::Found(finding))?;
            }
            seen.runs += 1;
            tell(Told::Progress(seen.runs, total))?;
        }
    }
    for finding in examiner.left_over()? {
        tell(Told::Found(finding))?;
    }
    // Positions are dense but for streams that were taken away, so a record that is lost leaves a hole, whichever
    // stream it was of. Runs may be taken away meanwhile, which makes more holes, never fewer.
    if seen.records + examiner.ledger.holes()? < tail.0 {
        let what = format!("the ledger ends at position {}, but only {} records are there", tail.0, seen.records);
        tell(Told::Found(Finding { run: None, code: "records_missing", what, next: RESTORE }))?;
    }
    Ok(seen)
}

/// Damage is a finding; what has nothing to do with the run (a full disk, a busy store) ends the examination.
fn damage(run: RunId, error: edgewise_core::Error, next: &'static str) -> Result<Finding> {
    let next = if error.code == NEWER_RULES { UPGRADE } else { next };
    match error.kind {
        Kind::Corrupt | Kind::Invalid | Kind::NotFound | Kind::Bug => {
            Ok(Finding { run: Some(run), code: error.code, what: error.message, next })
        }
        _ => Err(error),
    }
}
