//! What is known of a run from elsewhere: how long its tasks took in earlier runs of the flow, how far its children are.
//!
//! It only adorns the picture. What cannot be read is left out, and a run that is too large to be read for this is not.

use crate::live::Counts;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::reader::Reader;
use edgewise_store::RunFilter;
use std::collections::BTreeMap;

/// So many earlier runs are looked at.
const PAST: usize = 5;
/// Earlier runs with more tasks are not: the view must not keep anybody waiting.
const MOST_TASKS: u32 = 5_000;
/// Most children that are looked at: of a spread of many, only the first have lines.
const MOST_CHILDREN: usize = 32;

/// Facts from other runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// How long a run of the flow usually takes.
    pub run: Option<Millis>,
    /// How long each task usually takes, by its path.
    pub tasks: BTreeMap<String, Millis>,
    /// How many tasks of each child have ended, and how many there are.
    pub children: BTreeMap<RunId, (u32, u32)>,
}

impl Beside {
    /// Looks at the last runs of the same flow that ended well.
    pub fn of_past(reader: &mut Reader, run: &Run) -> Self {
        let Some(about) = &run.about else { return Self::default() };
        let (flow, states) = (Some(about.flow.clone()), vec![RunState::Complete]);
        let filter = RunFilter { flow, states, limit: PAST + 1, ..RunFilter::default() };
        let rows = reader.runs(&filter).unwrap_or_default().into_iter();
        let fits = rows.filter(|row| row.id != run.id && Counts::from_states(&row.counts).total() <= MOST_TASKS);
        let past: Vec<Run> = fits.take(PAST).filter_map(|row| reader.run(row.id).ok()).collect();
        Self::from_runs(&past)
    }

    /// The medians over runs that have ended.
    pub(super) fn from_runs(past: &[Run]) -> Self {
        let spans = |run: &Run| Some(run.completed_at.known()?.since(run.started_at.known()?));
        let mut tasks: BTreeMap<String, Vec<Millis>> = BTreeMap::new();
        for run in past {
            for task in run.present() {
                if let Some(taken) = taken(run, task) {
                    tasks.entry(run.path(task)).or_default().push(taken);
                }
            }
        }
        let tasks = tasks.into_iter().filter_map(|(path, spans)| Some((path, median(spans)?))).collect();
        Self { run: median(past.iter().filter_map(spans).collect()), tasks, children: BTreeMap::new() }
    }

    /// Looks where the children of a run are now.
    pub fn look(&mut self, reader: &mut Reader, run: &Run) {
        self.children.clear();
        for child in run.waiting_for_children().filter_map(|task| run.last_child(task)).take(MOST_CHILDREN) {
            if let Ok(Some(row)) = reader.row(child) {
                let counts = Counts::from_states(&row.counts);
                self.children.insert(child, (counts.ended(), counts.total()));
            }
        }
    }
}

/// How long a task took that was done: its last attempt, or from when it was reached if it has none.
fn taken(run: &Run, task: TaskIx) -> Option<Millis> {
    let entry = &run.tasks[task.0 as usize];
    if entry.state != TaskState::Complete {
        return None;
    }
    let began = if run.has_attempts(task) { entry.started_at } else { entry.ready_at };
    Some(entry.completed_at.known()?.since(began.known()?))
}

fn median(mut spans: Vec<Millis>) -> Option<Millis> {
    spans.sort_unstable();
    spans.get(spans.len() / 2).copied()
}
