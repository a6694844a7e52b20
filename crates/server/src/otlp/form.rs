//! Spans in the JSON form of OTLP.

use super::tracer::Span;
use edgewise_core::time::Time;
use serde_json::{Value, json};

/// One request with spans of a workspace. It is named: the workspaces of one server send to the same collector.
pub(super) fn body((tenant, workspace): &(String, String), spans: &[Span]) -> String {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    let about = [("service.name", "edgewise"), ("edgewise.tenant", tenant), ("edgewise.workspace", workspace)];
    json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(&about) },
        "scopeSpans": [{ "scope": { "name": "edgewise", "version": env!("CARGO_PKG_VERSION") }, "spans": spans }],
    }] })
    .to_string()
}

fn span(span: &Span) -> Value {
    let pairs: Vec<(&str, &str)> = span.about.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let mut value = json!({
        "traceId": format!("{:032x}", span.trace),
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        "kind": 1,
        "startTimeUnixNano": nanos(span.from),
        "endTimeUnixNano": nanos(span.until),
        "attributes": attributes(&pairs),
        "status": match &span.failure {
            None => json!({ "code": 1 }),
            Some(why) => json!({ "code": 2, "message": why }),
        },
    });
    if let Some(parent) = span.parent {
        value["parentSpanId"] = json!(format!("{parent:016x}"));
    }
    value
}

fn attributes(pairs: &[(&str, &str)]) -> Vec<Value> {
    pairs.iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect()
}

/// As text: the numbers are too large for some readers of JSON.
fn nanos(time: Time) -> String {
    format!("{}000000", time.0)
}
