//! Many logs as one, in the order of time. A log is held only while its lines are due, and a page of it at a time.

use crate::problem::{Problem, Result};
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
pub(super) use edgewise_engine::runner::logs::Attempt;
use edgewise_engine::runner::logs::{self, Line, log_path};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The attempts of a run's tasks that have a log, in their order.
pub(super) fn attempts(dir: &Path, run: RunId, wanted: impl Fn(TaskIx) -> bool) -> Result<Vec<Attempt>> {
    let found = logs::attempts(dir, run).map_err(|error| Problem::file("read", &dir.join(run.to_string()), &error))?;
    Ok(found.into_iter().filter(|attempt| wanted(attempt.task)).collect())
}

/// Lines of several logs, the earliest first; within a log in the order in which they were written.
pub(super) struct Merge {
    dir: PathBuf,
    run: RunId,
    /// When the next line of each log is due. A log that was only looked at has no page.
    due: BinaryHeap<Reverse<(Time, Attempt)>>,
    open: BTreeMap<Attempt, Cursor>,
    unseen: Vec<Attempt>,
}

#[derive(Default)]
struct Cursor {
    lines: VecDeque<Line>,
    next: u64,
}

impl Merge {
    pub(super) fn new(dir: &Path, run: RunId, attempts: Vec<Attempt>) -> Self {
        Self { dir: dir.to_owned(), run, due: BinaryHeap::new(), open: BTreeMap::new(), unseen: attempts }
    }

    /// The next line of all.
    pub(super) fn next(&mut self) -> Result<Option<(Attempt, Line)>> {
        for attempt in std::mem::take(&mut self.unseen) {
            // Only its first instant is kept: thousands of logs may be looked at.
            if let Some(first) = self.page(attempt, 0)?.lines.front() {
                self.due.push(Reverse((first.at, attempt)));
            }
        }
        let Some(Reverse((_, attempt))) = self.due.pop() else { return Ok(None) };
        let mut cursor = match self.open.remove(&attempt) {
            Some(cursor) => cursor,
            None => self.page(attempt, 0)?,
        };
        let Some(line) = cursor.lines.pop_front() else { return self.next() };
        if cursor.lines.is_empty() {
            cursor = self.page(attempt, cursor.next)?;
        }
        if let Some(next) = cursor.lines.front() {
            self.due.push(Reverse((next.at.max(line.at), attempt)));
            self.open.insert(attempt, cursor);
        }
        Ok(Some((attempt, line)))
    }

    /// The next page that has lines; none at the end, or where a log was taken away meanwhile.
    fn page(&self, attempt: Attempt, mut from: u64) -> Result<Cursor> {
        let path = log_path(&self.dir, self.run, attempt.task, attempt.generation, attempt.attempt);
        loop {
            match logs::read(&path, from) {
                Ok(page) if page.lines.is_empty() && page.next > from => from = page.next,
                Ok(page) => return Ok(Cursor { lines: page.lines.into(), next: page.next }),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Cursor::default()),
                Err(error) => return Err(Problem::file("read", &path, &error)),
            }
        }
    }
}
