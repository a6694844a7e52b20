//! `FlowRegistered`: a flow is known by its name, or by another plan.

use crate::control::{Control, FlowRegistered, Key, Registered};
use crate::fold::{Ignored, Stamp};
use std::collections::BTreeSet;

pub(super) fn check(control: &Control, event: &FlowRegistered) -> Result<(), Ignored> {
    match control.flows.get(&event.flow) {
        Some(known) if known.plan == event.plan && known.hook == event.hook => Err(Ignored::Duplicate),
        _ => Ok(()),
    }
}

pub(super) fn apply(control: &mut Control, stamp: Stamp, event: &FlowRegistered, changed: &mut BTreeSet<Key>) {
    let version = control.flows.get(&event.flow).map_or(1, |known| known.version.saturating_add(1));
    let (by, hook) = (event.by.clone(), event.hook.clone());
    let known = Registered { plan: event.plan, version, by, at: stamp.at, hook };
    control.flows.insert(event.flow.clone(), known);
    changed.insert(Key::Flow(event.flow.clone()));
}
