//! Give back: leases that never reached a worker. Their attempts are not spent.

use crate::command::{Answer, LeaseRef};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn give_back(desk: &mut Desk, leases: &[LeaseRef]) -> Result<Answer> {
    for lease in leases {
        desk.open(lease.run)?;
        // A lease that is over already needs no giving back.
        let _ = desk.record(lease.run, Event::DispatchReturned(lease.attempt()));
    }
    Ok(Answer::Done)
}
