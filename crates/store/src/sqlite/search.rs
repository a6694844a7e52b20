//! Searching: which runs fit, the newest first, without reading those that do not.
//!
//! Runs are sorted by kind (flow, namespace, state), and within a kind by time. There are few kinds however many
//! runs there are, so a search looks which kinds fit and walks each of them from its newest run on, no further than
//! the page needs. Labels have rows of their own, sorted alike, and so have runs by who asked for them.

use super::STATE;
use super::error::{Explain, damaged};
use super::rows;
use super::statements::Statements;
use crate::ledger::Stream;
use crate::projections::{Facts, ID_WORD, RunFilter, Term, names};
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::rows::{Marks, RunRow};
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a run stands in a list: when it was asked for, then its id, then its walls. Then its number.
type Place = (i64, String, String, String, i64);

/// The newest of what was found so far.
struct Page {
    limit: usize,
    found: BinaryHeap<Reverse<Place>>,
}

impl Page {
    /// Whether something as old as this could still be on the page.
    fn has_room(&self, at: i64) -> bool {
        self.found.len() < self.limit || self.found.peek().is_none_or(|Reverse(oldest)| at >= oldest.0)
    }

    fn add(&mut self, place: Place) {
        self.found.push(Reverse(place));
        if self.found.len() > self.limit {
            self.found.pop();
        }
    }
}

/// Runs that are of one flow, in one namespace (empty if it is the flow's name), in one state.
#[derive(Clone, PartialEq, Eq)]
struct Kind {
    flow: String,
    namespace: String,
    state: i64,
}

/// Among which runs kinds are looked for: by the terms that leave the fewest.
#[derive(Clone, Copy, PartialEq)]
enum Among<'a> {
    All,
    Labelled(Label<'a>),
    /// The rarer label first: each run with it is looked up among those with the other, without reading the run.
    Both(Label<'a>, Label<'a>),
    Of(&'a Name),
}

type Label<'a> = (&'a String, &'a String);

/// Of terms that fit more runs than this none is rarer than another.
const MANY: i64 = 10_000;

impl<'a> Among<'a> {
    /// The terms that have an index of their own.
    fn of(terms: &'a [Term]) -> Vec<Self> {
        let indexed = |term: &'a Term| match term {
            Term::Label(key, value) => Some(Self::Labelled((key, value))),
            Term::By(by) => Some(Self::Of(by)),
            _ => None,
        };
        terms.iter().filter_map(indexed).collect()
    }

    /// Whether this tells already that a term holds.
    fn tells(self, term: &Term) -> bool {
        match (self, term) {
            (Self::Labelled(label), Term::Label(key, value)) => label == (key, value),
            (Self::Both(one, other), Term::Label(key, value)) => one == (key, value) || other == (key, value),
            (Self::Of(known), Term::By(by)) => known == by,
            _ => false,
        }
    }

    /// The statements that find the next kind and walk one.
    fn sql(self) -> (&'static str, &'static str) {
        let labelled = include_str!("sql/state_next_labelled_kind.sql");
        match self {
            Self::All => (include_str!("sql/state_next_kind.sql"), include_str!("sql/state_walk_kind.sql")),
            Self::Labelled(_) => (labelled, include_str!("sql/state_walk_labelled_kind.sql")),
            Self::Both(..) => (labelled, include_str!("sql/state_walk_kind_with_both.sql")),
            Self::Of(_) => {
                (include_str!("sql/state_next_kind_of_person.sql"), include_str!("sql/state_walk_kind_of_person.sql"))
            }
        }
    }

    /// What the first of them asks for besides the kind.
    fn values(self) -> Vec<Value> {
        let text = |text: &String| Value::from(text.clone());
        match self {
            Self::All => Vec::new(),
            Self::Labelled((key, value)) | Self::Both((key, value), _) => vec![text(key), text(value)],
            Self::Of(by) => vec![by.to_string().into()],
        }
    }

    /// What walking asks for besides that.
    fn more_values(self) -> Vec<Value> {
        match self {
            Self::Both(_, (key, value)) => vec![key.clone().into(), value.clone().into()],
            _ => Vec::new(),
        }
    }
}

impl Kind {
    fn values(&self) -> [Value; 3] {
        [self.flow.clone().into(), self.namespace.clone().into(), self.state.into()]
    }
}

