//! Ids that people can say: found by as little as tells them apart, and made no longer than need be.

use super::{ItemId, Work};
use crate::error::{Error, Result};
use crate::name::Name;
use std::ops::Bound;

/// Most candidates that an error lists.
const LISTED: usize = 5;
/// Longest prefix of an id that is made up.
const PREFIX: usize = 16;

/// Ids that can be looked up, in the graph itself or in its rows.
pub(super) trait Names {
    /// The id that is just this text, also of a deleted item.
    fn known(&mut self, text: &str) -> Result<Option<ItemId>>;
    /// Ids that are not deleted, from a text on, in order.
    fn from(&mut self, text: &str, limit: usize) -> Result<Vec<ItemId>>;
}

impl Names for &Work {
    fn known(&mut self, text: &str) -> Result<Option<ItemId>> {
        Ok(self.ids.get_key_value(text).map(|(id, _)| id.clone()))
    }

    fn from(&mut self, text: &str, limit: usize) -> Result<Vec<ItemId>> {
        let alive = |id: &&ItemId| self.item(id.as_str()).is_none_or(|item| item.status != super::Status::Tombstone);
        let range = self.ids.range::<str, _>((Bound::Included(text), Bound::Unbounded));
        Ok(range.map(|(id, _)| id).filter(alive).take(limit).cloned().collect())
    }
}

/// The item or gate that a text means.
pub(super) fn resolve<N: Names + ?Sized>(names: &mut N, text: &str) -> Result<ItemId> {
    if let Some(id) = names.known(text)? {
        return Ok(id);
    }
    let mut found = starting(names, text)?;
    if found.is_empty() && !text.is_empty() {
        for prefix in prefixes(names)? {
            found.extend(starting(names, &format!("{prefix}-{text}"))?);
        }
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let message = format!("there is no item or gate {text:?}: `edgewise list` shows what there is");
            Err(Error::not_found("item_not_found", message))
        }
        many => {
            let names: Vec<&str> = many.iter().take(LISTED).map(ItemId::as_str).collect();
            let rest = if many.len() > LISTED { " and others" } else { "" };
            let message = format!("{text:?} fits {}{rest}: type one character more", names.join(", "));
            Err(Error::conflict("ambiguous_id", message))
        }
    }
}

/// Ids that start with a text and are not deleted; one more than is listed at most.
fn starting<N: Names + ?Sized>(names: &mut N, text: &str) -> Result<Vec<ItemId>> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = names.from(text, LISTED + 1)?;
    found.retain(|id| id.as_str().starts_with(text));
    Ok(found)
}

/// The prefixes that ids have: few, and each is found by one look behind the ids of the one before.
fn prefixes<N: Names + ?Sized>(names: &mut N) -> Result<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    let mut behind = String::new();
    while let Some(id) = names.from(&behind, 1)?.first() {
        let Some((prefix, _)) = id.as_str().split_once('-') else { break };
        all.push(prefix.to_owned());
        // `.` is the character behind `-`.
        behind = format!("{prefix}.");
    }
    Ok(all)
}

impl Work {
    /// The item or gate that a text means: its id, or a beginning of it that fits no other, with or without the prefix.
    pub fn resolve(&self, text: &str) -> Result<ItemId> {
        resolve(&mut &*self, text)
    }

    /// An id that nobody has: as short as makes a collision rare among so many.
    pub fn fresh_id(&self, prefix: &Name, mut chance: u128) -> ItemId {
        let mut length = 3;
        // With a tenth of all texts of a length in use, one more character.
        while 36_usize.pow(length) / 10 < self.ids.len() && length < 10 {
            length += 1;
        }
        // Only what an id may have in its prefix; a name starts with a letter, so something is left.
        let plain = prefix.chars().filter(char::is_ascii_alphanumeric).take(PREFIX);
        let prefix: String = plain.map(|c| c.to_ascii_lowercase()).collect();
        let mut attempt = 0;
        loop {
            let text = format!("{prefix}-{}", base36(chance, length + attempt / 8));
            match ItemId::parse(&text) {
                Ok(id) if !self.ids.contains_key(&id) && !self.strangers.contains_key(text.as_str()) => return id,
                _ => attempt += 1,
            }
            let mixed = chance.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).wrapping_add(1);
            chance = mixed ^ (mixed >> 64);
        }
    }
}

fn base36(mut number: u128, length: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut text = String::new();
    for _ in 0..length {
        text.push(DIGITS[(number % 36) as usize] as char);
        number /= 36;
    }
    text
}
