//! One canonical text for each tree. It parses back to the same tree, so it is what is stored and hashed.

use super::chars::quoted;
use super::function::KEYWORDS;
use super::tree::{Each, Id, Kind, Tree};
use super::{Hyphens, Span};
use crate::template::Root;
use serde_json::Value;
use std::fmt::Write;

struct Printer<'t> {
    tree: &'t Tree,
    roots: &'t [(String, Root)],
    hyphens: Hyphens,
    text: String,
    spans: Vec<Span>,
}

/// The text, and where each node stands in it.
pub(super) fn print(tree: &Tree, hyphens: Hyphens) -> (String, Vec<Span>) {
    bound(tree, &[], hyphens)
}

/// The same for a tree whose names are bound.
pub(super) fn bound(tree: &Tree, roots: &[(String, Root)], hyphens: Hyphens) -> (String, Vec<Span>) {
    let spans = vec![Span::default(); tree.nodes.len()];
    let mut printer = Printer { tree, roots, hyphens, text: String::with_capacity(tree.nodes.len() * 2), spans };
    printer.node(tree.top, 0);
    (printer.text, printer.spans)
}

impl Printer<'_> {
    /// A node, in brackets where it binds less strongly than it must.
    fn node(&mut self, id: Id, least: u8) {
        let brackets = self.tree.node(id).kind.level() < least;
        if brackets {
            self.text.push('(');
        }
        let from = self.text.len();
        let tree = self.tree;
        self.kind(&tree.node(id).kind);
        self.spans[id as usize] = Span::new(from, self.text.len());
        if brackets {
            self.text.push(')');
        }
    }

    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::Literal(value) => literal(value, &mut self.text),
            Kind::Name(name) => self.text.push_str(name),
            Kind::Var(_, name) => self.text.push_str(name),
            Kind::Root(number) => self.text += self.roots.get(*number as usize).map_or("?", |(text, _)| text),
            Kind::Select(of, key) => self.select(*of, key),
            Kind::Has(of, key) => {
                self.text.push_str("has(");
                self.select(*of, key);
                self.text.push(')');
            }
            Kind::Index(of, at) => {
                self.node(*of, 7);
                self.row("[", &[*at], "]");
            }
            Kind::Not(of) => self.signed('!', *of),
            Kind::Neg(of) => self.signed('-', *of),
            Kind::Binary(op, left, right) => {
                self.node(*left, op.level());
                self.text.push(' ');
                self.text.push_str(op.sign());
                self.text.push(' ');
                self.node(*right, op.level() + 1);
            }
            Kind::And(row) => self.operands(row, " && ", 3),
            Kind::Or(row) => self.operands(row, " || ", 2),
            Kind::Cond([condition, yes, no]) => {
                self.node(*condition, 1);
                self.text.push_str(" ? ");
                self.node(*yes, 1);
                self.text.push_str(" : ");
                self.node(*no, 0);
            }
            Kind::List(items) => self.row("[", items, "]"),
            Kind::Map(entries) => {
                self.text.push('{');
                for (n, (key, value)) in entries.iter().enumerate() {
                    self.text.push_str(if n > 0 { ", " } else { "" });
                    self.node(*key, 0);
                    self.text.push_str(": ");
                    self.node(*value, 0);
                }
                self.text.push('}');
            }
            Kind::Call(function, args, method) => {
                let mut args = &args[..];
                if *method && let [first, rest @ ..] = args {
                    self.node(*first, 7);
                    self.text.push('.');
                    args = rest;
                }
                self.text.push_str(function.name());
                self.row("(", args, ")");
            }
            Kind::Each(each) => self.each(each),
        }
    }

    fn select(&mut self, of: Id, key: &str) {
        self.node(of, 7);
        let named = match &self.tree.node(of).kind {
            Kind::Name(name) => self.hyphens == Hyphens::InNames && matches!(&**name, "tasks" | "inputs"),
            Kind::Root(number) => {
                self.hyphens == Hyphens::InNames
                    && self.roots.get(*number as usize).is_some_and(|(text, _)| text == "inputs")
            }
            _ => false,
        };
        push_key(&mut self.text, key, named);
    }

    fn signed(&mut self, sign: char, of: Id) {
        self.text.push(sign);
        // `-5` is a number and `-(5)` is the negative of one.
        let least = if sign == '-' && self.starts_with_digit(of) { 8 } else { 6 };
        self.node(of, least);
    }

    fn starts_with_digit(&self, mut id: Id) -> bool {
        loop {
            id = match &self.tree.node(id).kind {
                Kind::Literal(Value::Number(number)) => return number.as_f64().is_some_and(|n| !n.is_sign_negative()),
                Kind::Select(of, _) | Kind::Index(of, _) => *of,
                Kind::Call(_, args, true) => args[0],
                Kind::Each(each) => each.over,
                _ => return false,
            }
        }
    }

    fn operands(&mut self, row: &[Id], sign: &str, least: u8) {
        for (n, id) in row.iter().enumerate() {
            self.text.push_str(if n > 0 { sign } else { "" });
            self.node(*id, least);
        }
    }

    fn row(&mut self, open: &str, row: &[Id], close: &str) {
        self.text.push_str(open);
        for (n, id) in row.iter().enumerate() {
            self.text.push_str(if n > 0 { ", " } else { "" });
            self.node(*id, 0);
        }
        self.text.push_str(close);
    }

    fn each(&mut self, each: &Each) {
        self.node(each.over, 7);
        self.text.extend([".", each.name.name(), "(", &each.var, ", "]);
        if let Some(filter) = each.filter {
            self.node(filter, 0);
            self.text.push_str(", ");
        }
        self.node(each.body, 0);
        self.text.push(')');
    }
}

fn literal(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => quoted(text, out),
        Value::Array(list) => {
            out.push('[');
            for (n, item) in list.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                literal(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (n, (key, item)) in map.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                quoted(key, out);
                out.push_str(": ");
                literal(item, out);
            }
            out.push('}');
        }
        // Most numbers are small, and formatting one costs as much as reading it.
        Value::Number(number) if number.as_u64().is_some_and(|n| n < 10) => {
            out.push(char::from(b'0' + number.as_u64().unwrap_or_default() as u8));
        }
        other => {
            // Writing into a text cannot fail.
            let _ = write!(out, "{other}");
        }
    }
}

/// `.key`, or `["key"]` where a dot would be read differently.
pub(super) fn push_key(out: &mut String, key: &str, hyphens: bool) {
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let bytes = key.as_bytes();
    let joins = |at: usize| hyphens && bytes[at] == b'-' && at > 0 && bytes.get(at + 1).is_some_and(|c| word(*c));
    let dotted = bytes.first().is_some_and(|c| word(*c) && !c.is_ascii_digit())
        && (0..bytes.len()).all(|at| word(bytes[at]) || joins(at))
        && !KEYWORDS.contains(&key);
    if dotted {
        out.extend([".", key]);
    } else {
        out.push('[');
        quoted(key, out);
        out.push(']');
    }
}
