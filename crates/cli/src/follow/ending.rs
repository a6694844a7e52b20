//! How it ended: the run's output as data, the rest as talk, and the exit code.

use super::End;
use crate::command::Context;
use crate::exit::Exit;
use crate::picture::failure;
use crate::problem::Result;
use crate::text;
use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::plan::Work;
use edgewise_core::rule::is_handled;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use serde::Serialize;
use serde_json::Value;

/// Below a picture, an output of more lines is not printed.
const OUTPUT_LINES: usize = 20;
/// Most failed tasks that are named.
const FAILURES: usize = 5;

/// What programs are told.
#[derive(Serialize)]
struct Report<'a> {
    run: String,
    flow: Option<&'a str>,
    state: RunState,
    phase: &'static str,
    output: Option<Value>,
    /// The failure that a program ended with.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a Failure>,
    failed: Vec<Failed>,
}

#[derive(Serialize)]
struct Failed {
    task: String,
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

pub(super) fn tell(end: End, run: &Run, is_engine: bool, drawn: bool, context: &mut Context<'_>) -> Result<Exit> {
    let exit = match (end, run.state) {
        // Whatever was the reason to leave, an end is an end.
        (_, state) if state.is_done() => return over(run, drawn, context),
        (End::Timeout, _) => Exit::Timeout,
        (End::Interrupted, _) => Exit::Interrupted,
        (End::Stuck | End::Ended(_), _) => Exit::Waiting,
    };
    report(run, &[], context)?;
    let id = run.id.short();
    context.printer.say(&match end {
        End::Stuck if run.paused => format!("run {id} is paused: `edgewise resume {id}` lets it go on"),
        End::Stuck => format!("run {id} is held at a failure until somebody decides: `edgewise why {id}` says more"),
        End::Timeout => format!("the time given was not enough; {}", kept(&id, is_engine)),
        End::Interrupted | End::Ended(_) => kept(&id, is_engine),
    });
    Ok(exit)
}

/// How a run goes on that is not watched here any more.
fn kept(id: &str, was_engine: bool) -> String {
    let state = if was_engine { "is kept" } else { "goes on in another process" };
    format!("run {id} {state}: `edgewise watch {id}` follows it to its end, `edgewise cancel {id}` ends it")
}

fn over(run: &Run, drawn: bool, context: &mut Context<'_>) -> Result<Exit> {
    let ok = matches!(run.state, RunState::Complete | RunState::ResolvedManually);
    let lines = if ok { output_lines(run, drawn, context) } else { Vec::new() };
    report(run, &lines, context)?;
    if ok {
        return Ok(Exit::Ok);
    }
    let id = run.id.short();
    if run.state == RunState::Cancelled {
        let by = run.cancel.as_ref().map_or(String::new(), |asked| format!(" by {}", asked.by));
        context.printer.say(&format!("run {id} was cancelled{by}"));
    } else {
        let failed = failed(run);
        // A program may fail with what none of its tasks failed with.
        let own = run.failure().filter(|own| failed.iter().all(|(task, _)| run.failure_of(*task) != Some(own)));
        context.printer.say(&match own {
            Some(failure) => format!("run {id} failed with {}", failure.chain()),
            None => format!("run {id} failed"),
        });
        for (task, why) in failed.iter().take(FAILURES) {
            let path = run.path(*task);
            context.printer.say(&format!("  {path}: {why}"));
            if matches!(run.spec_of(*task).work, Work::Command(_)) {
                context.printer.say(&format!("    edgewise logs {id} {}", text::quoted(&path)));
            }
            if let Some(child) = run.last_child(*task) {
                context.printer.say(&format!("    edgewise why {}", child.short()));
            }
        }
        if failed.len() > FAILURES {
            context.printer.say(&format!("  and {} more; `edgewise show {id}` lists them", failed.len() - FAILURES));
        }
    }
    Ok(Exit::Failed)
}

/// Tasks that failed by themselves, and nobody answered that; a spread that failed because of its items says less
/// than they do, and in a program all that holds others does.
fn failed(run: &Run) -> Vec<(TaskIx, String)> {
    let tasks = run.present().filter(|t| run.tasks[t.0 as usize].state == TaskState::Error);
    let own = tasks.filter(|t| run.composites.get(t).is_none_or(|s| s.failed == 0 && !run.is_program()));
    let own = own.filter(|t| !is_answered(run, *t));
    own.map(|t| (t, run.failure_of(t).map(failure).unwrap_or_default())).collect()
}

/// Whether a failure did no harm: something handled it, or a spread around it did well in spite of it.
fn is_answered(run: &Run, mut task: TaskIx) -> bool {
    loop {
        let entry = &run.tasks[task.0 as usize];
        if entry.state == TaskState::Complete || is_handled(run, task) {
            return true;
        }
        if entry.scope == 0 {
            return false;
        }
        task = run.scope_of(task).parent;
    }
}

fn report(run: &Run, lines: &[String], context: &mut Context<'_>) -> Result<()> {
    let told = failed(run).into_iter().filter_map(|(task, _)| {
        let failure = run.failure_of(task)?;
        Some(Failed { task: run.path(task), kind: failure.kind.clone(), message: failure.message.clone() })
    });
    let done = run.state == RunState::Complete;
    let report = Report {
        run: run.id.to_string(),
        flow: run.about.as_ref().map(|about| about.flow.as_str()),
        state: run.state,
        phase: run.state.phase().word(),
        output: if done { run.final_output().ok() } else { None },
        failure: run.failure(),
        failed: told.collect(),
    };
    context.printer.one(run.id.to_string(), lines, &report)
}

/// The output as people read it: a text as it is, anything else as JSON.
fn output_lines(run: &Run, drawn: bool, context: &mut Context<'_>) -> Vec<String> {
    let output = match run.final_output() {
        Ok(output) => output,
        Err(why) => {
            context.printer.say(&format!("the output could not be made: {}", failure(&why)));
            return Vec::new();
        }
    };
    let shown = match &output {
        Value::Null => return Vec::new(),
        Value::Object(map) if map.is_empty() => return Vec::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    let lines: Vec<String> = shown.lines().map(|line| text::escape_log(line).into_owned()).collect();
    if drawn && lines.len() > OUTPUT_LINES {
        let id = run.id.short();
        context.printer.say(&format!("the output has {} lines: `edgewise show {id} --json` has it", lines.len()));
        return Vec::new();
    }
    lines
}
