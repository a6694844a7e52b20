//! Chains: a program body stands at one place, what is before it is done and what is after it has not begun.

use super::{Held, broken};
use crate::event::TaskIx;
use crate::plan::Statement;
use crate::run::{Run, Scope};
use crate::state::TaskState;

/// Exactly one statement of a chain is at work, unless the fold stopped between two; what ended is done.
pub fn chain_has_one_place(run: &Run) -> Held {
    for number in 0..run.scopes.len() as u32 {
        let Some(scope) = run.scopes.get(number as usize) else { continue };
        let Some(script) = run.region_of(scope).script() else { continue };
        if let Some((task, message)) = misplaced(run, number, scope, script) {
            return broken("chain_has_one_place", run, task, message);
        }
    }
    let mut places = run.chains.keys().chain(run.stalled.iter().copied());
    let lost = places.find(|n| run.scopes.get(*n as usize).is_none());
    if lost.is_some() || run.stalled.iter().any(|n| !run.chains.contains_key(n)) {
        return broken("chain_has_one_place", run, None, "a chain is at work and has no scope");
    }
    if run.is_program() && run.planned && run.end.is_some() == run.chains.contains_key(&0) {
        return broken("chain_has_one_place", run, None, "the program ended just while it is at work");
    }
    Ok(())
}

fn misplaced(run: &Run, number: u32, scope: &Scope, script: &[Statement]) -> Option<(Option<TaskIx>, String)> {
    let state = |node: u32| run.tasks[(scope.task + node) as usize].state;
    let Some(chain) = run.chains.get(&number) else {
        let open = (0..run.region_of(scope).len()).find(|node| !state(*node).is_done())?;
        return Some((Some(TaskIx(scope.task + open)), "its chain has ended and it is open".into()));
    };
    let stalled = run.stalled.contains(&number);
    for (at, statement) in (0..).zip(script) {
        let Some(node) = statement.node() else { continue };
        let state = state(node);
        let fits = match at.cmp(&chain.at) {
            std::cmp::Ordering::Less => state.is_done(),
            std::cmp::Ordering::Equal if stalled => state == TaskState::Pending,
            std::cmp::Ordering::Equal => state != TaskState::Pending && !state.is_done(),
            std::cmp::Ordering::Greater => state == TaskState::Pending,
        };
        if !fits {
            let message = format!("it is {state:?} at statement {at}, its chain stands at {}", chain.at);
            return Some((Some(TaskIx(scope.task + node)), message));
        }
    }
    let waits = script.get(chain.at as usize).is_some_and(|s| s.node().is_some());
    (!waits && !stalled)
        .then(|| (None, format!("scope {number} stands at statement {} and waits for nothing", chain.at)))
}
