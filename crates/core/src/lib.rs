//! The rules of Edgewise.
//!
//! A flow becomes a plan; a run is a stream of events over a plan; the fold turns events into state;
//! rows are what is shown of it. Nothing here does I/O, reads a clock or draws a number, so the
//! same ledger folds to the same state on any machine, any day.
//!
//! ```text
//! flow ──► plan ──► event ──► fold ──► run ──► rows
//!                               ▲        │
//!                            rules    invariant
//! ```

pub mod attempts;
pub mod control;
pub mod domain;
pub mod error;
pub mod event;
pub mod expr;
pub mod flow;
pub mod fold;
pub mod gate;
pub mod history;
pub mod id;
pub mod input;
pub mod invariant;
pub mod limits;
mod mark;
pub mod name;
pub mod pattern;
pub mod plan;
pub mod rate;
mod recent;
pub mod rehearsal;
pub mod retry;
pub mod rows;
pub mod rule;
pub mod run;
pub mod schedule;
pub mod sketch;
pub mod state;
pub mod suggest;
pub mod template;
pub mod text;
pub mod time;
pub mod timing;
pub mod trace;
pub mod what_if;
pub mod why;
pub mod work;

pub use error::{Error, Kind, Result};
