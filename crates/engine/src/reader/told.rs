//! The events of a whole workspace, in the order of its ledger. What an event of a run means is told by that run; here
//! it is told that it happened.

use super::Reader;
use crate::facts::rfc3339;
use crate::nesting::compact;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_store::{Position, Stored};
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::fmt;

/// An event, and where in the ledger it stands.
#[derive(Debug, Clone, Serialize)]
pub struct Told {
    /// The place of its record in the order over all streams.
    pub position: u64,
    /// Its place in the record, from 0.
    pub place: u32,
    /// `run/…`, `work` or `control`.
    pub stream: String,
    /// Which run, where it is one of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Its place in its stream.
    pub seq: u64,
    /// Its id.
    pub event_id: EventId,
    /// When it was committed.
    pub time: Option<String>,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: String,
    /// Which engine wrote it.
    pub source: String,
    /// What it says, as it is kept.
    pub payload: Box<RawValue>,
}

/// A record as it is kept, whatever stream it is of.
#[derive(Deserialize)]
struct Kept {
    id: EventId,
    at: Time,
    by: String,
    e: Vec<One>,
}

/// An event as it is kept: its kind, and what it says. That is not looked into: it is told as it stands there.
struct One {
    kind: String,
    payload: Option<Box<RawValue>>,
}

impl<'de> Deserialize<'de> for One {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_any(OneForm)
    }
}

struct OneForm;

impl<'de> Visitor<'de> for OneForm {
    type Value = One;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an event: its kind, or an object with its kind as the only key")
    }

    fn visit_str<E: de::Error>(self, kind: &str) -> std::result::Result<One, E> {
        Ok(One { kind: kind.to_owned(), payload: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<One, A::Error> {
        let (kind, payload) = map.next_entry()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
        match map.next_key::<IgnoredAny>()? {
            None => Ok(One { kind, payload: Some(payload) }),
            Some(_) => Err(de::Error::invalid_length(2, &self)),
        }
    }
}

impl Reader {
    /// The events of the records after a position, and the position that was looked at last; the same one if there is
    /// nothing more. Of settings it is not told what they are: some are secrets.
    pub fn told(&mut self, after: Position, records: usize) -> Result<(Vec<Told>, Position)> {
        let page = self.ledger.read_all(after, records)?;
        let last = page.last().map_or(after, |stored| stored.position);
        let mut all = Vec::new();
        for stored in page {
            if stored.stream.tenant == self.home.tenant && stored.stream.workspace == self.home.workspace {
                events(&stored, &mut all)?;
            }
        }
        Ok((all, last))
    }

    /// Where the ledger ends.
    pub fn tail(&mut self) -> Result<Position> {
        self.ledger.tail()
    }
}

fn events(stored: &Stored, all: &mut Vec<Told>) -> Result<()> {
    stored.record.verify(&stored.stream.label())?;
    let kept: Kept = serde_json::from_slice(&stored.record.bytes).map_err(|error| {
        Error::corrupt("bad_record", format!("the record at {} cannot be read: {error}", stored.position.0))
    })?;
    let (run, stream) = match stored.stream.run {
        RunId::CONTROL => (None, "control".to_owned()),
        RunId::WORK => (None, "work".to_owned()),
        run => (Some(run), format!("run/{run}")),
    };
    let time = rfc3339(kept.at);
    for (place, One { kind, payload }) in (0..).zip(kept.e) {
        let payload = match payload {
            Some(payload) if stored.stream.run == RunId::CONTROL && kind == "SettingChanged" => unsaid(&payload)?,
            Some(payload) if payload.get().contains(['\n', '\r']) => on_one_line(&payload)?,
            Some(payload) => payload,
            None => RawValue::NULL.to_owned(),
        };
        all.push(Told {
            position: stored.position.0,
            place,
            stream: stream.clone(),
            run,
            seq: stored.record.first + u64::from(place),
            event_id: kept.id.plus(u64::from(place)),
            time: time.clone(),
            kind,
            source: kept.by.clone(),
            payload,
        });
    }
    Ok(())
}

/// A setting that was changed, without what it was set to.
fn unsaid(payload: &RawValue) -> Result<Box<RawValue>> {
    let mut fields: Map<String, Value> = serde_json::from_str(payload.get()).map_err(unprintable)?;
    fields.remove("value");
    to_raw_value(&fields).map_err(unprintable)
}

/// An output is kept as its worker wrote it, perhaps over several lines: where an event is told, a line ends it.
fn on_one_line(payload: &RawValue) -> Result<Box<RawValue>> {
    // Not read as a value: one that is nested too deep for that would end the stream of everybody, again and again.
    RawValue::from_string(compact(payload.get())).map_err(unprintable)
}

fn unprintable(error: serde_json::Error) -> Error {
    Error::bug("unprintable", "an event has no JSON form").with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use edgewise_core::event::Record;
    use edgewise_core::name::Name;
    use edgewise_store::Stream;

    fn told(run: RunId, e: &str) -> Result<Vec<Told>> {
        let name = |text| Name::parse(text).unwrap();
        let stream = Stream { tenant: name("local"), workspace: name("default"), run };
        let bytes = format!("{{\"v\":1,\"id\":\"{}\",\"at\":5,\"by\":\"e1\",\"e\":{e}}}", EventId(9));
        let record = Record::new(&stream.label(), 7, 2, bytes.into_bytes());
        let mut all = Vec::new();
        events(&Stored { position: Position(3), stream, record }, &mut all).map(|()| all)
    }

    #[test]
    fn an_event_is_told_as_it_is_kept_on_one_line_and_settings_without_their_values() {
        let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
        let setting = r#"[{"SettingChanged":{"key":"k","value":{"secret":1},"by":"ann"}}]"#;
        for (run, kept, expected) in [
            (RunId(1), r#"["RunPaused"]"#, &[("RunPaused", "null")][..]),
            (RunId(1), r#"[{"A":{"b":1.50,"c":[]}},"B"]"#, &[("A", r#"{"b":1.50,"c":[]}"#), ("B", "null")]),
            (RunId(1), "[{\"A\":{\n \"b\":\r\n 1}}]", &[("A", r#"{"b":1}"#)]),
            (RunId(1), &format!("[{{\"A\":{deep}\n}}]"), &[("A", &deep)]),
            (RunId::CONTROL, setting, &[("SettingChanged", r#"{"by":"ann","key":"k"}"#)]),
        ] {
            let told = told(run, kept).unwrap();
            let found: Vec<_> = told.iter().map(|one| (one.kind.as_str(), one.payload.get())).collect();
            assert_eq!(found, expected, "{kept}");
            let places: Vec<_> = told.iter().map(|one| (one.position, one.place, one.seq)).collect();
            assert_eq!(places, [(3, 0, 7), (3, 1, 8)][..found.len()], "{kept}");
        }
        for bad in ["[{}]", r#"[{"A":1,"B":2}]"#, "[1]", "7"] {
            assert_eq!(told(RunId(1), bad).unwrap_err().code, "bad_record", "{bad}");
        }
    }
}
