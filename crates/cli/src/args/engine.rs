//! `edgewise engine`: started by `run --detach`, not by people.

use clap::Args;

/// Be the engine of the data folder.
#[derive(Debug, Args)]
pub struct Engine {
    /// End when nothing could move any more unless a person does something
    #[arg(long)]
    pub until_idle: bool,
}
