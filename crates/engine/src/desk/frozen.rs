//! Frozen runs: what an engine keeps of a run that nobody may decide on.
//!
//! The mark is in the ledger, set and taken away by the append that carries the event which says so, and any other
//! append to a marked stream is refused there: an engine that has not heard of it hears of it then, before anything it
//! decided is so. What it knows of marks is therefore only a hint: one that is set is learned from the append or from
//! the event, one that was taken away from a look at the ledger.
//!
//! A frozen run still has two things that others rely on: rows, which must not stay behind a watermark that passes
//! them, and leases, whose workers hold slots and keys for as long as they may be at work.

use super::{Batch, Desk};
use crate::command::LeaseRef;
use crate::leases::Lease;
use crate::load;
use edgewise_core::id::RunId;
use edgewise_core::run::DISOWNED;
use edgewise_core::time::Millis;
use edgewise_core::{Error, Kind, Result};

/// So long a worker that was told to stop may still be at work.
const STOPS_WITHIN: Millis = Millis(10_000);

impl Desk {
    /// Whether a run is frozen. Somebody else may have let it go on; what this very commit says of it comes first.
    pub fn is_frozen(&mut self, run: RunId) -> Result<bool> {
        if self.batch.marks.contains_key(&run) {
            return Ok(self.runs.get(&run).is_some_and(|cached| cached.run.frozen.is_some()));
        }
        if !self.frozen.contains_key(&run) {
            return Ok(false);
        }
        if self.ledger.mark(&self.home.stream(run))?.is_some() {
            return Ok(true);
        }
        self.thaw(run);
        if self.unloaded.contains(&run) {
            let message = format!("run {run} goes on, and cannot be read just now: try again");
            return Err(Error::unavailable("store_busy", message));
        }
        // What is damaged is frozen again at once.
        Ok(self.frozen.contains_key(&run))
    }

    /// What is said to whoever wants something of a frozen run.
    pub fn rests(&self, run: RunId) -> Error {
        let reason = self.frozen.get(&run).map_or("", String::as_str);
        let message = format!("run {run} is frozen: {reason}. `edgewise show {}` says more", run.short());
        Error::conflict("run_frozen", message)
    }

    /// Marks a run frozen without an event, because it is damaged: only reads work on it from now on.
    pub fn freeze(&mut self, run: RunId, reason: &str) -> Result<()> {
        let marked = self.ledger.freeze(&self.home.stream(run), Some(reason));
        self.set_frozen(run, reason);
        match marked {
            // A mark that could not be kept is found again with the damage itself.
            Err(error) if error.code != "sync_failed" => Ok(()),
            other => other,
        }
    }

    /// Nothing on the desk moves a frozen run. It stays there until its rows are written, and its leases until their
    /// workers stop.
    pub fn set_frozen(&mut self, run: RunId, reason: &str) {
        self.frozen.insert(run, reason.to_owned());
        self.advancing.remove(&run);
    }

    /// Which of these runs are frozen: an append was refused for one of them, and others may be too.
    pub fn learn_marks(&mut self, runs: &[RunId]) {
        for run in runs {
            if let Ok(Some(reason)) = self.ledger.mark(&self.home.stream(*run)) {
                self.set_frozen(*run, &reason);
            }
        }
    }

    /// A run goes on: whatever waits in it, and whoever waits for it, becomes a hint again, now or as soon as the store
    /// answers.
    pub fn thaw(&mut self, run: RunId) {
        if !self.frozen.contains_key(&run) {
            return;
        }
        self.forget(&[run]);
    }

    /// Loads a run that was frozen when it was forgotten: it may have been let go on since.
    pub fn load_frozen(&mut self, run: RunId) -> Result<()> {
        if self.ledger.mark(&self.home.stream(run))?.is_some() {
            return self.rest(run);
        }
        let Some(reason) = self.frozen.remove(&run) else { return Ok(()) };
        if let Err(error) = self.open(run).map(drop) {
            if error.kind == Kind::Unavailable {
                // Looked at again, so that its parent is not forgotten.
                self.frozen.insert(run, reason);
            }
            return Err(error);
        }
        self.hint_parent(run);
        Ok(())
    }

