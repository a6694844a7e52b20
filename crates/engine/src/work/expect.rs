//! Expect: what follows in the same commit is only done to what somebody saw. Decided where the rest is decided, so that
//! nobody can come in between.

use super::stage::Stage;
use super::view::{GateView, ItemView};
use edgewise_core::work::Done;
use edgewise_core::{Error, Result};

pub(super) fn expect(stage: &mut Stage<'_>, id: &str, versions: &[String]) -> Result<Done> {
    let id = stage.find(id)?;
    let (work, now) = (stage.work(), stage.desk.now);
    let version = match (work.item(id.as_str()), work.gate(id.as_str())) {
        (Some(item), _) => ItemView::whole(work, now, item).version(),
        (None, Some(gate)) => GateView::of(work, gate).version(),
        (None, None) => return Err(Error::not_found("item_not_found", format!("there is no item {id}"))),
    };
    if versions.contains(&version) {
        return Ok(Done { id: Some(id), already: true, ..Done::default() });
    }
    let expected = versions.join(" or ");
    let message = format!("{id} is at version {version}, not at {expected}: look at it again before you change it");
    Err(Error::conflict("version_mismatch", message))
}
