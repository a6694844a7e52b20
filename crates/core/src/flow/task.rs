//! One task: its work, its policies, the tasks it waits for, and its spread if it has one.

use super::after::{after, join};
use super::gates::gate;
use super::holes::{Holes, OPEN, refuse};
use super::http::http;
use super::item;
use super::policy::{retry, timeouts};
use super::problem::Sink;
use super::publish;
use super::read::{Fields, Keys, choice, flag, map, name, text, whole, wrong};
use super::reference::{Names, Place};
use super::scalar::{literal, resolve};
use super::share::share;
use super::source::Span;
use super::sub_run::{self, Children};
use super::tree::{Entry, Kind, Node};
use crate::expr::Expr;
use crate::expr::is_reserved;
use crate::limits;
use crate::plan::{Accepts, Command, Items, Join, OutputForm, Share, Spec, Timeouts, Work};
use crate::retry::Retry;
use crate::suggest::shown;
use crate::template::Template;
use serde_json::Value;
use std::collections::BTreeSet;

/// Keys of a flow that somebody may look for in a task, with where they belong.
const OF_THE_FLOW: [(&str, &str); 10] = [
    ("let", "name the value with `let:` at the top of the flow"),
    ("on", "put `on:` at the top of the flow: it begins runs; what a task waits for stands in `after` or `gate`"),
    ("secrets", "put `secrets:` at the top of the flow, and name them in `env` or `with`"),
    ("labels", "put `labels:` at the top of the flow: runs have labels"),
    ("namespace", "put `namespace:` at the top of the flow: runs belong to one"),
    ("identity", "put `identity:` at the top of the flow: it says when two starts are the same run"),
    ("inputs", "declare `inputs:` at the top of the flow; a task is given values with `env` or `with`"),
    (
        "on_failure",
        "put `on_failure:` at the top of the flow, or let another task deal with it: `after: { name: failed }`",
    ),
    ("defaults", "put `defaults:` at the top of the flow: they hold for all its tasks"),
    ("tasks", "put all tasks under the one `tasks:` of the flow, or make a flow of them: `flow: name`"),
];

pub(super) const TASK: Keys = Keys {
    owner: "a task",
    known: &[
        "after",
        "join",
        "when",
        "each",
        "as",
        "tolerate",
        "fail_fast",
        "run",
        "env",
        "output",
        "action",
        "with",
        "flow",
        "http",
        "gate",
        "item",
        "emit",
        "publish",
        "retry",
        "timeout",
        "queue",
        "priority",
        "limit",
    ],
    elsewhere: &OF_THE_FLOW,
};

/// The keys that say who does a task's work.
const WORKS: [&str; 7] = ["run", "action", "http", "flow", "gate", "item", "emit"];

/// Which work a key belongs to, and what to use with another.
const BELONGS: [(&str, &[&str], &str); 8] = [
    ("env", &["run"], "give an action its values with `with:`"),
    ("output", &["run"], "an action's output is what its worker returns"),
    ("with", &["action", "flow"], "give a command its values with `env:`"),
    ("retry", &["run", "action", "http", "flow", "item"], "a gate opens once; bound it with `deadline`"),
    ("timeout", &["run", "action", "http", "flow", "item"], "bound a gate with `deadline`"),
    ("queue", &["run", "action", "http"], "only what a worker is given waits in a queue"),
    ("priority", &["run", "action", "http"], "only what a worker is given takes turns"),
    ("limit", &["run", "action", "http"], "limit the tasks that workers are given"),
];

/// What all tasks have unless they say otherwise.
#[derive(Default)]
pub(super) struct Defaults {
    pub(super) retry: Retry,
    pub(super) timeouts: Timeouts,
    pub(super) share: Share,
    pub(super) env: Vec<(String, Template)>,
}

/// A task, read.
pub(super) struct Task {
    pub(super) spec: Spec,
    pub(super) each: Option<Each>,
    /// Whether it is wanted at all; of a spread, asked before its items are known.
    pub(super) when: Option<Expr>,
    pub(super) edges: Vec<(u32, Accepts)>,
    /// Tasks that are named in templates: edges too, unless `after` speaks of them.
    pub(super) uses: Vec<u32>,
    pub(super) join: Join,
    pub(super) join_at: Option<Span>,
}

