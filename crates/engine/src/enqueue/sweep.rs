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
mod tests {
    use super::*;
    use crate::command::{Answer, Claim, Start};
    use crate::desk::Home;
    use crate::entropy::Entropy;
    use crate::{enqueue, request};
    use edgewise_core::name::Name;
    use edgewise_core::time::{Millis, Time};
    use edgewise_store::memory::{MemoryLedger, MemoryProjections};
    use serde_json::value::RawValue;
    use std::sync::Arc;

    /// A desk with one run of a ready task and a closed gate.
    fn desk() -> (Desk, RunId) {
        let name = |text: &str| Name::parse(text).unwrap();
        let home = Home { tenant: name("t"), workspace: name("w") };
        let (ledger, rows) = (Box::<MemoryLedger>::default(), Box::<MemoryProjections>::default());
        let mut desk = Desk::new(ledger, rows, home, "e".into(), Entropy::from_seed([1; 32]));
        desk.now = Time(1_000);
        let flow = "{ flow: f, tasks: { a: { action: work }, g: { gate: { timer: 1h } } } }";
        let plan = Arc::new(edgewise_core::flow::compile(flow, "f.yaml").unwrap().plan);
        let input = RawValue::from_string("{}".into()).unwrap();
        let start = Start { plan, children: Vec::new(), input, by: name("me"), key: None, labels: Default::default() };
        let Ok(Answer::Started { run, .. }) = request::start(&mut desk, &start) else { panic!("not started") };
        (desk, run)
    }

    fn claim() -> Claim {
        let actions = Arc::from([Name::parse("work").unwrap()]);
        Claim { worker: "w".into(), actions, max: 1, lease: Some(Millis(30_000)), queues: None }
    }

    #[test]
    fn hints_that_were_forgotten_are_made_again() {
        let (mut desk, run) = desk();
        desk.lanes = Lanes::default();
        desk.timers.clear();
        desk.lanes.wait(1, ["work"].into_iter(), None);
        assert_eq!(sweep(&mut desk), 2, "the offer and the timer");
        let found = desk.next_match().unwrap();
        let offered = found.waiting.offer;
        assert!(enqueue::grant(&mut desk, &found, &claim()).is_some());
        assert_eq!(sweep(&mut desk), 1, "the lease, which nobody has kept");
        assert!(desk.leases.get(run, offered.task).is_some());
        assert_eq!(sweep(&mut desk), 0);
    }

    #[test]
    fn what_is_where_it_should_be_is_left_alone() {
        let (mut desk, _) = desk();
        assert_eq!(sweep(&mut desk), 0, "nobody waits for the task");
        desk.lanes.wait(1, ["work"].into_iter(), None);
        assert_eq!(sweep(&mut desk), 0, "it is offered already");
    }
}
