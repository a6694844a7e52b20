//! Items from elsewhere, read: what `edgewise export` wrote, Beads, Quarry, and issues of GitHub.
//!
//! Reading writes nothing and knows nothing of what is here: a text becomes a [`Draft`], and a draft what is asked of
//! the engine, all of it as one commit or nothing.

mod beads;
mod draft;
mod fit;
mod github;
mod quarry;
mod record;

pub use draft::{Asked, Draft};

use draft::bad_line;
use edgewise_core::{Error, Result};
use serde_json::{Map, Value};

/// Where items come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What `edgewise export` wrote.
    Edgewise,
    /// Beads JSONL.
    Beads,
    /// Quarry JSONL: elements and dependencies.
    Quarry,
    /// The array of `gh issue list --json`.
    Github,
}

impl Form {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Edgewise => "edgewise",
            Self::Beads => "beads",
            Self::Quarry => "quarry",
            Self::Github => "github",
        }
    }
}

/// Reads texts of one form; without one, as they look.
pub fn read(texts: &[String], form: Option<Form>) -> Result<(Form, Draft)> {
    let mut lines = Vec::new();
    for text in texts {
        objects(text, &mut lines)?;
    }
    let form = match form {
        Some(form) => form,
        None => looks_like(&lines)?,
    };
    let mut draft = Draft::default();
    match form {
        Form::Edgewise => record::read(&lines, &mut draft)?,
        Form::Beads => beads::read(&lines, &mut draft)?,
        Form::Quarry => quarry::read(&lines, &mut draft)?,
        Form::Github => github::read(&lines, &mut draft)?,
    }
    Ok((form, draft))
}

/// A JSON array of objects, or an object a line.
fn objects(text: &str, lines: &mut Vec<(usize, Map<String, Value>)>) -> Result<()> {
    let object = |number: usize, value: Value| match value {
        Value::Object(object) => Ok((number, object)),
        _ => Err(bad_line(number, "expected a JSON object")),
    };
    if text.trim_start().starts_with('[') {
        let all: Vec<Value> = serde_json::from_str(text).map_err(|error| bad_line(error.line(), error))?;
        for (number, value) in all.into_iter().enumerate() {
            lines.push(object(number + 1, value)?);
        }
        return Ok(());
    }
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value = serde_json::from_str(line).map_err(|error| bad_line(number + 1, error))?;
        lines.push(object(number + 1, value)?);
    }
    Ok(())
}

/// Told apart by names that only one of them has.
fn looks_like(lines: &[(usize, Map<String, Value>)]) -> Result<Form> {
    let any = |key: &str| lines.iter().any(|(_, object)| object.contains_key(key));
    let Some((_, first)) = lines.first() else {
        return Err(Error::invalid("empty_import", "there is nothing in what was read"));
    };
    if record::is_ours(first) {
        Ok(Form::Edgewise)
    } else if any("issue_type") || any("depends_on_id") || any("created_at") {
        Ok(Form::Beads)
    } else if any("number") && !any("id") {
        Ok(Form::Github)
    } else if lines.iter().any(|(_, object)| quarry::is_dependency(object)) || any("createdAt") || any("taskType") {
        Ok(Form::Quarry)
    } else {
        Err(Error::invalid("unknown_form", "what was read looks like nothing that is known"))
    }
}

#[cfg(test)]
mod tests;
