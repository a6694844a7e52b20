//! Grant: a ready task becomes a worker's for one attempt. Inputs are evaluated here, from facts.

use crate::command::{Claim, Grant, Job, LeaseRef};
use crate::desk::Desk;
use crate::lanes::{Match, Offer};
use crate::leases::Lease;
use crate::secrets::Sealed;
use edgewise_core::event::{DispatchEnqueued, Event, Failure, TaskIx};
use edgewise_core::id::Token;
use edgewise_core::name::Name;
use edgewise_core::plan::Work;
use edgewise_core::run::Run;
use edgewise_core::state::TaskState;
use edgewise_core::trace::{Context, span_of_attempt};
use serde_json::Value;
use std::sync::Arc;

/// The variable that a command finds its trace in.
const TRACEPARENT: &str = "TRACEPARENT";

/// Makes a lease of an offer; `None` if the offer was an old hint, or the run may not have leases now.
pub(crate) fn grant(desk: &mut Desk, found: &Match, claim: &Claim) -> Option<Grant> {
    let offer = found.waiting.offer;
    let loads = desk.counts.loads;
    desk.open_hinted(offer.run)?;
    let entry = desk.runs.get(&offer.run)?.run.task(offer.task)?;
    let current = entry.state == TaskState::Enqueued
        && entry.generation == offer.generation
        && entry.attempt + 1 == offer.attempt;
    if current && desk.counts.loads != loads {
        // Loading has offered all that waits in it, this one too. A later attempt of the task stays offered.
        desk.taken(found);
    }
    let run = &desk.runs.get(&offer.run)?.run;
    if !current || run.paused {
        return None;
    }
    // The fold has evaluated the same when the task became ready, so this cannot fail any more.
    let spec = run.spec_of(offer.task);
    let names: Vec<Name> = spec.work.secrets().into_iter().collect();
    // Nobody can have written it into a value before now.
    let seal = (!names.is_empty()).then(|| format!("edgewise-secret-{:032x}:", desk.entropy.bits()));
    let mut work = job(run, offer.task, seal.as_deref()).ok()?;
    let trace = trace(run, offer);
    hand_on(trace, &mut work);
    let sealed = seal.map(|seal| Sealed { seal, names });
    let (path, max_attempts, timeouts) = (run.path(offer.task), spec.retry.most_attempts(), spec.timeouts);
    let token = Token(desk.entropy.bits());
    // The flow may ask for heartbeats more often than the worker offers them.
    let span = claim.lease.map(|span| timeouts.heartbeat.map_or(span, |heartbeat| span.min(heartbeat)));
    let event = DispatchEnqueued {
        task: offer.task,
        generation: offer.generation,
        attempt: offer.attempt,
        token: token.hash(),
        worker: (&*claim.worker).into(),
        lease: span,
    };
    desk.record(offer.run, Event::DispatchEnqueued(event)).ok()?;
    let deadline = span.map(|span| desk.now.plus(span));
    let lease = Lease {
        generation: offer.generation,
        attempt: offer.attempt,
        token: token.hash(),
        worker: claim.worker.clone(),
        span,
        deadline,
        // With the grant the ledger tells everybody.
        stored: deadline,
        heard: false,
        attempt_deadline: timeouts.attempt.map(|span| desk.now.plus(span)),
        queue: desk.lanes.queue_of(found.lane),
        key: found.waiting.bound.as_ref().map(|bound| Arc::clone(&bound.key)),
    };
    desk.begun(lease.queue, found.waiting.bound.as_deref());
    desk.batch.leases.push((offer.run, offer.task, lease));
    let lease =
        LeaseRef { run: offer.run, task: offer.task, generation: offer.generation, attempt: offer.attempt, token };
    Some(Grant { lease, path, max_attempts, work, sealed, deadline, trace })
}

/// The context of the attempt's own span, if whoever started the run gave one.
fn trace(run: &Run, offer: Offer) -> Option<Context> {
    let context = Context::of(&run.about.as_ref()?.labels)?;
    Some(context.within(span_of_attempt(offer.run, offer.task, offer.generation, offer.attempt)))
}

/// A command finds it in its environment, unless the flow says something else there.
fn hand_on(trace: Option<Context>, work: &mut Job) {
    if let (Some(trace), Job::Command { env, .. }) = (trace, work)
        && !env.iter().any(|(name, _)| name == TRACEPARENT)
    {
        env.push((TRACEPARENT.into(), trace.to_string()));
    }
}

fn job(run: &Run, task: TaskIx, seal: Option<&str>) -> Result<Job, Failure> {
    match &run.spec_of(task).work {
        Work::Action { action, with } => {
            Ok(Job::Action { action: action.clone(), input: run.evaluate_for(task, with, seal)?.into_owned() })
        }
        Work::Command(command) => {
            let mut env = Vec::with_capacity(command.env.len());
            for (name, template) in &command.env {
                let text = match run.evaluate_for(task, template, seal)?.into_owned() {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                env.push((name.clone(), text));
            }
            Ok(Job::Command { script: command.script.clone(), env, output: command.output })
        }
        Work::Http(http) => {
            Ok(Job::Http { request: run.http_request(task, http, seal)?, timeout: run.spec_of(task).timeouts.attempt })
        }
        _ => Err(Failure::new("not_leasable", "nobody can be given this")),
    }
}
