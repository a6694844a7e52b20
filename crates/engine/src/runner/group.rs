//! A process group: the command, and all that it started and did not send away.
//!
//! A group may be signalled only while its leader has not been reaped: until then the kernel gives
//! its number to nobody else. So we look at the leader's exit without reaping it, kill what is left
//! of the group, and reap last.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::process::ExitStatus;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};

/// A running group; dropping it kills it.
pub(super) struct Group {
    leader: Child,
    pid: Pid,
    child_ended: tokio::signal::unix::Signal,
}

impl Group {
    /// Starts a command that was told to lead a group of its own.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        // Before the spawn: an exit right after it must not be missed.
        let child_ended = signal(SignalKind::child())?;
        let leader = command.spawn()?;
        let pid = leader.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pid = pid.ok_or_else(|| io::Error::other("the command has no process id"))?;
        Ok(Self { leader, pid, child_ended })
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    pub(super) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.leader.stdout.take()
    }

    pub(super) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.leader.stderr.take()
    }

    /// Returns once the leader has exited; leaves it unreaped.
    pub(super) async fn exited(&mut self) {
        while !self.has_exited() {
            self.child_ended.recv().await;
        }
    }

    fn has_exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is no such child any more.
        waitid(WaitId::Pid(self.pid), look).map_or(true, |found| found.is_some())
    }

    /// Asks the whole group to end.
    pub(super) fn terminate(&self) {
        self.send(Signal::TERM);
    }

    /// Ends the whole group.
    pub(super) fn kill(&self) {
        self.send(Signal::KILL);
    }

    fn send(&self, signal: Signal) {
        // The leader's id is forgotten when it is reaped. A group of dead processes is no error to us.
        if self.leader.id().is_some() {
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Kills what is left of the group, then reaps its leader.
    pub(super) async fn end(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        self.leader.wait().await
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
