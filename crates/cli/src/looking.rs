//! Looking again and again at what somebody else does, until there is nothing more to see or one is told to stop.
//!
//! Looks are at least a tenth of a second apart, and take at most one part in a few of the time, however large what is
//! looked at has become. So whoever looks does not hold up the work.

use crate::place::runtime;
use crate::problem::{Problem, Result};
use crate::signals::Signals;
use edgewise_core::Kind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{ErrorKind, stdout};
use std::time::Duration;
use tokio::time::Instant;

/// Between two looks, at least.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Looking takes at most one part in so many of the time.
pub(crate) const SHARE: u32 = 5;

/// Why looking ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looked {
    /// There is nothing more to see.
    Enough,
    /// Somebody stopped it.
    Stopped,
}

/// Looks until a look says that it was the last one, or nobody reads any more what is seen. A store that is busy is looked
/// at again.
pub(crate) fn until_over(pause: Duration, mut look: impl FnMut() -> Result<bool>) -> Result<Looked> {
    runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        loop {
            let began = Instant::now();
            match look() {
                Ok(true) => return Ok(Looked::Enough),
                Ok(false) => {}
                // It changes hands, or somebody writes: the next look will see more.
                Err(problem) if problem.kind == Kind::Unavailable && !problem.is_quiet() => {}
                Err(problem) => return Err(problem),
            }
            let next = Instant::now() + pause.max(began.elapsed() * SHARE);
            tokio::select! {
                biased;
                () = signals.next() => return Ok(Looked::Stopped),
                () = tokio::time::sleep_until(next) => {}
            }
            if reader_left() {
                return Err(Problem::output(&ErrorKind::BrokenPipe.into()));
            }
        }
    })
}

/// Whether whoever read our output has left. While there is nothing to tell, that is not noticed by writing.
fn reader_left() -> bool {
    let out = stdout();
    let mut asked = [PollFd::new(&out, PollFlags::empty())];
    let answered = poll(&mut asked, Some(&Timespec::default())).is_ok();
    answered && asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
