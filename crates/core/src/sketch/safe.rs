//! Text from outside, on its way into a picture: it stays text, whatever it tries to be.
//!
//! Characters that move a cursor, break a line or turn the direction of reading around are shown as escapes in every
//! form; then each form escapes what is markup to it.

/// One line without control characters: they are shown as `\n` or `\u{202e}`.
pub(super) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmful(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    safe
}

/// Control characters, those that no XML may hold, and the invisible ones that turn text around or break its lines.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// For the text of an XML element or attribute.
pub(super) fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// For a string of DOT, between quotes. A backslash would begin an escape of its own there.
pub(super) fn dot(text: &str) -> String {
    plain(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// For a text of Mermaid, between quotes: only letters, digits and a few signs stand for themselves, all else is a
/// number, so that nothing ends the quotes, is an arrow, a tag or markdown.
pub(super) fn mermaid(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in plain(text).chars() {
        if c.is_alphanumeric() || " ._-/,:()[]…·".contains(c) {
            safe.push(c);
        } else {
            safe.push_str(&format!("#{};", u32::from(c)));
        }
    }
    // Two dashes could begin an arrow or end a comment.
    safe.replace("--", "-#45;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_markup_to_a_form_is_escaped_in_it() {
        type Escape = fn(&str) -> String;
        for (escape, text, safe) in [
            (plain as Escape, "a\nb\u{202e}c", "a\\nb\\u{202e}c"),
            (plain, "שלום 日本", "שלום 日本"),
            (xml, "<script>\"'&", "&lt;script&gt;&quot;&#39;&amp;"),
            (dot, "a\"b\\c\nd", "a\\\"b\\\\c\\\\nd"),
            (mermaid, "a\"-->b<i>`", "a#34;-#45;#62;b#60;i#62;#96;"),
        ] {
            assert_eq!(escape(text), safe, "{text:?}");
        }
    }
}
