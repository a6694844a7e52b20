//! Puts frames where the last ones were, without flicker, and leaves the terminal as it was.
//!
//! A frame is sent in one write, between the marks of a synchronized update, and only lines that changed are sent.
//! The cursor is hidden while frames are shown; it comes back when the screen is dropped, also by a panic.

use crate::text;
use std::io::{self, IsTerminal, Write};

const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const CLEAR_LINE: &str = "\u{1b}[K";
const CLEAR_BELOW: &str = "\u{1b}[J";

/// A terminal that frames are drawn on, below whatever was there.
pub struct Screen<W: Write> {
    out: W,
    shown: Vec<String>,
    width: usize,
    hidden: bool,
}

impl<W: Write> Screen<W> {
    /// A screen that has shown nothing yet.
    pub fn new(out: W) -> Self {
        Self { out, shown: Vec::new(), width: 0, hidden: false }
    }

    /// Shows a frame in place of the last one. `width` is that of the terminal now.
    pub fn show(&mut self, lines: Vec<String>, width: usize) -> io::Result<()> {
        if self.hidden && lines == self.shown && width == self.width {
            return Ok(());
        }
        let mut text = String::from(BEGIN);
        if !self.hidden {
            text += HIDE_CURSOR;
            // From here on the cursor is owed back, even if only a part of this is written.
            self.hidden = true;
        }
        text += &self.upwards(width);
        let resized = width != self.width;
        if resized {
            text += CLEAR_BELOW;
        }
        for (i, line) in lines.iter().enumerate() {
            if resized || self.shown.get(i) != Some(line) {
                text += line;
                text += CLEAR_LINE;
            }
            text.push('\n');
        }
        text += CLEAR_BELOW;
        text += END;
        (self.shown, self.width) = (lines, width);
        self.send(&text)
    }

    /// Takes the frame away, so that something else can be printed in its place.
    pub fn clear(&mut self) -> io::Result<()> {
        let text = self.upwards(self.width) + CLEAR_BELOW;
        self.shown.clear();
        self.send(&text)
    }

    /// Leaves the last frame where it is and gives the cursor back.
    pub fn leave(&mut self) -> io::Result<()> {
        self.shown.clear();
        if std::mem::take(&mut self.hidden) { self.send(SHOW_CURSOR) } else { Ok(()) }
    }

    /// To the first line of the last frame. In a narrower terminal, its lines have been folded since.
    fn upwards(&self, width: usize) -> String {
        let rows = |line: &String| text::width(line).max(1).div_ceil(width.max(1));
        match self.shown.iter().map(rows).sum::<usize>() {
            0 => "\r".into(),
            rows => format!("\u{1b}[{rows}F"),
        }
    }

    fn send(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        // A terminal that is gone needs no cursor.
        let _ = self.leave();
    }
}

/// Whether frames can be drawn on stdout: a terminal that obeys.
pub fn can_draw() -> bool {
    io::stdout().is_terminal() && obeys(std::env::var("TERM").ok().as_deref())
}

fn obeys(term: Option<&str>) -> bool {
    term != Some("dumb")
}

/// Columns and lines of the terminal on stdout; what most have, if it does not say.
pub fn size() -> (usize, usize) {
    match terminal_size::terminal_size() {
        Some((width, height)) if width.0 > 0 && height.0 > 0 => (width.0.into(), height.0.into()),
        _ => (80, 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(act: impl FnOnce(&mut Screen<&mut Vec<u8>>)) -> String {
        let mut bytes = Vec::new();
        act(&mut Screen::new(&mut bytes));
        let text = String::from_utf8(bytes).unwrap();
        [
            (BEGIN, "<"),
            (END, ">"),
            (HIDE_CURSOR, "[hide]"),
            (SHOW_CURSOR, "[show]"),
            (CLEAR_LINE, "|"),
            (CLEAR_BELOW, "_"),
        ]
        .iter()
        .fold(text, |text, (sequence, short)| text.replace(sequence, short))
    }

    fn frame(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn a_frame_replaces_the_last_one_and_only_changed_lines_are_sent() {
        let text = sent(|screen| {
            screen.show(frame(&["a", "b"]), 80).unwrap();
            screen.show(frame(&["a", "c"]), 80).unwrap();
        });
        assert_eq!(text, "<[hide]\r_a|\nb|\n_><\u{1b}[2F\nc|\n_>[show]");
    }

    #[test]
    fn nothing_is_drawn_on_a_terminal_that_moves_no_cursor() {
        assert!(obeys(None) && obeys(Some("xterm-256color")));
        assert!(!obeys(Some("dumb")));
    }

    #[test]
    fn the_same_frame_is_not_sent_again() {
        let once = sent(|screen| screen.show(frame(&["a"]), 80).unwrap());
        let twice = sent(|screen| {
            screen.show(frame(&["a"]), 80).unwrap();
            screen.show(frame(&["a"]), 80).unwrap();
        });
        assert_eq!(once, twice);
    }

    #[test]
    fn in_a_narrower_terminal_the_folded_lines_are_found() {
        let text = sent(|screen| {
            screen.show(frame(&["abcdef", ""]), 80).unwrap();
            screen.show(frame(&["abc"]), 4).unwrap();
        });
        assert!(text.contains("<\u{1b}[3F_abc|\n_>"), "{text:?}");
    }

    #[test]
    fn the_cursor_comes_back_whatever_happens() {
        let mut bytes = Vec::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut screen = Screen::new(&mut bytes);
            screen.show(frame(&["a"]), 80).unwrap();
            std::panic::resume_unwind(Box::new("something broke"));
        }));
        assert!(result.is_err());
        assert!(String::from_utf8(bytes).unwrap().ends_with(SHOW_CURSOR));
        assert_eq!(sent(|_| {}), "", "a screen that was never used is silent");
    }

    #[test]
    fn a_frame_that_is_taken_away_leaves_its_place_to_others() {
        let text = sent(|screen| {
            screen.show(frame(&["a", "b"]), 80).unwrap();
            screen.clear().unwrap();
            screen.show(frame(&["c"]), 80).unwrap();
        });
        assert!(text.ends_with("\u{1b}[2F_<\rc|\n_>[show]"), "{text:?}");
    }
}
