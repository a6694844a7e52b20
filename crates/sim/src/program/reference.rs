//! The reference: what a program means, as an ordinary interpreter would have it.
//!
//! It walks the tree that was parsed, with one environment that is changed in place for each call, and knows nothing of plans,
//! scopes, events or rows. What is done at once is done here one after the other: first as much of every arm as
//! needs nobody, as an engine would, then each arm to its end. Only expressions are evaluated by the core.

mod value;

use super::stub::{Effect, answer};
use edgewise_core::event::Failure;
use edgewise_core::limits;
use edgewise_core::text::tree::{
    ActionCall, Block, Call, Function, FunctionCall, Gather, Handler, Policies, Program, Retrying, Sleep, Statement,
    StatementKind, Work,
};
use edgewise_core::text::tree::{Parallel, Spread, Value as Right, Word};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use value::{bounded, eval, holds, items, kind, slept};

/// What a program came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The value it returned, or what it failed with.
    pub end: Result<Value, Failure>,
    /// What it did to the world, in order.
    pub effects: Vec<Effect>,
}

/// Statements a grown program may run before it is said not to end; asking somebody counts for ten of them.
pub const STEPS: u32 = 4_000;

type Env = BTreeMap<String, Value>;

/// How statements end that are not just over.
enum Exit {
    Return(Value),
    Break,
    Continue,
    Fail(Box<Failure>),
    /// Somebody would have to be asked, and only what needs nobody was wanted.
    Asks,
    /// It does not end, or makes more than anybody can hold.
    Endless,
}

type Ran<T> = Result<T, Exit>;

fn fail<T>(failure: Failure) -> Ran<T> {
    Err(Exit::Fail(Box::new(failure)))
}

fn mismatch<T>(message: String) -> Ran<T> {
    fail(Failure { is: vec!["EvalError".into()], ..Failure::permanent("TypeMismatch", message) })
}

/// Interprets the first flow of a program, with the defaults of its parameters. `None` if it does not end in so
/// many statements.
pub fn interpret(program: &Program, steps: u32) -> Option<Told> {
    let flow = &program.flows[0];
    let functions = program.functions.iter().map(|f| (f.name.text.as_str(), f)).collect();
    let mut machine =
        Machine { functions, defaults: &flow.defaults, effects: Vec::new(), steps, dry: 0, caught: Vec::new() };
    let mut env = Env::new();
    let begun = flow.parameters.iter().try_for_each(|parameter| {
        let value = parameter.default.as_ref().map_or(Ok(Value::Null), |default| eval(default, &Env::new()))?;
        env.insert(parameter.name.text.clone(), value);
        Ok(())
    });
    let end = match begun.and_then(|()| machine.block(&flow.body, &mut env)) {
        Ok(()) => Ok(Value::Null),
        Err(Exit::Return(value)) => Ok(value),
        Err(Exit::Fail(failure)) => Err(*failure),
        Err(_) => return None,
    };
    Some(Told { end, effects: machine.effects })
}

struct Machine<'p> {
    functions: BTreeMap<&'p str, &'p Function>,
    defaults: &'p Policies,
    effects: Vec<Effect>,
    steps: u32,
    /// Over 0 while only what needs nobody is wanted.
    dry: u32,
    /// What the handlers around the statement deal with.
    caught: Vec<Failure>,
}

impl<'p> Machine<'p> {
    fn block(&mut self, block: &'p Block, env: &mut Env) -> Ran<()> {
        block.iter().try_for_each(|statement| self.statement(statement, env))
    }

    fn statement(&mut self, statement: &'p Statement, env: &mut Env) -> Ran<()> {
        self.steps = self.steps.checked_sub(1).ok_or(Exit::Endless)?;
        match &statement.kind {
            StatementKind::Assign { targets, value } => {
                let value = self.right(value, env)?;
                assign(targets, value, env)
            }
            StatementKind::Do(work) => self.work(work, env).map(drop),
            StatementKind::If { arms, otherwise } => {
                for (condition, block) in arms {
                    if holds(condition, env)? {
                        return self.block(block, env);
                    }
                }
                otherwise.as_ref().map_or(Ok(()), |block| self.block(block, env))
            }
            StatementKind::For { item, list, body } => {
                for value in items(list, env)? {
                    env.insert(item.text.clone(), value);
                    if self.round(body, env)? {
                        break;
                    }
                }
                Ok(())
            }
            StatementKind::While { condition, body } => {
                while holds(condition, env)? && !self.round(body, env)? {}
                Ok(())
            }
            StatementKind::Break => Err(Exit::Break),
            StatementKind::Continue => Err(Exit::Continue),
            StatementKind::Try { body, handlers } => self.tried(body, handlers, env),
            StatementKind::Raise { kind, message } => {
                let message = message.as_ref().map_or(Ok(json!("")), |message| eval(message, env))?;
                let message = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
                fail(Failure::permanent(kind.text.clone(), message))
            }
            StatementKind::Reraise => match self.caught.last() {
                Some(failure) => fail(failure.clone()),
                None => unreachable!("the check refuses it"),
            },
            StatementKind::Return(None) => Err(Exit::Return(Value::Null)),
            StatementKind::Return(Some(value)) => Err(Exit::Return(self.right(value, env)?)),
            StatementKind::Sleep(Sleep::For(_)) => self.ask(),
            StatementKind::Sleep(Sleep::Value(span)) => {
                slept(span, &eval(span, env)?)?;
                self.ask()
            }
            StatementKind::Pass => Ok(()),
        }
    }

