//! The work graph as the ledger tells it, and what each of its events must be allowed to do.
//!
//! Everything derived is computed anew from the definitions whenever the stream has moved; who has which item, what was
//! made for which task and what a key has done are told a second time from the events alone.

use super::{Answerer, Book, Witness, unreadable};
use crate::cover::Cover;
use crate::driver::{No, home};
use crate::violation::{Held, ensure};
use edgewise_core::domain::{Cause, DomainEvent, told_of_work};
use edgewise_core::event::{LinkRef, LinkResolved, decode_events};
use edgewise_core::fold::Stamp;
use edgewise_core::id::{RunId, Token, TokenHash};
use edgewise_core::run::item_id;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_core::work::{Changed, Close, ItemId, Status, Work, WorkEvent, WorkRows, check, fold, scratch};
use edgewise_core::{Error, Kind, Result};
use edgewise_engine::command::{Answer, Command};
use edgewise_engine::work::Ops;
use edgewise_store::{Position, Stored};
use std::collections::{BTreeMap, BTreeSet};

/// The work graph as its events make it.
#[derive(Default)]
pub struct WorkBook {
    /// What they come to.
    pub state: Work,
    /// Where its records stand, and the seq each comes to.
    places: Vec<(Position, u64)>,
    /// What the rows must be at the end of each record that they may still be at.
    rows: BTreeMap<u64, WorkRows>,
    /// Who has which item, and until when.
    holders: BTreeMap<ItemId, (TokenHash, Time)>,
    /// Every claim there ever was.
    claims: BTreeSet<(ItemId, TokenHash)>,
    /// The ends that items came to, and those that were opened again.
    ends: BTreeMap<ItemId, BTreeSet<RunState>>,
    reopened: BTreeSet<ItemId>,
    /// Which attempts of tasks have an item.
    made: BTreeSet<(RunId, LinkRef)>,
    /// What operations with a key have written, by the words that tell them apart; and which record has a key's.
    marks: BTreeMap<String, u32>,
    keyed: BTreeMap<String, Position>,
    /// What is asked, and what was asked with a key.
    asked: BTreeMap<No, Ops>,
    /// Operations that were asked with a key, for whoever asks again.
    pub again: Vec<Ops>,
    /// Tokens that somebody was told.
    pub tokens: Vec<(ItemId, Token)>,
    /// What each engine was found to have.
    seen: BTreeMap<String, u64>,
    moved: bool,
    /// What the outside world is told of the last record.
    pub(super) told: Vec<DomainEvent>,
}

/// The words by which an operation of a key is known in the ledger.
pub fn mark(key: &str, n: usize) -> String {
    format!("{key}.{n}")
}

impl WorkBook {
    /// Folds a record that was written at an instant of the writer's clock.
    pub(super) fn record(&mut self, now: Time, stored: &Stored, cover: &mut Cover) -> Held {
        let (envelope, events) = decode_events::<WorkEvent>(&stored.record).map_err(|e| unreadable(&e))?;
        let dense = stored.record.first == self.state.seq + 1;
        ensure(dense, "seq_is_dense", || format!("the work graph has no event {}", self.state.seq + 1))?;
        ensure(envelope.at == now, "events_have_their_time", || format!("work of {} at {now}", envelope.at))?;
        for (n, event) in (0..).zip(&events) {
            cover.count("work", event.name());
            self.is_allowed(now, event)?;
            self.is_once(stored.position, event)?;
            let counts = check(&self.state, now, event);
            ensure(counts.is_ok(), "what_is_written_counts", || format!("{event:?}: {counts:?}"))?;
            let stamp = Stamp { id: envelope.id.plus(n), at: envelope.at };
            let mut changed = Changed::default();
            let _ = fold(&mut self.state, stamp, event, &mut changed);
            let cause = [Cause::new(self.state.seq, event)];
            let stream = stored.stream.label();
            told_of_work(&stream, stamp.at, &cause, &changed.notes, &mut |event| self.told.push(event));
            self.follow(event);
        }
        self.places.push((stored.position, stored.record.last()));
        self.rows.insert(self.state.seq, self.state.rows());
        self.moved = true;
        Ok(())
    }

