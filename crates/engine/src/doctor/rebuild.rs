//! Rows made anew: every run folded from its ledger and written as the engine would have written it.

use super::{Finding, GROUPS, RESTORE, Seen, Told, control, count_runs, damage, group};
use crate::cached::Cached;
use crate::desk::lost_lease;
use crate::leases::Leases;
use crate::load::{Plans, load};
use crate::queues;
use edgewise_core::Result;
use edgewise_core::event::TaskIx;
use edgewise_core::state::TaskState;
use edgewise_core::time::Time;
use edgewise_store::{Flush, Ledger, Projections, RunChange};

/// Tasks that are written together.
const BATCH: usize = 20_000;

/// Writes the rows of every run into projections that have none. Runs that cannot be folded are told and left out.
pub fn rebuild(
    ledger: &mut dyn Ledger,
    rows: &mut dyn Projections,
    tell: &mut dyn FnMut(Told) -> Result<()>,
) -> Result<Seen> {
    let (total, tail) = (count_runs(ledger)?, ledger.tail()?);
    let mut plans = Plans::default();
    let mut batch: Vec<RunChange> = Vec::new();
    let mut seen = Seen::default();
    for number in 0..GROUPS {
        for stream in group(ledger, number)? {
            if !stream.run.is_run() {
                control::rebuild(ledger, rows, &stream)?.map_or(Ok(()), |finding| tell(Told::Found(finding)))?;
                continue;
            }
            match load(ledger, rows, &stream, &mut plans) {
                Ok(mut cached) => {
                    seen.events += cached.run.seq;
                    let leases = leases(&cached);
                    batch.extend(cached.change(&leases));
                }
                Err(error) => {
                    let Finding { what, .. } = &damage(stream.run, error, RESTORE)?;
                    let what = format!("it has no rows now: {what}");
                    let code = "not_rebuilt";
                    tell(Told::Found(Finding { run: Some(stream.run), code, what, next: RESTORE }))?;
                }
            }
            if batch.iter().map(|change| change.tasks.len() + 1).sum::<usize>() > BATCH {
                // The watermark last: until then whoever opens the rows folds what they do not have.
                rows.flush(&Flush { runs: std::mem::take(&mut batch), ..Flush::default() })?;
            }
            seen.runs += 1;
            tell(Told::Progress(seen.runs, total))?;
        }
    }
    rows.flush(&Flush { runs: batch, watermark: tail, ..Flush::default() })?;
    seen.records = tail.0 - ledger.holes()?.min(tail.0);
    Ok(seen)
}

/// Who had which lease, as the ledger says it; until when is decided by the engine that finds it.
fn leases(cached: &Cached) -> Leases {
    let run = &cached.run;
    let (mut leases, mut queues) = (Leases::default(), queues::Open::default());
    if run.leased == 0 {
        return leases;
    }
    for task in (0..run.total()).map(TaskIx) {
        if run.tasks[task.0 as usize].state == TaskState::InProgress && run.is_leasable(task) {
            let found = cached.tail_leases.get(&task).cloned();
            leases.put(run.id, task, lost_lease(run, task, found, (Time::NEVER, true), &mut queues));
        }
    }
    leases
}
