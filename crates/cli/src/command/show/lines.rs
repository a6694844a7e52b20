//! A run as people see it: a few lines about the run, then a table of its tasks.

use crate::clock::Clock;
use crate::live::span;
use crate::style::{Ink, Style, ink};
use crate::table::{self, Cell};
use crate::text;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::plan::Work;
use edgewise_core::run::{About, Asked, Run};
use edgewise_core::state::{Phase, RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_core::why::{Because, Cause};
use edgewise_engine::facts::{in_order, own_key};
use serde_json::Value;
use std::collections::BTreeMap;

const HEADER: [&str; 6] = ["task", "state", "try", "started", "took", "note"];
/// Fewest columns of the words before each fact of the run.
const LABEL: usize = 8;
/// Longest value where the width is not known.
const VALUE: usize = 160;

/// How it is looked at.
pub(super) struct Look {
    /// For the head.
    pub clock: Clock,
    /// For the tasks.
    pub tasks: Clock,
    pub now: Time,
    pub style: Style,
    pub columns: Option<usize>,
    /// Also the items of spreads.
    pub all: bool,
    /// The runs that tasks are done by, and where these are.
    pub children: BTreeMap<TaskIx, (RunId, Option<RunState>)>,
}

impl Look {
    pub(super) fn lines(&self, run: &Run, frozen: Option<&str>) -> Vec<String> {
        let mut lines = vec![self.head(run)];
        lines.extend(self.about(run, frozen));
        lines.push(String::new());
        let rows: Vec<Vec<Cell>> =
            in_order(run, self.all).into_iter().map(|(task, depth)| self.task(run, task, depth)).collect();
        if rows.is_empty() {
            lines.push(self.style.paint(Ink::Dim, "no tasks yet"));
            return lines;
        }
        lines.extend(table::lines(&HEADER, rows.iter().map(Vec::as_slice), self.style, self.columns));
        lines
    }

    /// `✓ release  k3f9x2ab…  succeeded`
    fn head(&self, run: &Run) -> String {
        let phase = run.state.phase();
        let flow = run.about.as_ref().map_or("(unknown)", |about| about.flow.as_str());
        let (id, sign) = (run.id.to_string(), self.style.paint(ink(phase), self.style.glyph(phase)));
        let word = if run.frozen.is_some() {
            self.style.paint(Ink::Wait, "frozen")
        } else if run.paused && !run.state.is_done() {
            self.style.paint(Ink::Wait, "paused")
        } else {
            self.style.paint(ink(phase), phase.word())
        };
        let state = self.style.paint(Ink::Dim, &format!("({:?})", run.state));
        format!("{sign} {}  {id}  {word} {state}", self.style.paint(Ink::Bold, &text::escape(flow)))
    }

    fn about(&self, run: &Run, frozen: Option<&str>) -> Vec<String> {
        let mut facts: Vec<(&str, String, Ink)> = Vec::new();
        if let Some(asked) = &run.frozen {
            facts.push(("frozen", self.asked(asked), Ink::Wait));
        }
        // What an operator's own freeze says is said above; a mark that says something else is damage.
        if let Some(reason) = frozen.filter(|reason| run.freeze_mark().as_deref() != Some(*reason)) {
            facts.push(("frozen", reason.to_owned(), Ink::Bad));
        }
        if let Some(asked) = &run.cancel {
            facts.push(("cancel", self.asked(asked), Ink::Wait));
        }
        if let Some(asked) = &run.resolved {
            facts.push(("resolved", self.asked(asked), Ink::Wait));
        }
        if let Some(asked) = &run.given_up {
            facts.push(("given up", self.asked(asked), Ink::Wait));
        }
        if let Some(about) = &run.about {
            facts.push(("by", self.by(about, run), Ink::Plain));
            if run.plan.namespace() != &about.flow {
                facts.push(("namespace", run.plan.namespace().to_string(), Ink::Plain));
            }
            facts.extend(own_key(about.key.as_ref()).map(|key| ("key", key.clone(), Ink::Plain)));
            if !about.labels.is_empty() {
                let labels: Vec<String> = about.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
                facts.push(("labels", labels.join(", "), Ink::Plain));
            }
        }
        if let Some(parent) = &run.parent {
            facts.push(("part of", format!("run {}, task {}", parent.run, parent.path), Ink::Plain));
        }
        facts.push(("plan", run.plan_hash.to_string(), Ink::Dim));
        if let Some(about) = run.about.as_ref().filter(|a| !is_nothing(&a.input)) {
            facts.push(("input", about.input.to_string(), Ink::Plain));
        }
        if let Some(failure) = run.failure() {
            facts.push(("failed", failure.chain(), Ink::Bad));
        } else if run.state.is_done() {
            match run.final_output() {
                Ok(output) if is_nothing(&output) => {}
                Ok(output) => facts.push(("output", output.to_string(), Ink::Plain)),
                Err(failure) => facts.push(("output", format!("{}: {}", failure.kind, failure.message), Ink::Bad)),
            }
        }
        let width = facts.iter().map(|(label, ..)| label.len()).max().unwrap_or_default().max(LABEL);
        facts.into_iter().map(|(label, value, ink)| self.fact((label, width), &value, ink)).collect()
    }

    fn fact(&self, (label, width): (&str, usize), value: &str, ink: Ink) -> String {
        let room = self.columns.map_or(VALUE, |columns| columns.saturating_sub(width + 4));
        let value = text::cut(&text::escape(value), room, self.style.cut_mark());
        let label = self.style.paint(Ink::Dim, &text::pad(label, width));
        format!("  {label}  {}", self.style.paint(ink, &value))
    }

    fn by(&self, about: &About, run: &Run) -> String {
        let end = run.completed_at.known();
        let took = run.started_at.known().map(|start| span(end.unwrap_or(self.now).since(start)));
        let took = match (took, end) {
            (Some(took), Some(_)) => format!(", took {took}"),
            (Some(took), None) => format!(", {took} so far"),
            _ => String::new(),
        };
        format!("{} at {}{took}", about.by, self.clock.second(about.at))
    }

    fn asked(&self, asked: &Asked) -> String {
        let why = asked.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        format!("by {} at {}{why}", asked.by, self.clock.second(asked.at))
    }

    fn task(&self, run: &Run, ix: TaskIx, depth: usize) -> Vec<Cell> {
        let task = &run.tasks[ix.0 as usize];
        let phase = run.phase_of(ix);
        let path = format!("{}{}", "  ".repeat(depth), run.path(ix));
        let tries = match task.attempt {
            0 => String::new(),
            n => format!("{n} of {}", run.spec_of(ix).retry.max_attempts.max(n)),
        };
        let end = task.completed_at.known();
        let running = task.state == TaskState::InProgress;
        let took = task.started_at.known().and_then(|start| {
            let end = end.or_else(|| running.then_some(self.now))?;
            Some(span(end.since(start)))
        });
        let quiet = matches!(phase, Phase::Blocked | Phase::Skipped);
        let (note, note_ink) = self.note(run, ix, phase);
        vec![
            Cell::new(path, if quiet { Ink::Dim } else { Ink::Plain }),
            Cell::new(format!("{} {}", self.style.glyph(phase), phase.word()), ink(phase)),
            Cell::from(tries),
            Cell::from(self.tasks.short(task.started_at)),
            Cell::from(took.unwrap_or_default()),
            Cell::new(text::cut(&note, VALUE, self.style.cut_mark()), note_ink),
        ]
    }

    /// What matters most about where it is: its output, its failure, what it waits for.
    fn note(&self, run: &Run, ix: TaskIx, phase: Phase) -> (String, Ink) {
        let generation = run.tasks[ix.0 as usize].generation;
        let again = if generation > 1 { format!("generation {generation}; ") } else { String::new() };
        let (note, color) = match Cause::of(run, ix) {
            Cause { because: Because::Failed { failure, .. }, .. } => {
                (format!("{}: {}", failure.kind, failure.message), Ink::Bad)
            }
            Cause { because: Because::Upstream { .. }, needs, .. } => {
                let paths: Vec<&str> = needs.iter().map(|need| need.path.as_str()).collect();
                (format!("needs {}", paths.join(", ")), Ink::Dim)
            }
            Cause { because: Because::LeftOut { .. }, needs, .. } => {
                let ends: Vec<String> = needs.iter().map(|n| format!("{} {}", n.path, ending(run, n.task))).collect();
                (ends.join(", "), Ink::Dim)
            }
            Cause { because: Because::Stopped, needs, .. } => {
                let paths: Vec<&str> = needs.iter().map(|need| need.path.as_str()).collect();
                (format!("because {} failed", paths.join(", ")), Ink::Dim)
            }
            Cause { because: Because::RunEnded(_), .. } => ("with the run".into(), Ink::Dim),
            Cause { because: Because::Items { total, done, failed }, .. } => (items(total, done, failed), Ink::Plain),
            Cause { because: Because::Succeeded { .. }, .. } => (output(run, ix), Ink::Plain),
            Cause { because: Because::AtWork { .. }, .. } => (String::new(), Ink::Plain),
            Cause { because: Because::Child { flow, .. }, .. } => (format!("of {flow}"), Ink::Plain),
            cause => {
                // The phase stands in its own column.
                let said = cause.sentence(&|at| self.tasks.second(at));
                let said = said.strip_prefix(phase.word()).unwrap_or(&said).trim_start_matches([',', ' ']).to_owned();
                (said, Ink::Plain)
            }
        };
        (again + &self.child(ix) + &note, color)
    }

    /// `run k3f9x2ab running; `
    fn child(&self, ix: TaskIx) -> String {
        match self.children.get(&ix) {
            Some((child, Some(state))) => format!("run {} {}; ", child.short(), state.phase().word()),
            Some((child, None)) => format!("run {} not begun; ", child.short()),
            None => String::new(),
        }
    }
}

fn items(total: u32, done: u32, failed: u32) -> String {
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!("{done} of {total} items{failed}")
}

fn rounds(made: u32) -> String {
    format!("{made} round{}", if made == 1 { "" } else { "s" })
}

fn output(run: &Run, ix: TaskIx) -> String {
    if let Some(state) = run.composites.get(&ix) {
        match &run.spec_of(ix).work {
            Work::Spread(_) | Work::Parallel(_) => return items(state.total, state.done, state.failed),
            Work::For(_) | Work::While(_) => return rounds(state.made()),
            Work::Try(_) => return state.caught.as_ref().map(|f| format!("handled {}", f.kind)).unwrap_or_default(),
            _ => {}
        }
    }
    match run.output(ix) {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn ending(run: &Run, ix: TaskIx) -> &'static str {
    match run.tasks[ix.0 as usize].state {
        TaskState::Error => "failed",
        TaskState::Skipped => "was skipped",
        TaskState::Cancelled => "was cancelled",
        _ => "succeeded",
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
}
