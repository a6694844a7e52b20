//! Links: children begin, end and are told about, in the commit of what caused it.
//!
//! ```text
//! parent's task is ready ──► child: RunTriggered, LinkRequested, PlanCreated
//! child is over          ──► parent: LinkResolved
//! task went on without   ──► child: RunCancelRequested, and then as above
//! task is rerun          ──► failed child: LinkRequested, RunRerunRequested
//! ```
//!
//! One look does whatever is missing between a task and its child, read off both streams, so it does not matter
//! why it is looked at, or how often. What was only read is guarded too: two engines that look at the same time
//! cannot both be right.

use super::{item, shared};
use crate::committer::CHORES;
use crate::desk::Desk;
use crate::result::check_output;
use edgewise_core::event::{
    Event, Failure, LinkRef, LinkRequested, LinkResolved, PlanCreated, RULES, Request, Rerun, RerunFrom, RunTriggered,
    TaskIx,
};
use edgewise_core::id::RunId;
use edgewise_core::input;
use edgewise_core::name::Name;
use edgewise_core::plan::Work;
use edgewise_core::run::{Adopted, DISOWNED, Outcome, Run, item_id};
use edgewise_core::state::RunState;
use edgewise_core::trace::{Context, LABEL, span_of_run};
use edgewise_core::work::ItemId;
use edgewise_core::{Kind, Result};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Where a child is.
enum Found {
    /// Not in the ledger.
    Missing,
    /// At work; it need not be on the desk for that.
    Open,
    /// On the desk: it is over, or it does not know who waits for it.
    OnDesk,
    /// Nobody can say now.
    Unknown,
    /// Only an operator can go on with it, and how it ended cannot be told.
    Frozen,
}

/// What of the work graph a task waits for, where it is no run.
enum Kin {
    Item(ItemId),
    Gate,
}

fn kind_of(run: &Run, link: LinkRef) -> Option<Kin> {
    run.task(link.task)?;
    if run.shares_gate(link.task) { Some(Kin::Gate) } else { run.item_of(link).map(Kin::Item) }
}

/// Whether tasks of a run wait for something of the work graph.
fn knows_graph(run: &Run) -> bool {
    run.plan.specs.iter().any(|spec| spec.work.is_linked() && !matches!(spec.work, Work::SubRun(_)))
}

/// What of the work graph an attempt waited for whose task is gone, with the scope that it was in. The graph says so: for
/// an attempt that is over nothing more is made.
fn kind_in_graph(desk: &mut Desk, run: RunId, link: LinkRef, child: RunId) -> Result<Option<Kin>> {
    let work = desk.newest_work()?;
    let made = item_id(child).filter(|id| work.item(id.as_str()).is_some_and(|found| item::is_of(found, run, link)));
    Ok(made.map(Kin::Item).or_else(|| work.shared_gate(run, link).map(|_| Kin::Gate)))
}

/// Looks at links until nothing is missing, or enough is done for one commit.
pub(super) fn link(desk: &mut Desk) {
    let later = std::mem::take(&mut desk.links.later);
    desk.links.due.extend(later);
    let mut looks = 0;
    while looks < CHORES {
        looks += 1;
        if let Some((run, task)) = desk.links.due.pop_first() {
            desk.batch.looked_at.push((run, task));
            looks += look(desk, run, task);
        } else if let Some((run, link)) = desk.links.over.pop_first() {
            listen(desk, run, link);
        } else if let Some((run, task, child)) = desk.links.unsure.pop() {
            // A run that is there is at work; what else it may be is looked at.
            if !matches!(find(desk, child, None), Found::Open) {
                desk.links.due.insert((run, task));
            }
        } else {
            return;
        }
    }
}

/// A run of which a child is over was looked at. If it does not know of the child, it may be old news that this was decided
/// on, and no guard would tell, since nothing is written: what it says at the ledger's tail counts.
fn listen(desk: &mut Desk, run: RunId, link: LinkRef) {
    let Some(cached) = desk.open_hinted(run) else { return };
    let gate = matches!(kind_of(&cached.run, link), Some(Kin::Gate));
    let known = cached.run.awaited(link.task) == Some(link) || cached.run.disowned.contains_key(&link);
    // A gate that somebody let it go on without knows it no more.
    let known = known && !(gate && desk.work.loaded && desk.work.state.shared_gate(run, link).is_none());
    // With news come hints about all its children; where the store does not answer they come later.
    if !known && desk.has_news(run).is_err() {
        desk.forget(&[run]);
    }
}

