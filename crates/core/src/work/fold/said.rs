//! What people may say of items, gates and dependencies: within limits, and in texts that can be printed.

use crate::error::{Error, Result};
use crate::limits;
use crate::name::Name;
use serde::Serialize;

/// Names, in one line.
pub(super) fn names(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

pub(super) fn title(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::invalid("bad_title", "a title says in one line what it is about: this one is empty"));
    }
    if text.len() > limits::WORK_TITLE_BYTES {
        let message = format!(
            "a title has at most {} bytes, this one has {}: put the rest into the description",
            limits::WORK_TITLE_BYTES,
            text.len()
        );
        return Err(Error::limit("title_too_long", message));
    }
    if let Some(bad) = text.chars().find(|c| c.is_control()) {
        let message = format!("a title is one line of printable text, this one has {bad:?} in it");
        return Err(Error::invalid("bad_title", message));
    }
    Ok(())
}

pub(super) fn priority(priority: u8) -> Result<()> {
    if limits::WORK_PRIORITY.contains(&priority) {
        return Ok(());
    }
    let message = format!("a priority is 1 (first) to 5 (last), this one is {priority}");
    Err(Error::invalid("bad_priority", message))
}

pub(super) fn tags(count: usize) -> Result<()> {
    if count <= limits::WORK_TAGS {
        return Ok(());
    }
    let message = format!("an item has at most {} tags, this one would have {count}", limits::WORK_TAGS);
    Err(Error::limit("too_many_tags", message))
}

pub(super) fn text(what: &str, text: &str, most: usize) -> Result<()> {
    if text.len() <= most {
        return Ok(());
    }
    let message = format!("{what} has at most {most} bytes, this one has {}", text.len());
    Err(Error::limit("text_too_long", message))
}

pub(super) fn why(text: Option<&String>) -> Result<()> {
    text.map_or(Ok(()), |why| self::text("a reason", why, limits::COMMENT_BYTES))
}

pub(super) fn metadata(value: &impl Serialize) -> Result<()> {
    let bytes = serde_json::to_string(value).map_or(usize::MAX, |text| text.len());
    if bytes <= limits::WORK_METADATA_BYTES {
        return Ok(());
    }
    let message = format!("metadata has at most {} bytes as JSON, this has {bytes}", limits::WORK_METADATA_BYTES);
    Err(Error::limit("metadata_too_large", message))
}
