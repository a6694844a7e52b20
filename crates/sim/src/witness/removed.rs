//! Runs that are taken away: only those that are over and that nobody keeps, all of each, and their keys still name them.

use super::{Witness, unreadable};
use crate::driver::home;
use crate::violation::{Held, ensure};
use edgewise_core::id::RunId;
use edgewise_store::KeyClaim;

impl Witness {
    /// Looks which streams have lost their names since the last look. Their books are kept: what was said of them stays
    /// true, and nothing may be written in them any more.
    pub(super) fn see_removed(&mut self) -> Held {
        if !self.watches_removals {
            return Ok(());
        }
        let there: Vec<RunId> = self.books.iter().filter(|(_, book)| !book.removed).map(|(run, _)| *run).collect();
        for run in there {
            if self.ledger.head(&home().stream(run)).map_err(|e| unreadable(&e))?.seq > 0 {
                continue;
            }
            let Some(book) = self.books.get_mut(&run) else { continue };
            let (state, frozen) = (book.run.state, book.frozen);
            let may = state.is_done() && !frozen;
            ensure(may, "only_what_is_over_is_removed", || format!("{run} was {state:?}, frozen: {frozen}"))?;
            book.removed = true;
            self.cover.count("removed", &format!("{state:?}"));
        }
        self.keys_outlive_their_runs()
    }

    fn keys_outlive_their_runs(&mut self) -> Held {
        for (key, run) in self.keys.iter().filter(|(_, run)| self.books.get(run).is_some_and(|book| book.removed)) {
            let claim = KeyClaim { stream: home().stream(*run), key: key.clone(), body: 0 };
            let owner = self.ledger.key(&claim).map_err(|e| unreadable(&e))?.map(|owner| owner.run);
            ensure(owner == Some(*run), "keys_outlive_their_runs", || format!("{key} of {run} names {owner:?}"))?;
        }
        Ok(())
    }
}
