//! What time brings to the work graph: timer gates open, claims run out, ephemeral instances go. Also what came due
//! while nothing was running.

use crate::committer::{AGAIN, CHORES};
use crate::desk::Desk;

/// Whoever decides something decides it on this.
pub(crate) fn overdue(desk: &mut Desk) {
    if desk.overdue_at().is_none_or(|due| due > desk.now) {
        return;
    }
    let mut recorded = 0;
    if desk.newest_work().is_ok() {
        let events = desk.work.state.overdue(desk.now);
        recorded = events.into_iter().take(CHORES).filter(|event| desk.record_work(event.clone()).is_ok()).count();
    }
    if recorded == 0 {
        // The store does not answer, or somebody else was first: not again at the same instant.
        desk.work.put_off = desk.now.plus(AGAIN);
    }
}
