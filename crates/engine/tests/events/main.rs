//! Domain events from the commit to whoever is told: listeners, queues and webhooks.
//!
//! Nothing here sleeps. What must happen is waited for; only a hang meets the limit.

mod graph;
mod hooks;
mod publishing;
mod several;
mod stage;