/// The spread of a task.
pub(super) struct Each {
    pub(super) items: Items,
    pub(super) tolerate: u32,
    pub(super) fail_fast: bool,
}

/// Reads tasks, one after another.
pub(super) struct Tasks<'s, 'n> {
    pub(super) names: &'s Names<'n>,
    pub(super) defaults: &'s Defaults,
    pub(super) flows: &'s Children,
}

impl Tasks<'_, '_> {
    /// Reads the task at node `me`. A task with problems is still a node, so that the graph can be checked.
    pub(super) fn read(&self, entry: &Entry<'_>, me: u32, sink: &mut Sink<'_>) -> Option<Task> {
        let fields = Fields::of(entry, "task", &TASK, sink)?;
        let place = Place { of: Some(me), ..Place::default() };
        let mut uses = Vec::new();
        let when = fields.get("when").and_then(|node| {
            let mut holes = Holes::new(self.names, place);
            let when = condition(node, &mut holes, sink);
            uses.append(&mut holes.uses);
            when
        });
        let item = item_name(&fields, sink);
        let each = fields.get("each").map(|node| {
            let mut holes = Holes::new(self.names, place);
            // Without its items it is still a spread, in which the item can be named.
            let items = items(node, &mut holes, sink).unwrap_or(Items::Literal(Vec::new()));
            uses.append(&mut holes.uses);
            spread(&fields, items, sink)
        });
        let place = Place { item, up: u32::from(each.is_some()), ..place };
        let mut holes = Holes::new(self.names, place);
        let work = self.work(entry, &fields, &mut holes, sink);
        holes.place.secrets = false;
        let share = share(&fields, &self.defaults.share, &mut holes, sink);
        // A task has ended when it is told of, so what is told may be its own output.
        holes.place.own = true;
        let publish = fields.get("publish").map(|n| publish::publish(n, publish::Of::Task, &mut holes, sink));
        if let (Some(Work::Emit(emit)), Some(list)) = (&work, &publish)
            && list.iter().any(|one| one.name == emit.name)
        {
            let message = format!("the domain event `{}` is emitted and published by one task", emit.name);
            sink.error(entry.at, "duplicate_name", message).help(Some("`emit` alone tells it".into()));
        }
        uses.append(&mut holes.uses);
        let mut spec = Spec {
            when: None,
            work: work.unwrap_or_else(nothing),
            retry: Retry::default(),
            timeouts: Timeouts::default(),
            share: Share::default(),
            publish: publish.unwrap_or_default(),
        };
        match spec.work {
            Work::Gate(_) | Work::Emit(_) => {}
            Work::SubRun(_) | Work::Item(_) => sub_run::policies(&fields, &self.defaults.retry, &mut spec, sink),
            _ => {
                spec.share = share;
                self.policies(&fields, &mut spec, sink);
            }
        }
        let edges = fields.get("after").map(|n| after(n, me, self.names, sink)).unwrap_or_default();
        let join_node = fields.get("join");
        let join = join_node.map(|n| join(n, sink)).unwrap_or_default();
        Some(Task { spec, each, when, edges, uses, join, join_at: join_node.map(|n| n.span) })
    }

    fn work(
        &self,
        entry: &Entry<'_>,
        fields: &Fields<'_, '_>,
        holes: &mut Holes<'_, '_>,
        sink: &mut Sink<'_>,
    ) -> Option<Work> {
        let mut works = WORKS.iter().filter_map(|k| fields.entry(k));
        let (Some(work), None) = (works.next(), works.next()) else {
            let works: Vec<&Entry<'_>> = WORKS.iter().filter_map(|k| fields.entry(k)).collect();
            no_single_work(entry, &works, sink);
            return None;
        };
        for (key, owners, instead) in BELONGS {
            if let Some(entry) = fields.entry(key).filter(|_| !owners.contains(&&*work.key)) {
                let owners: Vec<String> = owners.iter().map(|o| format!("`{o}`")).collect();
                let message = format!("`{key}` belongs to {}, not to `{}`", owners.join(" and "), work.key);
                sink.error(entry.at, "misplaced_key", message).help(Some(instead.into()));
            }
        }
        match &*work.key {
            "run" => self.command(&work.value, fields, holes, sink).map(Work::Command),
            "action" => {
                holes.place.secrets = true;
                let with = fields.get("with").map(|n| holes.template(n, sink)).unwrap_or_default();
                name(&work.value, "`action`", sink).map(|action| Work::Action { action, with })
            }
            "http" => http(&work.value, holes, sink).map(Work::Http),
            "flow" => sub_run::read(work, fields, self.flows, holes, sink).map(Work::SubRun),
            "emit" => publish::emit(&work.value, holes, sink).map(Work::Emit),
            "item" => item::item(&work.value, holes, sink).map(Work::Item),
            _ => gate(&work.value, holes, sink).map(Work::Gate),
        }
    }

