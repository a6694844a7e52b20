//! What people and agents ask of the work graph: one operation, one file.
//!
//! All operations of a command are one commit. They are decided one after another, each on what those before it came
//! to; if one is refused, all of them are, and nothing is written.

mod act;
mod add;
mod claim;
mod close;
mod depend;
mod expect;
mod extend;
mod gate_of_run;
mod import;
mod look;
mod make_gate;
mod release;
mod relocate;
mod stage;
mod undepend;
mod update;
mod view;

pub use import::Import;
pub(crate) use import::import;
pub(crate) use look::json;
pub use look::{Look, look};
pub use view::{GateView, ItemView};

use crate::command::Answer;
use crate::desk::Desk;
use crate::enqueue::overdue::overdue;
use crate::nesting;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::work::{Done, Op};
use edgewise_core::{Error, Result, limits};
use edgewise_store::KeyClaim;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stage::Stage;

/// Operations on the work graph: all of them, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ops {
    /// What is asked, in order.
    pub ops: Vec<Op>,
    /// Who asks.
    pub by: Name,
    /// The caller's own key: the same operations with the same key are done once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Keys of operations are apart from those of runs.
const KEYED: &str = "work:";

/// Decides operations.
pub(crate) fn work(desk: &mut Desk, asked: &Ops) -> Result<Answer> {
    desk.newest_work()?;
    overdue(desk);
    let claim = asked.key.as_deref().map(|key| key_claim(desk, key, asked)).transpose()?;
    if let Some(claim) = &claim
        && let Some(body) = used_up(desk, claim)?
    {
        return again(desk, claim, body, asked);
    }
    let mark = desk.work.mark();
    match perform_all(desk, asked) {
        Ok(done) => {
            desk.leave_work();
            if let Some(claim) = claim.filter(|_| desk.work.since(&mark) > 0) {
                desk.batch.answers.insert(claim.key.clone(), done.clone());
                desk.batch.keys.push(claim);
            }
            Ok(Answer::Worked(done))
        }
        Err(error) => {
            desk.take_work_back(&mark);
            Err(error)
        }
    }
}

fn perform_all(desk: &mut Desk, asked: &Ops) -> Result<Vec<Done>> {
    asked.ops.iter().try_for_each(check_depth)?;
    let mut stage = Stage::new(desk, asked)?;
    let mut done = Vec::with_capacity(asked.ops.len());
    for (n, op) in asked.ops.iter().enumerate() {
        match perform(&mut stage, op) {
            Ok(one) => done.push(one),
            Err(error) if asked.ops.len() == 1 => return Err(error),
            Err(error) => {
                let message = format!("operation {} of {}: {}", n + 1, asked.ops.len(), error.message);
                return Err(Error::new(error.kind, error.code, message));
            }
        }
    }
    Ok(done)
}

/// What an operation brings along is read back with all of the work graph.
fn check_depth(op: &Op) -> Result<()> {
    let metadata = |metadata: &Map<String, Value>| {
        metadata.values().try_for_each(|value| nesting::check("a value of the metadata", value))
    };
    match op {
        Op::Add(add) => metadata(&add.details.metadata),
        Op::Update { change, .. } => metadata(&change.metadata),
        Op::Depend(depend) => depend.metadata.iter().try_for_each(|value| nesting::check("the metadata", value)),
        Op::Deliver { evidence, .. } => nesting::check("what came", evidence),
        _ => Ok(()),
    }
}

/// One operation, one file.
fn perform(stage: &mut Stage<'_>, op: &Op) -> Result<Done> {
    match op {
        Op::Add(add) => add::add(stage, add),
        Op::Update { id, change } => update::update(stage, id, change),
        Op::Close(close) => close::close(stage, close),
        Op::Reopen(act) => act::reopen(stage, act),
        Op::Delete(act) => act::delete(stage, act),
        Op::Move { id, parent } => relocate::relocate(stage, id, parent.as_deref()),
        Op::Claim { id, lease } => claim::claim(stage, id, *lease),
        Op::ClaimNext { filter, lease } => claim::claim_next(stage, filter, *lease),
        Op::Extend { id, token, lease } => extend::extend(stage, id, *token, *lease),
        Op::Release { id, token } => release::release(stage, id, *token),
        Op::Depend(depend) => depend::depend(stage, depend),
        Op::Undepend { id, on, kind } => undepend::undepend(stage, id, on.as_deref(), *kind),
        Op::MakeGate { wait, title, id, name, approvals } => {
            let id = id.clone().unwrap_or_else(|| stage.fresh_id());
            make_gate::make_gate(stage, &id, wait, title.clone(), approvals, name.as_deref())
        }
        Op::Approve(act) => act::approve(stage, act),
        Op::Withdraw(act) => act::withdraw(stage, act),
        Op::Satisfy(act) => act::satisfy(stage, act),
        Op::Reject(act) => act::reject(stage, act),
        Op::Deliver { id, evidence } => act::deliver(stage, id, evidence),
        Op::Expect { id, version } => expect::expect(stage, id, version),
    }
}

fn key_claim(desk: &Desk, key: &str, asked: &Ops) -> Result<KeyClaim> {
    if key.is_empty() || key.len() > limits::NAME_BYTES {
        return Err(Error::invalid("bad_key", format!("a key has 1 to {} bytes", limits::NAME_BYTES)));
    }
    let text = serde_json::to_vec(&(&asked.ops, &asked.by)).unwrap_or_default();
    let mut head = [0; 8];
    head.copy_from_slice(&blake3::hash(&text).as_bytes()[..8]);
    let stream = desk.home.stream(RunId::WORK);
    Ok(KeyClaim { stream, key: format!("{KEYED}{key}"), body: u64::from_le_bytes(head) })
}

/// The body that a key was used up with, by this very batch too.
fn used_up(desk: &mut Desk, claim: &KeyClaim) -> Result<Option<u64>> {
    if let Some(same) = desk.batch.keys.iter().find(|staged| staged.key == claim.key) {
        return Ok(Some(same.body));
    }
    Ok(desk.ledger.key(claim)?.map(|owner| owner.body))
}

/// Asked a second time: it is so already. What it came to is said again as long as somebody remembers.
fn again(desk: &Desk, claim: &KeyClaim, body: u64, asked: &Ops) -> Result<Answer> {
    if body != claim.body {
        let message = "this key was used for other operations, or by somebody else; use another key";
        return Err(Error::conflict("key_taken", message));
    }
    let forgotten = || vec![Done { already: true, ..Done::default() }; asked.ops.len()];
    Ok(Answer::Worked(desk.answered(&claim.key).cloned().unwrap_or_else(forgotten)))
}
