//! Folds that stopped at their bound on inline work go on, one commit at a time.

use crate::committer::CHORES;
use crate::desk::Desk;
use edgewise_core::event::{Event, RunAdvanced};

pub(super) fn advance(desk: &mut Desk) {
    let runs: Vec<_> = desk.advancing.iter().take(CHORES).copied().collect();
    for run in runs {
        desk.advancing.remove(&run);
        if desk.open_hinted(run).is_some() {
            // Recording puts it back if there is still more; a run that needs no advancing ignores it.
            let _ = desk.record(run, Event::RunAdvanced(RunAdvanced {}));
        }
    }
}
