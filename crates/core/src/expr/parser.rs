//! From tokens to a tree, by the grammar of CEL.
//!
//! Each descent is counted, so no text makes the parser, or anything that walks the tree later, go deeper
//! than the limit. An error of form ends the reading; what is well formed but refused is collected.

mod call;
mod literal;

use super::function::{KEYWORDS, RESERVED};
use super::lexer::{Lexer, Token, sign};
use super::tree::{Id, Kind, Op, Tree};
use super::{Fault, Hyphens, Span};
use crate::limits;
use crate::suggest::shown;
use serde_json::Value;
use std::sync::Arc;

/// Most nodes that there is room for from the start. An expression has no more nodes than bytes.
const ROOM: usize = 64;

/// Errors are boxed, because every level of the descent holds room for one.
type Parsed<T> = Result<T, Box<Fault>>;

pub(super) struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token,
    span: Span,
    /// Where the token before this one has ended.
    before: Span,
    tree: Tree,
    heights: Vec<u32>,
    depth: u32,
    /// The variables of the macros we are in, the innermost last.
    vars: Vec<Box<str>>,
    /// The name that was read last; in a long expression the next one is often the same.
    name: Option<Arc<str>>,
    faults: Vec<Fault>,
    /// How deep it may go.
    deepest: u32,
    /// Whether a stored expression is read, in which a literal may be any JSON integer.
    stored: bool,
}

/// A text that is one expression.
pub(super) fn whole(text: &str, hyphens: Hyphens) -> Result<Tree, Vec<Fault>> {
    Parser::new(Lexer::new(text, 0, hyphens)).read()?.0.ended()
}

/// The text of a stored expression. A value in it may be nested as deep as values may be.
pub(super) fn stored(text: &str) -> Result<Tree, Vec<Fault>> {
    let deepest = limits::EXPR_DEPTH + limits::DEPTH as u32;
    let parser = Parser { deepest, stored: true, ..Parser::new(Lexer::stored(text)) };
    parser.read()?.0.ended()
}

/// An expression at the start of a text, and where it ends.
pub(super) fn prefix(text: &str, from: usize, hyphens: Hyphens) -> Result<(Tree, usize), Vec<Fault>> {
    let (parser, end) = Parser::new(Lexer::new(text, from, hyphens)).read()?;
    parser.done().map(|tree| (tree, end))
}

impl<'t> Parser<'t> {
    fn new(lexer: Lexer<'t>) -> Self {
        let room = lexer.left().clamp(1, ROOM);
        Self {
            token: Token::End,
            span: lexer.here(),
            before: lexer.here(),
            lexer,
            // Most expressions are one node, and there may be a hundred thousand of them.
            tree: Tree::with_room(room),
            heights: Vec::with_capacity(room),
            depth: 0,
            vars: Vec::new(),
            name: None,
            faults: Vec::new(),
            deepest: limits::EXPR_DEPTH,
            stored: false,
        }
    }

    fn read(mut self) -> Result<(Self, usize), Vec<Fault>> {
        match self.advance().and_then(|()| self.expression()) {
            Ok(top) => {
                self.tree.top = top;
                let end = self.span.from as usize;
                Ok((self, end))
            }
            Err(fault) => {
                self.faults.push(*fault);
                Err(self.faults)
            }
        }
    }

    fn ended(mut self) -> Result<Tree, Vec<Fault>> {
        if self.token != Token::End {
            let fault = self.unexpected("an operator or the end");
            self.faults.push(*fault);
        }
        self.done()
    }

    fn done(mut self) -> Result<Tree, Vec<Fault>> {
        if self.tree.nodes.capacity() > 2 * self.tree.nodes.len() {
            self.tree.nodes.shrink_to_fit();
        }
        if self.faults.is_empty() { Ok(self.tree) } else { Err(self.faults) }
    }

    fn advance(&mut self) -> Parsed<()> {
        self.before = self.span;
        (self.token, self.span) = self.lexer.next()?;
        Ok(())
    }

