//! Grants of a commit in doubt: if it landed, nobody was told of them. They come back, their attempts unspent.

use crate::desk::Desk;
use edgewise_core::event::Event;

pub(super) fn bring_back(desk: &mut Desk) {
    for (run, attempt) in std::mem::take(&mut desk.undelivered) {
        let readable = desk.open_hinted(run).is_some();
        let returned = readable && desk.record(run, Event::DispatchReturned(attempt)).is_ok();
        // Looked at again until there is nothing to bring back: this commit may fail too.
        if returned || desk.unloaded.contains(&run) {
            desk.undelivered.push((run, attempt));
        }
    }
}
