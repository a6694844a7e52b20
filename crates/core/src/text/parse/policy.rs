//! Policies: `[retry: 3, backoff: 5s] [timeout: 2m] [NetworkError -> retry: 5] [tolerate: 2, fail_fast]`.
//!
//! Every bracket behind a call is a policy, and each key may stand in any of them, once.

use super::Parser;
use super::slice::Slice;
use crate::limits;
use crate::name::Name;
use crate::plan::Identity;
use crate::rate::Rate;
use crate::retry::Backoff;
use crate::suggest::shown;
use crate::text::tree::{Extent, Gather, Limiting, Naming, Policies, Typed};
use crate::time::Millis;

/// What the brackets stand behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Flow,
    Call,
    Spread,
    Parallel,
    /// A function, which passes nothing on to the actions in it.
    Function,
    /// A spread over a function.
    FunctionSpread,
}

/// What some brackets say together.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Brackets {
    pub(super) policies: Policies,
    pub(super) gather: Gather,
    pub(super) naming: Naming,
}

const RETRY: [&str; 6] = ["retry", "backoff", "kind", "factor", "cap", "jitter"];
const TIMEOUT: [&str; 4] = ["timeout", "overall", "queue_timeout", "heartbeat"];
const SHARE: [&str; 2] = ["queue", "priority"];
/// Keys that belong together: a limit names what is shared, so it stands behind a call.
const LIMIT: [&str; 3] = ["limit", "max", "rate"];
/// What the outside world is told. Of a flow it is no default: it is told when the run ends.
const PUBLISH: &str = "publish";
const GATHER: [&str; 2] = ["tolerate", "fail_fast"];
/// What a flow says of its runs.
const NAMING: [&str; 4] = ["namespace", "labels", "identity", "secrets"];
const KINDS: [(&str, Backoff); 3] =
    [("fixed", Backoff::Fixed), ("linear", Backoff::Linear), ("exponential", Backoff::Exponential)];
/// Keys of YAML, with how they are written here.
const ELSEWHERE: [(&str, &str); 7] = [
    ("max_attempts", "write `retry: 3`"),
    ("attempt", "write `timeout: 2m`"),
    ("base", "write `backoff: 5s`"),
    ("on", "write a bracket for the type: `[NetworkError -> retry: 5]`"),
    ("never", "write a bracket for the type: `[BadInput -> retry: 1]`"),
    ("retryable", "write `retry: 1` for a single attempt"),
    ("key", "write `limit: name, max: 4`"),
];

impl Owner {
    fn takes(self, key: &str) -> bool {
        let actions = matches!(self, Self::Flow | Self::Call | Self::Spread);
        let gathers = matches!(self, Self::Spread | Self::Parallel | Self::FunctionSpread);
        match key {
            _ if NAMING.contains(&key) => self == Self::Flow,
            _ if GATHER.contains(&key) => gathers,
            _ if LIMIT.contains(&key) => matches!(self, Self::Call | Self::Spread),
            _ => actions,
        }
    }

    fn help(self, key: &str) -> String {
        match self {
            _ if NAMING.contains(&key) => format!("put `{key}` behind the parameters of the flow"),
            _ if GATHER.contains(&key) => format!("`{key}` belongs to `spread` and `parallel [{key}…]:`"),
            Self::Function | Self::FunctionSpread => format!("put `{key}` behind the actions in the function"),
            _ => format!("put `{key}` behind each call"),
        }
    }
}

impl<'a> Parser<'_, 'a, '_> {
    /// The brackets that a slice consists of.
    pub(super) fn policies(&mut self, slice: Slice, owner: Owner) -> Option<Brackets> {
        let mut brackets = Brackets::default();
        let mut seen: Vec<&str> = Vec::new();
        let mut good = true;
        let tops: Vec<usize> = self.tops(slice).collect();
        for token in tops {
            if !self.is(slice, token, "[") {
                let at = self.extent(Slice { from: token, to: slice.to });
                let message = format!("{} has no meaning here", shown(self.layout.word(token)));
                let help = "policies stand in brackets, as in `[retry: 3]`";
                self.error(at, "unexpected", message).help(Some(help.into()));
                return None;
            }
            self.notes.policies.insert(token);
            let inner = Slice { from: token + 1, to: self.mate(token) };
            good &= self.bracket(inner, owner, &mut brackets, &mut seen).is_some();
        }
        good = good && self.whole_limit(&brackets.policies.limit);
        good.then_some(brackets)
    }

