//! `item:` in a task: an item of the work graph that a person or an agent closes.

use super::holes::Holes;
use super::problem::Sink;
use super::read::{Fields, Keys};
use super::tree::{Kind, Node};
use crate::plan::ItemTask;
use crate::template::Template;
use serde_json::Value;

pub(super) const ITEM: Keys = Keys {
    owner: "`item`",
    known: &["title", "description", "acceptance", "priority", "assignee", "tags"],
    elsewhere: &[],
};

/// Reads an item; its title alone may stand for it. `None` if it has no title.
pub(super) fn item(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<ItemTask> {
    if let Kind::Scalar(..) = &node.kind {
        let title = holes.words(node, &|| "`item`".into(), sink);
        return Some(ItemTask { fields: Template::Map(vec![("title".into(), title)]) });
    }
    let fields = Fields::read(node, "`item`", &ITEM, sink)?;
    if fields.get("title").is_none() {
        sink.error(node.span, "missing_key", "`item` has no `title`")
            .help(Some("say in one line what is to be done".into()));
        return None;
    }
    let mut map = Vec::new();
    for key in ITEM.known {
        let Some(value) = fields.get(key) else { continue };
        let template = match *key {
            "priority" | "tags" => holes.template(value, sink),
            _ => holes.words(value, &|| format!("`{key}`"), sink),
        };
        if *key == "priority" {
            priority(value, &template, sink);
        }
        map.push((key.to_string(), template));
    }
    Some(ItemTask { fields: Template::Map(map) })
}

/// What is known of a priority beforehand is checked beforehand.
fn priority(node: &Node<'_>, template: &Template, sink: &mut Sink<'_>) {
    let Template::Value(value) = template else { return };
    if !value.as_u64().is_some_and(|number| (1..=5).contains(&number)) {
        let found = if let Value::String(text) = value { text.clone() } else { value.to_string() };
        sink.error(node.span, "bad_value", format!("the priority of an item is 1 to 5, not {found}"))
            .help(Some("1 is done first, 5 last; 3 if it is not said".into()));
    }
}
