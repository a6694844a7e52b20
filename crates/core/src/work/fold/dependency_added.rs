//! `DependencyAdded`: one waits for the other, or has to do with it. What would close a cycle is refused.

use super::said;
use crate::error::{Error, Result};
use crate::name::Name;
use crate::work::settle::Turn;
use crate::work::table::{End, Known};
use crate::work::{Dependency, DependencyAdded, DependencyKind, Group, ItemId, ItemKind, Status, Target, When, Work};
use serde_json::Value;

pub(super) fn check(work: &Work, event: &DependencyAdded) -> Result<()> {
    let DependencyAdded { source, target, kind, .. } = event;
    if source.as_str() == target.as_str() {
        let message = format!("Cannot create self-referential dependency: {source} would depend on itself");
        return Err(Error::conflict("cycle_detected", message));
    }
    let n = work.alive(source)?;
    if let Some(Known::Item(target)) = work.ids.get(target.as_str()) {
        work.alive(work.id(*target))?;
    }
    metadata(event)?;
    if work.find(&work.key(source, target, *kind)).is_some() {
        let message = format!("{source} has this dependency on {target} ({}) already", kind.name());
        return Err(Error::conflict("dependency_exists", message));
    }
    match kind.group() {
        Group::Blocking => blocking(work, n, event),
        Group::Attribution => attribution(work, event),
        Group::Threading => threading(work, n, event),
        Group::Associative => Ok(()),
    }
}

fn wrong_target(message: String) -> Result<()> {
    Err(Error::invalid("wrong_target", message))
}

fn blocking(work: &Work, n: u32, event: &DependencyAdded) -> Result<()> {
    let DependencyAdded { source, target, kind, .. } = event;
    if *kind == DependencyKind::ParentChild {
        if event.when != When::default() {
            return Err(Error::invalid("bad_when", "`when` is said of `blocks` and `awaits`, not of `parent-child`"));
        }
        let parent = parent(work, n, &target.id().ok_or_else(|| no_parent(target))?)?;
        if let Some(other) = work.parent_of(n) {
            let message = format!(
                "{source} is in {} already, and an item has one parent: move it with `edgewise update {source} --parent {target}`",
                work.id(other)
            );
            return Err(Error::conflict("second_parent", message));
        }
        return work.check_cycle(&work.relink(n, Some(parent)).difference);
    }
    if !work.slot(n).item.kind.is_work() {
        return wrong_target(format!("{source} is nothing to be done, so it cannot wait for {target}"));
    }
    let end = work.end(target);
    match (kind, end) {
        (DependencyKind::Awaits, End::Item(_)) => {
            return wrong_target(format!(
                "{target} is an item: wait for it with `blocks`; `awaits` is for gates and runs"
            ));
        }
        (DependencyKind::Blocks, End::Gate(_)) => {
            return wrong_target(format!("{target} is a gate: wait for it with `awaits`; `blocks` is for items"));
        }
        (_, End::Item(other)) if !work.slot(other).item.kind.is_work() => {
            return wrong_target(format!("{target} is nothing that is ever done, so {source} would wait for ever"));
        }
        _ => {}
    }
    work.check_cycle(&work.wait_difference(n, end))
}

fn no_parent(target: &Target) -> Error {
    Error::not_found("item_not_found", format!("{target} is no item here: a parent must be there before its children"))
}

/// The number of an item that another one may be put into.
pub(super) fn parent(work: &Work, item: u32, parent: &ItemId) -> Result<u32> {
    let n = work.alive(parent)?;
    if matches!(work.slot(n).item.kind, ItemKind::Message | ItemKind::Entity) {
        return Err(Error::invalid(
            "wrong_target",
            format!("{parent} is a message or an entity: nothing can be in it"),
        ));
    }
    if n == item {
        let message = format!("Cannot create self-referential dependency: {parent} would be in itself");
        return Err(Error::conflict("cycle_detected", message));
    }
    if let Some(depth) = work.above(n).position(|above| above == item) {
        let way: Vec<String> =
            [n].into_iter().chain(work.above(n).take(depth + 1)).map(|n| work.id(n).to_string()).collect();
        let message =
            format!("{} would be in itself: {}; move the inner one out first", work.id(item), way.join(" is in "));
        return Err(Error::conflict("cycle_detected", message));
    }
    Ok(n)
}

