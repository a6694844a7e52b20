//! The two files an attempt has beside its log while it runs: its pid, and its output.

use super::orphans;
use rustix::process::Pid;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Both files; dropping this removes them.
pub(super) struct Traces {
    pid: PathBuf,
    pid_file: File,
    output: PathBuf,
}

impl Traces {
    /// Makes the log's folder and both files, empty. What an earlier process left there is replaced.
    ///
    /// The pid file is made before the command is: a disk that is full is found out in time.
    pub(super) fn prepare(log: &Path) -> io::Result<Self> {
        // The command runs in another folder.
        let log = std::path::absolute(log)?;
        if let Some(dir) = log.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        let (pid, output) = (log.with_extension(orphans::PID_FILE), log.with_extension("out"));
        let pid_file = fresh(&pid)?;
        let traces = Self { pid, pid_file, output };
        fresh(&traces.output)?;
        Ok(traces)
    }

    /// Writes down who runs, for [`orphans::end_all`] after a crash.
    pub(super) fn record(&mut self, leader: Pid) -> io::Result<()> {
        self.pid_file.write_all(orphans::describe(leader).as_bytes())
    }

    /// Where the command may write its output.
    pub(super) fn output(&self) -> &Path {
        &self.output
    }
}

fn fresh(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

impl Drop for Traces {
    fn drop(&mut self) {
        // One that cannot be removed is replaced by the next attempt or removed by the next sweep.
        let _ = std::fs::remove_file(&self.output);
        let _ = std::fs::remove_file(&self.pid);
    }
}
