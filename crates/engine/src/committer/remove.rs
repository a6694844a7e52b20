//! Taking runs away: asked for by a person, or by the engine itself in small steps.

use super::Committer;
use crate::retention::{Kept, Removing, Retention};
use edgewise_core::id::RunId;
use edgewise_core::rows::RunRow;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Kind, Result};
use edgewise_store::{Gone, Removal, RunFilter, Term};

/// Most runs taken away in one step.
const RUNS: usize = 100;
/// Most tasks of runs taken away in one step, but for a run that has more by itself: their rows go in one transaction.
const TASKS: u64 = 20_000;
/// Between two steps of one pass.
const STEP_REST: Millis = Millis(200);
/// Between two passes.
const PASS_REST: Millis = Millis(60_000);

/// What became of taking runs away.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub kept: Vec<Kept>,
    pub more: bool,
}

/// Where the engine's own retention is.
pub(super) struct Pass {
    rules: Retention,
    due: Time,
    /// Where the last step of this pass ended in the list.
    after: Option<(Time, RunId)>,
}

impl<R> Committer<R> {
    /// From now on takes runs away by itself.
    pub fn keep_to(&mut self, rules: Retention, now: Time) {
        self.retention = rules.is_possible().then_some(Pass { rules, due: now, after: None });
    }

    /// When runs are next looked for that may go.
    pub(super) fn retention_due(&self) -> Option<Time> {
        self.retention.as_ref().map(|pass| pass.due)
    }

    /// One small step of the engine's own retention, if it is time. An error is fatal.
    pub fn retain(&mut self, now: Time) -> Result<()> {
        // A clock that went back must not put it off for ever.
        let early = |pass: &Pass| now < pass.due && pass.due <= now.plus(PASS_REST);
        let Some(mut pass) = self.retention.take_if(|pass| !early(pass)) else { return Ok(()) };
        self.desk.now = now;
        let stepped = self.step_of(&mut pass, now);
        let rest = match stepped {
            Ok(true) => STEP_REST,
            Ok(false) => PASS_REST,
            Err(error) if error.code == "sync_failed" => return Err(error),
            // A store that does not answer is asked again at the next pass.
            Err(_) => PASS_REST,
        };
        pass.due = now.plus(rest);
        self.retention = Some(pass);
        Ok(())
    }

    /// True if there is more to do in this pass.
    fn step_of(&mut self, pass: &mut Pass, now: Time) -> Result<bool> {
        let filter = RunFilter { after: pass.after, ..pass.rules.candidates(now, RUNS) };
        let page = self.desk.projections.runs(&filter)?;
        let cutoff = pass.rules.cutoff(now);
        let (mut runs, mut tasks, mut last) = (Vec::new(), 0, None);
        for (stream, row) in &page {
            if tasks >= TASKS {
                break;
            }
            last = Some((row.triggered_at, row.id));
            let ours = stream.tenant == self.desk.home.tenant && stream.workspace == self.desk.home.workspace;
            if ours && row.completed_at <= cutoff {
                tasks += row.counts.iter().map(|n| u64::from(*n)).sum::<u64>();
                runs.push(row.id);
            }
        }
        let more = self.remove(&Removing { runs, keep_keys: pass.rules.keep_keys })?.more;
        let whole = last == page.last().map(|(_, row)| (row.triggered_at, row.id)) && page.len() < RUNS;
        pass.after = if whole { None } else { last };
        Ok(more || !whole)
    }

    /// Takes runs away, each unless there is a reason against it.
    pub(super) fn remove(&mut self, removing: &Removing) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let mut going = Vec::new();
        for run in &removing.runs {
            match self.may_go(*run, removing.keep_keys) {
                Ok(gone) => going.push(gone),
                Err(error) if error.kind == Kind::Unavailable => return Err(error),
                Err(error) => outcome.kept.push(kept(*run, &error)),
            }
        }
        let removed = self.desk.ledger.remove(&Removal {
            streams: going.clone(),
            at: self.desk.now,
            work_keys: Some((self.desk.home.space(), Time(self.desk.now.0.saturating_sub(removing.keep_keys.0)))),
        })?;
        outcome.more = removed.more;
        for gone in going {
            if removed.taken < removing.runs.len() && self.desk.ledger.head(&gone.stream)?.seq > 0 {
                let error = Error::conflict("run_moved", "something happened to it meanwhile: look at it again");
                outcome.kept.push(kept(gone.stream.run, &error));
                continue;
            }
            self.desk.put_away(gone.stream.run);
            self.desk.gone.push(gone.stream);
        }
        Ok(outcome)
    }

    /// What would be remembered of a run, if it may go.
    fn may_go(&mut self, run: RunId, keep_keys: Millis) -> Result<Gone> {
        if self.desk.ledger.mark(&self.desk.home.stream(run))?.is_some() {
            let message = "it is frozen: look at the damage with `edgewise doctor --verify` first";
            return Err(Error::conflict("run_frozen", message));
        }
        if self.is_being_written(run) || self.desk.runs.get(&run).is_some_and(|cached| cached.run.leased > 0) {
            return Err(Error::conflict("run_busy", "its last facts are still being written: try again in a moment"));
        }
        let row = self.row(run)?.ok_or_else(|| crate::command::no_such_run(run))?;
        if !row.state.is_done() {
            let message = "it is not over: only runs that are over can be taken away; `edgewise cancel` ends one";
            return Err(Error::conflict("run_not_over", message));
        }
        if let Some(parent) = row.marks.parent
            && self.row(parent)?.is_some_and(|row| !row.state.is_done())
        {
            let message = format!("run {parent} started it and is not over");
            return Err(Error::conflict("run_waited_for", message));
        }
        Ok(Gone {
            stream: self.desk.home.stream(run),
            seq: row.applied_seq,
            state: row.state,
            ended_at: row.completed_at,
            removed_at: self.desk.now,
            until: row.completed_at.plus(keep_keys),
            key: row.marks.key,
        })
    }

    fn row(&mut self, run: RunId) -> Result<Option<RunRow>> {
        let stream = self.desk.home.stream(run);
        let filter = RunFilter { terms: vec![Term::Run(run)], limit: usize::MAX, ..RunFilter::default() };
        let rows = self.desk.projections.runs(&filter)?;
        Ok(rows.into_iter().find(|(found, _)| *found == stream).map(|(_, row)| row))
    }
}

fn kept(run: RunId, error: &Error) -> Kept {
    Kept { run, code: error.code.to_owned(), message: error.message.clone() }
}
