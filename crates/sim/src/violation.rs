//! A violation: something that must hold and did not, with what happened before it.

use edgewise_core::invariant;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Something that must hold and did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What must hold, such as `done_is_final`; `no_panic` if the code under test panicked.
    pub invariant: String,
    /// What was expected and what was found.
    pub message: String,
    /// What happened until then, one line each. Empty where nobody keeps a schedule.
    pub schedule: Vec<String>,
}

/// Whether what must hold holds.
pub type Held = Result<(), Violation>;

impl Violation {
    /// A violation without a schedule.
    pub fn new(invariant: &str, message: impl Into<String>) -> Self {
        Self { invariant: invariant.into(), message: message.into(), schedule: Vec::new() }
    }
}

impl From<invariant::Violation> for Violation {
    fn from(broken: invariant::Violation) -> Self {
        Self::new(broken.invariant, broken.to_string())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.message)
    }
}

impl std::error::Error for Violation {}

/// Says that something must hold.
pub(crate) fn ensure(holds: bool, invariant: &str, message: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(Violation::new(invariant, message())) }
}

thread_local! {
    /// What the last panic on this thread said, while panics are caught here.
    static CAUGHT: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// Does something, and makes a violation of a panic. Nothing is printed.
pub(crate) fn catch<T>(work: impl FnOnce() -> Result<T, Violation>) -> Result<T, Violation> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let quiet = CAUGHT.with_borrow_mut(|caught| {
                let here = caught.is_some();
                if here {
                    *caught = Some(Some(info.to_string()));
                }
                here
            });
            if !quiet {
                usual(info);
            }
        }));
    });
    let outer = CAUGHT.replace(Some(None));
    let result = catch_unwind(AssertUnwindSafe(work));
    let said = CAUGHT.replace(outer).flatten();
    result.unwrap_or_else(|_| Err(Violation::new("no_panic", said.unwrap_or_else(|| "it panicked".into()))))
}
