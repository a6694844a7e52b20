//! Heartbeat: attempts are still at work. Moves the lease's row, writes no event, and says when to stop.
//!
//! The row is written a little later, so a worker is told the deadline that is stored already: any engine keeps to it,
//! also one that has not heard of this heartbeat.

use crate::command::{Answer, Beat, LeaseRef};
use crate::desk::Desk;
use crate::leases::{Lapse, Lease};
use edgewise_core::{Kind, Result};

pub(crate) fn heartbeat(desk: &mut Desk, leases: &[LeaseRef]) -> Result<Answer> {
    leases.iter().map(|lease| one(desk, lease)).collect::<Result<_>>().map(Answer::Beats)
}

fn one(desk: &mut Desk, beat: &LeaseRef) -> Result<Beat> {
    let now = desk.now;
    // What comes of it would be refused.
    if desk.is_frozen(beat.run)? {
        desk.stops(beat);
        return Ok(Beat::Cancel);
    }
    let Some(mut lease) = find(desk, beat)? else { return Ok(Beat::Cancel) };
    Ok(match lease.span {
        // What nobody has ended holds: this engine may not know yet until when another one keeps it on.
        _ if lease.lapse(now) == Some(Lapse::Timeout) => Beat::Cancel,
        None => Beat::Continue(now),
        Some(span) => {
            let told = lease.beat(now, span);
            desk.leases.put(beat.run, beat.task, lease);
            desk.lease_moved(beat.run, beat.task);
            Beat::Continue(told)
        }
    })
}

/// The lease that a heartbeat is for, if it is still the task's. Nobody is told to stop on old news.
fn find(desk: &mut Desk, beat: &LeaseRef) -> Result<Option<Lease>> {
    let token = beat.token.hash();
    let current =
        |lease: &&Lease| (lease.generation, lease.attempt, lease.token) == (beat.generation, beat.attempt, token);
    if desk.leases.get(beat.run, beat.task).filter(current).is_none() {
        match desk.open(beat.run).map(drop).and_then(|()| desk.has_news(beat.run)) {
            Ok(_) => {}
            Err(error) if error.kind == Kind::Unavailable => return Err(error),
            // Its run rests or is gone.
            Err(_) => return Ok(None),
        }
    }
    Ok(desk.leases.get(beat.run, beat.task).filter(current).cloned())
}