/// Does what is missing between a task and its children; gives how much more that was than one thing.
fn look(desk: &mut Desk, run: RunId, task: TaskIx) -> usize {
    let Some(cached) = desk.open_hinted(run) else { return 0 };
    let of_task = |link: &LinkRef| task == DISOWNED || link.task == task;
    let all = cached.run.disowned.iter().filter(|(link, _)| of_task(link));
    let disowned: Vec<(LinkRef, RunId)> = all.take(CHORES).map(|(link, child)| (*link, *child)).collect();
    let awaited = if task == DISOWNED { None } else { cached.run.awaited(task) };
    let in_graph = !disowned.is_empty() && knows_graph(&cached.run);
    for (link, child) in &disowned {
        let Some(known) = desk.runs.get(&run).map(|cached| &cached.run) else { break };
        let kind = match known.task(link.task) {
            None if in_graph => kind_in_graph(desk, run, *link, *child),
            _ => Ok(kind_of(known, *link)),
        };
        match kind {
            Ok(Some(Kin::Item(id))) => item::let_go(desk, run, (*link, *child), &id),
            Ok(Some(Kin::Gate)) => shared::let_go(desk, run, (*link, *child)),
            Ok(None) => let_go(desk, run, *link, *child),
            Err(_) => drop(desk.links.later.insert((run, DISOWNED))),
        }
    }
    if disowned.len() == CHORES {
        desk.links.due.insert((run, DISOWNED));
    }
    if let Some(link) = awaited {
        match desk.runs.get(&run).and_then(|cached| kind_of(&cached.run, link)) {
            Some(Kin::Item(id)) => item::wait_for(desk, run, link, &id),
            Some(Kin::Gate) => shared::wait_for(desk, run, link),
            None => wait_for(desk, run, link),
        }
    }
    disowned.len()
}

/// The child of an attempt begins, or is over.
fn wait_for(desk: &mut Desk, parent: RunId, link: LinkRef) {
    let Some(run) = desk.runs.get(&parent).map(|cached| &cached.run) else { return };
    let (child, adopted) = (run.child(link), run.adopted_by(link).cloned());
    match (find(desk, child, Some((parent, link))), adopted) {
        (Found::Missing, Some(_)) => {
            // It was taken away: nobody else may begin it from now on.
            desk.rely_on(child);
            let gone = Failure::of_gone_sub_run(child);
            resolve(desk, parent, link, child, RunState::Error, Err(gone));
        }
        (Found::Missing, None) => begin(desk, parent, link, child),
        (Found::OnDesk, adopted) => {
            if relink(desk, parent, link, adopted).is_none() {
                return;
            }
            let over = desk.runs.get(&child).is_some_and(|cached| cached.run.state.is_done());
            if over {
                tell(desk, parent, link, child);
            }
        }
        (Found::Unknown, _) => drop(desk.links.later.insert((parent, link.task))),
        (Found::Open | Found::Frozen, _) => {}
    }
}

/// A child that nobody waits for is cancelled, and its run is told once it is over.
fn let_go(desk: &mut Desk, parent: RunId, link: LinkRef, child: RunId) {
    match find(desk, child, None) {
        // It never began: nobody else may begin it from now on.
        Found::Missing => {
            desk.rely_on(child);
            resolve(desk, parent, link, child, RunState::Cancelled, Ok(Value::Null));
        }
        found @ (Found::Open | Found::OnDesk) => {
            if matches!(found, Found::Open) && desk.open_hinted(child).is_none() {
                // Once it can be read it is at work as before, and nothing of it tells who let it go.
                desk.links.later.insert((parent, DISOWNED));
                return;
            }
            let Some(cached) = desk.runs.get(&child) else { return };
            let (state, mine) = (cached.run.state, is_parent(&cached.run, parent, link));
            if !mine || state.is_done() {
                desk.rely_on(child);
                // Over; or it never was this attempt's: another one goes on with it, or nobody but itself.
                let told = if state.is_done() { state } else { RunState::Cancelled };
                return resolve(desk, parent, link, child, told, Ok(Value::Null));
            }
            let asked = desk.runs.get(&parent).map(|cached| why_not(&cached.run, link));
            if let Some(request) = asked.flatten() {
                // Its end puts the link back among those that are due.
                let _ = desk.record(child, Event::RunCancelRequested(request));
            }
        }
        Found::Unknown => drop(desk.links.later.insert((parent, DISOWNED))),
        Found::Frozen => {}
    }
}

