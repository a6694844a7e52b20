//! `edgewise bench`: what this machine reaches, each load in a process of its own.

use super::Context;
use crate::args::Bench;
use crate::bench::{
    ASIDE, BACKLOG, Beside, Figures, LOADS, Load, PureFigures, RerunFigures, ScheduleFigures, backlog, fold_some,
    limits, measure, pure, read_some, rerun, schedules, search, server, work,
};
use crate::descriptors;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::{Problem, Result};
use crate::table::Cell;
use edgewise_core::Kind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// How often a load is measured.
const TIMES: usize = 5;
const TIMES_LARGE: usize = 3;
/// The load that the fold alone is measured on.
const FOLD: &str = "fold";
/// The load of many schedules.
const SCHEDULES: &str = "schedules";
/// A rerun from failure.
const RERUN: &str = "rerun";
const FOLD_LOAD: &str = "w4-100k";
/// Searching is measured by itself, since making the runs takes a while.
const SEARCH: &str = "search";
/// The work graph is measured by itself.
const WORK: &str = "work";
/// The server is measured by itself.
const SERVER: &str = "server";
/// How many runs are searched, and how many if it is to be quick.
const SEARCHED: (usize, usize) = (1_000_000, 50_000);
/// Loads beside what waits, and the load that it is.
const WAITING: [&str; 2] = ["backlog", "limits"];
const WAITING_LOAD: &str = "w1";

#[derive(Serialize)]
struct Measured {
    load: &'static str,
    about: &'static str,
    #[serde(flatten)]
    figures: Figures,
}

pub(super) fn perform(args: &Bench, context: &mut Context<'_>) -> Result<Exit> {
    if let [tasks, events] = args.fold[..] {
        fold_some(tasks, events as usize)?;
        return Ok(Exit::Ok);
    }
    if let Some(file) = &args.read {
        context.printer.line(&read_some(file)?.to_string())?;
        return Ok(Exit::Ok);
    }
    if args.name.as_deref() == Some(SCHEDULES) {
        return tick(context);
    }
    if args.name.as_deref() == Some(RERUN) {
        return reran(context);
    }
    if args.name.as_deref() == Some(SERVER) {
        return served(args, context);
    }
    if args.once {
        return once(args.name.as_deref().unwrap_or_default(), context);
    }
    if args.name.as_deref() == Some(SEARCH) {
        return searched(args.quick, context);
    }
    if args.name.as_deref() == Some(WORK) {
        return worked(args.quick, context);
    }
    let waiting: Vec<&str> =
        WAITING.into_iter().filter(|name| args.name.as_deref().is_none_or(|n| n == *name)).collect();
    let loads: Vec<&'static Load> = match args.name.as_deref() {
        None => LOADS.iter().collect(),
        Some(name) if name == FOLD || WAITING.contains(&name) => Vec::new(),
        Some(name) => vec![find(name)?],
    };
    let mut measured = Vec::new();
    for load in loads {
        measured.push(Measured { load: load.name, about: load.about, figures: repeat(load, args.quick, context)? });
    }
    let pure = match args.name.as_deref() {
        None | Some(FOLD) => Some(child::<PureFigures>(FOLD)?),
        Some(_) => None,
    };
    print(&measured, pure.as_ref(), context)?;
    for name in waiting {
        print_beside(name, &child::<Beside>(name)?, context)?;
    }
    Ok(Exit::Ok)
}

/// How late the ticks of many schedules are.
fn tick(context: &mut Context<'_>) -> Result<Exit> {
    let folder = Folder::make(context.cwd)?;
    let runtime = tokio::runtime::Runtime::new().map_err(|e| Problem::file("started", Path::new("runtime"), &e))?;
    let spread = runtime.block_on(schedules(&folder.0.join("spread"), false))?;
    let at_once = runtime.block_on(schedules(&folder.0.join("at-once"), true))?;
    let line = |when: &str, figures: &ScheduleFigures| {
        format!(
            "{} schedules {when}, {} ticks: half decided within {} ms, 99 of 100 within {} ms, all within {} ms",
            figures.schedules, figures.ticks, figures.late_p50_ms, figures.late_p99_ms, figures.late_most_ms
        )
    };
    let lines = [line("over a minute", &spread), line("at one instant", &at_once)];
    context.printer.one(SCHEDULES, &lines, &json!({ "spread": spread, "at_once": at_once }))?;
    Ok(Exit::Ok)
}

/// How long a rerun from failure takes.
fn reran(context: &mut Context<'_>) -> Result<Exit> {
    let folder = Folder::make(context.cwd)?;
    let runtime = tokio::runtime::Runtime::new().map_err(|e| Problem::file("started", Path::new("runtime"), &e))?;
    let figures = runtime.block_on(rerun(&folder.0))?;
    let line = |one: &RerunFigures| {
        format!(
            "rerun of the {} of {} tasks that failed: {:.1} ms from request to answer, {:.1} ms by an engine that has \
             just started",
            one.failed, one.tasks, one.warm_ms, one.cold_ms
        )
    };
    let lines: Vec<String> = figures.iter().map(line).collect();
    context.printer.one(RERUN, &lines, &json!({ "reruns": figures }))?;
    Ok(Exit::Ok)
}

