//! Compiling: the tree of a program becomes the regions of a plan.
//!
//! A body is a chain region. What waits for somebody, and what holds bodies of its own, is a node of the region;
//! everything else is a statement that the fold runs by itself. Regions come before the regions inside of
//! them, and functions after all that call them, so nothing in a plan ever points back.

mod body;
mod command;
mod names;
mod policy;

use super::tree::{Block, Call, Extent, Flow, Function, Parameter, Program, Statement, StatementKind, Value, Work};
use crate::expr;
use crate::flow::Compiled;
use crate::flow::Problems;
use crate::flow::problem::Sink;
use crate::flow::source::Source;
use crate::input::Input;
use crate::limits;
use crate::name::Name;
use crate::plan::{self, Plan, PlanDraft};
use body::{Body, Regions};
use std::collections::{BTreeMap, BTreeSet};

/// Compiles every flow of a program; `file` is what problems call it.
pub fn compile(text: &str, file: &str) -> Result<Vec<Compiled>, Problems> {
    let source = Source::new(if text.len() > limits::FLOW_BYTES { "" } else { text });
    let mut sink = Sink::new(&source);
    let plans = super::read(text, &mut sink).map(|program| plans(&program, &mut sink)).unwrap_or_default();
    if sink.has_errors() {
        return Err(sink.finish(file));
    }
    let warnings = sink.finish(file);
    Ok(plans
        .into_iter()
        .map(|plan| Compiled { plan, schedules: BTreeMap::new(), warnings: warnings.clone() })
        .collect())
}

fn plans(program: &Program, sink: &mut Sink<'_>) -> Vec<Plan> {
    let functions: BTreeMap<&str, &Function> = program.functions.iter().map(|f| (f.name.text.as_str(), f)).collect();
    // A function that no flow calls is read too: what is wrong with it should be said.
    let mut unused: BTreeSet<&str> = functions.keys().copied().collect();
    let mut plans = Vec::new();
    for flow in &program.flows {
        let called = in_calling_order(&flow.body, &functions);
        called.iter().for_each(|name| {
            unused.remove(name);
        });
        plans.extend(Whole { functions: &functions, called, sink }.plan(flow));
    }
    for name in unused {
        let mut regions = Regions::default();
        let function = functions[name];
        let defaults = Default::default();
        let written = (function.parameters.as_slice(), &function.body);
        Body::new(written, &functions, &defaults, sink).compile(&mut regions, &function.body);
    }
    plans
}

/// One flow with all that it calls.
struct Whole<'c, 't, 's> {
    functions: &'c BTreeMap<&'t str, &'t Function>,
    /// Callers before what they call.
    called: Vec<&'t str>,
    sink: &'c mut Sink<'s>,
}

impl<'t> Whole<'_, 't, '_> {
    fn plan(mut self, flow: &'t Flow) -> Option<Plan> {
        let inputs = self.inputs(&flow.parameters);
        let defaults = policy::Defaults::new(&flow.defaults);
        let mut regions = Regions::default();
        let written = (flow.parameters.as_slice(), &flow.body);
        Body::new(written, self.functions, &defaults, self.sink).compile(&mut regions, &flow.body);
        let mut place = BTreeMap::new();
        for name in &self.called {
            place.insert((*name).to_owned(), regions.drafts.len() as u32);
            let function = self.functions[name];
            let written = (function.parameters.as_slice(), &function.body);
            Body::new(written, self.functions, &defaults, self.sink).compile(&mut regions, &function.body);
        }
        for spec in &mut regions.specs {
            if let plan::Work::Call(call) = &mut spec.work {
                call.region = place.get(call.function.as_str()).copied()?;
            }
        }
        if self.sink.has_errors() {
            return None;
        }
        let Regions { specs, drafts } = regions;
        let draft = PlanDraft { specs, regions: drafts, inputs, ..PlanDraft::default() };
        match draft.build(flow.name.clone()) {
            Ok(plan) => Some(plan),
            Err(problems) => {
                for problem in problems {
                    error(self.sink, flow.at, problem.code, problem.message);
                }
                None
            }
        }
    }