/// Where a child is. One that is at work for just this attempt is not loaded for that. Of one that is frozen it can still
/// be told that it is over: that moves nothing of it.
fn find(desk: &mut Desk, child: RunId, by: Option<(RunId, LinkRef)>) -> Found {
    // Somebody else may have let it go on.
    let Ok(frozen) = desk.is_frozen(child) else { return Found::Unknown };
    let unless_frozen = |found: Found| if frozen { Found::Frozen } else { found };
    let here = |run: &Run| {
        let known = by.is_none_or(|(parent, link)| is_parent(run, parent, link));
        match run.state.is_done() {
            true if known => Found::OnDesk,
            false if known => unless_frozen(Found::Open),
            _ => unless_frozen(Found::OnDesk),
        }
    };
    if let Some(cached) = desk.runs.get(&child) {
        return here(&cached.run);
    }
    let stream = desk.home.stream(child);
    let Ok(head) = desk.ledger.head(&stream) else { return Found::Unknown };
    if head.seq == 0 {
        return unless_frozen(Found::Missing);
    }
    let Ok(row) = desk.projections.run(&stream) else { return Found::Unknown };
    let at_work = row.is_some_and(|row| {
        let known = by.is_none_or(|(run, link)| row.parent().is_some_and(|p| (p.run, p.link) == (run, link)));
        known && row.applied_seq == head.seq && !row.state.is_done()
    });
    if at_work {
        return unless_frozen(Found::Open);
    }
    match if frozen { desk.lay_down(child) } else { desk.open(child).map(drop) } {
        Ok(()) => desk.runs.get(&child).map_or(Found::Unknown, |cached| here(&cached.run)),
        Err(error) if error.kind == Kind::Unavailable => Found::Unknown,
        Err(_) => Found::Frozen,
    }
}

/// Whether the child of an attempt is not there, or is over: then something should have moved.
pub(super) fn is_missing(desk: &mut Desk, parent: RunId, link: LinkRef) -> bool {
    let Some(run) = desk.runs.get(&parent).map(|cached| &cached.run) else { return false };
    let child = run.child(link);
    match kind_of(run, link) {
        Some(Kin::Item(id)) => return item::is_missing(desk, &id),
        Some(Kin::Gate) => return shared::is_missing(desk, parent, link),
        None => {}
    }
    matches!(find(desk, child, Some((parent, link))), Found::Missing | Found::OnDesk)
}

fn is_parent(child: &Run, parent: RunId, link: LinkRef) -> bool {
    child.parent.as_ref().is_some_and(|known| (known.run, known.link) == (parent, link))
}

/// Makes the child of an attempt. Nothing of a run that is paused begins.
fn begin(desk: &mut Desk, parent: RunId, link: LinkRef, child: RunId) {
    let Some(run) = desk.runs.get(&parent).map(|cached| &cached.run).filter(|run| !run.paused) else { return };
    let Some(hash) = run.sub_run(link.task).map(|sub| sub.plan) else { return };
    let plan = match desk.plan(hash) {
        Ok(plan) => plan,
        Err(error) if error.kind == Kind::Unavailable => {
            desk.links.later.insert((parent, link.task));
            return;
        }
        Err(error) => {
            let failure = Failure::permanent("plan_missing", error.message);
            return resolve(desk, parent, link, child, RunState::Error, Err(failure));
        }
    };
    let Some(run) = desk.runs.get(&parent).map(|cached| &cached.run) else { return };
    let by = run.about.as_ref().map(|about| about.by.clone());
    let labels = trace_within(run);
    let (input, requested) = (input_of(run, link, &plan.inputs), request_of(run, link));
    let input = match input {
        Ok(input) => input,
        Err(failure) => return resolve(desk, parent, link, child, RunState::Error, Err(failure)),
    };
    let Some(by) = by else { return };
    desk.rely_on(parent);
    let flow = plan.flow.clone();
    desk.begin(Run::new(child, hash, plan));
    let triggered = RunTriggered { flow, plan: hash, rules: RULES, input, by, key: None, labels };
    // A new run refuses none of these.
    let _ = desk.record(child, Event::RunTriggered(triggered));
    let _ = desk.record(child, Event::LinkRequested(requested));
    let _ = desk.record(child, Event::PlanCreated(PlanCreated { plan: hash }));
}

/// The trace that a run was started with goes on in its children, within the span of the run.
fn trace_within(run: &Run) -> BTreeMap<String, String> {
    let context = run.about.as_ref().and_then(|about| Context::of(&about.labels));
    let within = context.map(|context| context.within(span_of_run(run.id)).to_string());
    within.map(|within| (LABEL.to_owned(), within)).into_iter().collect()
}

