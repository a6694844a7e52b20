//! One run, looked at from all sides: its records, its plan, every invariant, its rows.

use super::read::{Read, name_of, pinned, read};
use super::{Finding, REBUILD, REPORT, RESTORE, Seen, damage};
use crate::load::{Plans, plan_of};
use edgewise_core::fold::{Changes, Verdict, fold};
use edgewise_core::history::{Entry, Stream as History};
use edgewise_core::id::RunId;
use edgewise_core::invariant::{self, Rows, Step, Violation};
use edgewise_core::rows::{OutboxRow, TimerRow};
use edgewise_core::run::Run;
use edgewise_core::{Kind, Result};
use edgewise_store::{KeyClaim, Ledger, Position, Projections, RunRows, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Events times tasks up to which every invariant is checked after every event; beyond it, at the end.
const STEPWISE: u64 = 1_000_000;
/// How often rows that do not fit are read again: an engine may be writing them.
pub(super) const AGAIN: u32 = 4;

pub(super) struct Examiner<'a> {
    pub ledger: &'a mut dyn Ledger,
    pub rows: Option<&'a mut dyn Projections>,
    waiting: Waiting,
    pub watermark: Position,
    pub frozen: BTreeSet<RunId>,
    plans: Plans,
}

/// Timers and outbox of all runs: what waits, so it is little.
#[derive(Default)]
struct Waiting {
    timers: BTreeMap<Stream, Vec<TimerRow>>,
    outbox: BTreeMap<Stream, Vec<OutboxRow>>,
}

impl Waiting {
    fn read(rows: &mut dyn Projections) -> Result<Self> {
        let mut waiting = Self::default();
        for (stream, row) in rows.timers()? {
            waiting.timers.entry(stream).or_default().push(row);
        }
        for (stream, row) in rows.outbox()? {
            waiting.outbox.entry(stream).or_default().push(row);
        }
        waiting.timers.values_mut().for_each(|list| list.sort());
        waiting.outbox.values_mut().for_each(|list| list.sort());
        Ok(waiting)
    }
}

impl<'a> Examiner<'a> {
    /// Rows that cannot be read at all are a finding, and are not looked at any further.
    pub(super) fn new(
        ledger: &'a mut dyn Ledger,
        rows: Option<&'a mut dyn Projections>,
    ) -> Result<(Self, Option<Finding>)> {
        let frozen = ledger.frozen()?.into_iter().map(|(stream, _)| stream.run).collect();
        let (waiting, watermark, plans) = Default::default();
        let mut examiner = Self { ledger, rows, waiting, watermark, frozen, plans };
        let Some(rows) = &mut examiner.rows else { return Ok((examiner, None)) };
        // The watermark first: rows that are read later can only know more.
        let first = rows.watermark().and_then(|mark| Waiting::read(&mut **rows).map(|waiting| (mark, waiting)));
        match first {
            Ok((mark, waiting)) => (examiner.watermark, examiner.waiting) = (mark, waiting),
            Err(error) if error.kind == Kind::Corrupt => {
                examiner.rows = None;
                let finding = Finding { run: None, code: error.code, what: error.message, next: REBUILD };
                return Ok((examiner, Some(finding)));
            }
            Err(error) => return Err(error),
        }
        Ok((examiner, None))
    }

    pub(super) fn examine(&mut self, stream: &Stream, seen: &mut Seen) -> Result<Vec<Finding>> {
        let run = stream.run;
        let found = read(self.ledger, stream, self.watermark)?;
        seen.records += found.records;
        seen.events += found.entries.len() as u64;
        let mut findings = Vec::new();
        let whole = found.damage.is_none();
        let seq_at = found.seq_at;
        let Read { entries, damage: damaged, .. } = found;
        if let Some(error) = damaged {
            findings.push(damage(run, error, RESTORE)?);
        }
        if entries.is_empty() && whole && self.ledger.gone(stream)?.is_some() {
            // Taken away since it was listed.
            return Ok(findings);
        }
        if entries.is_empty() && whole {
            let what = "its stream has no records".to_owned();
            findings.push(Finding { run: Some(run), code: "records_missing", what, next: RESTORE });
        }
        if entries.is_empty() {
            return Ok(findings);
        }
        let plan =
            pinned(&entries).and_then(|hash| plan_of(self.ledger, hash, &mut self.plans).map(|plan| (hash, plan)));
        let (plan_hash, plan) = match plan {
            Ok(plan) => plan,
            Err(error) => {
                findings.push(damage(run, error, RESTORE)?);
                return Ok(findings);
            }
        };
        let history = History { run, plan_hash, plan: &plan, entries: &entries };
        let violation = stepwise(&history).and_then(|()| invariant::check_stream(&history)).err();
        findings.extend(violation.map(|violation| broken(&history, &violation, REPORT)));
        findings.extend(self.key(stream, &history)?);
        findings.extend(self.head(stream, &history, whole)?);
        findings.extend(self.links(stream, &history)?);
        // Rows of a damaged ledger may well be ahead of what can be read of it.
        if whole {
            findings.extend(self.mark(stream, &history)?);
            findings.extend(self.compare(stream, &history, seq_at)?);
        }
        Ok(findings)
    }

