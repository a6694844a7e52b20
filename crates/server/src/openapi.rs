//! The OpenAPI document, made from the table of routes.

use crate::auth::Permission;
use crate::routes::{Gives, Route, is_repeatable, table};
use axum::http::Method;
use edgewise_client::wire;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The whole document, OpenAPI 3.1.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in table() {
        let operation = operation(&route, &mut generator);
        let entry = paths.entry(route.path).or_insert_with(|| json!({}));
        entry[route.method.as_str().to_lowercase()] = operation;
    }
    let _ = generator.subschema_for::<wire::Problem>();
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Edgewise",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Durable orchestration of work graphs. Refusals are RFC 9457 problems with a stable `code`.",
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let content = match route.gives {
        Gives::Form(form) => json!({ "application/json": { "schema": form(generator) } }),
        Gives::Json => json!({ "application/json": { "schema": {} } }),
        Gives::Text => json!({ "text/plain": { "schema": { "type": "string" } } }),
        Gives::Picture => json!({
            "application/json": { "schema": generator.subschema_for::<wire::Drawing>() },
            "image/svg+xml": { "schema": { "type": "string" } },
            "text/vnd.graphviz": { "schema": { "type": "string" } },
            "text/plain": { "schema": { "type": "string" } },
        }),
        Gives::Stream => json!({ "text/event-stream": { "schema": one_event() } }),
    };
    let problem = json!({
        "description": "refused",
        "content": { "application/problem+json": { "schema": generator.subschema_for::<wire::Problem>() } },
    });
    let mut responses = json!({ "200": { "description": "so it is", "content": content } });
    if is_versioned(route) && route.method == Method::GET {
        responses["304"] = json!({ "description": "it is as it was seen" });
    }
    for status in statuses(route) {
        responses[status] = problem.clone();
    }
    let mut operation = json!({
        "operationId": route.name,
        "summary": route.summary,
        "parameters": parameters(route),
        "responses": responses,
        "x-permission": route.needs,
    });
    if let Some(takes) = route.takes {
        operation["requestBody"] = json!({ "content": { "application/json": { "schema": takes(generator) } } });
    }
    if route.needs != Permission::Open {
        operation["security"] = json!([{ "token": [] }, {}]);
    }
    operation
}

/// One event of a stream.
fn one_event() -> Value {
    let text = || json!({ "type": "string" });
    json!({ "type": "object", "properties": { "id": text(), "event": text(), "data": text() }, "required": ["data"] })
}

/// What it may be refused with.
fn statuses(route: &Route) -> Vec<&'static str> {
    let mut statuses = Vec::new();
    if route.needs != Permission::Open {
        statuses.extend(["401", "403", "500"]);
    }
    if route.takes.is_some() || !route.query.is_empty() || route.path.contains('{') {
        statuses.extend(["400", "404", "409"]);
    }
    if route.takes.is_some() {
        statuses.extend(["408", "413", "415"]);
    }
    if is_versioned(route) && route.method != Method::GET {
        statuses.push("412");
    }
    // Anybody may come too often.
    statuses.extend(["429", "503"]);
    statuses
}

/// Whether what it shows or changes has a version: one item, or one gate of items.
fn is_versioned(route: &Route) -> bool {
    let one = ["/api/v1/items/{item}", "/api/v1/gates/{gate}"].contains(&route.path);
    let act = ["{item}/", "{gate}/"].iter().any(|part| route.path.contains(part)) && !route.path.ends_with("/url");
    one || (act && route.method != Method::GET)
}

fn header(name: &str, about: &str) -> Value {
    json!({ "name": name, "in": "header", "description": about, "schema": { "type": "string" } })
}

fn headers(route: &Route) -> Vec<Value> {
    let mut headers = Vec::new();
    if is_repeatable(route) {
        headers.push(header("Idempotency-Key", "the same key gets the first answer again"));
    }
    if is_versioned(route) {
        let (name, about) = match route.method {
            Method::GET => ("If-None-Match", "the `ETag` that was seen: 304 if it is still so"),
            _ => ("If-Match", "the `ETag` that was seen: 412 if it is not so any more, and nothing is changed"),
        };
        headers.push(header(name, about));
    }
    if matches!(route.gives, Gives::Stream) {
        headers.push(header("Last-Event-ID", "goes on behind the event with this id"));
    }
    headers
}

fn parameters(route: &Route) -> Vec<Value> {
    let braces = route.path.split('{').skip(1).filter_map(|part| part.split('}').next());
    let path = braces.map(|name| {
        let about = "an id, or the unique beginning of one";
        json!({ "name": name, "in": "path", "required": true, "description": about, "schema": { "type": "string" } })
    });
    let query = route.query.iter().map(|query| {
        json!({ "name": query.name, "in": "query", "description": query.about, "schema": { "type": "string" } })
    });
    path.chain(query).chain(headers(route)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_route_is_in_the_document_once_with_its_permission() {
        let document = document();
        let mut names = BTreeSet::new();
        for route in table() {
            let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
            assert_eq!(operation["operationId"], route.name);
            assert_eq!(operation["x-permission"], serde_json::to_value(route.needs).unwrap());
            assert!(names.insert(route.name), "{} twice", route.name);
        }
    }

    #[test]
    fn every_schema_that_is_named_is_there() {
        let document = document();
        let text = document.to_string();
        let named = text.split("\"#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
        let mut count = 0;
        for name in named {
            assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
            count += 1;
        }
        assert!(count > 20, "{count}");
    }
}
