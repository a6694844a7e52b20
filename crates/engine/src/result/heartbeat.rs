//! Heartbeat: attempts are still at work. Moves the lease's row, writes no event, and says when to stop.

use crate::command::{Answer, Beat, LeaseRef};
use crate::desk::Desk;
use edgewise_core::Result;

pub(crate) fn heartbeat(desk: &mut Desk, leases: &[LeaseRef]) -> Result<Answer> {
    Ok(Answer::Beats(leases.iter().map(|lease| one(desk, lease)).collect()))
}

fn one(desk: &mut Desk, beat: &LeaseRef) -> Beat {
    let (token, now) = (beat.token.hash(), desk.now);
    let Some(lease) = desk.leases.get(beat.run, beat.task) else { return Beat::Cancel };
    let current = lease.generation == beat.generation && lease.attempt == beat.attempt && lease.token == token;
    let mut lease = lease.clone();
    match lease.span {
        _ if !current || lease.lapse(now).is_some() => Beat::Cancel,
        None => Beat::Continue(now),
        Some(span) => {
            let deadline = now.plus(span);
            lease.deadline = Some(deadline);
            desk.leases.put(beat.run, beat.task, lease);
            desk.lease_moved(beat.run, beat.task);
            Beat::Continue(deadline)
        }
    }
}
