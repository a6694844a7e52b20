//! Inputs: what a flow asks of whoever starts it, and the one place where an answer is checked.
//!
//! A run's input is completed before the run exists: defaults are filled in, what is optional and not
//! given is null. So a reference to a declared input always finds a value.

use crate::error::{Error, Result};
use crate::limits;
use crate::name::Name;
use crate::pattern::Pattern;
use crate::suggest::{nearest, plain, shown};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;

/// A declared input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What it is called.
    pub name: Name,
    /// What may be given.
    #[serde(rename = "type", default, skip_serializing_if = "InputType::is_any")]
    pub kind: InputType,
    /// Whether a run cannot start without it.
    pub required: bool,
    /// What it is if nobody gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What a text that is given must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What an input may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputType {
    /// A text.
    String,
    /// Any number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// A map.
    Map,
    /// Anything.
    #[default]
    Any,
}

impl InputType {
    /// All of them, with the words authors use.
    pub const ALL: [(&'static str, Self); 7] = [
        ("string", Self::String),
        ("number", Self::Number),
        ("integer", Self::Integer),
        ("boolean", Self::Boolean),
        ("list", Self::List),
        ("map", Self::Map),
        ("any", Self::Any),
    ];

    /// Whether a value is of this type.
    pub fn holds(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Map => value.is_object(),
            Self::Any => true,
        }
    }

    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

impl fmt::Display for InputType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Self::ALL.iter().find(|(_, kind)| kind == self).map_or("any", |(word, _)| word))
    }
}

/// Reads one value given as text, as on a command line: a `string` stays as it is, everything else is JSON.
pub fn parse_argument(declared: &[Input], name: &str, text: &str) -> Result<Value> {
    let input = declared
        .iter()
        .find(|i| &*i.name == name)
        .ok_or_else(|| Error::invalid("bad_input", unknown(declared, name)))?;
    if input.kind == InputType::String {
        return Ok(Value::String(text.to_owned()));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let (what, found, quoted) = (article(input.kind), shown(text), Value::from(text));
        let text = if input.kind == InputType::Any {
            format!("; for a text write {name}='{}'", plain(&quoted.to_string()))
        } else {
            String::new()
        };
        Error::invalid("bad_input", format!("input `{name}` expects {what} as JSON, found {found} ({error}){text}"))
    })?;
    if accepts(input, &value) { Ok(value) } else { Err(wrong(input, &value)) }
}

impl Input {
    /// What is wrong with a value, if it is a text that does not fit the pattern.
    pub(crate) fn misfit(&self, value: &Value) -> Option<String> {
        let mut steps = limits::INPUT_PATTERN_STEPS;
        self.misfit_within(value, &mut steps)
    }

    /// The same in so many steps, of which those that it takes are taken away.
    fn misfit_within(&self, value: &Value, left: &mut u64) -> Option<String> {
        let (written, text) = (self.pattern.as_ref()?, value.as_str()?);
        let (name, shape) = (&self.name, shown(written));
        let unfit = || Some(format!("input `{name}` expects a text that fits {shape}, found {}", shown(text)));
        let (pattern, steps) = Pattern::read(written);
        let Ok(pattern) = pattern else { return unfit() };
        let within = left.saturating_sub(steps);
        let Some(rest) = within.checked_sub(pattern.cost(text.len())) else {
            let most = pattern.most_bytes(within);
            return Some(format!(
                "input `{name}` has {} bytes, too many to find out whether they fit {shape}: give at most {most}, or \
                 make the pattern shorter",
                text.len()
            ));
        };
        *left = rest;
        if pattern.is_match(text) { None } else { unfit() }
    }
}

