//! YAML as a small tree with places: maps with text keys, lists and scalars, and nothing else.
//!
//! Anchors, aliases, tags, duplicate keys and several documents are refused here. They make a file mean
//! something else than it seems to, or grow without bound, and a flow needs none of them.

use super::plain;
use super::problem::Sink;
use super::source::Span;
use crate::limits;
use crate::mark::mark;
use crate::suggest::{plain, shown};
use saphyr_parser::{Event, Marker, Parser, ScanError};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(super) use saphyr_parser::ScalarStyle;

/// A value and where it stands.
#[derive(Debug, PartialEq)]
pub(super) struct Node<'a> {
    pub(super) span: Span,
    pub(super) kind: Kind<'a>,
}

/// What a value is.
#[derive(Debug, PartialEq)]
pub(super) enum Kind<'a> {
    /// A text, number, boolean or null: the style decides what it may be.
    Scalar(Cow<'a, str>, ScalarStyle),
    /// A list.
    List(Vec<Node<'a>>),
    /// A map, in the author's order, each key once.
    Map(Vec<Entry<'a>>),
}

/// A key, where it stands, and its value.
#[derive(Debug, PartialEq)]
pub(super) struct Entry<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) at: Span,
    pub(super) value: Node<'a>,
}

/// Reads the one document of a file; `None` if it has none or is not YAML.
pub(super) fn read<'a>(text: &'a str, sink: &mut Sink<'_>) -> Option<Node<'a>> {
    plain::read(text).or_else(|| read_any(text, sink))
}

/// Reads a document with all that YAML has.
pub(super) fn read_any<'a>(text: &'a str, sink: &mut Sink<'_>) -> Option<Node<'a>> {
    let mut builder = Builder::default();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = match event {
            Ok((event, span)) => (event, place(span.start, span.end)),
            Err(error) => {
                not_yaml(&error, sink);
                return None;
            }
        };
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
            if documents > 1 {
                let message = "a file holds one flow, but a second document starts here";
                sink.error(span, "several_documents", message).help(Some("put it in a file of its own".into()));
                return builder.done;
            }
        }
        builder.take(event, span, sink)?;
    }
    builder.done
}

fn place(start: Marker, end: Marker) -> Span {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX - 1);
    Span {
        line: number(start.line()),
        col: number(start.col()) + 1,
        end_line: number(end.line()),
        end_col: number(end.col()) + 1,
    }
}

fn not_yaml(error: &ScanError, sink: &mut Sink<'_>) {
    let mut span = place(*error.marker(), *error.marker());
    let line = sink.source.line(span.line);
    if line.is_empty() {
        span = sink.source.end();
    }
    if error.info().contains("unknown anchor") {
        return refuse_alias(span, sink);
    }
    let help = if line.contains("${{") {
        Some("within `{ }` and `[ ]` a template needs quotes: '${{ … }}'")
    } else if line.trim_start_matches(' ').starts_with('\t') {
        Some("indent with spaces: YAML does not allow tabs here")
    } else if error.info().contains("mapping values are not allowed") {
        Some("a text with `: ` in it needs quotes")
    } else if error.info().contains("parsing a block") {
        Some("look at its indentation: keys of one map, and items of one list, begin in the same column")
    } else {
        None
    };
    let message = format!("this is not valid YAML: {}", plain(error.info()));
    sink.error(span, "bad_yaml", message).help(help.map(str::to_owned));
}

fn refuse_alias(span: Span, sink: &mut Sink<'_>) {
    let help = "write the value out; a text that starts with `*` needs quotes";
    sink.error(span, "alias", "YAML aliases (`*name`) are not allowed in a flow").help(Some(help.into()));
}

/// A collection that has begun and not ended.
enum Open<'a> {
    /// With how many items of lists there were before.
    List(Span, usize),
    /// With how many entries of maps there were before, and the key whose value comes next; a key that is refused
    /// has no text, and its value is dropped.
    Map(Span, usize, Option<(Option<Cow<'a, str>>, Span)>),
}

/// Most collections are small. So what is in those that have begun lies in two lists for all of them, and each is
/// given just the room it needs when it ends.
#[derive(Default)]
struct Builder<'a> {
    open: Vec<Open<'a>>,
    items: Vec<Node<'a>>,
    entries: Vec<Entry<'a>>,
    done: Option<Node<'a>>,
}

