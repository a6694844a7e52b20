//! What gets work to workers, and what time brings: one chore, one file.

mod advance;
mod bring_back;
mod expire;
mod fire;
mod grant;
mod link;
mod sweep;

pub(crate) use grant::grant;
pub(crate) use sweep::sweep;

use crate::desk::Desk;

/// What is due without anybody asking: timers, leases that are over, folds that go on, and last the links between
/// runs, which all of this may have changed.
pub(crate) fn chores(desk: &mut Desk) {
    desk.load_forgotten();
    bring_back::bring_back(desk);
    fire::fire(desk);
    expire::expire(desk);
    advance::advance(desk);
    link::link(desk);
}

/// Whether a chore is due right now.
pub(crate) fn has_chores(desk: &Desk) -> bool {
    let timer = desk.timers.first().is_some_and(|(due, _, _)| *due <= desk.now);
    timer || desk.leases.lapsed(desk.now).is_some() || !desk.advancing.is_empty() || desk.links.is_due()
}
