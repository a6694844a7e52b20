//! Random operations: after every step what is maintained equals what follows from the base facts.

use crate::dice::Dice;
use crate::world::{World, item, name};
use edgewise_core::event::{LinkRef, TaskIx};
use edgewise_core::fold::Stamp;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{
    Change, Changed, Close, DependencyKind, Filter, GateAwaited, GateWait, GateWaiter, ItemClosed, ItemId, ItemKind,
    Phase, RunGateEnd, Status, Target, Waiter, When, Work, WorkEvent, WorkRows, fold, scratch,
};
use std::collections::BTreeMap;

/// So many items are there at once, about.
const ITEMS: usize = 14;
const RUNS: u64 = 3;

/// Mostly an item that is there; now and then one that is not yet, or not any more.
fn text(world: &World, dice: &mut Dice) -> String {
    let alive = world.work.items().filter(|item| item.status != Status::Tombstone);
    let alive: Vec<String> = alive.map(|item| item.id.to_string()).collect();
    if alive.is_empty() || dice.one_in(8) { unknown(world, dice) } else { dice.pick(&alive).clone() }
}

/// One of the next few that are not there yet, so that it is pointed to before it comes.
fn unknown(world: &World, dice: &mut Dice) -> String {
    format!("ew-{}", world.work.len() as u64 + dice.below(3))
}

fn run(dice: &mut Dice) -> RunId {
    RunId(u128::from(dice.below(RUNS)) + 1)
}

/// One of two gates of a run.
fn gate_of_run(dice: &mut Dice) -> (RunId, &'static str) {
    (run(dice), *dice.pick(&["ok", "each[1].ok"]))
}

fn when(dice: &mut Dice) -> When {
    *dice.pick(&[When::Success, When::Success, When::Any, When::Failure])
}

/// One step of anything; most of what is refused is refused for a reason that others need.
fn step(world: &mut World, dice: &mut Dice) {
    let (one, other) = (text(world, dice), text(world, dice));
    let gate = format!("gate-{}", dice.below(3) + world.log.len() as u64 / 60);
    let few = world.work.list(&Filter::default()).unwrap().len() < ITEMS;
    let _ = match dice.below(43) {
        0..=4 if few => {
            let new = unknown(world, dice);
            add(world, dice, &new)
        }
        5..=10 => {
            let when = when(dice);
            world.depend(&one, &other, DependencyKind::Blocks, when)
        }
        11..=13 => world.child(&one, &other),
        14 => world.awaits(&one, &gate),
        15 => {
            let when = when(dice);
            world.depend(&one, &run(dice).to_string(), DependencyKind::Awaits, when)
        }
        16 => world.undepend(&one, &other, DependencyKind::Blocks),
        17 => {
            let parent = world.work.parent(&one).map(ToString::to_string).unwrap_or(other);
            world.undepend(&one, &parent, DependencyKind::ParentChild)
        }
        18 | 19 => close(world, dice, &one),
        20 => world.reopen(&one),
        21 if dice.one_in(2) => world.delete(&one),
        22 => world.move_to(&one, (!dice.one_in(4)).then_some(other.as_str())),
        23 | 30 => make_gate(world, dice, &gate),
        24 | 31..=35 => speak(world, dice, &gate),
        25 => {
            let state = *dice.pick(&[None, Some(RunState::Complete), Some(RunState::Error), Some(RunState::Cancelled)]);
            let run = run(dice);
            world.run_ended(run, state)
        }
        26 => {
            let who = *dice.pick(&["ann", "bob"]);
            world.claim(&one, who, dice.next(), 5 + dice.below(30))
        }
        27 => change(world, dice, &one),
        28 => world.depend(&one, &other, DependencyKind::RelatesTo, When::Success),
        36 | 37 => {
            let kind = *dice.pick(&[DependencyKind::Awaits, DependencyKind::Awaits, DependencyKind::References]);
            let (when, gate) = (if kind.is_waiting() { when(dice) } else { When::Success }, gate_of_run(dice));
            world.depend(&one, &Target::gate_of(gate.0, gate.1).unwrap().to_string(), kind, when)
        }
        39..=42 => {
            let (run, link) = (run(dice), LinkRef { task: TaskIx(1), generation: 1, attempt: 1 });
            let waiter = GateWaiter { run, path: "ok".into(), link };
            let said = GateAwaited { gate: ItemId::parse(&gate).unwrap(), waiter };
            world.fold(if dice.one_in(3) { WorkEvent::GateLeft(said) } else { WorkEvent::GateAwaited(said) })
        }
        38 => {
            let (run, gate) = gate_of_run(dice);
            let end = *dice.pick(&[None, Some(RunGateEnd::Open), Some(RunGateEnd::Rejected), Some(RunGateEnd::Missed)]);
            world.run_gate_ended(run, gate, end)
        }
        _ => {
            let to = world.now + dice.below(20);
            world.elapse(to);
            Ok(())
        }
    };
}

