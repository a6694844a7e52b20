//! What begins a flow by itself: `on: { schedule: [{ cron: '0 7 * * 1-5', zone: Europe/Berlin }] }`, or a call of its
//! address, `on: { webhook: {} }`.

use super::problem::Sink;
use super::read::{Fields, Keys, choice, duration, list, name, some_time, text, whole, wrong};
use super::reference::Names;
use super::scalar::{literal, resolve};
use super::tree::{Kind, Node};
use crate::control::Hook;
use crate::limits;
use crate::name::Name;
use crate::schedule::{Cron, Overlap, Schedule, When, find_zone};
use crate::suggest::shown;
use crate::time::{Millis, Time};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const ON: Keys = Keys { owner: "`on`", known: &["schedule", "webhook"], elsewhere: &[] };
pub(super) const WEBHOOK: Keys = Keys { owner: "`webhook`", known: &["into"], elsewhere: &[] };
pub(super) const SCHEDULE: Keys = Keys {
    owner: "a schedule",
    known: &["name", "cron", "zone", "every", "from", "at", "jitter", "overlap", "catch_up", "with"],
    elsewhere: &[],
};

/// What begins a flow.
#[derive(Default)]
pub(super) struct Begun {
    /// Its schedules, by their names.
    pub(super) schedules: BTreeMap<Name, Schedule>,
    /// How a call of its address begins it.
    pub(super) hook: Option<Hook>,
}

pub(super) fn on(node: &Node<'_>, flow: &Name, names: &Names<'_>, sink: &mut Sink<'_>) -> Begun {
    let Some(fields) = Fields::read(node, "`on`", &ON, sink) else { return Begun::default() };
    let schedules = fields.get("schedule").map(|node| schedules(node, flow, sink)).unwrap_or_default();
    let hook = fields.get("webhook").and_then(|node| webhook(node, names, sink));
    Begun { schedules, hook }
}

/// `webhook: {}`, or `webhook: { into: body }`.
fn webhook(node: &Node<'_>, names: &Names<'_>, sink: &mut Sink<'_>) -> Option<Hook> {
    if matches!(&node.kind, Kind::Scalar(text, style) if resolve(text, *style) == Ok(Value::Null)) {
        return Some(Hook::default());
    }
    let fields = Fields::read(node, "`webhook`", &WEBHOOK, sink)?;
    let Some(node) = fields.get("into") else { return Some(Hook::default()) };
    let into = name(node, "`into`", sink)?;
    if !names.inputs.contains(into.as_str()) {
        let near = sink.meant(&into, names.inputs.iter().copied());
        let help = near.unwrap_or_else(|| format!("declare it: `inputs: {{ {into}: {{ type: any }} }}`"));
        sink.error(node.span, "unknown_input", format!("there is no input {}", shown(&into))).help(Some(help));
        return None;
    }
    Some(Hook { into: Some(into) })
}

/// The schedules of a flow, by their names.
fn schedules(node: &Node<'_>, flow: &Name, sink: &mut Sink<'_>) -> BTreeMap<Name, Schedule> {
    let mut schedules = BTreeMap::new();
    let Some(all) = list(node, "`schedule`", "a list of schedules", sink) else { return schedules };
    for (n, node) in all.iter().enumerate() {
        let Some((named, schedule)) = schedule(node, flow, sink) else { continue };
        let full = match (named, n) {
            (Some(named), _) => format!("{flow}/{named}"),
            (None, 0) => flow.to_string(),
            (None, n) => format!("{flow}/{}", n + 1),
        };
        if full.len() > limits::SCHEDULE_NAME_BYTES {
            let message =
                format!("the name of a schedule has at most {} bytes, `{full}` has more", limits::SCHEDULE_NAME_BYTES);
            sink.error(node.span, "bad_name", message).help(Some("shorten the name of the flow".into()));
            continue;
        }
        let Some(full) = sink.accept(Name::parse(&full), node.span) else { continue };
        if schedules.insert(full.clone(), schedule).is_some() {
            sink.error(node.span, "duplicate_name", format!("there are two schedules `{full}`"));
        }
    }
    schedules
}

