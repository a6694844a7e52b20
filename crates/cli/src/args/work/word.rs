//! Words that stand for what the core knows: kinds, types, statuses, phases, orders.

use clap::ValueEnum;
use edgewise_core::work::{ItemKind, Phase, Sort, Status, TaskType, When};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindWord {
    /// Something to be done
    Task,
    /// Holds tasks that belong together
    Plan,
    /// What was made from a template
    // The name that it has on the wire is understood as well.
    #[value(alias = concat!("work", "flow"))]
    Instance,
    /// Said once, never changed
    Message,
    /// A text that is kept
    Document,
    /// Where messages are
    Channel,
    /// A person, an agent, a system
    Entity,
}

/// What kind of task it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TypeWord {
    /// Something is wrong
    Bug,
    /// Something is wanted
    Feature,
    /// Something is to be done
    Task,
    /// Something must be done now and then
    Chore,
}

/// A status that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusWord {
    /// To be done
    Open,
    /// Somebody is at it
    #[value(alias = "in_progress")]
    InProgress,
    /// Put off
    Deferred,
    /// Not now
    Backlog,
    /// Done, to be looked at
    Review,
    /// Over
    Closed,
    /// Deleted
    #[value(alias = "tombstone")]
    Deleted,
}

/// The phase of a plan or an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PhaseWord {
    /// A plan that is being written: nothing in it is ready
    Draft,
    /// A plan that counts
    Active,
    /// An instance that has not begun
    Pending,
    /// An instance at work
    Running,
    /// Ended well
    Completed,
    /// Ended badly
    Failed,
    /// Ended without being done
    Cancelled,
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SortWord {
    /// What unblocks the most urgent work first
    #[default]
    Effective,
    /// By its own priority, then by age
    Priority,
    /// What most others wait for first
    Unblocks,
    /// What is due first
    Deadline,
    /// What was made first
    Oldest,
}

/// Which end of what is waited for counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WhenWord {
    /// Closed as done; a run that succeeded
    #[default]
    Success,
    /// Any end
    Any,
    /// Closed as failed; a run that failed
    Failure,
}

/// How urgent something is. Others have words for it; here it is a number.
pub(super) fn priority(text: &str) -> Result<u8, String> {
    let number = text.parse().ok().filter(|number| (1..=5).contains(number));
    number.ok_or_else(|| "a priority is a number from 1, the most urgent, to 5, the least".to_owned())
}

macro_rules! means {
    ($word:ident => $core:ident { $($from:ident => $to:ident),* $(,)? }) => {
        impl From<$word> for $core {
            fn from(word: $word) -> Self {
                match word { $($word::$from => Self::$to),* }
            }
        }
    };
}

means!(KindWord => ItemKind {
    Task => Task, Plan => Plan, Instance => Instance, Message => Message, Document => Document, Channel => Channel,
    Entity => Entity,
});
means!(TypeWord => TaskType { Bug => Bug, Feature => Feature, Task => Task, Chore => Chore });
means!(StatusWord => Status {
    Open => Open, InProgress => InProgress, Deferred => Deferred, Backlog => Backlog, Review => Review,
    Closed => Closed, Deleted => Tombstone,
});
means!(PhaseWord => Phase {
    Draft => Draft, Active => Active, Pending => Pending, Running => Running, Completed => Completed,
    Failed => Failed, Cancelled => Cancelled,
});
means!(SortWord => Sort {
    Effective => Effective, Priority => Priority, Unblocks => Unblocks, Deadline => Deadline, Oldest => Oldest,
});
means!(WhenWord => When { Success => Success, Any => Any, Failure => Failure });
