//! A work graph of a workspace's size: what it costs to ask it, to change it, and to make it anew.
//!
//! Ten thousand open tasks of which seven thousand are blocked, twenty thousand `blocks` edges, a thousand parents in two
//! levels that hold half of the tasks, five hundred gates; and a million items for what must not grow with their number.
//! What only the memory does is measured there, without a commit around it; a command is measured whole.

use super::measure::open;
use edgewise_core::fold::Stamp;
use edgewise_core::id::EventId;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::{
    Add, Changed, Close, Depend, DependencyAdded, DependencyKind, Fields, Filter, GateWait, ItemAdded, ItemClosed,
    ItemId, ItemKind, Op, TaskType, When, Work, WorkEvent, fold,
};
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::reader::Reader;
use edgewise_engine::work::Look;
use serde::Serialize;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const TASKS: usize = 10_000;
/// Tasks before this one wait for nothing.
const FREE: usize = 3_000;
const EDGES: usize = 20_000;
const PARENTS: usize = 1_000;
/// So many of them hold other parents, and tasks as well.
const TOPS: usize = 100;
const GATES: usize = 500;
const DEPENDENTS: usize = 1_000;
/// How often each thing is measured.
const TIMES: usize = 201;
/// How often a command is, which is a process of its own.
const COMMANDS: usize = 41;
const MANY: usize = 1_000_000;
const LIMIT: usize = 20;

/// What was measured of a work graph.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WorkFigures {
    /// How many items there are.
    pub items: usize,
    /// How many of them are blocked.
    pub blocked: usize,
    /// All of it made in one commit.
    pub import_ms: f64,
    /// `ready --limit 20` in the engine's memory, the median.
    pub ready_us: f64,
    /// The same by somebody who opens the folder, without an engine.
    pub ready_folder_ms: f64,
    /// The same as a command of its own, from its start to its end; absent where this is not the program.
    pub ready_command_ms: Option<f64>,
    /// Everything that is blocked, in the engine's memory.
    pub blocked_ms: f64,
    /// A dependency with its cycle check, the median and the worst.
    pub depend_us: f64,
    /// The worst of them.
    pub depend_worst_ms: f64,
    /// Closing an item that a thousand wait for.
    pub close_ms: f64,
    /// One item made durably, by itself, the median.
    pub commit_ms: f64,
    /// Everything derived, from the rows.
    pub rebuild_ms: f64,
    /// `ready --limit 20` of a million items in memory, if that was measured.
    pub ready_of_many_us: Option<f64>,
}

/// Chance that is the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// Measures on a fresh store in a folder; a million items too, unless it is to be quick.
pub async fn work(dir: &Path, quick: bool) -> Result<WorkFigures> {
    let (engine, by) = (open(dir)?, Name::parse("bench")?);
    let mut figures = WorkFigures::default();
    let began = Instant::now();
    engine.work(graph()?, by.clone(), None).await?;
    figures.import_ms = ms(began);
    let filter = Filter { limit: Some(LIMIT), ..Filter::default() };
    let first = filter.clone();
    figures.ready_us =
        engine.with_work(move |work, now| median_us(|| work.ready(now, &first, None).map(drop))).await??;
    let (blocked, blocked_ms, items) = engine
        .with_work(|work, now| {
            let began = Instant::now();
            let found = work.blocked(now, &Filter::default()).map(|found| found.len());
            (found, ms(began), work.len())
        })
        .await?;
    (figures.blocked, figures.blocked_ms, figures.items) = (blocked?, blocked_ms, items);
    let state = engine.with_work(|work, _| work.clone()).await?;
    (figures.depend_us, figures.depend_worst_ms) = depend(state.clone(), &by)?;
    figures.close_ms = close(state.clone(), &by)?;
    let rows = state.rows();
    let began = Instant::now();
    drop(Work::from_rows(&rows)?);
    figures.rebuild_ms = ms(began);
    let mut commits = Vec::new();
    for n in 0..50 {
        let began = Instant::now();
        engine.work(vec![item(&format!("ew-late{n}"), None)?], by.clone(), None).await?;
        commits.push(began.elapsed().as_secs_f64() * 1e3);
    }
    commits.sort_by(f64::total_cmp);
    figures.commit_ms = commits[commits.len() / 2];
    engine.stop()?;
    let look = Look::Ready { filter: Box::new(filter.clone()), who: None };
    let opened = median_us(|| Reader::open(dir, Home::local())?.look(wall_clock(), &look).map(drop))?;
    figures.ready_folder_ms = opened / 1e3;
    figures.ready_command_ms = command(dir)?;
    if !quick {
        figures.ready_of_many_us = Some(many(&filter, &by)?);
    }
    Ok(figures)
}

fn ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

/// `edgewise ready --limit 20` in a folder: this program again, if it is that.
fn command(dir: &Path) -> Result<Option<f64>> {
    let broken = |what: String| Error::bug("bench_work", what);
    let program = std::env::current_exe().map_err(|error| broken(error.to_string()))?;
    if program.file_stem().is_none_or(|name| name != "edgewise") {
        return Ok(None);
    }
    let limit = LIMIT.to_string();
    let once = || {
        let mut ready = Command::new(&program);
        let done =
            ready.args(["ready", "--limit", &limit, "-q", "--dir"]).arg(dir).env_remove("EDGEWISE_ADDR").output();
        let done = done.map_err(|error| broken(error.to_string()))?;
        match String::from_utf8_lossy(&done.stdout).lines().count() {
            LIMIT if done.status.success() => Ok(()),
            lines => Err(broken(format!("`ready` printed {lines} ids: {}", String::from_utf8_lossy(&done.stderr)))),
        }
    };
    Ok(Some(median_of(COMMANDS, once)? / 1e3))
}