    /// A limit has a key, and says how many at once or how often.
    fn whole_limit(&mut self, limit: &Limiting) -> bool {
        let Some(at) = limit.at else { return true };
        let message = match (&limit.key, limit.max.is_some() || limit.rate.is_some()) {
            (Some(_), true) => return true,
            (None, _) => "`max` and `rate` need a `limit`: the key that is shared by all that are limited together",
            (Some(_), false) => "`limit` says neither how many at once (`max`) nor how often (`rate`)",
        };
        let help = "such as `[limit: \"registry\", max: 4]`";
        self.error(at, "empty_limit", message).help(Some(help.into()));
        false
    }

    fn bracket(&mut self, slice: Slice, owner: Owner, all: &mut Brackets, seen: &mut Vec<&'a str>) -> Option<()> {
        if slice.is_empty() {
            let at = self.extent(Slice { from: slice.from - 1, to: slice.to + 1 });
            self.error(at, "empty_policy", "this bracket says nothing").help(Some("such as `[retry: 3]`".into()));
            return None;
        }
        let Some(arrow) = self.find(slice, &["->"]) else {
            let mut good = true;
            for piece in self.pieces(slice) {
                good &= self.entry(piece, owner, all, seen).is_some();
            }
            return good.then_some(());
        };
        let typed = self.typed(slice, arrow, owner)?;
        all.policies.typed.push(typed);
        Some(())
    }

    /// `Type, Type -> retry: 5`.
    fn typed(&mut self, slice: Slice, arrow: usize, owner: Owner) -> Option<Typed> {
        let types: Vec<Slice> = self.pieces(slice.before(arrow));
        let types = types.into_iter().map(|piece| self.error_type(piece)).collect::<Option<Vec<_>>>();
        if types.as_ref().is_some_and(Vec::is_empty) {
            let at = self.extent(Slice { from: arrow, to: arrow + 1 });
            self.error(at, "bad_policy", "the type of the failure is missing before `->`")
                .help(Some("such as `[NetworkError -> retry: 5]`".into()));
            return None;
        }
        let mut typed = Brackets::default();
        let mut keys = Vec::new();
        let mut good = true;
        for piece in self.pieces(slice.after(arrow)) {
            let key = piece.from < piece.to && RETRY.contains(&self.layout.word(piece.from));
            if !key {
                let help = format!("keys are {}", listed(&RETRY));
                let message = format!("behind `->` stands how to retry, not {}", shown(self.text(piece)));
                self.error(self.extent(piece), "bad_policy", message).help(Some(help));
                good = false;
                continue;
            }
            good &= self.entry(piece, owner, &mut typed, &mut keys).is_some();
        }
        if keys.is_empty() && good {
            let at = self.extent(Slice { from: arrow, to: arrow + 1 });
            self.error(at, "bad_policy", "nothing stands behind `->`").help(Some("such as `retry: 5`".into()));
            return None;
        }
        Some(Typed { types: types?, retry: typed.policies.retry }).filter(|_| good)
    }

    /// `key: value`, or `key` alone for `fail_fast`.
    fn entry(&mut self, slice: Slice, owner: Owner, all: &mut Brackets, seen: &mut Vec<&'a str>) -> Option<()> {
        let colon = self.find(slice, &[":", "="]);
        let key = colon.map_or(slice, |colon| slice.before(colon));
        let word = self.key(key, owner, seen)?;
        match colon {
            Some(colon) if self.layout.word(colon) == "=" => {
                let at = self.extent(Slice { from: colon, to: colon + 1 });
                let message = "policies have `:` between key and value";
                self.error(at, "unexpected", message).help(Some(format!("write `{word}: …`")));
                None
            }
            Some(colon) => self.set(word, slice.after(colon), all),
            None if word == "fail_fast" => {
                all.gather.fail_fast = true;
                Some(())
            }
            None => {
                let help = format!("such as `{word}: {}`", example(word));
                self.error(self.extent(key), "missing_value", format!("`{word}` has no value")).help(Some(help));
                None
            }
        }
    }

