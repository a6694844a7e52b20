//! Expressions made of others, as the named values of a flow are.

use super::bind::graft;
use super::function::Function;
use super::tree::{Kind, Tree};
use super::{Ast, Fault, Hyphens, Span, parser, print};
use crate::limits;
use serde_json::Value;

/// What an expression is put together of.
pub(crate) enum Parts {
    /// An expression.
    One(Ast),
    /// A number, a text or the like, written out.
    Value(Value),
    /// A list.
    List(Vec<Parts>),
    /// A map.
    Map(Vec<(String, Parts)>),
}

impl Parts {
    /// How many nodes and bytes an expression of these parts has.
    fn size(&self) -> (usize, usize) {
        let sum = |(nodes, bytes): (usize, usize), (n, b): (usize, usize)| (nodes + n, bytes + b);
        match self {
            Self::One(ast) => (ast.tree.nodes.len(), ast.tree.bytes()),
            Self::Value(value) => (1, Kind::bytes_of(value)),
            Self::List(list) => list.iter().map(Self::size).fold((1, 8), sum),
            Self::Map(map) => map.iter().map(|(key, part)| sum((1, key.len() + 2), part.size())).fold((1, 8), sum),
        }
    }

    fn put(self, tree: &mut Tree) -> u32 {
        let kind = match self {
            Self::One(ast) => return graft(&ast.tree, None, tree),
            Self::Value(value) => Kind::Literal(value),
            Self::List(list) => Kind::List(list.into_iter().map(|part| part.put(tree)).collect()),
            Self::Map(map) => {
                let entry = |(key, part): (String, Self)| {
                    (tree.push(Kind::Literal(key.into()), Span::default()), part.put(tree))
                };
                Kind::Map(map.into_iter().map(entry).collect())
            }
        };
        tree.push(kind, Span::default())
    }
}

impl Ast {
    /// An expression of these parts.
    pub(crate) fn whole(parts: Parts) -> Result<Self, Fault> {
        let (nodes, bytes) = parts.size();
        room(nodes, bytes, Span::default())?;
        let alone = matches!(parts, Parts::One(_) | Parts::Value(_));
        let mut tree = Tree::with_room(nodes);
        tree.top = parts.put(&mut tree);
        let ast = Self::of(tree, Hyphens::InNames);
        // What is not put together was read as it is.
        if !alone {
            ast.within_limits(Span::default())?;
        }
        Ok(ast)
    }

    /// A value that is written out.
    pub fn literal(value: Value) -> Self {
        let mut tree = Tree::default();
        tree.top = tree.push(Kind::Literal(value), Span::default());
        Self::of(tree, Hyphens::InNames)
    }

    /// A list of expressions.
    pub fn list(items: &[Self]) -> Result<Self, Fault> {
        Self::around(items, |ids| Kind::List(ids.into()))
    }

    /// The text of a value, as a text with a hole prints it.
    pub fn printed(self) -> Result<Self, Fault> {
        Self::around(&[self], |ids| Kind::Call(Function::String, ids.into(), false))
    }

    /// Texts, one after another.
    pub fn joined(texts: &[Self]) -> Result<Self, Fault> {
        Self::around(&[Self::list(texts)?], |ids| Kind::Call(Function::Join, ids.into(), true))
    }

    fn around(parts: &[Self], kind: impl FnOnce(&[u32]) -> Kind) -> Result<Self, Fault> {
        let nodes = parts.iter().map(|part| part.tree.nodes.len()).sum();
        room(nodes, parts.iter().map(|part| part.tree.bytes()).sum(), Span::default())?;
        let mut tree = Tree::default();
        let ids: Vec<u32> = parts.iter().map(|part| graft(&part.tree, None, &mut tree)).collect();
        tree.top = tree.push(kind(&ids), Span::default());
        let ast = Self::of(tree, Hyphens::InNames);
        ast.within_limits(Span::default())?;
        Ok(ast)
    }

    /// What is put together of others must keep the limits of what is read, and be readable when it is loaded.
    pub(super) fn within_limits(&self, span: Span) -> Result<(), Fault> {
        room(self.tree.nodes.len(), self.tree.bytes(), span)?;
        let deepest = limits::EXPR_DEPTH;
        let deep = self.tree.heights().iter().any(|height| *height > deepest);
        if deep || parser::stored(&print::print(&self.tree, Hyphens::InNames).0).is_err() {
            let message =
                format!("with its named values the expression is nested deeper than the {deepest} levels allowed");
            return Err(Fault::new(span, "too_deep", message).help("compute it in a task"));
        }
        Ok(())
    }
}

/// Whether an expression of so many parts and bytes may be made of others; asked before it is.
pub(super) fn room(nodes: usize, bytes: usize, span: Span) -> Result<(), Fault> {
    let (parts, most) = (limits::EXPR_NODES, limits::EXPR_WHOLE_BYTES);
    if nodes <= parts && bytes <= most {
        return Ok(());
    }
    let message =
        format!("with its named values the expression has more than the {parts} parts or {most} bytes allowed");
    Err(Fault::new(span, "too_large", message).help("compute it in a task"))
}
