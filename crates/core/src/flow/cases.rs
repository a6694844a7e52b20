//! Case files: `NAME.test.yaml` beside a flow, read into rehearsals.
//!
//! They are read as flows are: to their end, with every problem at its line and the nearest right name. Whom a stub
//! stands in for and which task is spoken of is checked against the plan, so a case that names nothing is no case.

mod expect;
mod stubs;

pub(super) use expect::{EXPECT, EXPECTED, FAILURE, RUN, STATES};
pub(super) use stubs::{ANSWER, FAILS};

use super::problem::Sink;
use super::read::{Fields, Keys, duration, map, name, text};
use super::scalar::{literal, resolve};
use super::source::{Source, Span};
use super::tree::{self, Entry, Kind, Node};
use super::{Compiled, Problems};
use crate::gate::Opens;
use crate::input;
use crate::limits;
use crate::plan::{Plan, Work};
use crate::rehearsal::{Case, Place, Said, Stub, fits, places};
use crate::suggest::shown;
use crate::time::Time;
use serde_json::{Map, Value};
use std::sync::Arc;

pub(super) const FILE: Keys =
    Keys { owner: "a case file", known: &["flow", "description", "stubs", "cases"], elsewhere: &[] };
pub(super) const CASE: Keys = Keys {
    owner: "a case",
    known: &["flow", "description", "input", "at", "stubs", "gates", "expect"],
    elsewhere: &[],
};
pub(super) const SAID: Keys =
    Keys { owner: "an answer to a gate", known: &["approve", "reject", "sends", "after"], elsewhere: &[] };

/// When cases begin that do not say it: 2027-01-01T00:00:00Z.
const BEGINNING: Time = Time(1_798_761_600_000);

/// Reads the cases of a file about these flows, in their order; `file` is what problems call it.
pub fn read_cases(text: &str, file: &str, flows: &[Compiled]) -> Result<Vec<Case>, Problems> {
    let source = Source::new(if text.len() > limits::FLOW_BYTES { "" } else { text });
    let mut sink = Sink::new(&source);
    let mut cases = Vec::new();
    if text.len() > limits::FLOW_BYTES {
        let message = format!("the file has {} bytes, at most {} are allowed", text.len(), limits::FLOW_BYTES);
        sink.error(Span::at(1, 1, 1), "too_large", message);
    } else if let Some(root) = tree::read(text, &mut sink) {
        cases = read_file(&root, flows, &mut sink).unwrap_or_default();
    } else if !sink.has_errors() {
        let help = "start with `cases:` and the name of the first one";
        sink.error(Span::at(1, 1, 1), "missing_key", "the file is empty").help(Some(help.into()));
    }
    if !sink.has_errors() {
        return Ok(cases);
    }
    let mut problems = sink.finish(file);
    // What all cases share is read for each of them, and said once.
    problems.list.dedup();
    Err(problems)
}

fn read_file(root: &Node<'_>, flows: &[Compiled], sink: &mut Sink<'_>) -> Option<Vec<Case>> {
    let fields = Fields::read(root, "a case file", &FILE, sink)?;
    let flow = fields.get("flow");
    if let Some(node) = fields.get("description") {
        text(node, "`description`", sink);
    }
    let Some(entries) = fields.get("cases").map(|node| map(node, "`cases`", sink)) else {
        let help = "add `cases:` and below it `does what it should: { expect: { state: succeeded } }`";
        sink.error(root.span.start(), "missing_key", "a case file needs the key `cases`").help(Some(help.into()));
        return None;
    };
    let mut cases = Vec::new();
    for entry in entries.unwrap_or_default() {
        cases.extend(read_case(entry, flow, fields.get("stubs"), flows, sink));
    }
    if cases.is_empty() && !sink.has_errors() {
        let help = "such as `it works: {}`";
        sink.error(root.span.start(), "no_cases", "there is no case in the file").help(Some(help.into()));
    }
    Some(cases)
}

/// What can be named in a case: the plan, and every path in it.
struct Scene {
    plan: Arc<Plan>,
    places: Vec<Place>,
}

fn read_case(
    entry: &Entry<'_>,
    flow: Option<&Node<'_>>,
    shared: Option<&Node<'_>>,
    flows: &[Compiled],
    sink: &mut Sink<'_>,
) -> Option<Case> {
    // A case may be nothing but its name: the flow is to succeed.
    let empty = matches!(&entry.value.kind, Kind::Scalar(text, style) if resolve(text, *style) == Ok(Value::Null));
    let nothing = Node { span: entry.value.span, kind: Kind::Map(Vec::new()) };
    let value = if empty { &nothing } else { &entry.value };
    let fields = Fields::read(value, &format!("case {}", shown(&entry.key)), &CASE, sink)?;
    let plan = chosen(fields.get("flow").or(flow), entry.at, flows, sink)?;
    if let Some(node) = fields.get("description") {
        text(node, "`description`", sink);
    }
    let scene = Scene { places: places(&plan), plan };
    let mut stubs = fields.get("stubs").map(|node| stubs::read(node, &scene, true, sink)).unwrap_or_default();
    // What all cases share may speak of what this case's flow does not have.
    stubs.extend(shared.map(|node| stubs::read(node, &scene, flows.len() == 1, sink)).unwrap_or_default());
    let answers = fields.get("gates").map(|node| gates(node, &scene, sink)).unwrap_or_default();
    let expect = fields.get("expect").map(|node| expect::read(node, &scene, sink)).unwrap_or_default();
    let at = fields.get("at").map_or(Some(BEGINNING), |node| instant(node, sink));
    let input = whole_input(fields.get("input"), entry.at, &scene.plan, sink)?;
    Some(Case { name: entry.key.to_string(), plan: scene.plan, input, at: at?, stubs, answers, expect })
}

