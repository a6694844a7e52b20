//! What can go wrong, sorted by what the caller would do about it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind exists only where a caller acts differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The request can never succeed as it is: correct it.
    Invalid,
    /// The thing named does not exist.
    NotFound,
    /// The caller may not do this.
    Denied,
    /// Somebody else was first, or the state forbids it: look, then decide.
    Conflict,
    /// A fact about an attempt that is over: drop it.
    Stale,
    /// A named limit would be crossed.
    Limit,
    /// Not now (disk full, store busy, peer gone): try again later.
    Unavailable,
    /// Stored bytes are not what was written.
    Corrupt,
    /// A rule of ours was broken: report it.
    Bug,
}

/// One error type for all crates below the binary: kind, stable code, message, source.
#[derive(Debug)]
pub struct Error {
    /// What the caller should do about it.
    pub kind: Kind,
    /// Stable and machine-readable, such as `run_not_found`.
    pub code: &'static str,
    /// What was expected, what was found, which id, what to do next.
    pub message: String,
    /// The error beneath, if any.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of a kind, with its stable code and its message.
    pub fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), source: None }
    }

    /// The same error, naming the one beneath it.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }
}

macro_rules! constructors {
    ($($name:ident $kind:ident),* $(,)?) => {
        impl Error {$(
            #[doc = concat!("An error of kind `", stringify!($kind), "`.")]
            pub fn $name(code: &'static str, message: impl Into<String>) -> Self {
                Self::new(Kind::$kind, code, message)
            }
        )*}
    };
}
constructors!(
    invalid Invalid, not_found NotFound, denied Denied, conflict Conflict, stale Stale,
    limit Limit, unavailable Unavailable, corrupt Corrupt, bug Bug,
);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(source) = &self.source {
            write!(f, " ({source})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| &**e as _)
    }
}
