//! The world that programs act on: every action answers from its name, its arguments and the attempt alone.

use edgewise_core::event::Failure;
use serde_json::{Value, json};

/// Something a program did to the world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effect {
    /// Which action.
    pub action: String,
    /// With what, printed.
    pub with: String,
    /// Which attempt.
    pub attempt: u16,
}

/// What the actions are called.
pub const ACTIONS: [&str; 6] = ["echo", "list", "map", "pair", "fail", "flaky"];

/// The types of failures, each with the wider types it also is.
const HIERARCHY: [(&str, &[&str]); 4] = [("A", &["Base"]), ("B", &["Base"]), ("C", &[]), ("D", &["A", "Base"])];

/// What an action answers.
pub fn answer(action: &str, with: &Value, attempt: u16) -> Result<Value, Failure> {
    let number = |key: &str| with[key].as_u64().unwrap_or(2);
    match action {
        "list" => Ok((0..number("n") % 5).collect()),
        "map" => Ok(json!({ "type": "A", "message": "m", "v": with["v"] })),
        "pair" => Ok(json!([with["v"], attempt])),
        "fail" => Err(failure(with)),
        "flaky" if u64::from(attempt) <= number("n") % 5 => Err(failure(with)),
        "flaky" => Ok(attempt.into()),
        _ => Ok(with["v"].clone()),
    }
}

fn failure(with: &Value) -> Failure {
    let kind = with["type"].as_str().unwrap_or("Boom");
    let is = HIERARCHY.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, is)| is);
    let is = is.iter().map(|wider| (*wider).to_owned()).collect();
    let retryable = with["again"] != json!(false);
    Failure { is, retryable, ..Failure::new(kind, format!("{} broke", with["v"])) }
}
