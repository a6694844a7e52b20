//! Programs in the engine itself: workers claim and complete, engines die, rows are written now and then.

use super::reference::Told;
use super::stub::{ACTIONS, Effect, answer};
use crate::dice::Dice;
use crate::driver::{World, claim_of, start_of};
use crate::violation::{Held, Violation, ensure};
use edgewise_core::id::RunId;
use edgewise_core::plan::Plan;
use edgewise_core::run::End;
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Command, Finish, Grant, Job, LeaseRef, Outcome, Start};
use serde_json::value::RawValue;
use std::sync::Arc;

/// Rounds of claiming and waiting after which the end should have come.
const ROUNDS: u32 = 2_000;

/// Plays a program in an engine, and compares what it comes to with the reference.
pub(super) fn play(plan: &Arc<Plan>, seed: u64, told: &Told) -> Held {
    let mut play = Play { world: World::new(), dice: Dice::of_step(seed, 1), effects: Vec::new(), past: Vec::new() };
    let run = play.start(plan)?;
    for _ in 0..ROUNDS {
        if play.world.run(run).state.is_done() {
            return play.compare(run, told);
        }
        play.round()?;
    }
    Err(Violation::new("it_ends", format!("{ROUNDS} rounds and no end")))
}

struct Play {
    world: World,
    dice: Dice,
    effects: Vec<Effect>,
    /// What was reported before.
    past: Vec<(LeaseRef, Outcome)>,
}

impl Play {
    fn start(&mut self, plan: &Arc<Plan>) -> Result<RunId, Violation> {
        let input = edgewise_core::input::complete(&plan.inputs, &serde_json::Map::new());
        let input = input.map_err(|e| Violation::new("input", e.to_string()))?;
        match self.world.must(Command::Start(Start { input: raw(&input), ..start_of(plan) })) {
            Answer::Started { run, .. } => Ok(run),
            other => Err(Violation::new("started", format!("{other:?}"))),
        }
    }

    /// Workers take what there is and report it, in any order; an engine may die in between.
    fn round(&mut self) -> Held {
        self.world.settle();
        self.world.send(vec![Command::Claim(claim_of("w", &ACTIONS, 1 + self.dice.below(4) as u32))]);
        let mut grants = self.world.take();
        if grants.is_empty() {
            self.world.pass(Millis(5_000));
            grants = self.world.take();
        }
        while let Some(at) = self.dice.index(grants.len()) {
            self.disturb();
            let grant = grants.swap_remove(at);
            self.perform(&grant)?;
        }
        self.disturb();
        self.repeat()
    }

    fn disturb(&mut self) {
        if self.dice.one_in(4) {
            self.world.flush();
        }
        if self.dice.one_in(8) {
            self.world.crash();
        }
    }

    fn perform(&mut self, grant: &Grant) -> Held {
        let Job::Action { action, input: with } = &grant.work else {
            return Err(Violation::new("only_actions", "a grant of something else"));
        };
        let attempt = grant.lease.attempt;
        self.effects.push(Effect { action: action.to_string(), with: with.to_string(), attempt });
        let outcome = answer(action, with, attempt).map(|value| Some(raw(&value.to_string())));
        self.past.push((grant.lease, outcome.clone()));
        self.report(grant.lease, outcome)
    }

    /// A report is answered well, the first time and again.
    fn report(&mut self, lease: LeaseRef, outcome: Outcome) -> Held {
        match self.world.must(Command::Complete(Arc::from([Finish { lease, outcome }]))) {
            Answer::Completed(mut each) => each.remove(0).map_err(|e| Violation::new("same_answer", e.to_string())),
            other => Err(Violation::new("same_answer", format!("{other:?}"))),
        }
    }

    fn repeat(&mut self) -> Held {
        match self.dice.index(self.past.len() * 2).and_then(|at| self.past.get(at)) {
            // What was tried again since is over: only the last word about a task is said again.
            Some((lease, Ok(output))) => self.report(*lease, Ok(output.clone())),
            _ => Ok(()),
        }
    }

    fn compare(&mut self, run: RunId, told: &Told) -> Held {
        let end = match &self.world.run(run).end {
            Some(End::Returned(value)) => Ok((**value).clone()),
            Some(End::Failed(failure)) => Err((**failure).clone()),
            other => return Err(Violation::new("same_end", format!("{other:?} is no end"))),
        };
        ensure(end == told.end, "same_end", || format!("in an engine: expected {:?}, found {end:?}", told.end))?;
        let (mut found, mut expected) = (std::mem::take(&mut self.effects), told.effects.clone());
        found.sort();
        expected.sort();
        ensure(found == expected, "same_effects", || format!("in an engine: expected {expected:?}, found {found:?}"))
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|e| panic!("{e}"))
}
