//! What a node does, in one small line.

use super::NodeKind;
use crate::expr::Expr;
use crate::gate::{Gate, Wait};
use crate::name::Name;
use crate::plan::{Items, Join, Plan, Region, Spec, Spread, Work};

/// Longest note; a script may have any length.
const NOTE_CHARS: usize = 60;

pub(super) fn kind(spec: &Spec) -> NodeKind {
    match &spec.work {
        Work::Action { .. } => NodeKind::Action,
        Work::Command(_) | Work::Http(_) | Work::Emit(_) => NodeKind::Command,
        Work::Gate(_) => NodeKind::Gate,
        Work::Spread(_) => NodeKind::Spread,
        // Somebody outside ends it, as they open a gate.
        Work::Sleep(_) | Work::Item(_) => NodeKind::Gate,
        Work::SubRun(_) => NodeKind::SubRun,
        composite => NodeKind::Composite(composite.kind()),
    }
}

/// The note of a node: its work, and its join if that is not `all`.
pub(super) fn note(plan: &Plan, region: &Region, node: u32) -> String {
    let spec = &plan.specs[region.spec(node) as usize];
    let mut text = work(plan, spec);
    let degree = region.in_degree(node);
    match region.join(node) {
        Join::All => {}
        Join::Any => text += &format!(", after any of {degree}"),
        Join::Count(n) => text += &format!(", after {n} of {degree}"),
    }
    text
}

fn work(plan: &Plan, spec: &Spec) -> String {
    match &spec.work {
        Work::Action { action, .. } => action.to_string(),
        Work::Command(command) => first_line(&command.script),
        Work::Http(http) => format!("{} {}", http.method.as_str(), short(&http.url.shown())),
        Work::Gate(gate) => wait(gate),
        Work::Spread(spread) => each(plan, spread),
        Work::Sleep(span) => format!("sleeps for {}", short(span.text())),
        Work::SubRun(sub) => format!("runs {}", sub.flow),
        Work::Item(item) => format!("item {}", short(&item.title())),
        Work::Emit(emit) => format!("tells {}", emit.name),
        Work::Parallel(parallel) => format!("{} at once", parallel.arms.len()),
        Work::Branch(branch) => {
            branch.arms.first().and_then(|arm| arm.when.as_ref()).map_or_else(String::new, condition)
        }
        Work::For(each) => format!("for each of {}", short(each.items.text())),
        Work::While(each) => format!("while {}", short(each.when.text())),
        Work::Try(_) => String::new(),
        Work::Call(call) => format!("{}()", call.function),
    }
}

fn condition(when: &Expr) -> String {
    format!("if {}", short(when.text()))
}

/// What a box of a composite with several is called.
pub(super) fn arm(work: &Work, index: u32) -> String {
    let at = index as usize;
    match work {
        Work::Branch(branch) => match branch.arms.get(at).and_then(|arm| arm.when.as_ref()) {
            Some(when) => condition(when),
            None => "else".into(),
        },
        Work::Try(tried) => match at.checked_sub(1).and_then(|n| tried.handlers.get(n)) {
            Some(handler) if handler.kinds.is_empty() => "except".into(),
            Some(handler) => format!("except {}", handler.kinds.join(", ")),
            None => "try".into(),
        },
        _ => format!("arm {}", index + 1),
    }
}

fn each(plan: &Plan, spread: &Spread) -> String {
    let items = match &spread.items {
        Items::Literal(items) if items.len() == 1 => "for 1 item".to_owned(),
        Items::Literal(items) => format!("for each of {} items", items.len()),
        Items::Expr(_) => "for each item".to_owned(),
    };
    // What a spread over a single node does stands in the spread's own box.
    match inner(plan, spread) {
        Some(spec) => format!("{}, {items}", work(plan, spec)),
        None => items,
    }
}

/// The one thing that is done for each item, where it is one.
pub(super) fn inner<'p>(plan: &'p Plan, spread: &Spread) -> Option<&'p Spec> {
    let region = &plan.regions[spread.region as usize];
    let only = (region.len() == 1).then(|| &plan.specs[region.spec(0) as usize])?;
    (!only.work.is_composite()).then_some(only)
}

fn wait(gate: &Gate) -> String {
    match &gate.wait {
        Wait::After(span) => format!("opens after {span}"),
        Wait::Until(time) => format!("opens at {time}"),
        Wait::Approval { from, count } => approval(from, *count),
        Wait::Webhook => "opens when its address is called".into(),
        Wait::External { system, id } => format!("opens when {system} says so of {}", id.shown()),
        Wait::Shared { gate } => format!("opens with {} of the work graph", gate.shown()),
    }
}

fn approval(from: &[Name], count: u32) -> String {
    let names: Vec<&str> = from.iter().map(Name::as_str).collect();
    match (names.as_slice(), count) {
        ([], 1) => "approval by anybody".into(),
        ([], n) => format!("approval by {n} people"),
        (all, n) if all.len() == n as usize => format!("approval by {}", all.join(" and ")),
        (some, n) => format!("approval by {n} of {}", some.join(", ")),
    }
}

fn first_line(script: &str) -> String {
    let line = script.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or("");
    short(line)
}

fn short(line: &str) -> String {
    let mut short: String = line.chars().take(NOTE_CHARS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
