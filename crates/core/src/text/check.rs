//! Checks that need the whole file but no plan: names, calls, and what can be reached.

mod calls;

use super::tree::{Block, Call, Extent, Function, Program, Statement, StatementKind, Value, Work};
use crate::flow::problem::{Problem, Sink};
use std::collections::BTreeMap;

/// Says what is wrong with a program as a whole.
pub(super) fn check(program: &Program, sink: &mut Sink<'_>) {
    let functions = names(program, sink);
    let mut check = Check { functions, flows: &program.flows, sink, loops: 0, handlers: 0, calls: Vec::new() };
    for flow in &program.flows {
        check.block(&flow.body);
    }
    let mut graph = Vec::new();
    for function in &program.functions {
        check.calls.clear();
        check.block(&function.body);
        graph.push(std::mem::take(&mut check.calls));
    }
    calls::recursion(&program.functions, &graph, sink);
}

/// The functions by name, with their number; a name twice is said to be.
fn names<'t>(program: &'t Program, sink: &mut Sink<'_>) -> BTreeMap<&'t str, (usize, &'t Function)> {
    let mut flows = BTreeMap::new();
    for flow in &program.flows {
        if flows.insert(flow.name.as_str(), flow.at).is_some() {
            error(sink, flow.at, "duplicate_name", format!("the flow `{}` is declared twice", flow.name))
                .help(Some("rename one of the two".into()));
        }
    }
    let mut functions = BTreeMap::new();
    for (number, function) in program.functions.iter().enumerate() {
        let (name, at) = (function.name.text.as_str(), function.name.at);
        if super::expression::is_function(name) {
            error(sink, at, "duplicate_name", format!("expressions have a function `{name}` already"))
                .help(Some("choose another name".into()));
        } else if flows.contains_key(name) {
            error(sink, at, "duplicate_name", format!("`{name}` is a flow and a function"))
                .help(Some("rename one of the two".into()));
        } else if functions.contains_key(name) {
            error(sink, at, "duplicate_name", format!("the function `{name}` is declared twice"))
                .help(Some("rename one of the two".into()));
            continue;
        }
        functions.insert(name, (number, function));
    }
    functions
}

fn error<'s>(sink: &'s mut Sink<'_>, at: Extent, code: &'static str, message: String) -> &'s mut Problem {
    let place = sink.place(at.range());
    sink.error(place, code, message)
}

struct Check<'c, 't, 'k> {
    functions: BTreeMap<&'t str, (usize, &'t Function)>,
    flows: &'t [super::tree::Flow],
    sink: &'c mut Sink<'k>,
    /// How many loops are around the statement.
    loops: usize,
    /// How many handlers are.
    handlers: usize,
    /// The numbers of the functions that were called, with the place of the name.
    calls: Vec<(usize, Extent)>,
}

impl<'t> Check<'_, 't, '_> {
    /// Whether the block never reaches its end.
    fn block(&mut self, block: &'t Block) -> bool {
        let mut ended: Option<&Statement> = None;
        for statement in block {
            if let Some(end) = ended {
                let word = last_word(end);
                let place = self.sink.place(statement.at.range());
                let message = format!("this is never reached: {word} before it ends the block");
                self.sink
                    .warning(place, "unreachable", message)
                    .help(Some("remove it, or what stands before it".into()));
                // What follows is just as unreachable, but still checked.
                for rest in block.iter().skip_while(|s| !std::ptr::eq(*s, statement)) {
                    self.statement(rest);
                }
                return true;
            }
            if self.statement(statement) {
                ended = Some(statement);
            }
        }
        ended.is_some()
    }

    /// Whether what follows the statement is never reached.
    fn statement(&mut self, statement: &'t Statement) -> bool {
        match &statement.kind {
            StatementKind::Break | StatementKind::Continue => {
                if self.loops == 0 {
                    let message = format!("{} stands outside of a loop", last_word(statement));
                    error(self.sink, statement.at, "outside_loop", message)
                        .help(Some("remove it, or use `return` to end the flow".into()));
                }
                true
            }
            StatementKind::Reraise => {
                if self.handlers == 0 {
                    error(self.sink, statement.at, "outside_handler", "there is no error to raise again here".into())
                        .help(Some("name one: `raise Type(\"message\")`".into()));
                }
                true
            }
            StatementKind::Raise { .. } => true,
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.value(value));
                true
            }
            StatementKind::Assign { value, .. } => {
                self.value(value);
                false
            }
            StatementKind::Do(work) => {
                self.work(work);
                false
            }
            StatementKind::Sleep(_) | StatementKind::Pass => false,
            _ => self.composite(statement),
        }
    }

    fn composite(&mut self, statement: &'t Statement) -> bool {
        match &statement.kind {
            StatementKind::If { arms, otherwise } => {
                let arms = arms.iter().fold(true, |ends, (_, block)| self.block(block) && ends);
                otherwise.as_ref().is_some_and(|block| self.block(block)) && arms
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                self.loops += 1;
                self.block(body);
                self.loops -= 1;
                false
            }
            StatementKind::Try { body, handlers } => {
                let mut ends = self.block(body);
                for (n, handler) in handlers.iter().enumerate() {
                    if handler.types.is_empty() && n + 1 < handlers.len() {
                        let message = "`except:` takes every error, so no handler behind it is ever reached".to_owned();
                        error(self.sink, handler.at, "unreachable_handler", message).help(Some("put it last".into()));
                    }
                    self.handlers += 1;
                    ends &= self.block(&handler.body);
                    self.handlers -= 1;
                }
                ends
            }
            _ => false,
        }
    }

    fn value(&mut self, value: &'t Value) {
        if let Value::Work(work) = value {
            self.work(work);
        }
    }

    fn work(&mut self, work: &'t Work) {
        let calls = match work {
            Work::Call(call) => std::slice::from_ref(call),
            Work::Spread(spread) => std::slice::from_ref(&spread.call),
            Work::Parallel(parallel) => &parallel.calls,
            Work::Wait(_) => &[],
        };
        for call in calls {
            if let Call::Function(call) = call {
                self.function_call(call);
            }
        }
    }
}

/// What a statement that ends its block is called in messages.
fn last_word(statement: &Statement) -> &'static str {
    match &statement.kind {
        StatementKind::Break => "`break`",
        StatementKind::Continue => "`continue`",
        StatementKind::Return(_) => "`return`",
        StatementKind::Raise { .. } | StatementKind::Reraise => "`raise`",
        _ => "every way through what stands",
    }
}
