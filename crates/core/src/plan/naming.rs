//! How the runs of a plan are told apart and found: namespace, labels, identity.

use super::Plan;
use crate::error::{Error, Result};
use crate::limits;
use crate::name::Name;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a flow says about all of its runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Naming {
    /// Where its runs belong, if that is not the flow's own name.
    pub namespace: Option<Name>,
    /// What each of its runs is labelled with, unless whoever starts it says otherwise.
    pub labels: BTreeMap<String, String>,
    /// When two starts are the same run.
    pub identity: Identity,
}

/// When two starts are the same run. A key of the caller goes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Never: each start is a run of its own.
    #[default]
    AlwaysUnique,
    /// If plan and input are the same.
    Strict,
}

impl Identity {
    /// All of them with their words.
    pub const ALL: [(&'static str, Self); 2] = [("always_unique", Self::AlwaysUnique), ("strict", Self::Strict)];
}

impl Plan {
    /// Where its runs belong.
    pub fn namespace(&self) -> &Name {
        self.naming.namespace.as_ref().unwrap_or(&self.flow)
    }

    /// The labels of a run: those of the flow, and over them those of whoever starts it. Refused if there are
    /// more, or longer ones, than a run may have.
    pub fn labels(&self, given: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>> {
        let mut labels = self.naming.labels.clone();
        labels.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
        if labels.len() > limits::LABELS {
            let message = format!("a run has at most {} labels, this one would have {}", limits::LABELS, labels.len());
            return Err(Error::limit("too_many_labels", message));
        }
        labels.iter().try_for_each(|(key, value)| check_label(key, value))?;
        Ok(labels)
    }
}

/// Refuses a label whose key is no name or whose value is too long.
pub(crate) fn check_label(key: &str, value: &str) -> Result<()> {
    Name::parse(key).map_err(|error| Error::invalid("bad_label", format!("the key of a label: {}", error.message)))?;
    if value.len() > limits::LABEL_BYTES {
        let message =
            format!("the label `{key}` has {} bytes, at most {} are allowed", value.len(), limits::LABEL_BYTES);
        return Err(Error::limit("label_too_long", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanDraft, RegionDraft};

    fn plan(labels: &[(&str, &str)]) -> Plan {
        let naming = Naming { labels: map(labels), ..Naming::default() };
        let draft = PlanDraft { regions: vec![RegionDraft::chain()], naming, ..PlanDraft::default() };
        draft.build(Name::parse("deploy").unwrap()).unwrap()
    }

    fn map(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
        labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn labels_of_the_caller_lie_over_those_of_the_flow() {
        let plan = plan(&[("team", "core"), ("tier", "1")]);
        let merged = plan.labels(&map(&[("team", "web"), ("ticket", "7")])).unwrap();
        assert_eq!(merged, map(&[("team", "web"), ("ticket", "7"), ("tier", "1")]));
    }

    #[test]
    fn too_many_labels_long_values_and_keys_that_are_no_names_are_refused() {
        let many: BTreeMap<String, String> = (0..=limits::LABELS).map(|n| (format!("k{n}"), String::new())).collect();
        assert_eq!(plan(&[]).labels(&many).unwrap_err().code, "too_many_labels");
        let long = "x".repeat(limits::LABEL_BYTES + 1);
        assert_eq!(plan(&[]).labels(&map(&[("k", &long)])).unwrap_err().code, "label_too_long");
        assert_eq!(plan(&[]).labels(&map(&[("k k", "v")])).unwrap_err().code, "bad_label");
        assert!(plan(&[]).labels(&map(&[("k", &long[1..])])).is_ok());
    }
}