/// The flow that a case is about.
fn chosen(node: Option<&Node<'_>>, at: Span, flows: &[Compiled], sink: &mut Sink<'_>) -> Option<Arc<Plan>> {
    let names = || flows.iter().map(|one| one.plan.flow.as_str());
    let Some(node) = node else {
        if let [only] = flows {
            return Some(Arc::new(only.plan.clone()));
        }
        let all: Vec<String> = names().map(|name| format!("`{name}`")).collect();
        let message = format!("the file has {} flows: say which one this is about", flows.len());
        sink.error(at, "which_flow", message).help(Some(format!("add `flow:` with {}", all.join(" or "))));
        return None;
    };
    let name = text(node, "`flow`", sink)?;
    let found = flows.iter().find(|one| one.plan.flow.as_str() == name);
    if found.is_none() {
        let help = sink.meant(name, names());
        sink.error(node.span, "flow_not_found", format!("there is no flow {}", shown(name))).help(help);
    }
    found.map(|one| Arc::new(one.plan.clone()))
}

fn whole_input(node: Option<&Node<'_>>, at: Span, plan: &Plan, sink: &mut Sink<'_>) -> Option<String> {
    let given = match node.map(|node| (map(node, "`input`", sink), literal(node, sink))) {
        None => Map::new(),
        Some((Some(_), Value::Object(given))) => given,
        Some(_) => return None,
    };
    let place = node.map_or(at, |node| node.span.start());
    match input::complete(&plan.inputs, &given) {
        Ok(input) => Some(input),
        Err(error) => {
            for line in error.message.lines() {
                sink.error(place, error.code, line);
            }
            None
        }
    }
}

fn instant(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Time> {
    let written = text(node, "`at`", sink)?;
    sink.accept(Time::parse(written), node.span)
}

/// What people say: `gate: [lead, quality]`, or a map.
fn gates(node: &Node<'_>, scene: &Scene, sink: &mut Sink<'_>) -> Vec<Said> {
    let mut said = Vec::new();
    for entry in map(node, "`gates`", sink).unwrap_or_default() {
        let Some(answer) = gate(entry, sink) else { continue };
        let known = match (&answer.sends, answer.approve.is_empty()) {
            (Some(_), _) => {
                scene.path(&entry.key, entry.at, |work| opens(work, &[Opens::Outside, Opens::Shared]), OUTSIDE, sink)
            }
            (None, false) => {
                scene.path(&entry.key, entry.at, |work| opens(work, &[Opens::People, Opens::Shared]), "approval", sink)
            }
            (None, true) => {
                let either = [Opens::People, Opens::Outside, Opens::Shared];
                scene.path(&entry.key, entry.at, |work| opens(work, &either), "gate that can be rejected", sink)
            }
        };
        if known {
            said.push(answer);
        }
    }
    said
}

/// What opens when something is sent.
const OUTSIDE: &str = "webhook or external gate";

fn opens(work: &Work, so: &[Opens]) -> bool {
    matches!(work, Work::Gate(gate) if so.contains(&gate.wait.opens()))
}

fn gate(entry: &Entry<'_>, sink: &mut Sink<'_>) -> Option<Said> {
    let task = entry.key.to_string();
    let mut said = Said { task, after: Default::default(), approve: Vec::new(), reject: None, sends: None };
    if !matches!(entry.value.kind, Kind::Map(_)) {
        said.approve = people(&entry.value, "an answer to a gate", sink);
        return Some(said);
    }
    let fields = Fields::read(&entry.value, "an answer to a gate", &SAID, sink)?;
    said.approve = fields.get("approve").map(|node| people(node, "`approve`", sink)).unwrap_or_default();
    said.reject = fields.get("reject").and_then(|node| name(node, "`reject`", sink));
    said.sends = fields.get("sends").map(|node| literal(node, sink));
    said.after = fields.get("after").and_then(|node| duration(node, "`after`", sink)).unwrap_or_default();
    let silent = said.approve.is_empty() && said.sends.is_none() && fields.entry("reject").is_none();
    if silent && !sink.has_errors() {
        let help = "say who: `approve: [lead]` or `reject: lead`; or what comes from outside: `sends: {}`";
        sink.error(entry.at, "missing_key", "nobody says anything here").help(Some(help.into()));
    }
    Some(said)
}

/// One name, or a list of them.
fn people(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Vec<crate::name::Name> {
    match &node.kind {
        Kind::List(people) => people.iter().filter_map(|node| name(node, "a person", sink)).collect(),
        _ => name(node, what, sink).into_iter().collect(),
    }
}

impl Scene {
    /// Whether a path can be one of a wanted kind of task; what cannot be is said, with the nearest that can.
    fn path(&self, path: &str, at: Span, is: impl Fn(&Work) -> bool, what: &str, sink: &mut Sink<'_>) -> bool {
        let wanted = |place: &&Place| is(&self.plan.spec(place.region, place.node).work);
        let mut known = self.places.iter().filter(wanted);
        if known.clone().any(|place| fits(&place.path, path)) {
            return true;
        }
        let help = sink.meant(path, known.clone().map(|place| place.path.as_str()));
        let help = help.or_else(|| known.next().map(|place| format!("such as {}", shown(&place.path))));
        sink.error(at, "unknown_task", format!("there is no {what} {}", shown(path))).help(help);
        false
    }

    fn actions(&self) -> impl Iterator<Item = &str> {
        self.plan.specs.iter().filter_map(|spec| match &spec.work {
            Work::Action { action, .. } => Some(action.as_str()),
            Work::SubRun(sub) => Some(sub.flow.as_str()),
            _ => None,
        })
    }
}