fn find(name: &str) -> Result<&'static Load> {
    Load::find(name).ok_or_else(|| {
        let known: Vec<&str> =
            LOADS.iter().map(|l| l.name).chain([FOLD, RERUN, SCHEDULES, SEARCH, SERVER, WORK]).chain(WAITING).collect();
        Problem::new(Kind::NotFound, "no_such_load", format!("there is no load `{name}`"))
            .next(format!("choose one of {}", known.join(", ")))
    })
}

/// What a worker over HTTP reaches.
fn served(args: &Bench, context: &mut Context<'_>) -> Result<Exit> {
    descriptors::raise();
    let folder = Folder::make(context.cwd)?;
    let runtime = tokio::runtime::Runtime::new().map_err(|e| Problem::file("started", Path::new("runtime"), &e))?;
    let figures = runtime.block_on(server(&folder.0, args.worker.as_deref(), args.quick))?;
    let mut lines = vec![
        format!(
            "w1: {:.0} tasks/s, {:.1} us of processor and {:.3} commits a task, at most {:.0} MB",
            figures.tasks_per_second, figures.cpu_us_per_task, figures.commits_per_task, figures.peak_mb
        ),
        format!(
            "a run of one task, from request to result: half within {:.2} ms, 99 of 100 within {:.2} ms",
            figures.run_p50_ms, figures.run_p99_ms
        ),
    ];
    if args.worker.is_none() {
        lines.push(format!(
            "at half the load, from one task's end to the next one's start: half within {:.2} ms, 99 of 100 within {:.2} ms",
            figures.next_p50_ms, figures.next_p99_ms
        ));
    }
    lines.push(format!(
        "a fast domain event, from its commit to a listener here: half within {:.3} ms, 99 of 100 within {:.3} ms",
        figures.told_p50_ms, figures.told_p99_ms
    ));
    if let Some(crowd) = &figures.crowd {
        lines.push(format!(
            "the same at half the load: half within {:.3} ms, 99 of 100 within {:.3} ms",
            figures.told_beside_p50_ms, figures.told_beside_p99_ms
        ));
        lines.push(format!(
            "w1 beside {} workers that wait, {} readers of streams and a webhook that hangs: {:.0} tasks/s, {:.0} without \
             them ({:.2}); {:.0} MB more",
            crowd.workers,
            crowd.readers,
            crowd.beside_per_second,
            crowd.alone_per_second,
            crowd.beside_per_second / crowd.alone_per_second,
            crowd.grown_mb
        ));
    }
    context.printer.one(SERVER, &lines, &figures)?;
    Ok(Exit::Ok)
}

/// What the work graph costs.
fn worked(quick: bool, context: &mut Context<'_>) -> Result<Exit> {
    let folder = Folder::make(context.cwd)?;
    let runtime = tokio::runtime::Runtime::new().map_err(|e| Problem::file("started", Path::new("runtime"), &e))?;
    let figures = runtime.block_on(work(&folder.0, quick))?;
    let mut lines = vec![
        format!("{} items made in one commit: {:.0} ms", figures.items, figures.import_ms),
        format!(
            "ready --limit 20: {:.0} us in memory, {:.2} ms off the folder",
            figures.ready_us, figures.ready_folder_ms
        ),
        format!("blocked, {} of them: {:.1} ms", figures.blocked, figures.blocked_ms),
        format!("a dependency: {:.0} us, at worst {:.2} ms", figures.depend_us, figures.depend_worst_ms),
        format!("closing what a thousand wait for: {:.2} ms", figures.close_ms),
        format!("one item made durably: {:.2} ms", figures.commit_ms),
        format!("everything derived anew: {:.0} ms", figures.rebuild_ms),
    ];
    lines.extend(figures.ready_of_many_us.map(|us| format!("ready --limit 20 of a million: {us:.0} us")));
    context.printer.one(WORK, &lines, &figures)?;
    Ok(Exit::Ok)
}

/// Makes many runs and searches them.
fn searched(quick: bool, context: &mut Context<'_>) -> Result<Exit> {
    let runs = if quick { SEARCHED.1 } else { SEARCHED.0 };
    context.printer.say(&format!("search: writing {runs} runs"));
    let folder = Folder::make(context.cwd)?;
    let figures = search(&folder.0, runs)?;
    let mut rows = Vec::new();
    for one in &figures.searches {
        let text = if one.search.is_empty() { "(all)" } else { one.search };
        let cells =
            [text.to_owned(), one.found.to_string(), format!("{:.2}", one.median_ms), format!("{:.2}", one.worst_ms)];
        rows.push(Row::new(text, cells.into_iter().map(Cell::from).collect(), one)?);
    }
    context.printer.rows(&["SEARCH", "FOUND", "MEDIAN MS", "WORST MS"], &rows)?;
    context.printer.say(&format!("{} runs, {:.1} us to write one", figures.runs, figures.write_us));
    Ok(Exit::Ok)
}