    /// A key that is known, has a meaning here, and is not there yet.
    fn key(&mut self, key: Slice, owner: Owner, seen: &mut Vec<&'a str>) -> Option<&'a str> {
        let (at, word) = (self.extent(key), self.text(key));
        let known =
            RETRY.iter().chain(&TIMEOUT).chain(&SHARE).chain(&LIMIT).chain(&GATHER).chain(&NAMING).chain([&PUBLISH]);
        if !known.clone().any(|k| *k == word) {
            let elsewhere = ELSEWHERE.iter().find(|(k, _)| *k == word).map(|(_, help)| (*help).to_owned());
            let near = elsewhere.or_else(|| self.sink.meant(word, known.clone().copied()));
            let all: Vec<&str> = known.copied().filter(|k| owner.takes(k)).collect();
            let help = near.unwrap_or_else(|| format!("keys are {}", listed(&all)));
            self.error(at, "unknown_key", format!("there is no policy {}", shown(word))).help(Some(help));
            return None;
        }
        if !owner.takes(word) {
            let message = format!("`{word}` has no meaning here");
            self.error(at, "misplaced_key", message).help(Some(owner.help(word)));
            return None;
        }
        if seen.contains(&word) {
            self.error(at, "duplicate_key", format!("`{word}` is given twice"))
                .help(Some("remove one of the two".into()));
            return None;
        }
        seen.push(word);
        Some(word)
    }

    fn set(&mut self, key: &str, slice: Slice, all: &mut Brackets) -> Option<()> {
        let (retry, timeouts) = (&mut all.policies.retry, &mut all.policies.timeouts);
        match key {
            "retry" => retry.max_attempts = Some(self.whole(slice, key, 1..=u64::from(limits::MAX_ATTEMPTS))? as u16),
            "backoff" => retry.base = Some(self.duration(slice, key)?),
            "cap" => retry.cap = Some(self.duration(slice, key)?),
            "kind" => retry.kind = Some(self.choice(slice, key, &KINDS)?),
            "factor" => retry.factor_milli = Some(self.factor(slice)?),
            "jitter" => retry.jitter_percent = Some(self.whole(slice, key, 0..=100)? as u8),
            "timeout" => timeouts.attempt = Some(self.some_time(slice, key)?),
            "overall" => timeouts.overall = Some(self.some_time(slice, key)?),
            "queue_timeout" => timeouts.queue = Some(self.some_time(slice, key)?),
            "heartbeat" => timeouts.heartbeat = Some(self.some_time(slice, key)?),
            "queue" | "priority" | "limit" | "max" | "rate" => return self.share(key, slice, &mut all.policies),
            "tolerate" => all.gather.tolerate = self.whole(slice, key, 0..=limits::SPREAD_ITEMS as u64)? as u32,
            "namespace" => {
                let at = self.extent(slice);
                all.naming.namespace = Some(self.accept(Name::parse(self.text(slice)), at)?);
            }
            "identity" => all.naming.identity = self.choice(slice, key, &Identity::ALL)?,
            PUBLISH => all.policies.publish = Some(self.expression(slice, "`publish`")?),
            "labels" => all.naming.labels = Some(self.expression(slice, "the labels")?),
            "secrets" => all.naming.secrets = Some(self.expression(slice, "the secrets")?),
            _ => all.gather.fail_fast = self.choice(slice, key, &[("true", true), ("false", false)])?,
        }
        Some(())
    }

    /// How a call takes its turn among others.
    fn share(&mut self, key: &str, slice: Slice, policies: &mut Policies) -> Option<()> {
        match key {
            "queue" => {
                let name = Name::parse(self.quoted(slice).unwrap_or_else(|| self.text(slice)));
                if name.is_err() && self.text(slice).starts_with(|c: char| c.is_ascii_digit()) {
                    let message = "`queue` is the name of a queue, not a time";
                    let help = "how long to wait there is `queue_timeout: 10m`";
                    self.error(self.extent(slice), "bad_value", message).help(Some(help.into()));
                    return None;
                }
                policies.queue = Some(self.accept(name, self.extent(slice))?);
            }
            "priority" => {
                let number = self.text(slice).replace(' ', "").parse::<i16>().ok();
                let Some(number) = number.filter(|n| limits::PRIORITY.contains(n)) else {
                    let (low, high) = (limits::PRIORITY.start(), limits::PRIORITY.end());
                    return self.expected(slice, key, &format!("a whole number from {low} to {high}"));
                };
                policies.priority = Some(number);
            }
            "limit" => policies.limit.key = Some(self.expression(slice, "`limit`")?),
            "max" => policies.limit.max = Some(self.whole(slice, key, 1..=limits::SLOTS.into())? as u32),
            _ => {
                let text = self.quoted(slice).unwrap_or_else(|| self.text(slice)).replace(' ', "");
                policies.limit.rate = Some(self.accept(Rate::parse(&text), self.extent(slice))?);
            }
        }
        if LIMIT.contains(&key) {
            policies.limit.at = Some(self.extent(slice));
        }
        Some(())
    }

    pub(super) fn duration(&mut self, slice: Slice, key: &str) -> Option<Millis> {
        let text = self.text(slice);
        match Millis::parse(text) {
            Ok(found) if text == text.trim() && slice.len() == 1 => Some(found),
            _ => self.expected(slice, key, "a duration"),
        }
    }

    pub(super) fn some_time(&mut self, slice: Slice, key: &str) -> Option<Millis> {
        let found = self.duration(slice, key)?;
        if found.0 == 0 {
            return self.expected(slice, key, "a duration of more than zero");
        }
        Some(found)
    }

    pub(super) fn whole(&mut self, slice: Slice, key: &str, within: std::ops::RangeInclusive<u64>) -> Option<u64> {
        match self.text(slice).parse::<u64>() {
            Ok(found) if within.contains(&found) => Some(found),
            _ => {
                let what = format!("a whole number from {} to {}", within.start(), within.end());
                self.expected(slice, key, &what)
            }
        }
    }

    fn factor(&mut self, slice: Slice) -> Option<u32> {
        match self.text(slice).parse::<f64>() {
            Ok(found) if (1.0..=1_000.0).contains(&found) => Some((found * 1_000.0).round() as u32),
            _ => self.expected(slice, "factor", "a number from 1 to 1000"),
        }
    }

    pub(super) fn choice<T: Copy>(&mut self, slice: Slice, key: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(slice);
        if let Some((_, found)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*found);
        }
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.expected(slice, key, &format!("one of {}", listed(&words)))
    }

