//! `edgewise queues`: what waits where, and how much of it may begin.

use clap::{ArgGroup, Args, Subcommand};
use edgewise_core::name::Name;
use edgewise_core::rate::Rate;
use edgewise_core::{Error, Result, limits};
use edgewise_engine::queues::Bound;

/// List queues and limits: what is used, what waits, what is set aside, and who holds what.
#[derive(Debug, Args)]
#[command(after_help = "\
What is set here holds for every engine, after a restart too, and goes before [queues.NAME] in edgewise.toml.

Examples:
  edgewise queues
  edgewise queues pause nightly --why 'the partner is down'
  edgewise queues resume nightly
  edgewise queues set nightly --slots 4 --rate 10/s
  edgewise queues set nightly --rate none
  edgewise queues unset nightly        as edgewise.toml says again")]
pub struct Queues {
    /// What to do; they are listed if absent.
    #[command(subcommand)]
    pub command: Option<QueuesCommand>,
}

/// What can be done with queues.
#[derive(Debug, Subcommand)]
pub enum QueuesCommand {
    /// Say how much of a queue may be at work, or how often something of it may begin
    Set(QueueSet),
    /// Let nothing of a queue begin; what is at work goes on
    Pause(QueueAct),
    /// Let a queue go on
    Resume(QueueAct),
    /// Take back what was set: the queue is as edgewise.toml says again
    Unset(QueueAct),
}

/// Something that is done to a queue.
#[derive(Debug, Args)]
pub struct QueueAct {
    /// Its name; `default` is the queue of tasks that name none
    #[arg(value_name = "QUEUE", value_parser = Name::parse)]
    pub queue: Name,
    /// The reason, for whoever asks later
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Change the bounds of a queue. What is not said stays as it is.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("bounds").args(["slots", "rate"]).multiple(true).required(true)))]
pub struct QueueSet {
    /// Which queue, and why.
    #[command(flatten)]
    pub act: QueueAct,
    /// Most attempts at work at once; none for as many as there are workers
    #[arg(long, value_name = "N", value_parser = slots)]
    pub slots: Option<Bound<u32>>,
    /// How often an attempt may begin, such as 10/s, 600/m, 3/10m; none for as often as there is one
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<Bound<Rate>>,
}

/// What is typed for no bound at all.
const NONE: &str = "none";

fn slots(text: &str) -> Result<Bound<u32>> {
    if text == NONE {
        return Ok(Bound::Free);
    }
    let slots = text.parse().ok().filter(|slots| (1..=limits::SLOTS).contains(slots));
    slots.map(Bound::At).ok_or_else(|| {
        let message = format!("expected 1 to {} or none; `edgewise queues pause` lets nothing begin", limits::SLOTS);
        Error::invalid("bad_slots", message)
    })
}

fn rate(text: &str) -> Result<Bound<Rate>> {
    if text == NONE { Ok(Bound::Free) } else { Rate::parse(text).map(Bound::At) }
}
