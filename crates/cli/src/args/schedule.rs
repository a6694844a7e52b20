//! `edgewise register`, `flows` and `schedule`: flows under their names, and when they begin by themselves.

use super::value::Input;
use clap::{Args, Subcommand, ValueEnum};
use edgewise_core::name::Name;
use edgewise_core::schedule::{Overlap, catch_up_word};
use edgewise_core::time::{Millis, Time};
use std::path::PathBuf;

/// Put flows under their names, with the schedules that stand in their text.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise register report.yaml        then `edgewise run report` runs it from anywhere
  edgewise register report.yaml        again: new runs get the new text, its schedules are replaced")]
pub struct Register {
    /// The flow
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// List the flows that are registered.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise flows
  edgewise flows show report
  edgewise flows url report            of a flow whose text says `on: { webhook: {} }`
  curl -X POST -H 'webhook-id: 17' -d '{\"day\": \"monday\"}' \"$(edgewise flows url report -q)\"")]
pub struct Flows {
    /// What to do; they are listed if absent.
    #[command(subcommand)]
    pub command: Option<FlowsCommand>,
}

/// What can be done with registered flows.
#[derive(Debug, Subcommand)]
pub enum FlowsCommand {
    /// Show what begins a flow, and what it must be given
    Show(FlowName),
    /// Print the address of a flow: whoever knows it can begin runs of it
    Url(FlowUrl),
}

/// Which flow.
#[derive(Debug, Args)]
pub struct FlowName {
    /// The flow's name
    #[arg(value_name = "FLOW", value_parser = Name::parse)]
    pub flow: Name,
}

/// A flow whose address is wanted.
#[derive(Debug, Args)]
pub struct FlowUrl {
    /// The flow's name
    #[arg(value_name = "FLOW", value_parser = Name::parse)]
    pub flow: Name,
    /// For how long the address is good
    #[arg(long, value_name = "DURATION", default_value = "366d", value_parser = Millis::parse)]
    pub expires: Millis,
    /// Where others reach the server [default: EDGEWISE_ADDR, or http://127.0.0.1:7420]
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
}

/// See when flows begin by themselves, and change it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise schedule set nightly --flow report --cron '0 2 * * *' --zone Europe/Berlin
  edgewise schedule set often --flow report --every 15m --overlap queue
  edgewise schedule next nightly -n 5
  edgewise schedule backfill nightly --from 2027-01-01T00:00:00Z --until 2027-01-31T00:00:00Z
An engine must be there for ticks to become runs: `edgewise engine`.")]
pub struct Schedule {
    /// What to do.
    #[command(subcommand)]
    pub command: ScheduleCommand,
}

/// What can be done with schedules.
#[derive(Debug, Subcommand)]
pub enum ScheduleCommand {
    /// List the schedules
    List(ScheduleList),
    /// Show one schedule
    Show(ScheduleName),
    /// Make or change a schedule; it counts from now on
    Set(ScheduleSet),
    /// Let a schedule rest
    Pause(ScheduleAct),
    /// Let it go on, from now on
    Resume(ScheduleAct),
    /// Take a schedule away; its runs go on
    Remove(ScheduleAct),
    /// Print the instants at which it ticks next
    Next(ScheduleNext),
    /// Run it for ticks that have passed
    Backfill(ScheduleBackfill),
}

/// Which schedules to list.
#[derive(Debug, Args)]
pub struct ScheduleList {
    /// Only of this flow
    #[arg(long, value_name = "FLOW", value_parser = Name::parse)]
    pub flow: Option<Name>,
}

/// A schedule.
#[derive(Debug, Args)]
pub struct ScheduleName {
    /// Its name
    #[arg(value_name = "NAME", value_parser = Name::parse)]
    pub name: Name,
}

/// Something that is done to a schedule.
#[derive(Debug, Args)]
pub struct ScheduleAct {
    /// Its name
    #[arg(value_name = "NAME", value_parser = Name::parse)]
    pub name: Name,
    /// The reason, for whoever asks later
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Make or change a schedule.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("when").required(true).args(["cron", "every", "at"])))]
pub struct ScheduleSet {
    /// What to do it to.
    #[command(flatten)]
    pub act: ScheduleAct,
    /// The registered flow that is run
    #[arg(long, value_name = "FLOW", value_parser = Name::parse)]
    pub flow: Name,
    /// Minute, hour, day of the month, month, day of the week
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: Option<String>,
    /// The time zone of --cron [default: UTC]
    #[arg(long, value_name = "ZONE", conflicts_with_all = ["every", "at"])]
    pub zone: Option<String>,
    /// How often
    #[arg(long, value_name = "DURATION", value_parser = Millis::parse)]
    pub every: Option<Millis>,
    /// The instant that --every is counted from
    #[arg(long, value_name = "INSTANT", value_parser = Time::parse, conflicts_with_all = ["cron", "at"])]
    pub from: Option<Time>,
    /// Once, at this instant
    #[arg(long, value_name = "INSTANT", value_parser = Time::parse)]
    pub at: Option<Time>,
    /// Begin up to so much later
    #[arg(long, value_name = "DURATION", value_parser = Millis::parse)]
    pub jitter: Option<Millis>,
    /// What a tick does while the run before it is at work
    #[arg(long, value_enum, default_value = "skip", value_name = "WHAT")]
    pub overlap: OverlapWord,
    /// Missed ticks that are made up for: none, last, all, or a number
    #[arg(long, value_name = "WHICH", value_parser = catch_up, default_value = "none")]
    pub catch_up: u32,
    /// An input of its runs: k=text, or k:=json
    #[arg(short, long, value_name = "K=V", value_parser = Input::parse)]
    pub input: Vec<Input>,
}

/// Which instants to print.
#[derive(Debug, Args)]
pub struct ScheduleNext {
    /// Its name
    #[arg(value_name = "NAME", value_parser = Name::parse)]
    pub name: Name,
    /// How many
    #[arg(short = 'n', long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub count: u32,
}

/// Run a schedule for ticks that have passed.
#[derive(Debug, Args)]
#[command(after_help = "\
A backfill is a schedule of its own, ends by itself, and is stopped with `edgewise schedule remove`.")]
pub struct ScheduleBackfill {
    /// The schedule whose ticks they are
    #[command(flatten)]
    pub act: ScheduleAct,
    /// The first instant that counts
    #[arg(long, value_name = "INSTANT", value_parser = Time::parse)]
    pub from: Time,
    /// The last one [default: now]
    #[arg(long, value_name = "INSTANT", value_parser = Time::parse)]
    pub until: Option<Time>,
    /// At most so many runs at a time
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub at_once: u32,
    /// Also ticks that had a run
    #[arg(long)]
    pub again: bool,
}

/// What a tick does while the run before it is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OverlapWord {
    /// It becomes no run
    Skip,
    /// It waits
    Queue,
    /// That run is cancelled
    Cancel,
    /// Both run
    Allow,
}

impl From<OverlapWord> for Overlap {
    fn from(word: OverlapWord) -> Self {
        match word {
            OverlapWord::Skip => Self::Skip,
            OverlapWord::Queue => Self::Queue,
            OverlapWord::Cancel => Self::Cancel,
            OverlapWord::Allow => Self::Allow,
        }
    }
}

fn catch_up(text: &str) -> Result<u32, String> {
    let expected = || format!("expected none, last, all or a number, found {text}");
    catch_up_word(text).map_or_else(|| text.parse().map_err(|_| expected()), Ok)
}
