//! What is said on the socket: one JSON object a line, in both directions.
//!
//! ```text
//! {}                                                   the engine is there, and reads from now on
//! {"v":1,"id":7,"ask":{"wait":"7k2m9xq4…"}}          asked
//! {"id":7,"ok":{"ended":"Complete"}}                   answered, maybe much later
//! {"id":7,"error":{"kind":"not_found","code":"run_not_found","message":"…"}}
//! {"bye":7}                                            the engine leaves; nothing after 7 was read
//! ```
//!
//! Who may ask is decided before: the socket is for its owner only.

use crate::command::{Answer, Command, GateAct, Register, Rerun, RunAct, Satisfy, SetQueue, Start, Supply, TaskAct};
use crate::retention::{Kept, Removing};
use crate::work::{Import, Look, Ops};
use edgewise_core::control::{ScheduleSet, SettingChanged};
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::state::RunState;
use edgewise_core::work::Done;
use edgewise_core::{Error, Kind, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The version of the protocol.
pub(super) const VERSION: u32 = 1;
/// Longest line that is read: a large plan with a large input.
pub(super) const LINE_BYTES: usize = 256 << 20;
/// Most connections at once.
pub(super) const CONNECTIONS: usize = 64;
/// Most requests of one connection that are not answered yet.
pub(super) const PENDING: usize = 256;
/// Most codes of errors, and their longest, that a client learns from its engine.
const CODES: (usize, usize) = (256, 64);

/// What can be asked of a folder's engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Who are you?
    Ping,
    /// Start a run.
    #[serde(with = "start")]
    Start(Start),
    /// Nothing of a run may start any more.
    Cancel(RunAct),
    /// No new leases of a run for now.
    Pause(RunAct),
    /// Leases again.
    Resume(RunAct),
    /// Say yes to a gate.
    Approve(GateAct),
    /// Take a yes back.
    Withdraw(GateAct),
    /// Say no to a gate.
    Reject(GateAct),
    /// Say that what a gate waits for outside is so.
    Satisfy(Satisfy),
    /// Leave a task out.
    Skip(TaskAct),
    /// Cancel one task.
    CancelTask(TaskAct),
    /// Declare a task dealt with, without output.
    Resolve(TaskAct),
    /// Supply a task's output.
    Supply(Supply),
    /// Give a failed task new attempts.
    Reset(TaskAct),
    /// Declare a whole run dealt with.
    ResolveRun(RunAct),
    /// Let the failures stand that a run holds.
    GiveUp(RunAct),
    /// Let nothing but reads work on a run.
    Freeze(RunAct),
    /// Let a frozen run go on.
    Unfreeze(RunAct),
    /// Wait for a run's end.
    Wait(RunId),
    /// Take runs away that are over.
    Remove(Removing),
    /// Put a flow under its name.
    #[serde(with = "register")]
    Register(Register),
    /// Make, change or take away a schedule.
    SetSchedule(ScheduleSet),
    /// Change or take away a setting.
    ChangeSetting(SettingChanged),
    /// Say what a queue is from now on.
    SetQueue(SetQueue),
    /// Have finished work of a run done again.
    Rerun(Rerun),
    /// Operations on the work graph: all of them, or none.
    Work(Ops),
    /// Bring a work graph in.
    Import(Import),
    /// Look at the work graph.
    Look(Box<Look>),
}

/// What a folder's engine says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// I am here.
    Pong {
        /// Without a watcher of my own: I go on until nothing is left to do.
        background: bool,
        /// The run that my own process waits for: I am here no longer than it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
    },
    /// The run, and whether it is new.
    Started {
        /// Which run.
        run: RunId,
        /// False if the same key had started it before.
        new: bool,
    },
    /// It is so now, durably.
    Done,
    /// It was so already.
    Already,
    /// How the run ended.
    Ended(RunState),
    /// The others are gone.
    Removed {
        /// Those that were not taken away, and why.
        kept: Vec<Kept>,
        /// Whether there is something left on the disk to give back: ask again, for no runs.
        more: bool,
    },
    /// So many tasks were opened again.
    Reopened(u32),
    /// What each operation on the work graph came to.
    Worked(Vec<Done>),
    /// What was looked at.
    Seen(Value),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub v: u32,
    pub id: u64,
    pub ask: Ask,
}

