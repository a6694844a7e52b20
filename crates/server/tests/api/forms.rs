//! Every answer that these tests get is held against the OpenAPI document: nothing that it promises is missing, and
//! nothing is there that it does not name.

use edgewise_server::openapi::document;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

fn known() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(document)
}

/// The form of what an address answers, if it is one of the table and answers JSON.
fn form_of(method: &str, path: &str) -> Option<&'static Value> {
    let asked: Vec<&str> = path.split('?').next()?.split('/').collect();
    let fits = |known: &&String| {
        let parts: Vec<&str> = known.split('/').collect();
        parts.len() == asked.len() && parts.iter().zip(&asked).all(|(part, word)| part.starts_with('{') || part == word)
    };
    let paths = known()["paths"].as_object()?;
    let route = paths.keys().filter(fits).min_by_key(|path| path.matches('{').count())?;
    paths[route][method.to_lowercase()]["responses"]["200"]["content"].get("application/json")?.get("schema")
}

/// Fails if an answer is not what the document says.
pub fn check(method: &str, path: &str, text: &str) {
    let (Some(form), Ok(answer)) = (form_of(method, path), serde_json::from_str::<Value>(text)) else { return };
    if let Err(why) = fits(form, &answer, "answer") {
        panic!("{method} {path} does not answer what the OpenAPI document says: {why}\n{answer:#}");
    }
}

fn fits(form: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = form["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap_or_default();
        return fits(&known()["components"]["schemas"][name], value, at);
    }
    for one_of in ["anyOf", "oneOf"] {
        if let Some(forms) = form[one_of].as_array() {
            let wrong: Result<Vec<String>, ()> =
                forms.iter().map(|form| fits(form, value, at).err().ok_or(())).collect();
            return wrong.map_or(Ok(()), |wrong| Err(wrong.join("; ")));
        }
    }
    if let Some(words) = form["enum"].as_array() {
        return if words.contains(value) { Ok(()) } else { Err(format!("{at}: {value} is none of {words:?}")) };
    }
    if form.get("const").is_some_and(|word| word != value) {
        return Err(format!("{at}: {value} is not {}", form["const"]));
    }
    if !is_a(&form["type"], value) {
        return Err(format!("{at}: {value} is no {}", form["type"]));
    }
    match value {
        Value::Object(object) => object_fits(form, object, at),
        Value::Array(all) => {
            all.iter().enumerate().try_for_each(|(n, one)| fits(&form["items"], one, &format!("{at}[{n}]")))
        }
        _ => Ok(()),
    }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    let of = |kind: &str| match kind {
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    match kind {
        Value::String(kind) => of(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(of),
        _ => true,
    }
}

fn object_fits(form: &Value, object: &Map<String, Value>, at: &str) -> Result<(), String> {
    let required = form["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for key in required {
        if !object.contains_key(key) {
            return Err(format!("{at} has no `{key}`"));
        }
    }
    for (key, value) in object {
        let at = format!("{at}.{key}");
        match (form["properties"].get(key), form.get("additionalProperties")) {
            (Some(form), _) => fits(form, value, &at)?,
            (None, Some(Value::Object(_))) => fits(&form["additionalProperties"], value, &at)?,
            (None, None) if form.get("properties").is_some() => return Err(format!("{at} is not named")),
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn what_is_missing_not_named_or_of_another_kind_is_found() {
    let form = json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] } }, "required": ["a"] });
    for (value, found) in [
        (json!({ "a": "x" }), ""),
        (json!({ "a": null }), ""),
        (json!({}), "answer has no `a`"),
        (json!({ "a": 1 }), "answer.a: 1 is no [\"string\",\"null\"]"),
        (json!({ "a": "x", "b": 1 }), "answer.b is not named"),
        (json!([]), "answer: [] is no \"object\""),
    ] {
        assert_eq!(fits(&form, &value, "answer").err().unwrap_or_default(), found, "{value}");
    }
    assert!(form_of("GET", "/api/v1/items/ready?limit=1").is_some_and(|form| form["$ref"].is_string()));
    assert!(form_of("GET", "/api/v1/nothing").is_none() && form_of("GET", "/metrics").is_none());
}

#[test]
fn only_what_the_command_line_speaks_has_no_form() {
    let free: Vec<&str> = edgewise_server::routes::table()
        .iter()
        .filter(|route| form_of(route.method.as_str(), route.path).is_some_and(|form| *form == json!({})))
        .map(|route| route.name)
        .collect();
    assert_eq!(free, ["ask", "look"]);
}
