//! Patterns: the first line is one, the others are texts that it may fit. Reading and matching end, and what fits
//! from end to end fits somewhere.

use super::{Target, words};
use edgewise_core::pattern::Pattern;

pub const TARGET: Target = Target {
    name: "pattern",
    words: &[
        "^",
        "$",
        ".",
        "*",
        "+",
        "?",
        "|",
        "(",
        ")",
        "(?:",
        "(?i)",
        "(?P<a>",
        "[",
        "]",
        "[^",
        "a-z",
        "\\d",
        "\\w",
        "\\s",
        "\\D",
        "\\b",
        "\\B",
        "\\pL",
        "\\p{Greek}",
        "[[:alpha:]]",
        "{2}",
        "{2,}",
        "{1,1000}",
        "*?",
        "+?",
        "\\x41",
        "\\x{1F600}",
        "\\Q",
        "\\E",
        "\\A",
        "\\z",
        "\\1",
        "(?=",
        "(?<=",
        "\\.",
        "\n",
        "aaaaaaaaaaaaaaaa",
        "ñ",
        "\u{1f600}",
    ],
    defined: Vec::new,
    attempt,
};

fn attempt(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else { return "no text".to_owned() };
    let (first, texts) = text.split_once('\n').unwrap_or((text, ""));
    let pattern = match Pattern::parse(first) {
        Ok(pattern) => pattern,
        Err(why) => {
            assert!(!why.is_empty(), "refused without a word");
            return words(&why);
        }
    };
    let whole = Pattern::parse(&format!("^(?:{first})$"));
    let fits = texts.lines().take(20).filter(|line| {
        let fits = pattern.is_match(line);
        assert_eq!(pattern.is_match(line), fits, "it fits and does not");
        assert!(fits || !whole.as_ref().is_ok_and(|whole| whole.is_match(line)), "{line:?} fits from end to end only");
        fits
    });
    format!("fine {}", fits.count().min(4))
}
