//! Who waits for a slot, and who holds it: read off the rows, also while another process writes them.

mod holds;

pub use edgewise_core::why::Holder;
pub use holds::Held;

use crate::queues::{DEFAULT_QUEUE, QueueSettings, Queues, all_set_by};
use crate::reader::Reader;
use edgewise_core::Result;
use edgewise_core::control::Setting;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::rate::Rate;
use edgewise_core::rows::{KeyLimit, LeaseRow, OutboxRow};
use edgewise_core::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most holders of one key that are named.
const NAMED: usize = 20;

/// What a queue is set to, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueUse {
    /// Which queue.
    pub queue: Name,
    /// Most attempts at work at once, if that is bounded.
    pub slots: Option<u32>,
    /// How often an attempt may begin, if that is bounded.
    pub rate: Option<Rate>,
    /// Whether nothing begins for now.
    pub paused: bool,
    /// Who said so; absent if it is as the file of whoever runs the engine says, or not bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<SetBy>,
    /// Attempts at work.
    pub used: u32,
    /// Tasks that wait, those set aside included.
    pub waiting: u32,
    /// Tasks whose key is full.
    pub aside: u32,
}

/// Who set a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetBy {
    /// Who.
    pub by: Name,
    /// When.
    pub at: Time,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A key, its bounds, and who holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitUse {
    /// The key.
    pub key: String,
    /// Most attempts at work at once, as those that wait say it.
    pub max: Option<u32>,
    /// How often an attempt may begin.
    pub rate: Option<Rate>,
    /// Attempts at work.
    pub used: u32,
    /// Tasks that wait for it.
    pub waiting: u32,
    /// Some of those at work.
    pub holders: Vec<Holder>,
}

/// Everything that is shared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shares {
    /// By name.
    pub queues: Vec<QueueUse>,
    /// By key.
    pub limits: Vec<LimitUse>,
}

/// What waits, and what is at work.
type InUse = (Vec<(RunId, OutboxRow)>, Vec<(RunId, LeaseRow)>);

impl Reader {
    /// All queues and keys that are in use or set: by whoever runs the engine, and over that by the settings.
    pub fn shares(&mut self, given: &Queues) -> Result<Shares> {
        let mut queues: BTreeMap<Name, QueueUse> =
            given.iter().map(|(name, set)| (name.clone(), empty(name, set))).collect();
        for (name, set, Setting { by, at, why, .. }) in all_set_by(&self.control()?.settings) {
            let set_by = SetBy { by: by.clone(), at: *at, why: why.clone() };
            queues.insert(name.clone(), QueueUse { set: Some(set_by), ..empty(&name, &set) });
        }
        let (waiting, leases) = self.in_use()?;
        let mut keys: BTreeMap<&str, LimitUse> = BTreeMap::new();
        for limit in waiting.iter().filter_map(|(_, row)| row.turn.limit.as_ref()) {
            keys.entry(&limit.key).or_insert_with(|| unused(limit)).waiting += 1;
        }
        for (run, lease) in &leases {
            let Some(key) = &lease.key else { continue };
            let bare = KeyLimit { key: key.clone(), max: None, rate: None };
            let limit = keys.entry(key).or_insert_with(|| unused(&bare));
            limit.used += 1;
            if limit.holders.len() < NAMED {
                limit.holders.push(self.holder(*run, lease));
            }
        }
        for (_, row) in &waiting {
            let queue = queue_of(&mut queues, row.turn.queue.as_ref());
            queue.waiting += 1;
            let limit = row.turn.limit.as_ref();
            queue.aside += u32::from(limit.is_some_and(|limit| is_full(&keys, limit)));
        }
        leases.iter().for_each(|(_, lease)| queue_of(&mut queues, lease.queue.as_ref()).used += 1);
        Ok(Shares { queues: queues.into_values().collect(), limits: keys.into_values().collect() })
    }

    fn in_use(&mut self) -> Result<InUse> {
        let rows = self.halves().1;
        let waiting = rows.outbox()?.into_iter().map(|(stream, row)| (stream.run, row));
        let waiting = waiting.filter(|(_, row)| row.action.as_str() != edgewise_core::run::ADVANCE_ACTION).collect();
        Ok((waiting, self.in_hands()?))
    }

    /// All leases, by their runs.
    fn in_hands(&mut self) -> Result<Vec<(RunId, LeaseRow)>> {
        Ok(self.halves().1.leases()?.into_iter().map(|(stream, row)| (stream.run, row)).collect())
    }

    fn holder(&mut self, run: RunId, lease: &LeaseRow) -> Holder {
        // A run that cannot be read still holds what it holds.
        let task = self.run(run).ok().filter(|run| run.task(lease.task).is_some()).map(|run| run.path(lease.task));
        let task = task.unwrap_or_else(|| format!("task {}", lease.task.0));
        Holder { run, task, attempt: lease.attempt, worker: lease.worker.clone() }
    }
}

fn is_full(keys: &BTreeMap<&str, LimitUse>, limit: &KeyLimit) -> bool {
    let used = keys.get(limit.key.as_str()).map_or(0, |key| key.used);
    limit.max.is_some_and(|max| used >= max)
}

fn unused(limit: &KeyLimit) -> LimitUse {
    let KeyLimit { key, max, rate } = limit.clone();
    LimitUse { key, max, rate, used: 0, waiting: 0, holders: Vec::new() }
}

fn empty(name: &Name, set: &QueueSettings) -> QueueUse {
    let QueueSettings { slots, rate, paused } = *set;
    QueueUse { queue: name.clone(), slots, rate, paused, set: None, used: 0, waiting: 0, aside: 0 }
}

fn queue_of<'q>(queues: &'q mut BTreeMap<Name, QueueUse>, name: Option<&Name>) -> &'q mut QueueUse {
    let name = name.cloned().or_else(|| Name::parse(DEFAULT_QUEUE).ok());
    let name = name.unwrap_or_else(|| unreachable!("a good name"));
    queues.entry(name.clone()).or_insert_with(|| empty(&name, &QueueSettings::default()))
}
