//! `wait approval(…)`, `wait webhook(…)`, `wait external(…)`, `wait shared(…)` and `wait until "…"`: gates, as the rest of
//! the core knows them.

use super::Parser;
use super::slice::Slice;
use crate::gate::{Escalation, Gate, OnDeadline, Wait};
use crate::limits;
use crate::name::Name;
use crate::suggest::shown;
use crate::template::Template;
use crate::text::layout::Kind;
use crate::text::tree::Waiting;
use crate::time::Time;
use crate::work::ItemId;

const APPROVAL: [&str; 5] = ["from", "count", "deadline", "on_deadline", "escalate"];
const WEBHOOK: [&str; 2] = ["deadline", "on_deadline"];
const EXTERNAL: [&str; 4] = ["system", "id", "deadline", "on_deadline"];
const SHARED: [&str; 3] = ["gate", "deadline", "on_deadline"];
const HELP: &str = "write `wait approval(count=1)`, `wait webhook()`, `wait external(system=\"jira\", id=ticket)`, `wait shared(\"ew-g1\")` or `wait until \"2027-01-31T12:00:00Z\"`";

impl Parser<'_, '_, '_> {
    pub(super) fn wait(&mut self, slice: Slice) -> Option<Waiting> {
        let word = if slice.is_empty() { "" } else { self.layout.word(slice.from) };
        match word {
            "approval" => self.approval(slice).map(Waiting::plain),
            "webhook" => {
                let [deadline, on_deadline] = self.keys(slice, "webhook", WEBHOOK)?;
                self.bounded(Wait::Webhook, deadline, on_deadline).map(Waiting::plain)
            }
            "external" => self.external(slice),
            "shared" => self.shared(slice),
            "until" => self.until(slice.after(slice.from)).map(Waiting::plain),
            _ => {
                let timed = self.kind(slice, slice.from) == Some(Kind::Number) || matches!(word, "timer" | "for");
                let kinds = ["approval", "webhook", "external", "shared", "until"];
                let help = match word {
                    _ if timed => "time that passes is slept: `sleep 5m`".to_owned(),
                    _ => self.sink.meant(word, kinds).unwrap_or_else(|| HELP.to_owned()),
                };
                let at = self.extent(slice);
                let message = "`wait` is for `approval`, `webhook`, `external`, `shared` or `until` an instant";
                self.error(at, "bad_wait", message).help(Some(help));
                None
            }
        }
    }

    fn until(&mut self, slice: Slice) -> Option<Gate> {
        let at = self.extent(slice);
        let Some(text) = self.quoted(slice) else {
            let message = "`wait until` takes an instant that stands in the text";
            let help =
                "write it in quotes, as in `\"2027-01-31T12:00:00Z\"`; a computed time is slept: `sleep seconds`";
            self.error(at, "bad_value", message).help(Some(help.into()));
            return None;
        };
        let time = Time::parse(text);
        let time = self.accept(time, at)?;
        Some(Gate::new(Wait::Until(time)))
    }

    /// What stands between plain quotes.
    pub(super) fn quoted(&self, slice: Slice) -> Option<&str> {
        let text = (slice.len() == 1 && self.kind(slice, slice.from) == Some(Kind::Text)).then(|| self.text(slice))?;
        let mark = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (inner.len() <= limits::NAME_BYTES && !inner.contains(['\\', '"', '\''])).then_some(inner)
    }

    /// `approval(from=[…], count=2, deadline=2d, on_deadline=reject, escalate={1d: [boss]})`.
    fn approval(&mut self, slice: Slice) -> Option<Gate> {
        let [from, count, deadline, on_deadline, escalate] = self.keys(slice, "approval", APPROVAL)?;
        let people = match from {
            Some(slice) => self.people(slice, "from", &[])?,
            None => Vec::new(),
        };
        let escalate = match escalate {
            Some(slice) => self.escalate(slice, &people)?,
            None => Vec::new(),
        };
        let mut needed = people.len().max(1) as u64;
        if let Some(slice) = count {
            needed = self.whole(slice, "count", 1..=limits::APPROVERS as u64)?;
            let may = people.len() + escalate.iter().map(|step| step.to.len()).sum::<usize>();
            if !people.is_empty() && needed as usize > may {
                let message = format!("{needed} approvals are needed, but only {may} may approve");
                self.error(self.extent(slice), "bad_count", message)
                    .help(Some("name more people or lower `count`".into()));
                return None;
            }
        }
        let gate = self.bounded(Wait::Approval { from: people, count: needed as u32 }, deadline, on_deadline)?;
        Some(Gate { escalate, ..gate })
    }

    /// `{4h: [boss], 1d: [owner]}`: who else is asked, and after how long; each later than the one before.
    fn escalate(&mut self, slice: Slice, first: &[Name]) -> Option<Vec<Escalation>> {
        const SHAPE: &str = "a map of durations and names";
        if first.is_empty() {
            let message = "`escalate` has a meaning only where `from` names people";
            self.error(self.extent(slice), "misplaced_key", message).help(Some("name who is asked first".into()));
            return None;
        }
        if !self.is(slice, slice.from, "{") || self.mate(slice.from) + 1 != slice.to {
            return self.expected(slice, "escalate", SHAPE);
        }
        let mut known = first.to_vec();
        let mut steps: Vec<Escalation> = Vec::new();
        for piece in self.pieces(Slice { from: slice.from + 1, to: slice.to - 1 }) {
            let Some(colon) = self.find(piece, &[":"]) else { return self.expected(piece, "escalate", SHAPE) };
            let after = self.some_time(piece.before(colon), "escalate")?;
            let to = self.people(piece.after(colon), "escalate", &known)?;
            if to.is_empty() {
                return self.expected(piece.after(colon), "escalate", SHAPE);
            }
            if steps.last().is_some_and(|last| last.after >= after) {
                let message = "each step of `escalate` comes later than the one before";
                self.error(self.extent(piece), "bad_duration", message).help(Some("put them in their order".into()));
                return None;
            }
            known.extend(to.iter().cloned());
            steps.push(Escalation { after, to });
        }
        Some(steps)
    }

    /// `external(system="jira", id=ticket)`.
    fn external(&mut self, slice: Slice) -> Option<Waiting> {
        let [system, id, deadline, on_deadline] = self.keys(slice, "external", EXTERNAL)?;
        let (Some(system), Some(id)) = (system, id) else {
            let help = "such as `wait external(system=\"jira\", id=\"ABC-1\")`";
            self.error(self.extent(slice), "missing_key", "`external` needs `system` and `id`").help(Some(help.into()));
            return None;
        };
        let name = Name::parse(self.quoted(system).unwrap_or_else(|| self.text(system)));
        let system = self.accept(name, self.extent(system))?;
        let id = self.expression(id, "`id`")?;
        let gate = self.bounded(Wait::External { system, id: Template::default() }, deadline, on_deadline)?;
        Some(Waiting { gate, id: Some(id) })
    }

    /// `shared("ew-g1")`.
    fn shared(&mut self, slice: Slice) -> Option<Waiting> {
        let [gate, deadline, on_deadline] = self.keys(slice, "shared", SHARED)?;
        let Some(named) = gate else {
            let help = "such as `wait shared(\"ew-g1\")`";
            self.error(self.extent(slice), "missing_key", "`shared` needs `gate`").help(Some(help.into()));
            return None;
        };
        if let Some(id) = self.quoted(named) {
            let id = ItemId::parse(id);
            self.accept(id, self.extent(named))?;
        }
        let id = self.expression(named, "`gate`")?;
        let gate = self.bounded(Wait::Shared { gate: Template::default() }, deadline, on_deadline)?;
        Some(Waiting { gate, id: Some(id) })
    }

    /// The values of the keys in the parentheses behind a word, in the order of `known`.
    fn keys<const N: usize>(&mut self, slice: Slice, what: &str, known: [&str; N]) -> Option<[Option<Slice>; N]> {
        let open = slice.from + 1;
        if !self.is(slice, open, "(") || self.mate(open) + 1 != slice.to {
            let at = self.extent(slice.after(slice.from));
            self.error(at, "bad_wait", format!("`{what}` is written with parentheses")).help(Some(HELP.into()));
            return None;
        }
        let mut values: [Option<Slice>; N] = [None; N];
        for piece in self.pieces(Slice { from: open + 1, to: self.mate(open) }) {
            // The one that is always said needs no name.
            let bare = what == "shared" && !piece.is_empty() && !self.is(piece, piece.from + 1, "=");
            if bare && values[0].is_none() {
                values[0] = Some(piece);
                continue;
            }
            let key = if piece.is_empty() { "" } else { self.layout.word(piece.from) };
            let found = known.iter().position(|k| *k == key).filter(|_| self.is(piece, piece.from + 1, "="));
            let Some(n) = found else {
                let near = self.sink.meant(key, known);
                let help = near.unwrap_or_else(|| {
                    let all: Vec<String> = known.iter().map(|key| format!("`{key}=`")).collect();
                    format!("keys are {}", all.join(", "))
                });
                let message = format!("`{what}` has no {}", shown(self.text(piece)));
                self.error(self.extent(piece), "unknown_key", message).help(Some(help));
                return None;
            };
            if values[n].is_some() {
                self.error(self.extent(piece), "duplicate_key", format!("`{key}` is given twice"))
                    .help(Some("remove one of the two".into()));
                return None;
            }
            values[n] = Some(piece.after(piece.from + 1));
        }
        Some(values)
    }

    /// A gate with its deadline, and what happens then.
    fn bounded(&mut self, wait: Wait, deadline: Option<Slice>, on_deadline: Option<Slice>) -> Option<Gate> {
        let deadline = match deadline {
            Some(slice) => Some(self.some_time(slice, "deadline")?),
            None => None,
        };
        let mut ends = OnDeadline::default();
        if let Some(slice) = on_deadline {
            ends = self.choice(slice, "on_deadline", &[("reject", OnDeadline::Reject), ("open", OnDeadline::Open)])?;
            if deadline.is_none() {
                self.error(self.extent(slice), "misplaced_key", "`on_deadline` has no meaning without `deadline`")
                    .help(Some("add a deadline, such as `deadline=2d`".into()));
                return None;
            }
        }
        Some(Gate { deadline, on_deadline: ends, ..Gate::new(wait) })
    }

    /// `[lead, "quality"]`: names, as words or in quotes, and none that is known already.
    fn people(&mut self, slice: Slice, key: &str, known: &[Name]) -> Option<Vec<Name>> {
        if !self.is(slice, slice.from, "[") || self.mate(slice.from) + 1 != slice.to {
            return self.expected(slice, key, "a list of names");
        }
        let pieces = self.pieces(Slice { from: slice.from + 1, to: slice.to - 1 });
        if pieces.len() > limits::APPROVERS {
            let message = format!("{} people may approve, at most {} are allowed", pieces.len(), limits::APPROVERS);
            self.error(self.extent(slice), "too_many_approvers", message).help(Some("name fewer people".into()));
            return None;
        }
        let mut people: Vec<Name> = Vec::new();
        for piece in pieces {
            let text = self.quoted(piece).unwrap_or_else(|| self.text(piece));
            let name = Name::parse(text);
            let person = self.accept(name, self.extent(piece))?;
            if people.contains(&person) || known.contains(&person) {
                self.error(self.extent(piece), "duplicate_name", format!("`{person}` is named twice"))
                    .help(Some("remove one of the two".into()));
                return None;
            }
            people.push(person);
        }
        Some(people)
    }
}
