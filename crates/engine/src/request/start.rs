//! Start: a run of a plan. The same key gives the same run; with another body it is refused.

use crate::command::{Answer, Start};
use crate::desk::Desk;
use edgewise_core::event::{Event, PlanCreated, RULES, RunTriggered};
use edgewise_core::fold::Ignored;
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::plan::{Identity, Plan};
use edgewise_core::run::Run;
use edgewise_core::{Error, Result, limits};
use edgewise_store::{KeyClaim, KeyOwner};
use std::sync::Arc;

pub(crate) fn start(desk: &mut Desk, start: &Start) -> Result<Answer> {
    let children = check_children(desk, &start.plan, &start.children)?;
    let (hash, bytes) = desk.encoded.of(&start.plan);
    let answer = start_stored(desk, start, hash)?;
    if matches!(answer, Answer::Started { new: true, .. }) {
        desk.keep_plan(hash, &start.plan, || bytes.to_vec());
        for (hash, bytes, plan) in children {
            desk.keep_plan(hash, plan, || bytes);
        }
    }
    Ok(answer)
}

/// Starts a run of a plan that the ledger has, or gets with this commit.
pub(crate) fn start_stored(desk: &mut Desk, start: &Start, hash: PlanHash) -> Result<Answer> {
    check_limits(start)?;
    let labels = start.plan.labels(&start.labels)?;
    let id = RunId::mint(desk.now, desk.entropy.bits());
    let key = key_of(hash, start);
    if let Some((key, body)) = key.clone() {
        let claim = KeyClaim { stream: desk.home.stream(id), key, body };
        if let Some(owner) = owner_of(desk, &claim)? {
            return same_or_refused(&claim, &owner);
        }
        desk.batch.keys.push(claim);
    }
    desk.begin(Run::new(id, hash, Arc::clone(&start.plan)));
    let triggered = RunTriggered {
        flow: start.plan.flow.clone(),
        plan: hash,
        rules: RULES,
        input: start.input.clone(),
        by: start.by.clone(),
        key: key.map(|(key, _)| key),
        labels,
    };
    let refused = |why: Ignored| Error::bug("start_refused", format!("a new run refused its own start: {why:?}"));
    desk.record(id, Event::RunTriggered(triggered)).map_err(refused)?;
    desk.record(id, Event::PlanCreated(PlanCreated { plan: hash })).map_err(refused)?;
    Ok(Answer::Started { run: id, new: true })
}

/// The plan that was encoded last: many runs of one plan are often started in a row.
#[derive(Default)]
pub(crate) struct Encoded(Option<(Arc<Plan>, PlanHash, Arc<[u8]>)>);

impl Encoded {
    pub(crate) fn of(&mut self, plan: &Arc<Plan>) -> (PlanHash, Arc<[u8]>) {
        if let Some((last, hash, bytes)) = &self.0
            && Arc::ptr_eq(last, plan)
        {
            return (*hash, Arc::clone(bytes));
        }
        let (hash, bytes) = plan.encode();
        let bytes: Arc<[u8]> = bytes.into();
        // A large plan is not kept twice: it is not started often.
        self.0 = (bytes.len() <= KEPT).then(|| (Arc::clone(plan), hash, Arc::clone(&bytes)));
        (hash, bytes)
    }
}

/// Largest encoded plan that is kept.
const KEPT: usize = 1 << 20;

fn check_limits(start: &Start) -> Result<()> {
    if start.input.get().len() > limits::INPUT_BYTES {
        let message =
            format!("the input has {} bytes, at most {} are allowed", start.input.get().len(), limits::INPUT_BYTES);
        return Err(Error::limit("input_too_large", message));
    }
    if start.key.as_ref().is_some_and(|k| k.is_empty() || k.len() > limits::NAME_BYTES) {
        return Err(Error::invalid("bad_key", format!("a key has 1 to {} bytes", limits::NAME_BYTES)));
    }
    if start.key.as_ref().is_some_and(|key| key.starts_with(IDENTITY)) {
        let message = format!("a key cannot begin with `{IDENTITY}`: that is how runs of a strict identity are named");
        return Err(Error::invalid("bad_key", message));
    }
    Ok(())
}

/// What the keys begin with that follow from what is started.
const IDENTITY: &str = "identity:";

/// The key of a start, and the hash of what it asks for: the caller's own, else one that follows from plan and input
/// if that is what tells runs of this flow apart.
fn key_of(plan: PlanHash, start: &Start) -> Option<(String, u64)> {
    if let Some(key) = &start.key {
        return Some((key.clone(), body_hash(plan, start.input.get())));
    }
    if start.plan.naming.identity == Identity::AlwaysUnique {
        return None;
    }
    // The same value is the same input, however it was written: maps are sorted by their keys.
    let value = serde_json::from_str::<serde_json::Value>(start.input.get());
    let input = value.map_or_else(|_| start.input.get().to_owned(), |value| value.to_string());
    let body = body_hash(plan, &input);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&plan.0.to_le_bytes());
    hasher.update(input.as_bytes());
    Some((format!("{IDENTITY}{}", &hasher.finalize().to_hex()[..32]), body))
}

/// A plan with its stored form.
type Stored<'s> = (PlanHash, Vec<u8>, &'s Arc<Plan>);

/// The plans of the flows that are started, with their stored forms. All that a plan names must be there, so that
/// no task finds out later that its child cannot be made.
pub(super) fn check_children<'s>(desk: &mut Desk, plan: &Plan, children: &'s [Arc<Plan>]) -> Result<Vec<Stored<'s>>> {
    let encode = |plan: &'s Arc<Plan>| {
        let (hash, bytes) = plan.encode();
        (hash, bytes, plan)
    };
    let given: Vec<Stored<'_>> = children.iter().map(encode).collect();
    let named = std::iter::once(plan).chain(children.iter().map(|plan| &**plan)).flat_map(Plan::children);
    for (hash, flow) in named {
        if !given.iter().any(|(known, ..)| *known == hash) && desk.ledger.plan(hash)?.is_none() {
            let message = format!("the flow {flow} is started with plan {hash}, which was not given: compile it anew");
            return Err(Error::invalid("plan_missing", message));
        }
    }
    Ok(given)
}

/// The run that a key names, whatever it was started with.
pub(crate) fn run_of_key(desk: &mut Desk, key: String) -> Result<Option<RunId>> {
    let claim = KeyClaim { stream: desk.home.stream(RunId::default()), key, body: 0 };
    Ok(owner_of(desk, &claim)?.map(|owner| owner.run))
}

/// A key used up by this very batch counts too.
fn owner_of(desk: &mut Desk, claim: &KeyClaim) -> Result<Option<KeyOwner>> {
    if let Some(same) = desk.batch.keys.iter().find(|k| k.key == claim.key) {
        return Ok(Some(KeyOwner { run: same.stream.run, body: same.body }));
    }
    desk.ledger.key(claim)
}

fn same_or_refused(claim: &KeyClaim, owner: &KeyOwner) -> Result<Answer> {
    if owner.body == claim.body {
        return Ok(Answer::Started { run: owner.run, new: false });
    }
    let message =
        format!("the key {:?} started run {} with another flow or input; use another key", claim.key, owner.run);
    Err(Error::conflict("key_taken", message))
}

fn body_hash(plan: PlanHash, input: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&plan.0.to_le_bytes());
    hasher.update(input.as_bytes());
    let mut head = [0; 8];
    head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(head)
}
