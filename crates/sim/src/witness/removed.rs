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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{World, start_of};
    use crate::flows::flow;
    use edgewise_core::state::RunState;
    use edgewise_core::time::{Millis, Time};
    use edgewise_engine::command::{Answer, Command, Start};
    use edgewise_store::{Gone, Ledger, Removal};

    /// A run with a key, at work or over.
    fn with_run(over: bool) -> (World, RunId) {
        let mut world = World::new();
        let plan = flow("{ flow: f, tasks: { a: { action: work } } }");
        let start = Start { key: Some("k".into()), ..start_of(&plan) };
        let Answer::Started { run, .. } = world.must(Command::Start(start)) else { panic!("not started") };
        if over {
            let grant = world.claim_one("w");
            world.report(grant.lease, Ok(())).unwrap();
            world.is(run, RunState::Complete);
        }
        world.witness.watches_removals = true;
        (world, run)
    }

    /// Somebody takes it away behind every engine's back, and the witness looks.
    fn seen_without(world: &mut World, run: RunId, keep_key: bool) -> Result<(), String> {
        let (stream, now) = (home().stream(run), world.now);
        let seq = world.ledger.head(&stream).unwrap().seq;
        let until = if keep_key { now.plus(Millis(1_000)) } else { Time(0) };
        let (state, key) = (world.run(run).state, Some("k".to_owned()));
        let gone = Gone { stream, seq, state, ended_at: now, removed_at: now, key, until };
        let removal = Removal { streams: vec![gone], at: now, work_keys: None };
        assert_eq!(world.ledger.remove(&removal).unwrap().taken, 1);
        world.witness.see_removed().map_err(|broken| broken.invariant)
    }

    #[test]
    fn what_is_over_may_go_and_nothing_may_be_written_to_it_then() {
        let (mut world, run) = with_run(true);
        assert_eq!(seen_without(&mut world, run, true), Ok(()));
        let book = world.witness.books.get_mut(&run).unwrap();
        assert!(book.removed);
        let said = book.entries.last().unwrap().clone();
        assert_eq!(book.fold(said).unwrap_err().invariant, "what_is_removed_is_gone");
    }

    #[test]
    fn what_is_at_work_or_frozen_and_gone_is_told() {
        let rule = Err("only_what_is_over_is_removed".to_owned());
        let (mut world, run) = with_run(false);
        assert_eq!(seen_without(&mut world, run, true), rule);
        let (mut world, run) = with_run(true);
        world.witness.books.get_mut(&run).unwrap().frozen = true;
        assert_eq!(seen_without(&mut world, run, true), rule);
    }

    #[test]
    fn a_key_that_goes_with_its_run_is_told() {
        let (mut world, run) = with_run(true);
        assert_eq!(seen_without(&mut world, run, false), Err("keys_outlive_their_runs".to_owned()));
    }
}
