//! What is bound elsewhere in a way that is refused here is bound the nearest way that is not, and that is said.

use super::draft::{Draft, name};
use edgewise_core::work::{Depend, DependencyKind, Group, ItemKind};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What was read so far of how items are bound.
#[derive(Default)]
struct Fitting {
    kinds: BTreeMap<String, ItemKind>,
    seen: BTreeSet<(String, String, DependencyKind)>,
    /// Who has a parent, or answers a message: there is one of each.
    single: BTreeSet<(String, DependencyKind)>,
    notes: BTreeMap<String, usize>,
}

impl Draft {
    /// Makes all dependencies such as are taken here; what they were is kept under `key`.
    pub(super) fn fit(&mut self, key: &str) {
        let kinds = self.kinds();
        let mut fitting = Fitting { kinds, ..Fitting::default() };
        let depends = std::mem::take(&mut self.depends);
        self.depends = depends.into_iter().filter_map(|depend| fitting.fitted(depend, key)).collect();
        for (note, times) in fitting.notes {
            self.notes.insert(if times == 1 { note } else { format!("{note} ({times} times)") });
        }
    }
}

impl Fitting {
    fn fitted(&mut self, mut depend: Depend, key: &str) -> Option<Depend> {
        let (Some(kind), Some(on)) = (depend.kind, depend.on.clone()) else { return Some(depend) };
        if kind.group() == Group::Attribution && !self.kinds.contains_key(&on) {
            depend.on = Some(self.named(kind, &on)?);
        } else if let Some((to, why)) = self.misfit(kind, &depend, &on) {
            self.note(format!("`{}` {why}: kept as `{}`", kind.name(), to.name()));
            keep(&mut depend.metadata, key, kind);
            (depend.kind, depend.when) = (Some(to), Default::default());
        }
        let (kind, on) = (depend.kind?, depend.on.clone()?);
        let ends = match kind == DependencyKind::RelatesTo && on < depend.id {
            true => (on, depend.id.clone(), kind),
            false => (depend.id.clone(), on, kind),
        };
        if !self.seen.insert(ends) {
            if kind != DependencyKind::RelatesTo {
                self.note(format!("`{}` was said twice of the same two: the first one counts", kind.name()));
            }
            return None;
        }
        if matches!(kind, DependencyKind::ParentChild | DependencyKind::RepliesTo) {
            self.single.insert((depend.id.clone(), kind));
        }
        Some(depend)
    }

    fn note(&mut self, text: String) {
        *self.notes.entry(text).or_default() += 1;
    }

    /// The nearest name of a person.
    fn named(&mut self, kind: DependencyKind, on: &str) -> Option<String> {
        let nearest = name(on).map(|name| name.to_string());
        match nearest.as_deref() {
            Some(same) if same == on => {}
            Some(other) => self.note(format!("`{}` names {on:?}, who is {other} here", kind.name())),
            None => self.note(format!("`{}` names {on:?}, which is no name: left out", kind.name())),
        }
        nearest
    }

    /// What a dependency becomes that would be refused, and why.
    fn misfit(&self, kind: DependencyKind, depend: &Depend, on: &str) -> Option<(DependencyKind, &'static str)> {
        let (source, target) = (self.kinds.get(&depend.id), self.kinds.get(on));
        let idle = |end: Option<&ItemKind>| end.is_some_and(|kind| !kind.is_work());
        let second = || self.single.contains(&(depend.id.clone(), kind));
        let why = match kind {
            DependencyKind::Blocks | DependencyKind::Awaits if idle(source) || idle(target) => {
                "binds what is nothing to be done"
            }
            DependencyKind::Awaits if target.is_some() => {
                return Some((DependencyKind::Blocks, "points to an item"));
            }
            DependencyKind::ParentChild if matches!(target, Some(ItemKind::Message | ItemKind::Entity)) => {
                "puts something into a message or an entity"
            }
            DependencyKind::ParentChild if second() => "is the second one of the same item",
            DependencyKind::RepliesTo if [source, target] != [Some(&ItemKind::Message); 2] => {
                "binds what are not two messages"
            }
            DependencyKind::RepliesTo if second() => "is the second one of the same message",
            DependencyKind::Validates if !is_result(depend.metadata.as_ref()) => "does not say how it ended",
            _ if kind.group() == Group::Attribution && target != Some(&ItemKind::Entity) => "names no person",
            _ => return None,
        };
        Some((DependencyKind::References, why))
    }
}

/// What `validates` must say, and nothing else.
fn is_result(metadata: Option<&Value>) -> bool {
    let Some(Value::Object(said)) = metadata else { return false };
    let text = |key: &str| said.get(key).and_then(Value::as_str);
    text("testType").is_some_and(|text| !text.is_empty())
        && matches!(text("result"), Some("pass" | "fail"))
        && said
            .iter()
            .all(|(key, value)| ["testType", "result", "details"].contains(&key.as_str()) && value.is_string())
}

fn keep(metadata: &mut Option<Value>, key: &str, kind: DependencyKind) {
    if !metadata.as_ref().is_some_and(Value::is_object) {
        *metadata = Some(Value::Object(Map::new()));
    }
    if let Some(Value::Object(said)) = metadata {
        said.entry(key).or_insert_with(|| kind.name().into());
    }
}