    fn command(
        &self,
        node: &Node<'_>,
        fields: &Fields<'_, '_>,
        holes: &mut Holes<'_, '_>,
        sink: &mut Sink<'_>,
    ) -> Option<Command> {
        let script = text(node, "`run`", sink);
        if let Some(script) = script {
            let help = "data must not become code: use env: and read the variable in the script";
            refuse(node, script, "`run`", help, sink);
            if script.trim().is_empty() {
                sink.error(node.span, "bad_value", "`run` is empty").help(Some("write a command for `sh -c`".into()));
            } else if script.contains('\0') {
                sink.error(node.span, "bad_value", "`run` has a zero byte in it, which no command can have");
            }
        }
        let mut env = self.defaults.env.clone();
        if let Some(node) = fields.get("env") {
            holes.place.secrets = true;
            let own = variables(node, holes, sink);
            let named: BTreeSet<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
            env.retain(|(name, _)| !named.contains(name.as_str()));
            env.extend(own);
        }
        let forms = [("text", OutputForm::Text), ("json", OutputForm::Json), ("lines", OutputForm::Lines)];
        let output = fields.get("output").and_then(|n| choice(n, "`output`", &forms, sink)).unwrap_or_default();
        Some(Command { script: script?.to_owned(), env, output })
    }

    fn policies(&self, fields: &Fields<'_, '_>, spec: &mut Spec, sink: &mut Sink<'_>) {
        let Defaults { retry: base, timeouts: bounds, .. } = self.defaults;
        spec.retry = fields.get("retry").map_or_else(|| base.clone(), |n| retry(n, base, sink));
        spec.timeouts = fields.get("timeout").map_or(*bounds, |n| timeouts(n, bounds, sink));
    }
}

/// Stands in for work that could not be read.
fn nothing() -> Work {
    Work::Command(Command::default())
}

fn no_single_work(entry: &Entry<'_>, works: &[&Entry<'_>], sink: &mut Sink<'_>) {
    if sink.only_counts() {
        return;
    }
    if let [first, second, ..] = works {
        let message =
            format!("a task has one work, but {} has `{}` and `{}`", shown(&entry.key), first.key, second.key);
        sink.error(second.at, "several_works", message).help(Some("make two tasks of it".into()));
    } else {
        let message = format!("{} has no work to do", shown(&entry.key));
        sink.error(entry.at, "no_work", message)
            .help(Some("give it one of `run`, `action`, `http`, `flow`, `gate`, `item` or `emit`".into()));
    }
}

