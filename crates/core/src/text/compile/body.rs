//! One body, of a flow or of a function: statements become a script, blocks become regions inside of it.

use super::command;
use super::emit;
use super::flows::Children;
use super::http;
use super::item;
use super::names::Names;
use super::place::{Place, name_of_action, name_of_flow};
use super::policy::Defaults;
use super::publish;
use super::secrets;
use super::{Functions, error, known_beforehand, say_all};
use crate::expr::{self, Ast, Fault, Hyphens};
use crate::flow::problem::Sink;
use crate::gate::{Gate, Wait};
use crate::limits;
use crate::name::Name;
use crate::plan::{self, Items, RegionDraft, Spec, Statement as Line, Var};
use crate::recent::Recent;
use crate::template::{Root, Template};
use crate::text::tree::{
    ActionCall, Block, Call, Expr, FunctionCall, Handler, Parameter, Sleep, Statement, StatementKind, Value, Waiting,
    Word, Work,
};
use crate::time::Millis;
use std::collections::BTreeSet;

/// The regions of a plan in the making, those of the flow first.
#[derive(Default)]
pub(super) struct Regions {
    pub(super) specs: Vec<Spec>,
    pub(super) drafts: Vec<RegionDraft>,
}

impl Regions {
    pub(super) fn spec(&mut self, work: plan::Work) -> u32 {
        self.specs.push(Spec {
            when: None,
            work,
            retry: Default::default(),
            timeouts: Default::default(),
            share: Default::default(),
            publish: Vec::new(),
        });
        self.specs.len() as u32 - 1
    }

    fn open(&mut self) -> usize {
        self.drafts.push(RegionDraft::chain());
        self.drafts.len() - 1
    }
}

/// What a body can use that stands outside of it.
#[derive(Clone, Copy)]
pub(super) struct Around<'c, 't> {
    pub(super) functions: &'c Functions<'t>,
    pub(super) children: &'c Children,
    pub(super) defaults: &'c Defaults,
    /// What a flow declares; not known of a function that no flow calls.
    pub(super) secrets: Option<&'c BTreeSet<Name>>,
}

/// A body being compiled.
pub(super) struct Body<'c, 't, 's> {
    names: Names<'t>,
    around: Around<'c, 't>,
    sink: &'c mut Sink<'s>,
    /// Loops around the statement: what is assigned below it in a loop may be known above it in the next round.
    loops: u32,
    /// Whether the expression that is bound is seen only by whoever does the work.
    sealed: bool,
    /// What short expressions came to lately. A name means the same variable in all of a body, and one that is
    /// known stays known.
    bound: Recent<(Ast, expr::Expr)>,
}

impl<'c, 't, 's> Body<'c, 't, 's> {
    /// The body of a flow or of a function, with its parameters.
    pub(super) fn new(
        (parameters, body): (&'t [Parameter], &'t Block),
        around: Around<'c, 't>,
        sink: &'c mut Sink<'s>,
    ) -> Self {
        let names = Names::new(parameters.iter().map(|p| p.name.text.as_str()), body);
        Self { names, around, sink, loops: 0, sealed: false, bound: Recent::default() }
    }

    /// Compiles the body; its region is the next one.
    pub(super) fn compile(mut self, regions: &mut Regions, block: &'t Block) {
        self.block(regions, block);
    }

    /// A block becomes a region of its own, whose number it gives.
    fn block(&mut self, regions: &mut Regions, block: &'t Block) -> u32 {
        let mut place = Place::new(regions.open(), block);
        for statement in block {
            self.statement(regions, &mut place, statement);
        }
        place.region as u32
    }

