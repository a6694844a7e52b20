//! Recovery: what an earlier engine left behind becomes hints again, without loading what only waits.

use super::Committer;
use crate::desk::{Desk, lost_lease, offer_turn};
use crate::lanes::Offer;
use edgewise_core::id::RunId;
use edgewise_core::run::{ADVANCE_ACTION, DISOWNED_ACTION, SUB_RUN_ACTION};
use edgewise_core::state::TaskState;
use edgewise_core::time::Time;
use edgewise_core::{Kind, Result};
use edgewise_store::Position;
use std::collections::BTreeSet;

impl<R> Committer<R> {
    /// Reads what is frozen, what the rows do not have yet, and what waits.
    pub fn recover(&mut self, now: Time) -> Result<()> {
        self.desk.now = now;
        self.desk.recovering = true;
        let recovered = self.recover_all();
        (self.desk.recovering, self.desk.rowless) = (false, false);
        recovered
    }

    fn recover_all(&mut self) -> Result<()> {
        for (stream, reason) in self.desk.ledger.frozen()? {
            self.desk.frozen.insert(stream.run, reason);
        }
        match self.desk.control().map(drop) {
            // Runs go on, whatever became of schedules and settings.
            Err(error) if matches!(error.kind, Kind::Corrupt | Kind::Conflict) => {}
            other => other?,
        }
        match self.desk.work().map(drop) {
            Err(error) if matches!(error.kind, Kind::Corrupt | Kind::Conflict) => {}
            other => other?,
        }
        let behind = self.behind_the_ledger()?;
        for run in &behind {
            let frozen = self.desk.frozen.contains_key(run);
            match if frozen { self.desk.rest(*run) } else { self.desk.open(*run).map(drop) } {
                Ok(()) => {}
                // Damage concerns its own run only: it is frozen, and the others go on.
                Err(error) if matches!(error.kind, Kind::Corrupt | Kind::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        self.hints_from_rows(&behind)
    }

    /// Runs with records after the watermark.
    fn behind_the_ledger(&mut self) -> Result<BTreeSet<RunId>> {
        let mut behind = BTreeSet::new();
        let mut at: Position = self.desk.projections.watermark()?;
        self.desk.rowless = at == Position::default();
        loop {
            let page = self.desk.ledger.read_all(at, 10_000)?;
            let Some(last) = page.last() else {
                self.desk.seen = at;
                return Ok(behind);
            };
            at = last.position;
            behind.extend(page.iter().filter(|s| self.is_ours(s)).map(|s| s.stream.run).filter(|run| run.is_run()));
        }
    }

    fn is_ours(&self, stored: &edgewise_store::Stored) -> bool {
        stored.stream.tenant == self.desk.home.tenant && stored.stream.workspace == self.desk.home.workspace
    }

    fn hints_from_rows(&mut self, loaded: &BTreeSet<RunId>) -> Result<()> {
        let here = |run: &RunId| loaded.contains(run);
        for (stream, row) in self.desk.projections.outbox()? {
            let run = stream.run;
            if here(&run) || self.desk.frozen.contains_key(&run) {
                continue;
            }
            if row.action.as_str() == ADVANCE_ACTION {
                self.desk.advancing.insert(run);
            } else if row.action.as_str() == DISOWNED_ACTION {
                self.desk.links.due.insert((run, row.task));
            } else if row.action.as_str() == SUB_RUN_ACTION {
                let child = RunId::child(run, row.task.0, row.generation, row.attempt);
                self.desk.links.unsure.push((run, row.task, child));
            } else {
                let offer = Offer { run, task: row.task, generation: row.generation, attempt: row.attempt };
                let Desk { lanes, queues, .. } = &mut self.desk;
                offer_turn(lanes, queues, &row.action, offer, &row.turn);
            }
        }
        for (stream, row) in self.desk.projections.timers()? {
            if !here(&stream.run) && !self.desk.frozen.contains_key(&stream.run) {
                self.desk.timers.insert((row.due, stream.run, row.key));
            }
        }
        for (stream, row) in self.desk.projections.leases()? {
            let run = stream.run;
            let at = (self.desk.now, true);
            let frozen = self.desk.frozen.contains_key(&run);
            match if frozen { self.desk.rest(run) } else { self.desk.open(run).map(drop) } {
                // Nobody else would watch over this lease.
                Err(error) if error.kind == Kind::Unavailable => return Err(error),
                _ => {}
            }
            let Some(cached) = self.desk.runs.get(&run) else { continue };
            if cached.tail_leases.contains_key(&row.task) {
                // Granted anew since, perhaps under the same attempt: the row tells of a lease that came back.
                continue;
            }
            let task = cached.run.task(row.task);
            if task.is_some_and(|task| task.state == TaskState::InProgress && task.token == row.token) {
                let Desk { runs, queues, leases, .. } = &mut self.desk;
                let Some(cached) = runs.get(&run) else { continue };
                leases.put(run, row.task, lost_lease(&cached.run, row.task, Some(row.clone().into()), at, queues));
            }
        }
        Ok(())
    }
}
