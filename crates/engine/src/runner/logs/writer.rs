//! The writing end of a log: bounded, and never a reason for a command to fail or to wait.

use super::Stream;
use crate::secrets::Masks;
use edgewise_core::time::Time;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Appends lines to a log until it is full.
pub(in crate::runner) struct Writer {
    file: File,
    /// Lines not yet written.
    pending: Vec<u8>,
    /// The file with what is pending.
    len: u64,
    bound: u64,
    /// Nothing more is written: the log is full, or the disk is.
    closed: bool,
    clock: fn() -> Time,
    /// What is written as `***`.
    masks: Masks,
}

impl Writer {
    /// Opens a log; one that is there already is continued.
    pub(in crate::runner) fn open(path: &Path, bound: u64, clock: fn() -> Time) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let len = file.seek(SeekFrom::End(0))?;
        let mut writer =
            Self { file, pending: Vec::new(), len, bound, closed: len >= bound, clock, masks: Masks::default() };
        if len > 0 && !writer.ends_whole()? {
            writer.add(b"\n");
        }
        Ok(writer)
    }

    /// The same log without what must not be seen.
    pub(in crate::runner) fn masked(self, masks: Masks) -> Self {
        Self { masks, ..self }
    }

    /// What must not be seen.
    pub(in crate::runner) fn masks(&self) -> &Masks {
        &self.masks
    }

    /// Whether the last line there is whole; a crash may have torn it.
    fn ends_whole(&mut self) -> io::Result<bool> {
        let mut last = [0];
        self.file.seek(SeekFrom::End(-1))?;
        self.file.read_exact(&mut last)?;
        Ok(last == *b"\n")
    }

    /// Adds a line, to be written by the next [`Writer::flush`].
    pub(in crate::runner) fn line(&mut self, stream: Stream, text: &[u8]) {
        if self.closed {
            return;
        }
        let masked = (!self.masks.is_empty()).then(|| self.masks.mask(&String::from_utf8_lossy(text)));
        let text = masked.as_ref().map_or(text, |masked| masked.as_bytes());
        let head = format!("{} {} ", (self.clock)().0, char::from(stream.letter()));
        if self.len + (head.len() + text.len() + 1) as u64 > self.bound {
            let note = format!("{} n the log is cut here: it would be over {} bytes\n", (self.clock)().0, self.bound);
            self.add(note.as_bytes());
            self.closed = true;
            return;
        }
        self.add(head.as_bytes());
        self.add(text);
        self.add(b"\n");
    }

    fn add(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        self.len += bytes.len() as u64;
    }

    /// Writes what was added. A disk that refuses ends the log, not the command.
    pub(in crate::runner) fn flush(&mut self) {
        if !self.pending.is_empty() && self.file.write_all(&self.pending).is_err() {
            self.closed = true;
        }
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Line, read_all};
    use super::*;

    fn texts(path: &Path) -> Vec<String> {
        read_all(path).unwrap().into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_log_is_stamped_and_kept_as_it_came() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = Writer::open(&path, 1_000, || Time(42)).unwrap();
        log.line(Stream::Err, b"oops");
        log.flush();
        assert_eq!(read_all(&path).unwrap(), [Line { at: Time(42), stream: Stream::Err, text: "oops".into() }]);
    }

    #[test]
    fn a_full_log_says_that_it_was_cut_and_grows_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = Writer::open(&path, 100, || Time(1)).unwrap();
        for _ in 0..50 {
            log.line(Stream::Out, b"0123456789");
            log.flush();
        }
        let lines = texts(&path);
        assert_eq!(lines.len(), 100 / 15 + 1);
        assert!(lines.last().unwrap().contains("cut here"), "{lines:?}");
        let mut again = Writer::open(&path, 100, || Time(1)).unwrap();
        again.line(Stream::Out, b"more");
        again.flush();
        assert_eq!(texts(&path), lines, "and is not opened again");
    }

    #[test]
    fn a_line_torn_by_a_crash_does_not_spoil_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, b"1 o first\n2 o sec").unwrap();
        let mut log = Writer::open(&path, 1_000, || Time(3)).unwrap();
        log.line(Stream::Out, b"third");
        log.flush();
        assert_eq!(texts(&path), ["first", "sec", "third"]);
    }
}