    fn statement(&mut self, regions: &mut Regions, place: &mut Place, statement: &'t Statement) {
        match &statement.kind {
            StatementKind::Assign { targets, value: Value::Expr(value) } => {
                let value = self.expr(value, None);
                let to = self.assign(targets);
                if let Some(value) = value {
                    place.line(regions, Line::Let { to, value });
                }
            }
            StatementKind::Assign { targets, value: Value::Work(work) } => {
                let called = if let [one] = targets.as_slice() { Some(one.text.as_str()) } else { None };
                let node = self.work(regions, place, work, called);
                let to = self.assign(targets);
                self.start(regions, place, node, to);
            }
            StatementKind::Do(work) => {
                let node = self.work(regions, place, work, None);
                self.start(regions, place, node, Vec::new());
            }
            StatementKind::Return(Some(Value::Work(work))) => {
                let node = self.work(regions, place, work, None);
                let result = self.names.hidden();
                self.start(regions, place, node, vec![result]);
                let value = variable(result);
                place.line(regions, Line::Return(value));
            }
            StatementKind::Return(value) => {
                let value = match value {
                    Some(Value::Expr(value)) => self.expr(value, None),
                    _ => Some(expr::Expr::literal(serde_json::Value::Null)),
                };
                place.lines(regions, value.map(Line::Return));
            }
            StatementKind::Raise { kind, message } => {
                let message = match message {
                    Some(message) => self.expr(message, None),
                    None => Some(expr::Expr::literal("".into())),
                };
                let kind = kind.text.clone();
                place.lines(regions, message.map(|message| Line::Raise { kind, message }));
            }
            StatementKind::Reraise => place.line(regions, Line::RaiseAgain),
            StatementKind::Break => place.line(regions, Line::Break),
            StatementKind::Continue => place.line(regions, Line::Continue),
            StatementKind::Pass => {}
            other => self.composite(regions, place, other),
        }
    }

    /// Statements that are nodes without being calls.
    fn composite(&mut self, regions: &mut Regions, place: &mut Place, kind: &'t StatementKind) {
        let node = match kind {
            StatementKind::Sleep(Sleep::For(span)) => place.node(regions, "sleep", sleep(*span)),
            StatementKind::Sleep(Sleep::Value(span)) => {
                let Some(span) = self.expr(span, None) else { return };
                place.node(regions, "sleep", plan::Work::Sleep(span))
            }
            StatementKind::If { arms, otherwise } => self.branch(regions, place, arms, otherwise.as_ref()),
            StatementKind::For { item, list, body } => {
                let Some(items) = self.expr(list, None) else {
                    // What is wrong inside should be said as well.
                    self.names.assign(item);
                    self.loop_body(&mut Regions::default(), body);
                    return;
                };
                let to = vec![self.names.assign(item)];
                let node = place.reserve(regions, "for");
                let region = self.loop_body(regions, body);
                place.fill(regions, node, plan::Work::For(plan::For { items, to, region }))
            }
            StatementKind::While { condition, body } => {
                self.loops += 1;
                let when = self.expr(condition, None);
                self.loops -= 1;
                let node = place.reserve(regions, "while");
                let region = self.loop_body(regions, body);
                let when = when.unwrap_or_else(|| expr::Expr::literal(false.into()));
                place.fill(regions, node, plan::Work::While(plan::While { when, region }))
            }
            StatementKind::Try { body, handlers } => self.tried(regions, place, body, handlers),
            _ => return,
        };
        self.start(regions, place, Some(node), Vec::new());
    }

    fn loop_body(&mut self, regions: &mut Regions, body: &'t Block) -> u32 {
        self.loops += 1;
        let region = self.block(regions, body);
        self.loops -= 1;
        region
    }

    fn branch(
        &mut self,
        regions: &mut Regions,
        place: &mut Place,
        arms: &'t [(Expr, Block)],
        otherwise: Option<&'t Block>,
    ) -> u32 {
        let node = place.reserve(regions, "if");
        let mut found = Vec::new();
        for (condition, block) in arms {
            let when = self.expr(condition, None);
            let region = self.block(regions, block);
            found.push(plan::Arm { when, region });
        }
        if let Some(block) = otherwise {
            found.push(plan::Arm { when: None, region: self.block(regions, block) });
        }
        place.fill(regions, node, plan::Work::Branch(plan::Branch { arms: found }))
    }

    fn tried(&mut self, regions: &mut Regions, place: &mut Place, body: &'t Block, handlers: &'t [Handler]) -> u32 {
        let node = place.reserve(regions, "try");
        let body = self.block(regions, body);
        let mut found = Vec::new();
        for handler in handlers {
            let to = handler.name.as_ref().map(|name| self.names.assign(name));
            let kinds = handler.types.iter().map(|kind| kind.text.clone()).collect();
            let region = self.block(regions, &handler.body);
            found.push(plan::Handler { kinds, to, region });
        }
        place.fill(regions, node, plan::Work::Try(plan::Try { body, handlers: found }))
    }

