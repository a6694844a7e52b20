//! The storm: the engine under every fault we can think of, played from one seed.
//!
//! ```text
//! seed ──► weather ──► steps: orchestrators, workers, people, network, store ──► calm ──► everything has ended
//!                        │                                                         │
//!                        └── witness: every commit, every answer                   └── oracle: as promised
//! ```
//!
//! One thread, virtual time, no chance but the seed's: [`run_seed`] plays the same storm whoever calls it, and
//! [`shrink`] finds the few steps of it that matter. [`driver`] is the same world with one engine, moved by hand.

pub mod cover;
pub mod dice;
pub mod driver;
mod events;
pub mod flows;
mod kept;
pub mod oracle;
mod orchestrator;
pub mod plans;
pub mod program;
mod shrink;
mod store;
mod storm;
mod teller;
pub mod violation;
pub mod weather;
pub mod witness;

pub use kept::kept;
pub use shrink::{Shrunk, shrink};
pub use violation::Violation;

use cover::Cover;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::Store;
use storm::Storm;

/// What a storm is played over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tier {
    /// In memory: fast, for many seeds.
    #[default]
    Memory,
    /// SQLite files in a folder of their own, deleted afterwards.
    Sqlite,
    /// One run without an engine: events straight into the fold, also those that no command of the engine writes.
    Events,
}

/// A seed, and what it is played over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seed {
    /// The number.
    pub number: u64,
    /// Over what.
    pub tier: Tier,
}

impl Seed {
    /// The command that plays it again.
    pub fn again(self) -> String {
        let tier = match self.tier {
            Tier::Memory => "",
            Tier::Sqlite => " --sqlite",
            Tier::Events => " --events",
        };
        format!("cargo xtask sim --seed {}{tier}", self.number)
    }
}

/// How a seed is played.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Over what.
    pub tier: Tier,
    /// Only these steps happen; all of them if absent.
    pub only: Option<Arc<BTreeSet<u64>>>,
    /// Whether the summary has the schedule.
    pub trace: bool,
}

/// What a storm came to.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Steps played, in storm and calm.
    pub steps: u64,
    /// The same for the same seed, always.
    pub hash: u64,
    /// What happened, counted.
    pub cover: Cover,
    /// What happened, told; empty unless asked for.
    pub schedule: Vec<String>,
}

/// Plays a seed: a storm, then calm. Prints nothing, and needs nothing but its arguments.
pub fn run_seed(seed: u64, options: &Options) -> Result<Summary, Violation> {
    let played = play(seed, options);
    match played {
        Err(violation) if !options.trace => {
            // The same again, this time with somebody who writes it down.
            let traced = Options { trace: true, ..options.clone() };
            Err(play(seed, &traced).err().unwrap_or(violation))
        }
        other => other,
    }
}

fn play(seed: u64, options: &Options) -> Result<Summary, Violation> {
    let store: fn() -> std::io::Result<Store> = match options.tier {
        Tier::Memory => || Ok(Store::in_memory()),
        Tier::Sqlite => Store::in_a_folder,
        Tier::Events => return events::play(seed, options),
    };
    let mut schedule = Vec::new();
    let result = violation::catch(|| {
        let store = store().map_err(|e| Violation::new("no_folder", e.to_string()))?;
        let mut storm = Storm::new(seed, store, options.trace)?;
        let kept = |step: u64| options.only.as_ref().is_none_or(|only| only.contains(&step));
        let held = violation::catch(|| storm.rage(kept).and_then(|()| storm.calm()));
        schedule = storm.log.take().unwrap_or_default();
        held?;
        let mut cover = std::mem::take(&mut storm.cover);
        cover.merge(&storm.witness.cover);
        Ok(Summary { steps: storm.steps, hash: storm.hash, cover, schedule: Vec::new() })
    });
    match result {
        Ok(summary) => Ok(Summary { schedule, ..summary }),
        Err(violation) => Err(Violation { schedule, ..violation }),
    }
}
