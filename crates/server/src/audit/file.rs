//! The files of the trail: one is appended to, the older ones are numbered.

use super::{FILE_BYTES, FILES, Line};
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub(super) struct Trail {
    dir: PathBuf,
    open: Option<(File, u64)>,
}

impl Trail {
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), open: None }
    }

    /// Appends a line, and begins the next file when this one is full.
    pub fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        let (mut file, size) = match self.open.take() {
            Some(open) => open,
            None => begin(&self.dir)?,
        };
        file.write_all(&bytes)?;
        let size = size + bytes.len() as u64;
        if size < FILE_BYTES {
            self.open = Some((file, size));
            return Ok(());
        }
        for n in (0..FILES - 1).rev() {
            match std::fs::rename(path(&self.dir, n), path(&self.dir, n + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Another handle to the file that is appended to.
    pub fn handle(&self) -> Option<File> {
        self.open.as_ref()?.0.try_clone().ok()
    }
}

fn begin(dir: &Path) -> io::Result<(File, u64)> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path(dir, 0))?;
    let size = file.metadata()?.len();
    // A line that a crash cut off must not swallow the next one; an empty line is passed over.
    let size = if size > 0 { file.write_all(b"\n").map(|()| size + 1)? } else { size };
    Ok((file, size))
}

fn path(dir: &Path, n: usize) -> PathBuf {
    if n == 0 { dir.join("audit.jsonl") } else { dir.join(format!("audit.{n}.jsonl")) }
}

/// The newest lines of the trail of a data folder, the oldest of them first: at most so many, none before an instant.
pub fn read(dir: &Path, since: Time, limit: usize) -> Result<Vec<Line>> {
    let mut found: Vec<Line> = Vec::new();
    for n in 0..FILES {
        let text = match std::fs::read(path(dir, n)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                let message = format!("the trail in {} cannot be read: check who may read it", dir.display());
                return Err(Error::unavailable("cannot_open", message).with_source(error));
            }
        };
        // What a crash cut off is no line.
        let lines = text.rsplit(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        found.extend(lines.filter(|line| line.at >= since).take(limit - found.len()));
        if found.len() >= limit {
            break;
        }
    }
    found.reverse();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::{Audit, WINDOW};
    use super::*;

    fn line(at: u64, who: &str, route: &str) -> Line {
        Line {
            at: Time(at),
            who: Some(who.into()),
            role: None,
            peer: "10.0.0.1".into(),
            route: route.into(),
            path: Some("/x".into()),
            made: None,
            status: 200,
            code: None,
            times: 1,
        }
    }

    fn times(dir: &Path) -> Vec<(u64, u64)> {
        read(dir, Time(0), 1_000).unwrap().iter().map(|line| (line.at.0, line.times)).collect()
    }

    #[test]
    fn what_is_frequent_is_written_once_a_minute_and_what_people_do_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::new(dir.path());
        for at in 100_000..100_500 {
            audit.sum(line(at, "w", "claim_work"));
        }
        assert_eq!(times(dir.path()), [(100_000, 1)], "the first of its kind");
        audit.note(line(100_600, "ann", "cancel_run"));
        assert_eq!(times(dir.path()), [(100_000, 1), (100_600, 1)]);
        audit.sum(line(100_000 + WINDOW.0, "w", "claim_work"));
        let after = [(100_000, 1), (100_600, 1), (100_499, 499), (160_000, 1)];
        assert_eq!(times(dir.path()), after, "the others, counted");
        audit.sum(line(160_001, "w", "claim_work"));
        drop(audit);
        assert_eq!(times(dir.path()).last(), Some(&(160_001, 1)), "what is only counted is written at the end");
    }

    #[test]
    fn a_flood_of_strangers_is_a_few_lines() {
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::new(dir.path());
        for n in 0..20_000_u64 {
            audit.sum(Line { peer: n.to_string(), ..line(100_000, "eve", "list_runs") });
        }
        drop(audit);
        let lines = read(dir.path(), Time(0), 100_000).unwrap();
        assert!(lines.len() < 1_010, "{}", lines.len());
        assert_eq!(lines.iter().map(|line| line.times).sum::<u64>(), 20_000);
    }

    #[test]
    fn the_trail_is_bounded_and_its_newest_lines_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut trail = Trail::new(dir.path());
        let long = "x".repeat(1 << 20);
        for at in 1..=100 {
            trail.write(&Line { path: Some(long.clone()), ..line(at, "ann", "start_run") }).unwrap();
        }
        let kept: u64 = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
        assert!(kept < FILE_BYTES * FILES as u64 + (2 << 20), "{kept}");
        let newest = read(dir.path(), Time(0), 3).unwrap();
        assert_eq!(newest.iter().map(|line| line.at.0).collect::<Vec<_>>(), [98, 99, 100]);
        assert_eq!(read(dir.path(), Time(97), 1_000).unwrap().len(), 4);
    }

    #[test]
    fn a_line_that_a_crash_cut_off_costs_itself_alone() {
        let dir = tempfile::tempdir().unwrap();
        Trail::new(dir.path()).write(&line(1, "ann", "start_run")).unwrap();
        let whole = std::fs::read(path(dir.path(), 0)).unwrap();
        std::fs::write(path(dir.path(), 0), [&whole[..], &whole[..10]].concat()).unwrap();
        Trail::new(dir.path()).write(&line(2, "ann", "start_run")).unwrap();
        assert_eq!(times(dir.path()), [(1, 1), (2, 1)]);
    }
}
