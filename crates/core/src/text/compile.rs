//! Compiling: the tree of a program becomes the regions of a plan.
//!
//! A body is a chain region. What waits for somebody, and what holds bodies of its own, is a node of the region;
//! everything else is a statement that the fold runs by itself. Regions come before the regions inside of
//! them, and functions after all that call them, so nothing in a plan ever points back.

mod body;
mod command;
mod emit;
mod flows;
mod http;
mod item;
mod names;
mod naming;
mod place;
mod policy;
mod publish;
mod secrets;

use super::tree::{Block, Call, Extent, Flow, Function, Parameter, Program, Statement, StatementKind, Value, Work};
use crate::expr;
use crate::flow::Compiled;
use crate::flow::Problems;
use crate::flow::compose::{Alone, Composer};
use crate::flow::problem::Sink;
use crate::flow::source::Source;
use crate::input::Input;
use crate::limits;
use crate::name::Name;
use crate::pattern::Pattern;
use crate::plan::{self, Plan, PlanDraft};
use crate::suggest::shown;
use body::{Around, Body, Regions};
use flows::{Children, Flows};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Compiles every flow of a program; `file` is what problems call it. It starts no flows of other files.
pub fn compile(text: &str, file: &str) -> Result<Vec<Compiled>, Problems> {
    compile_with(text, file, &mut Composer::new(&mut Alone))
}

/// The same for a program that starts flows of other files.
pub(crate) fn compile_with(text: &str, file: &str, composer: &mut Composer<'_>) -> Result<Vec<Compiled>, Problems> {
    let source = Source::new(if text.len() > limits::FLOW_BYTES { "" } else { text });
    let mut sink = Sink::new(&source);
    let program = super::read(text, &mut sink);
    let plans = program.map(|program| plans(&program, file, composer, &mut sink)).unwrap_or_default();
    if sink.has_errors() {
        return Err(sink.finish(file));
    }
    let warnings = sink.finish(file);
    let whole = |(plan, children)| Compiled {
        plan,
        children,
        schedules: BTreeMap::new(),
        hook: None,
        warnings: warnings.clone(),
    };
    Ok(plans.into_iter().map(whole).collect())
}

/// Each plan with those of the flows that it starts.
fn plans(
    program: &Program,
    file: &str,
    composer: &mut Composer<'_>,
    sink: &mut Sink<'_>,
) -> Vec<(Plan, Vec<Arc<Plan>>)> {
    let functions = Functions::of(program);
    // A function that no flow calls is read too: what is wrong with it should be said.
    let mut unused: BTreeSet<&str> = functions.by_name.keys().copied().collect();
    let (children, way, plans) = Default::default();
    let by_name = program.flows.iter().rev().map(|flow| (flow.name.as_str(), flow)).collect();
    let started = flows::started_in(program);
    let mut flows = Flows { by_name, started, functions: &functions, file, composer, sink, children, way, plans };
    for flow in &program.flows {
        let called = in_calling_order(&flow.body, &functions);
        // Each flow has its functions to itself, so they grow with the product of both.
        let again = called.iter().filter(|name| !unused.remove(**name));
        if functions.copies(again.map(|name| statements(functions.by_name[name])).sum()) {
            let most = limits::COPIED_STATEMENTS;
            let message = format!("what several flows call comes to more than {most} statements up to here");
            error(flows.sink, flow.at, "too_large", message)
                .help(Some("put some of the flows into files of their own".into()));
            break;
        }
        flows.compile(flow);
    }
    for name in unused {
        let function = functions.by_name[name];
        flows.find(&flows::started_by(&function.body));
        let (children, defaults) = (&flows.children, &Default::default());
        let around = Around { functions: &functions, children, defaults, secrets: None };
        let written = (function.parameters.as_slice(), &function.body);
        Body::new(written, around, flows.sink).compile(&mut Regions::default(), &function.body);
    }
    program.flows.iter().filter_map(|flow| flows.plans.remove(flow.name.as_str())).collect()
}

/// The functions of a file.
struct Functions<'t> {
    by_name: BTreeMap<&'t str, &'t Function>,
    /// Statements and defaults that were compiled again. A small file could come to more than all memory: flows
    /// times the functions they call, or calls times the defaults they leave to the function.
    copied: Cell<usize>,
}

impl<'t> Functions<'t> {
    fn of(program: &'t Program) -> Self {
        let by_name = program.functions.iter().map(|f| (f.name.text.as_str(), f)).collect();
        Self { by_name, copied: Cell::new(0) }
    }

    /// Counts what is compiled again; whether it has become too much.
    fn copies(&self, more: usize) -> bool {
        self.copied.set(self.copied.get() + more);
        self.copied.get() > limits::COPIED_STATEMENTS
    }
}

/// One flow with all that it calls.
struct Whole<'c, 't, 's> {
    functions: &'c Functions<'t>,
    /// Callers before what they call.
    called: Vec<&'t str>,
    /// The flows that it can start.
    children: &'c Children,
    sink: &'c mut Sink<'s>,
}

