//! Add: an item, with its parent and what it waits for.

use super::depend::added;
use super::gate_of_run;
use super::stage::Stage;
use edgewise_core::Result;
use edgewise_core::work::{Add, DependencyKind, Details, Done, Fields, ItemAdded, ItemId, WorkEvent};

/// The priority of what nobody said one of.
const PRIORITY: u8 = 3;

pub(super) fn add(stage: &mut Stage<'_>, add: &Add) -> Result<Done> {
    // Looked up before anything is recorded: most of what is refused is refused here.
    let parent = add.parent.as_deref().map(|parent| stage.find(parent)).transpose()?;
    let needs = add.needs.iter().map(|need| stage.target_of(need, None)).collect::<Result<Vec<_>>>()?;
    for need in &needs {
        gate_of_run::check(stage, need, stage.waiting(need))?;
    }
    let answered = add.replies_to.as_deref().map(|message| stage.find(message)).transpose()?;
    if let Some(parent) = &parent {
        stage.may_enter(parent, false)?;
    }
    let id = add.id.clone().unwrap_or_else(|| stage.fresh_id());
    stage.as_expected(&id, Some(add.kind))?;
    let mut events = vec![item_added(stage, add, &id)];
    let link = |target, kind| added(&id, target, kind, stage.by);
    events.extend(parent.map(|parent| link(parent.into(), DependencyKind::ParentChild)));
    events.extend(needs.into_iter().map(|need| {
        let kind = stage.waiting(&need);
        link(need, kind)
    }));
    events.extend(answered.map(|message| link(message.into(), DependencyKind::RepliesTo)));
    let mut done = Done { id: Some(id.clone()), ..Done::default() };
    stage.record(&mut done, events)?;
    // It is new: that it waits already is no news of its own.
    done.blocked.retain(|blocked| *blocked != id);
    stage.call(add.name.as_deref(), &id)?;
    Ok(done)
}

fn item_added(stage: &Stage<'_>, add: &Add, id: &ItemId) -> WorkEvent {
    let fields = Fields {
        title: add.title.clone(),
        priority: add.priority.unwrap_or(PRIORITY),
        task_type: add.task_type,
        assignee: add.assignee.clone(),
        owner: add.owner.clone(),
        tags: add.tags.clone(),
        deadline: add.deadline,
        scheduled_for: add.scheduled_for,
        external_ref: add.external_ref.clone(),
        auto_complete: add.auto_complete,
        ephemeral: add.ephemeral,
        details: details(add),
    };
    let (id, by) = (id.clone(), add.created_by.as_ref().unwrap_or(stage.by).clone());
    let (kind, phase, created_at) = (add.kind, add.phase, add.created_at);
    WorkEvent::ItemAdded(Box::new(ItemAdded { id, kind, fields, phase, waiter: None, created_at, by }))
}

/// The long fields stand apart only where there are any.
fn details(add: &Add) -> Option<Box<Details>> {
    (add.details != Details::default()).then(|| Box::new(add.details.clone()))
}
