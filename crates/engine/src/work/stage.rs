//! The stage: what the operations of one command are decided on, and the names they give each other.

use super::Ops;
use crate::desk::Desk;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::work::{
    Dependency, DependencyKind, Done, Group, Item, ItemId, ItemKind, NoteKind, Status, Target, Work, WorkEvent,
};
use edgewise_core::{Error, Kind, Result};
use std::collections::BTreeMap;

/// The setting that new ids begin with.
const PREFIX_SETTING: &str = "work.prefix";
/// What they begin with if nobody has set it.
const PREFIX: &str = "ew";
/// Runs that a shortened id could mean are looked at up to so many.
const CANDIDATES: usize = 5;

pub(super) struct Stage<'d> {
    pub desk: &'d mut Desk,
    pub by: &'d Name,
    prefix: Name,
    /// Whether other operations are behind this one, or before it.
    several: bool,
    /// What earlier operations made, by the names they gave it.
    names: BTreeMap<String, ItemId>,
}

impl<'d> Stage<'d> {
    pub fn new(desk: &'d mut Desk, asked: &'d Ops) -> Result<Self> {
        let setting = Name::parse(PREFIX_SETTING)?;
        // Without control, ids begin as they do by themselves.
        let set = desk.control().ok().and_then(|control| control.settings.get(&setting)?.value.as_str());
        let prefix = Name::parse(set.unwrap_or(PREFIX))?;
        let (by, several) = (&asked.by, asked.ops.len() > 1);
        Ok(Self { desk, by, prefix, several, names: BTreeMap::new() })
    }

    pub fn work(&self) -> &Work {
        &self.desk.work.state
    }

    /// An id that nothing has yet.
    pub fn fresh_id(&mut self) -> ItemId {
        let chance = self.desk.entropy.bits();
        self.work().fresh_id(&self.prefix, chance)
    }

    /// Lets later operations call it by a name.
    pub fn call(&mut self, name: Option<&str>, id: &ItemId) -> Result<()> {
        let Some(name) = name else { return Ok(()) };
        if self.names.insert(name.to_owned(), id.clone()).is_some() {
            let message = format!("two operations of this commit are called {name:?}: each needs a name of its own");
            return Err(Error::invalid("name_twice", message));
        }
        Ok(())
    }

    /// The item or gate that a text means: `$name`, an id, or the beginning of one.
    pub fn find(&self, text: &str) -> Result<ItemId> {
        let Some(name) = text.strip_prefix('$') else { return self.work().resolve(text) };
        self.names.get(name).cloned().ok_or_else(|| {
            let message = format!("no earlier operation of this commit is called {name:?}; names are given with `as`");
            Error::not_found("name_not_found", message)
        })
    }

    /// The item that a text means.
    pub fn item(&self, text: &str) -> Result<&Item> {
        let id = self.find(text)?;
        self.work().item(id.as_str()).ok_or_else(|| {
            let message = format!("{id} is a gate, not an item; `edgewise gate show {id}` shows it");
            Error::not_found("item_not_found", message)
        })
    }

    /// How something is waited for: a gate, also one of a run, and a run are awaited, everything else blocks.
    pub fn waiting(&self, target: &Target) -> DependencyKind {
        match self.work().gate(target.as_str()).is_some() || target.of_run().is_some() {
            true => DependencyKind::Awaits,
            false => DependencyKind::Blocks,
        }
    }

    /// What a dependency points to: an item, a gate, a run, a task of a run, or something outside.
    pub fn target(&mut self, text: &str) -> Result<Target> {
        match self.find(text) {
            Ok(id) => return Ok(id.into()),
            Err(error) if error.kind == Kind::NotFound && !text.starts_with('$') => {}
            Err(error) if error.code == "bad_id" => {}
            Err(error) => return Err(error),
        }
        let (name, path) = text.split_once('/').map_or((text, None), |(run, path)| (run, Some(path)));
        match (self.run(name)?, path) {
            (Some(run), None) => Ok(Target::run(run)),
            (Some(run), Some(path)) => Target::gate_of(run, path),
            (None, _) => Target::parse(text),
        }
    }

    /// What a dependency of a kind points to. A person is named whole: nobody is taken for an item or a run whose id
    /// begins like their name.
    pub fn target_of(&mut self, text: &str, kind: Option<DependencyKind>) -> Result<Target> {
        let person = kind.is_some_and(|kind| kind.group() == Group::Attribution) && !text.starts_with('$');
        if person { Target::parse(text) } else { self.target(text) }
    }

    /// Refuses what would put something open into something closed.
    pub fn may_enter(&self, parent: &ItemId, over: bool) -> Result<()> {
        let closed = |item: &Item| item.status == Status::Closed;
        if over || !self.work().item(parent.as_str()).is_some_and(closed) {
            return Ok(());
        }
        let message = format!("{parent} is closed, and nothing open is put into it: `edgewise reopen {parent}` first");
        Err(Error::conflict("item_closed", message))
    }

    /// Refuses what is made under an id that somebody waits for in a way that it cannot be waited for.
    pub fn as_expected(&self, id: &ItemId, kind: Option<ItemKind>) -> Result<()> {
        let fits = |known: &Dependency| match (known.kind, kind) {
            (DependencyKind::Blocks, Some(kind)) => kind.is_work(),
            (DependencyKind::Blocks, None) | (DependencyKind::Awaits, Some(_)) => false,
            _ => true,
        };
        let known = self.work().item(id.as_str()).is_some() || self.work().gate(id.as_str()).is_some();
        // What is there already is refused for that, whoever waits for it.
        let dependents = if known { Vec::new() } else { self.work().dependents_of(id.as_str()) };
        let Some(known) = dependents.into_iter().find(|known| !fits(known)) else { return Ok(()) };
        let message = format!(
            "{source} waits for {id} ({kind}), and this is nothing that can be waited for like that: `edgewise dep remove {source} {id}` first, or take another id",
            source = known.source,
            kind = known.kind.name()
        );
        Err(Error::invalid("wrong_target", message))
    }

    /// The run that a text means, if it means one.
    fn run(&mut self, text: &str) -> Result<Option<RunId>> {
        let home = &self.desk.home;
        let found = self.desk.ledger.find(text, CANDIDATES)?;
        let mut ours = found
            .into_iter()
            .filter(|s| s.run.is_run() && s.tenant == home.tenant && s.workspace == home.workspace)
            .map(|stream| stream.run);
        match (ours.next(), ours.next()) {
            (Some(run), None) => Ok(Some(run)),
            (Some(_), Some(_)) if text.len() > 3 => {
                let message = format!("several runs begin with {text:?}; type more of it");
                Err(Error::conflict("ambiguous_id", message))
            }
            // One that was taken away is still pointed to by its whole id.
            _ => Ok(RunId::parse(&text.to_ascii_lowercase()).ok().filter(|run| run.is_run())),
        }
    }

    /// Records events, and says whom they blocked and unblocked.
    pub fn record(&mut self, done: &mut Done, events: impl IntoIterator<Item = WorkEvent>) -> Result<()> {
        let events: Vec<WorkEvent> = events.into_iter().collect();
        if self.several || events.len() > 1 {
            self.desk.work.remember();
        }
        let before = self.desk.work.changed.notes.len();
        events.into_iter().try_for_each(|event| self.desk.record_work(event))?;
        for note in &self.desk.work.changed.notes[before..] {
            match note.what {
                NoteKind::AutoUnblocked { .. } => done.unblocked.push(note.item.clone()),
                NoteKind::AutoBlocked { .. } => done.blocked.push(note.item.clone()),
                _ => {}
            }
        }
        Ok(())
    }
}
