//! Expressions: what a flow computes without asking a worker. A documented subset of CEL over JSON values.
//!
//! ```text
//! text ──► lexer ──► parser ──► Ast ──► bind ──► Expr ──► eval ──► value or Failure
//!                      ▲                 │
//!                    names            printer: one canonical text
//! ```
//!
//! There is no clock and no chance in an expression, and it is bounded in depth when it is read and in steps
//! and bytes when it is evaluated, so a flow cannot hang or exhaust the process that folds it. The tree is
//! one vector of nodes, children before parents: dropping or cloning it never recurses.

mod bind;
mod build;
mod chars;
mod codec;
mod eval;
mod function;
mod lexer;
mod parser;
mod print;
mod tree;

pub(crate) use bind::Chain;
pub use bind::Found;
pub(crate) use build::Parts;
pub use eval::{EVAL_ERROR, KINDS};
pub(crate) use function::is_reserved;

use crate::template::Root;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use tree::{Kind, Op, Tree};

/// A part of the text of an expression, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Where it starts.
    pub from: u32,
    /// Where it has ended.
    pub to: u32,
}

impl Span {
    /// From here up to there.
    pub fn new(from: usize, to: usize) -> Self {
        Self { from: from as u32, to: to as u32 }
    }

    /// From where this one starts to where the other ends.
    pub fn to(self, last: Self) -> Self {
        Self { from: self.from, to: last.to }
    }

    /// What stands there.
    pub fn of(self, text: &str) -> &str {
        text.get(self.from as usize..self.to as usize).unwrap_or_default()
    }
}

/// What is wrong with an expression, and with which part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The part.
    pub span: Span,
    /// Stable and machine-readable, such as `bad_expression`.
    pub code: &'static str,
    /// What was expected and what was found.
    pub message: String,
    /// What to do next.
    pub help: Option<String>,
}

impl Fault {
    /// A fault without help.
    pub fn new(span: Span, code: &'static str, message: impl Into<String>) -> Self {
        Self { span, code, message: message.into(), help: None }
    }

    /// The same with help.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// Whether names of tasks and inputs may have hyphens in them without brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hyphens {
    /// A hyphen is a minus: `tasks.a-b` subtracts.
    #[default]
    Refused,
    /// Directly after `tasks.` and `inputs.` a hyphen between letters or digits belongs to the name, as in
    /// `tasks.load-rows.output`. With spaces around it, it is a minus there too.
    InNames,
}

/// An expression as it was read: it is well formed, but its names mean nothing yet. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ast {
    tree: Arc<Tree>,
    hyphens: Hyphens,
}

/// Reads an expression; all that is wrong with it is said, up to the first error of form.
pub fn parse(text: &str, hyphens: Hyphens) -> Result<Ast, Vec<Fault>> {
    parser::whole(text, hyphens).map(|tree| Ast::of(tree, hyphens))
}

/// Reads an expression that starts at `from`, up to where nothing more belongs to it, and says where that is.
pub(crate) fn parse_prefix(text: &str, from: usize, hyphens: Hyphens) -> Result<(Ast, usize), Vec<Fault>> {
    parser::prefix(text, from, hyphens).map(|(tree, end)| (Ast::of(tree, hyphens), end))
}

/// The names of what an expression calls, and of what it would know how to refuse.
pub(crate) fn called() -> impl Iterator<Item = &'static str> {
    let known = function::FUNCTIONS.iter().map(|entry| entry.1);
    known.chain(function::LEFT_OUT.iter().map(|(name, _)| *name)).chain(["has"])
}

impl Ast {
    fn of(tree: Tree, hyphens: Hyphens) -> Self {
        Self { tree: Arc::new(tree), hyphens }
    }

    /// Whether both are clones of one: cheaper to find out than whether they are equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tree, &other.tree)
    }

    /// How many parts it has.
    pub(crate) fn parts(&self) -> usize {
        self.tree.nodes.len()
    }

    /// A number that clones of one share, and others seldom.
    pub(crate) fn mark(&self) -> u64 {
        Arc::as_ptr(&self.tree) as u64
    }
}

