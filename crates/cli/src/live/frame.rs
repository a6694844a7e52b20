//! One frame: a head line, the tasks that fit, a foot line. Pure: the same picture is the same text.

use super::bar::bar;
use super::pick::{Picked, pick};
use super::{Counts, Picture, SpreadCount, TaskLine, span};
use crate::style::{Ink, Style, ink};
use crate::text;
use edgewise_core::state::Phase;
use edgewise_core::time::Time;

/// Head, foot, the two empty lines between, and the line the cursor rests on.
const AROUND: usize = 5;
/// Paths are padded to the longest of them, but not beyond this.
const PATH_COLUMNS: usize = 32;
const SPAN_COLUMNS: usize = 6;
/// A bar has so many columns at most and at least; before the least is reached, what follows it is cut.
const BAR_COLUMNS: (usize, usize) = (6, 24);
/// What stands behind a bar: `1000 of 1000  10 failed`.
const BAR_WORDS: usize = 24;
/// How long one picture of the spinner stays.
const SPINNER_MS: u64 = 100;

/// The lines of a frame: none wider than the terminal, no more of them than it has.
pub fn draw(picture: &Picture, width: usize, height: usize, now: Time, style: Style) -> Vec<String> {
    let room = height.saturating_sub(AROUND);
    let picked = if picture.tasks.len() <= room {
        pick(&picture.tasks, room)
    } else {
        // One line tells what is left out.
        pick(&picture.tasks, room.saturating_sub(1))
    };
    let paths = path_columns(picture, &picked);
    let before_bar = paths + SPAN_COLUMNS + "   ".len() + 2 * "  ".len();
    let bar = width.saturating_sub(before_bar + BAR_WORDS).clamp(BAR_COLUMNS.0, BAR_COLUMNS.1);
    let brush = Brush { now, style, paths, bar };
    let mut lines = vec![brush.head(picture, !picked.hidden.is_empty()), String::new()];
    lines.extend(picked.shown.iter().map(|i| brush.task(&picture.tasks[*i])));
    if !picked.hidden.is_empty() && room > 0 {
        lines.push(brush.hidden(picture, &picked));
    }
    lines.push(String::new());
    lines.push(brush.foot(picture));
    // A terminal that is too low still has the foot.
    let lines = lines.split_off(lines.len().saturating_sub(height.saturating_sub(1).max(1)));
    // The last column stays free: some terminals lose a character there when the rest of the line is cleared.
    lines.iter().map(|line| text::cut(line.trim_end(), width.saturating_sub(1), style.cut_mark())).collect()
}

fn path_columns(picture: &Picture, picked: &Picked) -> usize {
    let tasks = picked.shown.iter().map(|i| &picture.tasks[*i]);
    let widths = tasks.map(|task| 2 * task.depth + text::width(&text::escape(&task.path)));
    widths.max().unwrap_or(0).min(PATH_COLUMNS)
}

struct Brush {
    now: Time,
    style: Style,
    paths: usize,
    bar: usize,
}

impl Brush {
    /// ` release  k3f9x2ab`, with how far all of it is where not every task has a line.
    fn head(&self, picture: &Picture, hides: bool) -> String {
        let flow = self.style.paint(Ink::Bold, &text::escape(&picture.flow));
        let run = self.style.paint(Ink::Dim, &picture.run.short());
        if !hides {
            return format!(" {flow}  {run}");
        }
        let Counts { failed, running, waiting, .. } = picture.counts;
        let (ended, total) = (picture.counts.ended(), picture.counts.total());
        let all = SpreadCount { done: ended - failed, failed, running, waiting, total };
        format!(" {flow}  {run}  {}  {ended} of {total}", bar(&all, BAR_COLUMNS.1, self.style))
    }

    /// ` ✓ build        1.2s  note`
    fn task(&self, task: &TaskLine) -> String {
        let sign = self.sign(task.phase);
        let indent = "  ".repeat(task.depth);
        let room = self.paths.saturating_sub(indent.len());
        let path = text::pad(&text::cut(&text::escape(&task.path), room, self.style.cut_mark()), room);
        let path = match task.phase {
            Phase::Blocked | Phase::Skipped => self.style.paint(Ink::Dim, &path),
            _ => path,
        };
        let taken =
            task.started_at.known().map(|start| span(task.completed_at.known().unwrap_or(self.now).since(start)));
        let taken = format!("{:>SPAN_COLUMNS$}", taken.unwrap_or_default());
        format!(" {indent}{sign} {path}  {}  {}", self.style.paint(Ink::Dim, &taken), self.detail(task))
    }