fn add(world: &mut World, dice: &mut Dice, text: &str) -> edgewise_core::Result<()> {
    let kind = *dice.pick(&[ItemKind::Task, ItemKind::Task, ItemKind::Task, ItemKind::Plan, ItemKind::Instance]);
    let mut event = item(text, kind);
    event.fields.priority = 1 + dice.below(5) as u8;
    event.fields.auto_complete = dice.one_in(3);
    event.fields.ephemeral = (kind == ItemKind::Instance && dice.one_in(2)).then_some(Millis(40));
    event.phase = (kind == ItemKind::Plan && dice.one_in(3)).then_some(Phase::Draft);
    let link = LinkRef { task: TaskIx(0), generation: 1, attempt: 1 };
    // The first run is a sub-run of the last one; the one between them stands alone.
    let waiter = |run: RunId| {
        let within = if run == RunId(1) { vec![RunId(u128::from(RUNS))] } else { Vec::new() };
        Box::new(Waiter { run, within, link })
    };
    event.waiter = dice.one_in(4).then(|| waiter(run(dice)));
    world.add(event)
}

fn close(world: &mut World, dice: &mut Dice, text: &str) -> edgewise_core::Result<()> {
    let how = *dice.pick(&[Close::Done, Close::Done, Close::Failed, Close::Cancelled]);
    world.fold(WorkEvent::ItemClosed(ItemClosed { force: dice.one_in(3), ..World::close_event(text, how) }))
}

fn make_gate(world: &mut World, dice: &mut Dice, gate: &str) -> edgewise_core::Result<()> {
    let wait = match dice.below(3) {
        0 => GateWait::Timer { wait_until: Time(world.now + dice.below(30) + 1) },
        1 => GateWait::Approval { required_approvers: vec![name("ann"), name("bob")], approval_count: None },
        _ => GateWait::Webhook,
    };
    world.gate(gate, wait)
}

fn speak(world: &mut World, dice: &mut Dice, gate: &str) -> edgewise_core::Result<()> {
    let who = *dice.pick(&["ann", "bob", "eve"]);
    match dice.below(9) {
        0..=3 => world.approve(gate, who),
        4..=6 => world.withdraw(gate, who),
        7 => world.satisfy(gate, Some(who)),
        _ => world.reject(gate, who),
    }
}

fn change(world: &mut World, dice: &mut Dice, text: &str) -> edgewise_core::Result<()> {
    let mut change = Change { priority: Some(1 + dice.below(5) as u8), ..Change::default() };
    match dice.below(4) {
        0 => change.status = Some(*dice.pick(&[Status::Open, Status::Deferred, Status::InProgress, Status::Review])),
        1 => change.phase = Some(*dice.pick(&[Phase::Draft, Phase::Active])),
        2 => change.scheduled_for = Some(Some(Time(world.now + dice.below(20)))),
        _ => {}
    }
    world.change(text, change)
}

/// Rows as a store keeps them: only what an event says it changed is written.
#[derive(Default)]
struct Kept {
    items: BTreeMap<String, edgewise_core::work::ItemRow>,
    dependencies: BTreeMap<edgewise_core::work::DependencyKey, edgewise_core::work::DependencyRow>,
    gates: BTreeMap<String, edgewise_core::work::GateRow>,
    runs: BTreeMap<RunId, edgewise_core::work::RunEndRow>,
}

impl Kept {
    fn take(&mut self, work: &Work, changed: &Changed) {
        for id in &changed.items {
            self.items.extend(work.item_row(id.as_str()).map(|row| (id.to_string(), row)));
        }
        for key in &changed.dependencies {
            match work.dependency_row(key) {
                Some(row) => drop(self.dependencies.insert(key.clone(), row)),
                None => drop(self.dependencies.remove(key)),
            }
        }
        for id in &changed.gates {
            self.gates.extend(work.gate_row(id.as_str()).map(|row| (id.to_string(), row)));
        }
        for run in &changed.runs {
            match work.run_row(*run) {
                Some(row) => drop(self.runs.insert(*run, row)),
                None => drop(self.runs.remove(run)),
            }
        }
    }

    fn rows(&self, work: &Work) -> WorkRows {
        WorkRows {
            applied_seq: work.seq,
            version: work.last,
            items: self.items.values().cloned().collect(),
            dependencies: self.dependencies.values().cloned().collect(),
            gates: self.gates.values().cloned().collect(),
            runs: self.runs.values().cloned().collect(),
        }
    }
}

fn sorted(mut rows: WorkRows) -> WorkRows {
    rows.dependencies.sort_by(|a, b| (&a.source, a.kind, &a.target).cmp(&(&b.source, b.kind, &b.target)));
    rows
}