impl<'a> Builder<'a> {
    /// Takes one event; `None` when there is no point in going on.
    fn take(&mut self, event: Event<'a>, span: Span, sink: &mut Sink<'_>) -> Option<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                refuse_marks(anchor, tag.is_some(), span, sink);
                self.put(Node { span, kind: Kind::Scalar(text, style) }, sink);
            }
            Event::Alias(_) => {
                refuse_alias(span, sink);
                // A word in its place, so that the alias is reported and not also what it leaves behind.
                self.put(Node { span, kind: Kind::Scalar("alias".into(), ScalarStyle::Plain) }, sink);
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_marks(anchor, tag.is_some(), span, sink);
                self.begin(Open::List(span.start(), self.items.len()), span, sink)?;
            }
            Event::MappingStart(anchor, tag) => {
                refuse_marks(anchor, tag.is_some(), span, sink);
                self.begin(Open::Map(span.start(), self.entries.len(), None), span, sink)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let node = match self.open.pop()? {
                    Open::List(span, from) => Node { span, kind: Kind::List(self.items.drain(from..).collect()) },
                    Open::Map(span, from, _) => {
                        let entries = self.entries.drain(from..).collect();
                        Node { span, kind: Kind::Map(unique(entries, sink)) }
                    }
                };
                self.put(node, sink);
            }
            _ => {}
        }
        Some(())
    }

    fn begin(&mut self, open: Open<'a>, span: Span, sink: &mut Sink<'_>) -> Option<()> {
        if self.open.len() >= limits::DEPTH {
            sink.error(span, "too_deep", format!("the file is nested deeper than {} levels", limits::DEPTH));
            return None;
        }
        self.open.push(open);
        Some(())
    }

    fn put(&mut self, node: Node<'a>, sink: &mut Sink<'_>) {
        match self.open.last_mut() {
            None => self.done = Some(node),
            Some(Open::List(..)) => self.items.push(node),
            Some(Open::Map(_, _, key)) => match key.take() {
                None => *key = Some(as_key(node, sink)),
                Some((Some(key), at)) => self.entries.push(Entry { key, at, value: node }),
                Some((None, _)) => {}
            },
        }
    }
}

fn as_key<'a>(node: Node<'a>, sink: &mut Sink<'_>) -> (Option<Cow<'a, str>>, Span) {
    let at = node.span;
    match node.kind {
        Kind::Scalar(text, style) if !text.is_empty() || style != ScalarStyle::Plain => (Some(text), at),
        Kind::Scalar(..) => {
            sink.error(at, "bad_key", "a key is missing before `:`");
            (None, at)
        }
        _ => {
            sink.error(at, "bad_key", "a key must be a text, not a list or a map");
            (None, at)
        }
    }
}

fn refuse_marks(anchor: usize, tagged: bool, span: Span, sink: &mut Sink<'_>) {
    if anchor > 0 && !sink.only_counts() {
        let help = "write the value where it is needed; what all tasks share goes under `defaults`";
        sink.error(span.start(), "anchor", "YAML anchors (`&name`) are not allowed in a flow").help(Some(help.into()));
    }
    if tagged && !sink.only_counts() {
        let help = "remove the tag; put quotes around a text that starts with `!`";
        sink.error(span.start(), "tag", "YAML tags (`!name`) are not allowed in a flow").help(Some(help.into()));
    }
}

/// Whether two keys may be the same.
pub(super) fn repeat(entries: &[Entry<'_>]) -> bool {
    // Most maps are small, and comparing a few keys is cheaper than sorting them.
    if entries.len() <= 8 {
        return entries.iter().enumerate().any(|(n, entry)| entries[..n].iter().any(|e| e.key == entry.key));
    }
    let mut marks: Vec<u64> = entries.iter().map(|entry| mark(&entry.key)).collect();
    marks.sort_unstable();
    marks.windows(2).any(|pair| pair[0] == pair[1])
}

/// Refuses keys that come again, and keeps the first of each.
fn unique<'a>(entries: Vec<Entry<'a>>, sink: &mut Sink<'_>) -> Vec<Entry<'a>> {
    if !repeat(&entries) {
        return entries;
    }
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    let mut again = Vec::new();
    for (n, entry) in entries.iter().enumerate() {
        match first.get(&*entry.key) {
            Some(_) if sink.only_counts() => again.push(n),
            Some(line) => {
                let message = format!("the key {} is there twice: first on line {line}", shown(&entry.key));
                sink.error(entry.at, "duplicate_key", message).help(Some("remove one of them".into()));
                again.push(n);
            }
            None => drop(first.insert(&entry.key, entry.at.line)),
        }
    }
    if again.is_empty() {
        return entries;
    }
    let mut again = again.into_iter().peekable();
    entries.into_iter().enumerate().filter(|(n, _)| again.next_if_eq(n).is_none()).map(|(_, e)| e).collect()
}
