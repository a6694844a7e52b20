//! The last item that was touched in a data folder: what `@` means. A hint beside the ledger; losing it loses nothing.

use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::time::Time;
use edgewise_core::work::ItemId;
use serde_json::Value;
use std::path::Path;

/// The file of the data folder.
const FILE: &str = "last-item";

/// The last item, and when it was touched.
pub(crate) fn read(dir: &Path) -> Option<(ItemId, Time)> {
    let text = std::fs::read_to_string(dir.join(FILE)).ok()?;
    let (id, at) = text.trim().split_once(' ')?;
    Some((ItemId::parse(id).ok()?, Time(at.parse().ok()?)))
}

/// Remembers an item. If that fails, `@` means an older one: not worth failing for.
pub(crate) fn write(dir: &Path, id: &ItemId, at: Time) {
    let whole = dir.join(format!("{FILE}.{}", std::process::id()));
    if std::fs::write(&whole, format!("{id} {}\n", at.0)).is_ok() {
        let _ = std::fs::rename(&whole, dir.join(FILE));
    }
}

/// What was typed, with `@` replaced by the last item.
pub(crate) fn typed(dir: &Path, text: &str) -> Result<String> {
    if text != "@" {
        return Ok(text.to_owned());
    }
    read(dir).map(|(id, _)| id.to_string()).ok_or_else(|| {
        let what = "no item was touched here yet, so @ means nothing";
        Problem::new(Kind::NotFound, "no_last_item", what).next("name an item: `edgewise list` shows them")
    })
}

/// The names of what an operation or a tool is given by an id.
const IDS: [&str; 5] = ["id", "on", "parent", "needs", "repliesTo"];

/// The same in all places of an operation where an id stands.
pub(crate) fn typed_in(dir: &Path, operation: &mut Value) -> Result<()> {
    for key in IDS {
        let places = match operation.get_mut(key) {
            Some(Value::Array(list)) => list.iter_mut().collect(),
            place => place.into_iter().collect::<Vec<_>>(),
        };
        for place in places.into_iter().filter(|place| place.as_str() == Some("@")) {
            *place = typed(dir, "@")?.into();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_item_is_remembered_and_a_damaged_hint_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(typed(folder.path(), "@").unwrap_err().code, "no_last_item");
        let id = ItemId::parse("ew-7k2").unwrap();
        write(folder.path(), &id, Time(7));
        assert_eq!(read(folder.path()), Some((id, Time(7))));
        assert_eq!(typed(folder.path(), "@").unwrap(), "ew-7k2");
        assert_eq!(typed(folder.path(), "7k").unwrap(), "7k");
        let mut op = serde_json::json!({ "id": "a", "parent": "@", "needs": ["b", "@"], "title": "@" });
        typed_in(folder.path(), &mut op).unwrap();
        assert_eq!(op, serde_json::json!({ "id": "a", "parent": "ew-7k2", "needs": ["b", "ew-7k2"], "title": "@" }));
        std::fs::write(folder.path().join(FILE), "\u{1b}[2J 7").unwrap();
        assert_eq!(read(folder.path()), None);
    }
}
