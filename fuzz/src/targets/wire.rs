//! The socket of a folder: one line, as an engine reads it and as its client does.

use super::{Target, refusal};
use edgewise_engine::folder::wire::{hear, speak, understand};

pub const TARGET: Target = Target {
    name: "wire",
    words: &[
        "\"v\":1",
        "\"id\":",
        "\"ask\":",
        "\"ping\"",
        "\"start\":",
        "\"cancel\":",
        "\"pause\":",
        "\"resume\":",
        "\"approve\":",
        "\"withdraw\":",
        "\"reject\":",
        "\"wait\":",
        "\"rerun\":",
        "\"from\":",
        "\"failure\"",
        "\"reopened\":",
        "\"plan\":",
        "\"input\":",
        "\"by\":",
        "\"key\":",
        "\"labels\":",
        "\"run\":",
        "\"task\":",
        "\"why\":",
        "\"comment\":",
        "\"ok\":",
        "\"error\":",
        "\"bye\":",
        "\"kind\":",
        "\"code\":",
        "\"message\":",
        "\"pong\":",
        "\"background\":",
        "\"started\":",
        "\"new\":",
        "\"done\"",
        "\"already\"",
        "\"ended\":",
        "\"Complete\"",
        "not_found",
        "true",
        "null",
        "{}",
        "[]",
        ",",
        "\\u0000",
        "\\ud800",
        "0000000000000007",
    ],
    defined: Vec::new,
    attempt,
};

fn attempt(input: &[u8]) -> String {
    let asked = match understand(input) {
        Ok((id, ask)) => {
            let line = speak(id, &ask).unwrap_or_else(|error| panic!("what was understood cannot be said: {error}"));
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "one request, one line");
            let again = understand(line.trim_ascii_end()).unwrap_or_else(|(_, error)| panic!("{error}"));
            assert_eq!(speak(again.0, &again.1).ok(), Some(line), "said again, it is something else");
            format!("{ask:?}").chars().take(8).collect()
        }
        Err((_, error)) => refusal(error.code, &error.message),
    };
    let heard = match hear(input) {
        Ok(Some(Ok(said))) => format!("{said:?}").chars().take(8).collect(),
        Ok(Some(Err(error))) => format!("{:?} {}", error.kind, error.code.len().min(2)),
        Ok(None) => "other".to_owned(),
        Err(error) => refusal(error.code, &error.message),
    };
    format!("{asked}, {heard}")
}
