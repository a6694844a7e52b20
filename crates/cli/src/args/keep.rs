//! Commands that keep data, and let it go: `backup`, `restore`, `retain`.

use clap::Args;
use edgewise_core::state::RunState;
use edgewise_core::time::Millis;
use edgewise_core::{Error, Result};
use edgewise_engine::query::states_of;
use std::path::PathBuf;

/// Copy everything to a safe place, also while runs are at work.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise backup /mnt/backup/edgewise-monday
  edgewise backup ../copy --no-logs       without what commands printed

The folder must not exist. It is checked before it gets its name.")]
pub struct Backup {
    /// The folder to make
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// Without the logs of commands
    #[arg(long)]
    pub no_logs: bool,
}

/// Bring a backup back into a data folder that is empty.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise restore /mnt/backup/edgewise-monday --dry-run    what would be there
  edgewise restore /mnt/backup/edgewise-monday
  edgewise restore ../copy --dir /srv/edgewise")]
pub struct Restore {
    /// The folder that `edgewise backup` made
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// Only check it and say what would be there
    #[arg(long)]
    pub dry_run: bool,
}

/// Take runs away that are long over: their records, rows and logs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise retain --older-than 30d --dry-run
  edgewise retain --older-than 30d --state complete,cancelled --yes
  edgewise retain --older-than 1w --where 'flow:nightly -label.keep=yes' --yes

Runs that are not over, are frozen, or are waited for stay. The keys of runs that are gone are kept for
30 days after their end, or as long as --keys says: within that time the same key starts nothing.
An engine does the same by itself if edgewise.toml has a [retention].")]
pub struct Retain {
    /// How long ago they must have ended
    #[arg(long, value_name = "DURATION", value_parser = Millis::parse)]
    pub older_than: Millis,
    /// How they must have ended [default: succeeded,cancelled]
    #[arg(long, value_name = "STATES", value_parser = ended)]
    pub state: Option<Ended>,
    /// Only those that a search finds, as in `edgewise runs QUERY`
    #[arg(long = "where", id = "query", value_name = "QUERY", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// How long their keys are kept, counted from their end
    #[arg(long, value_name = "DURATION", value_parser = Millis::parse)]
    pub keys: Option<Millis>,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
    /// Only list them
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
}

/// States in which a run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended(pub Vec<RunState>);

/// Reads states, separated by commas; each must be one in which a run is over.
pub fn ended(text: &str) -> Result<Ended> {
    let mut states = Vec::new();
    for word in text.split(',') {
        let found = states_of(word.trim()).unwrap_or_default();
        if found.is_empty() || found.iter().any(|state| !state.is_done()) {
            let message = format!(
                "{word:?} is no state in which a run is over: expected `succeeded`, `complete`, `failed`, `cancelled`, \
                 `resolved_manually` or `over`, separated by commas"
            );
            return Err(Error::invalid("bad_state", message));
        }
        states.extend(found);
    }
    Ok(Ended(states))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_states_in_which_a_run_is_over_are_taken() {
        use RunState::{Cancelled, Complete, Error as Failed, ResolvedManually};
        assert_eq!(ended("complete,cancelled").unwrap().0, [Complete, Cancelled]);
        assert_eq!(ended("failed, succeeded").unwrap().0, [Failed, Complete, ResolvedManually]);
        for text in ["", "running", "complete,open", "compleat"] {
            assert_eq!(ended(text).unwrap_err().code, "bad_state", "{text}");
        }
    }
}
