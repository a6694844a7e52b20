//! Flows: what authors write, compiled to plans.
//!
//! ```text
//! text ──► tree ──► tasks, inputs, policies ──► graph ──► plan
//!           │            │                        │
//!           └────────────┴── problems ◄───────────┘
//! ```
//!
//! A file is read to its end whatever is wrong with it, so that its author sees all problems at once, each
//! at its line and with the nearest right name. Nothing of a flow with an error is ever run.

mod after;
mod cases;
pub(crate) mod compose;
pub(crate) mod declare;
mod file;
mod gates;
mod graph;
mod holes;
mod http;
mod item;
mod lets;
mod naming;
mod on;
mod plain;
mod policy;
pub(crate) mod problem;
mod publish;
mod read;
mod reference;
mod scalar;
mod schema;
mod share;
pub(crate) mod source;
mod sub_run;
mod task;
mod task_names;
mod tree;

pub use cases::read_cases;
pub use compose::{Alone, Found, Resolve};
pub use file::{Form, can_be_read, choose, compile_file, compile_file_with};
pub use problem::{Level, Problem, Problems};
pub use schema::{case_schema, schema};

use crate::control::Hook;
use crate::input::Input;
use crate::limits;
use crate::name::Name;
use crate::plan::{OnFailure, Plan, Share};
use crate::schedule::Schedule;
use compose::Composer;
use graph::{Graph, Head};
use holes::Holes;
use problem::Sink;
use publish::Of;
use read::{Fields, Keys, choice, map, name, text};
use reference::{Names, Place};
use source::{Source, Span};
use std::collections::BTreeMap;
use std::sync::Arc;
use task::{Defaults, Tasks};
use task_names::TaskNames;
use tree::{Entry, Node};

/// A flow that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// What is stored and run.
    pub plan: Plan,
    /// The plans of all flows that it starts, and that these start.
    pub children: Vec<Arc<Plan>>,
    /// What begins it by itself once it is registered, by name.
    pub schedules: BTreeMap<Name, Schedule>,
    /// How a call of its address begins it once it is registered; `None` if it does not.
    pub hook: Option<Hook>,
    /// What looks wrong but is not.
    pub warnings: Problems,
}

impl Compiled {
    /// What a run must be given.
    pub fn inputs(&self) -> &[Input] {
        &self.plan.inputs
    }
}

const FLOW: Keys = Keys {
    owner: "a flow",
    known: &[
        "flow",
        "description",
        "namespace",
        "labels",
        "identity",
        "inputs",
        "secrets",
        "let",
        "defaults",
        "tasks",
        "on_failure",
        "output",
        "queue",
        "priority",
        "on",
        "publish",
    ],
    elsewhere: &[
        ("emit", "put `emit:` into a task, or use `publish:` here"),
        ("retry", "put `retry:` into a task, or under `defaults:` for all of them"),
        ("timeout", "put `timeout:` into a task, or under `defaults:` for all of them"),
        ("env", "put `env:` into a task, or under `defaults:` for all of them"),
        ("limit", "put `limit:` into a task, or under `defaults:` for all of them"),
    ],
};
const DEFAULTS: Keys =
    Keys { owner: "`defaults`", known: &["retry", "timeout", "env", "queue", "priority", "limit"], elsewhere: &[] };

/// Compiles the text of a flow file; `file` is what problems call it.
pub fn compile(text: &str, file: &str) -> Result<Compiled, Problems> {
    compile_yaml(text, file, &mut Composer::new(&mut Alone))
}

fn compile_yaml(text: &str, file: &str, composer: &mut Composer<'_>) -> Result<Compiled, Problems> {
    let source = Source::new(if text.len() > limits::FLOW_BYTES { "" } else { text });
    let mut sink = Sink::new(&source);
    let plan = if text.len() > limits::FLOW_BYTES {
        let message = format!("the file has {} bytes, at most {} are allowed", text.len(), limits::FLOW_BYTES);
        sink.error(Span::at(1, 1, 1), "too_large", message);
        None
    } else {
        let root = tree::read(text, &mut sink);
        match root {
            Some(root) => flow(&root, file, composer, &mut sink),
            None => {
                if !sink.has_errors() {
                    let help = "start with `flow: name` and `tasks:`";
                    sink.error(Span::at(1, 1, 1), "missing_key", "the file is empty").help(Some(help.into()));
                }
                None
            }
        }
    };
    match plan {
        Some((plan, children, begun)) if !sink.has_errors() => {
            let on::Begun { schedules, hook } = begun;
            Ok(Compiled { plan, children, schedules, hook, warnings: sink.finish(file) })
        }
        _ => Err(sink.finish(file)),
    }
}

/// The plan, those of the flows that it starts, and what begins it by itself.
type Whole = (Plan, Vec<Arc<Plan>>, on::Begun);

