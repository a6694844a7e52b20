//! `[retention]`: which runs the engine takes away by itself.

use super::Origin;
use crate::args::ended;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::query;
use edgewise_engine::retention::{KEEP_KEYS, Retention};
use edgewise_store::RunFilter;
use serde::Deserialize;

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// How long ago they must have ended.
    older_than: String,
    /// How they must have ended.
    state: Option<String>,
    /// Only those that a search finds.
    #[serde(rename = "where")]
    query: Option<String>,
    /// How long their keys are kept.
    keys: Option<String>,
}

impl Table {
    /// What it says; `origin` is where a key of it stands.
    pub(super) fn read(&self, origin: &dyn Fn(&str) -> Origin) -> Result<Retention> {
        let bad = |key: &str, error: edgewise_core::Error| {
            let what = format!("{}: `{key}` of [retention]: {}", origin(key), error.message);
            Problem::new(Kind::Invalid, "bad_config", what)
        };
        let older_than = Millis::parse(&self.older_than).map_err(|error| bad("older_than", error))?;
        let keys = self.keys.as_deref().map(Millis::parse).transpose().map_err(|error| bad("keys", error))?;
        let filter = self.query.as_deref().map(|text| self.search(text)).transpose().map_err(|e| bad("where", e))?;
        let states = self.state.as_deref().map(ended).transpose().map_err(|error| bad("state", error))?;
        let states = states.map_or(crate::command::KEPT_FOR_A_WHILE.to_vec(), |ended| ended.0);
        let filter = RunFilter { states, ..filter.unwrap_or_default() };
        Ok(Retention { older_than, filter, keep_keys: keys.unwrap_or(KEEP_KEYS) })
    }

    /// What is asked for must mean the same for as long as the engine runs.
    fn search(&self, text: &str) -> edgewise_core::Result<RunFilter> {
        let filter = query::parse(text, Time(u64::MAX / 2))?;
        if filter.since.is_some() || filter.until.is_some() || !filter.states.is_empty() {
            let message = "`since:`, `until:` and `state:` are said by `older_than` and `state` here: leave them out";
            return Err(edgewise_core::Error::invalid("bad_query", message));
        }
        Ok(filter)
    }
}
