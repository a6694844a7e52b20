//! Links: what two streams say of each other must agree, at every commit.
//!
//! Read off the facts of both, without asking either fold what it thinks of the other.

use super::{Book, Witness};
use crate::violation::{Held, ensure};
use edgewise_core::event::LinkResolved;
use edgewise_core::id::RunId;
use edgewise_core::plan::Work;
use edgewise_core::run::Run;
use edgewise_core::state::RunState;
use std::collections::BTreeSet;

impl Witness {
    /// Everything that runs which were written to just now say of each other.
    pub(super) fn links_agree(&mut self, changed: &BTreeSet<RunId>) -> Held {
        for run in changed {
            self.one_child_per_attempt(*run)?;
            let book = &self.books[run];
            self.child_has_a_parent(&book.run)?;
            for told in &book.resolved {
                self.told_as_it_ended(&book.run, told)?;
            }
            // Where nothing fails, what one side says is answered in the same commit.
            if self.is_fair {
                self.parent_was_told(&book.run)?;
                let said = || format!("{run} has children that nobody waits for: {:?}", book.run.disowned);
                // What is frozen is cancelled when it goes on, and lets go of nothing before.
                let rest = book.rests()
                    || book.run.disowned.values().all(|child| self.books.get(child).is_some_and(Book::rests));
                ensure(rest, "cancel_follows_down", said)?;
            }
        }
        Ok(())
    }

    /// Everything is over: nobody waits for a child, and every child that ended was told.
    pub(super) fn links_are_answered(&self) -> Held {
        for book in self.books.values() {
            let (run, ended) = (&book.run, book.run.state.is_done());
            let open = || format!("{} is {:?} and has {:?}", run.id, run.state, run.disowned);
            ensure(!ended || run.disowned.is_empty(), "links_are_answered", open)?;
            let Some(parent) = &run.parent else { continue };
            let told = self.books[&parent.run].resolved.iter();
            let told = told.filter(|told| (told.run, told.link) == (run.id, parent.link)).count();
            ensure(!ended || told == 1, "links_are_answered", || format!("{} was told {told} times", run.id))?;
        }
        Ok(())
    }

    fn parent_was_told(&self, run: &Run) -> Held {
        let Some(parent) = run.parent.as_ref().filter(|_| run.state.is_done()) else { return Ok(()) };
        let mut told = self.books[&parent.run].resolved.iter();
        let told = told.any(|told| (told.run, told.link) == (run.id, parent.link));
        let told = told || self.books[&parent.run].rests();
        ensure(told, "links_are_answered", || format!("{} ended, and {} was not told", run.id, parent.run))
    }

    /// Of all runs that say so, one is the child of an attempt.
    fn one_child_per_attempt(&mut self, run: RunId) -> Held {
        let link = |run: &RunId| self.books[run].run.parent.as_ref().map(|parent| (parent.run, parent.link));
        let Some(mine) = link(&run) else { return Ok(()) };
        let other = self.children.insert(mine, run).filter(|other| *other != run && link(other) == Some(mine));
        ensure(other.is_none(), "one_child_per_attempt", || {
            format!("{run} and {other:?} are children of one attempt: {mine:?}")
        })
    }

    fn child_has_a_parent(&self, run: &Run) -> Held {
        let Some(link) = &run.parent else { return Ok(()) };
        let parent = self.books.get(&link.run).map(|book| &book.run);
        let wanted = parent.is_some_and(|parent| {
            let pinned = matches!(&parent.spec_of(link.link.task).work, Work::SubRun(sub) if sub.plan == run.plan_hash);
            let reached = parent
                .task(link.link.task)
                .is_some_and(|task| (task.generation, task.attempt) >= (link.link.generation, link.link.attempt));
            pinned && reached
        });
        ensure(wanted, "child_has_a_parent", || format!("{} was begun for {link:?}", run.id))
    }

    /// Whether the gate of the work graph that a task shares has opened.
    fn is_open_gate(&self, parent: &Run, told: &LinkResolved) -> bool {
        let shared = parent.shared_gate(told.link.task).ok().flatten();
        let gate = shared.and_then(|id| self.work.state.gate(id.as_str()));
        gate.and_then(|gate| gate.ended.as_ref()).is_some_and(|ended| ended.satisfied)
    }

