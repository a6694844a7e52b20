//! What a flow tells the outside world: domain events, said beside the work that they are about.

use super::{Spec, Work, is_default};
use crate::gate::Opens;
use crate::name::Name;
use crate::template::Template;
use serde::{Deserialize, Serialize};

/// One domain event that a flow or a task tells when it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// What it is called: the `type` that consumers see.
    pub name: Name,
    /// When it is told.
    #[serde(default, skip_serializing_if = "is_default")]
    pub condition: Condition,
    /// How it travels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delivery: Delivery,
    /// What is told; the output of the task or run if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Template>,
}

/// A domain event that is told when a flow comes to it: a task without a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emit {
    /// What it is called.
    pub name: Name,
    /// How it travels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delivery: Delivery,
    /// What is told; also the task's output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub payload: Template,
}

/// How what a plan tells travels: whoever derives events of one kind need not look at runs that tell none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tells {
    /// Something is told to whoever listens right now.
    pub fast: bool,
    /// Something is kept in a queue.
    pub durable: bool,
}

impl Tells {
    /// What a flow and the tasks of these specs tell.
    pub fn of(publish: &[Publish], specs: &[Spec]) -> Self {
        let own = |spec: &Spec| match &spec.work {
            Work::Emit(emit) => Some(emit.delivery),
            // That people are asked is told without anybody declaring it.
            Work::Gate(gate) if gate.wait.opens() == Opens::People => Some(Delivery::Broadcast),
            _ => None,
        };
        let told = specs.iter().flat_map(|spec| spec.publish.iter().map(|one| one.delivery).chain(own(spec)));
        publish.iter().map(|one| one.delivery).chain(told).fold(Self::default(), |tells, delivery| Self {
            fast: tells.fast || delivery.is_fast(),
            durable: tells.durable || delivery.is_durable(),
        })
    }

    /// Whether anything is told at all.
    pub fn anything(self) -> bool {
        self.fast || self.durable
    }
}

/// When a domain event is told: how an attempt, a task or a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It succeeded.
    #[default]
    Success,
    /// It failed, whether there is another attempt or not.
    Failure,
    /// An attempt failed and there is another one.
    RetryableFailure,
    /// It failed for good.
    PermanentFailure,
    /// However it ended, also skipped or cancelled.
    Always,
}

impl Condition {
    /// All of them with their words.
    pub const ALL: [(&'static str, Self); 5] = [
        ("success", Self::Success),
        ("failure", Self::Failure),
        ("retryable_failure", Self::RetryableFailure),
        ("permanent_failure", Self::PermanentFailure),
        ("always", Self::Always),
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(word, _)| word)
    }
}

/// How a domain event travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// To whoever listens right now; lost if nobody does.
    Fast,
    /// Into the queue of its namespace, from which every consumer gets it.
    #[default]
    Durable,
    /// Both.
    Broadcast,
}

impl Delivery {
    /// All of them with their words.
    pub const ALL: [(&'static str, Self); 3] =
        [("fast", Self::Fast), ("durable", Self::Durable), ("broadcast", Self::Broadcast)];

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(word, _)| word)
    }

    /// Whether whoever listens right now is told.
    pub fn is_fast(self) -> bool {
        self != Self::Durable
    }

    /// Whether it is kept in a queue.
    pub fn is_durable(self) -> bool {
        self != Self::Fast
    }
}