fn flow(root: &Node<'_>, file: &str, composer: &mut Composer<'_>, sink: &mut Sink<'_>) -> Option<Whole> {
    let fields = Fields::read(root, "a flow", &FLOW, sink)?;
    let flow = required(&fields, "flow", root, sink).and_then(|n| name(n, "`flow`", sink));
    if let Some(node) = fields.get("description") {
        text(node, "`description`", sink);
    }
    let words = [("continue", OnFailure::Continue), ("fail_fast", OnFailure::FailFast), ("hold", OnFailure::Hold)];
    let on_failure = fields.get("on_failure").and_then(|n| choice(n, "`on_failure`", &words, sink));
    let naming = naming::naming(&fields, sink);
    let inputs = fields.get("inputs").map(|n| declare::inputs(n, sink)).unwrap_or_default();
    let tasks = required(&fields, "tasks", root, sink).and_then(|n| some_tasks(n, sink));
    let mut names = names(tasks.unwrap_or_default(), sink);
    // Also of inputs with problems, so that one mistake is reported once.
    let declared = fields.get("inputs").map(|n| &n.kind);
    if let Some(tree::Kind::Map(entries)) = declared {
        names.inputs.extend(entries.iter().map(|e| &*e.key));
    }
    if let Some(node) = fields.get("secrets") {
        names.secrets = declare::secrets(node, sink);
    }
    if let Some(node) = fields.get("let") {
        lets::lets(node, &mut names, sink);
    }
    let place = Place { only_inputs: true, ..Place::default() };
    let whole = share::share(&fields, &Share::default(), &mut Holes::new(&names, place), sink);
    let mut all = Defaults { share: whole, ..Defaults::default() };
    if let Some(node) = fields.get("defaults") {
        defaults(node, &mut all, &names, sink);
    }
    let flows = sub_run::children(tasks.unwrap_or_default(), file, composer);
    let graph = tasks.map(|tasks| graph(tasks, &Tasks { names: &names, defaults: &all, flows: &flows }, sink));
    let output = fields.get("output").map(|n| Holes::new(&names, Place::default()).template(n, sink));
    let told =
        fields.get("publish").map(|n| publish::publish(n, Of::Flow, &mut Holes::new(&names, Place::default()), sink));
    // A flow without a good name is not run, but its graph is still worth checking.
    let flow = flow.or_else(|| Name::parse("flow").ok())?;
    let begun = fields.get("on").map(|n| on::on(n, &flow, &names, sink)).unwrap_or_default();
    let head = Head {
        flow,
        naming,
        inputs,
        on_failure: on_failure.unwrap_or_default(),
        output,
        publish: told.unwrap_or_default(),
    };
    let plan = graph??.build(head, sink)?;
    Some((plan, compose::plans_of(flows.values().flatten()), begun))
}

fn required<'n, 'a>(fields: &Fields<'n, 'a>, key: &str, root: &Node<'_>, sink: &mut Sink<'_>) -> Option<&'n Node<'a>> {
    let node = fields.get(key);
    if node.is_none() {
        let example = if key == "flow" { "add `flow: name` at the top" } else { "add `tasks:` with at least one task" };
        let message = format!("a flow needs the key `{key}`");
        sink.error(root.span.start(), "missing_key", message).help(Some(example.into()));
    }
    node
}

fn some_tasks<'n, 'a>(node: &'n Node<'a>, sink: &mut Sink<'_>) -> Option<&'n [Entry<'a>]> {
    let tasks = map(node, "`tasks`", sink)?;
    if tasks.is_empty() {
        let help = "such as `hello: { run: echo hello }`";
        sink.error(node.span, "no_tasks", "a flow needs at least one task").help(Some(help.into()));
        return None;
    }
    Some(tasks)
}

/// Numbers the tasks: references may look ahead.
fn names<'n>(tasks: &'n [Entry<'_>], sink: &mut Sink<'_>) -> Names<'n> {
    let mut next = 0;
    let numbered = tasks.iter().map(|entry| {
        let node = sink.accept(Name::check(&entry.key), entry.at).map(|()| next);
        next += u32::from(node.is_some());
        (&*entry.key, node)
    });
    Names { tasks: TaskNames::new(numbered.collect()), ..Names::default() }
}

fn defaults(node: &Node<'_>, defaults: &mut Defaults, names: &Names<'_>, sink: &mut Sink<'_>) {
    let Some(fields) = Fields::read(node, "`defaults`", &DEFAULTS, sink) else { return };
    let place = Place { only_inputs: true, ..Place::default() };
    if let Some(node) = fields.get("retry") {
        defaults.retry = policy::retry(node, &defaults.retry, sink);
    }
    if let Some(node) = fields.get("timeout") {
        defaults.timeouts = policy::timeouts(node, &defaults.timeouts, sink);
    }
    if let Some(node) = fields.get("env") {
        let place = Place { secrets: true, ..place };
        defaults.env = task::variables(node, &mut Holes::new(names, place), sink);
    }
    defaults.share = share::share(&fields, &defaults.share, &mut Holes::new(names, place), sink);
}

/// The graph of all tasks; `None` if a task could not even become a node.
fn graph(tasks: &[Entry<'_>], reader: &Tasks<'_, '_>, sink: &mut Sink<'_>) -> Option<Graph> {
    let mut graph = Some(Graph::new());
    for (entry, node) in tasks.iter().zip(reader.names.tasks.nodes()) {
        let task = reader.read(entry, node.unwrap_or(u32::MAX), sink);
        let Some(node) = node else { continue };
        let Some((to, task)) = graph.as_mut().zip(task) else {
            graph = None;
            continue;
        };
        if !to.add(&entry.key, entry.at, task) {
            let message = format!("with task {node} the plan is larger than {} bytes", limits::PLAN_BYTES);
            let help = "what `defaults` say is said again in each task: shorten it";
            sink.error(entry.at, "too_large", message).help(Some(help.into()));
            return None;
        }
    }
    graph
}