/// Any line of an engine. Fields that a later version adds are ignored.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Response {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<Said>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bye: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Refusal {
    kind: Kind,
    code: String,
    message: String,
}

impl Ask {
    /// What it is to the engine; `None` for what is answered at the door.
    pub(super) fn into_command(self) -> Option<Command> {
        Some(match self {
            Self::Ping | Self::Look(_) => return None,
            Self::Start(start) => Command::Start(start),
            Self::Cancel(act) => Command::Cancel(act),
            Self::Pause(act) => Command::Pause(act),
            Self::Resume(act) => Command::Resume(act),
            Self::Approve(act) => Command::Approve(act),
            Self::Withdraw(act) => Command::Withdraw(act),
            Self::Reject(act) => Command::Reject(act),
            Self::Satisfy(satisfy) => Command::Satisfy(satisfy),
            Self::Skip(act) => Command::Skip(act),
            Self::CancelTask(act) => Command::CancelTask(act),
            Self::Resolve(act) => Command::Resolve(act),
            Self::Supply(supply) => Command::Supply(supply),
            Self::Reset(act) => Command::Reset(act),
            Self::ResolveRun(act) => Command::ResolveRun(act),
            Self::GiveUp(act) => Command::GiveUp(act),
            Self::Freeze(act) => Command::Freeze(act),
            Self::Unfreeze(act) => Command::Unfreeze(act),
            Self::Wait(run) => Command::Wait(run),
            Self::Remove(removing) => Command::Remove(removing),
            Self::Register(register) => Command::Register(register),
            Self::SetSchedule(set) => Command::SetSchedule(set),
            Self::ChangeSetting(change) => Command::ChangeSetting(change),
            Self::SetQueue(set) => Command::SetQueue(set),
            Self::Rerun(act) => Command::Rerun(act),
            Self::Work(ops) => Command::Work(ops),
            Self::Import(import) => Command::Import(import),
        })
    }

    /// Who asks, where that is written down.
    pub fn by(&mut self) -> Option<&mut Name> {
        match self {
            Self::Ping | Self::Wait(_) | Self::Remove(_) | Self::Look(_) | Self::Import(_) => None,
            Self::Start(start) => Some(&mut start.by),
            Self::Cancel(act)
            | Self::Pause(act)
            | Self::Resume(act)
            | Self::ResolveRun(act)
            | Self::GiveUp(act)
            | Self::Freeze(act)
            | Self::Unfreeze(act) => Some(&mut act.by),
            Self::Approve(act) | Self::Withdraw(act) | Self::Reject(act) => Some(&mut act.by),
            Self::Satisfy(satisfy) => Some(&mut satisfy.act.by),
            Self::Skip(act) | Self::CancelTask(act) | Self::Resolve(act) | Self::Reset(act) => Some(&mut act.by),
            Self::Supply(supply) => Some(&mut supply.act.by),
            Self::Register(register) => Some(&mut register.by),
            Self::SetSchedule(set) => Some(&mut set.by),
            Self::ChangeSetting(change) => Some(&mut change.by),
            Self::SetQueue(set) => Some(&mut set.by),
            Self::Rerun(act) => Some(&mut act.by),
            Self::Work(ops) => Some(&mut ops.by),
        }
    }

    /// Whether asking again, where nobody knows if it was heard, does no harm.
    pub(super) fn is_repeatable(&self) -> bool {
        let keyless = matches!(self, Self::Start(Start { key: None, .. }) | Self::Work(Ops { key: None, .. }));
        !keyless && !matches!(self, Self::Reset(_) | Self::Rerun(_) | Self::Import(_))
    }
}

