//! Which tasks get a line when there are more of them than lines: what is running and what failed, then what ended
//! last and what comes next.

use super::TaskLine;
use edgewise_core::state::Phase;

/// The tasks to show, as places in the list and in its order; and those that are left out.
pub struct Picked {
    /// In the order of the plan.
    pub shown: Vec<usize>,
    /// Left out, in the order of the plan.
    pub hidden: Vec<usize>,
}

/// Picks at most `room` tasks.
pub fn pick(tasks: &[TaskLine], room: usize) -> Picked {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|i| rank(&tasks[*i], *i));
    // Failures must not be pushed out by whatever runs: up to a third of the lines is theirs.
    let failed: Vec<usize> =
        order.iter().copied().filter(|i| tasks[*i].phase == Phase::Failed).take(room / 3).collect();
    // What ended just now says how far it is: many that are ready must not push it out.
    let mut latest: Vec<usize> = (0..tasks.len()).filter(|i| tasks[*i].phase == Phase::Succeeded).collect();
    latest.sort_by_key(|i| (std::cmp::Reverse(tasks[*i].completed_at), *i));
    latest.truncate(room / 4);
    let is_live = |i: &usize| matches!(tasks[*i].phase, Phase::Running | Phase::Failed | Phase::Waiting);
    let (live, idle): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_live);
    let mut shown: Vec<usize> = Vec::new();
    for i in failed.into_iter().chain(live).chain(latest).chain(idle) {
        if shown.len() < room && !shown.contains(&i) {
            shown.push(i);
        }
    }
    shown.sort_unstable();
    let hidden = (0..tasks.len()).filter(|i| shown.binary_search(i).is_err()).collect();
    Picked { shown, hidden }
}

/// What comes first: by phase, then what changed last, then the order of the plan.
fn rank(task: &TaskLine, place: usize) -> (u8, u64, usize) {
    let phase = match task.phase {
        Phase::Running => 0,
        Phase::Failed => 1,
        Phase::Waiting => 2,
        Phase::Ready => 3,
        Phase::Succeeded if task.depth == 0 => 4,
        Phase::Blocked => 5,
        // The bar of its spread tells as much.
        Phase::Succeeded => 6,
        Phase::Cancelled | Phase::Skipped => 7,
    };
    let latest = match task.phase {
        Phase::Succeeded | Phase::Failed => u64::MAX - task.completed_at.0,
        _ => 0,
    };
    (phase, latest, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample::task;
    use edgewise_core::time::Time;

    fn picked(phases: &[Phase], room: usize) -> Vec<usize> {
        let tasks: Vec<TaskLine> = phases
            .iter()
            .enumerate()
            .map(|(i, phase)| TaskLine { completed_at: Time(i as u64 + 1), ..task(&format!("t{i}"), *phase) })
            .collect();
        pick(&tasks, room).shown
    }

    use Phase::{Blocked as B, Failed as F, Ready as Y, Running as R, Skipped as K, Succeeded as S, Waiting as W};

    #[test]
    fn with_room_for_all_nothing_moves() {
        assert_eq!(picked(&[S, R, F, B], 4), [0, 1, 2, 3]);
    }

    #[test]
    fn what_runs_and_what_failed_comes_first_in_the_order_of_the_plan() {
        assert_eq!(picked(&[S, S, F, S, R, B, W, K], 3), [2, 4, 6]);
        assert_eq!(picked(&[S, S, F, S, R, B, W, K], 4), [2, 3, 4, 6]);
    }

    #[test]
    fn many_running_tasks_leave_a_third_to_failures() {
        assert_eq!(picked(&[R, R, R, R, R, R, F, F, F], 6), [0, 1, 2, 3, 7, 8]);
    }

    #[test]
    fn many_that_are_ready_leave_a_quarter_to_what_ended_last() {
        assert_eq!(picked(&[S, S, S, S, R, Y, Y, Y, Y, Y, Y, Y, B], 8), [2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn items_that_are_done_make_room_for_what_comes_next() {
        let inner = |task: TaskLine| TaskLine { depth: 1, ..task };
        let tasks = [task("s", R), inner(task("s[0]", S)), inner(task("s[1]", S)), task("t", B)];
        assert_eq!(pick(&tasks, 2).shown, [0, 3]);
    }

    #[test]
    fn without_room_everything_is_hidden() {
        assert!(picked(&[R, F], 0).is_empty());
    }
}
