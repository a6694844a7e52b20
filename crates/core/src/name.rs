//! Names: of flows, tasks, actions, inputs, people. Parsing is validation.
//!
//! A name starts with a letter, then letters, digits, `_`, `-`, `.` or `/`; no two dots or slashes in a
//! row, none at the end. So a name is never a path upwards, never a flag, never a terminal escape.

use crate::error::{Error, Result};
use crate::limits;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::sync::Arc;

/// A valid name. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Name(Arc<str>);

impl Name {
    /// Reads a name; the error says which character is in the way.
    pub fn parse(text: &str) -> Result<Self> {
        Self::check(text)?;
        Ok(Self(text.into()))
    }

    /// Whether a text is a name; the error is that of reading it.
    pub(crate) fn check(text: &str) -> Result<()> {
        check(text)
    }

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check(text: &str) -> Result<()> {
    let refuse = |why: String| Err(Error::invalid("bad_name", why));
    if text.is_empty() {
        return refuse("a name cannot be empty: it starts with a letter, such as `build`".into());
    }
    if text.len() > limits::NAME_BYTES {
        return refuse(format!("a name has at most {} bytes, this one has {}", limits::NAME_BYTES, text.len()));
    }
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return refuse(format!("the name {text:?} must start with a letter"));
    }
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
    if let Some(bad) = text.chars().find(|c| !u8::try_from(*c).is_ok_and(good)) {
        return refuse(format!(
            "the name {text:?} has {bad:?} in it: letters, digits, `_`, `-`, `.` and `/` are allowed"
        ));
    }
    let separators = |c: char| c == '.' || c == '/';
    if text.ends_with(separators)
        || text.as_bytes().windows(2).any(|w| separators(w[0] as char) && separators(w[1] as char))
    {
        return refuse(format!("the name {text:?} has an empty part: `.` and `/` stand between letters or digits"));
    }
    Ok(())
}

impl std::ops::Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_are_kept_as_they_are() {
        for text in ["a", "build", "ci.test", "team/lead", "x_1-2"] {
            assert_eq!(Name::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn bad_names_are_refused_with_the_reason() {
        for (text, why) in [
            ("", "empty"),
            ("1st", "start with a letter"),
            ("-rf", "start with a letter"),
            ("a b", "' '"),
            ("a:b", "':'"),
            ("a\u{1b}[31m", "\\u{1b}"),
            ("a..b", "empty part"),
            ("a/../b", "empty part"),
            ("a/", "empty part"),
        ] {
            let error = Name::parse(text).unwrap_err();
            assert!(error.message.contains(why), "{text:?}: {}", error.message);
        }
        assert!(Name::parse(&"a".repeat(limits::NAME_BYTES + 1)).is_err());
    }
}