    /// Work becomes a node; `called` is what its result is called.
    fn work(&mut self, regions: &mut Regions, place: &mut Place, work: &'t Work, called: Option<&str>) -> Option<u32> {
        match work {
            Work::Call(call) => self.call(regions, place, call, called, None),
            Work::Spread(spread) => {
                let items = self.expr(&spread.list, None);
                let node = place.reserve(regions, called.unwrap_or("spread"));
                let region = self.alone(regions, &spread.call, Some(&spread.item));
                let (tolerate, fail_fast) = (spread.gather.tolerate, spread.gather.fail_fast);
                let items = Items::Expr(items?);
                let work = plan::Spread { region, items, tolerate, fail_fast };
                Some(place.fill(regions, node, plan::Work::Spread(work)))
            }
            Work::Parallel(parallel) => {
                let node = place.reserve(regions, called.unwrap_or("parallel"));
                let arms = parallel.calls.iter().map(|call| self.alone(regions, call, None)).collect();
                let (tolerate, fail_fast) = (parallel.gather.tolerate, parallel.gather.fail_fast);
                let work = plan::Parallel { arms, tolerate, fail_fast };
                Some(place.fill(regions, node, plan::Work::Parallel(work)))
            }
            Work::Wait(wait) => self.wait(regions, place, wait, called),
        }
    }

    fn wait(
        &mut self,
        regions: &mut Regions,
        place: &mut Place,
        wait: &'t Waiting,
        called: Option<&str>,
    ) -> Option<u32> {
        let mut gate = wait.gate.clone();
        let name = match &mut gate.wait {
            Wait::After(_) | Wait::Until(_) => "wait",
            Wait::Approval { .. } => "approval",
            Wait::Webhook => "webhook",
            Wait::External { id, .. } => {
                *id = given_as(self.expr(wait.id.as_ref()?, None)?);
                "external"
            }
            Wait::Shared { gate } => {
                *gate = given_as(self.expr(wait.id.as_ref()?, None)?);
                "shared"
            }
        };
        Some(place.node(regions, called.unwrap_or(name), plan::Work::Gate(gate)))
    }

    /// A call that is a region by itself, beside others.
    fn alone(&mut self, regions: &mut Regions, call: &'t Call, item: Option<&'t Word>) -> u32 {
        let mut place = Place::new(regions.open(), &[]);
        let node = self.call(regions, &mut place, call, None, item);
        self.start(regions, &mut place, node, Vec::new());
        place.region as u32
    }

    fn call(
        &mut self,
        regions: &mut Regions,
        place: &mut Place,
        call: &'t Call,
        called: Option<&str>,
        item: Option<&'t Word>,
    ) -> Option<u32> {
        match call {
            Call::Action(call) => self.action(regions, place, call, called, item),
            Call::Function(call) => self.function(regions, place, call, item),
            Call::Flow(call) => self.sub_run(regions, place, call, called, item),
        }
    }

    fn action(
        &mut self,
        regions: &mut Regions,
        place: &mut Place,
        call: &'t ActionCall,
        called: Option<&str>,
        item: Option<&'t Word>,
    ) -> Option<u32> {
        let values = self.arguments(call, item, true)?;
        let work = match call.name.as_str() {
            command::NAME => plan::Work::Command(command::command(call, values, self.sink)?),
            http::NAME => plan::Work::Http(http::http(call, values, self.sink)?),
            emit::NAME => plan::Work::Emit(emit::emit(call, values, self.sink)?),
            item::NAME => plan::Work::Item(item::item(call, values, self.sink)?),
            _ => {
                let keys = call.arguments.iter().map(|(key, _)| key.text.clone());
                let with = keys.zip(values.into_iter().map(given_as)).collect();
                plan::Work::Action { action: call.name.clone(), with: Template::Map(with) }
            }
        };
        let told = self.told(call, &work)?;
        let own = matches!(work, plan::Work::Item(_)).then(|| Defaults::of_sub_run(&call.policies));
        let name = called.map_or_else(|| name_of_action(call), str::to_owned);
        let node = place.node(regions, &name, work);
        if let (Some((retry, timeouts)), Some(spec)) = (own, regions.specs.last_mut()) {
            (spec.retry, spec.timeouts, spec.publish) = (retry, timeouts, told);
            return Some(node);
        }
        let (retry, timeouts, mut share) = self.around.defaults.under(&call.policies);
        let limit = &call.policies.limit;
        if let Some(key) = &limit.key {
            let key = self.expr(key, item)?;
            share.limit = Some(plan::Limit { key, max: limit.max, rate: limit.rate });
        }
        if let Some(spec) = regions.specs.last_mut() {
            (spec.retry, spec.timeouts, spec.share, spec.publish) = (retry, timeouts, share, told);
        }
        Some(node)
    }