/// A later attempt goes on with a child that is there already: the child is told who waits for it now, and goes on
/// from its failure in the same commit. `None` as long as the run that waits is paused.
fn relink(desk: &mut Desk, parent: RunId, link: LinkRef, adopted: Option<Adopted>) -> Option<()> {
    let run = &desk.runs.get(&parent)?.run;
    let (child, paused, requested) = (run.child(link), run.paused, request_of(run, link));
    if desk.runs.get(&child).is_some_and(|cached| is_parent(&cached.run, parent, link)) {
        return Some(());
    }
    if paused {
        return None;
    }
    let why = format!("`{}` of run {parent} is done again", requested.path);
    desk.rely_on(parent);
    let linked = desk.record(child, Event::LinkRequested(requested));
    if let (Ok(()), Some(Adopted { asked, .. })) = (linked, adopted) {
        go_on(desk, child, &asked.by, asked.why.as_deref().unwrap_or(&why));
    }
    Some(())
}

/// A child that has failed is rerun from there; from its beginning if it did not fail at one of its tasks. Whatever
/// else has become of it meanwhile stands.
fn go_on(desk: &mut Desk, child: RunId, by: &Name, why: &str) {
    let failed = desk.runs.get(&child).filter(|cached| cached.run.state == RunState::Error);
    let Some(generation) = failed.map(|cached| cached.run.generation) else { return };
    for from in [RerunFrom::Failure, RerunFrom::Start] {
        let event = Rerun { by: by.clone(), why: Some(why.to_owned()), from, generation };
        if desk.record(child, Event::RunRerunRequested(event)).is_ok() {
            return;
        }
    }
}

fn request_of(run: &Run, link: LinkRef) -> LinkRequested {
    let depth = run.parent.as_ref().map_or(0, |parent| parent.depth) + 1;
    LinkRequested { run: run.id, link, path: run.path(link.task), depth }
}

/// What a child is given: evaluated here, from facts, and completed as whoever starts a run completes it.
fn input_of(run: &Run, link: LinkRef, declared: &[input::Input]) -> Result<Box<RawValue>, Failure> {
    let bad = |message: String| Failure::permanent("bad_input", message);
    let Some(sub) = run.sub_run(link.task) else { return Err(bad("the task starts no run".into())) };
    let given = match run.evaluate(link.task, &sub.with)?.into_owned() {
        Value::Object(given) => given,
        Value::Null => Default::default(),
        other => return Err(bad(format!("`with` of flow {} must come to a map, not to {other}", sub.flow))),
    };
    let text = input::complete(declared, &given).map_err(|error| bad(error.message))?;
    RawValue::from_string(text).map_err(|error| bad(error.to_string()))
}

/// Tells the task that waited how its child ended.
fn tell(desk: &mut Desk, parent: RunId, link: LinkRef, child: RunId) {
    let Some(run) = desk.runs.get(&parent).map(|cached| &cached.run) else { return };
    let Some(cached) = desk.runs.get(&child) else { return };
    let (state, outcome) = (cached.run.state, cached.run.outcome_for(&run.spec_of(link.task).retry));
    desk.rely_on(child);
    resolve(desk, parent, link, child, state, outcome);
}

pub(super) fn resolve(desk: &mut Desk, parent: RunId, link: LinkRef, child: RunId, state: RunState, outcome: Outcome) {
    let (output, error) = match outcome {
        Err(failure) => (None, Some(failure)),
        Ok(Value::Null) => (None, None),
        Ok(value) => match RawValue::from_string(value.to_string()) {
            Ok(raw) => match check_output(&raw) {
                Ok(()) => (Some(raw), None),
                Err(failure) => (None, Some(failure)),
            },
            Err(error) => (None, Some(Failure::permanent("bad_output", error.to_string()))),
        },
    };
    // A task that has gone on meanwhile does not listen.
    let _ = desk.record(parent, Event::LinkResolved(LinkResolved { link, run: child, state, output, error }));
}

/// Why a child is not wanted any more, in the words of whoever ended its task.
pub(super) fn why_not(parent: &Run, link: LinkRef) -> Option<Request> {
    let asked = parent.cancel.as_ref().or(parent.resolved.as_ref());
    let by = asked.map(|asked| &asked.by).or(parent.about.as_ref().map(|about| &about.by))?;
    let path = parent.task(link.task).map_or_else(|| "a task".to_owned(), |_| format!("`{}`", parent.path(link.task)));
    let what = if asked.is_some() { "was ended" } else { "went on without it" };
    Some(Request { by: by.clone(), why: Some(format!("{path} of run {} {what}", parent.id)) })
}
