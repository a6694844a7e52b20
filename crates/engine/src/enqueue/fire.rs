//! Timers that are due become facts. Never before their time by the committer's clock, and once.

use crate::committer::CHORES;
use crate::desk::Desk;

pub(super) fn fire(desk: &mut Desk) {
    for _ in 0..CHORES {
        let Some((due, run, timer)) = desk.timers.first().copied().filter(|(due, _, _)| *due <= desk.now) else {
            return;
        };
        desk.timers.remove(&(due, run, timer));
        if let Some(event) = desk.open_hinted(run).map(|cached| cached.run.fired(timer, due)) {
            // The hint may be old: the run itself says whether the timer is set.
            let _ = desk.record(run, event);
        }
    }
}
