//! Handlers: one file for each noun. What is written goes to the engine, what is looked at comes from a reader.

pub mod act;
pub mod ask;
pub mod audit;
pub mod begin;
pub mod domain;
pub mod events;
pub mod flow;
pub mod gate;
pub mod hook;
pub mod import;
pub mod insight;
pub mod item;
pub mod meta;
pub mod operate;
pub mod run;
pub mod schedule;
pub mod webhook;
pub mod work;
pub mod worker;

use crate::app::App;
use crate::problem::Result;
use edgewise_core::id::RunId;

/// The run that is meant: an id, or the unique beginning of one.
async fn find(app: &App, run: String) -> Result<RunId> {
    // A whole id need not be looked for.
    if let Ok(run) = RunId::parse(&run) {
        return Ok(run);
    }
    Ok(app.readers().look(move |reader| reader.find(&run)).await?)
}
