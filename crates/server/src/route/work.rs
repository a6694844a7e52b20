//! The worker protocol. A lease is one text that names the attempt and proves the right to it, so that a worker needs
//! nothing more than to send it back.

use crate::app::App;
use crate::asker::Asker;
use crate::body::Json;
use crate::limits;
use crate::problem::{Result, status_of};
use axum::extract::State;
use edgewise_client::wire;
use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::id::{RunId, Token};
use edgewise_core::limits as core_limits;
use edgewise_core::name::Name;
use edgewise_core::run::{COMMAND_ACTION, HTTP_ACTION};
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Kind, Result as Done};
use edgewise_engine::command::{Answer, Beat, Claim, Command, Finish, Grant, Job, LeaseRef, Outcome};
use edgewise_engine::secrets::{Masks, not_sent};
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

pub async fn claim(State(app): State<App>, asker: Asker, Json(asked): Json<wire::Claim>) -> Result<Json<wire::Leases>> {
    let patience = Duration::from_millis(asked.wait_ms.unwrap_or(0)).min(limits::WAIT);
    let grants = app.engine().claim(claim_of(&asked)?, patience).await?;
    Ok(Json(wire::Leases { leases: given(&app, &asker, grants).await }))
}

/// What of grants leaves this machine.
async fn given(app: &App, asker: &Asker, grants: Vec<Grant>) -> Vec<wire::Lease> {
    let open = unsealed(app, asker.may_have_secrets(app.trusts_loopback()), grants).await;
    let now = app.now();
    open.into_iter().filter_map(|grant| lease(grant, now)).collect()
}

/// Grants with the secrets in them that may leave this machine. Where one may not, the attempt has failed; whatever comes
/// of that, the others are given.
pub(crate) async fn unsealed(app: &App, may: std::result::Result<(), &'static str>, grants: Vec<Grant>) -> Vec<Grant> {
    let (mut open, mut refused) = (Vec::with_capacity(grants.len()), Vec::new());
    for mut grant in grants {
        let lent = match (&grant.sealed, may) {
            (Some(_), Err(why)) => Err(not_sent(why)),
            _ => app.lending().lend(&mut grant),
        };
        match lent {
            Ok(()) => open.push(grant),
            Err(failure) => refused.push(Finish { lease: grant.lease, outcome: Err(failure) }),
        }
    }
    if !refused.is_empty() {
        refuse(app, refused.into()).await;
    }
    open
}

/// Has attempts fail. What the engine cannot keep now goes back unspent, and is refused to whoever takes it next.
async fn refuse(app: &App, refused: Arc<[Finish]>) {
    match app.engine().ask(Command::Complete(Arc::clone(&refused))).await {
        Err(error) if error.kind == Kind::Unavailable => {
            let leases = refused.iter().map(|finish| finish.lease).collect();
            // What cannot be given back either ends at its deadline.
            let _ = app.engine().ask(Command::GiveBack(leases)).await;
        }
        // Given back, what fails for another reason would be taken and fail again at once: it ends at its deadline.
        _ => {}
    }
}

fn claim_of(asked: &wire::Claim) -> Done<Claim> {
    let names = |texts: &[String]| texts.iter().map(|text| Name::parse(text)).collect::<Done<Arc<[Name]>>>();
    let worker = Name::parse(&asked.worker)?;
    let actions = names(&asked.actions)?;
    if actions.is_empty() {
        return Err(Error::invalid(
            "empty_claim",
            "`actions` is empty: name at least one action that the worker can do",
        ));
    }
    if let Some(own) = actions.iter().find(|action| [COMMAND_ACTION, HTTP_ACTION].contains(&action.as_str())) {
        let message = format!("{own} is done by the engine itself: `edgewise serve --work` lets it");
        return Err(Error::invalid("own_action", message));
    }
    let max = asked.max.unwrap_or(1);
    if max == 0 || max as usize > limits::BATCH {
        return Err(Error::invalid("bad_max", format!("`max` is 1 to {}, this is {max}", limits::BATCH)));
    }
    let lease = asked.lease_ms.unwrap_or(limits::LEASE_DEFAULT_MS);
    if !limits::LEASE_MS.contains(&lease) {
        let (least, most) = (limits::LEASE_MS.start(), limits::LEASE_MS.end());
        return Err(Error::invalid("bad_lease", format!("`lease_ms` is {least} to {most}, this is {lease}")));
    }
    let queues = asked.queues.as_deref().map(names).transpose()?;
    Ok(Claim { worker: worker.as_str().into(), actions, queues, max, lease: Some(Millis(lease)) })
}

/// A grant as its worker sees it; `None` for what only the engine itself does.
pub(crate) fn lease(grant: Grant, now: Time) -> Option<wire::Lease> {
    let key = grant.key();
    let Job::Action { action, input } = grant.work else { return None };
    Some(wire::Lease {
        lease: written(&grant.lease),
        run: grant.lease.run.to_string(),
        task: grant.path,
        attempt: grant.lease.attempt,
        max_attempts: grant.max_attempts,
        key,
        action: action.to_string(),
        input,
        deadline: grant.deadline.map(|deadline| deadline.to_string()),
        lease_ms: grant.deadline.map(|deadline| deadline.since(now).0),
        traceparent: grant.trace.map(|trace| trace.to_string()),
    })
}

