//! Stubs: who stands in for the outside, and what they say.

use super::super::problem::Sink;
use super::super::read::{Fields, Keys, duration, flag, list, map, text};
use super::super::scalar::{literal, value_of};
use super::super::tree::{Kind, Node};
use super::{Scene, Stub, fits};
use crate::event::Failure;
use crate::expr::{self, Hyphens};
use crate::plan::Work;
use crate::rehearsal::{Answer, Ends, Of, Says};
use crate::suggest::shown;
use crate::template::{Root, Template};
use crate::time::Millis;

pub(in crate::flow) const ANSWER: Keys =
    Keys { owner: "an answer", known: &["returns", "fails", "takes"], elsewhere: &[] };
pub(in crate::flow) const FAILS: Keys =
    Keys { owner: "`fails`", known: &["type", "message", "is", "retryable", "retry_after"], elsewhere: &[] };

const OPEN: &str = "${{";
const CLOSE: &str = "}}";
/// What the output of a stub can use; the numbers are their places.
const VARIABLES: [&str; 3] = crate::rehearsal::VARIABLES;

/// Reads stubs by the name of their action or the path of their task. Tasks go before patterns, these before actions.
pub(super) fn read(node: &Node<'_>, scene: &Scene, strict: bool, sink: &mut Sink<'_>) -> Vec<Stub> {
    let mut stubs = Vec::new();
    for entry in map(node, "`stubs`", sink).unwrap_or_default() {
        let says = says(&entry.value, sink);
        let name = entry.key.to_string();
        let of = match () {
            () if scene.actions().any(|action| action == name) => Some(Of::Action),
            () if scene.does(&name) => Some(if name.contains('*') { Of::Tasks } else { Of::Task }),
            () => None,
        };
        if of.is_none() && strict {
            let paths = scene.places.iter().filter(|place| scene.is_work(place.region, place.node));
            let known = scene.actions().chain(paths.map(|place| place.path.as_str()));
            let help = sink.meant(&name, known);
            let message = format!("no action, no other flow and no task of the flow is called {}", shown(&name));
            let instead = "name an action, or a task by its path, such as `build`, `rows[*]` or `for#0.load`";
            sink.error(entry.at, "unknown_stub", message).help(help.or_else(|| Some(instead.into())));
        }
        stubs.extend(of.zip(says).map(|(of, says)| Stub { name, of, says }));
    }
    stubs.sort_by_key(|stub| stub.of);
    stubs
}

impl Scene {
    fn is_work(&self, region: u32, node: u32) -> bool {
        let work = &self.plan.spec(region, node).work;
        work.is_leased() || (work.is_linked() && !matches!(work, Work::Gate(_)))
    }

    fn does(&self, path: &str) -> bool {
        self.places.iter().any(|place| self.is_work(place.region, place.node) && fits(&place.path, path))
    }
}

/// One answer for all, or a list of them in turn.
fn says(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Says> {
    match &node.kind {
        Kind::List(answers) => {
            if answers.is_empty() {
                let help = "give at least one: `- returns: …`";
                sink.error(node.span, "no_answers", "this stub has no answer").help(Some(help.into()));
            }
            let found: Vec<Answer> = answers.iter().filter_map(|node| answer(node, sink)).collect();
            (found.len() == answers.len()).then_some(Says::InTurn(found))
        }
        _ => answer(node, sink).map(Says::Always),
    }
}

fn answer(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Answer> {
    let fields = Fields::read(node, "an answer", &ANSWER, sink)?;
    let takes = fields.get("takes").map_or(Some(Millis::default()), |node| duration(node, "`takes`", sink))?;
    let ends = match (fields.entry("returns"), fields.entry("fails")) {
        (Some(_), Some(second)) => {
            let message = "an attempt either returns or fails";
            sink.error(second.at, "misplaced_key", message).help(Some("make a list of two answers of it".into()));
            return None;
        }
        (Some(entry), None) => Ends::Returns(template(&entry.value, sink)?),
        (None, Some(entry)) => Ends::Fails(Box::new(failure(&entry.value, sink)?)),
        (None, None) => Ends::Returns(Template::default()),
    };
    Some(Answer { takes, ends })
}

/// `fails: NetworkError`, or a map.
fn failure(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Failure> {
    if !matches!(node.kind, Kind::Map(_)) {
        return text(node, "`fails`", sink).map(|kind| Failure::new(kind, "it was told to fail"));
    }
    let fields = Fields::read(node, "`fails`", &FAILS, sink)?;
    let Some(kind) = fields.get("type") else {
        let help = "such as `type: NetworkError`";
        sink.error(node.span, "missing_key", "a failure needs the key `type`").help(Some(help.into()));
        return None;
    };
    let kind = text(kind, "`type`", sink)?;
    let message = fields.get("message").map_or(Some("it was told to fail"), |node| text(node, "`message`", sink))?;
    let wider = fields.get("is").map(|node| list(node, "`is`", "a list of error types", sink).unwrap_or_default());
    let is = wider.unwrap_or_default().iter().filter_map(|node| text(node, "an error type", sink).map(Into::into));
    let is = is.collect();
    let retryable = fields.get("retryable").map_or(Some(true), |node| flag(node, "`retryable`", sink))?;
    let retry_after = fields.get("retry_after").and_then(|node| duration(node, "`retry_after`", sink));
    Some(Failure { is, retryable, retry_after, ..Failure::new(kind, message) })
}

/// A value; a text that is one `${{ … }}` is computed from what the attempt was given.
fn template(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Template> {
    match &node.kind {
        Kind::Scalar(text, _) if text.contains(OPEN) => computed(node, text, sink),
        Kind::Scalar(text, style) => Some(Template::Value(value_of(text, *style, node.span, sink))),
        Kind::List(items) => {
            let items: Vec<Option<Template>> = items.iter().map(|node| template(node, sink)).collect();
            items.into_iter().collect::<Option<Vec<_>>>().map(Template::List)
        }
        Kind::Map(entries) if entries.is_empty() => Some(Template::Value(literal(node, sink))),
        Kind::Map(entries) => {
            let one = |sink: &mut Sink<'_>, entry: &super::Entry<'_>| {
                Some((entry.key.to_string(), template(&entry.value, sink)?))
            };
            let items: Vec<Option<(String, Template)>> = entries.iter().map(|entry| one(sink, entry)).collect();
            items.into_iter().collect::<Option<Vec<_>>>().map(Template::Map)
        }
    }
}

fn computed(node: &Node<'_>, text: &str, sink: &mut Sink<'_>) -> Option<Template> {
    let inner = text.trim().strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE));
    let Some(inner) = inner.filter(|inner| !inner.contains(OPEN)) else {
        let help = "write the whole of it as one: '${{ \"row \" + with.name }}'";
        sink.error(node.span, "bad_template", "here `${{ }}` stands alone in its text").help(Some(help.into()));
        return None;
    };
    let mut resolve = |path: &[&str], span: expr::Span| match VARIABLES.iter().position(|known| *known == path[0]) {
        Some(var) => Ok((1, Root::Var(var as u32))),
        None => {
            let message = format!("{} names nothing here", shown(path[0]));
            Err(expr::Fault::new(span, "unknown_name", message).help("here are `with`, `env` and `attempt`"))
        }
    };
    match expr::parse(inner.trim(), Hyphens::InNames).and_then(|ast| ast.bind(&mut resolve)) {
        Ok(expr) => Some(Template::Expr(expr)),
        Err(faults) => {
            for fault in faults {
                sink.error(node.span, fault.code, fault.message).help(fault.help);
            }
            None
        }
    }
}
