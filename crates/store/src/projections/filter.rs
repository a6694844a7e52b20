//! Which runs to list: everything that a search can ask for. What fits is said here once, for every store.

use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::rows::{Marks, RunRow};
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which runs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFilter {
    /// Only of this flow.
    pub flow: Option<Name>,
    /// Only in these states; all if empty.
    pub states: Vec<RunState>,
    /// Only those asked for at this instant or later.
    pub since: Option<Time>,
    /// Only those asked for before this instant.
    pub until: Option<Time>,
    /// What else must be so of each of them.
    pub terms: Vec<Term>,
    /// What must not be so of any of them.
    pub not: Vec<Term>,
    /// Only those that stand behind this place in the list: where the last page ended.
    pub after: Option<(Time, RunId)>,
    /// At most so many, the newest first.
    pub limit: usize,
}

/// Something that is so of a run, or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// It is this run.
    Run(RunId),
    /// It is of this flow.
    Flow(Name),
    /// It is in this namespace.
    Namespace(Name),
    /// This person asked for it.
    By(Name),
    /// It was started with this key.
    Key(String),
    /// It has this label with this value.
    Label(String, String),
    /// It is one of these runs.
    OneOf(BTreeSet<RunId>),
    /// It is paused.
    Paused,
    /// It is frozen. Only the ledger knows which are: whoever searches asks it, and says [`Term::OneOf`] instead.
    Frozen,
    /// Its id begins so (from [`ID_WORD`] characters on), or its flow's name has this in it. Lower case.
    Word(String),
}

/// Shortest word that is taken for the beginning of an id: a shorter one would fit too many by chance.
pub const ID_WORD: usize = 4;

impl Term {
    /// Whether it is so of a run.
    pub(crate) fn is_so(&self, run: &Facts<'_>) -> bool {
        match self {
            Self::Run(id) => run.id == *id,
            Self::Flow(flow) => run.flow == flow,
            Self::Namespace(namespace) => run.marks.namespace.as_ref().unwrap_or(run.flow) == namespace,
            Self::By(by) => run.marks.by.as_ref() == Some(by),
            Self::Key(key) => run.marks.key.as_ref() == Some(key),
            Self::Label(key, value) => run.marks.labels.get(key) == Some(value),
            Self::OneOf(runs) => runs.contains(&run.id),
            Self::Paused => run.paused,
            Self::Frozen => false,
            Self::Word(word) => names(word, run.flow) || begins(word, run.id),
        }
    }
}

/// What terms are about.
pub(crate) struct Facts<'a> {
    pub id: RunId,
    pub flow: &'a Name,
    pub paused: bool,
    pub marks: &'a Marks,
}

/// Whether a flow's name has a word in it.
pub(crate) fn names(word: &str, flow: &str) -> bool {
    flow.to_ascii_lowercase().contains(word)
}

fn begins(word: &str, run: RunId) -> bool {
    word.len() >= ID_WORD && run.to_string().starts_with(word)
}

impl RunFilter {
    /// Whether a run is to be listed, but for the limit.
    pub fn matches(&self, row: &RunRow) -> bool {
        let facts = Facts { id: row.id, flow: &row.flow, paused: row.paused, marks: &row.marks };
        self.flow.as_ref().is_none_or(|flow| row.flow == *flow)
            && (self.states.is_empty() || self.states.contains(&row.state))
            && self.since.is_none_or(|since| row.triggered_at >= since)
            && self.until.is_none_or(|until| row.triggered_at < until)
            && self.after.is_none_or(|place| (row.triggered_at, row.id) < place)
            && self.terms.iter().all(|term| term.is_so(&facts))
            && !self.not.iter().any(|term| term.is_so(&facts))
    }
}
