//! What is to be brought in, before it is asked for: items with ids that are good here, and what binds them.
//!
//! Everything becomes one commit: first all items, then what waits for what, then where each of them is. So a cycle,
//! a duplicate or anything else that is refused leaves nothing behind.

use super::Form;
use crate::work::Import;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::{Add, Change, Close, CloseOp, Depend, GateWait, ItemId, ItemKind, Op, Status};
use edgewise_core::{Error, Result};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What is to be brought in.
#[derive(Debug, Default)]
pub struct Draft {
    adds: Vec<Add>,
    gates: Vec<Op>,
    pub(super) depends: Vec<Depend>,
    later: Vec<Op>,
    closes: Vec<Op>,
    /// Ids there, and what they are here.
    ids: BTreeMap<String, ItemId>,
    taken: BTreeSet<ItemId>,
    /// A whole graph, as it was elsewhere.
    pub(super) whole: Import,
    /// What could not be carried over, in words.
    pub notes: BTreeSet<String>,
}

/// What is asked of the engine.
#[derive(Debug)]
pub enum Asked {
    /// Operations, in the name of whoever asks.
    Ops(Vec<Op>),
    /// A graph as it was elsewhere, which speaks for others.
    Whole(Import),
}

impl Draft {
    /// The id that something from elsewhere has here: its own, where it is good; `prefix` begins those that have none.
    pub(super) fn name(&mut self, theirs: &str, prefix: &str) -> Result<ItemId> {
        if self.ids.contains_key(theirs) {
            let message = format!("{theirs:?} is there twice in what was read");
            return Err(Error::conflict("duplicate_id", message));
        }
        let id = ItemId::parse(theirs).or_else(|_| ItemId::parse(&mapped(theirs, prefix)))?;
        if !self.taken.insert(id.clone()) {
            let message = format!("{theirs:?} would be called {id} here, as another one is");
            return Err(Error::conflict("duplicate_id", message));
        }
        self.ids.insert(theirs.to_owned(), id.clone());
        Ok(id)
    }

    /// What something from elsewhere is called here; what was not read keeps its name, as something outside.
    pub(super) fn called(&self, theirs: &str) -> String {
        self.ids.get(theirs).map_or_else(|| theirs.to_owned(), ToString::to_string)
    }

    /// An item with its own id.
    pub(super) fn add(&mut self, add: Add) {
        self.adds.push(add);
    }

    /// A dependency between what is called so here.
    pub(super) fn depend(&mut self, depend: Depend) {
        self.depends.push(depend);
    }

    /// What each item is, by what it is called here.
    pub(super) fn kinds(&self) -> BTreeMap<String, ItemKind> {
        self.adds.iter().filter_map(|add| Some((add.id.as_ref()?.to_string(), add.kind))).collect()
    }

    /// A gate that a later operation calls `$name`, with who has said yes to it.
    pub(super) fn gate(&mut self, wait: GateWait, approvals: Vec<Name>) -> String {
        let name = format!("gate{}", self.gates.len() + 1);
        self.gates.push(Op::MakeGate { wait, title: None, id: None, name: Some(name.clone()), approvals });
        format!("${name}")
    }

    /// Something that is done once all is there.
    pub(super) fn later(&mut self, op: Op) {
        self.later.push(op);
    }

    /// Where the item that was added last is, if it is not simply open.
    pub(super) fn status(&mut self, id: &ItemId, status: Status, how: Close, why: Option<String>) {
        if let Some(message) = self.adds.last_mut().filter(|add| add.kind == ItemKind::Message) {
            if status != Status::Open {
                let said = [("status", Some(status.name().to_owned())), ("closeReason", why)];
                let said = said.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.into())));
                message.details.metadata.extend(said);
                self.notes.insert("a message is said once and has no status: theirs is in its metadata".to_owned());
            }
            return;
        }
        let id = id.to_string();
        match status {
            Status::Open | Status::Tombstone => {}
            Status::Closed => self.closes.push(Op::Close(CloseOp { id, how, force: true, token: None, why })),
            other => {
                let change = Box::new(Change { status: Some(other), ..Change::default() });
                self.later.push(Op::Update { id, change });
            }
        }
    }

    /// How many items, dependencies and gates.
    pub fn counts(&self) -> (usize, usize, usize) {
        let whole = &self.whole;
        (
            self.adds.len() + whole.items.len(),
            self.depends.len() + whole.dependencies.len(),
            self.gates.len() + whole.gates.len(),
        )
    }

    /// The titles, with the ids that they get.
    pub fn items(&self) -> impl Iterator<Item = (&ItemId, &str)> {
        let adds = self.adds.iter().filter_map(|add| Some((add.id.as_ref()?, add.title.as_str())));
        adds.chain(self.whole.items.iter().map(|item| (&item.id, item.fields.title.as_str())))
    }

    /// What is asked of the engine to bring it in.
    pub fn asked(self, form: Form) -> Asked {
        if form == Form::Edgewise { Asked::Whole(self.whole) } else { Asked::Ops(self.ops()) }
    }

    /// All of it, in an order in which nothing is in the way of what follows.
    pub(super) fn ops(self) -> Vec<Op> {
        let adds = self.adds.into_iter().map(|add| Op::Add(Box::new(add)));
        let depends = self.depends.into_iter().map(|depend| Op::Depend(Box::new(depend)));
        adds.chain(self.gates).chain(depends).chain(self.later).chain(self.closes).collect()
    }
}

