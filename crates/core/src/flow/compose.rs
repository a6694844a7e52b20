//! Composition: a flow that starts runs of other flows. Those are compiled first, and pinned by their plans.
//!
//! A plan names its children by the hash of their plans, so a run never changes under its author's hands, and a
//! flow cannot start itself: its hash would have to be known before it. What is said here about circles is said so
//! that the author finds the line, not to keep the engine safe.

use super::{Compiled, Problems, choose, file};
use crate::id::PlanHash;
use crate::input::Input;
use crate::limits;
use crate::plan::Plan;
use crate::suggest::{nearest, shown};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a resolver found.
#[derive(Debug, Clone)]
pub enum Found {
    /// A file that should hold the flow.
    File {
        /// What it says.
        text: String,
        /// What problems call it.
        file: String,
    },
    /// The plan of the flow, and after it the plans of all that it starts.
    Plans(Vec<Arc<Plan>>),
}

/// Finds the flows that a file names and does not hold itself.
pub trait Resolve {
    /// The flow of a name, as `file` means it: `None` if there is none, an error if it cannot be read.
    fn find(&mut self, name: &str, file: &str) -> Result<Option<Found>, String>;

    /// The names that could be found from `file`, for suggestions.
    fn known(&mut self, file: &str) -> Vec<String> {
        let _ = file;
        Vec::new()
    }
}

/// Knows nothing but the file itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Resolve for Alone {
    fn find(&mut self, _: &str, _: &str) -> Result<Option<Found>, String> {
        Ok(None)
    }
}

/// A flow that another one starts runs of.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    /// The hash of its plan.
    pub(crate) hash: PlanHash,
    /// Its plan, and after it the plans of all that it starts.
    pub(crate) plans: Vec<Arc<Plan>>,
    /// How many runs are nested in one of it, itself included.
    depth: u16,
}

/// Why there is no such child.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// Something wrong with what a child is given; `at` is the place of the argument, if it is about one.
pub(crate) struct Misfit {
    pub(crate) at: Option<usize>,
    pub(crate) fault: Fault,
}

/// Compiles files, and the files that they name.
pub(crate) struct Composer<'r> {
    resolver: &'r mut dyn Resolve,
    /// The files that are being compiled, each because of the one before it.
    way: Vec<String>,
    known: BTreeMap<(String, String), Result<Child, Fault>>,
}

impl<'r> Composer<'r> {
    pub(crate) fn new(resolver: &'r mut dyn Resolve) -> Self {
        Self { resolver, way: Vec::new(), known: BTreeMap::new() }
    }

    /// All flows of a file.
    pub(crate) fn file(&mut self, text: &str, file: &str) -> Result<Vec<Compiled>, Problems> {
        self.way.push(file.to_owned());
        let compiled = file::compile_one(text, file, self);
        self.way.pop();
        compiled
    }

    /// The flow that `file` calls so.
    pub(crate) fn child(&mut self, name: &str, file: &str) -> Result<Child, Fault> {
        let key = (file.to_owned(), name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let child = self.find(name, file);
        self.known.insert(key, child.clone());
        child
    }

    fn find(&mut self, name: &str, file: &str) -> Result<Child, Fault> {
        let found = self.resolver.find(name, file).map_err(|why| Fault::new("flow_unreadable", why))?;
        match found {
            Some(Found::Plans(plans)) => Child::found(plans),
            Some(Found::File { text, file }) => self.other_file(name, &text, &file),
            None => Err(self.unknown(name, file)),
        }
    }

    fn other_file(&mut self, name: &str, text: &str, file: &str) -> Result<Child, Fault> {
        if let Some(from) = self.way.iter().position(|on_the_way| on_the_way == file) {
            let mut circle: Vec<&str> = self.way[from..].iter().map(String::as_str).collect();
            circle.push(file);
            return Err(circle_of(&circle));
        }
        if self.way.len() > usize::from(limits::RUN_DEPTH) {
            return Err(too_deep());
        }
        let flows = self.file(text, file).map_err(|problems| within(name, &problems))?;
        let compiled = choose(flows, file, Some(name)).map_err(|error| Fault::new(error.code, error.message))?;
        Child::new(compiled.plan, compiled.children)
    }

    fn unknown(&mut self, name: &str, file: &str) -> Fault {
        let known = self.resolver.known(file);
        let near = nearest(name, known.iter().map(String::as_str)).map(|near| format!("did you mean {}?", shown(near)));
        let help = near.unwrap_or_else(|| {
            format!("put it into {name}.yaml or {name}.flow beside this file, or into this file if it is a program")
        });
        Fault::new("flow_not_found", format!("there is no flow {}", shown(name))).help(help)
    }
}

impl Child {
    /// A flow that was compiled just now, with the plans of all that it starts.
    pub(crate) fn new(plan: Plan, children: Vec<Arc<Plan>>) -> Result<Self, Fault> {
        let mut plans = vec![Arc::new(plan)];
        plans.extend(children);
        Self::found(plans)
    }

