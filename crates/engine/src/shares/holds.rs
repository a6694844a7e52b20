//! What keeps one ready task from being taken, besides that nobody has come for it.
//!
//! The task itself says which queue and which key it shares; who is at work there is counted from leases, which are as
//! few as workers have slots. How many wait beside it does not matter, so nobody reads the outbox for it.

use crate::queues::{DEFAULT_QUEUE, QueueSettings, Queues};
use crate::reader::Reader;
use edgewise_core::Result;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::rate::Rate;
use edgewise_core::rows::{LeaseRow, Turn};
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_core::why::{Closed, Hold, Shared};
use std::collections::BTreeMap;

/// Most holders that are named as those who could free a slot.
const NAMED: usize = 3;

/// What was looked up for one answer, so that it is looked up once for many tasks.
#[derive(Default)]
pub struct Held {
    leases: Option<Vec<(RunId, LeaseRow)>>,
    known: BTreeMap<(RunId, Turn), Vec<Hold>>,
}

/// Something shared, with what bounds it.
struct Bounds {
    of: Shared,
    most: Option<u32>,
    rate: Option<Rate>,
}

impl Reader {
    /// What holds a task that waits to be taken; nothing if it only waits for somebody.
    pub fn holds(
        &mut self,
        (run, task): (&Run, TaskIx),
        held: &mut Held,
        set: &Queues,
        now: Time,
    ) -> Result<Vec<Hold>> {
        let turn = run.turn(task);
        if let Some(known) = held.known.get(&(run.id, turn.clone())) {
            return Ok(known.clone());
        }
        let Some(name) = turn.queue.clone().or_else(|| Name::parse(DEFAULT_QUEUE).ok()) else { return Ok(Vec::new()) };
        let queue = set.get(&name).copied().unwrap_or_default();
        if queue == QueueSettings::default() && turn.limit.is_none() {
            return Ok(Vec::new());
        }
        let leases = match held.leases.take() {
            Some(leases) => leases,
            None => self.in_hands()?,
        };
        let mut holds = Vec::new();
        if queue.paused {
            holds.push(Hold { of: Shared::Queue(name.clone()), closed: Closed::Paused });
        }
        let of_queue = Bounds { of: Shared::Queue(name), most: queue.slots, rate: queue.rate };
        let of_key =
            turn.limit.clone().map(|limit| Bounds { of: Shared::Key(limit.key), most: limit.max, rate: limit.rate });
        for bounds in [of_queue].into_iter().chain(of_key) {
            let at_work: Vec<&(RunId, LeaseRow)> = leases.iter().filter(|(_, row)| bounds.of_lease(row)).collect();
            holds.extend(self.full(&bounds, &at_work));
            holds.extend(self.too_soon(&bounds, run, &at_work, now));
        }
        held.leases = Some(leases);
        held.known.insert((run.id, turn), holds.clone());
        Ok(holds)
    }

    fn full(&mut self, bounds: &Bounds, at_work: &[&(RunId, LeaseRow)]) -> Option<Hold> {
        let used = u32::try_from(at_work.len()).unwrap_or(u32::MAX);
        let most = bounds.most.filter(|most| used >= *most)?;
        let holders = at_work.iter().take(NAMED).map(|(run, lease)| self.holder(*run, lease)).collect();
        Some(Hold { of: bounds.of.clone(), closed: Closed::Full { most, used, holders } })
    }

    /// Whether a rate lets nothing begin, as far as this run and some of those at work say when one began last: how it
    /// stands exactly is known to the engine alone.
    fn too_soon(&mut self, bounds: &Bounds, run: &Run, at_work: &[&(RunId, LeaseRow)], now: Time) -> Option<Hold> {
        let rate = bounds.rate?;
        let began = |run: &Run, task: TaskIx| run.task(task).and_then(|task| task.started_at.known());
        let here = run.present().filter(|task| run.is_leasable(*task) && bounds.of_turn(&run.turn(*task)));
        let mut last = here.filter_map(|task| began(run, task)).max();
        for (other, lease) in at_work.iter().rev().take(NAMED).filter(|(other, _)| *other != run.id) {
            // A run that cannot be read says nothing.
            last = last.max(self.run(*other).ok().and_then(|run| began(&run, lease.task)));
        }
        let opens = rate.opens(rate.after(last?), now);
        (opens > now).then(|| Hold { of: bounds.of.clone(), closed: Closed::Rate { rate, opens } })
    }
}

impl Bounds {
    fn of_lease(&self, lease: &LeaseRow) -> bool {
        match &self.of {
            Shared::Queue(name) => is_in(lease.queue.as_ref(), name),
            Shared::Key(key) => lease.key.as_ref() == Some(key),
        }
    }

    fn of_turn(&self, turn: &Turn) -> bool {
        match &self.of {
            Shared::Queue(name) => is_in(turn.queue.as_ref(), name),
            Shared::Key(key) => turn.limit.as_ref().is_some_and(|limit| limit.key == *key),
        }
    }
}

fn is_in(queue: Option<&Name>, name: &Name) -> bool {
    queue.map_or(DEFAULT_QUEUE, Name::as_str) == name.as_str()
}
