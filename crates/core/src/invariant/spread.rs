//! Spreads: one scope for each item, in the items' order, and the composite ends with them.

use super::{Held, broken, tasks};
use crate::event::TaskIx;
use crate::plan::Work;
use crate::run::{Composite, GONE_SCOPE, Run, Scope};
use crate::state::TaskState;

/// A spread's scopes are its own, in order and counted right; while it lives they are all there or being made.
pub fn spread_is_whole(run: &Run) -> Held {
    scopes_are_counted(run)?;
    let mut owned = 0;
    for (ix, state) in &run.composites {
        let task = &run.tasks[ix.0 as usize];
        let work = &run.spec_of(*ix).work;
        if !work.is_composite() {
            return broken("spread_is_whole", run, Some(*ix), "it is no composite and has scopes");
        }
        owned += state.scopes().count() as u32;
        if let Err(message) = scopes_fit(run, *ix, state) {
            return broken("spread_is_whole", run, Some(*ix), message);
        }
        if !matches!(work, Work::Spread(_) | Work::Parallel(_)) {
            if task.state.is_done() && state.scopes().any(|s| !run.has_ended(s)) {
                return broken("spread_is_whole", run, Some(*ix), "it is done and a scope of it is not");
            }
            continue;
        }
        let given_back = run.in_chain(*ix) && task.state == TaskState::Complete && state.chunks.is_empty();
        if given_back && (state.done, state.items.len()) == (state.total, 0) {
            continue;
        }
        let unfinished = state.made() < state.total && !task.state.is_done();
        if run.advancing.contains(ix) != unfinished {
            return broken("spread_is_whole", run, Some(*ix), "it should be advancing just while scopes are missing");
        }
        let ended = state.scopes().filter(|s| run.has_ended(*s)).count();
        let all = ended == state.total as usize;
        if state.done as usize != ended || (task.state == TaskState::InProgress && all) {
            let message = format!("{ended} of {} scopes ended, it counts {}", state.total, state.done);
            return broken("spread_is_whole", run, Some(*ix), message);
        }
        if task.state.is_done() && ended != state.made() as usize {
            return broken("spread_is_whole", run, Some(*ix), "it is done and some of its scopes are not");
        }
    }
    let all_owned = !run.is_program() && run.generation == 1;
    if all_owned && run.scopes.len() as u32 != owned + u32::from(run.planned) {
        return broken("spread_is_whole", run, None, "there are scopes that no spread has made");
    }
    match run.advancing.iter().find(|t| !run.composites.contains_key(t)) {
        Some(task) => broken("spread_is_whole", run, Some(*task), "it advances and has not begun"),
        None => Ok(()),
    }
}

fn scopes_fit(run: &Run, ix: TaskIx, state: &Composite) -> Result<(), String> {
    let work = &run.spec_of(ix).work;
    let too_many = state.made() > state.total || state.total as usize > state.items.len();
    let given_back = state.chunks.is_empty() && run.in_chain(ix);
    if matches!(work, Work::Spread(_)) && too_many && !given_back {
        return Err(format!("{} scopes of {} for {} items", state.made(), state.total, state.items.len()));
    }
    for chunk in &state.chunks {
        for n in 0..chunk.count {
            let (number, index) = (chunk.scope + n, chunk.index + n);
            let scope = run.scopes.get(number as usize).map(|s| (s.parent, s.index, Some(s.region)));
            if scope != Some((ix, index, work.region_at(index))) {
                return Err(format!("scope {number} is not its item {index}"));
            }
        }
    }
    Ok(())
}

fn scopes_are_counted(run: &Run) -> Held {
    let mut counted = vec![(0, 0); run.scopes.len()];
    for ix in tasks(run) {
        let task = &run.tasks[ix.0 as usize];
        let (open, bad) = &mut counted[task.scope as usize];
        *open += u32::from(!task.state.is_done());
        *bad += u32::from(matches!(task.state, TaskState::Error | TaskState::Cancelled));
    }
    let wrong = |(s, (open, bad)): (&Scope, &(u32, u32))| *s != GONE_SCOPE && (s.open, s.bad) != (*open, *bad);
    match run.scopes.iter().zip(&counted).position(wrong) {
        Some(n) => broken("spread_is_whole", run, None, format!("scope {n} counts its open or bad tasks wrong")),
        None => Ok(()),
    }
}
