//! Templates: values with `${{ expression }}` in their texts.

use super::problem::Sink;
use super::reference::{Names, Place};
use super::scalar::{literal, value_of};
use super::source::{Source, Span};
use super::tree::{Entry, Kind, Node};
use crate::expr::{self, Ast, Expr, Fault, Hyphens};
use crate::plan;
use crate::suggest::shown;
use crate::template::{Part, Root, Template};
use serde_json::Value;
use std::ops::Range;

pub(super) const OPEN: &str = "${{";
const CLOSE: &str = "}}";

/// Reads templates at one place of a flow, and remembers which tasks they name.
pub(super) struct Holes<'s, 'n> {
    pub(super) names: &'s Names<'n>,
    pub(super) place: Place<'s>,
    /// The tasks named, in the order in which they are.
    pub(super) uses: Vec<u32>,
}

impl<'s, 'n> Holes<'s, 'n> {
    pub(super) fn new(names: &'s Names<'n>, place: Place<'s>) -> Self {
        Self { names, place, uses: Vec::new() }
    }

    /// Any value; what has no expression in it becomes a plain value.
    pub(super) fn template(&mut self, node: &Node<'_>, sink: &mut Sink<'_>) -> Template {
        if !has_hole(node) {
            return Template::Value(literal(node, sink));
        }
        let template = self.with_holes(node, sink);
        if let Some(message) = plan::too_deep(&template) {
            sink.error(node.span, "too_deep", message).help(Some(plan::FLATTER.into()));
            // The keys stay, so that nobody misses one of them as well.
            return match template {
                Template::Map(map) => Template::Map(map.into_iter().map(|(k, _)| (k, Template::default())).collect()),
                _ => Template::default(),
            };
        }
        template
    }

    fn with_holes(&mut self, node: &Node<'_>, sink: &mut Sink<'_>) -> Template {
        match &node.kind {
            Kind::Scalar(text, _) if text.contains(OPEN) => self.parts(node, text, sink),
            Kind::Scalar(text, style) => Template::Value(value_of(text, *style, node.span, sink)),
            Kind::List(list) => {
                let list: Vec<Template> = list.iter().map(|n| self.with_holes(n, sink)).collect();
                match list.iter().all(is_plain) {
                    true => Template::Value(list.into_iter().map(plain).collect()),
                    false => Template::List(list),
                }
            }
            Kind::Map(entries) => {
                let mut map = Vec::with_capacity(entries.len());
                for entry in entries {
                    if entry.key.contains(OPEN) {
                        sink.error(entry.at, "bad_template", "a key cannot be a template, only a value can");
                    }
                    map.push((entry.key.to_string(), self.with_holes(&entry.value, sink)));
                }
                match map.iter().all(|(_, t)| is_plain(t)) {
                    true => Template::Value(map.into_iter().map(|(k, t)| (k, plain(t))).collect()),
                    false => Template::Map(map),
                }
            }
        }
    }

    /// A variable: a text as it is written, so that `1.10` stays `1.10`.
    pub(super) fn variable(&mut self, entry: &Entry<'_>, sink: &mut Sink<'_>) -> Template {
        self.words(&entry.value, &|| format!("the variable {}", shown(&entry.key)), sink)
    }

    /// A text as it is written, for something that is called so.
    pub(super) fn words(&mut self, node: &Node<'_>, what: &dyn Fn() -> String, sink: &mut Sink<'_>) -> Template {
        match &node.kind {
            Kind::Scalar(text, _) if text.contains(OPEN) => self.parts(node, text, sink),
            Kind::Scalar(text, _) => Template::Value(Value::from(&**text)),
            _ => {
                let help = "put the value into a task's output or an input and name it: '${{ inputs.name }}'";
                super::read::wrong(node, &what(), "a text", sink).help(Some(help.into()));
                Template::default()
            }
        }
    }

    /// An expression that stands alone, without `${{ }}`.
    pub(super) fn bare(&mut self, node: &Node<'_>, text: &str, sink: &mut Sink<'_>) -> Option<Expr> {
        let read = expr::parse(text, Hyphens::InNames).and_then(|ast| self.bind(ast, sink));
        read.map_err(|faults| report(node, text, &(0..text.len()), faults, sink)).ok()
    }

    fn parts(&mut self, node: &Node<'_>, text: &str, sink: &mut Sink<'_>) -> Template {
        let mut parts = Vec::new();
        for piece in pieces(node, text, sink) {
            match piece {
                Piece::Text(literal) => parts.push(Part::Literal(literal.to_owned())),
                Piece::Hole(ast, range) => match self.bind(ast, sink) {
                    Ok(expr) => parts.push(Part::Expr(expr)),
                    Err(faults) => report(node, text, &range, faults, sink),
                },
            }
        }
        match parts.pop() {
            Some(Part::Expr(expr)) if parts.is_empty() => match expr.constant() {
                Some(Ok(value)) => Template::Value(value),
                _ => Template::Expr(expr),
            },
            Some(last) => {
                parts.push(last);
                Template::Text(parts)
            }
            None => Template::default(),
        }
    }

    /// Binds the names of an expression, and notes the tasks it needs. One that cannot but fail is at fault.
    pub(super) fn bind(&mut self, ast: Ast, sink: &mut Sink<'_>) -> Result<Expr, Vec<Fault>> {
        let span = ast.span();
        let expr = self.names.bind(ast, self.place, sink)?;
        if let Some(Err(failure)) = expr.constant() {
            return Err(vec![Fault::new(span, "always_fails", failure.message)]);
        }
        let mut secret = false;
        expr.roots(&mut |root| match root {
            // Nobody waits for themselves.
            Root::Output { up, node } if self.place.own && (*up != self.place.up || Some(*node) == self.place.of) => {}
            Root::Output { node, .. } => self.uses.push(*node),
            Root::Secret(_) => secret = true,
            _ => {}
        });
        if secret && expr.as_root().is_none() {
            let message = "a secret is handed over as it is: nothing can be computed from it";
            let help = "let it stand alone between `${{` and `}}`, with other text around that";
            return Err(vec![Fault::new(span, "secret_computed", message).help(help)]);
        }
        Ok(expr)
    }
}

