//! Frames as text.

use super::*;
use crate::live::sample::{NOW, ago, release, task};
use edgewise_core::state::RunState;
use edgewise_core::time::Millis;

const FANCY: Style = Style { color: false, unicode: true };
const COLOR: Style = Style { color: true, unicode: true };

fn check(picture: &Picture, (width, height): (usize, usize), style: Style, expected: &str) {
    let frame = draw(picture, width, height, NOW, style).join("\n");
    assert_eq!(frame, expected.trim_start_matches('\n'), "found:\n{frame}\n");
}

#[test]
fn a_run_in_the_middle_of_everything() {
    let expected = "
 release  k3f9x2ab

 ✓ plan          1.2s
 ⠼ build         8.1s  ━━━━━━━━━━━━━╳╍╍╍───────  10 of 16  1 failed
   ✗ build[3]    1.2s  exit_1: linker not found, after 3 attempts
   ⠼ build[7]    3.1s  attempt 2 of 3
   ⠼ build[8]    3.1s
 ◷ fetch               attempt 2 of 3 in 3s: timeout
 ◷ approve      2m04s  2 of lead, quality, security
 – triage              tests were green
 · publish
 · notify

 ⠼ running  12s   1 failed  3 running  2 waiting  10 ok  1 skipped  2 to go";
    check(&release(), (80, 24), FANCY, expected);
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let expected = "
 release  k3f9x2ab

 + plan          1.2s
 | build         8.1s  #############x===.......  10 of 16  1 failed
   x build[3]    1.2s  exit_1: linker not found, after 3 attempts
   | build[7]    3.1s  attempt 2 of 3
   | build[8]    3.1s
 ~ fetch               attempt 2 of 3 in 3s: timeout
 ~ approve      2m04s  2 of lead, quality, security
 - triage              tests were green
 . publish
 . notify

 | running  12s   1 failed  3 running  2 waiting  10 ok  1 skipped  2 to go";
    check(&release(), (80, 24), Style::PLAIN, expected);
}

#[test]
fn with_more_tasks_than_lines_what_runs_and_what_failed_is_shown() {
    let expected = "
 release  k3f9x2ab  ━━━━━━━━━━━━━╳╍╍╍───────  12 of 19

 ⠼ build         8.1s  ━━━━━━━━━━━━━╳╍╍╍───────  10 of 16  1 failed
   ✗ build[3]    1.2s  exit_1: linker not found, after 3 attempts
   ⠼ build[7]    3.1s  attempt 2 of 3
   ⠼ build[8]    3.1s
 ◷ fetch               attempt 2 of 3 in 3s: timeout
   … 5 more: 1 waiting, 1 ok, 1 skipped, 2 to go

 ⠼ running  12s   1 failed  3 running  2 waiting  10 ok  1 skipped  2 to go";
    check(&release(), (80, 11), FANCY, expected);
}

#[test]
fn a_narrow_terminal_cuts_what_matters_least() {
    let expected = "
 release  k3f9x2ab

 ✓ plan          1.2s
 ⠼ build         8.1s  ━━━╳╍─  1…
   ✗ build[3]    1.2s  exit_1: l…
   ⠼ build[7]    3.1s  attempt 2…
   ⠼ build[8]    3.1s
 ◷ fetch               attempt 2…
 ◷ approve      2m04s  2 of lead…
 – triage              tests wer…
 · publish
 · notify

 ⠼ running  12s   1 failed  3 ru…";
    check(&release(), (34, 24), FANCY, expected);
}

#[test]
fn a_run_that_is_over_stands_still() {
    let tasks = vec![task("plan", Phase::Succeeded), TaskLine { attempt: 2, ..task("build", Phase::Succeeded) }];
    let counts = Counts { succeeded: 2, ..Counts::default() };
    let over = Picture { state: RunState::Complete, completed_at: ago(400), counts, tasks, ..release() };
    let expected = "
 release  k3f9x2ab

 ✓ plan     1.2s
 ✓ build    1.2s  attempt 2 of 3

 ✓ succeeded  12s   2 ok";
    check(&over, (80, 24), FANCY, expected);
    let later = Time(NOW.0 + 60_000);
    assert_eq!(draw(&over, 80, 24, later, FANCY), draw(&over, 80, 24, NOW, FANCY));
}

