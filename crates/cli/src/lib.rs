//! The binary `edgewise`: arguments, configuration, printing, exit codes.
//!
//! Nothing here knows a rule. A command reads its arguments, asks the engine or the store, and hands what it
//! got to the printer; what went wrong is told in the same form everywhere and ends in a documented code.
//!
//! ```text
//! args ──► config ──► command ──► output ──► exit
//!                        │
//!                      live
//! ```

pub mod args;
pub mod bench;
pub mod clock;
pub mod command;
pub mod config;
pub mod descriptors;
pub mod exit;
pub mod flow_file;
pub mod live;
pub mod output;
pub mod picture;
pub mod place;
pub mod problem;
pub mod push_workers;
mod remote;
pub mod shelves;
pub mod siblings;
pub mod signals;
pub mod style;
pub mod table;
pub mod text;
pub mod view;

mod follow;
mod looking;
mod start;

pub use start::main;
