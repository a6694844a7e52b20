//! Named values: `let:` gives templates names that expressions use like any other.
//!
//! A name is replaced by what it stands for wherever it is used, so the edges of the tasks that a value needs
//! follow by themselves, and nothing of a name is left in the plan. A value can use those above it, so there
//! are no circles.

use super::holes::{Holes, OPEN, Piece, pieces, report};
use super::problem::Sink;
use super::read::map;
use super::reference::{Names, Place};
use super::scalar::value_of;
use super::task::means_something;
use super::tree::{Kind, Node};
use crate::expr::{Ast, Fault, Parts};
use crate::limits;
use crate::suggest::shown;
use serde_json::Value;

/// Reads all named values, in the order in which they are written.
pub(super) fn lets<'n>(node: &'n Node<'_>, names: &mut Names<'n>, sink: &mut Sink<'_>) {
    let entries = map(node, "`let`", sink).unwrap_or_default();
    names.let_names.extend(entries.iter().map(|entry| &*entry.key));
    for entry in entries {
        let key = &*entry.key;
        let word = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && key.len() <= limits::NAME_BYTES;
        if !word {
            let message = format!("{} cannot be the name of a value", shown(key));
            sink.error(entry.at, "bad_name", message).help(Some("use letters, digits and `_`".into()));
        } else if means_something(key) || key == "item" {
            sink.error(entry.at, "bad_name", format!("`{key}` means something else in expressions"));
        }
        // A value with problems stands for nothing, so that they are reported once.
        let made = read(&entry.value, names, sink).map(Ast::whole);
        let ast = made.and_then(|made| accepted(&entry.value, made, sink));
        names.lets.insert(key, ast.unwrap_or_else(|| Ast::literal(Value::Null)));
    }
}

/// The parts of a template, their own names checked and replaced. They are put together once, however deep they are.
fn read(node: &Node<'_>, names: &Names<'_>, sink: &mut Sink<'_>) -> Option<Parts> {
    match &node.kind {
        Kind::Scalar(text, _) if text.contains(OPEN) => filled(node, text, names, sink).map(Parts::One),
        Kind::Scalar(text, style) => Some(Parts::Value(value_of(text, *style, node.span, sink))),
        Kind::List(list) => {
            let items: Vec<Option<Parts>> = list.iter().map(|node| read(node, names, sink)).collect();
            Some(Parts::List(items.into_iter().collect::<Option<_>>()?))
        }
        Kind::Map(entries) => {
            let items: Vec<Option<(String, Parts)>> =
                entries.iter().map(|entry| Some((entry.key.to_string(), read(&entry.value, names, sink)?))).collect();
            Some(Parts::Map(items.into_iter().collect::<Option<_>>()?))
        }
    }
}

fn accepted(node: &Node<'_>, made: Result<Ast, Fault>, sink: &mut Sink<'_>) -> Option<Ast> {
    made.map_err(|fault| sink.error(node.span, fault.code, fault.message).help(fault.help)).ok()
}

/// A text with holes: one hole alone keeps its type, anything else is joined to a text.
fn filled(node: &Node<'_>, text: &str, names: &Names<'_>, sink: &mut Sink<'_>) -> Option<Ast> {
    let mut texts = Vec::new();
    let errors = sink.errors();
    let pieces = pieces(node, text, sink);
    let alone = pieces.len() == 1;
    for piece in pieces {
        match piece {
            Piece::Text(literal) => texts.push(Ast::literal(literal.into())),
            Piece::Hole(ast, range) => {
                // Said here once, and not wherever the name is used.
                if let Err(faults) = Holes::new(names, Place::default()).bind(ast.clone(), sink) {
                    report(node, text, &range, faults, sink);
                    continue;
                }
                let Ok(ast) = ast.substitute(&mut |name| names.lets.get(name)) else { continue };
                texts.push(if alone { ast } else { accepted(node, ast.printed(), sink)? });
            }
        }
    }
    if sink.errors() > errors {
        return None;
    }
    if alone { texts.pop() } else { accepted(node, Ast::joined(&texts), sink) }
}
