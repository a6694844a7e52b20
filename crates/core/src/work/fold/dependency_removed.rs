//! `DependencyRemoved`: one does not wait for the other any more. Leaving a parent is checked for cycles: what was
//! within its subtree is outside from then on.

use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{DependencyKind, DependencyRemoved, Work};

pub(super) fn check(work: &Work, event: &DependencyRemoved) -> Result<u32> {
    let source = work.alive(&event.source)?;
    let edge = work.find(&work.key(&event.source, &event.target, event.kind)).ok_or_else(|| {
        let DependencyRemoved { source, target, kind, .. } = event;
        let message = format!(
            "{source} has no dependency on {target} ({}): `edgewise dep list {source}` shows what it has",
            kind.name()
        );
        Error::not_found("dependency_not_found", message)
    })?;
    if event.kind == DependencyKind::ParentChild {
        work.check_cycle(&work.relink(source, None).difference)?;
    }
    Ok(edge)
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &DependencyRemoved) {
    let Some(edge) = work.find(&work.key(&event.source, &event.target, event.kind)) else { return };
    if event.kind == DependencyKind::ParentChild {
        let source = work.edge(edge).source;
        work.set_parent(source, None, turn);
    } else {
        work.unlink(edge, turn);
    }
}
