//! Undepend: dependencies are taken away, one or all that fit.

use super::stage::Stage;
use edgewise_core::work::{Dependency, DependencyKind, DependencyRemoved, Done, ItemId, Target, WorkEvent};
use edgewise_core::{Error, Result};

pub(super) fn undepend(
    stage: &mut Stage<'_>,
    id: &str,
    on: Option<&str>,
    kind: Option<DependencyKind>,
) -> Result<Done> {
    let source = stage.item(id)?.id.clone();
    let target = on.map(|on| meant(stage, &source, on, kind)).transpose()?;
    let fits = |known: &&Dependency| {
        kind.is_none_or(|kind| known.kind == kind) && target.as_ref().is_none_or(|target| known.target == *target)
    };
    let work = stage.work();
    let mut found: Vec<Dependency> = work.dependencies_of(source.as_str()).into_iter().filter(fits).cloned().collect();
    // It is one row, which belongs to the smaller id, but it is seen from both ends.
    let related = |known: &&Dependency| {
        known.kind == DependencyKind::RelatesTo
            && kind.is_none_or(|kind| known.kind == kind)
            && target.as_ref().is_none_or(|target| known.source.as_str() == target.as_str())
    };
    found.extend(work.dependents_of(source.as_str()).into_iter().filter(related).cloned());
    if let (Some(target), true) = (&target, found.is_empty()) {
        let of = kind.map(|kind| format!(" ({})", kind.name())).unwrap_or_default();
        let message = format!(
            "{source} has no dependency on {target}{of} that could be taken away: `edgewise dep list {source}` shows those it has"
        );
        return Err(Error::not_found("dependency_not_found", message));
    }
    let (removed, already) = (found.len() as u32, found.is_empty());
    let by = stage.by.clone();
    let events = found.into_iter().map(|Dependency { source, target, kind, .. }| {
        WorkEvent::DependencyRemoved(DependencyRemoved { source, target, kind, by: by.clone() })
    });
    let events: Vec<WorkEvent> = events.collect();
    let mut done = Done { id: Some(source), target, removed, already, ..Done::default() };
    stage.record(&mut done, events)?;
    Ok(done)
}

/// What a dependency points to by just this text is meant before anything that begins with it.
fn meant(stage: &mut Stage<'_>, source: &ItemId, on: &str, kind: Option<DependencyKind>) -> Result<Target> {
    let just = |known: &Dependency| known.target.as_str() == on && kind.is_none_or(|kind| known.kind == kind);
    let known = stage.work().dependencies_of(source.as_str()).into_iter().find(|known| just(known));
    match known.map(|known| known.target.clone()) {
        Some(target) => Ok(target),
        None => stage.target_of(on, kind),
    }
}
