//! `edgewise engine`: the folder's engine, for as long as it is wanted.

use clap::Args;

/// Be the engine of the data folder until stopped: schedules tick only while there is one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise engine                  serve schedules, timers and detached runs until Ctrl-C
  edgewise engine --until-idle     end when nothing is left to do; a schedule is never done")]
pub struct Engine {
    /// End when nothing could move any more unless a person does something
    #[arg(long)]
    pub until_idle: bool,
}
