//! Reruns against the reference: however often work is done again, a program comes to what it means.
//!
//! Somewhere an attempt is broken. If that makes the program fail, it is rerun from there and nothing is broken any more:
//! it ends as if nothing had ever been, and did nothing twice but what was broken. Then any of its finished tasks is done
//! again, and all that follows: the world answers as before, so the end is as before.

use super::reference::Told;
use super::stage::{BROKEN, Mode, Stage};
use super::stub::Effect;
use crate::dice::Dice;
use crate::violation::{Held, Violation, ensure};
use edgewise_core::event::{Failure, RerunFrom, TaskIx};
use edgewise_core::fold::Verdict;
use edgewise_core::plan::{Plan, Work};
use edgewise_core::run::End;
use std::sync::Arc;

/// Tasks that are done again, one after the other.
const AGAIN: u32 = 3;

/// Plays a program with something broken in it, and with reruns.
pub(super) fn play(plan: &Arc<Plan>, seed: u64, told: &Told) -> Held {
    let mut dice = Dice::of_step(seed, 2);
    let mode = Mode { by_chance: true, flush: dice.below(5), reload: 3, noise: 8, ..Mode::default() };
    let mut stage = Stage::new(Arc::clone(plan), mode, seed)?;
    stage.breaks = dice.index(told.effects.len()).map(|at| at + 1);
    stage.play()?;
    stage.breaks = None;
    let alone = match &stage.run.end {
        Some(End::Failed(failure)) if is_broken(failure) => failure.kind == BROKEN && failure.cause.is_none(),
        // Something in the program dealt with it, and it came to something else.
        _ => return stage.close(),
    };
    again(&mut stage, RerunFrom::Failure, told)?;
    if alone && !has_handlers(plan) {
        done_once(&stage.effects, &told.effects)?;
    }
    for _ in 0..AGAIN {
        let Some(task) = dice.index(stage.run.total() as usize).map(|at| TaskIx(at as u32)) else { break };
        let generation = stage.run.task(task).map_or(1, |task| task.generation);
        let from = if dice.one_in(4) { RerunFrom::Start } else { RerunFrom::Task { task, generation } };
        let before = stage.run.clone();
        let event = stage.rerun(from);
        match stage.say(event)? {
            Verdict::Applied => ended(&mut stage, told)?,
            _ => ensure(before.tasks == stage.run.tasks, "refused_changes_nothing", || format!("{from:?}"))?,
        }
    }
    stage.close()
}

fn again(stage: &mut Stage, from: RerunFrom, told: &Told) -> Held {
    let event = stage.rerun(from);
    let verdict = stage.say(event)?;
    ensure(verdict == Verdict::Applied, "what_failed_can_be_rerun", || format!("{verdict:?}"))?;
    ended(stage, told)
}

/// It ends as the reference says.
fn ended(stage: &mut Stage, told: &Told) -> Held {
    stage.play()?;
    let end = match &stage.run.end {
        Some(End::Returned(value)) => Ok((**value).clone()),
        Some(End::Failed(failure)) => Err((**failure).clone()),
        other => return Err(Violation::new("same_end_after_rerun", format!("{other:?} is no end"))),
    };
    ensure(end == told.end, "same_end_after_rerun", || format!("expected {:?}, found {end:?}", told.end))
}

/// Whether it is what was broken, or stands for it among others.
fn is_broken(failure: &Failure) -> bool {
    failure.kind == BROKEN || failure.errors.iter().any(is_broken)
}

fn has_handlers(plan: &Plan) -> bool {
    plan.specs.iter().any(|spec| matches!(spec.work, Work::Try(_)))
}

/// Everything was done as often as the reference says, and once more the attempts of what was broken.
fn done_once(found: &[Effect], expected: &[Effect]) -> Held {
    let mut left: Vec<&Effect> = found.iter().collect();
    let missing = expected.iter().find(|effect| match left.iter().position(|found| found == effect) {
        Some(at) => {
            left.swap_remove(at);
            false
        }
        None => true,
    });
    let one = left.windows(2).all(|pair| (&pair[0].action, &pair[0].with) == (&pair[1].action, &pair[1].with));
    ensure(missing.is_none() && one, "finished_work_is_not_done_again", || {
        format!("missing {missing:?}, too many: {left:?}")
    })
}
