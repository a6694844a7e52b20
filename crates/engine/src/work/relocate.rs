//! Move: an item has another parent, or none.

use super::stage::Stage;
use edgewise_core::Result;
use edgewise_core::work::{Done, ItemMoved, WorkEvent};

pub(super) fn relocate(stage: &mut Stage<'_>, id: &str, parent: Option<&str>) -> Result<Done> {
    let id = stage.item(id)?.id.clone();
    let parent = parent.map(|parent| stage.item(parent).map(|item| item.id.clone())).transpose()?;
    let already = stage.work().parent(id.as_str()) == parent.as_ref();
    let target = parent.clone().map(Into::into);
    let mut done = Done { id: Some(id.clone()), target, already, ..Done::default() };
    if !already {
        if let Some(parent) = &parent {
            let over = stage.item(id.as_str())?.status.is_over();
            stage.may_enter(parent, over)?;
        }
        stage.record(&mut done, [WorkEvent::ItemMoved(ItemMoved { id, parent, by: stage.by.clone() })])?;
    }
    Ok(done)
}