    /// An item is one person's at a time, for as long as they were told; timers are not early; an attempt has one item.
    fn is_allowed(&mut self, now: Time, event: &WorkEvent) -> Held {
        let said = || format!("{event:?} at {now}");
        match event {
            WorkEvent::ItemClaimed(claim) => {
                let held = self.holders.get(&claim.id).filter(|(_, until)| *until > now);
                ensure(held.is_none(), "one_claimant_per_item", || format!("{}, and {held:?} has it", said()))
            }
            WorkEvent::ItemReleased(back) if back.by.is_none() => {
                let held = self.holders.get(&back.id);
                let over = held.is_some_and(|(token, until)| *token == back.token && *until <= now);
                ensure(over, "claims_hold_as_told", || format!("{}, and {held:?} has it", said()))
            }
            WorkEvent::GateSatisfied(opened) if opened.by.is_none() && opened.evidence.is_none() => {
                let opens = self.state.gate(opened.gate.as_str()).and_then(edgewise_core::work::WorkGate::opens_at);
                ensure(opens.is_some_and(|at| at <= now), "timer_fires_once", said)
            }
            WorkEvent::ItemAdded(added) => {
                let waiter = added.waiter.as_ref().map(|waiter| (waiter.run, waiter.link));
                let first = waiter.is_none_or(|waiter| self.made.insert(waiter));
                ensure(first, "one_item_per_attempt", said)
            }
            _ => Ok(()),
        }
    }

    /// What was asked with a key is written once, and all of it at once.
    fn is_once(&mut self, at: Position, event: &WorkEvent) -> Held {
        let Some(mark) = marked(event) else { return Ok(()) };
        let number = |key: &str| key.strip_prefix('w').is_some_and(|number| number.parse::<u64>().is_ok());
        let Some((key, _)) = mark.rsplit_once('.').filter(|(key, _)| number(key)) else { return Ok(()) };
        let count = self.marks.entry(mark.to_owned()).or_default();
        *count += 1;
        ensure(*count == 1, "keyed_operations_are_done_once", || format!("{mark} is there {count} times"))?;
        let first = *self.keyed.entry(key.to_owned()).or_insert(at);
        ensure(first == at, "operations_of_a_commit_are_together", || format!("{key} is at {first:?} and {at:?}"))
    }

    /// What is told a second time follows.
    fn follow(&mut self, event: &WorkEvent) {
        match event {
            WorkEvent::ItemClaimed(claim) => {
                self.holders.insert(claim.id.clone(), (claim.token, claim.until));
                self.claims.insert((claim.id.clone(), claim.token));
            }
            WorkEvent::ClaimExtended(longer) => {
                self.holders.insert(longer.id.clone(), (longer.token, longer.until));
            }
            WorkEvent::ItemReopened(act) => drop(self.reopened.insert(act.id.clone())),
            _ => {}
        }
        let state = &self.state;
        self.holders.retain(|id, _| state.item(id.as_str()).is_some_and(|item| item.claim.is_some()));
        // An end may take others along: parents that close by themselves.
        for item in state.items().filter(|item| item.status.is_over()) {
            let how = match (item.status, item.closed.as_ref().map(|closed| closed.how)) {
                (Status::Tombstone, _) | (_, Some(Close::Cancelled)) => RunState::Cancelled,
                (_, Some(Close::Failed)) => RunState::Error,
                _ => RunState::Complete,
            };
            match self.ends.get_mut(&item.id) {
                Some(ends) => drop(ends.insert(how)),
                None => drop(self.ends.insert(item.id.clone(), [how].into())),
            }
        }
    }

    /// If the stream has moved: everything derived is what follows from the base facts.
    pub(super) fn check(&mut self) -> Held {
        if !std::mem::take(&mut self.moved) {
            return Ok(());
        }
        derived_follows(&self.state)?;
        let claimed = self.state.items().filter_map(|item| Some((item.id.clone(), item.claim.as_ref()?)));
        let claimed: BTreeMap<ItemId, (TokenHash, Time)> = claimed.map(|(id, c)| (id, (c.token, c.until))).collect();
        let said = || format!("{claimed:?} are claimed, and {:?} were given", self.holders);
        ensure(claimed == self.holders, "one_claimant_per_item", said)
    }

