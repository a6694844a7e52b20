//! Values that are typed: runs, items, inputs, labels.

use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::{Error, Result};
use serde_json::Value;

/// How many characters a run id has.
const RUN_ID_CHARS: usize = 16;

/// A run as it is typed: an id, a unique beginning of one, or `@` for the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunRef {
    /// The run that was triggered last.
    Last,
    /// The run whose id begins so. Lower case, only characters that ids have.
    Prefix(String),
}

impl RunRef {
    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "@" {
            return Ok(Self::Last);
        }
        let text = text.to_ascii_lowercase();
        let padded = format!("{text:0<RUN_ID_CHARS$}");
        if text.is_empty() || RunId::parse(&padded).is_err() {
            return Err(Error::invalid(
                "bad_run",
                format!(
                    "{text:?} is not a run: expected an id such as `k3f9x2ab`, its beginning, or `@` for the last run"
                ),
            ));
        }
        Ok(Self::Prefix(text))
    }
}

/// What a person means by an id: an item, a gate, a run, or a task of a run. Its form says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// `@`: what was touched last.
    Last,
    /// An id or a beginning of one.
    Word(String),
    /// `RUN/TASK`.
    Task(RunRef, String),
}

impl Meant {
    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "@" {
            return Ok(Self::Last);
        }
        if let Some((run, task)) = text.split_once('/').filter(|(_, task)| !task.is_empty()) {
            return Ok(Self::Task(RunRef::parse(run)?, task.to_owned()));
        }
        let word = text.to_ascii_lowercase();
        let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(good) {
            return Ok(Self::Word(word));
        }
        let message = format!(
            "{text:?} is no id: expected an item such as `ew-7k2`, a run such as `k3f9x2ab`, RUN/TASK, or `@` for the last one"
        );
        Err(Error::invalid("bad_id", message))
    }

    /// The run that it names, if it could be one.
    pub fn run(&self) -> Option<RunRef> {
        match self {
            Self::Last => Some(RunRef::Last),
            Self::Word(word) => RunRef::parse(word).ok(),
            Self::Task(run, _) => Some(run.clone()),
        }
    }
}

impl std::fmt::Display for Meant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Last => f.write_str("@"),
            Self::Word(word) => f.write_str(word),
            Self::Task(RunRef::Last, task) => write!(f, "@/{task}"),
            Self::Task(RunRef::Prefix(run), task) => write!(f, "{run}/{task}"),
        }
    }
}

/// An input of a run: `name=text`, or `name:=json` for a value that is no text.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Which input.
    pub name: Name,
    /// Its value.
    pub value: Value,
    /// Whether it was given as plain text, which whoever knows what is expected may read as something else.
    pub plain: bool,
}

impl Input {
    /// Reads what was typed. `v=1.10` stays the text `1.10`; nothing is guessed.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Error::invalid(
                "bad_input",
                format!("{text:?} is not an input: expected `name=text` or `name:=json`"),
            ));
        };
        let Some(name) = name.strip_suffix(':') else {
            return Ok(Self { name: Name::parse(name)?, value: Value::String(value.to_owned()), plain: true });
        };
        let parsed = serde_json::from_str(value).map_err(|error| {
            Error::invalid(
                "bad_input",
                format!("the input `{name}` is not JSON ({error}): use `{name}=…` for plain text"),
            )
        })?;
        Ok(Self { name: Name::parse(name)?, value: parsed, plain: false })
    }
}

/// A label of a run: `key=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// What it is searched by.
    pub key: Name,
    /// What it says.
    pub value: String,
}

impl Label {
    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Self> {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            Error::invalid("bad_label", format!("{text:?} is not a label: expected `key=value`, such as `env=test`"))
        })?;
        Ok(Self { key: Name::parse(key)?, value: value.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_run_is_an_id_its_beginning_or_the_last() {
        assert_eq!(RunRef::parse("@").unwrap(), RunRef::Last);
        assert_eq!(RunRef::parse("K3f9").unwrap(), RunRef::Prefix("k3f9".into()));
        assert!(RunRef::parse("0123456789abcdef").is_ok());
        for text in ["", "u", "../x", "0123456789abcdef0", "%"] {
            assert!(RunRef::parse(text).unwrap_err().message.contains("is not a run"), "{text}");
        }
    }

    #[test]
    fn an_input_is_text_unless_it_says_json() {
        for (text, value) in [
            ("v=1.10", json!("1.10")),
            ("v=", json!("")),
            ("v=a=b", json!("a=b")),
            ("v:=1.5", json!(1.5)),
            ("v:=[1,\"x\"]", json!([1, "x"])),
        ] {
            assert_eq!(Input::parse(text).unwrap().value, value, "{text}");
        }
        for (text, expected) in [("v", "name=text"), ("v:=x", "is not JSON"), ("=x", "name cannot be empty")] {
            assert!(Input::parse(text).unwrap_err().message.contains(expected), "{text}");
        }
    }

    #[test]
    fn a_label_has_a_key_and_a_value() {
        assert_eq!(Label::parse("env=a=b").unwrap().value, "a=b");
        assert!(Label::parse("env").is_err());
    }
}