    /// What the ledger says of a stream's end is what its last record says.
    fn head(&mut self, stream: &Stream, history: &History<'_>, whole: bool) -> Result<Option<Finding>> {
        let Some(last) = history.entries.last().filter(|_| whole) else { return Ok(None) };
        let wrong = match self.ledger.head(stream) {
            Ok(head) if head.last == last.stamp.id => return Ok(None),
            Ok(head) => format!("its head names event {}, its last event is {}", head.last, last.stamp.id),
            Err(error) => return damage(stream.run, error, RESTORE).map(Some),
        };
        Ok(Some(Finding { run: Some(stream.run), code: "head_differs", what: wrong, next: RESTORE }))
    }

    /// A run that was started with a key owns it.
    fn key(&mut self, stream: &Stream, history: &History<'_>) -> Result<Option<Finding>> {
        let Some(edgewise_core::event::Event::RunTriggered(event)) = history.entries.first().map(|e| &e.event) else {
            return Ok(None);
        };
        let Some(key) = event.key.clone() else { return Ok(None) };
        let owner = self.ledger.key(&KeyClaim { stream: stream.clone(), key, body: 0 })?;
        if owner.is_some_and(|owner| owner.run == stream.run) {
            return Ok(None);
        }
        let what = "the key it was started with is not its own".to_owned();
        Ok(Some(Finding { run: Some(stream.run), code: "key_lost", what, next: RESTORE }))
    }

    /// Of every child that is over, the run that waits for it was told. Read once more before it is said: an engine may
    /// be telling it.
    fn links(&mut self, stream: &Stream, history: &History<'_>) -> Result<Option<Finding>> {
        let run = history.refold(u64::MAX);
        // Nothing of a run that is paused begins: a child that is to go on is over still.
        let waiting = run.waiting_for_children().filter(|task| !run.paused || !run.adopted.contains_key(task));
        for (task, child) in waiting.filter_map(|task| Some((task, run.last_child(task)?))) {
            if self.is_over(&Stream { run: child, ..stream.clone() })? {
                let later = read(self.ledger, stream, self.watermark)?;
                let now = History { entries: &later.entries, ..*history }.refold(u64::MAX);
                if now.awaited(task) == run.awaited(task) {
                    let what = format!("{} waits for run {child}, which is over", name_of(&run, task));
                    return Ok(Some(Finding { run: Some(run.id), code: "links_are_answered", what, next: REPORT }));
                }
            }
        }
        Ok(None)
    }

    /// Whether a run is over; one that is not there, or cannot be read, is not.
    fn is_over(&mut self, stream: &Stream) -> Result<bool> {
        let Read { entries, .. } = read(self.ledger, stream, self.watermark)?;
        let Ok(hash) = pinned(&entries) else { return Ok(false) };
        let Ok(plan) = plan_of(self.ledger, hash, &mut self.plans) else { return Ok(false) };
        let history = History { run: stream.run, plan_hash: hash, plan: &plan, entries: &entries };
        Ok(history.refold(u64::MAX).state.is_done())
    }

    /// The rows against the fold of the prefix that they name, and with the rest against the whole.
    fn compare(&mut self, stream: &Stream, history: &History<'_>, seq_at: u64) -> Result<Option<Finding>> {
        let mut last = None;
        for again in 0..AGAIN {
            let Some(rows) = self.rows.as_deref_mut() else { return Ok(None) };
            if again > 0 {
                self.waiting = Waiting::read(rows)?;
            }
            let found = match rows.load(stream) {
                Ok(found) => found,
                Err(error) => return damage(stream.run, error, REBUILD).map(Some),
            };
            last = match found {
                Some(found) => self.differs(stream, history, &found, seq_at)?,
                None => self.behind(stream.run, 0, seq_at),
            };
            if last.is_none() {
                break;
            }
        }
        Ok(last)
    }

