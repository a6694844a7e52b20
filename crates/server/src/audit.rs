//! The trail: who did what, when, from where, and what became of it.
//!
//! It is a file of lines beside the store (`audit.jsonl`), not a part of the ledger. What was done to runs is in the
//! ledger already, with who asked for it, and is committed there; the trail adds what no run knows: the role, the
//! address, what was refused and to whom. So it costs no commit. A line is handed to the system before the answer is
//! sent, so that no request of a person is answered and not in the trail if the server is killed; it is synced within
//! [`SYNC`], which is what a power cut can cost.
//!
//! What workers ask comes thousands of times a second, and so may refusals: of those the first of a kind is written at
//! once and the others of the same minute as one line that counts them. Otherwise a flood would push out what matters:
//! the trail is bounded, [`FILES`] files of [`FILE_BYTES`].

mod file;
mod mark;
mod sums;

pub use file::read;
pub use mark::{Mark, page};

use crate::auth::Role;
use edgewise_core::time::{Millis, Time};
use file::Trail;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sums::Sums;

/// Largest file of the trail before the next one is begun.
pub const FILE_BYTES: u64 = 8 << 20;
/// Most files that are kept.
pub const FILES: usize = 5;
/// How long a line may wait to be synced.
const SYNC: Duration = Duration::from_secs(1);
/// How long requests of one kind are counted before they are written.
const WINDOW: Millis = Millis(60_000);
/// The longest path that is written.
const PATH_BYTES: usize = 200;

/// One line of the trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// When it was answered.
    pub at: Time,
    /// Who asked; nobody who is known if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// What they are trusted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The address they asked from.
    pub peer: String,
    /// The route, by its name.
    pub route: String,
    /// The path, which names what it was done to; absent where several are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it made, such as a run; of the command line what it asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// The code of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// How often.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
}

fn once() -> u64 {
    1
}

fn is_once(times: &u64) -> bool {
    *times == 1
}

/// What a request made, or what the command line asked for with it: put into the extensions of an answer, for its line.
#[derive(Debug, Clone)]
pub(crate) struct Made(pub String);

/// The code of a refusal, for its line: put into the extensions of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code(pub &'static str);

/// The trail of one workspace.
pub(crate) struct Audit {
    state: Arc<Mutex<State>>,
    failed: AtomicU64,
}

struct State {
    trail: Trail,
    sums: Sums,
    syncing: bool,
}

impl Audit {
    /// The trail beside a store; its file is made with the first line.
    pub fn new(dir: &Path) -> Self {
        let state = State { trail: Trail::new(dir), sums: Sums::default(), syncing: false };
        Self { state: Arc::new(Mutex::new(state)), failed: AtomicU64::new(0) }
    }

    /// Writes a line.
    pub fn note(&self, mut line: Line) {
        line.path = line.path.map(|path| shortened(&path));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let due = state.sums.due(line.at);
        self.write(&mut state, due.into_iter().chain([line]));
    }

    /// Writes a line if it is the first of its kind in a while, and counts it otherwise.
    pub fn sum(&self, line: Line) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let due = state.sums.due(line.at);
        let first = state.sums.count(Line { path: None, made: None, ..line });
        self.write(&mut state, due.into_iter().chain(first));
    }

    /// Writes what was only counted so far.
    pub fn settle(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let due = state.sums.take();
        self.write(&mut state, due);
    }

    /// Lines that could not be written.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    fn write(&self, state: &mut State, lines: impl IntoIterator<Item = Line>) {
        let mut wrote = false;
        for line in lines {
            match state.trail.write(&line) {
                Ok(()) => wrote = true,
                // A disk that is full stops the runs too, and is told by /readyz.
                Err(_) => drop(self.failed.fetch_add(1, Ordering::Relaxed)),
            }
        }
        if wrote && !state.syncing && tokio::runtime::Handle::try_current().is_ok() {
            state.syncing = true;
            tokio::spawn(sync(Arc::clone(&self.state)));
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        self.settle();
    }
}

async fn sync(state: Arc<Mutex<State>>) {
    tokio::time::sleep(SYNC).await;
    let file = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.syncing = false;
        state.trail.handle()
    };
    if let Some(file) = file {
        // What cannot be synced now is synced with the next line, or by the system.
        let _ = tokio::task::spawn_blocking(move || file.sync_data()).await;
    }
}

fn shortened(path: &str) -> String {
    path.chars().take(PATH_BYTES).collect()
}
