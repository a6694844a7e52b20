//! The text of a flow file, by line and column.

use crate::suggest::is_visible;

/// A place in the file: lines and columns from 1, columns in characters, the end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) line: u32,
    pub(crate) col: u32,
    pub(crate) end_line: u32,
    pub(crate) end_col: u32,
}

impl Span {
    /// So many characters of one line.
    pub(crate) fn at(line: u32, col: u32, width: u32) -> Self {
        Self { line, col, end_line: line, end_col: col + width }
    }

    /// Just the first character.
    pub(crate) fn start(self) -> Self {
        Self::at(self.line, self.col, 1)
    }
}

/// A text with its lines found once.
pub(crate) struct Source<'a> {
    text: &'a str,
    /// Where each line starts, in bytes.
    starts: Vec<usize>,
}

/// How much of a line is shown, in characters.
const WINDOW: usize = 120;

impl<'a> Source<'a> {
    /// Lines end as in YAML: with LF, CR, or both.
    pub(crate) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends = |at: usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        let starts = std::iter::once(0).chain((0..bytes.len()).filter(|at| ends(*at)).map(|at| at + 1)).collect();
        Self { text, starts }
    }

    /// A line by its number, without its end; empty past the last one.
    pub(crate) fn line(&self, number: u32) -> &'a str {
        let n = (number as usize).saturating_sub(1);
        let Some(from) = self.starts.get(n) else { return "" };
        let to = self.starts.get(n + 1).copied().unwrap_or(self.text.len());
        self.text[*from..to].trim_end_matches(['\n', '\r'])
    }

    /// A place given in bytes; both ends must stand between characters.
    pub(crate) fn place(&self, bytes: std::ops::Range<usize>) -> Span {
        let (line, col) = self.column(bytes.start);
        let (end_line, end_col) = self.column(bytes.end.max(bytes.start));
        Span { line, col, end_line, end_col }
    }

    fn column(&self, at: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let before = &self.text[self.starts[line - 1]..at];
        (line as u32, before.chars().count() as u32 + 1)
    }

    /// The end of the last line that has something on it.
    pub(crate) fn end(&self) -> Span {
        let last = (1..=self.starts.len() as u32).rev().find(|n| !self.line(*n).trim().is_empty()).unwrap_or(1);
        Span::at(last, self.line(last).trim_end().chars().count() as u32 + 1, 1)
    }

    /// What to show of a line, and where the underline starts and how long it is.
    pub(crate) fn excerpt(&self, span: Span) -> (String, u32, u32) {
        let line = self.line(span.line);
        let col = (span.col as usize).saturating_sub(1);
        let skip = if col < WINDOW * 3 / 4 { 0 } else { col - WINDOW / 2 };
        let mut excerpt = String::from(if skip > 0 { "…" } else { "" });
        let mut rest = line.chars().skip(skip);
        // One character stays one column, so that the underline stands where it should.
        excerpt.extend(rest.by_ref().take(WINDOW).map(|c| match c {
            '\t' => ' ',
            c if is_visible(c) => c,
            _ => '\u{fffd}',
        }));
        if rest.next().is_some() {
            excerpt.push('…');
        }
        let shown = excerpt.chars().count();
        let indent = col - skip + usize::from(skip > 0);
        let end = if span.end_line == span.line { span.end_col.saturating_sub(span.col) as usize } else { usize::MAX };
        let width = end.min(shown.saturating_sub(indent)).max(1);
        (excerpt, indent.min(shown) as u32, width as u32)
    }

    /// Where the `nth` time (from 0) `needle` stands in the lines of `within`.
    /// Escapes and folded lines make a value differ from its source, so the source is searched.
    pub(crate) fn find(&self, within: Span, needle: &str, nth: usize) -> Option<Span> {
        let mut left = nth;
        for number in within.line..=within.end_line.min(self.starts.len() as u32) {
            let line = self.line(number);
            let skip = if number == within.line { (within.col as usize).saturating_sub(1) } else { 0 };
            // Stepping by characters alone is several times faster than by their places.
            let mut rest = line.chars();
            if skip > 0 {
                rest.nth(skip - 1);
            }
            let from = line.len() - rest.as_str().len();
            for (at, _) in line[from..].match_indices(needle) {
                if left == 0 {
                    let col = line[..from + at].chars().count() as u32 + 1;
                    return Some(Span::at(number, col, needle.chars().count() as u32));
                }
                left -= 1;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_lf_cr_or_both() {
        let source = Source::new("a\nb\rc\r\n\nd");
        let lines: Vec<&str> = (1..=6).map(|n| source.line(n)).collect();
        assert_eq!(lines, ["a", "b", "c", "", "d", ""]);
    }

    #[test]
    fn bytes_become_lines_and_columns_in_characters() {
        let source = Source::new("aé\r\nüb\n");
        assert_eq!(source.place(0..1), Span::at(1, 1, 1));
        assert_eq!(source.place(7..8), Span::at(2, 2, 1));
        assert_eq!(source.place(1..7), Span { line: 1, col: 2, end_line: 2, end_col: 2 });
        assert_eq!(source.place(9..9), Span::at(3, 1, 0));
    }

    #[test]
    fn a_long_line_is_shown_around_the_problem() {
        let line = format!("{}WRONG{}", "a".repeat(500), "b".repeat(500));
        let (excerpt, indent, width) = Source::new(&line).excerpt(Span::at(1, 501, 5));
        let underlined: String = excerpt.chars().skip(indent as usize).take(width as usize).collect();
        assert_eq!(underlined, "WRONG");
        assert!(excerpt.chars().count() <= WINDOW + 2 && excerpt.starts_with('…') && excerpt.ends_with('…'));
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_shown() {
        let (excerpt, indent, _) = Source::new("\tk\u{1b}[31m: x").excerpt(Span::at(1, 9, 1));
        assert_eq!((excerpt.as_str(), indent), (" k\u{fffd}[31m: x", 8));
    }
}
