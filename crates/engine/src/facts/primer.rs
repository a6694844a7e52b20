//! What an agent must know to work here, in as few words as will do.

use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::Work;
use serde::Serialize;

/// The same for every agent.
pub const PRIMER: &str = "\
Work is kept in Edgewise: a graph of items, and what waits for what. Do not keep lists of your own.

1. `edgewise ready --claim --json` takes the most urgent item that nothing is in the way of; nobody else gets it.
   Exit code 3: nothing is ready. Keep its `id` and `token`. The claim ends by itself after 30 minutes:
   `edgewise claim ID --token TOKEN` makes it last longer.
2. `edgewise show ID` says what is to be done. `edgewise why ID` says what is in its way, and who can help.
3. Found more work? `edgewise add 'TITLE' --type bug --priority 2`. Does something wait for it?
   `edgewise dep A --needs B`: A waits for B. A cycle is refused with its path.
4. `edgewise close ID --token TOKEN --reason 'WHAT WAS DONE'` says who is ready now. Could not be done:
   add `--failed`. Not wanted any more: `--cancelled`. `--claim-next` takes the next one in the same step.
   Cannot go on? `edgewise release ID`.

Several things as one, all or none: `edgewise batch`, one JSON operation a line. Every command has `--json`.
Exit codes: 0 done, 2 wrong usage, 3 no such thing, 4 somebody was first or the state forbids it, 5 not permitted.";

/// The primer with what is so now.
#[derive(Debug, Serialize)]
pub struct Primed {
    /// What is the same for everybody.
    pub primer: &'static str,
    /// Who asks.
    pub who: Name,
    /// How many items can be begun.
    pub ready: usize,
    /// How many something is in the way of.
    pub blocked: usize,
    /// How many are somebody's.
    pub claimed: usize,
}

impl Primed {
    /// For somebody, at an instant.
    pub fn of(work: &Work, now: Time, who: Name) -> Self {
        let stats = work.stats(now);
        Self { primer: PRIMER, who, ready: stats.ready, blocked: stats.blocked, claimed: stats.claimed }
    }
}

#[cfg(test)]
mod tests {
    use super::PRIMER;

    #[test]
    fn the_primer_is_short() {
        assert!(PRIMER.len() / 4 < 500, "about {} tokens", PRIMER.len() / 4);
        assert!(PRIMER.lines().all(|line| line.len() <= 115));
    }
}
