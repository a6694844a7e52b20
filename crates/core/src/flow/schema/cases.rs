//! The schema of case files, in the same way.

use super::super::cases::{ANSWER, CASE, EXPECT, EXPECTED, FAILS, FAILURE, FILE, RUN, SAID, STATES};
use super::{Level, about, any, document, either, map_of, names, of, text, word_of};
use crate::limits;
use serde_json::{Value, json};

pub(super) const LEVELS: [Level; 8] = [
    ("file", &FILE, file),
    ("case", &CASE, case),
    ("said", &SAID, said),
    ("answer", &ANSWER, answer),
    ("fails", &FAILS, fails),
    ("expect", &EXPECT, expect),
    ("expected", &EXPECTED, expected),
    ("failure", &FAILURE, failure),
];

/// The schema of the cases of a flow.
pub fn case_schema() -> Value {
    let mut schema = document(&LEVELS, "file", "Cases of a flow of Edgewise");
    schema["description"] = json!("What should come of a flow. `edgewise test FILE` performs them in virtual time.");
    schema["$defs"]["file"]["required"] = json!(["cases"]);
    schema["$defs"]["fails"]["required"] = json!(["type"]);
    schema
}

fn stubs(words: &str) -> Value {
    let in_turn = json!({ "type": "array", "items": of("answer"), "minItems": 1 });
    map_of(words, &json!({ "anyOf": [of("answer"), in_turn] }))
}

fn file() -> Vec<(&'static str, Value)> {
    let case = json!({ "anyOf": [of("case"), { "type": "null" }] });
    vec![
        ("flow", about("Which flow of the file the cases are about", of("name"))),
        ("description", text("For people")),
        ("stubs", stubs("Stubs of all cases; those of a case go first")),
        ("cases", map_of("The cases by what they show", &case)),
    ]
}

fn case() -> Vec<(&'static str, Value)> {
    let people = json!({ "anyOf": [of("name"), { "type": "array", "items": of("name") }, of("said")] });
    vec![
        ("flow", about("Which flow of the file it is about", of("name"))),
        ("description", text("For people")),
        ("input", json!({ "type": "object", "description": "What the run is given" })),
        ("at", text("When it begins, such as 2027-01-01T00:00:00Z")),
        ("stubs", stubs("Who stands in for actions and tasks, by their names and paths")),
        ("gates", map_of("What people say at gates, by their paths", &people)),
        ("expect", about("What should come of it; success if absent", of("expect"))),
    ]
}

fn said() -> Vec<(&'static str, Value)> {
    let who = [of("name"), json!({ "type": "array", "items": of("name") })];
    vec![
        ("approve", either("Who approves", &who)),
        ("reject", about("Who rejects", of("name"))),
        ("sends", any("What comes from outside and opens a webhook or external gate; its output")),
        ("after", about("How long the gate has waited by then", of("duration"))),
    ]
}

fn answer() -> Vec<(&'static str, Value)> {
    vec![
        ("returns", any("The output; a text that is one ${{ … }} is computed from `with`, `env` and `attempt`")),
        ("fails", either("The type of an error, or more of it", &[json!({ "type": "string" }), of("fails")])),
        ("takes", about("How long the attempt takes", of("duration"))),
    ]
}

fn fails() -> Vec<(&'static str, Value)> {
    vec![
        ("type", text("The type of the error")),
        ("message", text("What it says")),
        ("is", names("Types that it is as well")),
        ("retryable", json!({ "type": "boolean", "description": "Whether another attempt could succeed" })),
        ("retry_after", about("How long to wait before it", of("duration"))),
    ]
}

fn expect() -> Vec<(&'static str, Value)> {
    let effect = json!({ "anyOf": [{ "type": "string" }, { "type": "object", "minProperties": 1 }] });
    let task = json!({ "anyOf": [word_of(&STATES.map(|(word, _)| word)), of("expected")] });
    vec![
        ("state", about("Where the run is in the end", word_of(&RUN.map(|(word, _)| word)))),
        ("output", any("The run's output")),
        ("failure", either("How it failed", &[json!({ "type": "string" }), of("failure")])),
        ("tasks", map_of("Where tasks are in the end, by their paths", &task)),
        ("effects", json!({ "type": "array", "items": effect, "description": "All attempts in their order" })),
        ("elapsed", about("How long it takes, exactly", of("duration"))),
        ("within", about("How long it takes at most", of("duration"))),
    ]
}

fn expected() -> Vec<(&'static str, Value)> {
    let attempts = json!({ "type": "integer", "minimum": 0, "maximum": limits::MAX_ATTEMPTS });
    vec![
        ("state", about("Where it is in the end", word_of(&STATES.map(|(word, _)| word)))),
        ("attempts", about("How many attempts it took", attempts)),
        ("output", any("Its output")),
        ("failure", either("How it failed", &[json!({ "type": "string" }), of("failure")])),
    ]
}

fn failure() -> Vec<(&'static str, Value)> {
    vec![("type", text("The type of the error")), ("message", text("A part of what it says"))]
}