/// Measures in this very process and prints what came out, for the process that asked.
fn once(name: &str, context: &mut Context<'_>) -> Result<Exit> {
    let text = if name == FOLD {
        serde_json::to_string(&pure(find(FOLD_LOAD)?)?)
    } else {
        let folder = Folder::make(context.cwd)?;
        let runtime = tokio::runtime::Runtime::new().map_err(|e| Problem::file("started", Path::new("runtime"), &e))?;
        match name {
            "backlog" => serde_json::to_string(&runtime.block_on(backlog(find(WAITING_LOAD)?, &folder.0, BACKLOG))?),
            "limits" => serde_json::to_string(&runtime.block_on(limits(find(WAITING_LOAD)?, &folder.0, ASIDE))?),
            _ => serde_json::to_string(&runtime.block_on(measure(find(name)?, &folder.0))?),
        }
    };
    context.printer.line(&text.unwrap_or_default())?;
    Ok(Exit::Ok)
}

/// The median of several measurements, each in a fresh process.
fn repeat(load: &Load, quick: bool, context: &mut Context<'_>) -> Result<Figures> {
    let times = if quick {
        1
    } else if !load.warms_up() {
        TIMES_LARGE
    } else {
        TIMES
    };
    let mut all = Vec::new();
    for time in 1..=times {
        context.printer.say(&format!("{}: {} ({time} of {times})", load.name, load.about));
        all.push(child::<Figures>(load.name)?);
    }
    let of = |figure: fn(&Figures) -> f64| {
        let mut values: Vec<f64> = all.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ok(Figures {
        tasks_per_second: of(|f| f.tasks_per_second),
        cpu_us_per_task: of(|f| f.cpu_us_per_task),
        step_p50_ms: of(|f| f.step_p50_ms),
        step_p99_ms: of(|f| f.step_p99_ms),
        sync_p50_ms: of(|f| f.sync_p50_ms),
        events_per_commit: of(|f| f.events_per_commit),
        commits_per_task: of(|f| f.commits_per_task),
        rows_per_task: of(|f| f.rows_per_task),
        bytes_per_event: of(|f| f.bytes_per_event),
        peak_mb: of(|f| f.peak_mb),
        idle_mb: of(|f| f.idle_mb),
    })
}

fn child<T: DeserializeOwned>(name: &str) -> Result<T> {
    let failed = |why: String| {
        Problem::new(Kind::Unavailable, "bench_failed", format!("load `{name}` could not be measured")).why(why)
    };
    let program = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let output = std::process::Command::new(program).args(["bench", name, "--once"]).output();
    let output = output.map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| failed(e.to_string()))
}

fn print(measured: &[Measured], pure: Option<&PureFigures>, context: &mut Context<'_>) -> Result<()> {
    let header = [
        "LOAD",
        "TASKS/S",
        "CPU US/TASK",
        "P50 MS",
        "P99 MS",
        "SYNC MS",
        "EVENTS/COMMIT",
        "ROWS/TASK",
        "BYTES/EVENT",
        "PEAK MB",
        "IDLE MB",
    ];
    let mut rows = Vec::new();
    for m in measured {
        let f = &m.figures;
        let step = |ms: f64| if ms > 0.0 { format!("{ms:.3}") } else { "-".into() };
        let cells = [
            m.load.to_owned(),
            format!("{:.0}", f.tasks_per_second),
            format!("{:.1}", f.cpu_us_per_task),
            step(f.step_p50_ms),
            step(f.step_p99_ms),
            step(f.sync_p50_ms),
            format!("{:.1}", f.events_per_commit),
            format!("{:.2}", f.rows_per_task),
            format!("{:.0}", f.bytes_per_event),
            format!("{:.0}", f.peak_mb),
            format!("{:.0}", f.idle_mb),
        ];
        rows.push(Row::new(m.load, cells.into_iter().map(Cell::from).collect(), m)?);
    }
    if !rows.is_empty() {
        context.printer.rows(&header, &rows)?;
    }
    if let Some(pure) = pure {
        let line = format!(
            "fold alone {:.0} events/s, from records {:.0} events/s",
            pure.fold_per_second, pure.refold_per_second
        );
        context.printer.one(FOLD, &[line], pure)?;
    }
    Ok(())
}

fn print_beside(name: &str, beside: &Beside, context: &mut Context<'_>) -> Result<()> {
    let Beside { waiting, start_ms, started_mb, peak_mb, .. } = beside;
    let line = format!(
        "{name}: beside {waiting} that wait {:.0} tasks/s and {:.1} us of processor a task; alone {:.0} and {:.1}; \
         started in {start_ms:.0} ms with {started_mb:.0} MB, at most {peak_mb:.0} MB",
        beside.beside_per_second, beside.beside_cpu_us, beside.alone_per_second, beside.alone_cpu_us
    );
    context.printer.one(name, &[line], beside)
}

/// A folder of ours, gone when the measurement is over.
struct Folder(PathBuf);

impl Folder {
    fn make(cwd: &Path) -> Result<Self> {
        let path = cwd.join(format!(".edgewise-bench-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| Problem::file("made", &path, &error))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left for a person to see.
        let _ = fs::remove_dir_all(&self.0);
    }
}