    fn said(&self) -> &'t str {
        self.span.of(self.lexer.text)
    }

    #[inline]
    fn at(&self, text: &'static str) -> bool {
        self.token == Token::Sign(sign(text))
    }

    #[inline]
    fn eat(&mut self, sign: &'static str) -> Parsed<bool> {
        let there = self.at(sign);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn expect(&mut self, sign: &'static str) -> Parsed<()> {
        if self.eat(sign)? { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, expected: &str) -> Box<Fault> {
        let found = match self.token {
            Token::End => "the expression ends".to_owned(),
            _ => format!("there is {}", shown(self.said())),
        };
        Box::new(Fault::new(self.span, "bad_expression", format!("expected {expected}, but {found}")))
    }

    /// Collects something that is well formed but not supported.
    fn refuse(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.faults.push(Fault::new(span, "not_supported", message).help(help));
    }

    fn too_deep(&self, span: Span) -> Box<Fault> {
        let message = format!("the expression is nested deeper than the {} levels allowed", limits::EXPR_DEPTH);
        let fault = Fault::new(Span { to: span.from, ..span }, "too_deep", message)
            .help("name parts of it with `let:`, or compute it in a task");
        Box::new(fault)
    }

    fn push(&mut self, kind: Kind, span: Span) -> Parsed<Id> {
        let height = match &kind {
            Kind::Literal(_) | Kind::Name(_) => 0,
            Kind::Binary(_, a, b) => self.heights[*a as usize].max(self.heights[*b as usize]),
            other => {
                let mut height = 0;
                other.children(&mut |id| height = height.max(self.heights[id as usize]));
                height
            }
        };
        if height >= self.deepest {
            return Err(self.too_deep(span));
        }
        self.heights.push(height + 1);
        Ok(self.tree.push(kind, span))
    }

    fn span_of(&self, id: Id) -> Span {
        self.tree.node(id).span
    }

    /// Goes one level down.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Id>) -> Parsed<Id> {
        if self.depth >= self.deepest {
            return Err(self.too_deep(self.span));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn expression(&mut self) -> Parsed<Id> {
        self.deeper(|p| {
            let condition = p.binary(1)?;
            if !p.eat("?")? {
                return Ok(condition);
            }
            let yes = p.deeper(|p| p.binary(1))?;
            p.expect(":")?;
            let no = p.expression()?;
            let span = p.span_of(condition).to(p.span_of(no));
            p.push(Kind::Cond([condition, yes, no]), span)
        })
    }

    /// The operator at hand and how strongly it binds.
    fn operator(&self) -> Option<(Option<Op>, u8)> {
        let op = match self.token {
            Token::Sign([b'|', b'|']) => return Some((None, 1)),
            Token::Sign([b'&', b'&']) => return Some((None, 2)),
            Token::Ident if self.said() == "in" => Op::In,
            Token::Sign([b'=', b'=']) => Op::Eq,
            Token::Sign([b'!', b'=']) => Op::Ne,
            Token::Sign([b'<', 0]) => Op::Lt,
            Token::Sign([b'<', b'=']) => Op::Le,
            Token::Sign([b'>', 0]) => Op::Gt,
            Token::Sign([b'>', b'=']) => Op::Ge,
            Token::Sign([b'+', 0]) => Op::Add,
            Token::Sign([b'-', 0]) => Op::Sub,
            Token::Sign([b'*', 0]) => Op::Mul,
            Token::Sign([b'/', 0]) => Op::Div,
            Token::Sign([b'%', 0]) => Op::Rem,
            _ => return None,
        };
        Some((Some(op), op.level()))
    }

    /// Operands between operators that bind at least so strongly.
    fn binary(&mut self, least: u8) -> Parsed<Id> {
        let mut left = self.unary()?;
        while let Some((op, level)) = self.operator().filter(|(_, level)| *level >= least) {
            left = match op {
                None => self.row(left, level)?,
                Some(op) => {
                    self.advance()?;
                    let right = self.deeper(|p| p.binary(level + 1))?;
                    let span = self.span_of(left).to(self.span_of(right));
                    self.push(Kind::Binary(op, left, right), span)?
                }
            };
        }
        Ok(left)
    }

    /// All operands of a row of `&&` or of `||`.
    fn row(&mut self, first: Id, level: u8) -> Parsed<Id> {
        let sign = if level == 1 { "||" } else { "&&" };
        let mut row = vec![first];
        while self.eat(sign)? {
            row.push(self.deeper(|p| p.binary(level + 1))?);
        }
        let span = self.span_of(first).to(self.span_of(row[row.len() - 1]));
        let row = row.into_boxed_slice();
        self.push(if level == 1 { Kind::Or(row) } else { Kind::And(row) }, span)
    }

    fn unary(&mut self) -> Parsed<Id> {
        let from = self.span;
        if self.eat("!")? {
            let of = self.deeper(Self::unary)?;
            return self.push(Kind::Not(of), from.to(self.span_of(of)));
        }
        if !self.eat("-")? {
            return self.member(None);
        }
        // The smallest integer has no positive to negate.
        if matches!(self.token, Token::Int | Token::Double) {
            return self.member(Some(from));
        }
        let of = self.deeper(Self::unary)?;
        self.push(Kind::Neg(of), from.to(self.span_of(of)))
    }

    /// What stands for itself, and the ways into it. `minus` is where the sign of a number stands.
    fn member(&mut self, minus: Option<Span>) -> Parsed<Id> {
        let from = minus.unwrap_or(self.span);
        let mut left = self.primary(minus)?;
        loop {
            if self.eat(".")? {
                left = self.dotted(left, from)?;
            } else if self.eat("[")? {
                left = self.index(left, from)?;
            } else if self.at("{") && self.is_name(left) {
                return Err(self.message(left));
            } else {
                return Ok(left);
            }
        }
    }

    /// What follows an opening bracket.
    fn index(&mut self, left: Id, from: Span) -> Parsed<Id> {
        if self.at("?") {
            self.optional()?;
        }
        let at = self.expression()?;
        self.expect("]")?;
        let span = from.to(self.before);
        let kind = match self.key(at) {
            Some(key) => Kind::Select(left, key),
            None => Kind::Index(left, at),
        };
        self.push(kind, span)
    }

    fn optional(&mut self) -> Parsed<()> {
        self.refuse(self.span, "there are no optional values", "write `has(x.key) ? x.key : other`");
        self.advance()
    }

    fn message(&self, left: Id) -> Box<Fault> {
        let span = self.span_of(left);
        let message = format!("there are no messages such as {}", shown(span.of(self.lexer.text)));
        let fault = Fault::new(span, "not_supported", message).help("write a map: `{\"key\": value}`");
        Box::new(fault)
    }

    /// The key that an index in brackets is, if it is written out. Its node was the last, and goes.
    fn key(&mut self, at: Id) -> Option<Box<str>> {
        let Kind::Literal(Value::String(key)) = &self.tree.node(at).kind else { return None };
        let key = key.as_str().into();
        self.pop();
        Some(key)
    }

    /// Takes the last node away.
    fn pop(&mut self) {
        self.tree.nodes.pop();
        self.heights.pop();
    }

    fn is_name(&self, id: Id) -> bool {
        matches!(self.tree.node(id).kind, Kind::Name(_) | Kind::Select(..))
    }

    /// What follows a dot: a key, or a call.
    fn dotted(&mut self, left: Id, from: Span) -> Parsed<Id> {
        if self.at("?") {
            self.optional()?;
        }
        if self.token != Token::Ident {
            return Err(Box::new(
                self.unexpected("a key after the dot")
                    .help("a key that is no name stands in brackets: `x[\"odd key\"]`"),
            ));
        }
        let (name, at) = (self.said(), self.span);
        if KEYWORDS.contains(&name) {
            let help = format!("write `[\"{name}\"]` instead of `.{name}`");
            return Err(Box::new(Fault::new(at, "bad_expression", format!("`{name}` cannot follow a dot")).help(help)));
        }
        self.advance()?;
        if self.at("(") {
            return self.method(left, name, at, from);
        }
        self.push(Kind::Select(left, name.into()), from.to(at))
    }

    fn primary(&mut self, minus: Option<Span>) -> Parsed<Id> {
        match self.token {
            Token::Ident => self.word(),
            Token::Sign([b'(', 0]) => self.brackets(),
            Token::Sign([b'[', 0]) => self.list(),
            Token::Sign([b'{', 0]) => self.map(),
            _ => self.literal(minus),
        }
    }

    fn brackets(&mut self) -> Parsed<Id> {
        self.advance()?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }

    /// `true`, a variable, a name, or a call.
    fn word(&mut self) -> Parsed<Id> {
        let (name, span) = (self.said(), self.span);
        self.advance()?;
        let kind = match name {
            "true" => Kind::Literal(Value::Bool(true)),
            "false" => Kind::Literal(Value::Bool(false)),
            "null" => Kind::Literal(Value::Null),
            "in" => {
                return Err(Box::new(
                    Fault::new(span, "bad_expression", "expected a value, but there is `in`")
                        .help("`in` stands between an item and a list, or a key and a map"),
                ));
            }
            _ if self.at("(") => return self.call(name, span),
            _ => match self.vars.iter().rev().position(|var| &**var == name) {
                Some(up) => Kind::Var(up as u32, name.into()),
                None => {
                    self.check_name(name, span);
                    Kind::Name(self.shared(name))
                }
            },
        };
        self.push(kind, span)
    }

    fn shared(&mut self, name: &str) -> Arc<str> {
        match &self.name {
            Some(last) if **last == *name => Arc::clone(last),
            _ => Arc::clone(self.name.insert(name.into())),
        }
    }

    fn check_name(&mut self, name: &str, span: Span) {
        // Most names are told apart by their length alone.
        if name.len() > 1 && RESERVED.contains(&name) {
            let message = format!("`{name}` cannot be a name");
            self.faults.push(Fault::new(span, "bad_expression", message).help("CEL keeps this word: use another"));
        }
    }
}
