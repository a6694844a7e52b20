//! `edgewise run`.

use super::value::{Input, Label};
use clap::{Args, ValueEnum};
use edgewise_core::plan::Identity;
use edgewise_core::time::Millis;
use std::path::PathBuf;

/// Run a flow.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise run build.yaml                      watch it, on a terminal
  edgewise run build                           a flow that was registered
  edgewise run build.yaml -i version=1.2.3     with an input that is text
  edgewise run build.yaml -i 'targets:=[1,2]'  with an input that is JSON
  edgewise run build.yaml --key nightly-42     at most one run for this key
  edgewise run build.yaml --identity strict    at most one run with the same flow and input
  edgewise run build.yaml --label team=web     found by `edgewise runs label.team=web`
  edgewise run build.yaml --wait --timeout 10m for scripts: the exit code tells how it ended
  edgewise run build.yaml --detach -q          print the run's id and go")]
pub struct Run {
    /// The flow: a file, `-` for stdin, or the name of a registered flow
    #[arg(value_name = "FLOW")]
    pub file: PathBuf,
    /// An input: k=text, or k:=json
    #[arg(short, long, value_name = "K=V", value_parser = Input::parse)]
    pub input: Vec<Input>,
    /// The same key gives the same run, however often it is asked for
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// When two starts are the same run, whatever the flow says: never, or with the same plan and input
    #[arg(long, value_enum, value_name = "WHEN", conflicts_with = "key")]
    pub identity: Option<IdentityWord>,
    /// Draw it live until it ends (the default on a terminal)
    #[arg(long, group = "mode")]
    pub watch: bool,
    /// Wait until it ends, without drawing (the default elsewhere)
    #[arg(long, group = "mode")]
    pub wait: bool,
    /// Do not wait for it
    #[arg(long, group = "mode", conflicts_with = "timeout")]
    pub detach: bool,
    /// Stop waiting after this long (exit code 124); the run itself is kept
    #[arg(long, value_name = "DURATION", value_parser = Millis::parse)]
    pub timeout: Option<Millis>,
    /// A label to find the run by, over those of the flow: `edgewise runs label.K=V`
    #[arg(long, value_name = "K=V", value_parser = Label::parse)]
    pub label: Vec<Label>,
}

/// When two starts are the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IdentityWord {
    /// Each start is a run of its own.
    #[value(name = "always_unique")]
    AlwaysUnique,
    /// The same plan and input are the same run.
    Strict,
}

impl From<IdentityWord> for Identity {
    fn from(word: IdentityWord) -> Self {
        match word {
            IdentityWord::AlwaysUnique => Self::AlwaysUnique,
            IdentityWord::Strict => Self::Strict,
        }
    }
}

/// What happens after the run was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is drawn until it ends.
    Watch,
    /// It is waited for.
    Wait,
    /// Nothing more.
    Detach,
}

impl Run {
    /// What was asked for, else what fits: people watch, programs wait.
    pub fn mode(&self, person_watches: bool) -> Mode {
        Mode::of((self.watch, self.wait, self.detach), person_watches)
    }
}

impl Mode {
    /// What was asked for with `--watch`, `--wait` or `--detach`, else what fits: people watch, programs wait.
    pub(super) fn of(asked: (bool, bool, bool), person_watches: bool) -> Self {
        match asked {
            (true, _, _) => Mode::Watch,
            (_, true, _) => Mode::Wait,
            (_, _, true) => Mode::Detach,
            _ if person_watches => Mode::Watch,
            _ => Mode::Wait,
        }
    }
}