/// Checks what was given against what was declared and gives the JSON text of the whole input; all
/// problems are reported, not just the first.
pub fn complete(declared: &[Input], given: &Map<String, Value>) -> Result<String> {
    let mut problems = Vec::new();
    let mut full = Map::new();
    let mut steps = limits::INPUT_PATTERN_STEPS;
    for input in declared {
        match given.get(&*input.name) {
            Some(value) if accepts(input, value) => {
                problems.extend(input.misfit_within(value, &mut steps));
                full.insert(input.name.to_string(), value.clone());
            }
            Some(value) => problems.push(wrong(input, value).message),
            None if input.required => problems.push(missing(input)),
            None => {
                full.insert(input.name.to_string(), input.default.clone().unwrap_or_default());
            }
        }
    }
    let known: BTreeSet<&str> = declared.iter().map(|i| i.name.as_str()).collect();
    let strangers = given.keys().filter(|name| !known.contains(name.as_str()));
    problems.extend(strangers.take(limits::PROBLEMS).map(|name| unknown(declared, name)));
    if full.values().any(|v| !shallow(v, limits::DEPTH)) {
        problems.push(format!("a value is nested deeper than {} levels", limits::DEPTH));
    }
    if !problems.is_empty() {
        problems.truncate(limits::PROBLEMS);
        return Err(Error::invalid("bad_input", problems.join("\n")));
    }
    let text = Value::Object(full).to_string();
    if text.len() > limits::INPUT_BYTES {
        let message = format!("the input has {} bytes, at most {} are allowed", text.len(), limits::INPUT_BYTES);
        return Err(Error::limit("input_too_large", message));
    }
    Ok(text)
}

/// Null stands for "not given", so it is fine where nothing is.
fn accepts(input: &Input, value: &Value) -> bool {
    input.kind.holds(value) || (value.is_null() && !input.required && input.default.is_none())
}

/// Whether a value is nested no deeper than so many levels; what is below is not walked.
pub(crate) fn shallow(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(list) => depth > 0 && list.iter().all(|v| shallow(v, depth - 1)),
        Value::Object(map) => depth > 0 && map.values().all(|v| shallow(v, depth - 1)),
        _ => true,
    }
}

fn wrong(input: &Input, value: &Value) -> Error {
    let message =
        format!("input `{}` expects {}, found {}", input.name, article(input.kind), shown(&value.to_string()));
    Error::invalid("bad_input", message)
}

fn missing(input: &Input) -> String {
    let about = input.description.as_ref().map_or(String::new(), |d| format!(" ({})", shown(d)));
    format!("input `{0}` is missing{about}: give {1}, such as `-i {0}=…`", input.name, article(input.kind))
}

fn unknown(declared: &[Input], name: &str) -> String {
    let names = || declared.iter().map(|i| i.name.as_str());
    let next = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if declared.is_empty() => "it declares none".into(),
        None => format!("it declares {}", names().take(20).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
    };
    format!("the flow has no input {}: {next}", shown(name))
}