    /// What an engine has in memory is what the ledger says, or said.
    pub(crate) fn engine_agrees(&mut self, source: &str, work: &Work) -> Held {
        if self.seen.get(source) == Some(&work.seq) {
            return Ok(());
        }
        self.seen.insert(source.to_owned(), work.seq);
        let ahead = || format!("{source} has event {}, the ledger has {}", work.seq, self.state.seq);
        ensure(work.seq <= self.state.seq, "undurable_work_is_forgotten", ahead)?;
        derived_follows(work)?;
        let Some(rows) = self.rows.get(&work.seq) else { return Ok(()) };
        ensure(work.rows() == *rows, "engines_have_the_fold", || {
            format!("{source} has another graph at {}", work.seq)
        })?;
        let due = work.seq < self.state.seq || work.due() == self.state.due();
        ensure(due, "engines_have_the_fold", || {
            format!("{source} waits for {:?}, not {:?}", work.due(), self.state.due())
        })
    }

    /// Whether nothing happens by itself any more, and whoever waits for a run that has ended was told.
    pub(super) fn is_settled(&self, books: &BTreeMap<RunId, Book>) -> bool {
        let untold = |run: RunId| books.get(&run).is_some_and(|book| book.run.state.is_done());
        self.state.due().is_none() && !self.state.awaited_runs().any(untold)
    }

    /// Whether a run was told of an item as the item ended.
    pub(super) fn told_as_it_ended(&self, told: &LinkResolved) -> bool {
        let ends = item_id(told.run).and_then(|id| self.ends.get(&id));
        ends.is_some_and(|ends| ends.contains(&told.state))
    }

    /// Everything is over: no item is left open that was for a task of a run which has ended.
    pub(super) fn close(&self, books: &BTreeMap<RunId, Book>) -> Held {
        for item in self.state.items().filter(|item| !item.status.is_over() && !self.reopened.contains(&item.id)) {
            let Some(waiter) = &item.waiter else { continue };
            let open = books.get(&waiter.run).is_some_and(|book| !book.run.state.is_done());
            ensure(open, "items_end_with_their_run", || format!("{} is open, and {} has ended", item.id, waiter.run))?;
        }
        for (run, book) in books {
            let (is, known) = (book.run.state, self.state.run_end(*run));
            let said = || format!("{run} is {is:?}, and who waits for it was told {known:?}");
            ensure(!self.state.is_awaited_whole(*run) || known == Some(is), "links_are_answered", said)?;
            for path in self.state.awaited_gates(*run) {
                let known = self.state.run_gate_end(*run, path);
                let said = || {
                    format!("{run}/{path} is {:?}, and who waits for it was told {known:?}", book.run.gate_end(path))
                };
                // What was given back, or never came, has ended somehow.
                let told = book.run.gate_end(path).map_or(known.is_some(), |end| end == known);
                ensure(told, "gates_are_answered", said)?;
            }
        }
        Ok(())
    }

    /// Remembers what is asked, so that the answer can be judged.
    pub(super) fn asked(&mut self, no: No, command: &Command) {
        let Command::Work(ops) = command else { return };
        self.asked.insert(no, ops.clone());
        if ops.key.is_some() && !self.again.contains(ops) {
            self.again.push(ops.clone());
        }
    }

