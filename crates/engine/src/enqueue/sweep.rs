//! The sweep: looks for whatever should have moved and did not, whatever state its run is in.
//!
//! Nothing should ever be found here: hints are made where facts are. But a forgotten hint would be a stuck
//! run, and looking is cheap. It only makes hints again; what is so is decided by the runs, as always.

use crate::desk::{Desk, lost_lease, offer};
use crate::lanes::{Lanes, Offer};
use crate::queues;
use crate::turns::Bound;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::run::{DISOWNED, Run};
use edgewise_core::state::TaskState;

/// Most tasks looked at in one sweep; the next one goes on with the next runs, and within one that was too large.
const TASKS: u64 = 200_000;

/// So many tasks are looked at in the time of one look into the store.
const STORE_LOOK: u64 = 20;

/// Looks at the runs on the desk, some at a time, and gives the number of hints that were missing.
pub(crate) fn sweep(desk: &mut Desk) -> usize {
    desk.ticks.look_again();
    super::join::look_again(desk);
    desk.rouse_forgotten();
    look_through(desk, TASKS)
}

/// Looks at so many tasks.
fn look_through(desk: &mut Desk, mut most: u64) -> usize {
    if desk.to_sweep.is_empty() {
        desk.to_sweep = desk.runs.keys().map(|run| (*run, None)).collect();
        // The same order every time, so that what is found in a simulation is found again.
        desk.to_sweep.sort_unstable();
    }
    let mut found = 0;
    while most > 0
        && let Some((run, from)) = desk.to_sweep.pop()
    {
        if desk.frozen.contains_key(&run) {
            continue;
        }
        if from.is_none() {
            most = most.saturating_sub(desk.runs.get(&run).map_or(0, |cached| cached.counted));
            found += look_at(desk, run);
        }
        let (missing, rest) = look_at_links(desk, run, from, &mut most);
        found += missing;
        if rest.is_some() {
            desk.to_sweep.push((run, rest));
            break;
        }
    }
    found
}

/// Tasks whose child is not there, or is over and was not told; and children that nobody waits for. Gives where to go on
/// if that was too much.
fn look_at_links(desk: &mut Desk, run: RunId, from: Option<TaskIx>, most: &mut u64) -> (usize, Option<TaskIx>) {
    let Some(run) = desk.runs.get(&run).map(|cached| &cached.run) else { return (0, None) };
    let (id, mut missing, mut waiting, mut rest) = (run.id, Vec::new(), Vec::new(), None);
    // One that is frozen is let go of when it goes on.
    if run.disowned.values().any(|child| !desk.frozen.contains_key(child)) {
        missing.push(DISOWNED);
    }
    // A run that is paused begins nothing.
    for task in run.waiting_for_children().filter(|task| !run.paused && Some(*task) >= from) {
        // A look into the store is worth many looks at a task; what is of the work graph is at hand.
        let cost = if run.sub_run(task).is_some() { STORE_LOOK } else { 1 };
        if *most < cost {
            rest = Some(task);
            break;
        }
        *most -= cost;
        waiting.extend(run.awaited(task).map(|link| (task, link)));
    }
    missing
        .extend(waiting.into_iter().filter(|(_, link)| super::link::is_missing(desk, id, *link)).map(|(task, _)| task));
    // What is put off is not forgotten.
    missing.retain(|task| !desk.links.later.contains(&(id, *task)));
    (missing.into_iter().filter(|task| desk.links.due.insert((id, *task))).count(), rest)
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
