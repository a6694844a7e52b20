//! Queues: where tasks wait for workers. A queue has slots (most attempts at work at once), a rate, and may be paused.
//!
//! What a queue is set to comes from outside: the file of whoever runs the engine, and over it what the workspace's
//! settings say, which hold for all engines. What holds its slots is counted from leases.

use crate::rates::at_most;
use edgewise_core::Result;
use edgewise_core::control::Setting;
use edgewise_core::name::Name;
use edgewise_core::rate::{Arrival, Rate};
use edgewise_core::time::Time;
use edgewise_store::quick::QuickMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The queue of tasks that name none.
pub const DEFAULT_QUEUE: &str = "default";

/// What a queue is set to. What is not said is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QueueSettings {
    /// Most attempts at work at once.
    pub slots: Option<u32>,
    /// How often an attempt may begin.
    pub rate: Option<Rate>,
    /// Nothing begins for now.
    pub paused: bool,
}

/// How a bound of a queue is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound<T> {
    /// Nothing bounds it from now on.
    Free,
    /// This does.
    At(T),
}

/// What of a queue is changed. What is not said stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueChange {
    /// Most attempts at work at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<Bound<u32>>,
    /// How often an attempt may begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bound<Rate>>,
    /// Whether nothing begins for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

impl<T> From<Option<T>> for Bound<T> {
    fn from(bound: Option<T>) -> Self {
        bound.map_or(Self::Free, Self::At)
    }
}

impl From<QueueSettings> for QueueChange {
    fn from(QueueSettings { slots, rate, paused }: QueueSettings) -> Self {
        Self { slots: Some(slots.into()), rate: Some(rate.into()), paused: Some(paused) }
    }
}

impl QueueChange {
    /// What a queue is after it.
    pub fn of(self, was: QueueSettings) -> QueueSettings {
        fn after<T>(change: Option<Bound<T>>, was: Option<T>) -> Option<T> {
            match change {
                None => was,
                Some(Bound::Free) => None,
                Some(Bound::At(bound)) => Some(bound),
            }
        }
        QueueSettings {
            slots: after(self.slots, was.slots),
            rate: after(self.rate, was.rate),
            paused: self.paused.unwrap_or(was.paused),
        }
    }
}

/// What all queues are set to, by their names.
pub type Queues = BTreeMap<Name, QueueSettings>;

/// What the keys of settings begin with that say what a queue is set to.
pub const SETTING: &str = "queue/";

/// The key of the setting that says what a queue is set to.
pub fn key_of(queue: &Name) -> Result<Name> {
    Name::parse(&format!("{SETTING}{queue}"))
}

/// The queue that a setting is about.
pub fn queue_of(key: &Name) -> Option<Name> {
    Name::parse(key.strip_prefix(SETTING)?).ok()
}

/// What the workspace's settings say of a queue: they go before the file of whoever runs the engine.
pub fn set_by(queue: &Name, settings: &BTreeMap<Name, Setting>) -> Option<QueueSettings> {
    let setting = settings.get(&key_of(queue).ok()?)?;
    serde_json::from_value(setting.value.clone()).ok()
}

/// The queues that the settings speak of, what they are set to, and the setting that says so.
pub fn all_set_by(settings: &BTreeMap<Name, Setting>) -> impl Iterator<Item = (Name, QueueSettings, &Setting)> {
    settings.iter().filter_map(|(key, setting)| {
        let queue = queue_of(key)?;
        let set = serde_json::from_value(setting.value.clone()).ok()?;
        Some((queue, set, setting))
    })
}

/// Names a queue within one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct QueueNo(pub u32);

impl QueueNo {
    /// The queue of tasks that name none.
    pub const DEFAULT: Self = Self(0);
}

pub(crate) struct Open {
    numbers: QuickMap<Box<str>, QueueNo>,
    queues: Vec<Queue>,
    bounded: bool,
}

#[derive(Default)]
struct Queue {
    set: QueueSettings,
    arrival: Arrival,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            numbers: QuickMap::from_iter([(DEFAULT_QUEUE.into(), QueueNo::DEFAULT)]),
            queues: vec![Queue::default()],
            bounded: false,
        }
    }
}

impl Open {
    /// The number of a queue; `None` means the one of tasks that name none.
    pub fn number(&mut self, name: Option<&str>) -> QueueNo {
        let Some(name) = name else { return QueueNo::DEFAULT };
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = QueueNo(self.queues.len() as u32);
        self.numbers.insert(name.into(), number);
        self.queues.push(Queue::default());
        number
    }

    pub fn set(&mut self, name: &str, set: QueueSettings) {
        let number = self.number(Some(name));
        self.queues[number.0 as usize].set = set;
        self.bounded = (0..self.queues.len() as u32).any(|queue| self.is_bounded(QueueNo(queue)));
    }

    /// Whether any of them has slots or a rate.
    pub fn any_bounded(&self) -> bool {
        self.bounded
    }

    /// Whether anything bounds it by what others do.
    pub fn is_bounded(&self, queue: QueueNo) -> bool {
        let set = &self.queues[queue.0 as usize].set;
        set.slots.is_some() || set.rate.is_some()
    }

    /// Whether an attempt may begin now, with so many at work.
    pub fn admits(&self, queue: QueueNo, held: u32, now: Time) -> bool {
        let Queue { set, arrival } = &self.queues[queue.0 as usize];
        let free = set.slots.is_none_or(|slots| held < slots);
        free && !set.paused && set.rate.is_none_or(|rate| rate.opens(*arrival, now) <= now)
    }

    /// What was learned of a clock that has gone back since is forgotten, once: see [`crate::rates`].
    pub fn keep_up(&mut self, now: Time) {
        for queue in self.queues.iter_mut().filter(|_| self.bounded) {
            if let Some(rate) = queue.set.rate {
                queue.arrival = at_most(rate, queue.arrival, now);
            }
        }
    }

    /// An attempt begins.
    pub fn begin(&mut self, queue: QueueNo, now: Time) {
        let queue = &mut self.queues[queue.0 as usize];
        if let Some(rate) = queue.set.rate {
            queue.arrival = rate.begin(queue.arrival, now);
        }
    }

    /// An attempt is known to have begun then: an engine that comes after another one learns of it late.
    pub fn began(&mut self, queue: QueueNo, at: Time) {
        let queue = &mut self.queues[queue.0 as usize];
        if let Some(rate) = queue.set.rate {
            queue.arrival = queue.arrival.max(rate.after(at));
        }
    }

    /// When a queue that is closed only by its rate opens.
    pub fn opens(&self, queue: QueueNo, held: u32, now: Time) -> Option<Time> {
        let Queue { set, arrival } = &self.queues[queue.0 as usize];
        let free = set.slots.is_none_or(|slots| held < slots) && !set.paused;
        set.rate.filter(|_| free).map(|rate| rate.opens(*arrival, now)).filter(|opens| *opens > now)
    }
}
