//! Orphans: commands that outlived an engine which was killed without warning.
//!
//! While a command runs, a pid file beside its log says who leads its group and when that process
//! started. A pid alone proves nothing, since numbers are given again; the same pid with the same
//! start in the same boot is the same process. Where the start cannot be read (there is no `/proc`)
//! nothing is killed. A crash in the instant between the spawn and the file leaves no trace.

use edgewise_core::error::{Error, Result};
use edgewise_core::id::RunId;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::DirEntry;
use std::io::ErrorKind;
use std::path::Path;

/// How the name of a pid file ends.
pub(super) const PID_FILE: &str = "pid";

/// What [`end_all`] did with the pid files it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    /// Groups that were still alive and were killed.
    pub killed: usize,
    /// Pid files whose process is gone, or is not provably the one that was started.
    pub spared: usize,
}

/// Ends every command left over in a folder of logs, and removes the pid files.
///
/// To be called by the one engine of the folder, before it starts anything: what runs now is left over.
pub fn end_all(logs: &Path) -> Result<Ended> {
    let unreadable = |path: &Path, e| {
        let what = format!("the logs in {} must be readable to find commands left over", path.display());
        Error::unavailable("logs_unreadable", what).with_source(e)
    };
    let mut ended = Ended::default();
    for run in entries(logs).map_err(|e| unreadable(logs, e))? {
        let is_dir = run.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_dir || run.file_name().to_str().is_none_or(|name| RunId::parse(name).is_err()) {
            continue;
        }
        for file in entries(&run.path()).map_err(|e| unreadable(&run.path(), e))? {
            if file.path().extension().is_some_and(|end| end == PID_FILE) {
                let killed = end(&file.path());
                ended.killed += usize::from(killed);
                ended.spared += usize::from(!killed);
            }
        }
    }
    Ok(ended)
}

fn entries(dir: &Path) -> std::io::Result<Vec<DirEntry>> {
    match std::fs::read_dir(dir) {
        Ok(entries) => entries.collect(),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// Kills the group a pid file tells of, if it is provably that one, and removes the file.
fn end(file: &Path) -> bool {
    let left = std::fs::read_to_string(file).ok().and_then(|text| parse(&text));
    let killed = left.is_some_and(|(pid, start)| {
        // If it leads no group, the kernel finds none of that number.
        start_of(pid).is_some_and(|now| now == start) && kill_process_group(pid, Signal::KILL).is_ok()
    });
    let _ = std::fs::remove_file(file);
    killed
}

/// The content of a pid file: the leader's pid and start, and the engine's pid for people who look.
pub(super) fn describe(leader: Pid) -> String {
    let start = start_of(leader).unwrap_or_else(|| "unknown".to_owned());
    format!("{} {start} {}\n", leader.as_raw_nonzero(), std::process::id())
}

fn parse(text: &str) -> Option<(Pid, String)> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    // To the kernel, the group 1 means everybody.
    let pid = words.next()?.parse().ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)?;
    Some((pid, words.next()?.to_owned()))
}

/// When a process started, in ticks since a boot, and which boot; `None` if it cannot be known.
fn start_of(pid: Pid) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    // The second field is the program's name, in parentheses, with anything in it; the start is the 22nd.
    let ticks = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{}/{ticks}", boot.trim()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, Stdio};

    /// A process that exits with 7 as soon as it is spoken to.
    fn left_over(own_group: bool) -> (Child, Pid) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read word; exit 7"]).stdin(Stdio::piped());
        if own_group {
            command.process_group(0);
        }
        let child = command.spawn().unwrap();
        let pid = Pid::from_child(&child);
        (child, pid)
    }

    fn logs_with(content: &str) -> tempfile::TempDir {
        let logs = tempfile::tempdir().unwrap();
        let run = logs.path().join(RunId(5).to_string());
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join("1-1-1.pid"), content).unwrap();
        std::fs::write(run.join("1-1-1.log"), "").unwrap();
        logs
    }

    fn check_spared(content: &str, mut child: Child) {
        let logs = logs_with(content);
        assert_eq!(end_all(logs.path()).unwrap(), Ended { killed: 0, spared: 1 }, "{content:?}");
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7), "it lived on: {content:?}");
        assert_eq!(end_all(logs.path()).unwrap(), Ended::default(), "the file is gone: {content:?}");
    }

    #[test]
    fn a_command_left_over_is_killed_and_its_file_removed() {
        let (mut child, pid) = left_over(true);
        let logs = logs_with(&describe(pid));
        assert_eq!(end_all(logs.path()).unwrap(), Ended { killed: 1, spared: 0 });
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert_eq!(end_all(logs.path()).unwrap(), Ended::default());
        assert!(logs.path().join(RunId(5).to_string()).join("1-1-1.log").exists());
    }

    #[test]
    fn a_process_that_started_at_another_time_is_spared() {
        let (child, pid) = left_over(true);
        let other = describe(Pid::from_raw(1).unwrap());
        let other = other.split(' ').nth(1).unwrap();
        check_spared(&format!("{} {other} 1\n", pid.as_raw_nonzero()), child);
    }

    #[test]
    fn a_process_of_unknown_start_is_spared() {
        let (child, pid) = left_over(true);
        check_spared(&format!("{} unknown 1\n", pid.as_raw_nonzero()), child);
    }

    #[test]
    fn a_process_that_leads_no_group_is_spared() {
        let (child, pid) = left_over(false);
        check_spared(&describe(pid), child);
    }

    #[test]
    fn a_torn_file_ends_nothing() {
        for torn in ["", "12", "x y z\n", "-1 a b\n"] {
            let (child, _) = left_over(true);
            check_spared(torn, child);
        }
        let (child, pid) = left_over(true);
        check_spared(describe(pid).trim_end(), child);
    }

    #[test]
    fn a_pid_that_means_everybody_is_never_read() {
        for pid in ["1", "0", "-1", "-7"] {
            assert!(parse(&format!("{pid} start 1\n")).is_none(), "{pid}");
        }
        assert!(parse("2 start 1\n").is_some());
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_orphans() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(end_all(&dir.path().join("none")).unwrap(), Ended::default());
    }

    #[test]
    fn only_folders_of_runs_are_looked_into() {
        let (mut child, pid) = left_over(true);
        let logs = logs_with(&describe(pid));
        std::fs::rename(logs.path().join(RunId(5).to_string()), logs.path().join("other")).unwrap();
        assert_eq!(end_all(logs.path()).unwrap(), Ended::default());
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }
}
