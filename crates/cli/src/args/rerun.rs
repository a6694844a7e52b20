//! `edgewise rerun`.

use super::act::Which;
use super::run::Mode;
use clap::Args;
use edgewise_core::time::Millis;

/// Have finished work of a run done again, with all that follows it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise rerun @                       what failed or was stopped, and what follows it
  edgewise rerun @ --task build          one task, and what follows it
  edgewise rerun k3f9 --whole --detach   everything, without waiting for it
  edgewise rerun @ --why 'disk is free'  what is finished and does not follow is never done twice
  edgewise rerun --where 'state:failed since:1d label.team=web' --dry-run")]
pub struct Rerun {
    /// Which run, or which runs: all that a search finds are opened again and left to an engine
    #[command(flatten)]
    pub which: Which,
    /// What failed or was stopped (the default for a run that did not end well)
    #[arg(long, group = "what")]
    pub from_failure: bool,
    /// A task, as `edgewise show` names it
    #[arg(long, value_name = "PATH", group = "what")]
    pub task: Option<String>,
    /// The whole run
    #[arg(long, group = "what")]
    pub whole: bool,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
    /// Draw it live until it ends (the default on a terminal)
    #[arg(long, group = "mode", conflicts_with = "query")]
    pub watch: bool,
    /// Wait until it ends, without drawing (the default elsewhere)
    #[arg(long, group = "mode", conflicts_with = "query")]
    pub wait: bool,
    /// Do not wait for it
    #[arg(long, group = "mode", conflicts_with = "timeout")]
    pub detach: bool,
    /// Stop waiting after this long (exit code 124); the run itself goes on
    #[arg(long, value_name = "DURATION", value_parser = Millis::parse, conflicts_with = "query")]
    pub timeout: Option<Millis>,
}

impl Rerun {
    /// What was asked for, else what fits: people watch, programs wait.
    pub fn mode(&self, person_watches: bool) -> Mode {
        Mode::of((self.watch, self.wait, self.detach), person_watches)
    }
}
