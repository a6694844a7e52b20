//! References: `inputs.version`, `tasks.plan.output.targets[0]`, `item["odd key"]`.
//!
//! Reading one has two halves: its shape, which any text can have or lack, and its meaning, which depends
//! on the names of the flow and on the place the reference stands in.

use super::problem::Sink;
use crate::suggest::shown;
use crate::template::{Reference, Root, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The names a flow declares.
#[derive(Default)]
pub(super) struct Names<'n> {
    /// Each task's node in the root region; none for a task whose name is refused.
    pub(super) tasks: BTreeMap<&'n str, Option<u32>>,
    /// The inputs.
    pub(super) inputs: BTreeSet<&'n str>,
}

/// Where references stand, and so what they can name.
#[derive(Clone, Copy, Default)]
pub(super) struct Place<'p> {
    /// The node they belong to, which they cannot name.
    pub(super) of: Option<u32>,
    /// What the item is called here, if there is one.
    pub(super) item: Option<&'p str>,
    /// How many regions outwards the tasks are.
    pub(super) up: u32,
    /// Whether only inputs can be named.
    pub(super) only_inputs: bool,
}

/// What is wrong with a reference, and with which part of the text.
pub(super) struct Fault {
    pub(super) range: Range<usize>,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// The shape of a reference.
pub(super) struct Shape<'t> {
    head: &'t str,
    /// Where it stands in the text.
    pub(super) range: Range<usize>,
    steps: Vec<(Step, Range<usize>)>,
}

const EXAMPLES: &str = "a reference looks like `inputs.name` or `tasks.name.output.key`";

/// Reads a reference that starts at `from`; it ends where nothing more belongs to it.
pub(super) fn shape(text: &str, from: usize) -> Result<Shape<'_>, Fault> {
    let mut at = from + word(&text[from..]);
    if at == from {
        return Err(unexpected(text, from));
    }
    let head = &text[from..at];
    let mut steps = Vec::new();
    loop {
        let rest = &text[at..];
        let (step, len) = if let Some(key) = rest.strip_prefix('.') {
            let len = word(key);
            if len == 0 {
                return Err(unexpected(text, at + 1));
            }
            (Step::Key(key[..len].to_owned()), len + 1)
        } else if rest.starts_with('[') {
            bracket(rest).ok_or_else(|| {
                let end = rest.find(']').map_or(text.len(), |n| at + n + 1);
                let help = "in brackets stands a number from 0 or a quoted key: `[0]`, `[\"key\"]`".to_owned();
                fault(at..end, "bad_reference", "this is no index".into(), Some(help))
            })?
        } else {
            return Ok(Shape { head, range: from..at, steps });
        };
        steps.push((step, at..at + len));
        at += len;
    }
}

/// What to say where a reference should start, go on or end, and does not.
pub(super) fn unexpected(text: &str, at: usize) -> Fault {
    let Some(c) = text[at..].chars().next() else {
        return fault(at..at, "bad_reference", "the reference ends too early".into(), Some(EXAMPLES.into()));
    };
    let range = at..at + c.len_utf8();
    if "()+-*/%<>=!&|?:,\"'".contains(c) || c.is_ascii_digit() {
        let message = "expressions are not supported yet, only references".into();
        return fault(range, "not_yet", message, Some(format!("{EXAMPLES}; compute the rest in a task")));
    }
    let message = format!("{} cannot stand here", shown(c.encode_utf8(&mut [0; 4])));
    fault(range, "bad_reference", message, Some(EXAMPLES.into()))
}

fn fault(range: Range<usize>, code: &'static str, message: String, help: Option<String>) -> Fault {
    Fault { range, code, message, help }
}

/// How many bytes of a word the text starts with: a letter or `_`, then also digits and `-`.
fn word(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return 0;
    }
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).unwrap_or(text.len())
}

/// `[3]` or `["key"]`, with its length.
fn bracket(text: &str) -> Option<(Step, usize)> {
    let inner = text.strip_prefix('[')?.trim_start_matches(' ');
    let (step, rest) = match inner.chars().next()? {
        quote @ ('"' | '\'') => {
            let mut key = String::new();
            let mut chars = inner[1..].char_indices();
            let end = loop {
                match chars.next()? {
                    (n, c) if c == quote => break n + 2,
                    (_, '\\') => key.push(chars.next().map(|(_, c)| c).filter(|c| *c == '\\' || *c == quote)?),
                    (_, c) => key.push(c),
                }
            };
            (Step::Key(key), &inner[end..])
        }
        _ => {
            let end = inner.find(|c: char| !c.is_ascii_digit())?;
            (Step::At(inner[..end].parse().ok()?), &inner[end..])
        }
    };
    let rest = rest.trim_start_matches(' ').strip_prefix(']')?;
    Some((step, text.len() - rest.len()))
}

