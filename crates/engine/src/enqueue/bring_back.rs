//! Grants of a commit in doubt: if it landed, nobody was told of them. They come back, their attempts unspent.

use crate::desk::Desk;
use edgewise_core::event::Event;

pub(super) fn bring_back(desk: &mut Desk) {
    for (run, attempt) in std::mem::take(&mut desk.undelivered) {
        // Nobody is at work on it, also if it was revoked meanwhile.
        desk.has_stopped(run, &attempt);
        let readable = desk.open_hinted(run).is_some();
        if readable {
            let _ = desk.record(run, Event::DispatchReturned(attempt));
        }
        // Looked at again until the ledger itself has nothing to bring back: what this commit would change, be it
        // the return or a cancel before it, may not land.
        let staged = desk.runs.get(&run).is_some_and(|cached| !cached.events.is_empty());
        // And a run that is frozen takes nothing back before it goes on.
        if staged || desk.unloaded.contains(&run) || desk.frozen.contains_key(&run) {
            desk.undelivered.push((run, attempt));
        }
    }
}