fn attribution(work: &Work, event: &DependencyAdded) -> Result<()> {
    let DependencyAdded { target, kind, .. } = event;
    match work.ids.get(target.as_str()) {
        Some(Known::Item(n)) if work.slot(*n).item.kind == ItemKind::Entity => Ok(()),
        Some(_) => wrong_target(format!("{} points to a person or an entity, and {target} is neither", kind.name())),
        None => match Name::parse(target.as_str()) {
            Ok(_) => Ok(()),
            Err(error) => wrong_target(format!("{} points to a person or an entity: {}", kind.name(), error.message)),
        },
    }
}

fn threading(work: &Work, n: u32, event: &DependencyAdded) -> Result<()> {
    let DependencyAdded { source, target, .. } = event;
    let message = |n: u32| work.slot(n).item.kind == ItemKind::Message;
    let replies = |edge: &u32| work.edge(*edge).dependency.kind == DependencyKind::RepliesTo;
    match work.end(target) {
        End::Item(to) if message(n) && message(to) => {
            if work.slot(n).out.iter().any(replies) {
                return Err(Error::conflict("second_reply", format!("{source} answers another message already")));
            }
            // Without this a thread could go round for ever.
            if work.thread(target.as_str()).iter().any(|item| item.id == *source) {
                let message = format!("{target} is in the thread of {source}: a message cannot answer what came of it");
                return Err(Error::conflict("cycle_detected", message));
            }
            Ok(())
        }
        _ => wrong_target(format!("replies-to links a message to a message: {source} and {target} are not both one")),
    }
}

fn metadata(event: &DependencyAdded) -> Result<()> {
    let Some(metadata) = &event.metadata else {
        let missing = event.kind == DependencyKind::Validates;
        return if missing { validates(&Value::Null) } else { Ok(()) };
    };
    said::metadata(metadata)?;
    match event.kind {
        DependencyKind::Validates => validates(metadata),
        DependencyKind::Awaits if metadata.get("gateType").is_some() => {
            let message =
                "what opens a gate is said of the gate, not of who waits for it: make the gate, then wait for its id";
            Err(Error::invalid("bad_gate", message))
        }
        _ if metadata.is_object() => Ok(()),
        _ => Err(Error::invalid("bad_metadata", "the metadata of a dependency is a JSON object")),
    }
}

/// `testType`, `result` and, if they like, `details`.
fn validates(metadata: &Value) -> Result<()> {
    let text = |key: &str| metadata.get(key).and_then(Value::as_str);
    let known = ["testType", "result", "details"];
    let strange = metadata.as_object().and_then(|all| all.keys().find(|key| !known.contains(&key.as_str())));
    let what = if text("testType").is_none_or(str::is_empty) {
        "`testType` is missing, such as \"unit\", \"integration\" or \"manual\"".to_owned()
    } else if !matches!(text("result"), Some("pass" | "fail")) {
        "`result` is \"pass\" or \"fail\"".to_owned()
    } else if metadata.get("details").is_some_and(|details| !details.is_string()) {
        "`details` is a text".to_owned()
    } else if let Some(key) = strange {
        format!("there is no {key:?}: it has testType, result and details")
    } else {
        return Ok(());
    };
    Err(Error::invalid("bad_metadata", format!("the metadata of `validates`: {what}")))
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &DependencyAdded) {
    let key = work.key(&event.source, &event.target, event.kind);
    let Some(n) = work.number(key.source.as_str()) else { return };
    if event.kind == DependencyKind::ParentChild {
        let parent = work.number(event.target.as_str());
        return work.set_parent_with(n, parent, event.metadata.clone(), turn);
    }
    let shared = work.ids.get_key_value(key.target.as_str()).map(|(id, _)| id.clone().into());
    work.link(
        n,
        Dependency {
            source: work.id(n).clone(),
            target: shared.unwrap_or(key.target),
            kind: event.kind,
            when: event.when,
            metadata: event.metadata.clone(),
            created_by: event.by.clone(),
            created_at: turn.stamp.at,
        },
        turn,
    );
    debug_assert!(work.slot(n).item.status != Status::Tombstone);
}
