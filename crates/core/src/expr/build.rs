//! Expressions made of others, as the named values of a flow are.

use super::bind::graft;
use super::function::Function;
use super::tree::{Kind, Tree};
use super::{Ast, Fault, Hyphens, Span, parser, print};
use crate::limits;
use serde_json::Value;

impl Ast {
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

    /// A map of expressions.
    pub fn map(entries: Vec<(String, Self)>) -> Result<Self, Fault> {
        let parts: Vec<Self> =
            entries.into_iter().flat_map(|(key, value)| [Self::literal(key.into()), value]).collect();
        Self::around(&parts, |ids| Kind::Map(ids.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()))
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
