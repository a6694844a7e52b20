//! Update: something of an item is different from here on.

use super::stage::Stage;
use edgewise_core::Result;
use edgewise_core::work::{Change, Done, ItemChanged, WorkEvent};

pub(super) fn update(stage: &mut Stage<'_>, id: &str, change: &Change) -> Result<Done> {
    let id = stage.item(id)?.id.clone();
    let mut done = Done { id: Some(id.clone()), ..Done::default() };
    if *change == Change::default() {
        done.already = true;
        return Ok(done);
    }
    let event = ItemChanged { id, change: change.clone(), by: stage.by.clone() };
    stage.record(&mut done, [WorkEvent::ItemChanged(Box::new(event))])?;
    Ok(done)
}