    /// What the outside world is told when the task of a call ends.
    fn told(&mut self, call: &'t ActionCall, work: &plan::Work) -> Option<Vec<plan::Publish>> {
        let Some(given) = &call.policies.publish else { return Some(Vec::new()) };
        let told = publish::publish(given, false, self.sink)?;
        match work {
            plan::Work::Emit(emit) if told.iter().any(|one| one.name == emit.name) => {
                let message = format!("the domain event `{}` is emitted and published by one task", emit.name);
                error(self.sink, given.at, "duplicate_name", message).help(Some("`@emit` alone tells it".into()));
                None
            }
            _ => Some(told),
        }
    }

    /// The values of a call's arguments, in their order; those of an action may be secret.
    fn arguments(&mut self, call: &'t ActionCall, item: Option<&'t Word>, action: bool) -> Option<Vec<expr::Expr>> {
        let mut values: Vec<Option<expr::Expr>> = Vec::with_capacity(call.arguments.len());
        for (name, value) in &call.arguments {
            self.sealed = action && secrets::may_stand(call.name.as_str(), &name.text);
            values.push(self.expr(value, item));
        }
        self.sealed = false;
        values.into_iter().collect()
    }

    /// A run of another flow. What it is given is held beside what that flow declares.
    fn sub_run(
        &mut self,
        regions: &mut Regions,
        place: &mut Place,
        call: &'t ActionCall,
        called: Option<&str>,
        item: Option<&'t Word>,
    ) -> Option<u32> {
        let values = self.arguments(call, item, false)?;
        let child = self.around.children.get(call.name.as_str())?.as_ref()?;
        let given = call.arguments.iter().zip(&values).map(|((key, _), value)| (key.text.as_str(), value.as_literal()));
        for misfit in child.misfits(given) {
            let at = misfit.at.map_or(call.at, |at| call.arguments[at].0.at);
            error(self.sink, at, misfit.fault.code, misfit.fault.message).help(misfit.fault.help);
        }
        let with = call.arguments.iter().zip(values).map(|((key, _), value)| (key.text.clone(), given_as(value)));
        let with = Template::Map(with.collect());
        let work = plan::Work::SubRun(plan::SubRun { flow: call.name.clone(), plan: child.hash, with });
        let name = called.map_or_else(|| name_of_flow(call), str::to_owned);
        let told = self.told(call, &work)?;
        let node = place.node(regions, &name, work);
        if let Some(spec) = regions.specs.last_mut() {
            (spec.retry, spec.timeouts) = Defaults::of_sub_run(&call.policies);
            spec.publish = told;
        }
        Some(node)
    }

