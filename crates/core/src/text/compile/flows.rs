//! Flows that a program starts: of the same file, or found elsewhere. They are compiled before what starts them.

use super::{Functions, Whole, error, in_calling_order};
use crate::flow::compose::{Child, Composer, Fault, circle_of, nests, plans_of, too_deep};
use crate::flow::problem::Sink;
use crate::limits;
use crate::plan::Plan;
use crate::text::tree::{ActionCall, Block, Call, Flow, Program, StatementKind, Value, Work};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The flows that can be started, by name; `None` for one with errors, which were said, or that nobody starts.
pub(super) type Children = BTreeMap<String, Option<Child>>;

/// Compiles the flows of a program, each after all that it starts.
pub(super) struct Flows<'c, 't, 'r, 's> {
    pub(super) by_name: BTreeMap<&'t str, &'t Flow>,
    /// What is started at all. Only that is pinned: to hash a plan is half of the work of compiling it.
    pub(super) started: BTreeSet<&'t str>,
    pub(super) functions: &'c Functions<'t>,
    pub(super) file: &'c str,
    pub(super) composer: &'c mut Composer<'r>,
    pub(super) sink: &'c mut Sink<'s>,
    pub(super) children: Children,
    /// The flows that are being compiled, each because of the one before it.
    pub(super) way: Vec<&'t str>,
    pub(super) plans: BTreeMap<&'t str, (Plan, Vec<Arc<Plan>>)>,
}

impl<'t> Flows<'_, 't, '_, '_> {
    /// Compiles a flow, and first all that it starts.
    pub(super) fn compile(&mut self, flow: &'t Flow) {
        let name = flow.name.as_str();
        if self.children.contains_key(name) {
            return;
        }
        let called = in_calling_order(&flow.body, self.functions);
        let bodies = called.iter().map(|name| &self.functions.by_name[name].body).chain([&flow.body]);
        let starts: Vec<&'t ActionCall> = bodies.flat_map(|body| started_by(body)).collect();
        self.way.push(name);
        self.find(&starts);
        self.way.pop();
        let own: BTreeSet<&str> = starts.iter().map(|call| call.name.as_str()).collect();
        let whole = Whole { functions: self.functions, called, children: &self.children, sink: self.sink };
        let plan = whole.plan(flow);
        let below = || own.iter().filter_map(|name| self.children.get(*name)?.as_ref());
        let plans = plans_of(below());
        let child = plan.as_ref().and_then(|plan| {
            let pinned = || self.started.contains(name).then(|| Child::new(plan.clone(), plans.clone())).transpose();
            nests(below()).and_then(|()| pinned()).unwrap_or_else(|fault| {
                say(self.sink, flow.at, fault);
                None
            })
        });
        self.children.insert(name.to_owned(), child);
        if let Some(plan) = plan {
            self.plans.insert(name, (plan, plans));
        }
    }

    /// Finds what calls start: flows of the same file are compiled now, others are looked for.
    pub(super) fn find(&mut self, starts: &[&'t ActionCall]) {
        for call in starts {
            let name = call.name.as_str();
            if let Some(from) = self.way.iter().position(|on_the_way| *on_the_way == name) {
                let mut circle = self.way[from..].to_vec();
                circle.push(name);
                say(self.sink, call.at, circle_of(&circle));
                // Said once; who names it again has the same circle.
                self.children.entry(name.to_owned()).or_insert(None);
                continue;
            }
            if self.children.contains_key(name) {
                continue;
            }
            match self.by_name.get(name) {
                Some(flow) if self.way.len() <= usize::from(limits::RUN_DEPTH) => self.compile(flow),
                Some(_) => {
                    say(self.sink, call.at, too_deep());
                    self.children.insert(name.to_owned(), None);
                }
                None => {
                    let child = self.composer.child(name, self.file);
                    let child = child.map_err(|fault| say(self.sink, call.at, fault)).ok();
                    self.children.insert(name.to_owned(), child);
                }
            }
        }
    }
}

fn say(sink: &mut Sink<'_>, at: crate::text::tree::Extent, Fault { code, message, help }: Fault) {
    error(sink, at, code, message).help(help);
}

/// The names of the flows that a program starts anywhere.
pub(super) fn started_in(program: &Program) -> BTreeSet<&str> {
    let bodies = program.flows.iter().map(|flow| &flow.body).chain(program.functions.iter().map(|f| &f.body));
    bodies.flat_map(started_by).map(|call| call.name.as_str()).collect()
}

/// The flows that a block starts itself.
pub(super) fn started_by(block: &Block) -> Vec<&ActionCall> {
    let mut found = Vec::new();
    let mut stack: Vec<_> = block.iter().rev().collect();
    while let Some(statement) = stack.pop() {
        match &statement.kind {
            StatementKind::Assign { value: Value::Work(work), .. }
            | StatementKind::Return(Some(Value::Work(work)))
            | StatementKind::Do(work) => {
                let calls = match work {
                    Work::Call(call) => std::slice::from_ref(call),
                    Work::Spread(spread) => std::slice::from_ref(&spread.call),
                    Work::Parallel(parallel) => &parallel.calls,
                    Work::Wait(_) => &[],
                };
                found.extend(calls.iter().filter_map(|call| match call {
                    Call::Flow(call) => Some(&**call),
                    _ => None,
                }));
            }
            StatementKind::If { arms, otherwise } => {
                stack.extend(otherwise.iter().flatten().rev());
                stack.extend(arms.iter().rev().flat_map(|(_, block)| block.iter().rev()));
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => stack.extend(body.iter().rev()),
            StatementKind::Try { body, handlers } => {
                stack.extend(handlers.iter().rev().flat_map(|handler| handler.body.iter().rev()));
                stack.extend(body.iter().rev());
            }
            _ => {}
        }
    }
    found
}