    fn detail(&self, task: &TaskLine) -> String {
        let note = text::escape(&task.note);
        if let Some(count) = &task.spread {
            let mut words = vec![format!("{} of {}", count.done + count.failed, count.total)];
            if count.failed > 0 {
                words.push(self.style.paint(Ink::Bad, &format!("{} failed", count.failed)));
            }
            if count.waiting > 0 {
                words.push(self.style.paint(Ink::Wait, &format!("{} waiting", count.waiting)));
            }
            if let Some(usual) = usual(task) {
                words.push(self.style.paint(Ink::Dim, &usual));
            }
            return format!("{}  {}", bar(count, self.bar, self.style), words.join("  "));
        }
        let tries = match task.phase {
            Phase::Running | Phase::Succeeded if task.attempt > 1 => {
                format!("attempt {} of {}", task.attempt, task.max_attempts)
            }
            Phase::Failed if task.attempt > 1 => format!("after {} attempts", task.attempt),
            _ => String::new(),
        };
        let usual = usual(task).unwrap_or_default();
        let words: Vec<&str> = [note.as_ref(), &tries, &usual].into_iter().filter(|word| !word.is_empty()).collect();
        let ink = match task.phase {
            Phase::Failed => Ink::Bad,
            Phase::Waiting => Ink::Wait,
            _ => Ink::Dim,
        };
        self.style.paint(ink, &words.join(", "))
    }

    fn hidden(&self, picture: &Picture, picked: &Picked) -> String {
        let mut counts = Counts::default();
        for i in &picked.hidden {
            *counts.of(picture.tasks[*i].phase) += 1;
        }
        let words: Vec<String> = words(counts).into_iter().map(|(text, _)| text).collect();
        let more = format!("   {} {} more: {}", self.style.cut_mark(), picked.hidden.len(), words.join(", "));
        self.style.paint(Ink::Dim, &more)
    }

    fn foot(&self, picture: &Picture) -> String {
        let phase = picture.state.phase();
        let sign = self.sign(phase);
        let word = self.style.paint(if picture.paused { Ink::Wait } else { ink(phase) }, picture.word());
        let end = picture.completed_at.known().unwrap_or(self.now);
        let taken = picture.started_at.known().map(|start| span(end.since(start))).unwrap_or_default();
        let about = picture.expected.filter(|_| !picture.state.is_done());
        let taken = taken + &about.map_or(String::new(), |about| format!(" of about {}", span(about)));
        let taken = self.style.paint(Ink::Dim, &taken);
        let counts = words(picture.counts).into_iter().map(|(text, ink)| self.style.paint(ink, &text));
        format!(" {sign} {word}  {taken}   {}", counts.collect::<Vec<_>>().join("  "))
    }

    fn sign(&self, phase: Phase) -> String {
        let turn = |pictures: &[&'static str]| pictures[(self.now.0 / SPINNER_MS) as usize % pictures.len()];
        let sign = match (phase, self.style.unicode) {
            (Phase::Running, true) => turn(&["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]),
            (Phase::Running, false) => turn(&["|", "/", "-", "\\"]),
            _ => self.style.glyph(phase),
        };
        self.style.paint(ink(phase), sign)
    }
}

/// How long it took before, while that is what one wants to know.
fn usual(task: &TaskLine) -> Option<String> {
    let expected = task.expected.filter(|_| task.phase == Phase::Running)?;
    Some(format!("usually {}", span(expected)))
}

/// What there is of each phase, in the order in which people ask.
fn words(counts: Counts) -> Vec<(String, Ink)> {
    let all = [
        (counts.failed, "failed", Ink::Bad),
        (counts.running, "running", Ink::Live),
        (counts.waiting, "waiting", Ink::Wait),
        (counts.succeeded, "ok", Ink::Good),
        (counts.cancelled, "cancelled", Ink::Wait),
        (counts.skipped, "skipped", Ink::Dim),
        (counts.to_go(), "to go", Ink::Dim),
    ];
    all.into_iter().filter(|(n, ..)| *n > 0).map(|(n, word, ink)| (format!("{n} {word}"), ink)).collect()
}

#[cfg(test)]
mod tests;
