//! The command's two pipes: read as fast as they fill, kept in the log, and as much of them in memory
//! as the output and the failure's message need.

use super::LINE_BYTES;
use super::logs::{Stream, Writer};
use crate::secrets::Masks;
use edgewise_core::limits;
use std::convert::Infallible;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::{Instant, sleep_until, timeout_at};

const CHUNK_BYTES: usize = 64 << 10;
/// More than both pipes can hold; what is read beyond it was written after the command had exited.
const OWED_BYTES: usize = 4 << 20;
/// How much of the end of stderr a failure's message shows, and where it is looked for.
const TAIL_LINES: usize = 5;
const TAIL_BYTES: usize = 500;
const TAIL_WINDOW: usize = 4 << 10;

/// Both pipes and where they lead to.
pub(super) struct Pipes<O = ChildStdout, E = ChildStderr> {
    out: Feed<O>,
    err: Feed<E>,
    log: Writer,
    stdout: Captured,
    tail: Tail,
}

/// The beginning of stdout: all of it unless `over`.
#[derive(Debug, Default)]
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    pub(super) over: bool,
}

impl<O: AsyncRead + Unpin, E: AsyncRead + Unpin> Pipes<O, E> {
    pub(super) fn new(out: Option<O>, err: Option<E>, log: Writer) -> Self {
        Self { out: Feed::new(out), err: Feed::new(err), log, stdout: Captured::default(), tail: Tail::default() }
    }

    /// Reads until both pipes are closed. May be dropped and called again without loss.
    pub(super) async fn pump(&mut self) {
        while self.is_open() {
            self.step().await;
            // A pipe that is never empty would keep everybody else from their turn.
            tokio::task::yield_now().await;
        }
    }

    /// Reads what is left once the command has exited: until both pipes are closed, or for as long as
    /// the grace lasts. What was in the pipes already is read in any case, however late we are.
    pub(super) async fn drain(&mut self, grace: Duration) {
        let deadline = Instant::now() + grace;
        let mut owed = OWED_BYTES;
        while self.is_open() && owed > 0 {
            tokio::select! {
                biased;
                read = self.step() => owed = owed.saturating_sub(read),
                () = sleep_until(deadline) => return,
            }
        }
        let _ = timeout_at(deadline, self.pump()).await;
    }

    fn is_open(&self) -> bool {
        self.out.pipe.is_some() || self.err.pipe.is_some()
    }

    /// Takes one chunk from either pipe.
    async fn step(&mut self) -> usize {
        tokio::select! {
            () = self.out.fill(), if self.out.pipe.is_some() => self.take_stdout(),
            () = self.err.fill(), if self.err.pipe.is_some() => self.take_stderr(),
            else => 0,
        }
    }

    /// Reads, and goes on waiting when there is nothing more to read.
    pub(super) async fn pump_on(&mut self) -> Infallible {
        self.pump().await;
        std::future::pending().await
    }

    fn take_stdout(&mut self) -> usize {
        self.stdout.add(&self.out.chunk);
        self.out.lines.push(&self.out.chunk, |line| self.log.line(Stream::Out, line));
        self.log.flush();
        self.out.chunk.len()
    }

    fn take_stderr(&mut self) -> usize {
        self.tail.add(&self.err.chunk);
        self.err.lines.push(&self.err.chunk, |line| self.log.line(Stream::Err, line));
        self.log.flush();
        self.err.chunk.len()
    }

    /// Writes the last lines, which had no line break.
    pub(super) fn finish(&mut self) {
        self.out.lines.finish(|line| self.log.line(Stream::Out, line));
        self.err.lines.finish(|line| self.log.line(Stream::Err, line));
        self.log.flush();
    }

    pub(super) fn stderr_tail(&self) -> String {
        self.tail.text(self.log.masks())
    }

    pub(super) fn into_stdout(self) -> Captured {
        self.stdout
    }
}

/// One pipe, the last bytes read from it, and its unfinished line.
struct Feed<R> {
    pipe: Option<R>,
    chunk: Vec<u8>,
    lines: Lines,
}

impl<R: AsyncRead + Unpin> Feed<R> {
    fn new(pipe: Option<R>) -> Self {
        Self { pipe, chunk: Vec::with_capacity(CHUNK_BYTES), lines: Lines::default() }
    }

    async fn fill(&mut self) {
        self.chunk.clear();
        let Some(pipe) = &mut self.pipe else { return };
        if !matches!(pipe.read_buf(&mut self.chunk).await, Ok(1..)) {
            self.pipe = None;
        }
    }
}

impl Captured {
    fn add(&mut self, chunk: &[u8]) {
        let room = limits::OUTPUT_BYTES - self.bytes.len();
        self.over |= chunk.len() > room;
        self.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
}

/// Cuts a stream of bytes into lines of at most [`LINE_BYTES`].
#[derive(Default)]
struct Lines {
    open: Vec<u8>,
}

impl Lines {
    fn push(&mut self, chunk: &[u8], mut emit: impl FnMut(&[u8])) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            self.open.extend_from_slice(text);
            while self.open.len() > LINE_BYTES {
                let end = split_at(&self.open);
                emit(&self.open[..end]);
                self.open.drain(..end);
            }
            if ends {
                emit(&self.open);
                self.open.clear();
            }
        }
    }

    fn finish(&mut self, mut emit: impl FnMut(&[u8])) {
        if !self.open.is_empty() {
            emit(&std::mem::take(&mut self.open));
        }
    }
}