/// The runs that a filter asks for.
pub(super) fn runs(conn: &Connection, filter: &RunFilter) -> Result<Vec<(Stream, RunRow)>> {
    let mut search = Search { statements: Statements::new(conn, STATE), filter };
    if filter.limit == 0 {
        return Ok(Vec::new());
    }
    if let Some(Term::Run(run)) = filter.terms.iter().find(|term| matches!(term, Term::Run(_))) {
        return search.few(include_str!("sql/state_walk_ids.sql"), &[run.to_string()], Vec::new());
    }
    if let Some(Term::OneOf(runs)) = filter.terms.iter().find(|term| matches!(term, Term::OneOf(_))) {
        let ids: Vec<String> = runs.iter().map(ToString::to_string).collect();
        return search.few(include_str!("sql/state_walk_ids.sql"), &ids, Vec::new());
    }
    if let Some(Term::Key(key)) = filter.terms.iter().find(|term| matches!(term, Term::Key(_))) {
        return search.few(include_str!("sql/state_walk_key.sql"), std::slice::from_ref(key), Vec::new());
    }
    if filter.terms.contains(&Term::Paused) {
        return search.by_time(include_str!("sql/state_walk_paused.sql"));
    }
    let words: Vec<&str> = filter.terms.iter().filter_map(word).collect();
    let plain = filter.flow.is_none() && filter.states.is_empty() && !filter.terms.iter().any(has_kind);
    if plain {
        return search.by_time(include_str!("sql/state_walk_all.sql"));
    }
    let found = search.by_kind(&words)?;
    let ids: Vec<String> = words.iter().filter(|word| word.len() >= ID_WORD).map(|word| (*word).to_owned()).collect();
    if ids.is_empty() { Ok(found) } else { search.few(include_str!("sql/state_walk_ids.sql"), &ids, found) }
}

fn word(term: &Term) -> Option<&str> {
    match term {
        Term::Word(word) => Some(word),
        _ => None,
    }
}

/// Whether a term narrows the kinds that are walked.
fn has_kind(term: &Term) -> bool {
    matches!(term, Term::Flow(_) | Term::Namespace(_) | Term::By(_) | Term::Label(..) | Term::Word(_))
}

struct Search<'c> {
    statements: Statements<'c>,
    filter: &'c RunFilter,
}

impl<'c> Search<'c> {
    /// The oldest and the newest instant that fit.
    fn window(&self) -> (i64, i64) {
        let last = self.filter.until.map_or(u64::MAX, |until| until.0.saturating_sub(1));
        let last = self.filter.after.map_or(last, |(at, _)| last.min(at.0));
        let ms = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
        (self.filter.since.map_or(i64::MIN, |since| ms(since.0)), ms(last))
    }

    /// Every run that a statement gives, from the newest on: where nearly all of them fit.
    fn by_time(&mut self, sql: &'static str) -> Result<Vec<(Stream, RunRow)>> {
        let window = self.window();
        let filter = self.filter;
        let mut found = Vec::new();
        let mut walked = self.statements.get(sql)?.query(window).of(STATE)?;
        while found.len() < filter.limit
            && let Some(row) = walked.next().of(STATE)?
        {
            let (_, stream, run) = rows::run(row)?;
            if filter.matches(&run) {
                found.push((stream, run));
            }
        }
        Ok(found)
    }

    /// What fits of the few runs that a statement gives for each of some values, together with what was found already.
    fn few(
        &mut self,
        sql: &'static str,
        values: &[String],
        mut found: Vec<(Stream, RunRow)>,
    ) -> Result<Vec<(Stream, RunRow)>> {
        for value in values {
            let mut walked = self.statements.get(sql)?.query((value,)).of(STATE)?;
            while let Some(row) = walked.next().of(STATE)? {
                let (_, stream, run) = rows::run(row)?;
                if self.filter.matches(&run) && !found.iter().any(|(known, _)| *known == stream) {
                    found.push((stream, run));
                }
            }
        }
        found.sort_by(|(s, a), (t, b)| {
            let place = |stream: &Stream, run: &RunRow| {
                Reverse((run.triggered_at, run.id, stream.tenant.clone(), stream.workspace.clone()))
            };
            place(s, a).cmp(&place(t, b))
        });
        found.truncate(self.filter.limit);
        Ok(found)
    }

    /// The kinds that fit, each walked from its newest run on.
    fn by_kind(&mut self, words: &[&str]) -> Result<Vec<(Stream, RunRow)>> {
        let filter = self.filter;
        let among = self.among()?;
        // What the kind, and among which runs it is looked for, do not tell already.
        let told = |term: &&Term| match term {
            Term::Flow(_) | Term::Namespace(_) | Term::Word(_) => true,
            _ => among.tells(term),
        };
        let left: Vec<&Term> = filter.terms.iter().filter(|term| !told(term)).collect();
        let mut page = Page { limit: filter.limit, found: BinaryHeap::new() };
        let wanted = filter.terms.iter().find_map(|term| match term {
            Term::Flow(flow) => Some(flow),
            _ => None,
        });
        let only = filter.flow.as_ref().or(wanted);
        let from = only.map_or(String::new(), ToString::to_string);
        let mut at = Kind { flow: from, namespace: String::new(), state: -1 };
        while let Some(kind) = self.next_kind(&at, among)? {
            if only.is_some_and(|flow| kind.flow != flow.as_str()) {
                break;
            }
            if self.wants(&kind, words)? && self.has_second(&kind, among)? {
                self.walk(&kind, among, &left, &mut page)?;
            }
            at = kind;
        }
        let mut places: Vec<Place> = page.found.into_iter().map(|Reverse(place)| place).collect();
        places.sort_by(|a, b| b.cmp(a));
        places.into_iter().map(|place| self.load(place.4)).collect()
    }

