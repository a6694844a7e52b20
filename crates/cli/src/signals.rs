//! Being told to stop: Ctrl-C, or a signal from whoever started us. The first one is a request.

use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for requests to stop. As long as it lives, they do not end the process by themselves.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Begins to listen.
    pub fn listen() -> Result<Self> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Problem::new(Kind::Unavailable, "no_signals", "signals cannot be listened to").why(error.to_string())
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Returns at the next request.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
