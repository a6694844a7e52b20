//! Facts: runs, tasks and events as programs see them. The command line prints them with `--json`, the server answers
//! with them: one form, made in one place.

pub mod check;
mod event;
pub mod gate;
pub mod history;
mod listed;
pub mod picture;
pub mod primer;
pub mod record;
mod run;
pub mod schedule;
pub mod spelled;
pub mod why;
pub mod work;

pub use event::{EventFacts, Teller};
pub use listed::{Cursor, Listed, took};
pub use run::{RunFacts, TaskFacts, in_order};

use edgewise_core::time::Time;

/// What the keys of runs begin with that are made of the request that started them: such a run has no key of its own.
pub const REQUEST_KEY: &str = "request:";

/// The key that somebody gave a run. One of its request is nobody's to know, and not the same at a server as in a folder.
pub fn own_key(key: Option<&String>) -> Option<&String> {
    key.filter(|key| !key.starts_with(REQUEST_KEY))
}

/// An instant as programs read it; `None` for "not yet".
pub fn rfc3339(time: Time) -> Option<String> {
    time.known().map(|time| time.to_string())
}