/// Where to split a line that is too long: not within a character.
fn split_at(line: &[u8]) -> usize {
    let continues = |at: &usize| line[*at] & 0b1100_0000 == 0b1000_0000;
    (LINE_BYTES - 3..=LINE_BYTES).rev().find(|at| !continues(at)).unwrap_or(LINE_BYTES)
}

/// The last bytes of stderr, for the last lines that say something.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    fn add(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(&chunk[chunk.len().saturating_sub(TAIL_WINDOW)..]);
        self.bytes.drain(..self.bytes.len().saturating_sub(TAIL_WINDOW));
    }

    fn text(&self, masks: &Masks) -> String {
        let mut text = String::from_utf8_lossy(&self.bytes);
        if !masks.is_empty() {
            // Of a line whose beginning is gone nobody can tell what is to be masked.
            let cut = if self.bytes.len() < TAIL_WINDOW { 0 } else { text.find('\n').unwrap_or(text.len()) };
            text = masks.mask(&text[cut..]).into();
        }
        let mut last = Vec::new();
        let mut left = TAIL_BYTES;
        for line in text.lines().rev() {
            // For people's terminals: no control characters.
            let mut line: String = line.trim().chars().filter(|c| !c.is_control()).collect();
            line.truncate(line.floor_char_boundary(TAIL_BYTES));
            if line.len() > left || last.len() == TAIL_LINES {
                break;
            }
            if !line.is_empty() {
                left = left.saturating_sub(line.len() + 1);
                last.push(line);
            }
        }
        last.reverse();
        last.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let mut emit = |line: &[u8]| found.push(String::from_utf8_lossy(line).into_owned());
        for chunk in chunks {
            lines.push(chunk, &mut emit);
        }
        lines.finish(&mut emit);
        found
    }

    #[test]
    fn lines_do_not_depend_on_how_the_bytes_arrive() {
        assert_eq!(cut(&[b"one\ntwo\n\nthree"]), ["one", "two", "", "three"]);
        assert_eq!(cut(&[b"o", b"ne", b"\ntw", b"o\n\nthr", b"ee"]), ["one", "two", "", "three"]);
        assert!(cut(&[]).is_empty());
    }

    #[test]
    fn a_long_line_is_split_between_characters() {
        let long = "a".to_owned() + &"é".repeat(LINE_BYTES);
        let parts = cut(&[long.as_bytes()]);
        assert!(parts.len() > 2);
        assert!(parts.iter().all(|part| part.len() <= LINE_BYTES));
        assert_eq!(parts.concat(), long);
    }

    #[test]
    fn a_line_of_exactly_the_longest_length_stays_whole() {
        let longest = "x".repeat(LINE_BYTES);
        assert_eq!(cut(&[longest.as_bytes(), b"\nnext\n"]), [longest, "next".to_owned()]);
    }

    #[test]
    fn the_tail_keeps_the_last_lines_that_say_something() {
        let check = |chunks: &[&str], expected: &str| {
            let mut tail = Tail::default();
            for chunk in chunks {
                tail.add(chunk.as_bytes());
            }
            assert_eq!(tail.text(&Masks::default()), expected);
        };
        check(&[], "");
        check(&["1\n2\n\n3\n4", "\n  \n5\n\u{1b}[2J", "6\r\n\n"], "2\n3\n4\n5\n[2J6");
        let (long, longer) = ("y".repeat(400), "é".repeat(TAIL_WINDOW));
        check(&["first\n", &long, "\n", &long], &long);
        check(&["first\n", &longer], &"é".repeat(TAIL_BYTES / 2));
    }

    fn pipes<O: AsyncRead + Unpin, E: AsyncRead + Unpin>(out: O, err: E) -> Pipes<O, E> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let log = Writer::open(file.path(), 0, || edgewise_core::time::Time(0)).unwrap();
        Pipes::new(Some(out), Some(err), log)
    }

    #[tokio::test]
    async fn what_is_in_the_pipes_at_the_exit_is_read_however_late_it_is() {
        let written = vec![b'x'; 500_000];
        let mut pipes = pipes(written.as_slice(), tokio::io::repeat(b'y'));
        pipes.drain(Duration::ZERO).await;
        assert_eq!(pipes.into_stdout().bytes, written, "though stderr never ends");
    }

    #[tokio::test]
    async fn a_pipe_that_is_never_empty_gives_others_their_turn() {
        let mut pipes = pipes(tokio::io::repeat(b'x'), tokio::io::empty());
        pipes.err.pipe = None;
        tokio::select! {
            biased;
            () = pipes.pump() => {}
            () = std::future::ready(()) => {}
        }
        assert_eq!(pipes.into_stdout().bytes.len(), CHUNK_BYTES);
    }

    #[test]
    fn what_is_captured_of_stdout_is_bounded() {
        let mut captured = Captured::default();
        let chunk = vec![b'x'; limits::OUTPUT_BYTES - 1];
        captured.add(&chunk);
        captured.add(b"x");
        assert!(!captured.over);
        captured.add(b"x");
        captured.add(b"x");
        assert!(captured.over);
        assert_eq!(captured.bytes.len(), limits::OUTPUT_BYTES);
    }
}
