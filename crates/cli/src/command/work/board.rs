//! The work graph as commands look at it: as it is now, with the clock it is judged by.

use super::last;
use crate::args::{At, Meant, RunRef};
use crate::command::Context;
use crate::problem::{Problem, Result};
use crate::view;
use edgewise_core::Kind;
use edgewise_core::time::Time;
use edgewise_core::work::part::Extent;
use edgewise_core::work::{Dependency, DependencyKind, Filter, Item, ItemId, Standing, Work};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::work::{ItemView, Look};
use std::path::{Path, PathBuf};

/// The work graph, and when it is looked at.
pub(crate) struct Board {
    /// All of it, or as much as it takes.
    pub work: Work,
    /// Now.
    pub now: Time,
    /// The data folder.
    pub dir: PathBuf,
}

/// What a person meant.
pub(crate) enum Found {
    /// An item or a gate of the work graph.
    Item(Box<Board>, ItemId),
    /// A run, or a task of it.
    Run(RunRef, Option<String>),
}

impl Board {
    /// The work graph of the data folder; empty where nothing was ever written.
    pub fn open(context: &Context<'_>) -> Result<Self> {
        let (dir, now) = (context.config.dir.value.clone(), wall_clock());
        let there = view::is_there(context.config);
        let work = if there { view::reader(context.config)?.work_at(now)? } else { Work::default() };
        Ok(Self { work, now, dir })
    }

    /// The item or gate that was meant, in as much of the work graph as it takes to say something of it.
    pub fn about(text: &str, extent: Extent, context: &Context<'_>) -> Result<(Self, ItemId)> {
        if !view::is_there(context.config) {
            let board = Self::open(context)?;
            let id = board.find(text)?;
            return Ok((board, id));
        }
        let (dir, now) = (context.config.dir.value.clone(), wall_clock());
        let (id, work) = view::reader(context.config)?.work_about(now, &last::typed(&dir, text)?, extent)?;
        Ok((Self { work, now, dir }, id))
    }

    /// The item or gate that was meant: an id, a beginning of one, or `@`.
    pub fn find(&self, text: &str) -> Result<ItemId> {
        Ok(self.work.resolve(&last::typed(&self.dir, text)?)?)
    }

    /// An item that is there.
    pub fn item(&self, id: &ItemId) -> Result<&Item> {
        self.work.item(id.as_str()).ok_or_else(|| {
            let what = format!("{id} is a gate, not an item");
            Problem::new(Kind::Invalid, "not_an_item", what).next(format!("`edgewise gate show {id}` shows it"))
        })
    }

    /// An item with all that is derived of it.
    pub fn view(&self, item: &Item) -> ItemView {
        ItemView::of(&self.work, self.now, item)
    }

    /// Where an item stands.
    pub fn standing(&self, item: &Item) -> Standing {
        self.work.standing(item.id.as_str(), self.now).unwrap_or(Standing::NotWork)
    }

    /// The most urgent priority among an item and what waits for it.
    pub fn effective(&self, id: &ItemId) -> u8 {
        self.work.effective_priority(id.as_str()).unwrap_or(u8::MAX)
    }

    /// What an item is the source of; and whatever it relates to, whichever of the two stands first.
    pub fn needs(&self, id: &str) -> Vec<&Dependency> {
        let mut all = self.work.dependencies_of(id);
        let related = |one: &&Dependency| one.kind == DependencyKind::RelatesTo && one.source.as_str() != id;
        all.extend(self.work.dependents_of(id).into_iter().filter(related));
        all.sort_by_key(|one| one.kind);
        all
    }

    /// What points to something; what it relates to is among what it needs.
    pub fn needed_by(&self, id: &str) -> Vec<&Dependency> {
        let mut all = self.work.dependents_of(id);
        all.retain(|one| one.kind != DependencyKind::RelatesTo);
        all
    }

    /// The items that are a part of an item.
    pub fn children(&self, id: &str) -> Vec<ItemId> {
        self.work.children(id).into_iter().cloned().collect()
    }
}

/// Whether there was ever an item.
pub(crate) fn has_items(context: &Context<'_>) -> Result<bool> {
    Ok(view::is_there(context.config) && view::reader(context.config)?.has_work()?)
}

/// What somebody can begin with, and when that was so. Few items are read, where the store has them in order.
pub(crate) fn ready(filter: &Filter, context: &Context<'_>) -> Result<(Vec<ItemView>, Time)> {
    let who = Some(context.config.who.value.clone());
    items(&Look::Ready { filter: Box::new(filter.clone()), who }, context)
}

