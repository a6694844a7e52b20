//! Rust text as the rules look at it: code without comments and literals, and where its tests are.
//!
//! This is no parser. It knows just enough of the lexical grammar that a word in a comment or a string is
//! not taken for code, and it keeps every line where it was, so that complaints can name lines.

use std::ops::Range;

/// One file, blanked: comments and the insides of literals are spaces.
pub struct Source {
    /// As long as the file, line for line.
    pub code: String,
    tests: Vec<Range<usize>>,
}

impl Source {
    /// Blanks a file. All of it is test code if its path says so.
    pub fn new(path: &str, text: &str) -> Self {
        let code = blank(text);
        let tests = if is_test_path(path) { std::iter::once(0..code.len()).collect() } else { test_ranges(&code) };
        Self { code, tests }
    }

    /// Whether the byte at this place is compiled for tests alone.
    pub fn in_test(&self, at: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&at))
    }

    /// The line of a place, from 1.
    pub fn line(&self, at: usize) -> usize {
        self.code.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1
    }

    /// Where a word stands alone: not as a part of a longer name.
    pub fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        whole_words(&self.code, word)
    }

    /// Where `first::second` is named, also through a group as in `first::{other, second}`.
    pub fn uses(&self, first: &str, second: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for at in whole_words(&self.code, first) {
            let rest = &self.code[at + first.len()..];
            let Some(rest) = rest.trim_start().strip_prefix("::") else { continue };
            let rest = rest.trim_start();
            let named = match rest.strip_prefix('{') {
                Some(group) => whole_words(&group[..closing(group)], second).next().is_some(),
                None => whole_words(rest, second).next() == Some(0),
            };
            if named {
                found.push(at);
            }
        }
        found
    }
}

fn is_test_path(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// Where `word` stands in `text` with no letter, digit or `_` on either side.
pub fn whole_words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        !text[..*at].chars().next_back().is_some_and(part) && !text[at + word.len()..].chars().next().is_some_and(part)
    })
}

/// Where the bracket opened just before `text` is closed.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The items that stand behind `#[cfg(test)]`.
fn test_ranges(code: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (start, mark) in code.match_indices("#[cfg(test)]") {
        let body = start + mark.len();
        let end = match code[body..].find(['{', ';']) {
            Some(at) if code.as_bytes()[body + at] == b'{' => body + at + 1 + closing(&code[body + at + 1..]) + 1,
            Some(at) => body + at + 1,
            None => code.len(),
        };
        ranges.push(start..end.min(code.len()));
    }
    ranges
}

/// Replaces comments and the insides of literals by spaces.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + skip(&bytes[at..], at.checked_sub(1).map(|before| bytes[before]));
        if end == at {
            at += 1;
            continue;
        }
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    // Only whole comments and literals were blanked, so what is left is still text.
    String::from_utf8(code).unwrap_or_default()
}

/// How long the comment or literal is that begins here; zero if none does.
fn skip(rest: &[u8], before: Option<u8>) -> usize {
    let in_name = before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    match rest {
        [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => quoted(rest, b'"'),
        [b'r', b'"' | b'#', ..] if !in_name => raw_string(rest),
        [b'b', b'r', b'"' | b'#', ..] if !in_name => match raw_string(&rest[1..]) {
            0 => 0,
            length => length + 1,
        },
        [b'\'', b'\\', ..] => quoted(rest, b'\''),
        [b'\'', first, ..] => {
            // A lifetime has no second quote right behind its first character.
            let width = match first {
                0..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
        }
        _ => 0,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw_string(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|b| **b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'"'];
    end.resize(1 + hashes, b'#');
    let body = 2 + hashes;
    rest[body..].windows(end.len()).position(|w| w == end).map_or(rest.len(), |at| body + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blank_and_lines_stay() {
        for (text, code) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x \" y") + 1"#, "f(        ) + 1"),
            (r###"f(r#"x " y"#)"###, "f(          )"),
            ("'x' + '\\'' + 'é'", "    +      +     "),
            ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
            ("var\"x\"", "var   "),
        ] {
            assert_eq!(blank(text), code, "{text}");
        }
    }

    #[test]
    fn test_code_is_found_by_its_mark_and_by_its_path() {
        let source = Source::new("src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { c() } }\nfn d() {}");
        let place = |word| source.words(word).next().unwrap();
        assert!(!source.in_test(place("a")) && source.in_test(place("c")) && !source.in_test(place("d")));
        assert!(Source::new("crates/x/tests/a.rs", "fn a() {}").in_test(3));
    }

    #[test]
    fn a_use_is_found_alone_and_in_a_group() {
        for (text, found) in [
            ("use std::fs;", true),
            ("use std::{io, fs::File};", true),
            ("use std::fmt;", false),
            ("use std::{fmt, io};\nmod fs {}", false),
            ("use my_std::fs;", false),
            ("std::fs_extra::x()", false),
        ] {
            assert_eq!(!Source::new("a.rs", text).uses("std", "fs").is_empty(), found, "{text}");
        }
    }
}