impl Said {
    pub(super) fn from_answer(answer: Answer) -> Result<Self> {
        match answer {
            Answer::Started { run, new } => Ok(Self::Started { run, new }),
            Answer::Done => Ok(Self::Done),
            Answer::Already => Ok(Self::Already),
            Answer::Ended(state) => Ok(Self::Ended(state)),
            Answer::Removed { kept, more } => Ok(Self::Removed { kept, more }),
            Answer::Reopened(tasks) => Ok(Self::Reopened(tasks)),
            Answer::Worked(done) => Ok(Self::Worked(done)),
            other => Err(Error::bug("unexpected_answer", format!("nobody at the door asked for {other:?}"))),
        }
    }
}

impl Response {
    pub(super) fn to(id: u64, result: Result<Said>) -> Self {
        match result {
            Ok(said) => Self { id: Some(id), ok: Some(said), ..Self::default() },
            Err(error) => Self { id: Some(id), error: Some(Refusal::from(&error)), ..Self::default() },
        }
    }

    pub(super) fn read(line: &[u8]) -> Result<Self> {
        serde_json::from_slice(line).map_err(|error| {
            let message = "the engine of this folder said something else than was expected: use the same edgewise \
                           for both, or end the other one first";
            Error::unavailable("other_version", message).with_source(error)
        })
    }

    pub(super) fn bye(read: u64) -> Self {
        Self { bye: Some(read), ..Self::default() }
    }
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        Self { kind: error.kind, code: error.code.to_owned(), message: error.to_string() }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::new(refusal.kind, known_code(&refusal.code), refusal.message)
    }
}

/// Codes are fixed words of the program, and there are few of them: each one heard is kept once.
pub fn known_code(code: &str) -> &'static str {
    static HEARD: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = heard.get(code) {
        return known;
    }
    let is_code = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if heard.len() >= CODES.0 || code.is_empty() || code.len() > CODES.1 || !code.chars().all(is_code) {
        return "engine_refused";
    }
    let kept: &'static str = code.to_owned().leak();
    heard.insert(kept);
    kept
}

/// One line as bytes.
pub(super) fn encode(line: &impl Serialize) -> Result<Vec<u8>> {
    let unspeakable = |e: serde_json::Error| Error::bug("no_wire_form", "a request has no JSON form").with_source(e);
    let mut bytes = serde_json::to_vec(line).map_err(unspeakable)?;
    if bytes.len() > LINE_BYTES {
        let message = format!(
            "the request has {} bytes, an engine reads at most {LINE_BYTES}: wait until no engine runs in the folder, \
             then ask again",
            bytes.len()
        );
        return Err(Error::limit("request_too_large", message));
    }
    // Within JSON a line break is only space, and it may come from a value that is passed on as it was written.
    bytes.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
    bytes.push(b'\n');
    Ok(bytes)
}

/// The request of a line, or why it is none, with its id as far as that can be told.
pub fn understand(line: &[u8]) -> Result<(u64, Ask), (u64, Error)> {
    /// What every version has.
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(default)]
        v: u32,
        #[serde(default)]
        id: u64,
    }
    let head: Head = serde_json::from_slice(line).map_err(|error| {
        let message =
            format!("a request is one JSON object on one line, such as {{\"v\":1,\"id\":1,\"ask\":\"ping\"}}: {error}");
        (0, Error::invalid("bad_request", message))
    })?;
    if head.v != VERSION {
        let message = format!(
            "the engine of this folder speaks version {VERSION}, the request is of version {}: use the same edgewise \
             for both, or end the other one first",
            head.v
        );
        return Err((head.id, Error::invalid("other_version", message)));
    }
    match serde_json::from_slice::<Request>(line) {
        Ok(request) => Ok((request.id, request.ask)),
        Err(error) => Err((head.id, Error::invalid("bad_request", format!("the request is not understood: {error}")))),
    }
}

/// The line of a request.
pub fn speak(id: u64, ask: &Ask) -> Result<Vec<u8>> {
    encode(&Request { v: VERSION, id, ask: ask.clone() })
}

/// What an engine's line answers; `None` for one that answers nothing.
pub fn hear(line: &[u8]) -> Result<Option<Result<Said>>> {
    let response = Response::read(line)?;
    Ok(response.error.map(|refusal| Err(refusal.into())).or(response.ok.map(Ok)))
}