    /// What was answered is in the ledger.
    pub(super) fn heard(&mut self, no: No, answer: &Result<Answer>, (by, cover): (Answerer<'_>, &mut Cover)) -> Held {
        let Some(ops) = self.asked.get(&no) else { return Ok(()) };
        let done = match answer {
            Ok(Answer::Worked(done)) => done,
            // The same may have been asked twice in one commit, and done the second time.
            Err(error) if !by.crowded => return self.refused(ops, error),
            _ => return Ok(()),
        };
        for (n, (op, done)) in ops.ops.iter().zip(done).enumerate() {
            cover.count("operation", super::works::kind(op));
            let (Some(id), false) = (&done.id, done.already) else { continue };
            if let Some(token) = done.token {
                let kept = self.claims.contains(&(id.clone(), token.hash()));
                ensure(kept, "acked_is_kept", || format!("{id} was given, and nobody has it"))?;
                self.tokens.push((id.clone(), token));
            }
            let there = self.state.item(id.as_str()).is_some() || self.state.gate(id.as_str()).is_some();
            ensure(there, "acked_is_kept", || format!("{op:?} was done, and there is no {id}"))?;
            let Some(key) = ops.key.as_deref().filter(|_| super::works::is_marked(op)) else { continue };
            let count = self.marks.get(&mark(key, n)).copied().unwrap_or(0);
            ensure(count == 1, "acked_is_kept", || format!("{op:?} was done, and is there {count} times"))?;
        }
        Ok(())
    }

    /// What is refused for what it is, and not because a store failed, has left nothing behind.
    fn refused(&self, ops: &Ops, error: &Error) -> Held {
        let Some(key) = ops.key.as_ref().filter(|_| !["key_taken", "too_busy"].contains(&error.code)) else {
            return Ok(());
        };
        let left = self.keyed.contains_key(key) && error.kind != Kind::Unavailable;
        ensure(!left, "operations_of_a_commit_are_together", || format!("{key} was refused and is there: {error}"))
    }
}

/// The words of a person in an event, by which what was asked with a key is known.
fn marked(event: &WorkEvent) -> Option<&str> {
    match event {
        WorkEvent::ItemAdded(e) if e.waiter.is_none() => Some(&e.fields.title),
        WorkEvent::ItemChanged(e) => e.change.title.as_deref(),
        WorkEvent::ItemClosed(e) => e.why.as_deref(),
        WorkEvent::ItemReopened(e) | WorkEvent::ItemDeleted(e) => e.why.as_deref(),
        WorkEvent::GateMade(e) => e.title.as_deref(),
        WorkEvent::DependencyAdded(e) => e.metadata.as_ref().and_then(|m| m.get("mark")).and_then(|m| m.as_str()),
        _ => None,
    }
}

fn derived_follows(work: &Work) -> Held {
    let wrong = scratch::disagreements(work);
    let cycle = wrong.iter().find(|said| said.contains("waits-for graph") || said.contains("cycle"));
    ensure(cycle.is_none(), "waits_for_graph_is_acyclic", || cycle.cloned().unwrap_or_default())?;
    ensure(wrong.is_empty(), "blocked_cache_equals_recomputation", || wrong.join("; "))
}

impl Witness {
    /// What is before the watermark is in the rows; and the rows are what the events made up to theirs.
    pub(super) fn work_reaches(&mut self, watermark: Position) -> Held {
        if self.work.places.is_empty() {
            return Ok(());
        }
        let stream = home().stream(RunId::WORK);
        let has = self.rows.work_head(&stream).map_err(|e| unreadable(&e))?;
        let before = self.work.places.iter().rev().find(|(at, _)| *at <= watermark).map_or(0, |(_, seq)| *seq);
        let said = || format!("rows of the work graph are at {has}, the watermark says {before}");
        ensure(has >= before, "rows_reach_their_watermark", said)?;
        if self.looks.is_multiple_of(self.compares_one_in) { self.compare_work() } else { Ok(()) }
    }

