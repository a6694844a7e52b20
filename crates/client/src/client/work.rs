//! The worker protocol, one request at a time. [`crate::Worker`] does all of it by itself.

use super::{Ask, Client};
use crate::error::Result;
use crate::wire::{ActTaken, Beats, Claim, Complete, Completed, Heartbeat, Leases, Release};
use std::time::Duration;

impl Client {
    /// Takes tasks, as soon as there are some. A claim whose answer was lost gets the same leases.
    pub async fn claim(&self, claim: &Claim) -> Result<Leases> {
        let wait = Duration::from_millis(claim.wait_ms.unwrap_or(0));
        self.ask(&Ask::once("/api/v1/work/claim", claim)?.waiting(wait)).await
    }

    /// Says that attempts are still at work; the answers say which are to stop.
    pub async fn heartbeat(&self, leases: Vec<String>) -> Result<Beats> {
        self.ask(&Ask::again("/api/v1/work/heartbeat", &Heartbeat { leases })?).await
    }

    /// Reports how attempts ended, and takes the next tasks if a claim comes along. Each report has its own status: 409
    /// where the attempt was over before.
    pub async fn complete(&self, complete: &Complete) -> Result<Completed> {
        let path = "/api/v1/work/complete";
        // Reports alone may be heard twice; what a claim was given must come back again.
        let ask = if complete.claim.is_some() { Ask::once(path, complete)? } else { Ask::again(path, complete)? };
        self.ask(&ask).await
    }

    /// Gives leases back whose work never began: their attempts are not spent.
    pub async fn release(&self, leases: Vec<String>) -> Result<()> {
        let release = Ask::again("/api/v1/work/release", &Release { leases })?;
        self.ask::<ActTaken>(&release).await.map(drop)
    }
}