fn schedule(node: &Node<'_>, flow: &Name, sink: &mut Sink<'_>) -> Option<(Option<Name>, Schedule)> {
    let fields = Fields::read(node, "a schedule", &SCHEDULE, sink)?;
    let named = fields.get("name").map(|n| name(n, "`name`", sink));
    let when = when(node, &fields, sink);
    let mut schedule = Schedule { declared: true, ..Schedule::new(flow.clone(), when?) };
    if let Some(node) = fields.get("jitter") {
        schedule.jitter = duration(node, "`jitter`", sink)?;
    }
    if let Some(node) = fields.get("overlap") {
        schedule.overlap = choice(node, "`overlap`", &Overlap::ALL, sink)?;
    }
    if let Some(node) = fields.get("catch_up") {
        schedule.catch_up = catch_up(node, sink)?;
    }
    if let Some(node) = fields.get("with") {
        match literal(node, sink) {
            Value::Object(given) => schedule.input = given,
            _ => drop(wrong(node, "`with`", "a map of inputs", sink)),
        }
    }
    match named {
        Some(None) => None,
        Some(named) => Some((named, schedule)),
        None => Some((None, schedule)),
    }
}

/// The one rhythm of a schedule.
fn when(node: &Node<'_>, fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> Option<When> {
    let kinds: Vec<_> = ["cron", "every", "at"].into_iter().filter_map(|key| fields.entry(key)).collect();
    let [entry] = kinds[..] else {
        let message = "a schedule has one of `cron`, `every` or `at`";
        let help = "such as `cron: '0 7 * * 1-5'` or `every: 15m`";
        sink.error(node.span, "missing_key", message).help(Some(help.into()));
        return None;
    };
    for (key, owner) in [("zone", "cron"), ("from", "every")] {
        if let Some(stray) = fields.entry(key).filter(|_| entry.key != owner) {
            sink.error(stray.at, "misplaced_key", format!("`{key}` has no meaning without `{owner}`"));
        }
    }
    match &*entry.key {
        "cron" => {
            let zone = match fields.get("zone") {
                Some(node) => {
                    let zone = text(node, "`zone`", sink)?;
                    sink.accept(find_zone(zone), node.span)?;
                    zone
                }
                None => "UTC",
            };
            let expression = text(&entry.value, "`cron`", sink)?;
            if let Err(error) = Cron::parse(expression) {
                let message = format!("{} (at character {})", error.message, error.at.start + 1);
                sink.error(entry.value.span, "bad_cron", message).help(error.help);
                return None;
            }
            Some(When::Cron { text: expression.to_owned(), zone: zone.to_owned() })
        }
        "every" => {
            let span = some_time(&entry.value, "`every`", sink)?;
            if span < Millis(1_000) {
                sink.error(entry.value.span, "too_often", "a schedule ticks at most once a second");
                return None;
            }
            let from = match fields.get("from") {
                Some(node) => instant(node, "`from`", sink)?,
                None => Time(0),
            };
            Some(When::Every { span, from })
        }
        _ => instant(&entry.value, "`at`", sink).map(When::At),
    }
}

fn instant(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Time> {
    match &node.kind {
        Kind::Scalar(text, _) if text.len() <= 100 => sink.accept(Time::parse(text), node.span),
        _ => {
            wrong(node, what, "an instant such as 2027-01-31T12:00:00Z", sink);
            None
        }
    }
}

fn catch_up(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<u32> {
    if let Kind::Scalar(text, _) = &node.kind
        && let Some(count) = crate::schedule::catch_up_word(text)
    {
        return Some(count);
    }
    let what = "`catch_up` (`none`, `last`, `all` or a number)";
    whole(node, what, 0..=u64::from(limits::CAUGHT_UP), sink).map(|count| count as u32)
}