fn play(seed: u64, steps: u64) {
    let mut dice = Dice::new(seed);
    let mut world = World { now: 1_000, ..World::default() };
    let mut kept = Kept::default();
    for at in 0..steps {
        refused_halfway(&mut world, &mut dice, &format!("seed {seed}, step {at}"));
        let from = world.log.len();
        step(&mut world, &mut dice);
        let wrong = scratch::disagreements(&world.work);
        assert!(wrong.is_empty(), "seed {seed}, step {at}: {:?}\n{}", world.log.last(), wrong.join("\n"));
        same_ready(&world, at, &format!("seed {seed}, step {at}: {:?}", world.log.last()));
        if world.log.len() == from + 1 {
            kept.take(&world.work, &world.changed);
        } else {
            kept = everything(&world.work);
        }
        assert_eq!(sorted(kept.rows(&world.work)), world.work.rows(), "seed {seed}, step {at}: {:?}", world.log.last());
        if at % 16 == 15 {
            let loaded = Work::from_rows(&world.work.rows()).unwrap();
            assert_eq!(loaded.rows(), world.work.rows(), "seed {seed}, step {at}");
            assert_eq!(loaded.due(), world.work.due(), "seed {seed}, step {at}");
            assert!(scratch::disagreements(&loaded).is_empty(), "seed {seed}, step {at}");
            world.work = loaded;
        }
    }
    assert!(world.work.cycles().is_empty(), "seed {seed}");
    assert_eq!(replayed(&world.log).rows(), world.work.rows(), "seed {seed}: the same events give another graph");
}

/// What is ready, now or a little later, for whoever asks: another one of these at each step.
fn same_ready(world: &World, at: u64, place: &str) {
    let ann = name("ann");
    let (later, who, ephemeral) = (at / 4 % 2 * 15, (at % 2 == 1).then_some(&ann), at / 2 % 2 == 1);
    let (now, filter) = (Time(world.now + later), Filter { ephemeral, ..Filter::default() });
    let kept: Vec<_> = world.work.ready(now, &filter, who).unwrap().into_iter().map(|item| item.id.clone()).collect();
    let follows = scratch::ready(&world.work, now, who, ephemeral);
    assert_eq!(kept, follows, "{place}, {later} later, {who:?}, ephemeral {ephemeral}");
}

/// Now and then a command of several steps that is refused in the end: all is as it was, to the last index.
fn refused_halfway(world: &mut World, dice: &mut Dice, place: &str) {
    if dice.below(4) != 0 {
        return;
    }
    let was = (format!("{:?}", world.work), world.log.len(), world.now);
    world.work.remember();
    for _ in 0..=dice.below(6) {
        step(world, dice);
    }
    let tried = world.log.split_off(was.1);
    assert!(world.work.undo(), "{place}");
    world.now = was.2;
    assert_eq!(format!("{:?}", world.work), was.0, "{place}: {tried:?}");
    assert!(!world.work.undo(), "{place}: nobody remembers any more");
}

fn everything(work: &Work) -> Kept {
    let rows = work.rows();
    let key = |row: &edgewise_core::work::DependencyRow| {
        edgewise_core::work::DependencyKey::new(row.source.clone(), row.target.clone(), row.kind)
    };
    Kept {
        items: rows.items.into_iter().map(|row| (row.id.to_string(), row)).collect(),
        dependencies: rows.dependencies.into_iter().map(|row| (key(&row), row)).collect(),
        gates: rows.gates.into_iter().map(|row| (row.id.to_string(), row)).collect(),
        runs: rows.runs.into_iter().map(|row| (row.run, row)).collect(),
    }
}

fn replayed(log: &[(Time, WorkEvent)]) -> Work {
    let mut work = Work::default();
    for (at, event) in log {
        let stamp = Stamp { id: EventId(u128::from(work.seq) + 1), at: *at };
        let _ = fold(&mut work, stamp, event, &mut Changed::default());
    }
    work
}

#[test]
fn what_is_maintained_equals_what_follows_from_the_base_facts_after_every_step() {
    for seed in 0..60 {
        play(seed, 120);
    }
}

#[test]
fn a_refused_event_changes_nothing_but_the_seq() {
    for seed in 1_000..1_040 {
        let mut dice = Dice::new(seed);
        let mut world = World { now: 1_000, ..World::default() };
        for _ in 0..100 {
            let before = world.work.rows();
            let from = world.log.len();
            step(&mut world, &mut dice);
            let refused = world.log.len() == from + 1 && world.changed == Changed::default();
            if refused {
                let after = world.work.rows();
                assert_eq!(after.applied_seq, before.applied_seq + 1);
                assert_eq!(
                    (after.items, after.dependencies, after.gates, after.runs),
                    (before.items, before.dependencies, before.gates, before.runs),
                    "{:?}",
                    world.log.last()
                );
            }
        }
    }
}

#[test]
fn each_kind_of_step_is_taken_and_counts_somewhere() {
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..30 {
        let mut dice = Dice::new(seed);
        let mut world = World { now: 1_000, ..World::default() };
        for _ in 0..160 {
            let from = world.log.len();
            step(&mut world, &mut dice);
            if world.log.len() > from && world.changed != Changed::default() {
                *counted.entry(world.log[from].1.name().to_owned()).or_default() += 1;
            }
        }
    }
    let all = "ItemAdded ItemChanged ItemClosed ItemReopened ItemDeleted ItemMoved ItemClaimed ItemReleased \
               DependencyAdded DependencyRemoved GateMade GateApproved GateWithdrawn GateSatisfied GateRejected RunEnded \
               RunGateEnded GateAwaited GateLeft";
    for name in all.split_whitespace() {
        assert!(counted.get(name).is_some_and(|count| *count >= 5), "{name} of {counted:?}");
    }
}
