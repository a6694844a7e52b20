//! The table of routes in the reference is the table of routes; `UPDATE_GOLDEN=1` writes it anew.

use edgewise_core::fold::CODES;
use edgewise_server::openapi::document;
use edgewise_server::routes::table;
use std::path::Path;

const BEGIN: &str = "<!-- routes -->\n";
const END: &str = "<!-- end of routes -->\n";

fn rows() -> String {
    let mut text = String::from("| route | needs | what it is for |\n|---|---|---|\n");
    for route in table() {
        let needs = format!("{:?}", route.needs).to_lowercase();
        text.push_str(&format!("| `{} {}` | {needs} | {} |\n", route.method, route.path, route.summary));
    }
    text
}

#[test]
fn the_reference_lists_every_route() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/server.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let expected = format!("{head}{BEGIN}{}{END}{tail}", rows());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &expected).unwrap();
    }
    assert!(std::fs::read_to_string(&file).unwrap() == expected, "UPDATE_GOLDEN=1 accepts it:\n{}", rows());
}

#[test]
fn the_reference_lists_every_code_of_a_refusal() {
    let text = include_str!("../../../../docs/reference/server.md");
    let (_, rest) = text.split_once("<!-- codes -->\n").unwrap();
    let (listed, _) = rest.split_once("<!-- end of codes -->").unwrap();
    let rows = CODES.map(|(code, what)| format!("| `{code}` | {what} |\n")).concat();
    assert_eq!(listed, format!("| code | what to do |\n|---|---|\n{rows}"));
}

#[test]
fn every_route_says_what_it_takes_what_it_gives_and_what_it_may_be_refused_with() {
    let document = document();
    for route in table() {
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        let responses = operation["responses"].as_object().unwrap();
        assert!(!responses["200"]["content"].as_object().unwrap().is_empty(), "{}", route.name);
        assert!(responses.len() > 1, "{} is never refused", route.name);
        assert_eq!(operation.get("requestBody").is_some(), route.takes.is_some(), "{}", route.name);
        let refused = |status: &str| responses.contains_key(status);
        if route.path.contains("{item}") && route.method != "GET" {
            assert!(refused("412") && refused("404") && refused("409"), "{}", route.name);
        }
        let headers = operation["parameters"].to_string();
        assert_eq!(headers.contains("Idempotency-Key"), route.method == "POST", "{}", route.name);
    }
}
