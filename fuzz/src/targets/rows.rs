//! Rows: a plan, the row of a run, those of its tasks, and the ledger's tail after them, as one JSON object.
//!
//! Damaged rows are refused, or they are a run like any other: it can be looked at, written again, and the
//! tail folds into it.

use super::record::{WORDS, record};
use super::{Target, refusal};
use edgewise_core::Result;
use edgewise_core::event::TaskIx;
use edgewise_core::fold::{Changes, fold};
use edgewise_core::history::Entry;
use edgewise_core::id::{EventId, PlanHash, RunId, TokenHash};
use edgewise_core::invariant::check_state;
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::rows::{GivenRow, Marks, RunRow, TaskRow};
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_core::why::Why;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

pub const TARGET: Target = Target { name: "rows", words: WORDS, defined: Vec::new, attempt };

/// What is in an input. Bodies are JSON within, so that changes reach into them.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Rows {
    plan: Box<RawValue>,
    run: RunPart,
    tasks: Vec<TaskPart>,
    #[serde(default)]
    given: Vec<(u32, Box<RawValue>)>,
    #[serde(default)]
    tail: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct RunPart {
    flow: Name,
    state: RunState,
    paused: bool,
    /// How many tasks there may be; many, where an input does not say.
    #[serde(default = "many")]
    counts: [u32; 11],
    times: [u64; 3],
    seq: u64,
    version: EventId,
    body: Box<RawValue>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct TaskPart {
    task: u32,
    scope: u32,
    region: u32,
    node: u32,
    generation: u16,
    state: TaskState,
    attempt: u16,
    token: TokenHash,
    times: [u64; 3],
    output: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
    body: Option<Box<RawValue>>,
    version: EventId,
}

fn attempt(input: &[u8]) -> String {
    let Ok(rows) = serde_json::from_slice::<Rows>(input) else { return "no rows".to_owned() };
    let Ok(plan) = Plan::decode(rows.plan.get().as_bytes()) else { return "no plan".to_owned() };
    let hash = plan.encode().0;
    let tasks = rows.tasks.iter().map(TaskPart::row).collect();
    let given = rows.given.iter().map(|(task, body)| GivenRow { task: TaskIx(*task), body: body.get().to_owned() });
    let mut run = match Run::from_rows(&rows.run.row(hash), tasks, given.collect(), Arc::new(plan)) {
        Ok(run) => run,
        Err(error) => return refusal(error.code, &error.message),
    };
    look(&run);
    let held = check_state(&run);
    if held.is_ok() {
        for line in &rows.tail {
            let entries = Entry::of(&record(run.seq.saturating_add(1), line.get().as_bytes())).unwrap_or_default();
            for entry in entries {
                fold(&mut run, entry.stamp, &entry.event, &mut Changes::default());
            }
        }
        look(&run);
    }
    let counts = run.counts.map(|n| n.min(2));
    let maps = [run.timers.len(), run.approvals.len(), run.outputs.len(), run.kept.len(), run.advancing.len()];
    format!("{:?} {} {counts:?} {maps:?}", run.state, held.map_or_else(|v| v.invariant, |()| "held"))
}

/// Everything that people and queues see of a run, and its rows once more.
fn look(run: &Run) {
    let _ = Why::of_run(run);
    for task in (0..run.total()).map(TaskIx) {
        let _ = (run.path(task), run.phase_of(task), run.outbox_row(task), Why::of_task(run, task));
    }
    if run.row().is_some() {
        let again = reload(run).unwrap_or_else(|error| panic!("rows of a run that was loaded do not load: {error}"));
        assert_eq!(reload(&again).unwrap_or_else(|error| panic!("{error}")), again);
    }
}

/// A run written to rows and read back.
pub fn reload(run: &Run) -> Result<Run> {
    let rows = (0..run.total()).map(TaskIx).filter(|t| run.has_row(*t)).map(|t| run.task_row(t)).collect();
    let row = run.row().unwrap_or_else(|| panic!("only a run that was triggered has a row"));
    Run::from_rows(&row, rows, run.given_rows().collect(), run.plan.clone())
}

impl RunPart {
    fn row(&self, plan: PlanHash) -> RunRow {
        let [triggered_at, started_at, completed_at] = self.times.map(Time);
        RunRow {
            id: RunId(7),
            flow: self.flow.clone(),
            plan,
            state: self.state,
            paused: self.paused,
            counts: self.counts,
            triggered_at,
            started_at,
            completed_at,
            applied_seq: self.seq,
            version: self.version,
            marks: Marks::default(),
            body: self.body.get().to_owned(),
        }
    }
}

impl TaskPart {
    fn row(&self) -> TaskRow {
        let [ready_at, started_at, completed_at] = self.times.map(Time);
        let text = |raw: &Option<Box<RawValue>>| raw.as_ref().map(|raw| raw.get().to_owned());
        TaskRow {
            task: TaskIx(self.task),
            scope: self.scope,
            region: self.region,
            node: self.node,
            path: None,
            generation: self.generation,
            state: self.state,
            attempt: self.attempt,
            token: self.token,
            ready_at,
            started_at,
            completed_at,
            output: text(&self.output),
            error: text(&self.error),
            body: text(&self.body),
            version: self.version,
        }
    }
}

fn many() -> [u32; 11] {
    [1_000; 11]
}

impl Rows {
    /// The rows of a run.
    #[cfg(test)]
    fn of(run: &Run) -> Option<Self> {
        let raw = |text: String| RawValue::from_string(text).ok();
        let row = run.row()?;
        let rows = (0..run.total()).map(TaskIx).filter(|t| run.has_row(*t)).map(|t| run.task_row(t));
        let tasks = rows.map(|task| TaskPart {
            task: task.task.0,
            scope: task.scope,
            region: task.region,
            node: task.node,
            generation: task.generation,
            state: task.state,
            attempt: task.attempt,
            token: task.token,
            times: [task.ready_at.0, task.started_at.0, task.completed_at.0],
            output: task.output.and_then(raw),
            error: task.error.and_then(raw),
            body: task.body.and_then(raw),
            version: task.version,
        });
        let run_part = RunPart {
            flow: row.flow,
            state: row.state,
            paused: row.paused,
            counts: row.counts,
            times: [row.triggered_at.0, row.started_at.0, row.completed_at.0],
            seq: row.applied_seq,
            version: row.version,
            body: raw(row.body)?,
        };
        let given = run.given_rows().filter_map(|row| Some((row.task.0, raw(row.body)?))).collect();
        let plan = raw(String::from_utf8(run.plan.encode().1).ok()?)?;
        Some(Self { plan, run: run_part, tasks: tasks.collect(), given, tail: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = include_str!("../../../crates/core/tests/golden/plan.v1.json");
    const LEDGER: &str = include_str!("../../../crates/core/tests/golden/ledger.v2.jsonl");

    #[test]
    fn rows_of_a_real_run_load_at_every_seq_and_take_the_tail() {
        let plan = Plan::decode(PLAN.trim_end().as_bytes()).unwrap();
        let mut run = Run::new(RunId(7), plan.encode().0, Arc::new(plan));
        let lines: Vec<&str> = LEDGER.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            for entry in Entry::of(&record(run.seq + 1, line.as_bytes())).unwrap() {
                fold(&mut run, entry.stamp, &entry.event, &mut Changes::default());
            }
            let mut rows = Rows::of(&run).unwrap();
            rows.tail = lines[n + 1..].iter().map(|l| RawValue::from_string((*l).to_owned()).unwrap()).collect();
            let input = serde_json::to_vec(&rows).unwrap();
            let mark = attempt(&input);
            assert!(mark.contains(" held "), "{mark} after {line}");
        }
    }
}
