//! Looks from elsewhere: what a reader of another machine asks of the one beside the store, and how it is answered.
//!
//! Rows are sent where they spare the other side much reading (lists of runs, control, the work graph); a single run is
//! folded over there from its records, so it is the same as here. What no reader may have never leaves: settings are
//! sent only as far as whoever answers allows, and the records they came from not at all.

use super::Reader;
use edgewise_core::control::{Control, ControlRow, ControlRows, Setting};
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::rows::{LeaseRow, OutboxRow, RunRow};
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_core::work::{Note, WorkRows};
use edgewise_core::{Error, Result};
use edgewise_store::{Gone, KeyClaim, RunFilter, Stream};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Most bytes of a log in one answer.
const LOG_BYTES: u64 = 256 << 10;
/// Most runs of one answer; whoever wants more asks for what stands behind the last.
pub(super) const RUNS: usize = 1_000;
/// Most records of one answer.
const RECORDS: usize = 1_000;

/// One look at a store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Peek {
    /// The last seq of a stream.
    Head(RunId),
    /// Records of a stream after a seq.
    Read {
        /// Whose.
        run: RunId,
        /// After which seq.
        after: u64,
        /// At most so many.
        limit: usize,
    },
    /// The bytes of a plan.
    Plan(PlanHash),
    /// The run that a key named.
    Key(String),
    /// The runs that are frozen, and why.
    Frozen,
    /// What is remembered of a run that was taken away.
    Gone(RunId),
    /// The runs whose ids begin so.
    Find {
        /// How they begin.
        prefix: String,
        /// At most so many.
        limit: usize,
    },
    /// The rows of runs, the newest first, each as it is now; a bounded number of them.
    Runs(Box<RunFilter>),
    /// What the workspace is set to.
    Control,
    /// The rows of the work graph.
    Work,
    /// What happened to an item.
    Notes(String),
    /// The tasks that wait for a worker.
    Outbox,
    /// The leases that are live.
    Leases,
    /// The names and lengths of a run's logs.
    Logs(RunId),
    /// A page of a log, as hexadecimal text: commands may write anything.
    Log {
        /// Whose.
        run: RunId,
        /// The log's name.
        name: String,
        /// From which byte.
        from: u64,
    },
}

/// A record on the wire: its bytes are JSON text.
#[derive(Serialize, Deserialize)]
pub(super) struct SentRecord {
    pub position: u64,
    pub first: u64,
    pub count: u32,
    pub text: String,
    pub checksum: u64,
}

/// What is remembered of a run, on the wire.
#[derive(Serialize, Deserialize)]
pub(super) struct SentGone {
    pub seq: u64,
    pub state: RunState,
    pub ended_at: Time,
    pub removed_at: Time,
    pub key: Option<String>,
    pub until: Time,
}

pub(super) type SentRuns = Vec<RunRow>;
pub(super) type SentOutbox = Vec<(RunId, OutboxRow)>;
pub(super) type SentLeases = Vec<(RunId, LeaseRow)>;
pub(super) type SentNotes = Vec<Note>;
pub(super) type SentWork = Option<WorkRows>;
/// The names of logs, and how long they are.
pub type SentLogs = Vec<(String, u64)>;
pub(super) type SentFrozen = Vec<(RunId, String)>;

