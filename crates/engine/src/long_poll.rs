//! Long polls: a claim of somebody outside this process, who waits for a while and may go away meanwhile.
//!
//! What was granted to somebody who is gone comes back unspent; a claim that is not filled in time is taken back, so
//! that nothing is granted to nobody.

use crate::command::{Answer, Claim, Command, Finish, Grant, LeaseRef};
use crate::committer::Request;
use crate::engine::{Engine, Reply};
use edgewise_core::{Error, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// What a waiter is handed: what else was asked, and grants.
type Handed<T> = Result<(T, Vec<Grant>)>;

impl Engine {
    /// Asks for work and waits at most so long. Whoever drops the future gives back what it would have got.
    pub async fn claim(&self, claim: Claim, patience: Duration) -> Result<Vec<Grant>> {
        let (reply, answer) = oneshot::channel();
        tokio::spawn(wait(self.clone(), claim, patience, reply));
        let mut waiting = Waiting { engine: self, answer };
        (&mut waiting.answer).await.unwrap_or_else(|_| Ok(((), Vec::new()))).map(|((), grants)| grants)
    }

    /// Reports how attempts ended and asks for the next ones in the same commit: a step of a chain is one durable write.
    /// What that commit does not grant is not waited for. Whoever drops the future gives back what it would have got.
    pub async fn complete(&self, finishes: Arc<[Finish]>, next: Option<Claim>) -> Handed<Vec<Result<()>>> {
        let Some(next) = next else {
            return completed(self.ask(Command::Complete(finishes)).await).map(|results| (results, Vec::new()));
        };
        let (reply, answer) = oneshot::channel();
        tokio::spawn(step(self.clone(), finishes, next, reply));
        let mut waiting = Waiting { engine: self, answer };
        (&mut waiting.answer).await.unwrap_or_else(|_| Err(unanswered()))
    }
}

/// Somebody who waits. Who leaves at the very moment in which grants were handed over gives them back as well.
struct Waiting<'e, T> {
    engine: &'e Engine,
    answer: oneshot::Receiver<Handed<T>>,
}

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        // Closed first: what is sent after that comes back to the sender.
        self.answer.close();
        let Ok(Ok((_, unheard))) = self.answer.try_recv() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (engine, leases) = (self.engine.clone(), unheard.iter().map(|grant| grant.lease).collect());
            runtime.spawn(async move { give_back(&engine, leases).await });
        }
    }
}

async fn step(engine: Engine, finishes: Arc<[Finish]>, next: Claim, reply: oneshot::Sender<Handed<Vec<Result<()>>>>) {
    let ((tell, told), (give, given)) = (oneshot::channel(), oneshot::channel());
    let bundle = vec![
        Request { command: Command::Complete(finishes), reply: Reply::Once(tell) },
        Request { command: Command::Claim(next), reply: Reply::Now(give) },
    ];
    if let Err(error) = engine.send(bundle).await {
        let _ = reply.send(Err(error));
        return;
    }
    let results = completed(told.await.unwrap_or_else(|_| Err(unanswered())));
    let grants = match given.await {
        Ok(Ok(Answer::Granted { grants, .. })) => grants,
        _ => Vec::new(),
    };
    let leases: Vec<LeaseRef> = grants.iter().map(|grant| grant.lease).collect();
    let heard = results.is_ok();
    if reply.send(results.map(|results| (results, grants))).is_err() || !heard {
        give_back(&engine, leases).await;
    }
}

fn completed(answer: Result<Answer>) -> Result<Vec<Result<()>>> {
    match answer? {
        Answer::Completed(results) => Ok(results),
        other => Err(Error::bug("unexpected_answer", format!("the engine answered something else: {other:?}"))),
    }
}

fn unanswered() -> Error {
    Error::unavailable("engine_stopped", "the engine stopped before it answered; report again when it is there")
}

async fn give_back(engine: &Engine, leases: Vec<LeaseRef>) {
    if !leases.is_empty() {
        // An engine that has stopped brings them back when it starts.
        let _ = engine.ask(Command::GiveBack(leases)).await;
    }
}

async fn wait(engine: Engine, claim: Claim, patience: Duration, mut reply: oneshot::Sender<Handed<()>>) {
    let (tell, mut told) = mpsc::unbounded_channel();
    let request = Request { command: Command::Claim(claim), reply: Reply::Many(tell.clone()) };
    if let Err(error) = engine.send(vec![request]).await {
        // Whoever asked may be gone: then nobody needs to know.
        let _ = reply.send(Err(error));
        return;
    }
    let answer = tokio::select! {
        answer = told.recv() => answer,
        () = tokio::time::sleep(patience) => None,
        () = reply.closed() => None,
    };
    let answer = match answer {
        Some(answer) => Some(answer),
        None => {
            engine.leave(&tell).await;
            // It may have been filled in the last moment.
            told.try_recv().ok()
        }
    };
    let grants = match answer {
        Some(Ok(Answer::Granted { grants, .. })) => Ok(((), grants)),
        Some(Err(error)) => Err(error),
        _ => Ok(((), Vec::new())),
    };
    if let Err(Ok(((), unheard))) = reply.send(grants) {
        give_back(&engine, unheard.iter().map(|grant| grant.lease).collect()).await;
    }
}
