//! Ids of the work graph: short texts, so that people can say them.

use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::sync::Arc;

/// Longest id of an item or a gate.
const ID_BYTES: usize = 64;
/// Longest name of something outside that a dependency points to.
const TARGET_BYTES: usize = 256;

/// An item or a gate: `ew-7k2`. A prefix of letters, a dash, then letters, digits and dots.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ItemId(Arc<str>);

/// What a dependency points to: an item, a gate, a run, a person, or something outside that nobody here knows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Target(Arc<str>);

impl ItemId {
    /// Reads an id; anything else is refused.
    pub fn parse(text: &str) -> Result<Self> {
        let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'_');
        let formed = text.split_once('-').is_some_and(|(prefix, rest)| {
            prefix.starts_with(|c: char| c.is_ascii_lowercase())
                && rest.starts_with(|c: char| c.is_ascii_alphanumeric())
                && rest.ends_with(|c: char| c.is_ascii_alphanumeric())
        });
        if text.len() <= ID_BYTES && formed && text.bytes().all(good) {
            return Ok(Self(text.into()));
        }
        let message = format!(
            "{text:?} is not the id of an item: expected a prefix, a dash and lower-case letters or digits, such as `ew-7k2`, {ID_BYTES} bytes at most"
        );
        Err(Error::invalid("bad_id", message))
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Target {
    /// Reads what a dependency points to: printable ASCII without spaces.
    pub fn parse(text: &str) -> Result<Self> {
        if !text.is_empty() && text.len() <= TARGET_BYTES && text.bytes().all(|b| b.is_ascii_graphic()) {
            return Ok(Self(text.into()));
        }
        let message = format!(
            "{text:?} cannot be pointed to: expected an id, a run, a name or an address of 1 to {TARGET_BYTES} printable characters without spaces"
        );
        Err(Error::invalid("bad_target", message))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a text that cannot be pointed to stands for.
    pub(super) fn nothing() -> Self {
        Self("-".into())
    }

    /// A run.
    pub fn run(run: crate::id::RunId) -> Self {
        Self(run.to_string().into())
    }

    /// The run that it names, if it could be one.
    pub fn as_run(&self) -> Option<crate::id::RunId> {
        crate::id::RunId::parse(&self.0).ok().filter(|run| run.is_run())
    }

    /// A gate of a run: the run, a slash, and the path of the task.
    pub fn gate_of(run: crate::id::RunId, path: &str) -> Result<Self> {
        Self::parse(&format!("{run}/{path}"))
    }

    /// The run and the path of its task, if it names a task of a run.
    pub fn as_task(&self) -> Option<(crate::id::RunId, &str)> {
        let (run, path) = self.0.split_once('/').filter(|(_, path)| !path.is_empty())?;
        let run = crate::id::RunId::parse(run).ok().filter(|run| run.is_run())?;
        Some((run, path))
    }

    /// The run that it names, or that the task is of.
    pub fn of_run(&self) -> Option<crate::id::RunId> {
        self.as_run().or_else(|| self.as_task().map(|(run, _)| run))
    }

    /// The same as the id of an item or gate, if it could be one.
    pub fn id(&self) -> Option<ItemId> {
        ItemId::parse(&self.0).is_ok().then(|| ItemId(self.0.clone()))
    }
}

impl From<ItemId> for Target {
    fn from(id: ItemId) -> Self {
        Self(id.0)
    }
}

macro_rules! text {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}
text!(ItemId);
text!(Target);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_plain_texts_with_a_prefix() {
        for good in ["ew-7k2", "bd-a3f8.1", "gate-0", "my-long-prefix-9z"] {
            assert_eq!(ItemId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "-", "ew-", "7k2", "9w-7", "EW-7K2", "ew-7k2.", "../x-y", "ew-\u{1b}[2J", "ew 7", "-rf"] {
            assert_eq!(ItemId::parse(bad).unwrap_err().code, "bad_id", "{bad}");
        }
    }

    #[test]
    fn a_target_may_be_outside_but_never_unprintable() {
        for good in ["ew-7k2", "alice", "https://example.org/issues/7", "JIRA#12"] {
            assert_eq!(Target::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "two words", "line\nbreak", "\u{1b}[2J", "ünder"] {
            assert_eq!(Target::parse(bad).unwrap_err().code, "bad_target", "{bad:?}");
        }
        assert!(Target::parse("alice").unwrap().id().is_none());
    }

    #[test]
    fn a_run_and_a_gate_of_it_are_told_from_what_only_has_a_slash() {
        let run = crate::id::RunId(7);
        let gate = Target::gate_of(run, "build[3].ok").unwrap();
        assert_eq!((gate.as_task(), gate.as_run(), gate.of_run()), (Some((run, "build[3].ok")), None, Some(run)));
        assert_eq!((Target::run(run).as_task(), Target::run(run).of_run()), (None, Some(run)));
        for other in ["https://example.org/issues/7", &format!("{run}/"), "ew-7k2/x"] {
            assert_eq!(Target::parse(other).unwrap().of_run(), None, "{other}");
        }
    }
}