fn median_us(measured: impl FnMut() -> Result<()>) -> Result<f64> {
    median_of(TIMES, measured)
}

fn median_of(times_measured: usize, mut measured: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::with_capacity(times_measured);
    for _ in 0..times_measured {
        let began = Instant::now();
        measured()?;
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times_measured / 2])
}

fn item(id: &str, parent: Option<String>) -> Result<Op> {
    made(id, ItemKind::Task, parent)
}

fn made(id: &str, kind: ItemKind, parent: Option<String>) -> Result<Op> {
    let id = Some(ItemId::parse(id)?);
    Ok(Op::Add(Box::new(Add { title: "something to be done".into(), id, kind, parent, ..Add::default() })))
}

fn task(n: usize) -> String {
    format!("ew-t{n}")
}

/// Every edge leads from a task to an earlier one, so that none is refused.
fn graph() -> Result<Vec<Op>> {
    let (mut ops, mut dice) = (Vec::new(), Dice(42));
    let parent = |n: usize| format!("ew-p{n}");
    for n in 0..PARENTS {
        ops.push(made(&parent(n), ItemKind::Plan, (n >= TOPS).then(|| parent(n % TOPS)))?);
    }
    for n in 0..TASKS {
        ops.push(item(&task(n), (n % 2 == 0).then(|| parent(n / 2 % PARENTS)))?);
    }
    // Each of them waits for something; the rest of the edges is anywhere among them.
    let mut edges: std::collections::BTreeSet<_> = (FREE..TASKS).map(|n| (n, dice.below(n))).collect();
    while edges.len() < EDGES {
        let source = FREE + dice.below(TASKS - FREE);
        edges.insert((source, dice.below(source)));
    }
    let depend = |id: String, on: Option<String>, kind, gate| {
        Op::Depend(Box::new(Depend { id, on, kind: Some(kind), when: When::Success, gate, metadata: None }))
    };
    ops.extend(edges.into_iter().map(|(a, b)| depend(task(a), Some(task(b)), DependencyKind::Blocks, None)));
    for n in 0..GATES {
        let gate = GateWait::Approval { required_approvers: Vec::new(), approval_count: Some(1) };
        ops.push(depend(task(TASKS - 1 - n * 2), None, DependencyKind::Awaits, Some(gate)));
    }
    Ok(ops)
}

fn tell(work: &mut Work, event: &WorkEvent) -> Result<()> {
    let stamp = Stamp { id: EventId(work.last.0 + 1), at: Time(1_000_000) };
    fold(work, stamp, event, &mut Changed::default())
}

fn waits(source: &str, target: &str, by: &Name) -> Result<WorkEvent> {
    let (source, target) = (ItemId::parse(source)?, ItemId::parse(target)?.into());
    let (kind, when, metadata) = (DependencyKind::Blocks, When::Success, None);
    Ok(WorkEvent::DependencyAdded(Box::new(DependencyAdded { source, target, kind, when, metadata, by: by.clone() })))
}

/// Dependencies between any two tasks, some of which would close a cycle; median and worst.
fn depend(mut work: Work, by: &Name) -> Result<(f64, f64)> {
    let (mut dice, mut times) = (Dice(7), Vec::new());
    for _ in 0..2_000 {
        let event = waits(&task(dice.below(TASKS)), &task(dice.below(TASKS)), by)?;
        let began = Instant::now();
        // A refused one is measured too.
        let _ = tell(&mut work, &event);
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times[times.len() - 1] / 1e3))
}

/// Closes an item that a thousand wait for.
fn close(mut work: Work, by: &Name) -> Result<f64> {
    tell(&mut work, &added("ew-hub", by)?)?;
    for n in 0..DEPENDENTS {
        tell(&mut work, &waits(&task(n), "ew-hub", by)?)?;
    }
    let (how, force, token, why) = (Close::Done, false, None, None);
    let event =
        WorkEvent::ItemClosed(ItemClosed { id: ItemId::parse("ew-hub")?, how, force, token, by: by.clone(), why });
    let began = Instant::now();
    tell(&mut work, &event)?;
    Ok(ms(began))
}

fn added(id: &str, by: &Name) -> Result<WorkEvent> {
    let fields = Fields {
        title: "something".into(),
        priority: 3,
        task_type: TaskType::Task,
        assignee: None,
        owner: None,
        tags: Default::default(),
        deadline: None,
        scheduled_for: None,
        external_ref: None,
        auto_complete: false,
        ephemeral: None,
        details: None,
    };
    let (id, kind, phase, waiter) = (ItemId::parse(id)?, ItemKind::Task, None, None);
    Ok(WorkEvent::ItemAdded(Box::new(ItemAdded { id, kind, fields, phase, waiter, created_at: None, by: by.clone() })))
}

/// What is ready of a million items, one in four of which waits for another.
fn many(filter: &Filter, by: &Name) -> Result<f64> {
    let mut work = Work::default();
    for n in 0..MANY {
        tell(&mut work, &added(&task(n), by)?)?;
        if n % 4 == 3 {
            tell(&mut work, &waits(&task(n), &task(n - 1), by)?)?;
        }
    }
    if work.len() != MANY {
        return Err(Error::bug("bench_work", format!("{} items are there, {MANY} were made", work.len())));
    }
    median_us(|| work.ready(Time(2_000_000), filter, None).map(drop))
}