/// The nearest id that is good here: `Web App#12` becomes `web-app-12`.
fn mapped(theirs: &str, prefix: &str) -> String {
    let mut id = String::new();
    for c in theirs.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() || c == '.' || c == '_' => id.push(c),
            _ if id.ends_with('-') || id.is_empty() => {}
            _ => id.push('-'),
        }
    }
    let id = id.trim_end_matches(['-', '.', '_']);
    if ItemId::parse(id).is_ok() { id.to_owned() } else { format!("{prefix}-{id}") }
}

/// The nearest name: `Ann Lee <ann@x.org>` becomes `Ann-Lee-ann-x.org`.
pub(super) fn name(text: &str) -> Option<Name> {
    let text = text.trim();
    if let Ok(name) = Name::parse(text) {
        return Some(name);
    }
    let mut plain = String::new();
    for c in text.chars().skip_while(|c| !c.is_ascii_alphabetic()) {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => plain.push(c),
            '.' | '/' if plain.ends_with(|c: char| c.is_ascii_alphanumeric()) => plain.push(c),
            _ if plain.ends_with(['-', '.', '/']) => {}
            _ => plain.push('-'),
        }
    }
    Name::parse(plain.trim_end_matches(['-', '.', '/'])).ok()
}

/// A text of an object; nothing if it is empty.
pub(super) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// An instant of an object: RFC 3339.
pub(super) fn time(object: &Map<String, Value>, key: &str) -> Result<Option<Time>> {
    text(object, key).map(Time::parse).transpose()
}

/// Names of an object: texts, or objects with a name under `inner`.
pub(super) fn names(object: &Map<String, Value>, key: &str, inner: &str) -> BTreeSet<Name> {
    let all = object.get(key).and_then(Value::as_array).into_iter().flatten();
    let texts = all.filter_map(|one| one.as_str().or_else(|| one.get(inner).and_then(Value::as_str)));
    texts.filter_map(name).collect()
}

/// A refusal that names the line.
pub(super) fn bad_line(line: usize, what: impl std::fmt::Display) -> Error {
    Error::invalid("bad_import", format!("line {line}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_from_elsewhere_stay_or_become_the_nearest_good_one() {
        for (theirs, ours) in
            [("bd-a3f8.1", "bd-a3f8.1"), ("BD-7", "bd-7"), ("Web App#12", "web-app-12"), ("42", "im-42"), ("x", "im-x")]
        {
            assert_eq!(Draft::default().name(theirs, "im").unwrap().as_str(), ours);
        }
        let mut draft = Draft::default();
        draft.name("bd-1", "bd").unwrap();
        for again in ["bd-1", "BD-1"] {
            assert_eq!(draft.name(again, "bd").unwrap_err().code, "duplicate_id", "{again}");
        }
        assert!(draft.name("\u{1b}", "bd").is_err());
    }

    #[test]
    fn people_and_labels_become_the_nearest_name() {
        for (theirs, ours) in [
            ("ann", Some("ann")),
            ("Ann Lee <ann@x.org>", Some("Ann-Lee-ann-x.org")),
            ("good first issue", Some("good-first-issue")),
            ("1st", Some("st")),
            ("!!", None),
        ] {
            assert_eq!(name(theirs).as_ref().map(Name::as_str), ours, "{theirs}");
        }
    }
}