/// A map of environment variables.
pub(super) fn variables(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Vec<(String, Template)> {
    let mut env = Vec::new();
    for entry in map(node, "`env`", sink).unwrap_or_default() {
        let key = &*entry.key;
        let good = !key.starts_with(|c: char| c.is_ascii_digit())
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && (1..=limits::NAME_BYTES).contains(&key.len());
        if !good {
            let message = format!("{} cannot be the name of a variable", shown(key));
            sink.error(entry.at, "bad_name", message).help(Some("use letters, digits and `_`".into()));
        }
        env.push((key.to_owned(), holes.variable(entry, sink)));
    }
    env
}

/// Whether a name is taken, and cannot be that of an item or a named value.
pub(super) fn means_something(name: &str) -> bool {
    ["inputs", "tasks", "secrets", "run"].contains(&name) || is_reserved(name)
}

/// What the item is called; keys of a spread without a spread are refused.
fn item_name<'n>(fields: &Fields<'n, '_>, sink: &mut Sink<'_>) -> Option<&'n str> {
    if fields.entry("each").is_none() {
        for entry in ["as", "tolerate", "fail_fast"].iter().filter_map(|k| fields.entry(k)) {
            let message = format!("`{}` belongs to a task with `each`", entry.key);
            sink.error(entry.at, "misplaced_key", message).help(Some("add `each` or remove it".into()));
        }
        return None;
    }
    let Some(node) = fields.get("as") else { return Some("item") };
    let name = text(node, "`as`", sink)?;
    let word = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.len() <= limits::NAME_BYTES;
    if !word {
        let message = format!("{} cannot be the name of an item", shown(name));
        sink.error(node.span, "bad_name", message).help(Some("use letters, digits and `_`".into()));
    } else if means_something(name) {
        sink.error(node.span, "bad_name", format!("`{name}` means something else in expressions"));
    }
    Some(name)
}

/// A condition: an expression that comes to true or false.
fn condition(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Expr> {
    let Kind::Scalar(text, style) = &node.kind else {
        wrong(node, "`when`", "an expression such as `inputs.version != \"\"`", sink);
        return None;
    };
    if text.trim_start().starts_with(OPEN) {
        let bare = text.trim().trim_start_matches(OPEN).trim_end_matches("}}").trim();
        let message = "`when` takes an expression without `${{ }}`";
        sink.error(node.span, "bad_template", message).help(Some(format!("write {}", shown(bare))));
        return None;
    }
    if resolve(text, *style) == Ok(Value::Null) {
        wrong(node, "`when`", "an expression such as `inputs.version != \"\"`", sink);
        return None;
    }
    let when = holes.bare(node, text, sink)?;
    match when.constant() {
        Some(Ok(Value::Bool(_))) | None => Some(when),
        Some(Ok(other)) => {
            let found = shown(&other.to_string());
            let message = format!("`when` expects true or false, but {} comes to {found}", shown(when.text()));
            sink.error(node.span, "wrong_type", message);
            None
        }
        Some(Err(_)) => None,
    }
}

fn items(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Items> {
    match &node.kind {
        Kind::List(list) if list.len() > limits::SPREAD_ITEMS => {
            let message = format!("{} items are spread, at most {} are allowed", list.len(), limits::SPREAD_ITEMS);
            sink.error(node.span, "too_many_items", message);
            None
        }
        Kind::List(list) => Some(Items::Literal(list.iter().map(|n| literal(n, sink)).collect())),
        Kind::Scalar(text, _) if text.trim_start().starts_with(OPEN) => {
            let bare = text.trim().trim_start_matches(OPEN).trim_end_matches("}}").trim();
            let message = "`each` takes an expression without `${{ }}`";
            sink.error(node.span, "bad_template", message).help(Some(format!("write {}", shown(bare))));
            None
        }
        Kind::Scalar(text, style) if resolve(text, *style).is_ok_and(|v| v.is_string()) => {
            let expr = holes.bare(node, text, sink)?;
            match expr.constant() {
                Some(Ok(Value::Array(list))) => Some(Items::Literal(list)),
                Some(Ok(other)) => {
                    let found = shown(&other.to_string());
                    let message = format!("`each` expects a list, but {} comes to {found}", shown(expr.text()));
                    sink.error(node.span, "wrong_type", message);
                    None
                }
                _ => Some(Items::Expr(expr)),
            }
        }
        _ => {
            wrong(node, "`each`", "a list or an expression such as `tasks.name.output`", sink);
            None
        }
    }
}

fn spread(fields: &Fields<'_, '_>, items: Items, sink: &mut Sink<'_>) -> Each {
    let most = limits::SPREAD_ITEMS as u64;
    let tolerate = fields.get("tolerate").and_then(|n| whole(n, "`tolerate`", 0..=most, sink)).unwrap_or(0) as u32;
    let fail_fast = fields.get("fail_fast").and_then(|n| flag(n, "`fail_fast`", sink)).unwrap_or(false);
    Each { items, tolerate, fail_fast }
}
