//! What is told to a person when a command cannot do what was asked: what, why, and what to do next.

use crate::exit::Exit;
use edgewise_core::{Error, Kind};
use serde_json::{Value, json};
use std::io;

/// An error on its way to the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Decides the exit code.
    pub kind: Kind,
    /// Stable and machine-readable.
    pub code: &'static str,
    /// What went wrong.
    pub what: String,
    /// What lies beneath it.
    pub why: Option<String>,
    /// What to do next.
    pub next: Option<String>,
}

/// The result of a command, and of everything that prints.
pub type Result<T, E = Problem> = std::result::Result<T, E>;

/// The code of the one problem that nobody is told about: the reader of our output went away.
const BROKEN_PIPE: &str = "broken_pipe";

impl Problem {
    /// A problem of a kind, with its stable code.
    pub fn new(kind: Kind, code: &'static str, what: impl Into<String>) -> Self {
        Self { kind, code, what: what.into(), why: None, next: None }
    }

    /// The same, with what lies beneath it.
    #[must_use]
    pub fn why(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    /// The same, with what to do next.
    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// A file that could not be read or written.
    pub fn file(doing: &str, path: &std::path::Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => Kind::NotFound,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Kind::Denied,
            io::ErrorKind::AlreadyExists => Kind::Conflict,
            // Trying again would not help: something else must be asked for.
            io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidFilename => Kind::Invalid,
            _ => Kind::Unavailable,
        };
        Self::new(kind, "file_error", format!("{} could not be {doing}", path.display())).why(error.to_string())
    }

    /// Output that could not be written. A reader that went away is no fault of anybody.
    pub fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(Kind::Unavailable, BROKEN_PIPE, "nobody reads the output"),
            _ => Self::new(Kind::Unavailable, "output_error", "the output could not be written").why(error.to_string()),
        }
    }

    /// Whether it ends the program without a word.
    pub fn is_quiet(&self) -> bool {
        self.code == BROKEN_PIPE
    }

    /// How the program ends because of it.
    pub fn exit(&self) -> Exit {
        if self.is_quiet() { Exit::Ok } else { self.kind.into() }
    }

    /// For programs: `{"error":{"code","message","kind"}}`, and `why` and `next` where they are known.
    pub fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.what, "kind": kind_word(self.kind) });
        for (key, value) in [("why", &self.why), ("next", &self.next)] {
            if let Some(text) = value {
                error[key] = json!(text);
            }
        }
        json!({ "error": error })
    }
}

/// The code of what the file system does not permit. Of a store it is `Unavailable`, as everything that keeps it from
/// writing; but whoever typed the command is told to ask for permission, not to try again.
const READ_ONLY: &str = "read_only";

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let kind = if error.code == READ_ONLY { Kind::Denied } else { error.kind };
        let mut beneath = Vec::new();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            beneath.push(cause.to_string());
            source = cause.source();
        }
        let why = (!beneath.is_empty()).then(|| beneath.join(": "));
        let next = advice(kind).map(str::to_owned);
        Self { kind, code: error.code, what: error.message, why, next }
    }
}

/// Messages of the core already say what to do, but for the kinds where it is always the same.
fn advice(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Corrupt => Some("run `edgewise doctor --verify` to see what is damaged; nothing was changed"),
        Kind::Bug => Some("this is a fault in edgewise: please report it with the code above"),
        _ => None,
    }
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "invalid",
        Kind::NotFound => "not_found",
        Kind::Denied => "denied",
        Kind::Conflict => "conflict",
        Kind::Stale => "stale",
        Kind::Limit => "limit",
        Kind::Unavailable => "unavailable",
        Kind::Corrupt => "corrupt",
        Kind::Bug => "bug",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_core_keeps_its_cause() {
        let error = Error::unavailable("store_busy", "the store is busy").with_source(io::Error::other("locked"));
        let problem = Problem::from(error);
        assert_eq!((problem.what.as_str(), problem.why.as_deref()), ("the store is busy", Some("locked")));
        assert_eq!(problem.exit(), Exit::Unreachable);
    }

    #[test]
    fn what_the_file_system_does_not_permit_is_not_tried_again() {
        let folder = Error::unavailable("read_only", "the lock cannot be used: check its permissions");
        assert_eq!(Problem::from(folder).exit(), Exit::Denied);
        let closed = Problem::file("opened", "x".as_ref(), &io::ErrorKind::ReadOnlyFilesystem.into());
        assert_eq!(closed.exit(), Exit::Denied);
    }

    #[test]
    fn a_reader_that_went_away_is_not_talked_about() {
        let problem = Problem::output(&io::ErrorKind::BrokenPipe.into());
        assert!(problem.is_quiet());
        assert_eq!(problem.exit(), Exit::Ok);
        assert!(!Problem::output(&io::ErrorKind::StorageFull.into()).is_quiet());
    }

    #[test]
    fn programs_get_the_same_facts() {
        let problem = Problem::new(Kind::NotFound, "run_not_found", "no run").next("list them");
        let expected =
            json!({"error": {"code": "run_not_found", "message": "no run", "kind": "not_found", "next": "list them"}});
        assert_eq!(problem.to_json(), expected);
    }
}