/// A part of a text with holes.
pub(super) enum Piece<'t> {
    /// As it stands.
    Text(&'t str),
    /// An expression, and where it stands with its `${{ }}`.
    Hole(Ast, Range<usize>),
}

/// Cuts a text with holes into its pieces; a hole that cannot be read is reported and left out.
pub(super) fn pieces<'t>(node: &Node<'_>, text: &'t str, sink: &mut Sink<'_>) -> Vec<Piece<'t>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find(OPEN).map(|n| at + n) {
        if open > at {
            pieces.push(Piece::Text(&text[at..open]));
        }
        match hole(text, open + OPEN.len()) {
            Ok((ast, end)) => {
                pieces.push(Piece::Hole(ast, open..end));
                at = end;
            }
            Err(faults) => {
                at = text[open..].find(CLOSE).map_or(text.len(), |n| open + n + CLOSE.len());
                report(node, text, &(open..at), faults, sink);
            }
        }
    }
    if at < text.len() {
        pieces.push(Piece::Text(&text[at..]));
    }
    pieces
}

/// What stands after `${{`, with the place after its `}}`.
fn hole(text: &str, from: usize) -> Result<(Ast, usize), Vec<Fault>> {
    let from = from + text[from..].len() - text[from..].trim_start().len();
    let fault = |from: usize, to: usize, message: &str, help: &str| {
        let help = (!help.is_empty()).then(|| help.to_owned());
        Err(vec![Fault { help, ..Fault::new(expr::Span::new(from, to), "bad_template", message) }])
    };
    if text[from..].is_empty() || text[from..].starts_with(CLOSE) {
        return fault(from, from, "there is nothing between `${{` and `}}`", "name a value: `${{ inputs.name }}`");
    }
    let (ast, end) = expr::parse_prefix(text, from, Hyphens::InNames)?;
    match &text[end..] {
        "" => fault(from, end, "`${{` is not closed with `}}`", ""),
        rest if rest.starts_with(CLOSE) => Ok((ast, end + CLOSE.len())),
        rest => {
            let c = rest.chars().next().unwrap_or(' ');
            let message = format!("expected an operator or `}}}}`, but there is {}", shown(c.encode_utf8(&mut [0; 4])));
            fault(end, end + c.len_utf8(), &message, "")
        }
    }
}

/// Whether there is a template anywhere in a value, also where none may be.
fn has_hole(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::Scalar(text, _) => text.contains(OPEN),
        Kind::List(list) => list.iter().any(has_hole),
        Kind::Map(entries) => entries.iter().any(|entry| entry.key.contains(OPEN) || has_hole(&entry.value)),
    }
}

fn is_plain(template: &Template) -> bool {
    matches!(template, Template::Value(_))
}

fn plain(template: Template) -> Value {
    match template {
        Template::Value(value) => value,
        _ => Value::Null,
    }
}

/// Reports faults at their places within a text, if the text stands in the file as it is.
pub(super) fn report(node: &Node<'_>, text: &str, whole: &Range<usize>, faults: Vec<Fault>, sink: &mut Sink<'_>) {
    for fault in faults {
        let part = fault.span.from as usize..fault.span.to as usize;
        let span = if sink.may_search(text.len()) { spot(node, text, whole, &part, sink.source) } else { node.span };
        sink.error(span, fault.code, fault.message).help(fault.help);
    }
}

/// Where a part of a text stands in the file. The line it begins on is looked for, as much of it as is an
/// expression: what is written with escapes or folded is only found as a whole.
fn spot(node: &Node<'_>, text: &str, whole: &Range<usize>, part: &Range<usize>, source: &Source<'_>) -> Span {
    let within = part.start.clamp(whole.start, whole.end);
    let from = text[whole.start..within].rfind('\n').map_or(whole.start, |n| whole.start + n + 1);
    let needle = text[from..whole.end].lines().next().unwrap_or_default();
    let blanks = needle.len() - needle.trim_start().len();
    let (from, needle) = (from + blanks, needle.trim());
    if needle.is_empty() {
        return node.span;
    }
    let nth = text[..from].matches(needle).count();
    let Some(found) = source.find(node.span, needle, nth) else { return node.span };
    let chars = |range: Range<usize>| text.get(range).map_or(0, |part| part.chars().count() as u32);
    let end = part.end.min(from + needle.len());
    match part.start.checked_sub(from) {
        Some(_) if part.start <= from + needle.len() => {
            Span::at(found.line, found.col + chars(from..part.start), chars(part.start..end).max(1))
        }
        _ => found,
    }
}

/// Refuses templates in a text that is used as it stands.
pub(super) fn refuse(node: &Node<'_>, text: &str, what: &str, help: &str, sink: &mut Sink<'_>) {
    if let Some(open) = text.find(OPEN) {
        let end = text[open..].find(CLOSE).map_or(open + OPEN.len(), |n| open + n + CLOSE.len());
        let needle = text[open..end].lines().next().unwrap_or(OPEN);
        let span = sink.find(node.span, needle);
        let message = format!("{} cannot stand in {what}", shown(needle));
        sink.error(span, "template_in_run", message).help(Some(help.into()));
    }
}