    fn told_as_it_ended(&self, parent: &Run, told: &LinkResolved) -> Held {
        let said = || format!("{} was told {told:?}", parent.id);
        let by_item = matches!(parent.spec_of(told.link.task).work, Work::Item(_));
        let Some(child) = self.books.get(&told.run) else {
            // A child that was never made: it was not wanted any more, or could not be given what it takes.
            let never = told.state == RunState::Cancelled || told.error.is_some();
            let never = never || (by_item && self.work.told_as_it_ended(told)) || self.is_open_gate(parent, told);
            return ensure(never, "told_as_it_ended", said);
        };
        // An attempt that let go of a child which never was its own, and goes on without it.
        let others = child.run.parent.as_ref().is_some_and(|known| known.link != told.link);
        let let_go = others && told.state == RunState::Cancelled && told.error.is_none();
        ensure(let_go || child.ends.contains(&told.state), "told_as_it_ended", said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::World;
    use crate::flows::composed;
    use edgewise_core::event::LinkRef;
    use edgewise_core::id::PlanHash;
    use edgewise_engine::command::{Answer, Command};

    /// A run that waits for another one, and that one.
    fn family() -> (World, RunId, RunId) {
        let mut world = World::new();
        let flows =
            ["{ flow: outer, tasks: { sub: { flow: inner } } }", "{ flow: inner, tasks: { i: { action: work } } }"];
        let Answer::Started { run, .. } = world.must(Command::Start(composed(&flows))) else { panic!("not started") };
        let child = *world.witness.books.keys().find(|known| **known != run).unwrap();
        (world, run, child)
    }

    fn rule(held: Held) -> Result<(), String> {
        held.map_err(|broken| broken.invariant)
    }

    #[test]
    fn a_child_that_no_attempt_asked_for_is_told() {
        let (world, _, child) = family();
        let look = |change: &dyn Fn(&mut Run)| {
            let mut run = world.run(child).clone();
            change(&mut run);
            rule(world.witness.child_has_a_parent(&run))
        };
        let broken = Err("child_has_a_parent".to_owned());
        assert_eq!(look(&|_| ()), Ok(()));
        assert_eq!(look(&|run| run.parent.as_mut().unwrap().run = RunId(5)), broken, "of nobody");
        assert_eq!(look(&|run| run.parent.as_mut().unwrap().link.attempt = 2), broken, "of an attempt to come");
        assert_eq!(look(&|run| run.parent.as_mut().unwrap().link.generation = 2), broken, "of a generation to come");
        assert_eq!(look(&|run| run.plan_hash = PlanHash::default()), broken, "of another plan");
    }

    #[test]
    fn an_end_that_a_child_did_not_come_to_is_told() {
        let (mut world, run, child) = family();
        let link = world.run(child).parent.as_ref().unwrap().link;
        let look = |world: &World, run_told: RunId, link: LinkRef, state: RunState| {
            let told = LinkResolved { link, run: run_told, state, output: None, error: None };
            rule(world.witness.told_as_it_ended(world.run(run), &told))
        };
        let broken = Err("told_as_it_ended".to_owned());
        assert_eq!(look(&world, child, link, RunState::Complete), broken, "it is at work");
        assert_eq!(look(&world, RunId(5), link, RunState::Complete), broken, "it was never made");
        assert_eq!(look(&world, RunId(5), link, RunState::Cancelled), Ok(()), "and is not wanted any more");
        let grant = world.claim_one("w");
        world.report(grant.lease, Ok(())).unwrap();
        assert_eq!(look(&world, child, link, RunState::Complete), Ok(()));
        assert_eq!(look(&world, child, link, RunState::Error), broken, "it ended well");
    }

    #[test]
    fn children_that_nobody_waits_for_and_that_are_at_work_are_told() {
        let (mut world, run, child) = family();
        let link = world.run(child).parent.as_ref().unwrap().link;
        let changed = [run].into();
        assert_eq!(rule(world.witness.links_agree(&changed)), Ok(()));
        world.witness.books.get_mut(&run).unwrap().run.disowned.insert(link, child);
        assert_eq!(rule(world.witness.links_agree(&changed)), Ok(()), "it may take a while where things fail");
        world.witness.is_fair = true;
        assert_eq!(rule(world.witness.links_agree(&changed)), Err("cancel_follows_down".to_owned()));
        world.witness.books.get_mut(&child).unwrap().frozen = true;
        assert_eq!(rule(world.witness.links_agree(&changed)), Ok(()), "who is frozen is told later");
    }
}
