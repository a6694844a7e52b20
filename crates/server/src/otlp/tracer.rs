//! From committed events to spans: an attempt from its lease to its end, a run from its start to its end.

use edgewise_core::Result;
use edgewise_core::event::{Event, TaskIx, decode};
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::state::Phase;
use edgewise_core::time::Time;
use edgewise_core::trace::{Context, span_of_attempt, span_of_run, trace_of};
use edgewise_engine::Home;
use edgewise_engine::reader::Reader;
use edgewise_store::{Position, Stored};
use std::collections::BTreeMap;

/// Most records that are read in one look.
const PAGE: usize = 1_000;
/// Most attempts whose beginning is remembered.
const OPEN: usize = 100_000;
/// Most runs that are kept between looks.
const RUNS: usize = 64;

/// The flag of a trace that is kept.
const SAMPLED: u8 = 1;

/// A span to be exported.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub trace: u128,
    pub id: u64,
    pub parent: Option<u64>,
    pub name: String,
    pub from: Time,
    pub until: Time,
    pub about: Vec<(&'static str, String)>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// One attempt: its task, generation and number.
type Attempt = (TaskIx, u16, u16);

/// An attempt that ended.
struct Finished {
    attempt: Attempt,
    from: Time,
    until: Time,
    failure: Option<String>,
}

/// Where the export is in the ledger, and what it must know of what came before.
pub(super) struct Tracer {
    home: Home,
    at: Position,
    begun: BTreeMap<(RunId, Attempt), Time>,
    runs: BTreeMap<RunId, Run>,
}

impl Tracer {
    /// From now on.
    pub fn new(home: Home, reader: &mut Reader) -> Result<Self> {
        let at = reader.halves().0.tail()?;
        Ok(Self { home, at, begun: BTreeMap::new(), runs: BTreeMap::new() })
    }

    /// The spans of what was committed since, and whether there is more.
    pub fn look(mut self, reader: &mut Reader) -> Result<(Self, Vec<Span>, bool)> {
        let page = reader.halves().0.read_all(self.at, PAGE)?;
        let more = page.len() == PAGE;
        let mut touched: BTreeMap<RunId, Vec<Finished>> = BTreeMap::new();
        for stored in &page {
            self.at = stored.position;
            let stream = &stored.stream;
            let ours = (&stream.tenant, &stream.workspace) == (&self.home.tenant, &self.home.workspace);
            // A record that cannot be read is the engine's to complain about.
            if ours
                && stream.run.is_run()
                && let Ok(finished) = self.read(stored)
            {
                touched.entry(stream.run).or_default().extend(finished);
            }
        }
        let mut spans = Vec::new();
        for (run, finished) in touched {
            self.tell(run, &finished, reader, &mut spans);
        }
        Ok((self, spans, more))
    }

    fn read(&mut self, stored: &Stored) -> Result<Vec<Finished>> {
        let run = stored.stream.run;
        let (envelope, events) = decode(&stored.record)?;
        let mut finished = Vec::new();
        for event in events {
            match event {
                Event::DispatchEnqueued(given) => {
                    if self.begun.len() >= OPEN {
                        self.begun.pop_first();
                    }
                    self.begun.insert((run, (given.task, given.generation, given.attempt)), envelope.at);
                }
                Event::DispatchReturned(back) => {
                    self.begun.remove(&(run, (back.task, back.generation, back.attempt)));
                }
                Event::TaskFinished(done) => {
                    let attempt = (done.task, done.generation, done.attempt);
                    let from = self.begun.remove(&(run, attempt)).unwrap_or(envelope.at);
                    let failure = done.error.map(|failure| format!("{}: {}", failure.kind, failure.message));
                    finished.push(Finished { attempt, from, until: envelope.at, failure });
                }
                _ => {}
            }
        }
        Ok(finished)
    }

    /// The spans of one run: of its attempts that ended, and its own if it has.
    fn tell(&mut self, id: RunId, finished: &[Finished], reader: &mut Reader, spans: &mut Vec<Span>) {
        let known = self.runs.remove(&id);
        let run = match known {
            // A run that was taken away meanwhile has nothing more to tell.
            Some(mut run) => reader.catch_up(&mut run).map(|_| run),
            None => reader.run(id),
        };
        let Ok(run) = run else { return };
        let Some(about) = run.about.as_ref() else { return };
        let context = Context::of(&about.labels);
        // Whoever began the trace said that nobody keeps it: a part of it alone would tell nothing.
        if context.is_some_and(|context| context.flags & SAMPLED == 0) {
            if !run.state.is_done() {
                self.keep(id, run);
            }
            return;
        }
        let trace = context.map_or_else(|| trace_of(id), |context| context.trace);
        for Finished { attempt: (task, generation, attempt), from, until, failure } in finished {
            spans.push(Span {
                trace,
                id: span_of_attempt(id, *task, *generation, *attempt),
                parent: Some(span_of_run(id)),
                name: run.path(*task),
                from: *from,
                until: *until,
                about: vec![("edgewise.run", id.to_string()), ("edgewise.attempt", attempt.to_string())],
                failure: failure.clone(),
            });
        }
        if !run.state.is_done() {
            self.keep(id, run);
            return;
        }
        let until = run.row().map_or(about.at, |row| row.completed_at);
        let succeeded = run.state.phase() == Phase::Succeeded;
        spans.push(Span {
            trace,
            id: span_of_run(id),
            parent: context.map(|context| context.span),
            name: about.flow.to_string(),
            from: about.at,
            until,
            about: vec![("edgewise.run", id.to_string()), ("edgewise.by", about.by.to_string())],
            failure: (!succeeded).then(|| format!("{:?}", run.state)),
        });
    }

    fn keep(&mut self, id: RunId, run: Run) {
        if self.runs.len() >= RUNS {
            self.runs.pop_first();
        }
        self.runs.insert(id, run);
    }
}
