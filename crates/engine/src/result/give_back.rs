//! Give back: leases that never reached a worker. Their attempts are not spent.

use crate::command::{Answer, LeaseRef};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn give_back(desk: &mut Desk, leases: &[LeaseRef]) -> Result<Answer> {
    let mut answer = Ok(Answer::Done);
    for lease in leases {
        let opened = desk.open_for(lease);
        match opened.and_then(|()| desk.decide(lease.run, Event::DispatchReturned(lease.attempt()))) {
            // A lease that is over already needs no giving back.
            Ok(_) => {}
            // The others are given back all the same; whoever asks again does no harm.
            Err(error) => answer = Err(error),
        }
    }
    answer
}
