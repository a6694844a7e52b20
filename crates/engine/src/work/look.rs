//! Looks: what can be asked to see of the work graph. All of it is read off the same state, at one instant.

use super::view::{GateView, ItemView};
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::{Direction, Filter, Item, Work};
use edgewise_core::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What is asked to see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "look", rename_all = "snake_case", deny_unknown_fields)]
pub enum Look {
    /// What somebody can begin with: `{items: [ItemView]}`.
    Ready {
        /// Which ones.
        #[serde(default)]
        filter: Box<Filter>,
        /// Who asks: what is theirs already is ready for them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        who: Option<Name>,
    },
    /// What something is in the way of, with all of it: `{items: [ItemView]}`.
    Blocked {
        /// Which ones.
        #[serde(default)]
        filter: Box<Filter>,
    },
    /// Items that fit: `{items: [ItemView]}`.
    List {
        /// Which ones.
        #[serde(default)]
        filter: Box<Filter>,
    },
    /// One item with its dependencies (`{item: ItemView}`), or one gate (`{gate: GateView}`).
    Show {
        /// An id, or the beginning of one.
        id: String,
    },
    /// Why an item is not ready: `{reason: Reason}`.
    Why {
        /// An id, or the beginning of one.
        id: String,
    },
    /// What an item waits for, or what waits for it: `{tree: …}`.
    Tree {
        /// An id, or the beginning of one.
        id: String,
        /// Which way.
        direction: Direction,
        /// How deep.
        depth: usize,
    },
    /// Cycles among blocking dependencies; there are none unless something is broken: `{cycles: […]}`.
    Cycles,
    /// All gates: `{gates: [GateView]}`.
    Gates {
        /// Also those that are open or rejected.
        #[serde(default)]
        ended: bool,
    },
    /// A message and what it was answered: `{items: [ItemView]}`.
    Thread {
        /// An id, or the beginning of one.
        id: String,
    },
    /// What happened to an item or a gate: `{id, history: [Note]}`.
    History {
        /// An id, or the beginning of one.
        id: String,
    },
    /// How many there are of what: `{stats: …}`.
    Stats,
    /// Everything, in a fixed order: `{items: [Item], dependencies: [Dependency], gates: [WorkGate]}`.
    Export,
    /// Which item or gate a text means: `{id}`.
    Resolve {
        /// An id, or the beginning of one.
        id: String,
    },
}

/// What somebody asks to see, as JSON. History needs more than the graph: see [`crate::committer::Committer::look`].
pub fn look(work: &Work, now: Time, asked: &Look) -> Result<Value> {
    let views = |items: Vec<&Item>| -> Result<Value> {
        let items: Vec<ItemView> = items.into_iter().map(|item| ItemView::of(work, now, item)).collect();
        one("items", &items)
    };
    match asked {
        Look::Ready { filter, who } => views(work.ready(now, filter, who.as_ref())?),
        Look::Blocked { filter } => views(work.blocked(now, filter)?),
        Look::List { filter } => views(work.list(filter)?),
        Look::Show { id } => show(work, now, id),
        Look::Why { id } => one("reason", &work.why(work.resolve(id)?.as_str(), now)),
        Look::Tree { id, direction, depth } => one("tree", &work.tree(work.resolve(id)?.as_str(), *direction, *depth)),
        Look::Cycles => one("cycles", &work.cycles()),
        Look::Gates { ended } => {
            let gates = work.gates().filter(|gate| *ended || gate.ended.is_none());
            one("gates", &gates.map(|gate| GateView::of(work, gate)).collect::<Vec<_>>())
        }
        Look::Thread { id } => views(work.thread(work.resolve(id)?.as_str())),
        Look::Stats => one("stats", &work.stats(now)),
        Look::Export => export(work),
        Look::Resolve { id } => one("id", &work.resolve(id)?),
        Look::History { .. } => Err(Error::bug("no_history", "the graph alone does not know its history")),
    }
}

fn show(work: &Work, now: Time, id: &str) -> Result<Value> {
    let id = work.resolve(id)?;
    if let Some(item) = work.item(id.as_str()) {
        return one("item", &ItemView::whole(work, now, item));
    }
    match work.gate(id.as_str()) {
        Some(gate) => one("gate", &GateView::of(work, gate)),
        None => Err(Error::not_found("item_not_found", format!("there is no item {id}"))),
    }
}

fn export(work: &Work) -> Result<Value> {
    let mut all = Map::new();
    all.insert("items".into(), json(&work.items().collect::<Vec<_>>())?);
    all.insert("dependencies".into(), json(&work.dependencies().collect::<Vec<_>>())?);
    all.insert("gates".into(), json(&work.gates().collect::<Vec<_>>())?);
    Ok(Value::Object(all))
}

/// An object with one thing in it.
fn one(name: &str, value: &impl Serialize) -> Result<Value> {
    Ok(Value::Object(Map::from_iter([(name.to_owned(), json(value)?)])))
}

pub(crate) fn json(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|e| Error::bug("no_json", "it has no JSON form").with_source(e))
}