/// What reading came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A line, without its end.
    Line(Vec<u8>),
    /// More than a line may have.
    TooLong,
    /// Nothing more comes.
    End,
}

/// Reads a line of at most so many bytes. What is read so far stays in `buffer`: the future may be dropped at any time.
pub(super) async fn read_line(from: &mut (impl AsyncBufRead + Unpin), buffer: &mut Vec<u8>, most: usize) -> Read {
    loop {
        let Ok(bytes) = from.fill_buf().await else { return Read::End };
        if bytes.is_empty() {
            return Read::End;
        }
        let end = bytes.iter().position(|b| *b == b'\n');
        let taken = end.unwrap_or(bytes.len());
        if buffer.len() + taken > most {
            return Read::TooLong;
        }
        buffer.extend_from_slice(&bytes[..taken]);
        from.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Read::Line(std::mem::take(buffer));
        }
    }
}

/// A plan on the wire: as it is stored.
fn stored<E: serde::ser::Error>(plan: &Arc<Plan>) -> Result<Box<RawValue>, E> {
    let text = String::from_utf8(plan.encode().1).map_err(E::custom)?;
    RawValue::from_string(text).map_err(E::custom)
}

fn stored_all<E: serde::ser::Error>(plans: &[Arc<Plan>]) -> Result<Vec<Box<RawValue>>, E> {
    plans.iter().map(stored).collect()
}

fn read<E: serde::de::Error>(plan: &RawValue) -> Result<Arc<Plan>, E> {
    Plan::decode(plan.get().as_bytes()).map(Arc::new).map_err(E::custom)
}

fn read_all<E: serde::de::Error>(plans: &[Box<RawValue>]) -> Result<Vec<Arc<Plan>>, E> {
    plans.iter().map(|plan| read(plan)).collect()
}

/// A start on the wire: the plan as it is stored.
mod start {
    use super::{BTreeMap, Deserialize, Deserializer, Name, RawValue, Serialize, Serializer, Start};
    use super::{read, read_all, stored, stored_all};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wire {
        plan: Box<RawValue>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        children: Vec<Box<RawValue>>,
        input: Box<RawValue>,
        by: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        labels: BTreeMap<String, String>,
    }

    pub fn serialize<S: Serializer>(start: &Start, to: S) -> Result<S::Ok, S::Error> {
        let (plan, children) = (stored(&start.plan)?, stored_all(&start.children)?);
        let (input, by, key, labels) = (start.input.clone(), start.by.clone(), start.key.clone(), start.labels.clone());
        Wire { plan, children, input, by, key, labels }.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Start, D::Error> {
        let Wire { plan, children, input, by, key, labels } = Wire::deserialize(from)?;
        let (plan, children) = (read(&plan)?, read_all(&children)?);
        Ok(Start { plan, children, input, by, key, labels })
    }
}

/// A registration on the wire: the plan as it is stored.
mod register {
    use super::{BTreeMap, Deserialize, Deserializer, Name, RawValue, Register, Serialize, Serializer};
    use super::{read, read_all, stored, stored_all};
    use edgewise_core::control::Hook;
    use edgewise_core::schedule::Schedule;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wire {
        plan: Box<RawValue>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        children: Vec<Box<RawValue>>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        schedules: BTreeMap<Name, Schedule>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hook: Option<Hook>,
        by: Name,
    }

    pub fn serialize<S: Serializer>(register: &Register, to: S) -> Result<S::Ok, S::Error> {
        let (plan, children) = (stored(&register.plan)?, stored_all(&register.children)?);
        let (schedules, hook) = (register.schedules.clone(), register.hook.clone());
        Wire { plan, children, schedules, hook, by: register.by.clone() }.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Register, D::Error> {
        let Wire { plan, children, schedules, hook, by } = Wire::deserialize(from)?;
        Ok(Register { plan: read(&plan)?, children: read_all(&children)?, schedules, hook, by })
    }
}

#[cfg(test)]
mod tests;
