//! A line: tasks that wait for the same, in the order in which they take their turn.
//!
//! Higher priorities go first. Within one priority runs take turns, so that a run of a hundred thousand tasks does
//! not keep one of a single task waiting. Within a run tasks go in the order of the plan. Each step costs about
//! the same however long the line is, and a task stands in it once.

use super::Offer;
use crate::turns::Bound;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_store::quick::QuickMap;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// So many turns of runs that left are not worth a look.
const SLACK: usize = 16;

/// A task in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub offer: Offer,
    pub priority: i16,
    pub bound: Option<Arc<Bound>>,
}

#[derive(Default)]
pub(crate) struct Line {
    levels: BTreeMap<Reverse<i16>, Level>,
}

/// The tasks of one priority.
#[derive(Default)]
struct Level {
    /// Whose turn it is. A run that left without its turn is passed over: its stamp is another one by then.
    turns: VecDeque<(RunId, u64)>,
    runs: QuickMap<RunId, Of>,
    stamp: u64,
}

/// The tasks of one run.
struct Of {
    stamp: u64,
    tasks: Tasks,
}

/// Most runs wait with one task, and there may be half a million of them.
enum Tasks {
    One(TaskIx, Slim),
    Many(BTreeMap<TaskIx, Slim>),
}

struct Slim {
    generation: u16,
    attempt: u16,
    bound: Option<Arc<Bound>>,
}

/// Which end of the turns a run joins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// It is new here.
    Back,
    /// It has had its turn and could not use it.
    Front,
}

impl Line {
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// The highest priority that waits.
    pub fn top(&self) -> Option<i16> {
        self.levels.keys().next().map(|Reverse(priority)| *priority)
    }

    /// True if it did not stand there already.
    pub fn put(&mut self, waiting: Waiting, at: At) -> bool {
        let Waiting { offer: Offer { run, task, generation, attempt }, priority, bound } = waiting;
        let level = self.levels.entry(Reverse(priority)).or_default();
        let slim = Slim { generation, attempt, bound };
        match level.runs.entry(run) {
            Entry::Occupied(mut of) => of.get_mut().tasks.put(task, slim),
            Entry::Vacant(place) => {
                level.stamp += 1;
                place.insert(Of { stamp: level.stamp, tasks: Tasks::One(task, slim) });
                match at {
                    At::Back => level.turns.push_back((run, level.stamp)),
                    At::Front => level.turns.push_front((run, level.stamp)),
                }
                level.tidy();
                true
            }
        }
    }

    /// Whoever's turn it is.
    pub fn pop(&mut self) -> Option<Waiting> {
        let mut level = self.levels.first_entry()?;
        let priority = level.key().0;
        let (run, task, slim) = level.get_mut().pop()?;
        if level.get().runs.is_empty() {
            level.remove();
        }
        let offer = Offer { run, task, generation: slim.generation, attempt: slim.attempt };
        Some(Waiting { offer, priority, bound: slim.bound })
    }

    /// Whether a task stands in it.
    pub fn has(&self, run: RunId, task: TaskIx) -> bool {
        self.levels.values().filter_map(|level| level.runs.get(&run)).any(|of| match &of.tasks {
            Tasks::One(one, _) => *one == task,
            Tasks::Many(many) => many.contains_key(&task),
        })
    }

    /// Takes one task out; true if it was there.
    pub fn take(&mut self, run: RunId, task: TaskIx) -> bool {
        let mut taken = false;
        self.levels.retain(|_, level| {
            if let Entry::Occupied(mut of) = level.runs.entry(run) {
                let empty = match &mut of.get_mut().tasks {
                    Tasks::One(one, _) => *one == task,
                    Tasks::Many(many) => {
                        taken |= many.remove(&task).is_some();
                        many.is_empty()
                    }
                };
                if empty {
                    taken = true;
                    of.remove();
                }
            }
            !level.runs.is_empty()
        });
        taken
    }

    /// Takes a run out, and gives what its tasks were bound by.
    pub fn forget(&mut self, run: RunId) -> Vec<Arc<Bound>> {
        let mut bounds = Vec::new();
        self.levels.retain(|_, level| {
            if let Some(of) = level.runs.remove(&run) {
                match of.tasks {
                    Tasks::One(_, slim) => bounds.extend(slim.bound),
                    Tasks::Many(many) => bounds.extend(many.into_values().filter_map(|slim| slim.bound)),
                }
            }
            !level.runs.is_empty()
        });
        bounds
    }

    /// How many tasks wait; it counts them.
    pub fn len(&self) -> usize {
        let of = |of: &Of| match &of.tasks {
            Tasks::One(..) => 1,
            Tasks::Many(many) => many.len(),
        };
        self.levels.values().flat_map(|level| level.runs.values()).map(of).sum()
    }
}

