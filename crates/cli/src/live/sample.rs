//! Pictures for tests.

use super::{Counts, Picture, SpreadCount, TaskLine};
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::state::{Phase, RunState};
use edgewise_core::time::Time;

/// When the sample's frames are drawn.
pub const NOW: Time = Time(1_800_000_012_400);

/// So many milliseconds before [`NOW`].
pub fn ago(ms: u64) -> Time {
    Time(NOW.0 - ms)
}

/// A task in a phase, with nothing else to say.
pub fn task(path: &str, phase: Phase) -> TaskLine {
    let (started_at, completed_at) = match phase {
        Phase::Running => (ago(3_100), Time::NEVER),
        Phase::Succeeded | Phase::Failed => (ago(4_000), ago(2_800)),
        _ => (Time::NEVER, Time::NEVER),
    };
    TaskLine {
        path: path.into(),
        phase,
        attempt: u16::from(started_at != Time::NEVER),
        max_attempts: 3,
        note: String::new(),
        started_at,
        completed_at,
        expected: None,
        spread: None,
        depth: 0,
    }
}

/// A run in the middle of everything.
pub fn release() -> Picture {
    let note = |note: &str, task: TaskLine| TaskLine { note: note.into(), ..task };
    let inner = |task: TaskLine| TaskLine { depth: 1, ..task };
    let spread = SpreadCount { done: 9, failed: 1, running: 2, waiting: 0, total: 16 };
    Picture {
        run: RunId::parse("k3f9x2ab00000000").unwrap(),
        flow: Name::parse("release").unwrap(),
        state: RunState::TasksInProcess,
        paused: false,
        started_at: ago(12_400),
        completed_at: Time::NEVER,
        expected: None,
        counts: Counts {
            succeeded: 10,
            failed: 1,
            running: 3,
            waiting: 2,
            blocked: 2,
            skipped: 1,
            ..Counts::default()
        },
        tasks: vec![
            task("plan", Phase::Succeeded),
            TaskLine { spread: Some(spread), started_at: ago(8_100), ..task("build", Phase::Running) },
            inner(note("exit_1: linker not found", TaskLine { attempt: 3, ..task("build[3]", Phase::Failed) })),
            inner(TaskLine { attempt: 2, ..task("build[7]", Phase::Running) }),
            inner(task("build[8]", Phase::Running)),
            note("attempt 2 of 3 in 3s: timeout", TaskLine { attempt: 1, ..task("fetch", Phase::Waiting) }),
            note(
                "2 of lead, quality, security",
                TaskLine { started_at: ago(124_000), ..task("approve", Phase::Waiting) },
            ),
            note("tests were green", task("triage", Phase::Skipped)),
            task("publish", Phase::Blocked),
            task("notify", Phase::Blocked),
        ],
    }
}
