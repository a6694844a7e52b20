//! `DependencyImported`: there is a dependency as it was elsewhere. The same is refused as of one that is added here.

use super::dependency_added;
use crate::error::Result;
use crate::fold::Stamp;
use crate::work::settle::Turn;
use crate::work::{Dependency, DependencyAdded, Work};

pub(super) fn check(work: &Work, dependency: &Dependency) -> Result<()> {
    dependency_added::check(work, &added(dependency))
}

fn added(dependency: &Dependency) -> DependencyAdded {
    let Dependency { source, target, kind, when, metadata, created_by: by, .. } = dependency.clone();
    DependencyAdded { source, target, kind, when, metadata, by }
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, dependency: &Dependency) {
    // It was made then, and by whoever made it: the rest of the event happens now.
    let stamp = Stamp { at: dependency.created_at.min(turn.stamp.at), ..turn.stamp };
    let mut then = Turn { stamp, seq: turn.seq, by: turn.by.clone(), changed: &mut *turn.changed };
    dependency_added::apply(work, &mut then, &added(dependency));
}
