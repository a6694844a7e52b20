//! What the characters between quotes stand for.

use super::{Fault, Span};
use crate::suggest::shown;

/// The text that a token with prefix and quotes stands for.
pub(super) fn decode(token: &str, span: Span) -> Result<String, Fault> {
    let prefix = token.find(['"', '\'']).unwrap_or(0);
    let raw = token[..prefix].contains(['r', 'R']);
    let rest = &token[prefix..];
    let quotes = if rest.len() >= 6 && (rest.starts_with("\"\"\"") || rest.starts_with("'''")) { 3 } else { 1 };
    let inner = &rest[quotes..rest.len() - quotes];
    if raw || !inner.contains('\\') {
        return Ok(inner.to_owned());
    }
    let mut text = String::with_capacity(inner.len());
    let mut left = inner;
    while let Some(at) = left.find('\\') {
        text.push_str(&left[..at]);
        let (c, len) = escape(&left[at + 1..]).ok_or_else(|| {
            let from = span.from as usize + (token.len() - quotes - left.len()) + at;
            let next = left[at + 1..].chars().next().map_or(0, char::len_utf8);
            let part = &left[at..at + 1 + next];
            Fault::new(Span::new(from, from + part.len()), "bad_expression", format!("{} is no escape", shown(part)))
                .help("a backslash is written `\\\\`, or the text as `r\"…\"`")
        })?;
        text.push(c);
        left = &left[at + 1 + len..];
    }
    text.push_str(left);
    Ok(text)
}

/// The character that an escape stands for, and how long it is after its backslash.
fn escape(rest: &str) -> Option<(char, usize)> {
    let first = rest.chars().next()?;
    let simple = match first {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '?' | '"' | '\'' | '`' => first,
        'x' | 'X' => return digits(rest, 1, 2, 16),
        'u' => return digits(rest, 1, 4, 16),
        'U' => return digits(rest, 1, 8, 16),
        '0'..='3' => return digits(rest, 0, 3, 8),
        _ => return None,
    };
    Some((simple, 1))
}

fn digits(rest: &str, from: usize, count: usize, radix: u32) -> Option<(char, usize)> {
    let digits = rest.get(from..from + count)?;
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    Some((char::from_u32(u32::from_str_radix(digits, radix).ok()?)?, from + count))
}

/// A text as an expression writes it.
pub(super) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => *out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
}
