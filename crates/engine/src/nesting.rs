//! How deep JSON is nested, told from its text or its value, and its text without the space between its parts.
//!
//! What the ledger keeps stands within records, and whoever reads those gives up at 128 levels. So nothing that comes
//! from outside is kept deeper than the limit that flows, inputs and expressions are held to.

use edgewise_core::{Error, Result, limits};
use serde_json::Value;

/// Whether valid JSON is nested deeper than may be kept. Its text is not read as a value, which would end sooner.
pub(crate) fn is_deep(text: &str) -> bool {
    let (mut open, mut deepest) = (0_usize, 0);
    outside_of_texts(text, |c| match c {
        '[' | '{' => {
            open += 1;
            deepest = deepest.max(open);
        }
        ']' | '}' => open = open.saturating_sub(1),
        _ => {}
    });
    deepest > limits::DEPTH
}

/// Valid JSON without the space between its parts: the ledger holds it for ever, and it is one line.
pub(crate) fn compact(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut quote = Quote::default();
    kept.extend(text.chars().filter(|c| quote.holds(*c) || !c.is_ascii_whitespace()));
    kept
}

/// Refuses a text that is nested too deep to be kept.
pub(crate) fn check_text(what: &str, text: &str) -> Result<()> {
    if is_deep(text) { Err(too_deep(what)) } else { Ok(()) }
}

/// Refuses a value that is nested too deep to be kept.
pub(crate) fn check(what: &str, value: &Value) -> Result<()> {
    if fits(value, limits::DEPTH) { Ok(()) } else { Err(too_deep(what)) }
}

fn too_deep(what: &str) -> Error {
    Error::invalid("too_deep", format!("{what} is nested deeper than {} levels: make it flatter", limits::DEPTH))
}

fn fits(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left > 0 && items.iter().all(|item| fits(item, left - 1)),
        Value::Object(fields) => left > 0 && fields.values().all(|item| fits(item, left - 1)),
        _ => true,
    }
}

fn outside_of_texts(text: &str, mut see: impl FnMut(char)) {
    let mut quote = Quote::default();
    text.chars().filter(|c| !quote.holds(*c)).for_each(&mut see);
}

/// Whether a character of JSON is one of a text, its quotes with it.
#[derive(Default)]
struct Quote {
    within: bool,
    escaped: bool,
}

impl Quote {
    fn holds(&mut self, c: char) -> bool {
        if self.within {
            self.within = self.escaped || c != '"';
            self.escaped = !self.escaped && c == '\\';
            return true;
        }
        self.within = c == '"';
        self.within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_of_a_text_is_that_of_its_value_and_brackets_in_texts_do_not_count() {
        let nested = |levels: usize| format!("{}\n{}", "[".repeat(levels), "]".repeat(levels));
        let flat = format!("[{}]", vec!["[]"; 200].join(","));
        let quoted = format!("[\"{}\\\"{}\"]", "[".repeat(200), "{".repeat(200));
        for (text, deep) in [
            (nested(64), false),
            (nested(65), true),
            (nested(127), true),
            (flat, false),
            (quoted, false),
            ("7".to_owned(), false),
        ] {
            assert_eq!(is_deep(&text), deep, "{text}");
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(check("it", &value).is_err(), deep, "{text}");
            assert_eq!(check_text("it", &text).is_err(), deep, "{text}");
        }
        assert!(is_deep(&nested(1_000_000)));
    }

    #[test]
    fn space_goes_between_parts_and_stays_in_texts() {
        for (text, expected) in [
            ("{\n \"a b\" :\r\n\t[ 1.50 ]}", r#"{"a b":[1.50]}"#),
            (r#" " x \" y \\" "#, r#"" x \" y \\""#),
            ("[ ]", "[]"),
        ] {
            assert_eq!(compact(text), expected);
        }
    }
}
