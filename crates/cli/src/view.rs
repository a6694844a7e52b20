//! What every command that looks begins with: the folder opened for reading, the run and the task that were meant.
//!
//! Rows are only a short cut. Where `state.db` is missing, outdated or damaged, everything is folded from the ledger
//! instead: slower, and the same.

use crate::args::{At, RunRef};
use crate::clock::Clock;
use crate::config::{Config, DIR};
use crate::problem::{Problem, Result};
use crate::remote::{Logs, Remote};
use edgewise_core::event::TaskIx;
use edgewise_core::fold::{Changes, fold};
use edgewise_core::history::{Entry, Stream};
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::suggest::{nearest, shown};
use edgewise_core::time::Time;
use edgewise_core::{Error, Kind};
use edgewise_engine::Home;
use edgewise_engine::reader::Reader;
use edgewise_store::memory::MemoryProjections;
use edgewise_store::sqlite;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the logs of commands are, in the data folder.
pub const LOGS: &str = "logs";
/// Most names that are compared with one that was mistyped.
const NAMES_COMPARED: usize = 1_000_000;
/// Records read at once.
const PAGE: usize = 1_000;

/// A data folder, opened for looking.
pub struct View {
    /// Runs as they are now.
    pub reader: Reader,
    /// The folder.
    pub dir: PathBuf,
    /// Whose runs these are.
    pub home: Home,
    /// What brings logs from a server.
    logs: Option<Logs>,
}

/// The owner of everything in an embedded store.
pub fn home() -> Result<Home> {
    Ok(Home { tenant: Name::parse("local")?, workspace: Name::parse("default")? })
}

/// Runs as they are now, in the folder that the settings name, or at the server.
pub fn reader(config: &Config) -> Result<Reader> {
    match Remote::of(config)? {
        Some(remote) => Ok(remote.reader(home()?)),
        None => folder_reader(&config.dir.value, home()?),
    }
}

/// Whether there is anything to look at: a server, or a folder in which something was run.
pub fn is_there(config: &Config) -> bool {
    config.addr.value.is_some() || config.dir.value.join("ledger.db").is_file()
}

/// Runs as they are now, whatever has become of the rows.
pub fn folder_reader(dir: &Path, home: Home) -> Result<Reader> {
    Ok(match sqlite::open_reader(dir) {
        Ok(stores) => Reader::over(Box::new(stores.ledger), Box::new(stores.projections), home),
        Err(error) => {
            // Whatever is wrong with the rows, the ledger has it all; if it is the ledger, that is the error.
            let ledger = sqlite::open_ledger_reader(dir).map_err(|_| error)?;
            Reader::over(Box::new(ledger), Box::new(MemoryProjections::default()), home)
        }
    })
}

impl View {
    /// Opens the folder that the settings name.
    pub fn open(config: &Config) -> Result<Self> {
        there_is_a_ledger(config)?;
        let logs = Remote::of(config)?.map(Remote::logs).transpose()?;
        Ok(Self { reader: reader(config)?, dir: config.dir.value.clone(), home: home()?, logs })
    }

    /// The run that was meant.
    pub fn find(&mut self, run: &RunRef) -> Result<RunId> {
        let text = match run {
            RunRef::Last => "@",
            RunRef::Prefix(prefix) => prefix,
        };
        Ok(self.reader.find(text)?)
    }

    /// The run that was meant, as it is now.
    pub fn run(&mut self, run: &RunRef) -> Result<Run> {
        let id = self.find(run)?;
        Ok(self.reader.run(id)?)
    }

    /// Shows every event of a run in its place, in order.
    pub fn entries(&mut self, run: RunId, mut see: impl FnMut(Entry) -> Result<()>) -> Result<()> {
        let stream = self.home.stream(run);
        let mut after = 0;
        loop {
            let page = self.reader.halves().0.read(&stream, after, PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            let end = last.record.last();
            for stored in page {
                stored.record.verify(&stored.stream.label())?;
                if stored.record.first != after + 1 {
                    let message = format!("run {run} has no event {}: its ledger is damaged", after + 1);
                    return Err(Error::corrupt("seq_gap", message).into());
                }
                after = stored.record.last();
                Entry::of(&stored.record)?.into_iter().try_for_each(&mut see)?;
            }
            after = end;
        }
    }

    /// A run with the task of a path: as it is now or, if the task is in a round of a loop that is over, with
    /// everything it ever did.
    pub fn with_task(&mut self, run: Run, path: &str) -> Result<(Run, TaskIx)> {
        if let Some(task) = run.find(path) {
            return Ok((run, task));
        }
        let run = self.whole(run)?;
        let task = find_task(&run, path)?;
        Ok((run, task))
    }

    /// A run with everything it ever did: of a program also the rounds that it has given back, from its ledger.
    pub fn whole(&mut self, run: Run) -> Result<Run> {
        if !run.is_program() {
            return Ok(run);
        }
        let (mut whole, mut changes) = (unfolded(&run), Changes::default());
        self.entries(run.id, |entry| {
            changes.clear();
            fold(&mut whole, entry.stamp, &entry.event, &mut changes);
            Ok(())
        })?;
        Ok(whole)
    }

    /// All events of a run.
    pub fn ledger(&mut self, run: RunId) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        self.entries(run, |entry| {
            entries.push(entry);
            Ok(())
        })?;
        Ok(entries)
    }

