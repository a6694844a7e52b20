//! Runs: start, look, wait, act.

use super::{Ask, Client, part};
use crate::error::Result;
use crate::wire::{
    ActRequest, ActTaken, Ended, Flows, GateRequest, RerunRequest, Runs, SatisfyRequest, Start, Started, SupplyRequest,
};
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Longest wait of one request; a longer one is several.
const WAIT: Duration = Duration::from_secs(50);

impl Client {
    /// Starts a run. It is started once, also where the answer was lost and it had to be asked again.
    pub async fn start(&self, start: &Start) -> Result<Started> {
        self.post("/api/v1/runs", start).await
    }

    /// A run with all its tasks, in the form of `edgewise show --json`.
    pub async fn show(&self, run: &str) -> Result<Value> {
        self.get(&of(run, "")).await
    }

    /// Why a run does not go on, in the form of `edgewise why --json`.
    pub async fn why(&self, run: &str) -> Result<Value> {
        self.get(&of(run, "/why")).await
    }

    /// A page of runs, the newest first, that fit a search; `after` is the `next` of the page before.
    pub async fn runs(&self, search: &str, after: Option<&str>) -> Result<Runs> {
        let after = after.map(|after| format!("&after={}", part(after))).unwrap_or_default();
        self.get(&format!("/api/v1/runs?q={}{after}", part(search))).await
    }

    /// All flows that are registered, however many pages that takes.
    pub async fn flows(&self) -> Result<Flows> {
        let mut all: Flows = self.get("/api/v1/flows").await?;
        while let Some(after) = all.next.take() {
            let page: Flows = self.get(&format!("/api/v1/flows?after={}", part(&after))).await?;
            all.flows.extend(page.flows);
            all.next = page.next;
        }
        Ok(all)
    }

    /// Waits for a run's end, so long at most. The state is absent if it has not ended by then.
    pub async fn wait(&self, run: &str, patience: Duration) -> Result<Ended> {
        let begun = Instant::now();
        loop {
            let left = patience.saturating_sub(begun.elapsed());
            let wait = left.min(WAIT);
            let path = of(run, &format!("/end?wait_ms={}", wait.as_millis()));
            let ended: Ended = self.ask(&Ask::get(&path).waiting(wait)).await?;
            if ended.state.is_some() || left <= wait {
                return Ok(ended);
            }
        }
    }

    /// Nothing of a run, or of one of its tasks, may start any more.
    pub async fn cancel(&self, run: &str, act: &ActRequest) -> Result<ActTaken> {
        self.act(run, "cancel", act).await
    }

    /// No new leases of a run for now.
    pub async fn pause(&self, run: &str, act: &ActRequest) -> Result<ActTaken> {
        self.act(run, "pause", act).await
    }

    /// Leases again.
    pub async fn resume(&self, run: &str, act: &ActRequest) -> Result<ActTaken> {
        self.act(run, "resume", act).await
    }

    /// Gives a failed task new attempts.
    pub async fn reset(&self, run: &str, act: &ActRequest) -> Result<ActTaken> {
        self.act(run, "reset", act).await
    }

    /// Leaves a task out.
    pub async fn skip(&self, run: &str, act: &ActRequest) -> Result<ActTaken> {
        self.act(run, "skip", act).await
    }

    /// Declares a run, or one of its tasks, dealt with.
    pub async fn resolve(&self, run: &str, act: &ActRequest) -> Result<ActTaken> {
        self.act(run, "resolve", act).await
    }

    /// Supplies a task's output.
    pub async fn supply(&self, run: &str, supply: &SupplyRequest) -> Result<ActTaken> {
        self.act(run, "complete", supply).await
    }

    /// Has finished work done again.
    pub async fn rerun(&self, run: &str, rerun: &RerunRequest) -> Result<ActTaken> {
        self.act(run, "rerun", rerun).await
    }

    /// Says yes to a gate.
    pub async fn approve(&self, run: &str, gate: &GateRequest) -> Result<ActTaken> {
        self.act(run, "approve", gate).await
    }

    /// Takes a yes back.
    pub async fn withdraw(&self, run: &str, gate: &GateRequest) -> Result<ActTaken> {
        self.act(run, "withdraw", gate).await
    }

    /// Says that what a gate waits for outside is so.
    pub async fn satisfy(&self, run: &str, gate: &SatisfyRequest) -> Result<ActTaken> {
        self.act(run, "satisfy", gate).await
    }

    /// Says no to a gate.
    pub async fn reject(&self, run: &str, gate: &GateRequest) -> Result<ActTaken> {
        self.act(run, "reject", gate).await
    }

    async fn act(&self, run: &str, act: &str, body: &impl Serialize) -> Result<ActTaken> {
        self.post(&of(run, &format!("/{act}")), body).await
    }
}

/// Where runs are.
pub(super) const ALL: &str = "/api/v1/runs/";

pub(super) fn of(run: &str, rest: &str) -> String {
    format!("{ALL}{}{rest}", part(run))
}
