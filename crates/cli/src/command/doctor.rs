//! `edgewise doctor`: a quick look at the folder; everything read again with `--verify`; rows made anew with `--rebuild`.

mod quick;

use super::{Context, lock};
use crate::args::Doctor;
use crate::exit::Exit;
use crate::output::Printer;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::text;
use crate::view::{home, there_is_a_ledger};
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_engine::Home;
use edgewise_engine::doctor::{self, Finding, REBUILD, Seen, Told};
use edgewise_store::{Ledger, Projections, Space, sqlite};
use serde::Serialize;
use std::path::Path;

/// Runs between two words about how far it is.
const PROGRESS: u64 = 1_000;

/// What programs are told.
#[derive(Serialize)]
struct Report {
    clean: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    quick: Option<quick::Health>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<u64>,
    problems: Vec<ToldFinding>,
}

#[derive(Serialize)]
struct ToldFinding {
    run: Option<RunId>,
    code: &'static str,
    what: String,
    next: &'static str,
}

pub(super) fn perform(args: &Doctor, context: &mut Context<'_>) -> Result<Exit> {
    let dir = &context.config.dir.value;
    there_is_a_ledger(context.config)?;
    let mut desk = Desk { printer: context.printer, found: Vec::new(), seen: None };
    if args.rebuild {
        desk.rebuild(dir)?;
    }
    if args.verify {
        desk.verify(dir)?;
    }
    let quick = if args.rebuild || args.verify { None } else { Some(desk.quick(dir)?) };
    desk.end(quick)
}

/// What was found so far, and where it is told.
struct Desk<'a> {
    printer: &'a mut Printer,
    found: Vec<ToldFinding>,
    seen: Option<Seen>,
}

impl Desk<'_> {
    fn quick(&mut self, dir: &Path) -> Result<quick::Health> {
        let (health, findings) = quick::look(dir, &home()?)?;
        if self.printer.for_people() {
            for line in health.lines(self.printer.out_style) {
                self.printer.raw(&line)?;
            }
        }
        findings.into_iter().try_for_each(|finding| self.tell(finding))?;
        Ok(health)
    }

    fn verify(&mut self, dir: &Path) -> Result<()> {
        let (mut ledger, mut rows) = match sqlite::open_reader(dir) {
            Ok(stores) => (stores.ledger, Some(stores.projections)),
            Err(error) => {
                let ledger = sqlite::open_ledger_reader(dir)?;
                match rows_gone(error) {
                    Ok(finding) => self.tell(finding)?,
                    Err(talk) => self.printer.say(talk),
                }
                (ledger, None)
            }
        };
        let rows = rows.as_mut().map(|rows| rows as &mut dyn Projections);
        self.examined("verified", |tell| doctor::verify(&mut ledger, rows, tell))?;
        let Home { tenant, workspace } = home()?;
        let ledger = Box::new(sqlite::open_ledger_reader(dir)?);
        let findings = doctor::queues(ledger, &Space { tenant, workspace })?;
        findings.into_iter().try_for_each(|finding| self.tell(finding))
    }

    fn rebuild(&mut self, dir: &Path) -> Result<()> {
        let _held = lock::take(dir)?;
        // Whoever looks on while the file is gone folds the ledger instead.
        sqlite::put_rows_aside(dir)?;
        let sqlite::Stores { mut ledger, mut projections } = sqlite::open(dir)?;
        self.examined("rebuilt", |tell| doctor::rebuild(&mut ledger, &mut projections, tell))?;
        if self.found.is_empty() {
            sqlite::forget_rows_aside(dir)?;
        } else {
            self.printer
                .say("the rows as they were are kept in state.db.old: of a damaged run they may be the last good copy");
        }
        Ok(())
    }

    /// Does something that tells of itself.
    fn examined(
        &mut self,
        done: &str,
        work: impl FnOnce(&mut dyn FnMut(Told) -> edgewise_core::Result<()>) -> edgewise_core::Result<Seen>,
    ) -> Result<()> {
        // What cannot be printed ends the work; how it could not is kept beside it.
        let mut unprinted = None;
        let seen = work(&mut |told| {
            let result = match told {
                Told::Found(finding) => self.tell(finding),
                Told::Progress(runs, total) => {
                    if runs % PROGRESS == 0 {
                        self.printer.say(&format!("{done} {runs} of {total} runs"));
                    }
                    Ok(())
                }
            };
            result.map_err(|problem| {
                let error = edgewise_core::Error::unavailable(problem.code, problem.what.clone());
                unprinted = Some(problem);
                error
            })
        });
        match (seen, unprinted) {
            (_, Some(problem)) => Err(problem),
            (Ok(seen), None) => {
                let Seen { runs, events, records } = seen;
                let s = if runs == 1 { "" } else { "s" };
                self.printer.say(&format!("{done} {runs} run{s}: {events} events in {records} records"));
                self.seen = Some(seen);
                Ok(())
            }
            (Err(error), None) => Err(error.into()),
        }
    }

    fn tell(&mut self, finding: Finding) -> Result<()> {
        let Finding { run, code, what, next } = finding;
        let next_shown = next.replace("RUN", &run.map_or_else(|| "RUN".into(), |run| run.short()));
        if self.printer.for_people() {
            let style = self.printer.out_style;
            let whose = match run {
                None => "ledger".to_owned(),
                Some(RunId::CONTROL) => "control".to_owned(),
                Some(RunId::WORK) => "work".to_owned(),
                Some(run) => format!("run {}", run.short()),
            };
            let whose = style.paint(Ink::Bold, &whose);
            let sign = style.paint(Ink::Bad, if style.unicode { "✗" } else { "x" });
            self.printer.raw(&format!(
                "{sign} {whose}  {} {}",
                text::escape(&what),
                style.paint(Ink::Dim, &format!("[{code}]"))
            ))?;
            self.printer.raw(&format!("    next: {}", text::escape(&next_shown)))?;
        }
        self.found.push(ToldFinding { run, code, what, next });
        Ok(())
    }

    fn end(self, quick: Option<quick::Health>) -> Result<Exit> {
        let clean = self.found.is_empty();
        let style = self.printer.out_style;
        let last = if clean {
            style.paint(Ink::Good, "clean")
        } else {
            let s = if self.found.len() == 1 { "" } else { "s" };
            style.paint(Ink::Bad, &format!("{} problem{s}", self.found.len()))
        };
        let seen = self.seen;
        let report = Report {
            clean,
            quick,
            runs: seen.map(|s| s.runs),
            records: seen.map(|s| s.records),
            events: seen.map(|s| s.events),
            problems: self.found,
        };
        let ids: Vec<String> = report.problems.iter().filter_map(|p| p.run.map(|run| run.to_string())).collect();
        if self.printer.quiet {
            ids.iter().try_for_each(|id| self.printer.line(id))?;
        } else {
            self.printer.one("", &[last], &report)?;
        }
        Ok(if clean { Exit::Ok } else { Exit::Failed })
    }
}

/// What it means that the rows cannot be opened: nothing at all if they are not there, else a finding.
fn rows_gone(error: edgewise_core::Error) -> Result<Finding, &'static str> {
    if error.kind == Kind::NotFound {
        return Err("there is no state.db: the rows are made anew at the next start, and nothing is lost");
    }
    Ok(Finding { run: None, code: error.code, what: error.message, next: REBUILD })
}

/// Whether a ledger can be read at all.
fn tail(ledger: &mut dyn Ledger) -> Result<u64> {
    ledger.tail().map(|position| position.0).map_err(Problem::from)
}