    /// One iteration; true if the loop is over.
    fn round(&mut self, body: &'p Block, env: &mut Env) -> Ran<bool> {
        self.steps = self.steps.checked_sub(1).ok_or(Exit::Endless)?;
        match self.block(body, env) {
            Ok(()) | Err(Exit::Continue) => Ok(false),
            Err(Exit::Break) => Ok(true),
            Err(exit) => Err(exit),
        }
    }

    fn tried(&mut self, body: &'p Block, handlers: &'p [Handler], env: &mut Env) -> Ran<()> {
        let failure = match self.block(body, env) {
            Err(Exit::Fail(failure)) => failure,
            other => return other,
        };
        let fits =
            |handler: &&Handler| handler.types.is_empty() || handler.types.iter().any(|kind| failure.is_a(&kind.text));
        let Some(handler) = handlers.iter().find(fits) else { return Err(Exit::Fail(failure)) };
        if let Some(name) = &handler.name {
            env.insert(name.text.clone(), seen(&failure));
        }
        self.caught.push(*failure);
        let handled = self.block(&handler.body, env);
        let caught = self.caught.pop();
        match handled {
            Err(Exit::Fail(mut failure)) => {
                if failure.cause.is_none() && caught.as_ref() != Some(&*failure) {
                    failure.cause = caught.map(Box::new);
                }
                Err(Exit::Fail(failure))
            }
            other => other,
        }
    }

    fn right(&mut self, value: &'p Right, env: &mut Env) -> Ran<Value> {
        match value {
            Right::Expr(expr) => eval(expr, env),
            Right::Work(work) => self.work(work, env),
        }
    }

    fn work(&mut self, work: &'p Work, env: &mut Env) -> Ran<Value> {
        match work {
            Work::Call(call) => self.call(call, env),
            Work::Spread(spread) => {
                let Spread { list, item, call, gather } = &**spread;
                let mut arms = Vec::new();
                for value in items(list, env)? {
                    let mut env = env.clone();
                    env.insert(item.text.clone(), value);
                    arms.push((call, env));
                }
                self.at_once(&arms, *gather)
            }
            Work::Parallel(Parallel { calls, gather }) => {
                let arms: Vec<_> = calls.iter().map(|call| (call, env.clone())).collect();
                self.at_once(&arms, *gather)
            }
            Work::Wait(_) => Ok(Value::Null),
        }
    }