    fn inputs(&mut self, parameters: &[Parameter]) -> Vec<Input> {
        let mut inputs = Vec::new();
        for parameter in parameters {
            let Parameter { name, kind, default } = parameter;
            let default = default.as_ref().and_then(|given| self.constant(given));
            if let Some(value) = default.as_ref().filter(|value| !kind.holds(value) && !value.is_null()) {
                let message = format!("the default of `{}` is {value}, which is no {kind}", name.text);
                error(self.sink, name.at, "bad_default", message);
            }
            match Name::parse(&name.text) {
                Ok(word) => {
                    let required = parameter.default.is_none();
                    inputs.push(Input { name: word, kind: *kind, required, default, description: None });
                }
                Err(wrong) => drop(error(self.sink, name.at, "bad_name", wrong.message)),
            }
        }
        inputs
    }

    /// The value of an expression without names.
    fn constant(&mut self, given: &super::tree::Expr) -> Option<serde_json::Value> {
        let bound = known_beforehand(given, "compute it in the first statement instead", self.sink)?;
        match bound.constant() {
            Some(Ok(value)) => Some(value),
            Some(Err(failure)) => {
                error(self.sink, given.at, "bad_default", failure.message);
                None
            }
            None => {
                error(self.sink, given.at, "bad_default", "the default takes too long to compute".into());
                None
            }
        }
    }
}

/// A default names nothing, whosever it is.
fn known_beforehand(given: &super::tree::Expr, help: &str, sink: &mut Sink<'_>) -> Option<expr::Expr> {
    let mut none = |_: &[&str], span: expr::Span| {
        Err(expr::Fault::new(span, "not_constant", "a default is a value that is known beforehand").help(help))
    };
    given.ast.clone().bind(&mut none).map_err(|faults| say_all(sink, given.at, faults)).ok()
}

fn error<'s>(sink: &'s mut Sink<'_>, at: Extent, code: &'static str, message: String) -> &'s mut crate::flow::Problem {
    let place = sink.place(at.range());
    sink.error(place, code, message)
}

/// Faults of an expression, at their places in the file.
fn say_all(sink: &mut Sink<'_>, at: Extent, faults: Vec<expr::Fault>) {
    for fault in faults {
        let place = Extent { start: at.start + fault.span.from, end: at.start + fault.span.to };
        error(sink, place, fault.code, fault.message).help(fault.help);
    }
}

/// The functions that a body comes to, each after all that call it. The check has refused recursion.
fn in_calling_order<'t>(body: &'t Block, functions: &BTreeMap<&'t str, &'t Function>) -> Vec<&'t str> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    // Depth first; a function is put down once all that it calls is.
    let mut stack: Vec<(&str, bool)> = calls(body).into_iter().map(|name| (name, false)).collect();
    while let Some((name, done)) = stack.pop() {
        if done {
            order.push(name);
            continue;
        }
        let Some(function) = functions.get(name).filter(|_| seen.insert(name)) else { continue };
        stack.push((name, true));
        stack.extend(calls(&function.body).into_iter().map(|name| (name, false)));
    }
    order.reverse();
    order
}

/// The functions that a block calls itself.
fn calls(block: &Block) -> Vec<&str> {
    let mut found = Vec::new();
    let mut stack: Vec<&Statement> = block.iter().collect();
    while let Some(statement) = stack.pop() {
        match &statement.kind {
            StatementKind::Assign { value: Value::Work(work), .. }
            | StatementKind::Return(Some(Value::Work(work)))
            | StatementKind::Do(work) => found.extend(called_by(work)),
            StatementKind::If { arms, otherwise } => {
                stack.extend(arms.iter().flat_map(|(_, block)| block));
                stack.extend(otherwise.iter().flatten());
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => stack.extend(body),
            StatementKind::Try { body, handlers } => {
                stack.extend(body);
                stack.extend(handlers.iter().flat_map(|handler| &handler.body));
            }
            _ => {}
        }
    }
    found
}

fn called_by(work: &Work) -> Vec<&str> {
    let calls: Vec<&Call> = match work {
        Work::Call(call) => vec![call],
        Work::Spread(spread) => vec![&spread.call],
        Work::Parallel(parallel) => parallel.calls.iter().collect(),
    };
    let functions = calls.into_iter().filter_map(|call| match call {
        Call::Function(call) => Some(call.name.text.as_str()),
        Call::Action(_) => None,
    });
    functions.collect()
}
