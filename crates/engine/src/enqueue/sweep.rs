//! The sweep: looks for whatever should have moved and did not, whatever state its run is in.
//!
//! Nothing should ever be found here: hints are made where facts are. But a forgotten hint would be a stuck
//! run, and looking is cheap. It only makes hints again; what is so is decided by the runs, as always.

use crate::desk::{Desk, lost_lease, offer};
use crate::lanes::{Lanes, Offer};
use crate::queues;
use crate::turns::Bound;
use edgewise_core::event::{LinkRef, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::run::{DISOWNED, Run};
use edgewise_core::state::TaskState;

/// Most tasks looked at in one sweep; the next one goes on with the next runs.
const TASKS: u64 = 200_000;

/// So many tasks are looked at in the time of one look into the store.
const STORE_LOOK: u64 = 20;

/// Looks at the runs on the desk, some at a time, and gives the number of hints that were missing.
pub(crate) fn sweep(desk: &mut Desk) -> usize {
    desk.ticks.look_again();
    super::join::look_again(desk);
    if desk.to_sweep.is_empty() {
        desk.to_sweep = desk.runs.keys().copied().collect();
        // The same order every time, so that what is found in a simulation is found again.
        desk.to_sweep.sort_unstable();
    }
    desk.rouse_forgotten();
    let (mut looked_at, mut found) = (0, 0);
    while looked_at < TASKS
        && let Some(run) = desk.to_sweep.pop()
    {
        if desk.frozen.contains_key(&run) {
            continue;
        }
        looked_at += desk.runs.get(&run).map_or(0, |cached| cached.counted);
        found += look_at(desk, run);
        found += look_at_links(desk, run, &mut looked_at);
    }
    found
}

/// Tasks whose child is not there, or is over and was not told; and children that nobody waits for.
fn look_at_links(desk: &mut Desk, run: RunId, looked_at: &mut u64) -> usize {
    let Some(run) = desk.runs.get(&run).map(|cached| &cached.run) else { return 0 };
    let (id, mut missing) = (run.id, Vec::new());
    // One that is frozen is let go of when it goes on.
    if run.disowned.values().any(|child| !desk.frozen.contains_key(child)) {
        missing.push(DISOWNED);
    }
    let waiting: Vec<(TaskIx, LinkRef)> =
        run.waiting_for_children().filter_map(|task| Some((task, run.awaited(task)?))).collect();
    // A run that is paused begins nothing.
    let paused = run.paused;
    for (task, link) in waiting {
        // A look into the store is worth many looks at a task.
        *looked_at += STORE_LOOK;
        if !paused && super::link::is_missing(desk, id, link) {
            missing.push(task);
        }
    }
    // What is put off is not forgotten.
    missing.retain(|task| !desk.links.later.contains(&(id, *task)));
    missing.into_iter().filter(|task| desk.links.due.insert((id, *task))).count()
}

fn look_at(desk: &mut Desk, run: RunId) -> usize {
    let Desk { runs, timers, advancing, lanes, queues, leases, now, .. } = desk;
    let Some(cached) = runs.get(&run) else { return 0 };
    let run = &cached.run;
    let mut found = run.timers.iter().filter(|(key, due)| timers.insert((**due, run.id, **key))).count();
    found += usize::from(run.is_advancing() && advancing.insert(run.id));
    if run.counts[TaskState::Enqueued as usize] == 0 && run.leased == 0 {
        return found;
    }
    // A run whose tasks are all set aside is not looked through, however many they are.
    let all_aside = run.counts[TaskState::Enqueued as usize] == lanes.aside_of(run.id);
    for task in run.present() {
        match run.tasks[task.0 as usize].state {
            // A lane with offers in it is being worked off; only where workers wait for nothing is something missing.
            TaskState::Enqueued if !run.paused && !all_aside && is_missing(lanes, queues, run, task) => {
                offer(lanes, queues, run, task);
                found += 1;
            }
            TaskState::InProgress if run.is_leasable(task) && leases.get(run.id, task).is_none() => {
                leases.put(run.id, task, lost_lease(run, task, None, (*now, false), queues));
                found += 1;
            }
            _ => {}
        }
    }
    found
}

fn is_missing(lanes: &Lanes, queues: &mut queues::Open, run: &Run, task: TaskIx) -> bool {
    let (Some(action), turn) = (run.action_of(task), run.turn(task)) else { return false };
    let offer = Offer { run: run.id, task, generation: 0, attempt: 0 };
    lanes.is_missing(action, queues.number(turn.queue.as_deref()), Bound::of(&turn).as_ref(), offer)
}

#[cfg(test)]
mod tests;
