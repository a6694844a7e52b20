//! Timers that are due become facts. Never before their time by the committer's clock, and once.

use crate::committer::CHORES;
use crate::desk::Desk;
use edgewise_core::event::{Event, TimerFired};

pub(super) fn fire(desk: &mut Desk) {
    for _ in 0..CHORES {
        let Some((due, run, timer)) = desk.timers.first().copied().filter(|(due, _, _)| *due <= desk.now) else {
            return;
        };
        desk.timers.remove(&(due, run, timer));
        if desk.open_hinted(run).is_some() {
            // The hint may be old: the run itself says whether the timer is set.
            let _ = desk.record(run, Event::TimerFired(TimerFired { timer, due }));
        }
    }
}
