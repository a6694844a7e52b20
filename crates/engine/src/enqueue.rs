//! What gets work to workers, and what time brings: one chore, one file.

mod advance;
mod bring_back;
mod expire;
mod fire;
mod grant;
mod item;
mod join;
mod link;
pub(crate) mod overdue;
mod shared;
mod sweep;
mod tick;

pub(crate) use grant::grant;
pub(crate) use sweep::sweep;

use crate::desk::Desk;

/// What is due without anybody asking: timers, leases that are over, folds that go on, and last the links between
/// runs, which all of this may have changed.
pub(crate) fn chores(desk: &mut Desk) {
    desk.load_forgotten();
    bring_back::bring_back(desk);
    fire::fire(desk);
    tick::tick(desk);
    expire::expire(desk);
    advance::advance(desk);
    overdue::overdue(desk);
    link::link(desk);
    join::join(desk);
    desk.open_keys();
}

/// Whether a chore is due right now.
pub(crate) fn has_chores(desk: &Desk) -> bool {
    let timer = desk.timers.first().is_some_and(|(due, _, _)| *due <= desk.now);
    let tick = desk.ticks.next_look().is_some_and(|at| at <= desk.now);
    let opening = desk.next_opening().is_some_and(|due| due <= desk.now);
    timer
        || tick
        || desk.work_due().is_some_and(|due| due <= desk.now)
        || opening
        || desk.leases.lapsed(desk.now).next().is_some()
        || !desk.advancing.is_empty()
        || desk.links.is_due()
}
