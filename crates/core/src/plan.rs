//! Plans: flows compiled to regions of nodes and edges. Immutable, named by their content hash.
//!
//! A plan is laid out for the fold: nodes and edges are dense numbers, a region is two CSR tables
//! (who do I need, who needs me), and what nodes have in common is said once in a spec. Names are
//! for people; nothing in the fold looks one up.

mod build;
mod check;
mod codec;
mod composite;
mod http;
mod naming;
mod outline;
mod publish;
mod region;
mod script;
mod share;
mod stored;

pub use build::{PlanDraft, Problem, RegionDraft};
pub use composite::{Arm, Branch, Call, For, Handler, Parallel, Spread, Try, While};
pub use http::{Body, Http, Method, OWN_HEADERS, is_header};
pub(crate) use naming::check_label;
pub use naming::{Identity, Naming};
pub use outline::Outlined;
pub use publish::{Condition, Delivery, Emit, Publish, Tells};
pub use region::{InEdge, OutEdge, Region};
pub use script::{Statement, Var};
pub use share::{Limit, Share};
pub(crate) use stored::{FLATTER, too_deep};

use crate::expr::Expr;
use crate::gate::Gate;
use crate::id::PlanHash;
use crate::input::Input;
use crate::name::Name;
use crate::retry::Retry;
use crate::template::Template;
use crate::time::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The region a run starts with.
pub const ROOT: u32 = 0;

/// A flow compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The flow's name.
    pub flow: Name,
    /// How its runs are told apart and found.
    pub naming: Naming,
    /// What a permanent failure does to the rest.
    pub on_failure: OnFailure,
    /// What nodes are made of; several nodes may share one.
    pub specs: Vec<Spec>,
    /// The root first, then one for each composite.
    pub regions: Vec<Region>,
    /// What a run must be given, in the author's order.
    pub inputs: Vec<Input>,
    /// The run's output; the map of all outputs of tasks without dependents if absent.
    pub output: Option<Template>,
    /// What the outside world is told when a run ends.
    pub publish: Vec<Publish>,
    /// Whether the outside world is told anything at all, by the flow or by a task of it, and how that travels.
    pub tells: Tells,
}

/// What a permanent failure does to the rest of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Independent branches finish, then the run ends in Error.
    #[default]
    Continue,
    /// Everything else is cancelled.
    FailFast,
    /// The failed task's out-edges stay open until an operator decides.
    Hold,
}

/// What a node is: its work, and the rules for its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Whether it is wanted at all, asked once its in-edges allow it; always if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// Who does it and what they are given.
    pub work: Work,
    /// How attempts follow each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub retry: Retry,
    /// How long things may take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeouts: Timeouts,
    /// How it takes its turn among others.
    #[serde(default, skip_serializing_if = "is_default")]
    pub share: Share,
    /// What the outside world is told when it, or an attempt of it, ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub publish: Vec<Publish>,
}

/// Who does a node's work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Any worker that offers the action.
    Action {
        /// The action's name.
        action: Name,
        /// What the worker is given.
        #[serde(default, skip_serializing_if = "is_default")]
        with: Template,
    },
    /// The built-in command runner.
    Command(Command),
    /// The built-in HTTP runner.
    Http(Http),
    /// The world.
    Gate(Gate),
    /// A run of its own.
    SubRun(SubRun),
    /// An item of the work graph, which a person or an agent closes.
    Item(ItemTask),
    /// Time passing: as many seconds as computed, or a duration as a text.
    Sleep(Expr),
    /// A domain event, told when the flow comes to it.
    Emit(Emit),
    /// One scope of a region for each item, all at once.
    Spread(Spread),
    /// One scope of each of several regions, all at once.
    Parallel(Parallel),
    /// The first arm whose condition holds.
    Branch(Branch),
    /// One scope after another, for each item.
    For(For),
    /// One scope after another, while a condition holds.
    While(While),
    /// A body, and handlers of its failures.
    Try(Try),
    /// A function's body.
    Call(Call),
}

