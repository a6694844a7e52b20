//! A search as people type it: `state:failed flow:release since:1d label.team=web -by:ann`.
//!
//! Words that are no such pair are looked for in names of flows and at the beginning of ids. Everything must be so;
//! a `-` or `!` before it says that it must not. Whatever is not understood is refused with its place and the nearest
//! right word, so that a typo never lists, or cancels, something else.

use edgewise_core::name::Name;
use edgewise_core::state::{Phase, RunState};
use edgewise_core::suggest::{nearest, shown};
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use edgewise_store::{RunFilter, Term};

/// What can stand before a colon.
const KEYS: [&str; 8] = ["state", "flow", "since", "until", "by", "key", "namespace", "id"];
/// What the key of a label begins with.
const LABEL: &str = "label.";
const PHASES: [Phase; 7] =
    [Phase::Ready, Phase::Running, Phase::Waiting, Phase::Blocked, Phase::Succeeded, Phase::Failed, Phase::Cancelled];

/// Reads a search. Spans such as `1d` are counted back from `now`; the limit is left to the caller.
pub fn parse(text: &str, now: Time) -> Result<RunFilter> {
    let mut filter = RunFilter::default();
    let mut states: Option<Vec<RunState>> = None;
    for piece in pieces(text)? {
        match piece.key.as_deref() {
            Some("state") => {
                let found = piece.states(&mut filter)?;
                let both = |found: Vec<RunState>| match states.take() {
                    Some(before) => before.into_iter().filter(|state| found.contains(state)).collect(),
                    None => found,
                };
                states = found.map(both).or(states.take());
            }
            Some("since") => filter.since = filter.since.max(Some(piece.instant(now)?)),
            Some("until") => {
                let until = piece.instant(now)?;
                filter.until = Some(filter.until.map_or(until, |before| before.min(until)));
            }
            _ => {
                let term = piece.term()?;
                if piece.not { filter.not.push(term) } else { filter.terms.push(term) }
            }
        }
    }
    if let Some(states) = states {
        if states.is_empty() {
            let message = "no run is in all of these states at once; a comma means either: `state:failed,cancelled`";
            return Err(Error::invalid("bad_query", message));
        }
        filter.states = states;
    }
    Ok(filter)
}

/// One word of a search.
struct Piece {
    /// Where it stands, from 1.
    at: usize,
    /// As it was typed.
    whole: String,
    not: bool,
    key: Option<String>,
    value: String,
}

impl Piece {
    fn refuse(&self, why: impl std::fmt::Display) -> Error {
        let message = format!("{} at character {} of the search: {why}", shown(&self.whole), self.at);
        Error::invalid("bad_query", message)
    }

    fn name(&self) -> Result<Name> {
        Name::parse(&self.value).map_err(|error| self.refuse(error.message))
    }

    fn term(&self) -> Result<Term> {
        let Some(key) = self.key.as_deref() else { return Ok(Term::Word(self.value.to_ascii_lowercase())) };
        if let Some(label) = key.strip_prefix(LABEL) {
            Name::parse(label).map_err(|error| self.refuse(error.message))?;
            return Ok(Term::Label(label.to_owned(), self.value.clone()));
        }
        match key {
            "flow" => self.name().map(Term::Flow),
            "by" => self.name().map(Term::By),
            "namespace" => self.name().map(Term::Namespace),
            "key" => Ok(Term::Key(self.value.clone())),
            "id" => {
                let run = edgewise_core::id::RunId::parse(&self.value.to_ascii_lowercase());
                run.map(Term::Run).map_err(|error| self.refuse(error.message))
            }
            _ => Err(self.unknown(key)),
        }
    }

    fn unknown(&self, key: &str) -> Error {
        let labelled = key.split_once('.').filter(|(word, _)| nearest(word, ["label"]).is_some());
        if let Some((_, label)) = labelled {
            return self.refuse(format!("there is no `{key}`; did you mean `{LABEL}{label}=`?"));
        }
        let near = nearest(key, KEYS.into_iter().chain(["label"]));
        let near = near.map(|near| if near == "label" { "label.KEY=" } else { near });
        let known = KEYS.map(|key| format!("`{key}:`")).join(", ");
        match near {
            Some("label.KEY=") => self.refuse("a label is searched by its key: `label.team=web`"),
            Some(near) => self.refuse(format!("there is no `{key}:`; did you mean `{near}:`?")),
            None => self.refuse(format!("there is no `{key}:`; there are {known} and `label.KEY=`")),
        }
    }