impl Names<'_> {
    /// What a reference means at a place.
    pub(super) fn resolve(&self, shape: Shape<'_>, place: Place<'_>, sink: &mut Sink<'_>) -> Result<Reference, Fault> {
        if place.item == Some(shape.head) {
            let path = shape.steps.into_iter().map(|(step, _)| step).collect();
            return Ok(Reference { root: Root::Item { up: 0 }, path });
        }
        match shape.head {
            "inputs" => self.input(shape, sink),
            "tasks" => self.task(shape, place, sink),
            head => {
                let range = shape.range.start..shape.range.start + head.len();
                let help = match place.item {
                    None if head == "item" => Some("the item exists only in the work of a task with `each`".into()),
                    Some(item) if head == "item" => Some(format!("here the item is called {}", shown(item))),
                    item => sink.meant(head, ["inputs", "tasks"].into_iter().chain(item)),
                };
                let help = help.or_else(|| Some(EXAMPLES.into()));
                Err(fault(range, "unknown_reference", format!("{} names nothing here", shown(head)), help))
            }
        }
    }

    fn input(&self, shape: Shape<'_>, sink: &mut Sink<'_>) -> Result<Reference, Fault> {
        if let Some((step, range)) = shape.steps.first() {
            let Step::Key(key) = step else {
                let help = Some("name the input: `inputs.name`".into());
                return Err(fault(range.clone(), "bad_reference", "inputs have names, not numbers".into(), help));
            };
            if !self.inputs.contains(key.as_str()) {
                let help = sink.meant(key, self.inputs.iter().copied());
                let help = help.unwrap_or_else(|| format!("declare it under `inputs:` as {}", shown(key)));
                let message = format!("there is no input {}", shown(key));
                return Err(fault(after_dot(range), "unknown_input", message, Some(help)));
            }
        }
        Ok(Reference { root: Root::Input, path: shape.steps.into_iter().map(|(step, _)| step).collect() })
    }

    fn task(&self, shape: Shape<'_>, place: Place<'_>, sink: &mut Sink<'_>) -> Result<Reference, Fault> {
        if place.only_inputs {
            let help = "name the task's output in the `env` of the task that needs it".to_owned();
            let message = "only inputs can be named here, because this stands for every task".into();
            return Err(fault(shape.range, "bad_reference", message, Some(help)));
        }
        let Some((Step::Key(name), range)) = shape.steps.first() else {
            let help = Some("name the task: `tasks.name.output`".into());
            return Err(fault(shape.range, "bad_reference", "which task is meant?".into(), help));
        };
        let Some(node) = self.tasks.get(name.as_str()) else {
            let help = self.dotted(&shape).or_else(|| sink.meant(name, self.tasks.keys().copied()));
            let message = format!("there is no task {}", shown(name));
            return Err(fault(after_dot(range), "unknown_task", message, help));
        };
        if node.is_some() && *node == place.of {
            let message = format!("{} cannot use its own output", shown(name));
            return Err(fault(shape.range, "self_edge", message, None));
        }
        match shape.steps.get(1) {
            Some((Step::Key(field), _)) if field == "output" => {}
            other => {
                let range = other.map_or(shape.range.clone(), |(_, range)| after_dot(range));
                let help = Some(format!("write {}", shown(&format!("tasks.{name}.output"))));
                return Err(fault(range, "bad_reference", "only the `output` of a task can be named".into(), help));
            }
        }
        // A task whose name is refused has no node; what names it is not at fault.
        let root = node.map_or(Root::Input, |node| Root::Output { up: place.up, node });
        Ok(Reference { root, path: shape.steps.into_iter().skip(2).map(|(step, _)| step).collect() })
    }

    /// The help for a task with a dot in its name, which needs brackets.
    fn dotted(&self, shape: &Shape<'_>) -> Option<String> {
        let mut name = String::new();
        for (step, _) in &shape.steps {
            let Step::Key(key) = step else { break };
            name += if name.is_empty() { "" } else { "." };
            name += key;
            if self.tasks.contains_key(name.as_str()) {
                return Some(format!(
                    "a name with a dot needs brackets: {}",
                    shown(&format!("tasks[{name:?}].output"))
                ));
            }
        }
        None
    }
}

fn after_dot(range: &Range<usize>) -> Range<usize> {
    range.start + 1..range.end
}