/// A run of another flow, pinned when the plan was made. Attempt n is child n.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubRun {
    /// The other flow's name.
    pub flow: Name,
    /// Its plan.
    pub plan: PlanHash,
    /// What the child is given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub with: Template,
}

/// An item of the work graph: made when the task begins, closed by whoever does it. Attempt n is item n.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemTask {
    /// `title`, `description`, `acceptance`, `priority`, `assignee` and `tags`, as far as they are said.
    pub fields: Template,
}

/// A command for the built-in runner.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Command {
    /// What `sh -c` is given, as it stands.
    pub script: String,
    /// Variables, each evaluated at the grant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, Template)>,
    /// How its output is read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: OutputForm,
}

/// How the output of a command is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// A text, without its last line break.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// A list of lines.
    Lines,
}

/// The items of a spread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Items {
    /// Written in the flow.
    Literal(Vec<serde_json::Value>),
    /// Computed from inputs and earlier outputs; it must come to a list.
    Expr(Expr),
}

/// How long a task may take; absent means as long as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// One attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Millis>,
    /// The task with all its attempts and waits, from when it became ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<Millis>,
    /// Waiting to be taken by a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Millis>,
    /// Between two heartbeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Millis>,
}

/// The rule over a node's in-edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// Every in-edge accepted.
    #[default]
    All,
    /// One in-edge accepted.
    Any,
    /// So many in-edges accepted.
    Count(u32),
}

impl Join {
    /// How many of `degree` in-edges must be accepted.
    pub fn threshold(self, degree: u32) -> u32 {
        match self {
            Self::All => degree,
            Self::Any => degree.min(1),
            Self::Count(n) => n.min(degree),
        }
    }
}

/// How an edge ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum Resolution {
    /// The upstream succeeded.
    Success = 1,
    /// The upstream failed for good.
    Failed = 2,
    /// The upstream never ran.
    Skipped = 3,
    /// The upstream was cancelled.
    Cancelled = 4,
}

impl Resolution {
    /// All of them, in the order of their bytes.
    pub const ALL: [Self; 4] = [Self::Success, Self::Failed, Self::Skipped, Self::Cancelled];

    /// The resolution stored as a byte; `None` for an open edge.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte).wrapping_sub(1)).copied()
    }
}

/// The set of resolutions an edge accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Accepts(u8);

impl Accepts {
    /// Only success: what an edge accepts unless the author says otherwise.
    pub const SUCCESS: Self = Self::of(Resolution::Success);
    /// Whatever happened.
    pub const DONE: Self = Self(0b1111);

    /// Just one resolution.
    pub const fn of(resolution: Resolution) -> Self {
        Self(1 << (resolution as u8 - 1))
    }

    /// Both sets together.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a resolution is in the set.
    pub const fn contains(self, resolution: Resolution) -> bool {
        self.0 & Self::of(resolution).0 != 0
    }

    /// Whether this edge turns a failure into an answer: it accepts FAILED and not SUCCESS.
    /// An edge that accepts everything only observes.
    pub const fn handles_failure(self) -> bool {
        self.contains(Resolution::Failed) && !self.contains(Resolution::Success)
    }

    /// Whether nothing is in the set, or something unknown.
    pub const fn is_invalid(self) -> bool {
        self.0 == 0 || self.0 > Self::DONE.0
    }
}

impl Plan {
    /// The root region.
    pub fn root(&self) -> &Region {
        &self.regions[ROOT as usize]
    }

    /// The flows that it starts runs of, with the plans they are pinned to; each once.
    pub fn children(&self) -> BTreeMap<PlanHash, &Name> {
        let works = self.specs.iter().map(|spec| &spec.work);
        works
            .filter_map(|work| match work {
                Work::SubRun(sub) => Some((sub.plan, &sub.flow)),
                _ => None,
            })
            .collect()
    }

    /// What a node of a region is.
    pub fn spec(&self, region: u32, node: u32) -> &Spec {
        let region = &self.regions[region as usize];
        &self.specs[region.spec(node) as usize]
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
