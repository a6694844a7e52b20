//! The signal to stop: given once, seen by every clone, never taken back.

use std::sync::Arc;
use tokio::sync::watch;

/// A cloneable signal that an attempt shall be cancelled.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// A signal not given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the signal. Giving it again changes nothing.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was given.
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once it was given.
    pub async fn cancelled(&self) {
        let mut given = self.0.subscribe();
        // Cannot fail: we hold the sender.
        let _ = given.wait_for(|given| *given).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_signal_reaches_clones_made_before_and_after_it() {
        let stop = Stop::new();
        let before = stop.clone();
        assert!(!before.is_cancelled());
        let waiting = tokio::spawn(async move { before.cancelled().await });
        stop.cancel();
        waiting.await.unwrap();
        let after = stop.clone();
        after.cancelled().await;
        assert!(after.is_cancelled());
    }
}