    /// A run as it was: the events up to then, folded again. A clock that went back ends them at the first later one.
    pub fn as_of(&mut self, run: &Run, at: At, now: Time) -> Result<Then> {
        let mut entries = self.ledger(run.id)?;
        let (events, instant) = (entries.len() as u64, at.instant(now));
        let kept = entries.iter().take_while(|entry| match (at, instant) {
            (At::Seq(seq), _) => entry.seq <= seq,
            (_, instant) => instant.is_some_and(|instant| entry.stamp.at <= instant),
        });
        let kept = kept.count();
        if let At::Seq(seq) = at
            && seq > events
        {
            let what = format!("run {} has no event {seq}: there are {events}", run.id.short());
            let next = format!("`edgewise events {}` lists them", run.id.short());
            return Err(Problem::new(Kind::NotFound, "no_such_event", what).next(next));
        }
        entries.truncate(kept);
        let Some(last) = entries.last() else {
            let asked = run.about.as_ref().map(|about| about.at.to_string()).unwrap_or_default();
            let what = format!("run {} was not there yet: it was asked for at {asked}", run.id.short());
            return Err(Problem::new(Kind::NotFound, "not_yet", what));
        };
        let time = instant.unwrap_or(last.stamp.at).min(now.max(last.stamp.at));
        let as_of = AsOf { seq: last.seq, events, time, event: last.event.name().to_owned() };
        let stream = Stream { run: run.id, plan_hash: run.plan_hash, plan: &run.plan, entries: &entries };
        Ok(Then { run: stream.refold(u64::MAX), entries, as_of })
    }

    /// Where the logs of a run are, all that was written by now.
    pub fn logs(&self, run: RunId) -> Result<PathBuf> {
        match &self.logs {
            Some(logs) => logs.fetch(run),
            None => Ok(self.dir.join(LOGS)),
        }
    }
}

/// A run as it was.
pub struct Then {
    /// The run.
    pub run: Run,
    /// The events that led there.
    pub entries: Vec<Entry>,
    /// When that was.
    pub as_of: AsOf,
}

/// Which past it is.
#[derive(Debug, Clone, Serialize)]
pub struct AsOf {
    /// The last event that had happened.
    pub seq: u64,
    /// How many there are by now.
    pub events: u64,
    /// The instant that is looked at.
    #[serde(serialize_with = "written")]
    pub time: Time,
    /// The type of that event.
    pub event: String,
}

fn written<S: serde::Serializer>(time: &Time, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(time)
}

impl AsOf {
    /// For people, before what is shown.
    pub fn sentence(&self, clock: &Clock) -> String {
        format!("as of {}, after event {} of {} ({})", clock.exact(self.time), self.seq, self.events, self.event)
    }
}

/// A run before its first event, to fold its ledger into.
pub fn unfolded(run: &Run) -> Run {
    Run::new(run.id, run.plan_hash, Arc::clone(&run.plan))
}

/// The task of a path; the error knows the nearest one there is.
pub fn find_task(run: &Run, path: &str) -> Result<TaskIx> {
    if let Some(task) = run.find(path) {
        return Ok(task);
    }
    let known: Vec<(TaskIx, String)> = run.present().take(NAMES_COMPARED).map(|task| (task, run.path(task))).collect();
    if let Some((task, _)) = known.iter().find(|(_, known)| known == path) {
        return Ok(*task);
    }
    let what = format!("run {} has no task {}", run.id.short(), shown(path));
    let problem = Problem::new(Kind::NotFound, "task_not_found", what);
    Err(match nearest(path, known.iter().map(|(_, known)| known.as_str())) {
        Some(near) => problem.next(format!("did you mean {}?", shown(near))),
        None => problem.next(format!("`edgewise show {} --all` lists its tasks", run.id.short())),
    })
}

/// Says what to do where nothing was run yet.
pub fn there_is_a_ledger(config: &Config) -> Result<()> {
    if config.addr.value.is_some() {
        return Ok(());
    }
    let dir = &config.dir.value;
    let missing = |what: String, next: &str| Err(Problem::new(Kind::NotFound, "no_store", what).next(next));
    if !dir.is_dir() {
        let what = format!("there is no data folder {}", dir.display());
        let next = format!("`edgewise init` makes a project here; in one, `edgewise run FILE` makes its {DIR}");
        return missing(what, &next);
    }
    // Readers that are first to open an abandoned log need the folder; a missing ledger is said plainly.
    if !dir.join("ledger.db").is_file() {
        return missing(format!("nothing was run in {} yet", dir.display()), "edgewise run FILE");
    }
    Ok(())
}