    fn differs(
        &mut self,
        stream: &Stream,
        history: &History<'_>,
        rows: &RunRows,
        seq_at: u64,
    ) -> Result<Option<Finding>> {
        let applied = rows.run.applied_seq;
        if applied > history.entries.len() as u64 {
            // Written since the ledger was read; if not, the ledger has lost its end.
            let later = read(self.ledger, stream, self.watermark)?;
            if later.entries.len() as u64 >= applied {
                let longer = History { entries: &later.entries, ..*history };
                return self.differs(stream, &longer, rows, seq_at);
            }
            let what = format!("its rows are at seq {applied}, its ledger ends at seq {}", later.entries.len());
            return Ok(Some(Finding { run: Some(stream.run), code: "ledger_behind_rows", what, next: RESTORE }));
        }
        if let Some(finding) = self.behind(stream.run, applied, seq_at) {
            return Ok(Some(finding));
        }
        let timers = self.waiting.timers.get(stream).map_or(&[][..], Vec::as_slice);
        let outbox = self.waiting.outbox.get(stream).map_or(&[][..], Vec::as_slice);
        let all = Rows { run: &rows.run, tasks: &rows.tasks, given: &rows.given, timers, outbox };
        let held = invariant::refold_equals_projection(history, &all);
        Ok(held.err().map(|violation| broken(history, &violation, REBUILD)).or_else(|| reload(history, rows)))
    }

    /// Everything up to the watermark must be in the rows, but for runs that are frozen.
    fn behind(&self, run: RunId, applied: u64, seq_at: u64) -> Option<Finding> {
        if applied >= seq_at || self.frozen.contains(&run) {
            return None;
        }
        let what = format!("its rows are at seq {applied}, though the watermark says that they are at {seq_at}");
        Some(Finding { run: Some(run), code: "rows_missing", what, next: REBUILD })
    }
}

/// Every invariant over states and steps: after each event if the run is small, else at its end.
fn stepwise(history: &History<'_>) -> Result<(), Violation> {
    let end = history.refold(u64::MAX);
    if history.entries.len() as u64 * u64::from(end.total().max(1)) > STEPWISE {
        return invariant::check_state(&end);
    }
    let mut before = Run::new(history.run, history.plan_hash, Arc::clone(history.plan));
    history.walk(|after, entry, changes, verdict| {
        let Entry { stamp, event, .. } = entry;
        if let Verdict::Overflow(task) = verdict {
            let message = format!("{} has more resolved edges than edges", name_of(after, task));
            return Err(Violation { invariant: "counter_matches_edges", run: after.id, task: Some(task), message });
        }
        invariant::check_step(&Step { before: &before, stamp: *stamp, event, changes, verdict, after })?;
        invariant::check_state(after)?;
        before.clone_from(after);
        Ok(())
    })
}

/// What is loaded is what is folded.
fn reload(history: &History<'_>, rows: &RunRows) -> Option<Finding> {
    let finding = |what: String| Finding { run: Some(history.run), code: "load_differs", what, next: REBUILD };
    let mut run = match Run::from_rows(&rows.run, rows.tasks.clone(), rows.given.clone(), Arc::clone(history.plan)) {
        Ok(run) => run,
        Err(error) => return Some(finding(error.message)),
    };
    let mut changes = Changes::default();
    for entry in history.entries.iter().filter(|entry| entry.seq > rows.run.applied_seq) {
        changes.clear();
        fold(&mut run, entry.stamp, &entry.event, &mut changes);
    }
    // Rows know nothing of rounds that are over: loops have given them back.
    let differs = given_back(run) != given_back(history.refold(u64::MAX));
    differs.then(|| finding("its rows and the ledger's tail do not give the run".into()))
}

fn given_back(mut run: Run) -> Run {
    let over = std::mem::take(&mut run.over);
    run.release(over);
    run
}

fn broken(history: &History<'_>, violation: &Violation, next: &'static str) -> Finding {
    let at = violation.task.map(|task| {
        let run = history.refold(u64::MAX);
        format!(" at {}", name_of(&run, task))
    });
    let what = format!("{} does not hold{}: {}", violation.invariant, at.unwrap_or_default(), violation.message);
    Finding { run: Some(history.run), code: violation.invariant, what, next }
}
