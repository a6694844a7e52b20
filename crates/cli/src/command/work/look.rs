//! How an item looks: its sign, its colour, and where it stands in a few words.

use crate::clock::Clock;
use crate::style::{Ink, Style, ink};
use edgewise_core::state::Phase as Seen;
use edgewise_core::work::{Close, Item, ItemKind, Phase, Standing, Status, TaskType};
pub(crate) use edgewise_engine::facts::work::{blocker, seen};

/// The sign of an item, in its colour.
pub(crate) fn sign(item: &Item, standing: &Standing, style: Style) -> String {
    let seen = seen(item, standing);
    style.paint(ink_of(seen), style.glyph(seen))
}

/// What is ready is what people look for.
pub(crate) fn ink_of(seen: Seen) -> Ink {
    if seen == Seen::Ready { Ink::Bold } else { ink(seen) }
}

/// Where an item stands: `ready`, `ann has it until 12:00`, `done`.
pub(crate) fn standing(item: &Item, standing: &Standing, clock: &Clock) -> String {
    match standing {
        Standing::Ready if item.status == Status::InProgress => "in progress".to_owned(),
        // Nobody begins a plan or an instance: its tasks are ready, or not.
        Standing::Ready if item.kind != ItemKind::Task => item.phase.map_or("open", phase_word).to_owned(),
        Standing::Ready => "ready".to_owned(),
        Standing::Blocked => "blocked".to_owned(),
        Standing::Claimed(by, until) => format!("{by} has it until {}", clock.short(*until)),
        Standing::Scheduled(at) => format!("not before {}", clock.short(*at)),
        Standing::Draft(plan) => format!("in the draft {plan}"),
        Standing::Ephemeral(instance) => format!("in the ephemeral {instance}"),
        Standing::Aside => status_word(item.status).replace('_', " "),
        Standing::Over => match item.closed.as_ref() {
            Some(closed) => close_word(closed.how).to_owned(),
            None => "deleted".to_owned(),
        },
        Standing::NotWork => kind_word(item.kind).to_owned(),
    }
}

/// The name of a status on the wire.
pub(crate) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Open => "open",
        Status::InProgress => "in_progress",
        Status::Deferred => "deferred",
        Status::Backlog => "backlog",
        Status::Review => "review",
        Status::Closed => "closed",
        Status::Tombstone => "tombstone",
    }
}

/// What people call a kind.
pub(crate) fn kind_word(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Task => "task",
        ItemKind::Plan => "plan",
        ItemKind::Instance => "instance",
        ItemKind::Message => "message",
        ItemKind::Document => "document",
        ItemKind::Channel => "channel",
        ItemKind::Entity => "entity",
    }
}

/// What people call a type of task.
pub(crate) fn type_word(task_type: TaskType) -> &'static str {
    match task_type {
        TaskType::Bug => "bug",
        TaskType::Feature => "feature",
        TaskType::Task => "task",
        TaskType::Chore => "chore",
    }
}

/// What people call a phase.
pub(crate) fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Draft => "draft",
        Phase::Active => "active",
        Phase::Pending => "pending",
        Phase::Running => "running",
        Phase::Completed => "completed",
        Phase::Failed => "failed",
        Phase::Cancelled => "cancelled",
    }
}

/// What people call an end.
pub(crate) fn close_word(how: Close) -> &'static str {
    match how {
        Close::Done => "done",
        Close::Failed => "failed",
        Close::Cancelled => "cancelled",
    }
}

/// `3`, or `3>1` where something more urgent waits for it.
pub(crate) fn priority(own: u8, effective: u8) -> String {
    if effective < own { format!("{own}>{effective}") } else { own.to_string() }
}