impl PartialEq for Ast {
    /// Where the parts stand in the text makes no difference.
    fn eq(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}

impl fmt::Display for Ast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&print::print(&self.tree, self.hyphens).0)
    }
}

/// An expression whose names are bound: it can be evaluated and stored. Cheap to clone.
#[derive(Clone)]
pub struct Expr(Arc<Bound>);

struct Bound {
    /// The canonical text; the spans of the tree point into it.
    text: String,
    tree: Tree,
    /// What the free names stand for, as the text writes them.
    roots: Vec<(String, Root)>,
}

impl Expr {
    /// An expression that is just a value.
    pub fn literal(value: Value) -> Self {
        let mut tree = Tree::with_room(1);
        tree.top = tree.push(Kind::Literal(value), Span::default());
        Self::bound(tree, Vec::new())
    }

    /// An expression that is just a root, written as given, and the keys to go into it.
    pub fn root(written: &str, root: Root, keys: &[&str]) -> Self {
        let mut tree = Tree::default();
        tree.top = tree.push(Kind::Root(0), Span::default());
        for key in keys {
            tree.top = tree.push(Kind::Select(tree.top, (*key).into()), Span::default());
        }
        Self::bound(tree, vec![(written.to_owned(), root)])
    }

    fn bound(mut tree: Tree, roots: Vec<(String, Root)>) -> Self {
        let (text, spans) = print::bound(&tree, &roots, Hyphens::InNames);
        for (node, span) in tree.nodes.iter_mut().zip(spans) {
            node.span = span;
        }
        tree.settle();
        Self(Arc::new(Bound { text, tree, roots }))
    }

    /// The canonical text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Calls `see` with every root the expression starts from, each once.
    pub fn roots(&self, see: &mut dyn FnMut(&Root)) {
        self.0.roots.iter().for_each(|(_, root)| see(root));
    }

    /// What its free names stand for, as the text writes them.
    pub fn names(&self) -> impl Iterator<Item = (&str, &Root)> {
        self.0.roots.iter().map(|(name, root)| (name.as_str(), root))
    }

    /// The root, if it is nothing but one.
    pub fn as_root(&self) -> Option<&Root> {
        match &self.0.tree.node(self.0.tree.top).kind {
            Kind::Root(number) => self.0.roots.get(*number as usize).map(|(_, root)| root),
            _ => None,
        }
    }

    /// Whether roots of a sort are handed over as they are wherever they stand: alone, in a list, under a key of a map,
    /// or joined to something with `+`. Nothing else is computed from them.
    pub(crate) fn hands_over(&self, is: &dyn Fn(&Root) -> bool) -> bool {
        let mut holds: Vec<bool> = Vec::with_capacity(self.0.tree.nodes.len());
        for node in &self.0.tree.nodes {
            let mut held = false;
            node.kind.children(&mut |id| held |= holds[id as usize]);
            let good = match &node.kind {
                Kind::List(_) | Kind::Binary(Op::Add, ..) => true,
                Kind::Map(all) => !all.iter().any(|(key, _)| holds[*key as usize]),
                _ => !held,
            };
            if !good {
                return false;
            }
            let own = matches!(&node.kind, Kind::Root(number) if self.0.roots.get(*number as usize).is_some_and(|(_, root)| is(root)));
            holds.push(held || own);
        }
        true
    }

    /// The value, if it is written out.
    pub fn as_literal(&self) -> Option<&Value> {
        match &self.0.tree.node(self.0.tree.top).kind {
            Kind::Literal(value) => Some(value),
            _ => None,
        }
    }
}

impl Eq for Expr {}

impl PartialEq for Expr {
    /// The same text over the same roots is the same expression.
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text && self.0.roots == other.0.roots
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expr").field("text", &self.0.text).field("roots", &self.0.roots).finish()
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.text)
    }
}