    fn found(plans: Vec<Arc<Plan>>) -> Result<Self, Fault> {
        let by_hash: BTreeMap<PlanHash, &Plan> = plans.iter().map(|plan| (plan.encode().0, &**plan)).collect();
        let Some(own) = plans.first() else {
            return Err(Fault::new("flow_not_found", "a registered flow has no plan".into()));
        };
        let depth = depth(own, &by_hash, 0).ok_or_else(too_deep)?;
        Ok(Self { hash: own.encode().0, depth, plans })
    }

    pub(crate) fn inputs(&self) -> &[Input] {
        self.plans.first().map_or(&[], |plan| &plan.inputs)
    }

    /// What is wrong with what it is given, as far as that is known: names, and values that are written there.
    pub(crate) fn misfits<'g>(&self, given: impl Iterator<Item = (&'g str, Option<&'g Value>)>) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        let mut seen = Vec::new();
        for (at, (name, value)) in given.enumerate() {
            seen.push(name);
            let fault = match self.inputs().iter().find(|input| input.name.as_str() == name) {
                None => Some(self.no_input(name)),
                Some(input) => value.filter(|value| !input.kind.holds(value) && !value.is_null()).map(|value| {
                    let message = format!("input `{name}` expects {}, found {}", input.kind, shown(&value.to_string()));
                    Fault::new("wrong_type", message)
                }),
            };
            misfits.extend(fault.map(|fault| Misfit { at: Some(at), fault }));
        }
        let missing = self.inputs().iter().filter(|input| input.required && !seen.contains(&input.name.as_str()));
        let missing: Vec<String> = missing.map(|input| format!("`{}`", input.name)).collect();
        if !missing.is_empty() {
            let message = format!("the flow is not given {}", missing.join(", "));
            let fault = Fault::new("missing_input", message).help("add what is missing".into());
            misfits.push(Misfit { at: None, fault });
        }
        misfits
    }

    fn no_input(&self, name: &str) -> Fault {
        let known = || self.inputs().iter().map(|input| input.name.as_str());
        let help = match nearest(name, known()) {
            Some(near) => format!("did you mean {}?", shown(near)),
            None if self.inputs().is_empty() => "it declares none".into(),
            None => format!("it declares {}", known().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
        };
        Fault::new("unknown_input", format!("the flow has no input {}", shown(name))).help(help)
    }
}

/// All plans that a flow with these children needs, each once.
pub(crate) fn plans_of<'c>(children: impl Iterator<Item = &'c Child>) -> Vec<Arc<Plan>> {
    let mut seen = BTreeMap::new();
    let mut plans = Vec::new();
    for plan in children.flat_map(|child| &child.plans) {
        if seen.insert(plan.encode().0, ()).is_none() {
            plans.push(Arc::clone(plan));
        }
    }
    plans
}

/// Whether a flow may start these: runs are nested only so deep.
pub(crate) fn nests<'c>(mut children: impl Iterator<Item = &'c Child>) -> Result<(), Fault> {
    if children.any(|child| child.depth > limits::RUN_DEPTH) { Err(too_deep()) } else { Ok(()) }
}

/// How deep runs of a plan are nested; `None` if deeper than allowed.
fn depth(plan: &Plan, by_hash: &BTreeMap<PlanHash, &Plan>, around: u16) -> Option<u16> {
    if around > limits::RUN_DEPTH {
        return None;
    }
    let inner = plan.children().into_keys().map(|hash| match by_hash.get(&hash) {
        Some(child) => depth(child, by_hash, around + 1),
        None => Some(0),
    });
    Some(1 + inner.collect::<Option<Vec<u16>>>()?.into_iter().max().unwrap_or(0))
}

pub(crate) fn too_deep() -> Fault {
    let message = format!("flows start each other deeper than the {} levels allowed", limits::RUN_DEPTH);
    Fault::new("too_deep", message).help("start one of them apart".into())
}

/// `a` starts `b` starts `a`.
pub(crate) fn circle_of(names: &[&str]) -> Fault {
    let message = format!("these flows start each other in a circle: {}", names.join(" -> "));
    Fault::new("cycle", message).help("repeat within one flow instead, with `while` or `for`".into())
}

/// What is wrong in another file, said where that is named.
fn within(name: &str, problems: &Problems) -> Fault {
    let first = problems.list.iter().find(|problem| problem.level == super::Level::Error);
    let help = first.map(|p| format!("{}:{}:{}: {}", problems.file, p.line, p.column, p.message));
    let message = format!("the flow {} in {} has errors", shown(name), problems.file);
    Fault { help, ..Fault::new("invalid_child", message) }
}

impl Fault {
    pub(crate) fn new(code: &'static str, message: String) -> Self {
        Self { code, message, help: None }
    }

    fn help(self, help: String) -> Self {
        Self { help: Some(help), ..self }
    }
}
