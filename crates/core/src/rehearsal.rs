//! Rehearsals: a flow performed in virtual time, with stubs for everything outside of it.
//!
//! ```text
//! case ──► stage (the fold, a clock of its own, stubs) ──► performance ──► judge ──► misses
//! ```
//!
//! There is no worker, no store and no clock: attempts end when their stubs say so, people answer when the case says
//! so, and a wait of two days takes no time at all. What is rehearsed is the plan itself, folded by the same rules
//! as any run, so a flow that passes here behaves so everywhere.

mod differ;
mod judge;
mod place;
mod stage;

pub use judge::{Miss, judge};
pub use place::{Place, fits, places};
pub(crate) use stage::VARIABLES;
pub use stage::{Effect, Performance, perform};

use crate::event::Failure;
use crate::name::Name;
use crate::plan::Plan;
use crate::state::Phase;
use crate::template::Template;
use crate::time::{Millis, Time};
use serde_json::Value;
use std::sync::Arc;

/// One thing that should be so.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// The plan that is performed.
    pub plan: Arc<Plan>,
    /// The whole input, as JSON.
    pub input: String,
    /// When it begins.
    pub at: Time,
    /// Who answers in place of the outside; the first that fits does.
    pub stubs: Vec<Stub>,
    /// What people say at gates.
    pub answers: Vec<Said>,
    /// What should come of it.
    pub expect: Expect,
}

/// Stands in for an action or a task.
#[derive(Debug, Clone)]
pub struct Stub {
    /// As it is written, for messages.
    pub name: String,
    /// For whom.
    pub of: Of,
    /// What it says.
    pub says: Says,
}

/// Whom a stub stands in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// One task.
    Task,
    /// Tasks whose paths differ in their numbers.
    Tasks,
    /// Every task of an action.
    Action,
}

/// What a stub says.
#[derive(Debug, Clone)]
pub enum Says {
    /// The same to every attempt.
    Always(Answer),
    /// One answer after the other.
    InTurn(Vec<Answer>),
}

/// How an attempt ends.
#[derive(Debug, Clone)]
pub struct Answer {
    /// How long it takes.
    pub takes: Millis,
    /// With what.
    pub ends: Ends,
}

/// With what an attempt ends.
#[derive(Debug, Clone)]
pub enum Ends {
    /// Well, with an output, which may use what the attempt was given.
    Returns(Template),
    /// Badly.
    Fails(Box<Failure>),
}

/// What people say at a gate.
#[derive(Debug, Clone)]
pub struct Said {
    /// The gate's path; `*` stands for any number.
    pub task: String,
    /// How long after the gate began to wait.
    pub after: Millis,
    /// Who approves.
    pub approve: Vec<Name>,
    /// Who rejects.
    pub reject: Option<Name>,
    /// What comes from outside, which opens a gate that waits for that.
    pub sends: Option<Value>,
}

/// What should come of a case. What is absent may be anything.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    /// Where the run ends, or is when nothing moves any more.
    pub state: Option<Phase>,
    /// Its output.
    pub output: Option<Value>,
    /// The failure it ends with.
    pub failure: Option<Failed>,
    /// Where tasks are, by their paths.
    pub tasks: Vec<(String, Task)>,
    /// Every attempt that began, in order.
    pub effects: Option<Vec<Attempt>>,
    /// How long it took, exactly.
    pub elapsed: Option<Millis>,
    /// How long it took at most.
    pub within: Option<Millis>,
}

/// How something should have failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failed {
    /// The type.
    pub kind: Option<String>,
    /// The whole message.
    pub message: Option<String>,
}

/// Where a task should be.
#[derive(Debug, Clone, Default)]
pub struct Task {
    /// What people see of its state.
    pub state: Option<Phase>,
    /// How many attempts it had.
    pub attempts: Option<u16>,
    /// What it made.
    pub output: Option<Value>,
    /// How it failed.
    pub failure: Option<Failed>,
}

/// An attempt that should have begun.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The path of its task, or its action.
    pub who: String,
    /// What it was given; only these keys are compared.
    pub with: Option<Value>,
}
