//! Secrets: what a task is given and nobody else sees.
//!
//! A grant holds sealed names instead of values, because a grant is made where everything is written down. The worker
//! opens them just before it does the work, and masks the values in all that comes back: lines of logs, outputs and
//! errors. So a value is in the memory of the worker and in what it hands over, and nowhere else.

mod lend;

pub use lend::{Lending, not_sent};

use crate::command::{Job, Outcome};
use edgewise_core::event::Failure;
use edgewise_core::name::Name;
use edgewise_core::run::{MASK, sealed};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What the variables begin with that hold secrets.
pub const PREFIX: &str = "EDGEWISE_SECRET_";
/// The shortest value: a shorter one would be masked in words that have nothing to do with it.
pub const SHORTEST: usize = 4;

/// Looks up one variable of the environment.
type Var = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Where the values of secrets are found, looked up anew for each attempt.
#[derive(Clone)]
pub struct Secrets {
    var: Var,
    file: Option<PathBuf>,
}

impl Default for Secrets {
    /// In the environment of this process.
    fn default() -> Self {
        Self { var: Arc::new(|name| std::env::var(name).ok()), file: None }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Names that stand in a job in place of values.
#[derive(Debug, Clone)]
pub struct Sealed {
    /// What stands before each of them.
    pub(crate) seal: String,
    /// Which they are.
    pub(crate) names: Vec<Name>,
}

/// Values that are not to be seen, the longest first.
#[derive(Clone, Default)]
pub struct Masks(Arc<[String]>);

impl Secrets {
    /// In these variables, and then in a file with a line `NAME=value` for each.
    pub fn new(var: impl Fn(&str) -> Option<String> + Send + Sync + 'static, file: Option<PathBuf>) -> Self {
        Self { var: Arc::new(var), file }
    }

    /// The same as by default, and then in a file.
    pub fn with_file(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// The value of a secret.
    fn find(&self, name: &Name) -> Result<String, Failure> {
        let variable = format!("{PREFIX}{name}");
        let value = match (self.var)(&variable) {
            Some(value) => Some(value),
            None => self.in_file(name)?,
        };
        let missing = || {
            let file = self.file.as_ref().map_or_else(
                || "name a file with `secrets_file` in edgewise.toml".to_owned(),
                |file| format!("write it into {}", file.display()),
            );
            let message = format!("the secret {name} has no value here: set {variable}, or {file}");
            Failure::permanent("secret_missing", message)
        };
        let value = value.ok_or_else(missing)?;
        if value.len() < SHORTEST {
            let message = format!("the secret {name} is shorter than {SHORTEST} bytes: too short to be masked");
            return Err(Failure::permanent("secret_too_short", message));
        }
        Ok(value)
    }

    fn in_file(&self, name: &Name) -> Result<Option<String>, Failure> {
        let Some(path) = &self.file else { return Ok(None) };
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("the secrets in {} cannot be read: {error}", path.display());
            Failure::permanent("secrets_unreadable", message)
        })?;
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let mut pairs = lines.filter_map(|line| line.split_once('='));
        Ok(pairs.find(|(key, _)| key.trim() == name.as_str()).map(|(_, value)| value.trim().to_owned()))
    }

    /// Puts values in place of sealed names, and gives what must not be seen from then on.
    pub(crate) fn open(&self, sealed_names: &Sealed, job: &mut Job) -> Result<Masks, Failure> {
        let found: Result<Vec<(String, String)>, Failure> =
            sealed_names.names.iter().map(|name| Ok((sealed(&sealed_names.seal, name), self.find(name)?))).collect();
        let found = found?;
        let open = |text: &mut String| {
            for (mark, value) in &found {
                if text.contains(mark.as_str()) {
                    *text = text.replace(mark.as_str(), value);
                }
            }
        };
        match job {
            Job::Action { input: value, .. } | Job::Http { request: value, .. } => each_text(value, &open),
            Job::Command { env, .. } => env.iter_mut().for_each(|(_, text)| open(text)),
        }
        Ok(Masks::of(found.into_iter().map(|(_, value)| value)))
    }
}

impl Masks {
    /// A value of several lines is masked line by line: logs have nothing else.
    fn of(values: impl Iterator<Item = String>) -> Self {
        let mut masks: Vec<String> = Vec::new();
        for value in values {
            masks.extend(value.lines().filter(|line| line.len() >= SHORTEST).map(str::to_owned));
            masks.push(value);
        }
        masks.sort_by_key(|mask| std::cmp::Reverse(mask.len()));
        masks.dedup();
        Self(masks.into())
    }

    /// Whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text without secrets.
    pub fn mask(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, mask| match text.contains(mask.as_str()) {
            true => text.replace(mask.as_str(), MASK),
            false => text,
        })
    }

    /// What an attempt came to, without secrets.
    pub(crate) fn outcome(&self, outcome: Outcome) -> Outcome {
        if self.is_empty() {
            return outcome;
        }
        match outcome {
            Ok(output) => self.output(output),
            Err(failure) => Err(self.failure(failure)),
        }
    }

    fn output(&self, output: Option<Box<RawValue>>) -> Outcome {
        let Some(output) = output else { return Ok(None) };
        let unreadable = |error: serde_json::Error| Failure::new("bad_output", self.mask(&error.to_string()));
        let mut value: Value = serde_json::from_str(output.get()).map_err(unreadable)?;
        each_text(&mut value, &|text| *text = self.mask(text));
        RawValue::from_string(value.to_string()).map(Some).map_err(unreadable)
    }

    fn failure(&self, failure: Failure) -> Failure {
        Failure {
            kind: self.mask(&failure.kind),
            message: self.mask(&failure.message),
            is: failure.is.iter().map(|kind| self.mask(kind)).collect(),
            cause: failure.cause.map(|cause| Box::new(self.failure(*cause))),
            errors: failure.errors.into_iter().map(|error| self.failure(error)).collect(),
            ..failure
        }
    }
}

impl fmt::Debug for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} masks", self.0.len())
    }
}

/// Changes every text in a value, keys of maps too.
fn each_text(value: &mut Value, change: &dyn Fn(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(list) => list.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(map) => {
            for (mut key, mut item) in std::mem::take(map) {
                change(&mut key);
                each_text(&mut item, change);
                map.insert(key, item);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
