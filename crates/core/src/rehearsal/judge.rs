//! The judge: what was expected beside what came of it. Every miss is told, not just the first.

use super::differ::differ;
use super::{Attempt, Case, Effect, Failed, Performance, Task};
use crate::event::{Failure, TaskIx};
use crate::run::Run;
use crate::state::{Phase, RunState};
use crate::why::Why;
use serde::Serialize;
use serde_json::Value;

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// What.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl Miss {
    fn new(what: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { what: what.into(), expected: expected.into(), found: found.into() }
    }
}

/// Everything about a performance that its case does not expect; nothing if it is as it should be.
pub fn judge(case: &Case, performance: &Performance) -> Vec<Miss> {
    let (run, expect) = (&performance.run, &case.expect);
    let mut misses = Vec::new();
    if let Some(trouble) = &performance.trouble {
        misses.push(Miss::new("performance", "an end", trouble.as_str()));
        return misses;
    }
    let wanted = expect.state.unwrap_or(if expect.failure.is_some() { Phase::Failed } else { Phase::Succeeded });
    if run.state.phase() != wanted {
        misses.push(Miss::new("state", wanted.word(), stood(run)));
    }
    if let Some(output) = &expect.output {
        let found = run.final_output().unwrap_or_default();
        misses.extend(differ("output", output, &found, false).into_iter().map(|(at, a, b)| Miss::new(at, a, b)));
    }
    if let Some(failed) = &expect.failure {
        // A graph may have failed in several ways: the one that is meant counts.
        let all = how_it_failed(run);
        let meant = |found: &&Failure| failed.kind.as_ref().is_none_or(|kind| found.is_a(kind));
        misses.extend(failure("failure", failed, all.iter().copied().find(meant).or(all.first().copied())));
    }
    for (path, task) in &expect.tasks {
        misses.extend(of_task(run, path, task));
    }
    if let Some(effects) = &expect.effects {
        misses.extend(order(effects, &performance.effects));
    }
    let elapsed = performance.elapsed;
    if let Some(exactly) = expect.elapsed.filter(|exactly| *exactly != elapsed) {
        misses.push(Miss::new("elapsed", exactly.to_string(), elapsed.to_string()));
    }
    if let Some(most) = expect.within.filter(|most| elapsed > *most) {
        misses.push(Miss::new("elapsed", format!("at most {most}"), elapsed.to_string()));
    }
    misses
}

/// Where the run stood, and why if that is not plain.
fn stood(run: &Run) -> String {
    let word = run.state.phase().word();
    let why = match how_it_failed(run).first() {
        Some(failure) => failure.chain(),
        _ if run.state.is_done() => return word.to_owned(),
        _ => {
            let why = Why::of_run(run);
            let causes = why.causes.iter().map(|c| format!("{}: {}", c.path, c.sentence(&|at| at.to_string())));
            causes.collect::<Vec<_>>().join("; ")
        }
    };
    if why.is_empty() { word.to_owned() } else { format!("{word} ({why})") }
}

/// The failure of a program, or those of the tasks of a graph that nobody answered.
fn how_it_failed(run: &Run) -> Vec<&Failure> {
    if run.is_program() || run.state != RunState::Error {
        return run.failure().into_iter().collect();
    }
    let failed = Why::of_run(run).causes.into_iter().map(|cause| cause.task);
    failed.filter_map(|task| run.failure_of(task)).collect()
}

fn failure(what: &str, expected: &Failed, found: Option<&Failure>) -> Vec<Miss> {
    let Some(found) = found else {
        let kind = expected.kind.as_deref().or(expected.message.as_deref()).unwrap_or("a failure");
        return vec![Miss::new(what, kind, "no failure")];
    };
    let mut misses = Vec::new();
    if let Some(kind) = expected.kind.as_ref().filter(|kind| !found.is_a(kind)) {
        misses.push(Miss::new(format!("{what}.type"), kind, found.chain()));
    }
    if let Some(message) = expected.message.as_ref().filter(|message| **message != found.message) {
        misses.push(Miss::new(format!("{what}.message"), message, &found.message));
    }
    misses
}

fn of_task(run: &Run, path: &str, expected: &Task) -> Vec<Miss> {
    let found = run.find(path).or_else(|| run.present().find(|task| run.path(*task) == path));
    let Some(ix) = found else {
        // What the run never made never ran.
        let wanted = expected.state.unwrap_or(Phase::Succeeded);
        let missing = Miss::new(path, wanted.word(), "it was never reached");
        return if wanted == Phase::Skipped { Vec::new() } else { vec![missing] };
    };
    let mut misses = Vec::new();
    if let Some(state) = expected.state.filter(|state| *state != run.phase_of(ix)) {
        misses.push(Miss::new(path, state.word(), described(run, ix)));
    }
    let attempts = run.tasks[ix.0 as usize].attempt;
    if let Some(wanted) = expected.attempts.filter(|wanted| *wanted != attempts) {
        misses.push(Miss::new(format!("{path}.attempts"), wanted.to_string(), attempts.to_string()));
    }
    if let Some(output) = &expected.output {
        let at = format!("{path}.output");
        let differences = differ(&at, output, run.output(ix), false);
        misses.extend(differences.into_iter().map(|(at, a, b)| Miss::new(at, a, b)));
    }
    if let Some(failed) = &expected.failure {
        misses.extend(failure(&format!("{path}.failure"), failed, run.failure_of(ix)));
    }
    misses
}

fn described(run: &Run, ix: TaskIx) -> String {
    let word = run.phase_of(ix).word();
    run.failure_of(ix).map_or_else(|| word.to_owned(), |failure| format!("{word} ({})", failure.chain()))
}

/// Compares attempts in order; the first that is another one is told, and how many there were.
fn order(expected: &[Attempt], found: &[Effect]) -> Vec<Miss> {
    let is = |wanted: &Attempt, there: &Effect| {
        wanted.who == there.path || there.action.as_deref() == Some(wanted.who.as_str())
    };
    for n in 0..expected.len().max(found.len()) {
        let what = format!("effects[{n}]");
        match (expected.get(n), found.get(n)) {
            (Some(wanted), Some(there)) if is(wanted, there) => {
                let Some(with) = &wanted.with else { continue };
                let differences = differ(&format!("{what}.{}", wanted.who), with, &there.with, true);
                if !differences.is_empty() {
                    return differences.into_iter().map(|(at, a, b)| Miss::new(at, a, b)).collect();
                }
            }
            (Some(wanted), Some(there)) => return vec![Miss::new(what, &wanted.who, written(there))],
            (Some(wanted), None) => return vec![Miss::new(what, &wanted.who, "nothing more")],
            (None, Some(there)) => return vec![Miss::new(what, "nothing more", written(there))],
            (None, None) => {}
        }
    }
    Vec::new()
}

/// `load (rows[0]) {"source":1}`
fn written(effect: &Effect) -> String {
    let with = match &effect.with {
        Value::Null => String::new(),
        Value::Object(map) if map.is_empty() => String::new(),
        with => format!(" {with}"),
    };
    match &effect.action {
        Some(action) if action.as_str() != effect.path => format!("{action} ({}){with}", effect.path),
        _ => format!("{}{with}", effect.path),
    }
}
