//! Text on its way to a terminal: made harmless, measured, cut.
//!
//! Names, messages and logs come from outside. Printed as they are, they could move the cursor, change the
//! title or hide a line; so every control character is shown instead of obeyed.

use std::borrow::Cow;

/// One line without control characters: they are shown as escapes, such as `\u{1b}` or `\n`.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_but(text, |_| false)
}

/// A line of a log: tabs stay, other control characters are shown.
pub fn escape_log(text: &str) -> Cow<'_, str> {
    escape_but(text, |c| c == '\t')
}

fn escape_but(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let harmful = |c: char| is_harmful(c) && !keep(c);
    if !text.chars().any(harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if harmful(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

/// Control characters, and the invisible ones that turn text around or break its lines.
fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A word as a shell reads it, for commands that are shown to be typed.
pub fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// How many columns a text takes. Escape sequences of ours are not counted.
pub fn width(text: &str) -> usize {
    pieces(text).map(|(_, columns)| columns).sum()
}

/// At most so many columns of a text, with a mark where something was cut. Escape sequences of ours are kept,
/// also behind the cut, so that a colour that was begun is ended.
pub fn cut(text: &str, columns: usize, mark: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(width(mark));
    let (mut kept, mut used, mut full) = (String::new(), 0, false);
    for (piece, columns) in pieces(text) {
        if columns > 0 && !full && used + columns > room {
            full = true;
            kept.push_str(mark);
        }
        let sequence = piece.starts_with('\u{1b}');
        if sequence || !full {
            kept.push_str(piece);
            used += columns;
        }
    }
    if width(&kept) > columns { String::new() } else { kept }
}

/// A text in lines of at most so many columns, broken between words; the first line has its own room. A word that
/// is longer than a line stays whole.
pub fn wrap(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let room = if lines.is_empty() { first } else { others };
        if !line.is_empty() && width(&line) + 1 + width(word) > room {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// A text with spaces behind it, so that it takes so many columns.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Characters with their columns; a colour sequence is one piece of none.
fn pieces(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let c = rest.chars().next()?;
        let sequence = rest.starts_with("\u{1b}[").then(|| rest.find('m')).flatten();
        let (length, columns) = match sequence {
            Some(end) => (end + 1, 0),
            None => (c.len_utf8(), char_width(c)),
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some((piece, columns))
    })
}

/// Columns of one character, by the ranges that matter: marks that combine, and the wide scripts and pictures.
fn char_width(c: char) -> usize {
    match u32::from(c) {
        0x20..0x7f => 1,
        0..0x20 | 0x7f..0xa0 | 0xad | 0x300..0x370 | 0x483..0x48a | 0x591..0x5c0 | 0x610..0x61b | 0x64b..0x660 => 0,
        0x200b..0x2010 | 0x2060..0x2065 | 0x20d0..0x2100 | 0xfe00..0xfe10 | 0xfe20..0xfe30 | 0xfeff => 0,
        0x1ab0..0x1b00 | 0x1dc0..0x1e00 | 0xe0100..0xe01f0 => 0,
        0x1100..0x1160 | 0x231a..0x231c | 0x23e9..0x23ed | 0x2614..0x2616 | 0x26a1 | 0x2705 | 0x274c | 0x2757 => 2,
        0x2e80..0x303f | 0x3041..0x3248 | 0x3250..0x4dc0 | 0x4e00..0xa4d0 | 0xa960..0xa980 | 0xac00..0xd7a4 => 2,
        0xf900..0xfb00 | 0xfe30..0xfe70 | 0xff01..0xff61 | 0xffe0..0xffe7 => 2,
        0x1f300..0x1f650 | 0x1f680..0x1f700 | 0x1f900..0x1fa00 | 0x1fa70..0x1fb00 | 0x20000..0x3fffe => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_move_the_cursor_is_shown_instead() {
        for (text, shown) in [
            ("plain", "plain"),
            ("héllo 日本", "héllo 日本"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("abc\u{202e}def", "abc\\u{202e}def"),
        ] {
            assert_eq!(escape(text), shown);
        }
        assert_eq!(escape_log("a\tb\u{7}"), "a\tb\\u{7}");
    }

    #[test]
    fn wide_and_combining_characters_and_colours_are_measured_right() {
        for (text, columns) in [("abc", 3), ("日本", 4), ("e\u{301}", 1), ("\u{1b}[1;31mred\u{1b}[0m", 3), ("✓ ok", 4)]
        {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn a_cut_text_fits_and_says_that_it_was_cut() {
        for (text, columns, expected) in [
            ("hello", 5, "hello"),
            ("hello", 4, "hel…"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("hello", 0, ""),
            ("\u{1b}[31mhello\u{1b}[0m!", 3, "\u{1b}[31mhe…\u{1b}[0m"),
        ] {
            assert_eq!(cut(text, columns, "…"), expected, "{text:?} in {columns}");
        }
    }

    #[test]
    fn a_word_is_quoted_only_where_a_shell_needs_it() {
        for (word, shown) in [("build", "build"), ("build[3]", "'build[3]'"), ("it's", r"'it'\''s'"), ("", "''")] {
            assert_eq!(quoted(word), shown);
        }
    }

    #[test]
    fn wrapped_lines_fit_and_words_stay_whole() {
        assert_eq!(wrap("one two three", 7, 5), ["one two", "three"]);
        assert_eq!(wrap("one two three", 80, 80), ["one two three"]);
        assert_eq!(wrap("a incomprehensibilities b", 5, 5), ["a", "incomprehensibilities", "b"]);
        assert_eq!(wrap("", 5, 5), [""]);
    }

    #[test]
    fn padding_counts_columns_not_bytes() {
        assert_eq!(pad("日", 4), "日  ");
        assert_eq!(pad("long", 2), "long");
    }
}
