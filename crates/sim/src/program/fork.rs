//! A fork at every act: a program is played up to there, the engine dies, another one finishes it over what the store has,
//! and it comes to what the undisturbed one comes to.
//!
//! The world is the same whenever it is played, so the copy is made by playing it again. Whoever works lives on: nothing is
//! lost but the engine, so nothing is done twice, and where nothing goes side by side the order is the text's.

use super::reference::{STEPS, Told, interpret};
use super::stub::{ACTIONS, Effect, answer};
use super::{Outcome, depends_on_order, grow, works};
use crate::driver::{World, claim_of, start_of};
use crate::violation::{self, Held, Violation, ensure};
use edgewise_core::id::RunId;
use edgewise_core::plan::Plan;
use edgewise_core::run::End;
use edgewise_core::text::tree::{Program, Work};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Command, Finish, Grant, Job, Start};
use edgewise_store::faulty::Faults;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Programs that do more than this take too long to be played at every act.
const SMALL: usize = 8;
/// Acts after which the end should have come.
const ACTS: u32 = 500;

/// What dies in a fork, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    Never,
    /// Before an act, with the rows as they are.
    Before(u32),
    /// Before an act, with all rows written.
    Written(u32),
    /// In an act: what it asks for is done, and nobody is told.
    Unheard(u32),
}

/// What the one worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Reports,
    Claims,
}

/// Forks the program of a seed at every act.
pub fn check_forks(seed: u64) -> Result<Outcome, Violation> {
    violation::catch(|| {
        let text = grow(seed);
        let (Ok(parsed), Ok(mut compiled)) =
            (edgewise_core::text::parse(&text, "test.flow"), edgewise_core::text::compile(&text, "test.flow"))
        else {
            return Ok(Outcome::Refused);
        };
        let told = interpret(&parsed.program, STEPS).filter(|told| told.effects.len() <= SMALL);
        let Some(told) = told.filter(|_| !depends_on_order(&parsed.program, true)) else {
            return Ok(Outcome::Endless);
        };
        let plan = Arc::new(compiled.swap_remove(0).plan);
        let same = Same { told: &told, in_order: !goes_side_by_side(&parsed.program) };
        for death in deaths(&Play::new(&plan, seed, Death::Never)?.finish(&same)?) {
            let forked = Play::new(&plan, seed, death).and_then(|play| play.finish(&same));
            let said = |broken: Violation| Violation { message: format!("{death:?}: {}", broken.message), ..broken };
            forked.map_err(said)?;
        }
        Ok(Outcome::Played)
    })
}

/// One before every act, with rows and without in turn, and one in every report.
fn deaths(acts: &[Act]) -> Vec<Death> {
    let numbered = || acts.iter().zip(1..);
    let before = numbered().map(|(_, act)| if act % 2 == 0 { Death::Written(act) } else { Death::Before(act) });
    let unheard = numbered().filter(|(kind, _)| **kind == Act::Reports).map(|(_, act)| Death::Unheard(act));
    before.chain(unheard).collect()
}

/// Whether something of it is done at once.
fn goes_side_by_side(program: &Program) -> bool {
    let bodies = program.flows.iter().map(|flow| &flow.body).chain(program.functions.iter().map(|f| &f.body));
    bodies.flat_map(works).any(|work| matches!(work, Work::Spread(_) | Work::Parallel(_)))
}

/// What every fork comes to.
struct Same<'t> {
    told: &'t Told,
    in_order: bool,
}

impl Same<'_> {
    fn check(&self, end: Option<&End>, mut effects: Vec<Effect>) -> Held {
        let end = match end {
            Some(End::Returned(value)) => Ok((**value).clone()),
            Some(End::Failed(failure)) => Err((**failure).clone()),
            other => return Err(Violation::new("same_end_in_a_fork", format!("{other:?} is no end"))),
        };
        ensure(end == self.told.end, "same_end_in_a_fork", || format!("expected {:?}, found {end:?}", self.told.end))?;
        let mut expected = self.told.effects.clone();
        if !self.in_order {
            effects.sort();
            expected.sort();
        }
        let said = || format!("expected {expected:?}, found {effects:?}");
        ensure(effects == expected, "same_effects_in_a_fork", said)
    }
}

struct Play {
    world: World,
    run: RunId,
    /// What the one worker has in hand.
    hand: Vec<Grant>,
    effects: Vec<Effect>,
    death: Death,
}

impl Play {
    fn new(plan: &Arc<Plan>, seed: u64, death: Death) -> Result<Self, Violation> {
        let input = edgewise_core::input::complete(&plan.inputs, &serde_json::Map::new());
        let input = input.map_err(|e| Violation::new("input", e.to_string()))?;
        let mut world = World::with(seed, Faults::none());
        world.witness.compares_one_in = 8;
        match world.must(Command::Start(Start { input: raw(&input), ..start_of(plan) })) {
            Answer::Started { run, .. } => Ok(Self { world, run, hand: Vec::new(), effects: Vec::new(), death }),
            other => Err(Violation::new("started", format!("{other:?}"))),
        }
    }

    /// Plays it to its end, which is that of all the others; gives the acts that it took.
    fn finish(mut self, same: &Same<'_>) -> Result<Vec<Act>, Violation> {
        let mut acts = Vec::new();
        for act in 1..=ACTS {
            if self.world.run(self.run).state.is_done() {
                same.check(self.world.run(self.run).end.as_ref(), self.effects)?;
                self.world.witness.close()?;
                return Ok(acts);
            }
            if self.death == Death::Written(act) {
                self.world.flush();
            }
            if matches!(self.death, Death::Before(n) | Death::Written(n) if n == act) {
                self.world.crash();
            }
            acts.push(self.act(act)?);
        }
        Err(Violation::new("it_ends", format!("{ACTS} acts and no end")))
    }

    /// The worker reports what it has in hand, or takes the next, or waits for it.
    fn act(&mut self, act: u32) -> Result<Act, Violation> {
        self.world.settle();
        if act.is_multiple_of(3) {
            self.world.flush_if_due();
        }
        if let Some(grant) = self.hand.pop() {
            return self.perform(&grant, self.death == Death::Unheard(act)).map(|()| Act::Reports);
        }
        self.world.send(vec![Command::Claim(claim_of("w", &ACTIONS, 1))]);
        self.hand = self.world.take();
        if self.hand.is_empty() {
            self.world.pass(Millis(5_000));
            self.hand = self.world.take();
        }
        Ok(Act::Claims)
    }

    fn perform(&mut self, grant: &Grant, unheard: bool) -> Held {
        let Job::Action { action, input: with } = &grant.work else {
            return Err(Violation::new("only_actions", "a grant of something else"));
        };
        let attempt = grant.lease.attempt;
        self.effects.push(Effect { action: action.to_string(), with: with.to_string(), attempt });
        let outcome = answer(action, with, attempt).map(|value| Some(raw(&value.to_string())));
        let report = || Command::Complete(Arc::from([Finish { lease: grant.lease, outcome: outcome.clone() }]));
        if unheard {
            self.world.dies_after = self.world.steps + 1;
            let heard = self.world.ask(report());
            ensure(heard.is_none(), "same_answer", || "the engine died and was heard".into())?;
        }
        match self.world.must(report()) {
            Answer::Completed(mut each) => each.remove(0).map_err(|e| Violation::new("same_answer", e.to_string())),
            other => Err(Violation::new("same_answer", format!("{other:?}"))),
        }
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|e| panic!("{e}"))
}
