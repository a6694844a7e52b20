//! The live view for files and pipes: one line for each change, and nothing is ever drawn over.

use super::{Picture, SpreadCount, TaskLine, span};
use crate::text;
use edgewise_core::state::{Phase, RunState};
use edgewise_core::time::Time;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

/// Paths are padded to the longest so far, but not beyond this.
const PATH_COLUMNS: usize = 32;

/// Remembers what was told.
pub struct Lines {
    zone: TimeZone,
    tasks: BTreeMap<String, Told>,
    run: Option<(RunState, bool)>,
    columns: usize,
}

/// What was last told of a task.
#[derive(PartialEq, Eq, Clone, Copy)]
struct Told {
    phase: Phase,
    attempt: u16,
    /// How many tenths of a spread have ended.
    tenths: u32,
}

impl Lines {
    /// Nothing told yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self { zone, tasks: BTreeMap::new(), run: None, columns: 0 }
    }

    /// What is new since the last picture.
    pub fn changes(&mut self, picture: &Picture, now: Time) -> Vec<String> {
        let clock = self.clock(now);
        let widest = picture.tasks.iter().map(|task| text::width(&text::escape(&task.path))).max().unwrap_or(0);
        self.columns = self.columns.max(widest.min(PATH_COLUMNS));
        let before = self.run.map(|(state, paused)| (state.phase(), paused));
        let after = (picture.state.phase(), picture.paused);
        self.run = Some((picture.state, picture.paused));
        let mut lines = Vec::new();
        if before.is_none() {
            lines.push(format!("{clock} {} {} {}", text::escape(&picture.flow), picture.run.short(), picture.word()));
        }
        for task in &picture.tasks {
            if self.is_news(task) {
                let path = text::pad(&text::escape(&task.path), self.columns);
                lines.push(format!("{clock} {path}  {}", sentence(task)));
            }
        }
        // The end comes after the tasks that led to it; a pause matters, other moves of the run show in its tasks.
        if before.is_some_and(|before| before.1 != after.1) || (before != Some(after) && picture.state.is_done()) {
            lines.push(format!("{clock} {} {} {}", text::escape(&picture.flow), picture.run.short(), ending(picture)));
        }
        lines
    }

    fn is_news(&mut self, task: &TaskLine) -> bool {
        let tenths = task.spread.map_or(0, |count| ended(&count) * 10 / count.total.max(1));
        let told = Told { phase: task.phase, attempt: task.attempt, tenths };
        let before = self.tasks.insert(task.path.clone(), told);
        // That a task waits for others, or for a worker for a moment, is no news.
        before != Some(told) && !matches!(task.phase, Phase::Blocked | Phase::Ready)
    }

    fn clock(&self, now: Time) -> String {
        let stamp = i64::try_from(now.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        let stamp = stamp.unwrap_or_default().to_zoned(self.zone.clone());
        stamp.strftime("%H:%M:%S").to_string()
    }
}

fn ended(count: &SpreadCount) -> u32 {
    count.done + count.failed
}

/// `running (attempt 2 of 3)`, `failed after 1.2s: exit_1`, `running, 4 of 16`
fn sentence(task: &TaskLine) -> String {
    let mut said = task.phase.word().to_owned();
    if let Some(count) = &task.spread {
        said += &format!(", {} of {}", ended(count), count.total);
        if count.failed > 0 {
            said += &format!(", {} failed", count.failed);
        }
    } else if task.attempt > 1 {
        said += &format!(" (attempt {} of {})", task.attempt, task.max_attempts);
    }
    if let (Some(start), Some(end)) = (task.started_at.known(), task.completed_at.known()) {
        said += &format!(" after {}", span(end.since(start)));
    }
    if !task.note.is_empty() {
        said += &format!(": {}", text::escape(&task.note));
    }
    said
}

fn ending(picture: &Picture) -> String {
    match (picture.started_at.known(), picture.completed_at.known()) {
        (Some(start), Some(end)) => format!("{} after {}", picture.word(), span(end.since(start))),
        _ => picture.word().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample::{NOW, ago, release, task};

    fn told(pictures: &[Picture]) -> Vec<Vec<String>> {
        let mut lines = Lines::new(TimeZone::UTC);
        pictures.iter().map(|picture| lines.changes(picture, NOW)).collect()
    }

    #[test]
    fn the_first_picture_is_told_in_full() {
        let told = told(&[release()]);
        let expected = "\
08:00:12 release k3f9x2ab running
08:00:12 plan      succeeded after 1.2s
08:00:12 build     running, 10 of 16, 1 failed
08:00:12 build[3]  failed (attempt 3 of 3) after 1.2s: exit_1: linker not found
08:00:12 build[7]  running (attempt 2 of 3)
08:00:12 build[8]  running
08:00:12 fetch     waiting: attempt 2 of 3 in 3s: timeout
08:00:12 approve   waiting: 2 of lead, quality, security
08:00:12 triage    skipped: tests were green";
        assert_eq!(told[0].join("\n"), expected);
    }

    #[test]
    fn what_did_not_change_is_not_told_again() {
        let mut later = release();
        later.tasks[4] = TaskLine { depth: 1, ..task("build[8]", Phase::Succeeded) };
        let done = SpreadCount { done: 10, failed: 1, running: 1, waiting: 0, total: 16 };
        later.tasks[1].spread = Some(done);
        let told = told(&[release(), release(), later]);
        assert_eq!(told[1], Vec::<String>::new());
        assert_eq!(told[2], ["08:00:12 build[8]  succeeded after 1.2s"], "a sixteenth of a spread is no news");
    }

    #[test]
    fn the_end_comes_last() {
        let end = Picture { state: RunState::Error, completed_at: ago(0), tasks: Vec::new(), ..release() };
        let told = told(&[release(), end.clone(), end]);
        assert_eq!(told[1], ["08:00:12 release k3f9x2ab failed after 12s"]);
        assert_eq!(told[2], Vec::<String>::new());
    }

    #[test]
    fn a_pause_is_told_and_control_characters_are_not_obeyed() {
        let mut paused = Picture { paused: true, ..release() };
        paused.tasks.push(TaskLine { note: "\u{1b}[2J\n".into(), ..task("evil", Phase::Failed) });
        let told = told(&[release(), paused]);
        assert_eq!(
            told[1],
            ["08:00:12 evil      failed after 1.2s: \\u{1b}[2J\\n", "08:00:12 release k3f9x2ab paused"]
        );
    }
}