    /// Rows are what the events made up to them, and rows plus tail are the graph.
    pub(super) fn compare_work(&mut self) -> Held {
        if self.work.places.is_empty() {
            return Ok(());
        }
        let loaded = self.reader.work().map_err(|e| unreadable(&e))?;
        let same = loaded.rows() == self.work.state.rows();
        ensure(same, "load_equals_fold", || "rows plus tail of the work graph are not the graph".into())?;
        let stored = self.rows.work(&home().stream(RunId::WORK)).map_err(|e| unreadable(&e))?;
        let Some(stored) = stored else { return Ok(()) };
        let at = stored.applied_seq;
        let right = self.work.rows.get(&at);
        ensure(right == Some(&stored), "refold_equals_projection", || format!("rows of the work graph at {at}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{World, name};
    use edgewise_core::event::TaskIx;
    use edgewise_core::id::EventId;
    use edgewise_core::work::{Add, ItemAdded, ItemClaimed, ItemReleased, Op, Waiter};
    use edgewise_store::Ledger;

    const LINK: LinkRef = LinkRef { task: TaskIx(0), generation: 1, attempt: 1 };

    /// A run at work, and the event by which an item came to be that an attempt of it waits for.
    fn with_item() -> (World, RunId, ItemAdded) {
        let mut world = World::new();
        let run = world.start("{ flow: f, tasks: { a: { action: work } } }");
        let ops = vec![Op::Add(Box::new(Add { title: "mend it".into(), ..Add::default() }))];
        world.must(Command::Work(Ops { ops, by: name("ada"), key: None }));
        let stored = world.ledger.read(&home().stream(RunId::WORK), 0, 1).unwrap();
        let (_, mut events) = decode_events::<WorkEvent>(&stored[0].record).unwrap();
        let WorkEvent::ItemAdded(added) = events.remove(0) else { panic!("not added") };
        let waiter = Some(Box::new(Waiter { run, within: Vec::new(), link: LINK }));
        (world, run, ItemAdded { waiter, ..*added })
    }

    fn rule(held: Held) -> Result<(), String> {
        held.map_err(|broken| broken.invariant)
    }

    #[test]
    fn a_second_item_for_an_attempt_is_told() {
        let (world, run, added) = with_item();
        let mut book = WorkBook::default();
        let mut look = |waiter: Option<LinkRef>| {
            let waiter = waiter.map(|link| Box::new(Waiter { run, within: Vec::new(), link }));
            let event = WorkEvent::ItemAdded(Box::new(ItemAdded { waiter, ..added.clone() }));
            rule(book.is_allowed(world.now, &event))
        };
        assert_eq!((look(None), look(None)), (Ok(()), Ok(())), "nobody waits for these");
        assert_eq!((look(Some(LINK)), look(Some(LinkRef { attempt: 2, ..LINK }))), (Ok(()), Ok(())));
        assert_eq!(look(Some(LINK)), Err("one_item_per_attempt".to_owned()));
    }

    #[test]
    fn a_claim_that_ends_before_its_time_is_told() {
        let (world, _, added) = with_item();
        let (mut book, now) = (WorkBook::default(), world.now);
        let (mine, other) = (Token(1).hash(), Token(2).hash());
        book.holders.insert(added.id.clone(), (mine, now));
        let mut ends = |token, at, by| {
            let event = WorkEvent::ItemReleased(ItemReleased { id: added.id.clone(), token, by });
            rule(book.is_allowed(at, &event))
        };
        let broken = Err("claims_hold_as_told".to_owned());
        assert_eq!(ends(mine, now, None), Ok(()));
        assert_eq!(ends(mine, Time(now.0 - 1), None), broken, "early");
        assert_eq!(ends(mine, Time(now.0 - 1), Some(name("ada"))), Ok(()), "who gives it back may");
        assert_eq!(ends(other, now, None), broken, "of somebody else");
        let claim = ItemClaimed { id: added.id.clone(), by: name("bob"), token: other, until: now };
        let early = book.is_allowed(Time(now.0 - 1), &WorkEvent::ItemClaimed(claim));
        assert_eq!(rule(early), Err("one_claimant_per_item".to_owned()));
    }

    #[test]
    fn an_item_that_is_left_over_by_its_run_is_told() {
        let (mut world, _, added) = with_item();
        let mut book = WorkBook::default();
        let stamp = Stamp { id: EventId::mint(world.now, 0, EventId::default()), at: world.now };
        let _ = fold(&mut book.state, stamp, &WorkEvent::ItemAdded(Box::new(added)), &mut Changed::default());
        assert_eq!(rule(book.close(&world.witness.books)), Ok(()), "the run is at work");
        let grant = world.claim_one("w");
        world.report(grant.lease, Ok(())).unwrap();
        assert_eq!(rule(book.close(&world.witness.books)), Err("items_end_with_their_run".to_owned()));
    }

    #[test]
    fn an_engine_with_another_graph_is_told() {
        let (world, _, added) = with_item();
        let stamp = Stamp { id: EventId::mint(world.now, 0, EventId::default()), at: world.now };
        let with = |title: &str| {
            let (mut work, mut event) = (Work::default(), added.clone());
            event.fields.title = title.into();
            let _ = fold(&mut work, stamp, &WorkEvent::ItemAdded(Box::new(event)), &mut Changed::default());
            work
        };
        let mut book = WorkBook { state: with("mend it"), ..WorkBook::default() };
        book.rows.insert(book.state.seq, book.state.rows());
        assert_eq!(rule(book.engine_agrees("a", &with("mend it"))), Ok(()));
        assert_eq!(rule(book.engine_agrees("b", &with("break it"))), Err("engines_have_the_fold".to_owned()));
    }
}
