//! How wide text is in a picture, roughly: the reader's font is not known, so letters are taken a little too wide.

/// The width of a text in a font of this size, in pixels.
pub(super) fn width(text: &str, size: i32) -> i32 {
    let hundredths: i64 = text.chars().map(letter).sum();
    ((hundredths * i64::from(size) + 99) / 100) as i32
}

/// Hundredths of the font's size.
fn letter(c: char) -> i64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '`' => 32,
        'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 92,
        'A'..='Z' | '_' | '&' | '#' | '<' | '>' | '+' | '=' | '~' => 70,
        c if c.is_ascii() => 59,
        '…' => 100,
        c if (c as u32) < 0x1100 => 68,
        _ => 105,
    }
}

/// As much of a text as fits, with a mark where it was cut.
pub(super) fn cut(text: &str, size: i32, room: i32) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    if room < width("…", size) {
        return String::new();
    }
    let room = i64::from(room - width("…", size)) * 100 / i64::from(size);
    let mut used = 0;
    let mut kept: String = text
        .chars()
        .take_while(|c| {
            used += letter(*c);
            used <= room
        })
        .collect();
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits_and_says_that_it_was_cut() {
        for text in ["short", &"long ".repeat(40), &"日本".repeat(40), &"e\u{301}".repeat(100)] {
            let kept = cut(text, 13, 150);
            assert!(width(&kept, 13) <= 150, "{kept}");
            assert_eq!(kept == text, !kept.ends_with('…'));
        }
        assert_eq!(cut("text", 13, 5), "", "no room for a mark");
    }
}
