//! What messages are made of: the nearest right name to a wrong one, and words from strangers made safe to print.

/// The candidate nearest to `word`, if one is near enough to be meant. The first of equals wins.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Of one letter nothing is left when it is replaced, so it is near to nothing.
    let letters = word.chars().count();
    let far = (letters / 3).clamp(1, 4).min(letters.saturating_sub(1));
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.eq_ignore_ascii_case(word) {
            return Some(candidate);
        }
        let bound = best.map_or(far, |(distance, _)| distance - 1);
        if let Some(distance) = distance(word, candidate, bound) {
            best = Some((distance, candidate));
        }
        if best.is_some_and(|(distance, _)| distance <= 1) {
            break;
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// How many letters must be added, removed, replaced or swapped with a neighbour; `None` if more than `bound`.
fn distance(a: &str, b: &str, bound: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > bound * 4 {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > bound {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        if row.iter().all(|d| *d > bound) {
            return None;
        }
        before = std::mem::replace(&mut above, row);
    }
    (above[b.len()] <= bound).then_some(above[b.len()])
}

/// A text as messages show it: in backticks, cut when long, with whatever a terminal would obey or hide
/// (escapes, line breaks, changes of direction) written out.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut out = String::from("`");
    for (n, c) in text.chars().enumerate() {
        if n == LONGEST {
            out.push('…');
            break;
        }
        out.extend(visible(c));
    }
    out.push('`');
    out
}

/// A text with every invisible character written out.
pub fn plain(text: &str) -> String {
    text.chars().flat_map(visible).collect()
}

fn visible(c: char) -> impl Iterator<Item = char> {
    // Quotes and backslashes are visible as they are; `escape_debug` would double them.
    let keep = matches!(c, '\'' | '"' | '\\') || is_visible(c);
    keep.then_some(c).into_iter().chain((!keep).then(|| c.escape_debug()).into_iter().flatten())
}

/// Whether a character shows as itself.
pub fn is_visible(c: char) -> bool {
    matches!(c, '\'' | '"' | '\\') || c.escape_debug().len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_name_and_a_stranger_finds_none() {
        let keys = ["after", "action", "timeout", "retry"];
        for (word, meant) in [
            ("aftr", Some("after")),
            ("atfer", Some("after")),
            ("After", Some("after")),
            ("timout", Some("timeout")),
            ("retrys", Some("retry")),
            ("colour", None),
            ("", None),
            ("x", None),
            ("R", None),
        ] {
            assert_eq!(nearest(word, keys), meant, "{word}");
        }
    }
    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(shown("a'b\"c\\d é"), "`a'b\"c\\d é`");
        assert_eq!(shown("\u{1b}[31m\n\u{202e}"), "`\\u{1b}[31m\\n\\u{202e}`");
        assert_eq!(shown(&"x".repeat(100)).chars().count(), 63);
    }
}
