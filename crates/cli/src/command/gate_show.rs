//! `edgewise gate show`: a gate, of items or of a run. One of a run is shown with what somebody must know to decide on it:
//! what the run was given, what the tasks before it made, and what was said so far.

use super::Context;
use crate::args::{GateShow, gate_of_run};
use crate::exit::Exit;
use crate::problem::Result;
use crate::style::{Ink, Style};
use crate::text;
use crate::view::View;
use edgewise_core::id::RunId;
use edgewise_engine::facts::gate::with_evidence;
use serde_json::Value;

/// Characters of a value that are shown, at most.
const SHOWN: usize = 2_000;

pub(super) fn perform(args: &GateShow, context: &mut Context<'_>) -> Result<Exit> {
    let Some((run, task)) = gate_of_run(&args.what, args.task.as_ref())? else {
        return super::work::gate_show(args, context);
    };
    let mut view = View::open(context.config)?;
    let run = view.find(&run)?;
    let facts = with_evidence(&mut view.reader, run, &task, &args.tasks)?;
    let lines = lines(run, &task, &facts, context.printer.out_style);
    context.printer.one(format!("{run}/{task}"), &lines, &facts)?;
    Ok(Exit::Ok)
}

fn lines(run: RunId, task: &str, facts: &Value, style: Style) -> Vec<String> {
    let said = |value: &Value| match value {
        Value::String(text) => text::escape(text).into_owned(),
        other => text::cut(&text::escape(&other.to_string()), SHOWN, style.cut_mark()),
    };
    let phase = facts["gate"]["phase"].as_str().unwrap_or_default();
    let waits = &facts["waits"];
    let ink = if waits.is_null() { Ink::Dim } else { Ink::Wait };
    let name = format!("{}/{}", run.short(), text::escape(task));
    let mut lines = vec![format!("{}  {}", style.paint(Ink::Bold, &name), style.paint(ink, phase))];
    let mut about =
        |name: &str, value: String| lines.push(format!("  {} {value}", style.paint(Ink::Dim, &text::pad(name, 11))));
    about("opens when", opens(&facts["gate"]["gate"]["wait"], waits));
    if let Some(deadline) = waits["deadline"].as_str() {
        let then = waits["on_deadline"].as_str().unwrap_or_default();
        about("deadline", format!("{deadline}, then {then}"));
    }
    about("input", said(&facts["input"]));
    for task in facts["evidence"].as_array().into_iter().flatten() {
        let path = task["path"].as_str().unwrap_or_default();
        let phase = task["phase"].as_str().unwrap_or_default();
        about(
            "evidence",
            format!("{} {phase}: {}", style.paint(Ink::Bold, &text::escape(path)), said(&task["output"])),
        );
    }
    for one in facts["said"].as_array().into_iter().flatten() {
        let who = one["who"].as_str().unwrap_or_default();
        let why = one["why"].as_str().map(|why| format!(": {}", text::escape(why))).unwrap_or_default();
        about("said", format!("{} by {}{why}", said(&one["by"]), text::escape(who)));
    }
    if waits.is_null() && !facts["gate"]["output"].is_null() {
        about("output", said(&facts["gate"]["output"]));
    }
    for command in waits["approve"].as_array().into_iter().flatten() {
        about("next", said(command));
    }
    lines
}

/// What the gate waits for, in words.
fn opens(wait: &Value, waits: &Value) -> String {
    let names = |list: &Value| {
        let names: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        names.join(", ")
    };
    if let (Some(system), Some(id)) = (waits["external"]["system"].as_str(), waits["external"]["id"].as_str()) {
        return format!("{system} says so of {}", text::escape(id));
    }
    if wait == "webhook" {
        return "its address is called".into();
    }
    if let Some(approval) = wait.get("approval") {
        let from = names(&approval["from"]);
        let from = if from.is_empty() { "anybody".to_owned() } else { from };
        return format!("{} of {from} approve", approval["count"]);
    }
    match waits["opens_at"].as_str() {
        Some(at) => format!("it is {at}"),
        None => text::escape(&wait.to_string()).into_owned(),
    }
}