pub async fn heartbeat(State(app): State<App>, Json(asked): Json<wire::Heartbeat>) -> Result<Json<wire::Beats>> {
    let leases = leases(&asked.leases)?;
    let beats = match app.engine().ask(Command::Heartbeat(leases)).await? {
        Answer::Beats(beats) => beats,
        other => return Err(unexpected(&other).into()),
    };
    let beats = asked.leases.into_iter().zip(beats).map(|(lease, beat)| match beat {
        Beat::Continue(until) => wire::Beat { lease, go_on: true, deadline: Some(until.to_string()) },
        Beat::Cancel => wire::Beat { lease, go_on: false, deadline: None },
    });
    Ok(Json(wire::Beats { beats: beats.collect() }))
}

pub async fn complete(
    State(app): State<App>,
    asker: Asker,
    Json(asked): Json<wire::Complete>,
) -> Result<Json<wire::Completed>> {
    check_batch(asked.results.len())?;
    let masks = app.lending().masks();
    let reported = |result| finish(result, &masks);
    let (texts, finishes): (Vec<String>, Vec<Done<Finish>>) = asked.results.into_iter().map(reported).unzip();
    let finishes = finishes.into_iter().collect::<Done<Arc<[Finish]>>>()?;
    let next = asked.claim.as_ref().map(claim_of).transpose()?;
    let (results, grants) = app.engine().complete(finishes, next).await?;
    let leases = given(&app, &asker, grants).await;
    app.push().reported(texts.iter());
    let results = texts.into_iter().zip(results).map(|(lease, result)| match result {
        Ok(()) => wire::Outcome { lease, status: 200, code: None, detail: None },
        Err(error) => wire::Outcome {
            lease,
            status: status_of(&error).0.as_u16(),
            code: Some(error.code.into()),
            detail: Some(error.to_string()),
        },
    });
    Ok(Json(wire::Completed { results: results.collect(), leases }))
}

/// A report without secrets, and the text of its lease.
fn finish(result: wire::Finish, masks: &Masks) -> (String, Done<Finish>) {
    let wire::Finish { lease, output, error } = result;
    let made = |lease| Ok(Finish { lease, outcome: masks.reported(outcome(output, error)?) });
    let finish = read(&lease).and_then(made);
    (lease, finish)
}

/// What was reported.
pub(crate) fn outcome(output: Option<Box<RawValue>>, error: Option<wire::TaskError>) -> Done<Outcome> {
    match (error, output) {
        (Some(_), Some(_)) => {
            let message = "a result has `output` or `error`, this one has both";
            Err(Error::invalid("bad_result", message))
        }
        (Some(error), None) => Ok(Err(failure(error))),
        (None, output) => Ok(Ok(output)),
    }
}

fn failure(error: wire::TaskError) -> Failure {
    let wire::TaskError { kind, message, permanent, retry_after_ms, is } = error;
    let kind = if kind.is_empty() { "error".to_owned() } else { kind };
    Failure {
        kind,
        message,
        retryable: !permanent,
        retry_after: retry_after_ms.map(|ms| Millis(ms.min(core_limits::DURATION_MS))),
        is,
        cause: None,
        errors: Box::default(),
    }
}

pub async fn release(State(app): State<App>, Json(asked): Json<wire::Release>) -> Result<Json<wire::ActTaken>> {
    app.engine().ask(Command::GiveBack(leases(&asked.leases)?)).await?;
    app.push().reported(asked.leases.iter());
    Ok(Json(wire::ActTaken { already: false, reopened: None }))
}

fn check_batch(count: usize) -> Done<()> {
    if count <= limits::BATCH {
        return Ok(());
    }
    Err(Error::limit("batch_too_large", format!("at most {} at once, these are {count}", limits::BATCH)))
}

fn leases(texts: &[String]) -> Done<Vec<LeaseRef>> {
    check_batch(texts.len())?;
    texts.iter().map(|text| read(text)).collect()
}

fn written(lease: &LeaseRef) -> String {
    let LeaseRef { run, task, generation, attempt, token } = lease;
    format!("{run}.{}.{generation}.{attempt}.{token}", task.0)
}

fn read(text: &str) -> Done<LeaseRef> {
    let parsed = || {
        let mut parts = text.split('.');
        let run = RunId::parse(parts.next()?).ok()?;
        let task = TaskIx(parts.next()?.parse().ok()?);
        let generation = parts.next()?.parse().ok()?;
        let attempt = parts.next()?.parse().ok()?;
        let token = Token::parse(parts.next()?).ok()?;
        parts.next().is_none().then_some(LeaseRef { run, task, generation, attempt, token })
    };
    parsed().ok_or_else(|| {
        Error::invalid("bad_lease", format!("{text:?} is no lease: send the `lease` of a claim back as it came"))
    })
}

/// The engine answered something else.
pub(crate) fn unexpected(answer: &Answer) -> Error {
    Error::bug("unexpected_answer", format!("the engine answered {answer:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_reads_back_as_it_was_written_and_nothing_else_does() {
        let lease = LeaseRef { run: RunId(5), task: TaskIx(3), generation: 2, attempt: 9, token: Token(77) };
        let text = written(&lease);
        assert_eq!(read(&text).unwrap(), lease);
        for bad in ["", ".", "x", &text[1..], &format!("{text}.1"), &text.replace('.', ":")] {
            assert_eq!(read(bad).unwrap_err().code, "bad_lease", "{bad}");
        }
    }
}
