//! A work graph that is driven by events alone, with everything that was written down about it.

use edgewise_core::error::{Error, Result};
use edgewise_core::fold::Stamp;
use edgewise_core::id::{EventId, RunId, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{
    Change, Changed, ClaimExtended, Close, DependencyAdded, DependencyKind, DependencyRemoved, Fields, Filter,
    GateActed, GateMade, GateRejected, GateSatisfied, GateWait, ItemAct, ItemAdded, ItemChanged, ItemClaimed,
    ItemClosed, ItemId, ItemKind, ItemMoved, ItemReleased, NoteKind, RunEnded, RunGateEnd, RunGateEnded, Target,
    TaskType, When, Work, WorkEvent, fold,
};

/// A graph and the instant it is at.
#[derive(Default)]
pub struct World {
    pub work: Work,
    pub now: u64,
    pub changed: Changed,
    pub log: Vec<(Time, WorkEvent)>,
}

pub fn id(text: &str) -> ItemId {
    ItemId::parse(text).unwrap()
}

pub fn target(text: &str) -> Target {
    Target::parse(text).unwrap()
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub fn fields(title: &str) -> Fields {
    Fields {
        title: title.into(),
        priority: 3,
        task_type: TaskType::Task,
        assignee: None,
        owner: None,
        tags: std::collections::BTreeSet::new(),
        deadline: None,
        scheduled_for: None,
        external_ref: None,
        auto_complete: false,
        ephemeral: None,
        details: None,
    }
}

/// An item of a kind, to be changed at will before it is added.
pub fn item(text: &str, kind: ItemKind) -> ItemAdded {
    ItemAdded { id: id(text), kind, fields: fields(text), phase: None, waiter: None, created_at: None, by: name("ann") }
}

impl World {
    /// Folds an event at the present instant; what it changed is kept until the next one.
    pub fn fold(&mut self, event: WorkEvent) -> Result<()> {
        let stamp = Stamp { id: EventId(u128::from(self.work.seq) + 1), at: Time(self.now) };
        self.changed = Changed::default();
        let result = fold(&mut self.work, stamp, &event, &mut self.changed);
        self.log.push((stamp.at, event));
        result
    }

    pub fn add(&mut self, event: ItemAdded) -> Result<()> {
        self.fold(WorkEvent::ItemAdded(Box::new(event)))
    }

    /// Tasks with these ids.
    pub fn tasks(&mut self, ids: &[&str]) {
        for text in ids {
            self.add(item(text, ItemKind::Task)).unwrap();
        }
    }

    pub fn priority(&mut self, text: &str, priority: u8) {
        let mut event = item(text, ItemKind::Task);
        event.fields.priority = priority;
        self.add(event).unwrap();
    }

    pub fn change(&mut self, text: &str, change: Change) -> Result<()> {
        self.fold(WorkEvent::ItemChanged(Box::new(ItemChanged { id: id(text), change, by: name("ann") })))
    }

    pub fn depend(&mut self, source: &str, on: &str, kind: DependencyKind, when: When) -> Result<()> {
        self.fold(WorkEvent::DependencyAdded(Box::new(DependencyAdded {
            source: id(source),
            target: target(on),
            kind,
            when,
            metadata: None,
            by: name("ann"),
        })))
    }

    /// The source waits for the target.
    pub fn blocks(&mut self, source: &str, on: &str) -> Result<()> {
        self.depend(source, on, DependencyKind::Blocks, When::Success)
    }

    pub fn awaits(&mut self, source: &str, on: &str) -> Result<()> {
        self.depend(source, on, DependencyKind::Awaits, When::Success)
    }

    pub fn child(&mut self, source: &str, parent: &str) -> Result<()> {
        self.depend(source, parent, DependencyKind::ParentChild, When::Success)
    }

    pub fn undepend(&mut self, source: &str, on: &str, kind: DependencyKind) -> Result<()> {
        let (source, target, by) = (id(source), target(on), name("ann"));
        self.fold(WorkEvent::DependencyRemoved(DependencyRemoved { source, target, kind, by }))
    }

    pub fn close_event(text: &str, how: Close) -> ItemClosed {
        ItemClosed { id: id(text), how, force: false, token: None, by: name("ann"), why: None }
    }

    pub fn close(&mut self, text: &str) -> Result<()> {
        self.fold(WorkEvent::ItemClosed(Self::close_event(text, Close::Done)))
    }

    pub fn close_as(&mut self, text: &str, how: Close) -> Result<()> {
        self.fold(WorkEvent::ItemClosed(Self::close_event(text, how)))
    }

    pub fn force(&mut self, text: &str) -> Result<()> {
        self.fold(WorkEvent::ItemClosed(ItemClosed { force: true, ..Self::close_event(text, Close::Done) }))
    }

    fn act(text: &str) -> ItemAct {
        ItemAct { id: id(text), by: name("ann"), why: None }
    }

    pub fn reopen(&mut self, text: &str) -> Result<()> {
        self.fold(WorkEvent::ItemReopened(Self::act(text)))
    }

    pub fn delete(&mut self, text: &str) -> Result<()> {
        self.fold(WorkEvent::ItemDeleted(Self::act(text)))
    }

    pub fn move_to(&mut self, text: &str, parent: Option<&str>) -> Result<()> {
        self.fold(WorkEvent::ItemMoved(ItemMoved { id: id(text), parent: parent.map(id), by: name("ann") }))
    }

    pub fn claim(&mut self, text: &str, who: &str, token: u64, span: u64) -> Result<()> {
        let until = Time(self.now).plus(Millis(span));
        self.fold(WorkEvent::ItemClaimed(ItemClaimed { id: id(text), by: name(who), token: TokenHash(token), until }))
    }

    pub fn extend(&mut self, text: &str, token: u64, span: u64) -> Result<()> {
        let until = Time(self.now).plus(Millis(span));
        self.fold(WorkEvent::ClaimExtended(ClaimExtended { id: id(text), token: TokenHash(token), until }))
    }

    pub fn release(&mut self, text: &str, token: u64, by: Option<&str>) -> Result<()> {
        let (id, token, by) = (id(text), TokenHash(token), by.map(name));
        self.fold(WorkEvent::ItemReleased(ItemReleased { id, token, by }))
    }

    pub fn gate(&mut self, text: &str, wait: GateWait) -> Result<()> {
        self.fold(WorkEvent::GateMade(GateMade { id: id(text), wait, title: None, by: name("ann") }))
    }

    pub fn approve(&mut self, text: &str, who: &str) -> Result<()> {
        self.fold(WorkEvent::GateApproved(GateActed { gate: id(text), by: name(who), comment: None }))
    }

    pub fn withdraw(&mut self, text: &str, who: &str) -> Result<()> {
        self.fold(WorkEvent::GateWithdrawn(GateActed { gate: id(text), by: name(who), comment: None }))
    }

    pub fn satisfy(&mut self, text: &str, who: Option<&str>) -> Result<()> {
        self.fold(WorkEvent::GateSatisfied(GateSatisfied {
            gate: id(text),
            by: who.map(name),
            why: None,
            evidence: None,
        }))
    }

    pub fn reject(&mut self, text: &str, who: &str) -> Result<()> {
        self.fold(WorkEvent::GateRejected(GateRejected { gate: id(text), by: name(who), why: None }))
    }

    pub fn run_ended(&mut self, run: RunId, state: Option<RunState>) -> Result<()> {
        self.fold(WorkEvent::RunEnded(RunEnded { run, state }))
    }

    pub fn run_gate_ended(&mut self, run: RunId, task: &str, end: Option<RunGateEnd>) -> Result<()> {
        self.fold(WorkEvent::RunGateEnded(RunGateEnded { run, task: task.into(), end }))
    }

    /// Lets everything happen that happens by itself.
    pub fn elapse(&mut self, to: u64) {
        self.now = to;
        for event in self.work.overdue(Time(to)) {
            self.fold(event).unwrap();
        }
    }

    pub fn ready(&self) -> Vec<String> {
        let found = self.work.ready(Time(self.now), &Filter::default(), None).unwrap();
        found.iter().map(|item| item.id.to_string()).collect()
    }

    /// What is in the way of an item, by name.
    pub fn blockers(&self, text: &str) -> Vec<String> {
        self.work.blockers(text).iter().map(|blocker| blocker.by.to_string()).collect()
    }

    /// What the last event said of an item.
    pub fn notes(&self, text: &str) -> Vec<&NoteKind> {
        self.changed.notes.iter().filter(|note| note.item.as_str() == text).map(|note| &note.what).collect()
    }
}

/// That something was refused, with this code and these words in the message.
#[track_caller]
pub fn refused(result: Result<()>, code: &str, words: &str) -> Error {
    let error = result.expect_err("it should be refused");
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.contains(words), "{words:?} is not in: {error}");
    error
}