    /// Says what was expected of a value; nothing comes of it.
    pub(super) fn expected<T>(&mut self, slice: Slice, key: &str, what: &str) -> Option<T> {
        let at: Extent = self.extent(slice);
        let found = self.text(slice);
        let message = match found.is_empty() {
            true => format!("`{key}` has no value: expected {what}"),
            false => format!("`{key}` is {what}, not {}", shown(found)),
        };
        self.error(at, "bad_value", message).help(Some(format!("such as `{}`", example(key))));
        None
    }
}

fn example(key: &str) -> &'static str {
    match key {
        "retry" => "3",
        "priority" => "5",
        "max" => "4",
        "queue" => "nightly",
        "rate" => "\"10/s\"",
        "limit" => "\"registry\"",
        "tolerate" | "count" => "2",
        "escalate" => "{1d: [boss]}",
        "factor" => "2",
        "jitter" => "10",
        "kind" => "exponential",
        "fail_fast" => "fail_fast",
        "namespace" => "data",
        "identity" => "strict",
        "labels" => "{\"team\": \"core\"}",
        "secrets" => "[\"TOKEN\"]",
        PUBLISH => "\"order.shipped\"",
        "on_deadline" => "reject",
        "from" => "[\"lead\", \"security\"]",
        _ => "30s",
    }
}

fn listed(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