    /// The states that are meant; `None` for a word that is about something else than states.
    fn states(&self, filter: &mut RunFilter) -> Result<Option<Vec<RunState>>> {
        let beside = [("paused", Term::Paused), ("frozen", Term::Frozen)];
        if let Some((_, term)) = beside.into_iter().find(|(word, _)| self.value.eq_ignore_ascii_case(word)) {
            if self.not {
                filter.not.push(term);
            } else {
                filter.terms.push(term);
            }
            return Ok(None);
        }
        let mut found = Vec::new();
        for word in self.value.split(',') {
            found.extend(states_of(word).ok_or_else(|| self.no_state(word))?);
        }
        Ok(Some(RunState::ALL.into_iter().filter(|state| found.contains(state) != self.not).collect()))
    }

    fn no_state(&self, word: &str) -> Error {
        let words: Vec<String> = state_words();
        match nearest(word, words.iter().map(String::as_str)) {
            Some(near) => self.refuse(format!("there is no state `{word}`; did you mean `{near}`?")),
            None => {
                let phases = PHASES.map(|phase| format!("`{}`", phase.word())).join(", ");
                self.refuse(format!(
                    "there is no state `{word}`; there are {phases}, `over`, `open`, `paused`, `frozen`"
                ))
            }
        }
    }

    fn instant(&self, now: Time) -> Result<Time> {
        if self.not {
            let other = if self.key.as_deref() == Some("since") { "until" } else { "since" };
            return Err(self.refuse(format!("write `{other}:` instead of a `-` before it")));
        }
        if let Ok(span) = Millis::parse(&self.value) {
            return Ok(Time(now.0.saturating_sub(span.0)));
        }
        let day = || Time::parse(&format!("{}T00:00:00Z", self.value));
        Time::parse(&self.value).or_else(|_| day()).map_err(|_| {
            self.refuse(
                "expected a span such as `1d` or `2h30m`, a day such as `2027-01-31`, or an instant in RFC 3339",
            )
        })
    }
}

/// The states of a word: a phase as tables show it, a state's own name, or `over` and `open`.
pub fn states_of(word: &str) -> Option<Vec<RunState>> {
    let word = word.to_ascii_lowercase();
    let fits = |state: &RunState| match word.as_str() {
        "over" => state.is_done(),
        "open" => !state.is_done(),
        word => own_word(*state) == word || own_word(*state).replace('_', "") == word,
    };
    let by_name: Vec<RunState> = RunState::ALL.into_iter().filter(fits).collect();
    if !by_name.is_empty() {
        return Some(by_name);
    }
    let phase = PHASES.into_iter().find(|phase| phase.word() == word)?;
    Some(RunState::ALL.into_iter().filter(|state| state.phase() == phase).collect())
}

/// `resolved_manually`
fn own_word(state: RunState) -> String {
    let mut word = String::new();
    for c in format!("{state:?}").chars() {
        if c.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(c.to_ascii_lowercase());
    }
    word
}

fn state_words() -> Vec<String> {
    let phases = PHASES.iter().map(|phase| phase.word().to_owned());
    let more = ["over", "open", "paused", "frozen"].map(str::to_owned);
    phases.chain(RunState::ALL.map(own_word)).chain(more).collect()
}

/// Splits a search at its spaces; what stands in double quotes stays together.
fn pieces(text: &str) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        if chars[at].is_whitespace() {
            at += 1;
            continue;
        }
        let (start, mut quoted) = (at, false);
        while at < chars.len() && (quoted || !chars[at].is_whitespace()) {
            quoted ^= chars[at] == '"';
            at += 1;
        }
        let piece = piece(start + 1, &chars[start..at]);
        if quoted {
            return Err(piece.refuse("a quote is not closed: put `\"` at the end of the value"));
        }
        if piece.value.is_empty() {
            return Err(piece.refuse("there is no value behind it: such as `state:failed`"));
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

fn piece(at: usize, chars: &[char]) -> Piece {
    let whole: String = chars.iter().collect();
    let not = matches!(chars.first(), Some('-' | '!'));
    let rest = &chars[usize::from(not)..];
    let label = rest.iter().collect::<String>().to_ascii_lowercase().starts_with(LABEL);
    let end = rest.iter().position(|c| *c == '"').unwrap_or(rest.len());
    // No name and no id has one of these in it, so whatever has is meant as a pair.
    let split = rest[..end].iter().position(|c| matches!(c, ':' | '='));
    let unquoted = |chars: &[char]| chars.iter().filter(|c| **c != '"').collect::<String>();
    let key = split.map(|split| rest[..split].iter().collect::<String>());
    // Keys are known words, but for what the author of a label called it.
    let key = key.map(|key| if label { format!("{LABEL}{}", &key[LABEL.len()..]) } else { key.to_ascii_lowercase() });
    Piece { at, whole, not, key, value: unquoted(split.map_or(rest, |split| &rest[split + 1..])) }
}

#[cfg(test)]
mod tests;