    fn function(
        &mut self,
        regions: &mut Regions,
        place: &mut Place,
        call: &'t FunctionCall,
        item: Option<&'t Word>,
    ) -> Option<u32> {
        let functions = self.around.functions;
        let function = functions.by_name.get(call.name.text.as_str())?;
        let left = function.parameters.len().saturating_sub(call.positional.len() + call.named.len());
        if functions.copies(left) {
            let most = limits::COPIED_STATEMENTS;
            let message = format!("the defaults of functions are used more than {most} times up to here");
            error(self.sink, call.name.at, "too_large", message)
                .help(Some("give a map as one argument, or split the file".into()));
            return None;
        }
        let parameters = Names::of(function.parameters.iter().map(|p| p.name.text.as_str()));
        let mut args = Vec::new();
        let mut whole = true;
        for (parameter, value) in call.bound(function) {
            let value = value.and_then(|value| {
                // A default is read where the function stands: it sees nothing of the caller.
                let own = parameter.default.as_ref().is_some_and(|default| std::ptr::eq(default, value));
                if own {
                    known_beforehand(value, "give it at the call instead", self.sink)
                } else {
                    self.expr(value, item)
                }
            });
            match (value, parameters.find(&parameter.name.text)) {
                (Some(value), Some((var, _))) => args.push((var, value)),
                _ => whole = false,
            }
        }
        let name = Name::parse(&call.name.text).ok()?;
        // Where its region is will be known when all of the flow is laid out.
        let work = plan::Work::Call(plan::Call { function: name, region: u32::MAX, args });
        whole.then(|| place.node(regions, &call.name.text, work))
    }

    fn start(&mut self, regions: &mut Regions, place: &mut Place, node: Option<u32>, to: Vec<Var>) {
        place.lines(regions, node.map(|node| Line::Do { node, to }));
    }

    fn assign(&mut self, targets: &'t [Word]) -> Vec<Var> {
        targets.iter().map(|target| self.names.assign(target)).collect()
    }

    /// Binds the names of an expression; `item` is the name of a spread's item.
    fn expr(&mut self, expr: &'t Expr, item: Option<&Word>) -> Option<expr::Expr> {
        // What names a secret must not be found again where none may be named.
        let secret = self.sealed && self.around.secrets.is_none_or(|secrets| !secrets.is_empty());
        if item.is_some() || secret {
            return self.bind(expr, item);
        }
        let (ast, mark) = (&expr.ast, expr.ast.mark());
        if let Some((_, known)) = self.bound.get(mark, |(of, _)| of.is_same(ast)) {
            return Some(known.clone());
        }
        let made = self.bind(expr, None)?;
        self.bound.put(mark, (ast.clone(), made.clone()));
        Some(made)
    }

    fn bind(&mut self, expr: &'t Expr, item: Option<&Word>) -> Option<expr::Expr> {
        let (names, in_loop) = (&self.names, self.loops > 0);
        let (sealed, known) = (self.sealed, self.around.secrets);
        let sink = &mut *self.sink;
        let bound = expr.ast.clone().bind(&mut |path, span| {
            let name = path[0];
            if item.is_some_and(|item| item.text == name) {
                return Ok((1, Root::Item { up: 0 }));
            }
            match names.find(name) {
                Some((var, known)) if known || in_loop => Ok((1, Root::Var(var))),
                Some(_) => {
                    let message = format!("`{name}` is used before it is assigned");
                    Err(Fault::new(span, "unassigned", message).help("move its assignment up"))
                }
                None if name == secrets::ROOT => secrets::named((path, span), sealed, known, sink),
                // Counted where all faults of the expression are said.
                None if sink.is_full() => Err(Fault::new(span, "unknown_name", "")),
                None => {
                    let help = sink.meant(name, names.all());
                    let help = help.unwrap_or_else(|| format!("assign it first: `{name} = …`"));
                    Err(Fault::new(span, "unknown_name", format!("nothing is called `{name}` here")).help(help))
                }
            }
        });
        let bound = bound.map_err(|faults| say_all(self.sink, expr.at, faults)).ok();
        bound.filter(|bound| !sealed || secrets::handed_over(bound, expr.at, self.sink))
    }
}

pub(super) fn sleep(span: Millis) -> plan::Work {
    plan::Work::Gate(Gate::new(Wait::After(span)))
}

/// What a worker is given under one name.
pub(super) fn given_as(value: expr::Expr) -> Template {
    match value.as_literal() {
        Some(literal) => Template::Value(literal.clone()),
        None => Template::Expr(value),
    }
}

/// The expression that is just a variable.
fn variable(var: Var) -> expr::Expr {
    let parsed = expr::parse("result", Hyphens::Refused).and_then(|ast| ast.bind(&mut |_, _| Ok((1, Root::Var(var)))));
    parsed.unwrap_or_else(|_| expr::Expr::literal(serde_json::Value::Null))
}