impl Level {
    /// Forgets the turns of runs that left without them, once they are more than the others.
    fn tidy(&mut self) {
        if self.turns.len() > 2 * self.runs.len() + SLACK {
            let Self { turns, runs, .. } = self;
            turns.retain(|(run, stamp)| runs.get(run).is_some_and(|of| of.stamp == *stamp));
        }
    }

    fn pop(&mut self) -> Option<(RunId, TaskIx, Slim)> {
        while let Some((run, stamp)) = self.turns.pop_front() {
            let Entry::Occupied(mut of) = self.runs.entry(run) else { continue };
            if of.get().stamp != stamp {
                continue;
            }
            if let Tasks::Many(many) = &mut of.get_mut().tasks
                && many.len() > 1
            {
                let (task, slim) = many.pop_first()?;
                self.turns.push_back((run, stamp));
                return Some((run, task, slim));
            }
            return match of.remove().tasks {
                Tasks::One(task, slim) => Some((run, task, slim)),
                Tasks::Many(mut many) => many.pop_first().map(|(task, slim)| (run, task, slim)),
            };
        }
        None
    }
}

impl Tasks {
    fn put(&mut self, task: TaskIx, slim: Slim) -> bool {
        match self {
            Self::One(one, old) if *one == task => {
                *old = slim;
                false
            }
            Self::Many(many) => many.insert(task, slim).is_none(),
            Self::One(..) => {
                if let Self::One(one, old) = std::mem::replace(self, Self::Many(BTreeMap::new())) {
                    *self = Self::Many(BTreeMap::from([(one, old), (task, slim)]));
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(run: u128, task: u32, priority: i16) -> Waiting {
        let offer = Offer { run: RunId(run), task: TaskIx(task), generation: 1, attempt: 1 };
        Waiting { offer, priority, bound: None }
    }

    fn line(of: &[(u128, u32, i16)]) -> Line {
        let mut line = Line::default();
        for (run, task, priority) in of {
            line.put(waiting(*run, *task, *priority), At::Back);
        }
        line
    }

    fn order(line: &mut Line) -> Vec<(u128, u32)> {
        std::iter::from_fn(|| line.pop()).map(|w| (w.offer.run.0, w.offer.task.0)).collect()
    }

    #[test]
    fn higher_priorities_go_first_then_runs_take_turns_then_the_plan_says() {
        let mut line = line(&[(1, 2, 0), (1, 0, 0), (1, 1, 0), (2, 0, 0), (3, 7, 5), (2, 1, -1), (1, 9, 5)]);
        let expected = [(3, 7), (1, 9), (1, 0), (2, 0), (1, 1), (1, 2), (2, 1)];
        assert_eq!(order(&mut line), expected);
        assert!(line.is_empty());
    }

    #[test]
    fn a_task_stands_in_line_once_however_often_it_is_offered() {
        let mut line = line(&[(1, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0, 0), (1, 1, 0)]);
        assert_eq!(line.len(), 2);
        assert_eq!(order(&mut line), [(1, 0), (1, 1)]);
    }

    #[test]
    fn a_run_that_left_and_came_back_has_one_turn_and_not_two() {
        let mut line = line(&[(1, 0, 0), (2, 0, 0)]);
        for _ in 0..10 {
            assert!(line.forget(RunId(1)).is_empty());
            (0..3).for_each(|task| assert!(line.put(waiting(1, task, 0), At::Back)));
        }
        (1..3).for_each(|task| assert!(line.put(waiting(2, task, 0), At::Back)));
        assert_eq!(order(&mut line), [(2, 0), (1, 0), (2, 1), (1, 1), (2, 2), (1, 2)]);
    }

    #[test]
    fn runs_that_come_and_go_beside_one_that_waits_leave_nothing_behind() {
        let mut line = line(&[(0, 0, 0)]);
        for run in 1..10_000 {
            line.put(waiting(run, 0, 0), At::Back);
            assert!(line.take(RunId(run), TaskIx(0)));
        }
        let turns: usize = line.levels.values().map(|level| level.turns.len()).sum();
        assert!(turns <= 2 + SLACK, "{turns}");
        (1..3).for_each(|run| assert!(line.put(waiting(run, 0, 0), At::Back)));
        assert_eq!(order(&mut line), [(0, 0), (1, 0), (2, 0)]);
    }

    #[test]
    fn what_is_taken_out_is_gone_and_what_comes_back_to_the_front_is_next() {
        let mut line = line(&[(1, 0, 0), (1, 1, 0), (2, 0, 0)]);
        assert!(line.take(RunId(1), TaskIx(0)) && !line.take(RunId(1), TaskIx(0)));
        assert!(line.has(RunId(1), TaskIx(1)) && !line.has(RunId(1), TaskIx(0)));
        line.put(waiting(3, 0, 0), At::Front);
        assert_eq!(order(&mut line), [(3, 0), (1, 1), (2, 0)]);
    }
}