#[test]
fn what_is_at_work_says_how_long_it_usually_takes() {
    let usual = |ms, task: TaskLine| TaskLine { expected: Some(Millis(ms)), ..task };
    let spread = SpreadCount { done: 1, failed: 0, running: 1, waiting: 2, total: 4 };
    let tasks = vec![
        usual(1_000, task("plan", Phase::Succeeded)),
        usual(4_000, TaskLine { attempt: 2, ..task("build", Phase::Running) }),
        usual(9_500, TaskLine { spread: Some(spread), ..task("test", Phase::Running) }),
        usual(2_000, task("publish", Phase::Blocked)),
    ];
    let counts = Counts { succeeded: 2, running: 3, waiting: 2, blocked: 1, ..Counts::default() };
    let run = Picture { expected: Some(Millis(64_000)), counts, tasks, ..release() };
    let expected = "
 release  k3f9x2ab

 ✓ plan       1.2s
 ⠼ build      3.1s  attempt 2 of 3, usually 4.0s
 ⠼ test       3.1s  ━━━━━━╍╍╍╍╍╍────────────  1 of 4  2 waiting  usually 9.5s
 · publish

 ⠼ running  12s of about 1m04s   3 running  2 waiting  2 ok  1 to go";
    check(&run, (80, 24), FANCY, expected);
}

#[test]
fn a_paused_run_says_so() {
    let frame = draw(&Picture { paused: true, ..release() }, 80, 24, NOW, FANCY);
    assert!(frame.last().unwrap().starts_with(" ⠼ paused  12s"), "{frame:?}");
}

#[test]
fn colour_changes_no_column() {
    let strip = |line: &String| {
        let mut plain = line.clone();
        while let Some(start) = plain.find('\u{1b}') {
            let end = plain[start..].find('m').unwrap() + start;
            plain.replace_range(start..=end, "");
        }
        plain
    };
    let width = |line: &String| text::width(line.trim_end());
    let colored: Vec<String> = draw(&release(), 80, 24, NOW, COLOR).iter().map(strip).collect();
    let plain = draw(&release(), 80, 24, NOW, FANCY);
    assert_eq!(colored.iter().map(width).collect::<Vec<_>>(), plain.iter().map(width).collect::<Vec<_>>());
    assert!(draw(&release(), 80, 24, NOW, COLOR)[2].starts_with(" \u{1b}[32m✓\u{1b}[0m plan"));
}

#[test]
fn a_frame_never_leaves_its_terminal() {
    let mut picture = release();
    picture.tasks.extend((0..100).map(|i| task(&format!("task-{i}-with-a-rather-long-name"), Phase::Running)));
    for style in [FANCY, COLOR, Style::PLAIN] {
        for width in [0, 1, 2, 10, 33, 40, 79, 80, 200] {
            for height in [1, 2, 3, 5, 6, 7, 24, 120] {
                let frame = draw(&picture, width, height, NOW, style);
                assert!(frame.len() < height.max(2), "{width} x {height}: {} lines", frame.len());
                let widest = frame.iter().map(|line| text::width(line)).max().unwrap();
                assert!(widest <= width.saturating_sub(1), "{width} x {height}: {widest} columns");
            }
        }
    }
}

#[test]
fn control_characters_in_names_and_notes_are_not_obeyed() {
    let mut picture = release();
    picture.tasks[0].path = "a\u{1b}[2J".into();
    picture.tasks[0].note = "b\nc\u{7}".into();
    let frame = draw(&picture, 80, 24, NOW, FANCY).join("\n");
    assert!(frame.contains("a\\u{1b}[2J") && frame.contains("b\\nc\\u{7}"), "{frame}");
    assert!(!frame.contains('\u{1b}') && !frame.contains('\u{7}'));
}
