//! A run loaded from its rows, at any prefix of any ledger, is the run that was folded.

use crate::storm::weather;
use edgewise_core::event::TaskIx;
use edgewise_core::run::Run;

/// A run written to rows and read back.
pub fn reload(run: &Run) -> Run {
    let rows = (0..run.total()).map(TaskIx).filter(|t| run.has_row(*t)).map(|t| run.task_row(t)).collect();
    Run::from_rows(&run.row().unwrap(), rows, run.plan.clone()).unwrap()
}

fn storms(seeds: std::ops::Range<u64>, acts: u64) {
    for seed in seeds {
        let result = std::panic::catch_unwind(|| {
            let d = weather(seed, acts);
            assert!(d.run.state.is_done(), "the run is {:?} after the storm", d.run.state);
            d.close();
        });
        assert!(result.is_ok(), "weather({seed}, {acts}) broke an invariant: see above");
    }
}

#[test]
fn every_invariant_holds_at_every_step_of_random_runs() {
    storms(0..2_000, 60);
}
