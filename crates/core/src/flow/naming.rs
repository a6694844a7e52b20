//! `namespace:`, `labels:` and `identity:`: how the runs of a flow are told apart and found.

use super::problem::Sink;
use super::read::{Fields, choice, map, name, text};
use super::tree::{Kind, Node};
use crate::limits;
use crate::plan::{Identity, Naming, check_label};
use std::collections::BTreeMap;

/// Reads the three keys of a flow.
pub(super) fn naming(fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> Naming {
    let namespace = fields.get("namespace").and_then(|node| name(node, "`namespace`", sink));
    let labels = fields.get("labels").map(|node| labels(node, sink)).unwrap_or_default();
    let identity = fields.get("identity").and_then(|node| choice(node, "`identity`", &Identity::ALL, sink));
    Naming { namespace, labels, identity: identity.unwrap_or_default() }
}

/// Texts as they stand: a label is known before anything has run.
fn labels(node: &Node<'_>, sink: &mut Sink<'_>) -> BTreeMap<String, String> {
    let entries = map(node, "`labels`", sink).unwrap_or_default();
    if entries.len() > limits::LABELS {
        let message = format!("a run has at most {} labels, these are {}", limits::LABELS, entries.len());
        sink.error(node.span, "too_many_labels", message);
    }
    let mut labels = BTreeMap::new();
    for entry in entries {
        let what = format!("the label {}", crate::suggest::shown(&entry.key));
        let Some(value) = text(&entry.value, &what, sink) else { continue };
        if matches!(entry.value.kind, Kind::Scalar(..)) && value.contains("${{") {
            let help = "give it when a run is started: `edgewise run --label k=v`";
            sink.error(entry.value.span, "no_expressions", format!("{what} is a text that is known beforehand"))
                .help(Some(help.into()));
            continue;
        }
        if sink.accept(check_label(&entry.key, value), entry.at).is_some() {
            labels.insert(entry.key.to_string(), value.to_owned());
        }
    }
    labels
}
