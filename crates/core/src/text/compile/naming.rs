//! What a program says of its runs: labels are a map of texts that is known beforehand.

use super::{error, say_all};
use crate::expr;
use crate::flow::problem::Sink;
use crate::plan::{Naming, check_label};
use crate::text::tree::{self, Expr};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn naming(written: &tree::Naming, sink: &mut Sink<'_>) -> Naming {
    let labels = written.labels.as_ref().and_then(|given| labels(given, sink));
    Naming { namespace: written.namespace.clone(), labels: labels.unwrap_or_default(), identity: written.identity }
}

fn labels(given: &Expr, sink: &mut Sink<'_>) -> Option<BTreeMap<String, String>> {
    let mut none = |_: &[&str], span: expr::Span| {
        let fault = expr::Fault::new(span, "not_constant", "a label is a text that is known beforehand");
        Err(fault.help("give it when a run is started: `edgewise run --label k=v`"))
    };
    let bound = given.ast.clone().bind(&mut none).map_err(|faults| say_all(sink, given.at, faults)).ok()?;
    let Some(Ok(Value::Object(map))) = bound.constant() else { return refuse(given, sink) };
    let mut labels = BTreeMap::new();
    for (key, value) in map {
        let Value::String(text) = value else { return refuse(given, sink) };
        if let Err(wrong) = check_label(&key, &text) {
            error(sink, given.at, wrong.code, wrong.message);
            return None;
        }
        labels.insert(key, text);
    }
    Some(labels)
}

fn refuse<T>(given: &Expr, sink: &mut Sink<'_>) -> Option<T> {
    let help = "such as `labels: {\"team\": \"core\"}`";
    error(sink, given.at, "bad_value", "`labels` is a map of texts".into()).help(Some(help.into()));
    None
}
