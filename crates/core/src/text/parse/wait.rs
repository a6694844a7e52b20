//! `wait approval(…)` and `wait until "…"`: gates, as the rest of the core knows them.

use super::Parser;
use super::slice::Slice;
use crate::gate::{Gate, OnDeadline, Wait};
use crate::limits;
use crate::name::Name;
use crate::suggest::shown;
use crate::text::layout::Kind;
use crate::time::Time;

const KEYS: [&str; 4] = ["from", "count", "deadline", "on_deadline"];
const HELP: &str = "write `wait approval(count=1)` or `wait until \"2027-01-31T12:00:00Z\"`";

impl Parser<'_, '_, '_> {
    pub(super) fn wait(&mut self, slice: Slice) -> Option<Gate> {
        let word = if slice.is_empty() { "" } else { self.layout.word(slice.from) };
        match word {
            "approval" => self.approval(slice),
            "until" => self.until(slice.after(slice.from)),
            _ => {
                let timed = self.kind(slice, slice.from) == Some(Kind::Number) || matches!(word, "timer" | "for");
                let help = match word {
                    _ if timed => "time that passes is slept: `sleep 5m`".to_owned(),
                    "external" | "webhook" => "use `approval` and let the other system approve".to_owned(),
                    _ => self.sink.meant(word, ["approval", "until"]).unwrap_or_else(|| HELP.to_owned()),
                };
                let at = self.extent(slice);
                self.error(at, "bad_wait", "`wait` is for `approval` or `until` an instant").help(Some(help));
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
        Some(Gate { wait: Wait::Until(time), deadline: None, on_deadline: OnDeadline::default(), escalate: Vec::new() })
    }

    /// What stands between plain quotes.
    pub(super) fn quoted(&self, slice: Slice) -> Option<&str> {
        let text = (slice.len() == 1 && self.kind(slice, slice.from) == Some(Kind::Text)).then(|| self.text(slice))?;
        let mark = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (inner.len() <= limits::NAME_BYTES && !inner.contains(['\\', '"', '\''])).then_some(inner)
    }

    /// `approval(from=[…], count=2, deadline=2d, on_deadline=reject)`.
    fn approval(&mut self, slice: Slice) -> Option<Gate> {
        let open = slice.from + 1;
        if !self.is(slice, open, "(") || self.mate(open) + 1 != slice.to {
            let at = self.extent(slice.after(slice.from));
            self.error(at, "bad_wait", "`approval` is written with parentheses").help(Some(HELP.into()));
            return None;
        }
        let mut values: [Option<Slice>; 4] = [None; 4];
        for piece in self.pieces(Slice { from: open + 1, to: self.mate(open) }) {
            let key = if piece.is_empty() { "" } else { self.layout.word(piece.from) };
            let known = KEYS.iter().position(|k| *k == key).filter(|_| self.is(piece, piece.from + 1, "="));
            let Some(n) = known else {
                let near = self.sink.meant(key, KEYS);
                let help =
                    near.unwrap_or_else(|| "keys are `from=`, `count=`, `deadline=` and `on_deadline=`".to_owned());
                let message = format!("`approval` has no {}", shown(self.text(piece)));
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
        self.gate(values)
    }

    fn gate(&mut self, [from, count, deadline, on_deadline]: [Option<Slice>; 4]) -> Option<Gate> {
        let people = match from {
            Some(slice) => self.people(slice)?,
            None => Vec::new(),
        };
        let mut needed = people.len().max(1) as u64;
        if let Some(slice) = count {
            needed = self.whole(slice, "count", 1..=limits::APPROVERS as u64)?;
            if !people.is_empty() && needed as usize > people.len() {
                let message = format!("{needed} approvals are needed, but only {} may approve", people.len());
                self.error(self.extent(slice), "bad_count", message)
                    .help(Some("name more people or lower `count`".into()));
                return None;
            }
        }
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
        Some(Gate {
            wait: Wait::Approval { from: people, count: needed as u32 },
            deadline,
            on_deadline: ends,
            escalate: Vec::new(),
        })
    }

    /// `[lead, "quality"]`: names, as words or in quotes.
    fn people(&mut self, slice: Slice) -> Option<Vec<Name>> {
        if !self.is(slice, slice.from, "[") || self.mate(slice.from) + 1 != slice.to {
            return self.expected(slice, "from", "a list of names");
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
            if people.contains(&person) {
                self.error(self.extent(piece), "duplicate_name", format!("`{person}` is named twice"))
                    .help(Some("remove one of the two".into()));
                return None;
            }
            people.push(person);
        }
        Some(people)
    }
}
