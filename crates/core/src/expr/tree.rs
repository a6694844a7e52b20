//! The tree of an expression: nodes in one vector, children before their parents.

use super::Span;
use super::function::{Function, Macro};
use serde_json::Value;
use std::sync::Arc;

/// The number of a node.
pub(super) type Id = u32;

/// All nodes, and the one at the top.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) top: Id,
}

/// A node, and where it stands in the text.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Literal(Value),
    /// A name that is not bound yet. Shared, because a long expression has few names and many uses of them.
    Name(Arc<str>),
    /// A variable of a macro: how many macros outwards, and what it is called.
    Var(u32, Box<str>),
    /// What a name was bound to, by its number.
    Root(u32),
    /// `x.key` and `x["key"]` are the same.
    Select(Id, Box<str>),
    /// `has(x.key)`.
    Has(Id, Box<str>),
    Index(Id, Id),
    Not(Id),
    Neg(Id),
    Binary(Op, Id, Id),
    /// A row of operands between `&&`.
    And(Box<[Id]>),
    /// A row of operands between `||`.
    Or(Box<[Id]>),
    Cond([Id; 3]),
    List(Box<[Id]>),
    Map(Box<[(Id, Id)]>),
    /// A function of arguments; whether it is written as a method of the first.
    Call(Function, Box<[Id]>, bool),
    Each(Box<Each>),
}

/// A macro with a variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Each {
    pub(super) name: Macro,
    pub(super) over: Id,
    pub(super) var: Box<str>,
    /// The condition of a `map` with three arguments.
    pub(super) filter: Option<Id>,
    pub(super) body: Id,
}

/// An operator between two operands, both of which are always evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Op {
    /// As it is written.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::In => "in",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
        }
    }

    /// How strongly it binds; see [`Kind::level`].
    pub(super) fn level(self) -> u8 {
        match self {
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::In => 3,
            Self::Add | Self::Sub => 4,
            Self::Mul | Self::Div | Self::Rem => 5,
        }
    }
}

impl Kind {
    /// How strongly a node binds: from 0 for `?:` to 7 for what needs no brackets anywhere.
    pub(super) fn level(&self) -> u8 {
        match self {
            Self::Cond(_) => 0,
            Self::Or(_) => 1,
            Self::And(_) => 2,
            Self::Binary(op, ..) => op.level(),
            Self::Not(_) | Self::Neg(_) => 6,
            _ => 7,
        }
    }

    /// About how long the text of a value is.
    pub(super) fn bytes_of(value: &Value) -> usize {
        weight(value)
    }

    /// About how long its own text is.
    fn bytes(&self) -> usize {
        match self {
            Self::Literal(value) => weight(value),
            Self::Name(name) => name.len(),
            Self::Var(_, name) => name.len(),
            Self::Select(_, key) | Self::Has(_, key) => key.len() + 4,
            _ => 8,
        }
    }

    /// Calls `see` with the children, in the order in which they are written.
    pub(super) fn children(&self, see: &mut dyn FnMut(Id)) {
        match self {
            Self::Literal(_) | Self::Name(_) | Self::Var(..) | Self::Root(_) => {}
            Self::Select(of, _) | Self::Has(of, _) | Self::Not(of) | Self::Neg(of) => see(*of),
            Self::Index(a, b) | Self::Binary(_, a, b) => [a, b].into_iter().for_each(|id| see(*id)),
            Self::And(all) | Self::Or(all) | Self::List(all) | Self::Call(_, all, _) => {
                all.iter().for_each(|id| see(*id));
            }
            Self::Cond(all) => all.iter().for_each(|id| see(*id)),
            Self::Map(all) => all.iter().for_each(|(key, value)| [key, value].into_iter().for_each(|id| see(*id))),
            Self::Each(each) => {
                see(each.over);
                each.filter.iter().for_each(|id| see(*id));
                see(each.body);
            }
        }
    }

    /// The same kind of node over other children.
    pub(super) fn renumbered(&self, number: &mut dyn FnMut(Id) -> Id) -> Self {
        let mut kind = self.clone();
        match &mut kind {
            Self::Literal(_) | Self::Name(_) | Self::Var(..) | Self::Root(_) => {}
            Self::Select(of, _) | Self::Has(of, _) | Self::Not(of) | Self::Neg(of) => *of = number(*of),
            Self::Index(a, b) | Self::Binary(_, a, b) => [a, b].into_iter().for_each(|id| *id = number(*id)),
            Self::And(all) | Self::Or(all) | Self::List(all) | Self::Call(_, all, _) => {
                all.iter_mut().for_each(|id| *id = number(*id));
            }
            Self::Cond(all) => all.iter_mut().for_each(|id| *id = number(*id)),
            Self::Map(all) => all.iter_mut().for_each(|(k, v)| [k, v].into_iter().for_each(|id| *id = number(*id))),
            Self::Each(each) => {
                each.over = number(each.over);
                each.filter = each.filter.map(&mut *number);
                each.body = number(each.body);
            }
        }
        kind
    }
}

impl Tree {
    /// An empty tree with room for so many nodes, and no more.
    pub(super) fn with_room(nodes: usize) -> Self {
        Self { nodes: Vec::with_capacity(nodes), top: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, kind: Kind, span: Span) -> Id {
        self.nodes.push(Node { kind, span });
        self.nodes.len() as Id - 1
    }

    #[inline]
    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// About how long the text of the tree is.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.iter().map(|node| node.kind.bytes()).sum()
    }

    /// How high the tree is above each of its nodes, the lowest being 1.
    pub(super) fn heights(&self) -> Vec<u32> {
        let mut heights: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut below = 0;
            node.kind.children(&mut |id| below = below.max(heights[id as usize]));
            heights.push(below + 1);
        }
        heights
    }

    /// Makes lists and maps that are written out into values, so that evaluating them copies nothing.
    pub(super) fn settle(&mut self) {
        for id in 0..self.nodes.len() {
            let value = match &self.nodes[id].kind {
                Kind::List(all) => {
                    all.iter().map(|id| self.literal(*id).cloned()).collect::<Option<Vec<_>>>().map(Value::Array)
                }
                Kind::Map(all) => self.written_map(all),
                _ => None,
            };
            if let Some(value) = value {
                self.nodes[id].kind = Kind::Literal(value);
            }
        }
    }

    fn written_map(&self, all: &[(Id, Id)]) -> Option<Value> {
        let mut map = serde_json::Map::new();
        for (key, value) in all {
            // A key that comes twice is an error, which evaluating it reports.
            if map.insert(self.literal(*key)?.as_str()?.to_owned(), self.literal(*value)?.clone()).is_some() {
                return None;
            }
        }
        Some(Value::Object(map))
    }

    fn literal(&self, id: Id) -> Option<&Value> {
        match &self.node(id).kind {
            Kind::Literal(value) => Some(value),
            _ => None,
        }
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.top == other.top
            && self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(|(a, b)| a.kind == b.kind)
    }
}

fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(list) => list.iter().map(|item| weight(item) + 2).sum::<usize>() + 2,
        Value::Object(map) => map.iter().map(|(key, item)| key.len() + weight(item) + 6).sum::<usize>() + 2,
    }
}
