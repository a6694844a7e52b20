//! Logs: what a command said, in one file per attempt, line by line as it came.
//!
//! A line is `<unix ms> o|e|n <text>`: stdout, stderr, or a note of ours. Whole lines are written
//! without a buffer, so a crash of the engine loses at most what was in the pipes. The reader gives
//! back whole lines only: a torn last one is either still being written or was cut by a crash.

mod writer;

pub(super) use writer::Writer;

use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Most bytes read at once; more than the longest line.
const PAGE_BYTES: u64 = 1 << 20;

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The command's stdout.
    Out,
    /// The command's stderr.
    Err,
    /// The runner itself.
    Note,
}

/// One line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// When it was read from the pipe.
    pub at: Time,
    /// Where it came from.
    pub stream: Stream,
    /// What it says; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// Some lines of a log, and where the next ones begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The lines, in the order in which they came.
    pub lines: Vec<Line>,
    /// The offset to read on from; the same as before when there is nothing new.
    pub next: u64,
}

/// One attempt that has a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt {
    /// Of which task.
    pub task: TaskIx,
    /// In which generation of it.
    pub generation: u16,
    /// Which attempt.
    pub attempt: u16,
}

/// The attempts of a run that have a log, in their order.
pub fn attempts(dir: &Path, run: RunId) -> io::Result<Vec<Attempt>> {
    let entries = match std::fs::read_dir(dir.join(run.to_string())) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<Attempt> = names.filter_map(|name| attempt(&name)).collect();
    found.sort_unstable();
    Ok(found)
}

/// `3-1-2.log`: task 3, generation 1, attempt 2.
fn attempt(name: &str) -> Option<Attempt> {
    let mut parts = name.strip_suffix(".log")?.split('-');
    let task = TaskIx(parts.next()?.parse().ok()?);
    let (generation, attempt) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then_some(Attempt { task, generation, attempt })
}

/// The log of one attempt. Only numbers are in the file's name, so no task's path leads elsewhere.
pub fn log_path(dir: &Path, run: RunId, task: TaskIx, generation: u16, attempt: u16) -> PathBuf {
    dir.join(run.to_string()).join(format!("{}-{generation}-{attempt}.log", task.0))
}

/// Reads a page of whole lines from an offset that is 0 or was given as [`Page::next`].
pub fn read(path: &Path, offset: u64) -> io::Result<Page> {
    let (bytes, next) = page(path, offset)?;
    Ok(Page { lines: bytes.split_inclusive(|byte| *byte == b'\n').filter_map(parse).collect(), next })
}

/// Copies what a command wrote, to both its streams, byte for byte; without our notes.
pub fn copy(path: &Path, to: &mut dyn Write) -> io::Result<()> {
    let mut offset = 0;
    loop {
        let (bytes, next) = page(path, offset)?;
        if next == offset {
            return Ok(());
        }
        for (_, stream, text) in bytes.split_inclusive(|byte| *byte == b'\n').filter_map(parts) {
            if stream != Stream::Note {
                to.write_all(text)?;
                to.write_all(b"\n")?;
            }
        }
        offset = next;
    }
}

/// The bytes of whole lines from an offset, and where the next ones begin.
fn page(path: &Path, offset: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(PAGE_BYTES).read_to_end(&mut bytes)?;
    let whole = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(last) => last + 1,
        // No log of ours: stepped over, so that a reader gets to the end.
        None if bytes.len() as u64 == PAGE_BYTES => bytes.len(),
        None => 0,
    };
    bytes.truncate(whole);
    Ok((bytes, offset + whole as u64))
}

/// Reads a whole log.
pub fn read_all(path: &Path) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut offset = 0;
    loop {
        let page = read(path, offset)?;
        if page.next == offset {
            return Ok(lines);
        }
        lines.extend(page.lines);
        offset = page.next;
    }
}

/// `None` for what is not a line of a log, such as the rest of one torn by an earlier crash.
fn parts(line: &[u8]) -> Option<(Time, Stream, &[u8])> {
    let line = line.strip_suffix(b"\n")?;
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    let at = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    let stream = Stream::from_letter(parts.next()?)?;
    Some((Time(at), stream, parts.next()?))
}

fn parse(line: &[u8]) -> Option<Line> {
    let (at, stream, text) = parts(line)?;
    Some(Line { at, stream, text: String::from_utf8_lossy(text).into_owned() })
}

impl Stream {
    fn letter(self) -> u8 {
        match self {
            Self::Out => b'o',
            Self::Err => b'e',
            Self::Note => b'n',
        }
    }

    fn from_letter(letter: &[u8]) -> Option<Self> {
        [Self::Out, Self::Err, Self::Note].into_iter().find(|stream| [stream.letter()] == letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    fn line(at: u64, stream: Stream, text: &str) -> Line {
        Line { at: Time(at), stream, text: text.to_owned() }
    }

    #[test]
    fn lines_read_back_with_their_time_and_stream() {
        let log = file(b"5 o hello  world\n6 e \n7 n cut\n");
        let lines = read_all(log.path()).unwrap();
        assert_eq!(
            lines,
            [line(5, Stream::Out, "hello  world"), line(6, Stream::Err, ""), line(7, Stream::Note, "cut")]
        );
    }

    #[test]
    fn what_a_command_wrote_is_copied_byte_for_byte() {
        let log = file(b"5 o \x1b[1mbold \xff\n6 e no\n7 n cut\n8 o torn");
        let mut copied = Vec::new();
        copy(log.path(), &mut copied).unwrap();
        assert_eq!(copied, b"\x1b[1mbold \xff\nno\n");
    }

    #[test]
    fn a_torn_last_line_waits_until_it_is_whole() {
        let log = file(b"5 o one\n6 o tw");
        let page = read(log.path(), 0).unwrap();
        assert_eq!(page, Page { lines: vec![line(5, Stream::Out, "one")], next: 8 });
        assert_eq!(read(log.path(), page.next).unwrap(), Page { lines: vec![], next: 8 });
        std::fs::write(log.path(), b"5 o one\n6 o two\n").unwrap();
        assert_eq!(read(log.path(), page.next).unwrap().lines, [line(6, Stream::Out, "two")]);
    }

    #[test]
    fn what_is_not_a_line_is_left_out() {
        let log = file(b"\nnonsense\n12\n13 x what\n14 o\n15 o good \xff\n");
        assert_eq!(read_all(log.path()).unwrap(), [line(15, Stream::Out, "good \u{fffd}")]);
    }

    #[test]
    fn a_log_longer_than_a_page_is_read_to_its_end() {
        let many = "1 o 0123456789abcdef\n".repeat(3 * PAGE_BYTES as usize / 21);
        let log = file(many.as_bytes());
        assert_eq!(read_all(log.path()).unwrap().len(), many.lines().count());
        let foreign = [&vec![b'x'; 2 * PAGE_BYTES as usize + 5], b"\n7 o after\n".as_slice()].concat();
        assert_eq!(read_all(file(&foreign).path()).unwrap(), [line(7, Stream::Out, "after")]);
    }

    #[test]
    fn the_name_of_a_log_is_made_of_numbers() {
        let path = log_path(Path::new("logs"), RunId(1), TaskIx(7), 2, 3);
        assert_eq!(path, Path::new("logs/0000000000000001/7-2-3.log"));
    }
}
