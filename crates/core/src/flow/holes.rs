//! Templates: values with `${{ reference }}` in their texts.

use super::problem::Sink;
use super::reference::{Fault, Names, Place, shape, unexpected};
use super::scalar::value_of;
use super::source::{Source, Span};
use super::tree::{Kind, Node};
use crate::suggest::shown;
use crate::template::{Part, Reference, Root, Template};
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

    /// Any value; what has no reference in it becomes a plain value.
    pub(super) fn template(&mut self, node: &Node<'_>, sink: &mut Sink<'_>) -> Template {
        match &node.kind {
            Kind::Scalar(text, _) if text.contains(OPEN) => self.parts(node, text, sink),
            Kind::Scalar(text, style) => Template::Value(value_of(text, *style, node.span, sink)),
            Kind::List(list) => {
                let list: Vec<Template> = list.iter().map(|n| self.template(n, sink)).collect();
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
                    map.push((entry.key.to_string(), self.template(&entry.value, sink)));
                }
                match map.iter().all(|(_, t)| is_plain(t)) {
                    true => Template::Value(map.into_iter().map(|(k, t)| (k, plain(t))).collect()),
                    false => Template::Map(map),
                }
            }
        }
    }

    /// A variable: a text as it is written, so that `1.10` stays `1.10`.
    pub(super) fn variable(&mut self, node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Template {
        match &node.kind {
            Kind::Scalar(text, _) if text.contains(OPEN) => self.parts(node, text, sink),
            Kind::Scalar(text, _) => Template::Value(Value::from(&**text)),
            _ => {
                let help = "put the value into a task's output or an input and name it: '${{ inputs.name }}'";
                super::read::wrong(node, what, "a text", sink).help(Some(help.into()));
                Template::default()
            }
        }
    }

    /// A reference that stands alone, without `${{ }}`.
    pub(super) fn bare(&mut self, node: &Node<'_>, text: &str, sink: &mut Sink<'_>) -> Option<Reference> {
        let from = text.len() - text.trim_start().len();
        let read = shape(text, from).and_then(|shape| {
            let end = shape.range.end;
            if text[end..].trim().is_empty() {
                return Ok(shape);
            }
            Err(unexpected(text, end + text[end..].len() - text[end..].trim_start().len()))
        });
        let whole = from..text.trim_end().len().max(from);
        match read.and_then(|shape| self.names.resolve(shape, self.place, sink)) {
            Ok(reference) => Some(self.noted(reference)),
            Err(fault) => {
                report(node, text, &whole, fault, sink);
                None
            }
        }
    }

    fn parts(&mut self, node: &Node<'_>, text: &str, sink: &mut Sink<'_>) -> Template {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(open) = text[at..].find(OPEN).map(|n| at + n) {
            if open > at {
                parts.push(Part::Literal(text[at..open].to_owned()));
            }
            match self.hole(text, open + OPEN.len(), sink) {
                Ok((reference, end)) => {
                    parts.push(Part::Ref(self.noted(reference)));
                    at = end;
                }
                Err(fault) => {
                    let end = text[open..].find(CLOSE).map_or(text.len(), |n| open + n + CLOSE.len());
                    report(node, text, &(open..end.max(fault.range.end)), fault, sink);
                    at = end;
                }
            }
        }
        if at < text.len() {
            parts.push(Part::Literal(text[at..].to_owned()));
        }
        match parts.pop() {
            Some(Part::Ref(reference)) if parts.is_empty() => Template::Ref(reference),
            Some(last) => {
                parts.push(last);
                Template::Text(parts)
            }
            None => Template::default(),
        }
    }

    /// What stands after `${{`, with the place after its `}}`.
    fn hole(&self, text: &str, from: usize, sink: &mut Sink<'_>) -> Result<(Reference, usize), Fault> {
        let blanks = |at: usize| at + text[at..].len() - text[at..].trim_start().len();
        let from = blanks(from);
        if text[from..].is_empty() || text[from..].starts_with(CLOSE) {
            let message = "there is nothing between `${{` and `}}`".into();
            let help = Some("name a value: `${{ inputs.name }}`".into());
            return Err(Fault { range: from..from, code: "bad_template", message, help });
        }
        let shape = shape(text, from)?;
        let end = blanks(shape.range.end);
        if text[end..].is_empty() {
            let message = "`${{` is not closed with `}}`".into();
            return Err(Fault { range: shape.range, code: "bad_template", message, help: None });
        }
        if !text[end..].starts_with(CLOSE) {
            return Err(unexpected(text, end));
        }
        Ok((self.names.resolve(shape, self.place, sink)?, end + CLOSE.len()))
    }

    fn noted(&mut self, reference: Reference) -> Reference {
        if let Root::Output { node, .. } = reference.root {
            self.uses.push(node);
        }
        reference
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

/// Reports a fault at its place within a text, if the text stands in the file as it is.
fn report(node: &Node<'_>, text: &str, whole: &Range<usize>, fault: Fault, sink: &mut Sink<'_>) {
    let span = if sink.is_full() { node.span } else { spot(node, text, whole, &fault.range, sink.source) };
    sink.error(span, fault.code, fault.message).help(fault.help);
}

fn spot(node: &Node<'_>, text: &str, whole: &Range<usize>, part: &Range<usize>, source: &Source<'_>) -> Span {
    // A text folded over lines is looked for by its first line.
    let needle = text[whole.clone()].lines().next().unwrap_or_default();
    let nth = if needle.is_empty() { 0 } else { text[..whole.start].matches(needle).count() };
    let Some(found) = source.find(node.span, needle, nth) else { return node.span };
    if part.start < whole.start || part.end > whole.start + needle.len() {
        return found;
    }
    let chars = |range: Range<usize>| text[range].chars().count() as u32;
    Span::at(found.line, found.col + chars(whole.start..part.start), chars(part.clone()).max(1))
}

/// Refuses templates in a text that is used as it stands.
pub(super) fn refuse(node: &Node<'_>, text: &str, what: &str, help: &str, sink: &mut Sink<'_>) {
    if let Some(open) = text.find(OPEN) {
        let end = text[open..].find(CLOSE).map_or(open + OPEN.len(), |n| open + n + CLOSE.len());
        let needle = text[open..end].lines().next().unwrap_or(OPEN);
        let span = sink.source.find(node.span, needle, 0).unwrap_or(node.span);
        let message = format!("{} cannot stand in {what}", shown(needle));
        sink.error(span, "template_in_run", message).help(Some(help.into()));
    }
}
