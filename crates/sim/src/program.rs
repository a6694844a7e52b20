//! Programs against a reference: what the fold makes of a program is what an ordinary interpreter makes of it.
//!
//! ```text
//! seed ──► text ──┬──► parse ──► reference ─────────────┐
//!                 │                                     ├──► the same end, the same effects
//!                 └──► compile ──► fold, rows, reloads ─┘
//! ```
//!
//! The reference shares nothing with the fold but the parser and the expressions. A program that fails is made shorter until
//! nothing can be left out.

mod engine;
mod fork;
mod grow;
mod guest;
mod reference;
mod reruns;
mod shorten;
mod stage;
mod stub;

pub use fork::check_forks;
pub use grow::grow;
pub(crate) use guest::Guest;
pub use reference::{STEPS, Told, interpret};
pub use shorten::shorten;
pub use stage::{Mode, Stage};
pub use stub::{ACTIONS, Effect, answer};

use crate::violation::{self, Held, Violation, ensure};
use edgewise_core::run::End;
use edgewise_core::text::tree::{Block, Call, Gather, Program, Statement, StatementKind, Value, Work};
use std::sync::Arc;

/// What became of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was played and compared.
    Played,
    /// The compiler does not take it.
    Refused,
    /// It does not end, as far as the reference can see.
    Endless,
}

/// The ways in which programs are played, each with what it is called.
pub const MODES: [(&str, Mode); 5] = {
    let plain = Mode { by_chance: false, flush: 0, reload: 0, noise: 0, people: 0, cancel: 0 };
    [
        ("in order", plain),
        ("in order, reloaded at every act", Mode { flush: 1, reload: 1, ..plain }),
        ("in order, reloaded from older rows", Mode { flush: 5, reload: 3, ..plain }),
        ("by chance, with noise", Mode { by_chance: true, flush: 4, reload: 4, noise: 3, ..plain }),
        ("by chance, with people", Mode { by_chance: true, flush: 4, reload: 4, noise: 6, people: 6, ..plain }),
    ]
};

/// The modes of a seed: in order, and another one in turn.
fn modes(seed: u64) -> [(&'static str, Mode); 2] {
    [MODES[0], MODES[1 + (seed / 2) as usize % (MODES.len() - 1)]]
}

/// Plays the program of a seed.
pub fn check_seed(seed: u64) -> Result<Outcome, Violation> {
    check(&grow(seed), seed)
}

/// Plays a program in the modes of a seed, one in four also in an engine, and compares what it comes to with the
/// reference.
pub fn check(text: &str, seed: u64) -> Result<Outcome, Violation> {
    check_in(&modes(seed), text, seed, STEPS)
}

/// The same for a program of so many statements that nobody can look at all of it after every act: what is over is
/// always given back.
pub fn check_long(text: &str, seed: u64, steps: u32) -> Result<Outcome, Violation> {
    check_in(&modes(seed)[1..], text, seed, steps)
}

fn check_in(modes: &[(&str, Mode)], text: &str, seed: u64, steps: u32) -> Result<Outcome, Violation> {
    violation::catch(|| {
        let (Ok(parsed), Ok(mut compiled)) =
            (edgewise_core::text::parse(text, "test.flow"), edgewise_core::text::compile(text, "test.flow"))
        else {
            return Ok(Outcome::Refused);
        };
        if parsed.program.flows.is_empty() {
            return Ok(Outcome::Refused);
        }
        let Some(told) = interpret(&parsed.program, steps) else { return Ok(Outcome::Endless) };
        let plan = Arc::new(compiled.swap_remove(0).plan);
        for (called, mode) in modes {
            let held = play(&parsed.program, &plan, *mode, seed, &told);
            held.map_err(|broken| Violation { message: format!("{called}: {}", broken.message), ..broken })?;
        }
        if modes.len() > 1 && !depends_on_order(&parsed.program, true) {
            reruns::play(&plan, seed, &told)?;
        }
        if seed.is_multiple_of(4) && !depends_on_order(&parsed.program, true) {
            engine::play(&plan, seed, &told)?;
        }
        Ok(Outcome::Played)
    })
}

/// Plays the program of a seed again and again, and cancels it each time one act later, until it ends before.
pub fn check_cancels(seed: u64) -> Result<Outcome, Violation> {
    violation::catch(|| {
        let Ok(mut compiled) = edgewise_core::text::compile(&grow(seed), "test.flow") else {
            return Ok(Outcome::Refused);
        };
        let plan = Arc::new(compiled.swap_remove(0).plan);
        for cancel in 1..200 {
            let mode = Mode { by_chance: true, flush: 3, reload: 3, cancel, ..Mode::default() };
            let mut stage = Stage::new(Arc::clone(&plan), mode, seed)?;
            stage.play()?;
            stage.close()?;
            if stage.run.cancel.is_none() {
                return Ok(Outcome::Played);
            }
        }
        Ok(Outcome::Endless)
    })
}

fn play(program: &Program, plan: &Arc<edgewise_core::plan::Plan>, mode: Mode, seed: u64, told: &Told) -> Held {
    let mut stage = Stage::new(Arc::clone(plan), mode, seed)?;
    stage.play()?;
    stage.close()?;
    if mode.people > 0 || depends_on_order(program, mode.by_chance) {
        return Ok(());
    }
    let end = match &stage.run.end {
        Some(End::Returned(value)) => Ok((**value).clone()),
        Some(End::Failed(failure)) => Err((**failure).clone()),
        other => return Err(Violation::new("same_end", format!("{other:?} is no end"))),
    };
    ensure(end == told.end, "same_end", || format!("expected {:?}, found {end:?}", told.end))?;
    let (mut found, mut expected) = (stage.effects, told.effects.clone());
    if mode.by_chance {
        found.sort();
        expected.sort();
    }
    ensure(found == expected, "same_effects", || format!("expected {expected:?}, found {found:?}"))
}

/// Whether which arm is first decides what it comes to: a failure that stops arms that are at work.
fn depends_on_order(program: &Program, by_chance: bool) -> bool {
    let fast = |gather: &Gather, calls: &[Call]| {
        gather.fail_fast && (by_chance || calls.iter().any(|call| matches!(call, Call::Function(_))))
    };
    let bodies = program.flows.iter().map(|flow| &flow.body).chain(program.functions.iter().map(|f| &f.body));
    bodies.flat_map(works).any(|work| match work {
        Work::Call(_) | Work::Wait(_) => false,
        Work::Spread(spread) => fast(&spread.gather, std::slice::from_ref(&spread.call)),
        Work::Parallel(parallel) => fast(&parallel.gather, &parallel.calls),
    })
}

/// All work of a block and the blocks in it.
fn works(block: &Block) -> Vec<&Work> {
    let mut found = Vec::new();
    let mut stack: Vec<&Statement> = block.iter().collect();
    while let Some(statement) = stack.pop() {
        match &statement.kind {
            StatementKind::Assign { value: Value::Work(work), .. }
            | StatementKind::Return(Some(Value::Work(work)))
            | StatementKind::Do(work) => found.push(work),
            StatementKind::If { arms, otherwise } => {
                stack.extend(arms.iter().flat_map(|(_, block)| block).chain(otherwise.iter().flatten()));
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => stack.extend(body),
            StatementKind::Try { body, handlers } => {
                stack.extend(body.iter().chain(handlers.iter().flat_map(|handler| &handler.body)));
            }
            _ => {}
        }
    }
    found
}
