//! Timers that are due become facts. Never before their time by the committer's clock, and once.

use crate::committer::CHORES;
use crate::desk::Desk;
use edgewise_core::Kind;
use edgewise_core::event::{Event, TimerFired};

pub(super) fn fire(desk: &mut Desk) {
    for _ in 0..CHORES {
        let Some((due, run, timer)) = desk.timers.first().copied().filter(|(due, _, _)| *due <= desk.now) else {
            return;
        };
        desk.timers.remove(&(due, run, timer));
        match desk.open(run) {
            // The hint may be old: the run itself says whether the timer is set.
            Ok(_) => drop(desk.record(run, Event::TimerFired(TimerFired { timer, due }))),
            Err(error) if error.kind == Kind::Unavailable => {
                desk.timers.insert((due, run, timer));
                return;
            }
            Err(_) => {}
        }
    }
}