impl<'t> Whole<'_, 't, '_> {
    fn plan(mut self, flow: &'t Flow) -> Option<Plan> {
        let inputs = self.inputs(&flow.parameters);
        let naming = naming::naming(&flow.naming, self.sink);
        let told = flow.defaults.publish.as_ref().and_then(|given| publish::publish(given, true, self.sink));
        let defaults = policy::Defaults::new(&flow.defaults);
        let mut regions = Regions::default();
        let written = (flow.parameters.as_slice(), &flow.body);
        let secrets = secrets::declared(flow.naming.secrets.as_ref(), self.sink);
        let (functions, children) = (self.functions, self.children);
        let around = Around { functions, children, defaults: &defaults, secrets: Some(&secrets) };
        Body::new(written, around, self.sink).compile(&mut regions, &flow.body);
        let mut place = BTreeMap::new();
        for name in &self.called {
            place.insert((*name).to_owned(), regions.drafts.len() as u32);
            let function = self.functions.by_name[name];
            let written = (function.parameters.as_slice(), &function.body);
            Body::new(written, around, self.sink).compile(&mut regions, &function.body);
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
        let publish = told.unwrap_or_default();
        let draft = PlanDraft { specs, regions: drafts, inputs, naming, publish, ..PlanDraft::default() };
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
            let Parameter { name, kind, pattern, default } = parameter;
            let pattern = pattern.as_ref().and_then(|given| self.pattern(given));
            let default = default.as_ref().and_then(|given| self.constant(given));
            if let Some(value) = default.as_ref().filter(|value| !kind.holds(value) && !value.is_null()) {
                let message = format!("the default of `{}` is {value}, which is no {kind}", name.text);
                error(self.sink, name.at, "bad_default", message);
            }
            match Name::parse(&name.text) {
                Ok(word) => {
                    let required = parameter.default.is_none();
                    let input = Input { name: word, kind: *kind, required, default, pattern, description: None };
                    if let Some(why) = input.default.as_ref().and_then(|value| input.misfit(value)) {
                        error(self.sink, name.at, "bad_default", why);
                    }
                    inputs.push(input);
                }
                Err(wrong) => drop(error(self.sink, name.at, "bad_name", wrong.message)),
            }
        }
        inputs
    }

    /// What a text must fit.
    fn pattern(&mut self, given: &super::tree::Expr) -> Option<String> {
        let why = match self.constant(given)? {
            serde_json::Value::String(text) => match Pattern::parse(&text) {
                Ok(_) => return Some(text),
                Err(why) => format!("{} is no pattern: {why}", shown(&text)),
            },
            other => format!("a pattern is a text, not {}", shown(&other.to_string())),
        };
        let help = "patterns are written as in RE2; with `r` before the quotes a backslash is itself: `r\"^\\d+$\"`";
        error(self.sink, given.at, "bad_pattern", why).help(Some(help.into()));
        None
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
fn in_calling_order<'t>(body: &'t Block, functions: &Functions<'t>) -> Vec<&'t str> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    // Depth first; a function is put down once all that it calls is.
    let mut stack: Vec<(&str, bool)> = calls(body).into_iter().map(|name| (name, false)).collect();
    while let Some((name, done)) = stack.pop() {
        if done {
            order.push(name);
            continue;
        }
        let Some(function) = functions.by_name.get(name).filter(|_| seen.insert(name)) else { continue };
        stack.push((name, true));
        stack.extend(calls(&function.body).into_iter().map(|name| (name, false)));
    }
    order.reverse();
    order
}

/// How many statements a function has, with those inside of others.
fn statements(function: &Function) -> usize {
    let mut count = 0;
    walk(&function.body, &mut |_| count += 1);
    count
}

/// The functions that a block calls itself.
fn calls(block: &Block) -> Vec<&str> {
    let mut found = Vec::new();
    walk(block, &mut |statement| match &statement.kind {
        StatementKind::Assign { value: Value::Work(work), .. }
        | StatementKind::Return(Some(Value::Work(work)))
        | StatementKind::Do(work) => called_by(work, &mut found),
        _ => {}
    });
    found
}

/// Calls `see` with all statements of a block, whatever they stand in; the last come first.
fn walk<'t>(block: &'t Block, see: &mut dyn FnMut(&'t Statement)) {
    let mut stack: Vec<&Statement> = block.iter().collect();
    while let Some(statement) = stack.pop() {
        see(statement);
        match &statement.kind {
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
}

fn called_by<'t>(work: &'t Work, found: &mut Vec<&'t str>) {
    let calls = match work {
        Work::Call(call) => std::slice::from_ref(call),
        Work::Spread(spread) => std::slice::from_ref(&spread.call),
        Work::Parallel(parallel) => &parallel.calls,
        Work::Wait(_) => &[],
    };
    found.extend(calls.iter().filter_map(|call| match call {
        Call::Function(call) => Some(call.name.text.as_str()),
        Call::Action(_) | Call::Flow(_) => None,
    }));
}
