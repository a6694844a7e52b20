//! The tree of a program: what its author wrote, with the place of everything in the text.
//!
//! Whatever can be known without a plan is already decided here: names are valid, durations are read, gates are
//! gates, policies are keyed. Expressions are parsed. What is left to the compiler is what the names mean.

use crate::expr::Ast;
use crate::gate::Gate;
use crate::input::InputType;
use crate::name::Name;
use crate::plan::{Identity, Timeouts};
use crate::rate::Rate;
use crate::retry::{Backoff, Retry};
use crate::time::Millis;
use std::ops::Deref;
use std::sync::LazyLock;

/// A place in the text, in bytes; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Extent {
    /// The first byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
}

impl Extent {
    /// The same as a range, to slice the text with.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A name as the author wrote it: of a variable, a parameter, a function, an argument or an error type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub at: Extent,
}

/// A whole file. Flows and functions are each in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// What can be run.
    pub flows: Vec<Flow>,
    /// What flows and functions call.
    pub functions: Vec<Function>,
}

/// `flow NAME(…) [policies]:`.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// What it is called.
    pub name: Name,
    /// Where the name stands.
    pub at: Extent,
    /// What a run must be given.
    pub parameters: Vec<Parameter>,
    /// What holds for every action of the flow that says nothing else.
    pub defaults: Policies,
    /// How its runs are told apart and found.
    pub naming: Naming,
    /// What it does.
    pub body: Block,
}

/// `[namespace: data, identity: strict, labels: {"team": "core"}, secrets: ["TOKEN"]]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Naming {
    /// Where its runs belong.
    pub namespace: Option<Name>,
    /// When two starts are the same run.
    pub identity: Identity,
    /// What its runs are labelled with: a map of texts.
    pub labels: Option<Expr>,
    /// What its actions are given without anybody seeing it: a list of names.
    pub secrets: Option<Expr>,
}

/// `fn NAME(…):`.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// What it is called.
    pub name: Word,
    /// What a call gives it. They have no types.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Block,
}

/// A parameter of a flow or a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// What it is called.
    pub name: Word,
    /// What it may hold.
    pub kind: InputType,
    /// What a text must fit.
    pub pattern: Option<Expr>,
    /// What it is if nobody gives it.
    pub default: Option<Expr>,
}

/// Statements one after another.
pub type Block = Vec<Statement>;

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The first of its lines, without what is indented below it.
    pub at: Extent,
    /// What it says.
    pub kind: StatementKind,
}

/// What a statement says.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// `a = …` or `a, b = …`: several names take the items of a list.
    Assign {
        /// The names, at least one.
        targets: Vec<Word>,
        /// What they become.
        value: Value,
    },
    /// Work whose result is not kept.
    Do(Work),
    /// `if`, `elif` and `else`.
    If {
        /// Conditions with what is done if they hold, in order.
        arms: Vec<(Expr, Block)>,
        /// What is done if none holds.
        otherwise: Option<Block>,
    },
    /// `for item in list:`.
    For {
        /// The name of one item.
        item: Word,
        /// What is gone through.
        list: Expr,
        /// What is done with each.
        body: Block,
    },
    /// `while condition:`.
    While {
        /// What is asked before each iteration.
        condition: Expr,
        /// What is done.
        body: Block,
    },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `try:` and its handlers, at least one.
    Try {
        /// What may fail.
        body: Block,
        /// The first that matches is done.
        handlers: Vec<Handler>,
    },
    /// `raise Type("message")`.
    Raise {
        /// The type of the error.
        kind: Word,
        /// What it says.
        message: Option<Expr>,
    },
    /// `raise` alone, within a handler: the error that is being handled.
    Reraise,
    /// `return`, with a value or without.
    Return(Option<Value>),
    /// `sleep`.
    Sleep(Sleep),
    /// `pass`.
    Pass,
}

/// `except A, B as e:`.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    /// Its line.
    pub at: Extent,
    /// The types it handles; all of them if empty.
    pub types: Vec<Word>,
    /// What the error is called within it.
    pub name: Option<Word>,
    /// What is done.
    pub body: Block,
}

/// How long to sleep.
#[derive(Debug, Clone, PartialEq)]
pub enum Sleep {
    /// A duration in the text.
    For(Millis),
    /// Seconds, or a duration as a text, known when it is reached.
    Value(Expr),
}

/// What stands on the right of an assignment, or is returned.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Something that is computed.
    Expr(Expr),
    /// Something that is done.
    Work(Work),
}

/// What is done by somebody, or by other statements.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// One call.
    Call(Call),
    /// One call for each item of a list.
    Spread(Box<Spread>),
    /// Several calls at once.
    Parallel(Parallel),
    /// `wait`: the world does it.
    Wait(Box<Waiting>),
}

/// A gate that a program stops at.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// The gate, without what is computed.
    pub gate: Gate,
    /// What an external gate waits for is called so in the other system.
    pub id: Option<Expr>,
}

impl Waiting {
    /// A gate of which nothing is computed.
    pub(super) fn plain(gate: Gate) -> Self {
        Self { gate, id: None }
    }
}

/// `spread list:item -> call`.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// What is gone through.
    pub list: Expr,
    /// The name of one item.
    pub item: Word,
    /// What is done with each.
    pub call: Call,
    /// How failures of items are taken.
    pub gather: Gather,
}