    /// The rarest of the terms with an index; of labels the two rarest.
    fn among(&mut self) -> Result<Among<'c>> {
        let mut all = Among::of(&self.filter.terms);
        if all.len() > 1 {
            let mut counted = Vec::with_capacity(all.len());
            for one in all {
                counted.push((self.count(one)?, one));
            }
            counted.sort_by_key(|(count, _)| *count);
            all = counted.into_iter().map(|(_, one)| one).collect();
        }
        let second = all.iter().skip(1).find_map(|one| match one {
            Among::Labelled(label) => Some(*label),
            _ => None,
        });
        Ok(match (all.first(), second) {
            (Some(Among::Labelled(first)), Some(second)) => Among::Both(*first, second),
            (first, _) => first.copied().unwrap_or(Among::All),
        })
    }

    /// How many runs a term fits, if these are few.
    fn count(&mut self, among: Among<'_>) -> Result<i64> {
        let sql = match among {
            Among::Of(_) => include_str!("sql/state_count_of_person.sql"),
            _ => include_str!("sql/state_count_labelled.sql"),
        };
        let params = [MANY.into()].into_iter().chain(among.values());
        self.statements.get(sql)?.query_row(params_from_iter(params), |row| row.get(0)).of(STATE)
    }

    fn next_kind(&mut self, at: &Kind, among: Among<'_>) -> Result<Option<Kind>> {
        let params = at.values().into_iter().chain(among.values());
        let sql = among.sql().0;
        let kind = |row: &Row<'_>| Ok(Kind { flow: row.get(0)?, namespace: row.get(1)?, state: row.get(2)? });
        self.statements.get(sql)?.query_row(params_from_iter(params), kind).optional().of(STATE)
    }

    /// Whether runs of a kind have the second label too, if one is asked for: of many kinds none does.
    fn has_second(&mut self, kind: &Kind, among: Among<'_>) -> Result<bool> {
        let second = among.more_values();
        if second.is_empty() {
            return Ok(true);
        }
        let params = kind.values().into_iter().chain(second);
        let sql = include_str!("sql/state_has_labelled_kind.sql");
        self.statements.get(sql)?.query_row(params_from_iter(params), |row| row.get(0)).of(STATE)
    }

    fn wants(&self, kind: &Kind, words: &[&str]) -> Result<bool> {
        let state = u8::try_from(kind.state).ok().and_then(RunState::from_byte);
        let state = state.ok_or_else(|| damaged(STATE, format!("{} is no state of a run", kind.state)))?;
        let namespace = if kind.namespace.is_empty() { &kind.flow } else { &kind.namespace };
        let is = |term: &Term| match term {
            Term::Flow(flow) => Some(flow.as_str() == kind.flow),
            Term::Namespace(wanted) => Some(wanted.as_str() == namespace),
            _ => None,
        };
        Ok((self.filter.states.is_empty() || self.filter.states.contains(&state))
            && self.filter.terms.iter().all(|term| is(term) != Some(false))
            && self.filter.not.iter().all(|term| is(term) != Some(true))
            && words.iter().all(|word| names(word, &kind.flow)))
    }

    /// Walks one kind until its runs are older than all on a full page.
    fn walk(&mut self, kind: &Kind, among: Among<'_>, left: &[&Term], page: &mut Page) -> Result<()> {
        let (since, until) = self.window();
        let filter = self.filter;
        let flow = Name::parse(&kind.flow).map_err(|error| damaged(STATE, error))?;
        let params = kind.values().into_iter().chain([since.into(), until.into()]).chain(among.values());
        let params = params.chain(among.more_values());
        let sql = among.sql().1;
        let mut walked = self.statements.get(sql)?.query(params_from_iter(params)).of(STATE)?;
        while let Some(row) = walked.next().of(STATE)? {
            let (at, text): (i64, String) = (row.get(3).of(STATE)?, row.get(1).of(STATE)?);
            if !page.has_room(at) {
                break;
            }
            let id = RunId::parse(&text).map_err(|error| damaged(STATE, error))?;
            if filter.after.is_some_and(|place| (Time(at as u64), id) >= place) {
                continue;
            }
            if !(left.is_empty() && filter.not.is_empty()) {
                let marks: Marks = rows::marks(&row.get::<_, String>(4).of(STATE)?)?;
                let facts = Facts { id, flow: &flow, paused: row.get(2).of(STATE)?, marks: &marks };
                let fits = left.iter().all(|term| term.is_so(&facts));
                if !fits || filter.not.iter().any(|term| term.is_so(&facts)) {
                    continue;
                }
            }
            page.add((at, text, row.get(5).of(STATE)?, row.get(6).of(STATE)?, row.get(0).of(STATE)?));
        }
        Ok(())
    }

    fn load(&mut self, no: i64) -> Result<(Stream, RunRow)> {
        let mut rows = self.statements.get(include_str!("sql/state_load_no.sql"))?.query((no,)).of(STATE)?;
        let row = rows.next().of(STATE)?;
        let row = row.ok_or_else(|| damaged(STATE, format!("run number {no} has no plan")))?;
        rows::run(row).map(|(_, stream, run)| (stream, run))
    }
}