/// What something is in the way of, in the same manner.
pub(crate) fn blocked(filter: &Filter, context: &Context<'_>) -> Result<Vec<ItemView>> {
    items(&Look::Blocked { filter: Box::new(filter.clone()) }, context).map(|(views, _)| views)
}

fn items(look: &Look, context: &Context<'_>) -> Result<(Vec<ItemView>, Time)> {
    let now = wall_clock();
    if !view::is_there(context.config) {
        return Ok((Vec::new(), now));
    }
    let mut seen = view::reader(context.config)?.look(now, look)?;
    let views = serde_json::from_value(seen["items"].take()).map_err(|error| {
        Problem::new(Kind::Bug, "unexpected_answer", "the items could not be read").why(error.to_string())
    })?;
    Ok((views, now))
}

/// What is to be said of an item that a person meant.
#[derive(Clone, Copy)]
pub(crate) enum Asks {
    /// Why it stands as it does.
    Reasons,
    /// What binds it.
    Bonds,
    /// Something that the whole graph is looked at for.
    Whole,
}

/// Tells by its form what a person meant. What could be either is looked for among runs first, and refused where it is
/// both.
pub(crate) fn found(what: &Meant, task: Option<&String>, asks: Asks, context: &Context<'_>) -> Result<Found> {
    if let Meant::Task(run, path) = what {
        return Ok(Found::Run(run.clone(), Some(path.clone())));
    }
    if let (Some(task), Some(run)) = (task, what.run()) {
        return Ok(Found::Run(run, Some(task.clone())));
    }
    match what {
        Meant::Last => newest(asks, context),
        Meant::Word(word) if RunRef::parse(word).is_err() => refuse_task(item(word, asks, context)?, task),
        Meant::Word(word) => refuse_task(either(word, asks, context)?, task),
        Meant::Task(run, path) => Ok(Found::Run(run.clone(), Some(path.clone()))),
    }
}

/// An item has no past that could be drawn: its history tells what happened.
pub(crate) fn refuse_past(at: Option<At>) -> Result<()> {
    if at.is_none() {
        return Ok(());
    }
    let what = "this is an item: --at looks back into a run";
    Err(Problem::new(Kind::Invalid, "item_has_no_past", what).next("`edgewise history ID` tells what happened to it"))
}

/// Only runs have tasks.
fn refuse_task(found: Found, task: Option<&String>) -> Result<Found> {
    match (&found, task) {
        (Found::Item(_, id), Some(task)) => {
            let what = format!("{id} is an item, and has no task {task:?}: only runs have tasks");
            Err(Problem::new(Kind::Invalid, "item_has_no_tasks", what).next(format!("leave {task:?} out")))
        }
        _ => Ok(found),
    }
}

fn item(word: &str, asks: Asks, context: &Context<'_>) -> Result<Found> {
    let (board, id) = match asks {
        Asks::Reasons => Board::about(word, Extent::Reasons, context)?,
        Asks::Bonds => Board::about(word, Extent::Bonds, context)?,
        Asks::Whole => {
            let board = Board::open(context)?;
            let id = board.find(word)?;
            (board, id)
        }
    };
    Ok(Found::Item(Box::new(board), id))
}

/// What was touched last: an item, or a run that is younger.
fn newest(asks: Asks, context: &Context<'_>) -> Result<Found> {
    let dir: &Path = &context.config.dir.value;
    let Some((id, touched)) = last::read(dir) else { return Ok(Found::Run(RunRef::Last, None)) };
    let mut reader = view::reader(context.config)?;
    let younger = match reader.find("@") {
        Ok(run) => reader.row(run)?.is_some_and(|row| row.triggered_at > touched),
        Err(_) => false,
    };
    if younger { Ok(Found::Run(RunRef::Last, None)) } else { item(id.as_str(), asks, context) }
}

fn either(word: &str, asks: Asks, context: &Context<'_>) -> Result<Found> {
    let run = RunRef::Prefix(word.to_owned());
    if !view::is_there(context.config) {
        return Ok(Found::Run(run, None));
    }
    let (board, id) = match item(word, asks, context) {
        Ok(Found::Item(board, id)) => (board, id),
        // It fits several items: whoever typed it is told so, unless it is a run.
        Err(several) if several.code == "ambiguous_id" && view::reader(context.config)?.find(word).is_err() => {
            return Err(several);
        }
        _ => return Ok(Found::Run(run, None)),
    };
    match view::reader(context.config)?.find(word) {
        Ok(other) => {
            let what = format!("{word:?} could be the item {id} or the run {other}");
            Err(Problem::new(Kind::Conflict, "ambiguous_id", what).next("type more of it"))
        }
        Err(_) => Ok(Found::Item(board, id)),
    }
}