fn article(kind: InputType) -> String {
    match kind {
        InputType::Integer => "an integer".into(),
        InputType::Any => "any value".into(),
        other => format!("a {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn input(name: &str, kind: InputType) -> Input {
        Input {
            name: Name::parse(name).unwrap(),
            kind,
            required: true,
            default: None,
            pattern: None,
            description: None,
        }
    }

    fn declared() -> Vec<Input> {
        vec![
            input("version", InputType::String),
            Input { required: false, default: Some(json!(4)), ..input("jobs", InputType::Integer) },
            Input { required: false, ..input("note", InputType::String) },
        ]
    }

    #[test]
    fn what_is_not_given_is_the_default_or_null() {
        let check = |given: Value, full: Value| {
            let text = complete(&declared(), given.as_object().unwrap()).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), full);
        };
        check(json!({"version": "1"}), json!({"version": "1", "jobs": 4, "note": null}));
        check(json!({"version": "1", "note": null}), json!({"version": "1", "jobs": 4, "note": null}));
        check(
            json!({"version": "1", "jobs": i64::MAX, "note": "n"}),
            json!({"version": "1", "jobs": i64::MAX, "note": "n"}),
        );
    }

    #[test]
    fn all_that_is_wrong_with_an_input_is_said_at_once() {
        let given = json!({"jobs": 1.5, "vresion": "1", "e\u{1b}[31m": 0});
        let message = complete(&declared(), given.as_object().unwrap()).unwrap_err().message;
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(
            lines,
            [
                "input `version` is missing: give a string, such as `-i version=…`",
                "input `jobs` expects an integer, found `1.5`",
                "the flow has no input `e\\u{1b}[31m`: it declares `version`, `jobs`, `note`",
                "the flow has no input `vresion`: did you mean `version`?",
            ]
        );
    }

    #[test]
    fn a_text_fits_its_pattern_or_is_refused_with_it() {
        let version = Input { pattern: Some(r"^\d+\.\d+$".into()), ..input("version", InputType::String) };
        let complete =
            |text: &str| complete(std::slice::from_ref(&version), json!({"version": text}).as_object().unwrap());
        assert!(complete("1.10").is_ok());
        let message = complete("1.10-rc").unwrap_err().message;
        assert_eq!(message, r"input `version` expects a text that fits `^\d+\.\d+$`, found `1.10-rc`");
    }

    #[test]
    fn a_text_too_long_for_its_pattern_is_refused_instead_of_matched() {
        let slow = |name: &str| Input { pattern: Some("[a-c]{0,2400}d".into()), ..input(name, InputType::String) };
        let given = json!({"a": "a".repeat(1 << 20)});
        let error = complete(&[slow("a")], given.as_object().unwrap()).unwrap_err();
        assert!(error.message.contains("has 1048576 bytes"), "{}", error.message);
        assert!(error.message.contains("at most 13"), "{}", error.message);
        // All inputs of a run share what may be spent.
        let names = ["a", "b", "c"];
        let given: Map<String, Value> = names.iter().map(|name| ((*name).into(), "d".repeat(5_000).into())).collect();
        let declared = names.map(slow);
        assert!(complete(&declared[..2], &given).unwrap_err().message.contains("no input `c`"));
        let message = complete(&declared, &given).unwrap_err().message;
        assert!(message.starts_with("input `c` has 5000 bytes"), "{message}");
        // A short pattern leaves room for long texts.
        let words = Input { pattern: Some("^[a-z ]+$".into()), ..input("a", InputType::String) };
        let given = json!({"a": "word ".repeat(100_000)});
        assert!(complete(&[words], given.as_object().unwrap()).is_ok());
    }

    #[test]
    fn an_argument_is_read_by_its_declared_type() {
        let kinds: Vec<Input> = InputType::ALL.map(|(word, kind)| input(word, kind)).to_vec();
        for (name, text, value) in [
            ("string", "12", json!("12")),
            ("string", "\"quoted\"", json!("\"quoted\"")),
            ("integer", "9223372036854775807", json!(i64::MAX)),
            ("integer", "18446744073709551615", json!(u64::MAX)),
            ("number", "1.5", json!(1.5)),
            ("boolean", "true", json!(true)),
            ("list", "[1]", json!([1])),
            ("map", "{\"a\":1}", json!({"a": 1})),
            ("any", "\"x\"", json!("x")),
            ("any", "null", json!(null)),
        ] {
            assert_eq!(parse_argument(&kinds, name, text).unwrap(), value, "{name}={text}");
        }
        for (name, text, why) in [
            ("integer", "1.5", "expects an integer"),
            ("integer", "18446744073709551616", "expects an integer"),
            ("boolean", "yes", "expects a boolean"),
            ("any", "hello", "any='\"hello\"'"),
            ("lst", "[]", "did you mean `list`?"),
        ] {
            let error = parse_argument(&kinds, name, text).unwrap_err();
            assert!(error.message.contains(why), "{name}={text}: {}", error.message);
        }
    }

    #[test]
    fn a_value_too_deep_to_be_walked_is_refused() {
        let mut deep = json!(1);
        for _ in 0..=limits::DEPTH {
            deep = json!([deep]);
        }
        let given = json!({"any": deep});
        let error = complete(&[input("any", InputType::Any)], given.as_object().unwrap()).unwrap_err();
        assert!(error.message.contains("64 levels"), "{}", error.message);
    }
}