    /// Whoever began a run that goes on may have let go of it meanwhile, or still waits for it.
    pub fn hint_parent(&mut self, run: RunId) {
        let parent = self.runs.get(&run).and_then(|cached| cached.run.parent.as_ref());
        self.links.due.extend(parent.into_iter().flat_map(|p| [(p.run, p.link.task), (p.run, DISOWNED)]));
    }

    /// Runs that others let go on: whoever did may be gone, so any engine must go on with them.
    pub fn look_at_marks(&mut self) {
        let frozen: Vec<RunId> = self.frozen.keys().copied().collect();
        for run in frozen {
            if matches!(self.ledger.mark(&self.home.stream(run)), Ok(None)) {
                self.thaw(run);
            }
        }
    }

    /// What a commit says of marks is so now: whatever it froze rests, and what it let go on is loaded with its hints.
    pub fn marks_landed(&mut self) {
        for run in std::mem::take(&mut self.batch.marks).into_keys() {
            match self.runs.get(&run).and_then(|cached| cached.run.freeze_mark()) {
                Some(reason) => self.set_frozen(run, &reason),
                None => self.thaw(run),
            }
        }
    }

    /// What a commit would have said of marks never was: they are as they were before.
    pub fn take_marks_back(&mut self) {
        for (run, was) in std::mem::take(&mut self.batch.marks) {
            match was {
                Some(reason) => self.set_frozen(run, &reason),
                None => drop(self.frozen.remove(&run)),
            }
        }
    }

    /// Puts a frozen run on the desk for its rows and its leases alone: nothing of it becomes a hint.
    pub fn rest(&mut self, run: RunId) -> Result<()> {
        match self.lay_down(run) {
            // The rows of what is damaged stay as they are.
            Err(error) if error.kind == Kind::Corrupt => Ok(()),
            other => other,
        }
    }

    /// The same for whoever must know that it is whole.
    pub fn lay_down(&mut self, run: RunId) -> Result<()> {
        if self.runs.contains_key(&run) {
            return Ok(());
        }
        let stream = self.home.stream(run);
        let cached = load::load(&mut *self.ledger, &mut *self.projections, &stream, &mut self.plans)?;
        let kept = self.kept_leases(&cached)?;
        self.adopt_leases(cached, kept);
        Ok(())
    }

    /// A worker for a frozen run was told to stop. One whose lease has no deadline is not heard of again: it is lost if
    /// the run goes on.
    pub fn stops(&mut self, beat: &LeaseRef) {
        let token = beat.token.hash();
        let endless = |lease: &&Lease| lease.token == token && lease.deadline.is_none();
        if let Some(lease) = self.leases.get(beat.run, beat.task).filter(endless).cloned() {
            let deadline = Some(self.now.plus(STOPS_WITHIN));
            self.leases.put(beat.run, beat.task, Lease { deadline, ..lease.clone() });
            self.refused(beat, lease);
        }
    }

    /// A lease is not what it was, because its run rests. If this very commit says so it may not land: then its worker
    /// was told nothing, and works on.
    fn refused(&mut self, of: &LeaseRef, was: Lease) {
        if self.batch.marks.contains_key(&of.run) {
            self.batch.refused.push((of.run, of.task, was));
        }
    }

    /// The run that a worker says something about. Whatever that is, and however late: it is not at work any more.
    pub fn open_for(&mut self, lease: &LeaseRef) -> Result<()> {
        let token = lease.attempt().token;
        self.has_stopped(lease.run, &lease.attempt());
        let opened = self.open(lease.run).map(drop);
        // Nothing is written of it, so that only its slots are given back, unless this very commit has done so already.
        // Who is told to say it again says it again.
        let over = |batch: &Batch| batch.leases_over.contains(&(lease.run, lease.task));
        if opened.as_ref().is_err_and(|error| error.kind != Kind::Unavailable)
            && self.frozen.contains_key(&lease.run)
            && !over(&self.batch)
            && let Some(was) = self.leases.leave(lease.run, lease.task, token)
        {
            self.refused(lease, was);
        }
        opened
    }
}