/// `parallel:`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parallel {
    /// What is done at once, in the order of the results.
    pub calls: Vec<Call>,
    /// How failures of calls are taken.
    pub gather: Gather,
}

/// How failures of things done at once are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gather {
    /// How many may fail.
    pub tolerate: u32,
    /// Whether a failure too many cancels the rest.
    pub fail_fast: bool,
}

/// A call of an action or a function, or the start of a flow.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// `@name(key=…)`.
    Action(Box<ActionCall>),
    /// `name(…)`.
    Function(FunctionCall),
    /// `flow name(key=…)`: a run of its own.
    Flow(Box<ActionCall>),
}

/// `@name(key=…) [policies]`, or the same of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionCall {
    /// What workers offer it as, or the flow's name.
    pub name: Name,
    /// Where the name stands.
    pub at: Extent,
    /// What it is given, each name once.
    pub arguments: Vec<(Word, Expr)>,
    /// What the brackets say.
    pub policies: Bracketed,
}

/// Policies of a call, behind a pointer and only where they say something: most calls have none, and a large file has
/// many calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bracketed(Option<Box<Policies>>);

impl From<Policies> for Bracketed {
    fn from(policies: Policies) -> Self {
        Self((policies != Policies::default()).then(|| Box::new(policies)))
    }
}

impl Deref for Bracketed {
    type Target = Policies;

    fn deref(&self) -> &Policies {
        static NONE: LazyLock<Policies> = LazyLock::new(Policies::default);
        self.0.as_deref().unwrap_or(&NONE)
    }
}

/// `name(…)`, of a function of the same file.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// Which function.
    pub name: Word,
    /// Given by place.
    pub positional: Vec<Expr>,
    /// Given by name, each once.
    pub named: Vec<(Word, Expr)>,
}

impl FunctionCall {
    /// What each parameter of the function is given, in their order: by place, by name, or its default. `None`
    /// for a parameter that nobody gives anything, which the check refuses.
    pub fn bound<'t>(&'t self, function: &'t Function) -> impl Iterator<Item = (&'t Parameter, Option<&'t Expr>)> {
        function.parameters.iter().enumerate().map(|(n, parameter)| {
            let named = || self.named.iter().find(|(name, _)| name.text == parameter.name.text).map(|(_, value)| value);
            (parameter, self.positional.get(n).or_else(named).or(parameter.default.as_ref()))
        })
    }
}

/// What the brackets behind an action call say; what they do not say is left to the flow's defaults.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Policies {
    /// For every failure.
    pub retry: Retrying,
    /// For failures of some types, in order; the first that matches holds.
    pub typed: Vec<Typed>,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Where it waits for a worker.
    pub queue: Option<Name>,
    /// Higher goes first.
    pub priority: Option<i16>,
    /// What it must not do too much of at once.
    pub limit: Limiting,
    /// What the outside world is told when it ends; behind a flow, when the run does.
    pub publish: Option<Expr>,
}

impl Policies {
    /// A policy that speaks of how a worker is given something, if there is one.
    pub(super) fn for_workers(&self) -> Option<&'static str> {
        let given = [
            (self.timeouts.queue.is_some(), "queue_timeout"),
            (self.timeouts.heartbeat.is_some(), "heartbeat"),
            (self.queue.is_some(), "queue"),
            (self.priority.is_some(), "priority"),
            (self.limit.at.is_some(), "limit"),
        ];
        given.into_iter().find_map(|(is_given, key)| is_given.then_some(key))
    }
}

/// The keys about limits that were given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limiting {
    /// What is shared.
    pub key: Option<Expr>,
    /// Most at once.
    pub max: Option<u32>,
    /// How often.
    pub rate: Option<Rate>,
    /// Where the last of them stands.
    pub at: Option<Extent>,
}

/// `[Type -> retry: …]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed {
    /// The types of failures, at least one.
    pub types: Vec<Word>,
    /// How they are retried.
    pub retry: Retrying,
}

/// The keys about retries that were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retrying {
    /// All attempts, the first included.
    pub max_attempts: Option<u16>,
    /// The first wait.
    pub base: Option<Millis>,
    /// How the wait grows.
    pub kind: Option<Backoff>,
    /// What an exponential wait is multiplied by, in thousandths.
    pub factor_milli: Option<u32>,
    /// The longest wait.
    pub cap: Option<Millis>,
    /// The share of a wait that is left to chance, in percent.
    pub jitter_percent: Option<u8>,
}

impl Retrying {
    /// These keys laid over a policy. A first wait over the longest one lifts it: the author named the first.
    pub fn over(&self, base: &Retry) -> Retry {
        let first = self.base.unwrap_or(base.base);
        Retry {
            max_attempts: self.max_attempts.unwrap_or(base.max_attempts),
            kind: self.kind.unwrap_or(base.kind),
            base: first,
            factor_milli: self.factor_milli.unwrap_or(base.factor_milli),
            cap: self.cap.unwrap_or(base.cap.max(first)),
            jitter_percent: self.jitter_percent.unwrap_or(base.jitter_percent),
            ..base.clone()
        }
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Where it stands; places within the tree count from its start.
    pub at: Extent,
    /// What it says; its names mean nothing yet.
    pub ast: Ast,
}