    fn at_once(&mut self, arms: &[(&'p Call, Env)], gather: Gather) -> Ran<Value> {
        let mut ended: Vec<Option<Result<Value, Failure>>> = arms.iter().map(|_| None).collect();
        let mut failed = 0;
        for dry in [true, false] {
            for ((call, env), end) in arms.iter().zip(&mut ended) {
                if end.is_some() || (gather.fail_fast && failed > gather.tolerate) {
                    continue;
                }
                self.dry += u32::from(dry);
                let steps = self.steps;
                let ran = self.call(call, &mut env.clone());
                self.dry -= u32::from(dry);
                *end = match ran {
                    Ok(value) => Some(Ok(value)),
                    Err(Exit::Fail(failure)) => Some(Err(*failure)),
                    Err(Exit::Asks) if dry => {
                        self.steps = steps;
                        continue;
                    }
                    Err(exit) => return Err(exit),
                };
                failed += u32::from(matches!(end, Some(Err(_))));
            }
        }
        gathered(&ended, gather)
    }

    fn call(&mut self, call: &'p Call, env: &mut Env) -> Ran<Value> {
        match call {
            // No program that is grown starts a flow.
            Call::Action(call) | Call::Flow(call) => self.action(call, env),
            Call::Function(call) => self.function(call, env),
        }
    }

    fn function(&mut self, call: &'p FunctionCall, env: &Env) -> Ran<Value> {
        let function = self.functions[call.name.text.as_str()];
        let mut own = Env::new();
        for (parameter, value) in call.bound(function) {
            let value = value.map_or(Ok(Value::Null), |value| eval(value, env))?;
            own.insert(parameter.name.text.clone(), value);
        }
        match self.block(&function.body, &mut own) {
            Ok(()) => Ok(Value::Null),
            Err(Exit::Return(value)) => Ok(value),
            Err(exit) => Err(exit),
        }
    }

    fn action(&mut self, call: &'p ActionCall, env: &Env) -> Ran<Value> {
        let mut with = serde_json::Map::new();
        for (name, value) in &call.arguments {
            with.insert(name.text.clone(), eval(value, env)?);
        }
        let with = Value::Object(with);
        for attempt in 1.. {
            self.ask()?;
            self.effects.push(Effect { action: call.name.to_string(), with: with.to_string(), attempt });
            match answer(&call.name, &with, attempt) {
                Ok(value) => return Ok(value),
                Err(failure) if failure.retryable && attempt < self.attempts(&call.policies, &failure) => {}
                Err(failure) => return fail(failure),
            }
        }
        Ok(Value::Null)
    }

    /// How many attempts there are in all, after this failure.
    fn attempts(&self, own: &Policies, failure: &Failure) -> u16 {
        let most = |layers: &[&Retrying]| layers.iter().find_map(|layer| layer.max_attempts).unwrap_or(3);
        let flow = self.defaults;
        let typed = |policies: &'p Policies| {
            policies.typed.iter().find(|rule| rule.types.iter().any(|kind| failure.is_a(&kind.text)))
        };
        let fits = own.typed.iter().find(|rule| rule.types.iter().any(|kind| failure.is_a(&kind.text)));
        match (fits, typed(flow)) {
            (Some(rule), _) => most(&[&rule.retry, &own.retry, &flow.retry]),
            (None, Some(rule)) => most(&[&rule.retry, &flow.retry]),
            (None, None) => most(&[&own.retry, &flow.retry]),
        }
    }

    /// Somebody else is asked, or a clock.
    fn ask(&mut self) -> Ran<()> {
        self.steps = self.steps.checked_sub(10).ok_or(Exit::Endless)?;
        if self.dry > 0 { Err(Exit::Asks) } else { Ok(()) }
    }
}

/// What several arms come to together.
fn gathered(ended: &[Option<Result<Value, Failure>>], gather: Gather) -> Ran<Value> {
    let errors: Vec<&Failure> = ended.iter().filter_map(|end| end.as_ref()?.as_ref().err()).collect();
    if errors.len() <= gather.tolerate as usize {
        let value = |end: &Option<Result<Value, Failure>>| match end {
            Some(Ok(value)) => value.clone(),
            Some(Err(failure)) => json!({ "error": seen(failure) }),
            None => Value::Null,
        };
        return bounded(ended.iter().map(value).collect());
    }
    match errors.as_slice() {
        [only] => fail(Failure { retryable: false, ..(*only).clone() }),
        [first, ..] => {
            let (failed, total) = (errors.len(), ended.len());
            let message = format!("{failed} of {total} items failed; the first: {}: {}", first.kind, first.message);
            let errors = errors.iter().take(limits::SPREAD_ERRORS).map(|f| (*f).clone()).collect();
            fail(Failure { errors, ..Failure::permanent("SpreadFailed", message) })
        }
        [] => Ok(Value::Null),
    }
}

/// A failure as a program sees it.
fn seen(failure: &Failure) -> Value {
    let mut value = json!({ "type": failure.kind, "message": failure.message, "is": failure.is });
    if let Some(cause) = &failure.cause {
        value["cause"] = seen(cause);
    }
    if !failure.errors.is_empty() {
        value["errors"] = failure.errors.iter().map(seen).collect();
    }
    value
}

fn assign(targets: &[Word], value: Value, env: &mut Env) -> Ran<()> {
    if let [one] = targets {
        env.insert(one.text.clone(), value);
        return Ok(());
    }
    match value {
        Value::Array(list) if list.len() == targets.len() => {
            env.extend(targets.iter().map(|target| target.text.clone()).zip(list));
            Ok(())
        }
        other => {
            let found = other.as_array().map_or(kind(&other).to_owned(), |list| format!("a list of {}", list.len()));
            mismatch(format!("{} names need a list of {0} values, this is {found}", targets.len()))
        }
    }
}
