//! Why an evaluation stopped. Words are found only for an error that reaches the top: `exists` may absorb a
//! million of them on the way.

use crate::event::Failure;
use crate::expr::tree::{Id, Kind, Tree};
use crate::limits;
use crate::suggest::shown;

/// The type that all failures of expressions are, besides their own.
pub const EVAL_ERROR: &str = "EvalError";

/// The types of failures that an expression can end with. Each of them is an [`EVAL_ERROR`].
pub const KINDS: [&str; 9] = [
    "BadValue",
    "BudgetExhausted",
    "DivisionByZero",
    "DuplicateKey",
    "IndexOutOfRange",
    "NoSuchKey",
    "NoValue",
    "Overflow",
    "TypeMismatch",
];

/// An error, the node it happened at, and why.
#[derive(Debug)]
pub(super) struct Stop {
    name: &'static str,
    at: Id,
    why: Why,
}

#[derive(Debug)]
pub(super) enum Why {
    NothingMade,
    /// The value of a node has no such key.
    NoKey(Id, Box<str>),
    /// The value of a node is a list with so many items.
    OutOfRange(Id, usize),
    /// The value of a node is something that cannot be entered.
    Is(Id, &'static str),
    NeedsMap(&'static str),
    NeedsFlag(&'static str),
    BadKey(&'static str),
    BadIndex(&'static str),
    Twice,
    Steps,
    Bytes,
    Deep,
    /// Says what the part does or is, after its name.
    Says(Box<str>),
}

impl Stop {
    pub(super) fn new(name: &'static str, at: Id, why: Why) -> Box<Self> {
        Box::new(Self { name, at, why })
    }

    pub(super) fn says(name: &'static str, at: Id, words: impl Into<Box<str>>) -> Box<Self> {
        Self::new(name, at, Why::Says(words.into()))
    }

    /// Whether nothing may absorb it.
    pub(super) fn is_final(&self) -> bool {
        self.name == "BudgetExhausted"
    }

    /// In words, with the part of the text that is to blame. The next attempt would be given the same, so
    /// there is none.
    pub(super) fn failure(&self, text: &str, tree: &Tree) -> Failure {
        let part = |id: Id| shown(tree.node(id).span.of(text));
        let lost = |why: String| format!("{} has no value: {why}", part(reference(tree, self.at)));
        let message = match &self.why {
            Why::NothingMade => lost("nothing made one".into()),
            Why::NoKey(of, key) => lost(format!("{} has no key {}", part(*of), shown(key))),
            Why::OutOfRange(of, len) => lost(format!("{} is a list of {len}, counted from 0", part(*of))),
            Why::Is(of, kind) => lost(format!("{} is {kind}", part(*of))),
            Why::NeedsMap(kind) => format!("`has` asks for the key of a map, but {} is {kind}", part(self.at)),
            Why::NeedsFlag(kind) => format!("{} must be true or false, but it is {kind}", part(self.at)),
            Why::BadKey(kind) => format!("the keys of a map are texts, but {} is {kind}", part(self.at)),
            Why::BadIndex(kind) => format!("the items of a list have whole numbers, but {} is {kind}", part(self.at)),
            Why::Twice => format!("the key {} comes twice in one map", part(self.at)),
            Why::Steps => format!("{} takes more than the {} steps allowed", part(tree.top), limits::EVAL_STEPS),
            Why::Bytes => format!("{} makes more than the {} bytes allowed", part(tree.top), limits::EVAL_BYTES),
            Why::Deep => {
                format!("what {} makes is nested deeper than the {} levels allowed", part(tree.top), limits::DEPTH)
            }
            Why::Says(words) => format!("{} {words}", part(self.at)),
        };
        Failure { is: vec![EVAL_ERROR.into()], ..Failure::permanent(self.name, message) }
    }
}

/// The whole way into a value of which a node is a part.
fn reference(tree: &Tree, mut id: Id) -> Id {
    for (number, node) in tree.nodes.iter().enumerate() {
        let goes_on = match &node.kind {
            Kind::Select(of, _) => *of == id,
            Kind::Index(of, at) => *of == id && matches!(tree.node(*at).kind, Kind::Literal(_)),
            _ => false,
        };
        if goes_on {
            id = number as Id;
        }
    }
    id
}
