//! Depend: one waits for the other, or has to do with it; with a gate in it, the gate is made too.

use super::gate_of_run;
use super::make_gate::made;
use super::stage::Stage;
use edgewise_core::name::Name;
use edgewise_core::work::{
    Depend, Dependency, DependencyAdded, DependencyKey, DependencyKind, Done, ItemId, Target, When, WorkEvent,
};
use edgewise_core::{Error, Result};

pub(super) fn depend(stage: &mut Stage<'_>, depend: &Depend) -> Result<Done> {
    let source = stage.item(&depend.id)?.id.clone();
    let mut events = Vec::new();
    let target = match (&depend.on, &depend.gate) {
        (Some(on), None) => stage.target_of(on, depend.kind)?,
        (None, Some(wait)) if depend.kind.is_none_or(|kind| kind == DependencyKind::Awaits) => {
            let gate = stage.fresh_id();
            events.push(made(&gate, wait, None, stage.by));
            gate.into()
        }
        _ => {
            let message = "a dependency says what is waited for, or, of type awaits, the gate that is made for it: \
                           exactly one of the two";
            return Err(Error::invalid("bad_dependency", message));
        }
    };
    let kind = match (depend.kind, events.is_empty()) {
        (Some(kind), _) => kind,
        (None, true) => stage.waiting(&target),
        (None, false) => DependencyKind::Awaits,
    };
    allowed(stage, &source, &target, (kind, depend.when))?;
    gate_of_run::check(stage, &target, kind)?;
    // Of `relates-to` there is one row, whoever said it.
    let DependencyKey { source, target, .. } = stage.work().key(&source, &target, kind);
    let (id, on) = (Some(source.clone()), Some(target.clone()));
    let mut done = Done { id, target: on, kind: Some(kind), ..Done::default() };
    let same = |known: &Dependency| known.target == target && known.kind == kind && known.when == depend.when;
    if depend.metadata.is_none() && stage.work().dependencies_of(source.as_str()).into_iter().any(same) {
        done.already = true;
        return Ok(done);
    }
    events.push(WorkEvent::DependencyAdded(Box::new(DependencyAdded {
        source,
        target,
        kind,
        when: depend.when,
        metadata: depend.metadata.clone(),
        by: stage.by.clone(),
    })));
    stage.record(&mut done, events)?;
    Ok(done)
}

/// What is refused where it is asked, and kept where it stands in a ledger already.
fn allowed(stage: &Stage<'_>, source: &ItemId, target: &Target, (kind, when): (DependencyKind, When)) -> Result<()> {
    if when != When::default() && !kind.is_waiting() {
        let message = format!("`when` is said of `blocks` and `awaits`, not of `{}`: leave it out", kind.name());
        return Err(Error::invalid("bad_when", message));
    }
    match target.id() {
        Some(parent) if kind == DependencyKind::ParentChild => {
            stage.may_enter(&parent, stage.item(source.as_str())?.status.is_over())
        }
        _ => Ok(()),
    }
}

/// A plain dependency, made.
pub(super) fn added(source: &ItemId, target: Target, kind: DependencyKind, by: &Name) -> WorkEvent {
    let (when, metadata) = (When::default(), None);
    WorkEvent::DependencyAdded(Box::new(DependencyAdded {
        source: source.clone(),
        target,
        kind,
        when,
        metadata,
        by: by.clone(),
    }))
}