impl Reader {
    /// Answers a look from elsewhere as JSON text. `keep` says whether a setting may be sent, and may change what is
    /// sent of it.
    pub fn peek(&mut self, peek: &Peek, keep: &dyn Fn(&Name, &mut Setting) -> bool) -> Result<String> {
        match peek {
            Peek::Head(run) => text(&self.ledger.head(&self.home.stream(*run))?.seq),
            Peek::Read { run, after, limit } => text(&self.sent_records(*run, *after, *limit)?),
            Peek::Plan(hash) => {
                let bytes = self.ledger.plan(*hash)?;
                text(&bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
            }
            Peek::Key(key) => {
                let claim = KeyClaim { stream: self.home.stream(RunId(0)), key: key.clone(), body: 0 };
                text(&self.ledger.key(&claim)?.map(|owner| (owner.run, owner.body)))
            }
            Peek::Frozen => text(&by_run::<SentFrozen, _>(self.ledger.frozen()?)),
            Peek::Gone(run) => text(&self.gone(*run)?.map(SentGone::of)),
            Peek::Find { prefix, limit } => text(&self.sent_ids(prefix, *limit)?),
            Peek::Runs(filter) => {
                let limit = filter.limit.min(RUNS);
                text(&self.runs(&RunFilter { limit, ..(**filter).clone() })?)
            }
            Peek::Control => {
                let mut control = self.control()?;
                control.settings.retain(|key, setting| keep(key, setting));
                text(&rows_of(&control))
            }
            Peek::Work => text(&self.projections.work(&self.home.stream(RunId::WORK))?),
            Peek::Notes(item) => text(&self.projections.work_notes(&self.home.stream(RunId::WORK), item)?),
            Peek::Outbox => text(&by_run::<SentOutbox, _>(self.projections.outbox()?)),
            Peek::Leases => text(&by_run::<SentLeases, _>(self.projections.leases()?)),
            Peek::Logs(run) => text(&self.sent_logs(*run)?),
            Peek::Log { run, name, from } => text(&self.sent_log(*run, name, *from)?),
        }
    }

    fn sent_ids(&mut self, prefix: &str, limit: usize) -> Result<Vec<RunId>> {
        let (found, home) = (self.ledger.find(prefix, limit.min(RECORDS))?, &self.home);
        let ours = found.iter().filter(|s| s.tenant == home.tenant && s.workspace == home.workspace);
        Ok(ours.map(|stream| stream.run).collect())
    }

    fn sent_logs(&self, run: RunId) -> Result<SentLogs> {
        let Some(dir) = &self.logs else { return Ok(Vec::new()) };
        let Ok(files) = std::fs::read_dir(dir.join(run.to_string())) else { return Ok(Vec::new()) };
        let logs = files.flatten().filter_map(|file| {
            let name = file.file_name().into_string().ok().filter(|name| is_log(name))?;
            Some((name, file.metadata().ok()?.len()))
        });
        Ok(logs.collect())
    }

    fn sent_log(&self, run: RunId, name: &str, from: u64) -> Result<String> {
        let missing = || Error::not_found("no_such_log", format!("run {run} has no log {name:?}"));
        let dir = self.logs.as_ref().filter(|_| is_log(name)).ok_or_else(missing)?;
        let mut bytes = Vec::new();
        let read = File::open(dir.join(run.to_string()).join(name)).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            file.take(LOG_BYTES).read_to_end(&mut bytes)
        });
        read.map_err(|error| missing().with_source(error))?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn sent_records(&mut self, run: RunId, after: u64, limit: usize) -> Result<Vec<SentRecord>> {
        if run == RunId::CONTROL {
            // Settings are among them that nobody may read; the rows have all that may be sent.
            return Ok(Vec::new());
        }
        let page = self.ledger.read(&self.home.stream(run), after, limit.min(RECORDS))?;
        let sent = page.into_iter().map(|stored| {
            let record = stored.record;
            let text = String::from_utf8_lossy(&record.bytes).into_owned();
            let (first, count, checksum) = (record.first, record.count, record.checksum);
            SentRecord { position: stored.position.0, first, count, text, checksum }
        });
        Ok(sent.collect())
    }
}

/// Rows without their walls: those are the same on both sides.
fn by_run<T: FromIterator<(RunId, R)>, R>(rows: Vec<(Stream, R)>) -> T {
    rows.into_iter().map(|(stream, row)| (stream.run, row)).collect()
}

impl SentGone {
    fn of(gone: Gone) -> Self {
        let Gone { seq, state, ended_at, removed_at, key, until, .. } = gone;
        Self { seq, state, ended_at, removed_at, key, until }
    }
}

/// Whether a name is one that logs have: it leads nowhere else.
fn is_log(name: &str) -> bool {
    let numbers = name.strip_suffix(".log").unwrap_or_default();
    !numbers.is_empty() && numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn rows_of(control: &Control) -> ControlRows {
    let rows: Vec<ControlRow> = control.keys().filter_map(|key| control.row(&key)).collect();
    ControlRows { applied_seq: control.seq, version: control.last, rows }
}

fn text(answer: &impl Serialize) -> Result<String> {
    serde_json::to_string(answer)
        .map_err(|error| Error::bug("unprintable", "an answer has no JSON form").with_source(error))
}
