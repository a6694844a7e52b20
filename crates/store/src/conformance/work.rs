//! The rows of a workspace's work graph: guarded by the seq they are at, walked without loading them all.

use super::Place;
use super::fixture::*;
use crate::ledger::{Position, Stream};
use crate::projections::{Flush, ItemOrder, Projections, WorkChange};
use edgewise_core::Kind;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_core::work::{
    DependencyKey, DependencyKind, DependencyRow, GateRow, ItemId, ItemKind, ItemRow, Note, NoteKind, RunEndRow,
    RunGateEnd, Status, Target, TaskType, WorkRows,
};

fn work(tenant: &str) -> Stream {
    stream_in(tenant, "default", RunId::WORK.0)
}

fn id(text: &str) -> ItemId {
    ItemId::parse(text).unwrap()
}

/// An item with every column filled.
fn item(name: &str, effective: u8) -> ItemRow {
    ItemRow {
        id: id(name),
        kind: ItemKind::Task,
        status: Status::InProgress,
        structurally_ready: true,
        blocked: false,
        effective,
        priority: 3,
        created_at: Time(u64::MAX >> 1),
        scheduled_for: Some(Time(5)),
        claim_by: Some(self::name("ada")),
        claim_until: Some(Time(9)),
        assignee: Some(self::name("ada")),
        owner: Some(self::name("grace")),
        task_type: TaskType::Bug,
        deadline: Some(Time(1 << 40)),
        parent: Some(id("ew-plan")),
        ephemeral_in: Some(id("ew-wf")),
        draft_in: Some(id("ew-draft")),
        title: "a title with 'quotes' and ä".into(),
        body: "{\"ä\":1}".into(),
        blockers: "[]".into(),
    }
}

/// An item with no column filled that need not be.
fn bare(name: &str) -> ItemRow {
    let (claim_by, claim_until, assignee, owner) = Default::default();
    let (scheduled_for, deadline, parent, ephemeral_in, draft_in) = Default::default();
    let (kind, status, structurally_ready, blocked) = (ItemKind::Instance, Status::Tombstone, false, true);
    let row = item(name, 5);
    let row = ItemRow { kind, status, structurally_ready, blocked, claim_by, claim_until, assignee, owner, ..row };
    ItemRow { scheduled_for, deadline, parent, ephemeral_in, draft_in, title: String::new(), ..row }
}

fn dependency(source: &str, kind: DependencyKind, target: &str) -> DependencyRow {
    DependencyRow { source: id(source), target: Target::parse(target).unwrap(), kind, body: "{}".into() }
}

fn note(item: &str, seq: u64) -> Note {
    Note { item: id(item), seq, at: Time(seq), by: Some(name("ada")), what: NoteKind::Created }
}

fn run_end(run: u128, state: Option<RunState>) -> RunEndRow {
    let gates = [("ok".into(), RunGateEnd::Open), ("each[1].ok".into(), RunGateEnd::Missed)];
    RunEndRow { run: RunId(run), state, gates: gates.into_iter().take(run as usize).collect() }
}

/// A change from one seq to another with rows of each kind.
fn change_of(tenant: &str, from: u64, to: u64) -> WorkChange {
    let opening = GateRow { id: id("ew-g1"), opens_at: Some(Time(7)), ended: false, body: "{}".into() };
    let ended = GateRow { id: id("ew-g2"), opens_at: None, ended: true, body: "{}".into() };
    WorkChange {
        stream: work(tenant),
        from_seq: from,
        applied_seq: to,
        version: EventId(u128::MAX - u128::from(to)),
        due: (to == 3).then_some(Time(7)),
        items: vec![item("ew-a", 2), bare("ew-b"), item("ew-c", 1)],
        items_gone: vec![],
        dependencies: vec![
            dependency("ew-a", DependencyKind::Blocks, "ew-b"),
            dependency("ew-a", DependencyKind::ParentChild, "ew-0"),
            dependency("ew-a", DependencyKind::References, "https://example.org/1"),
            dependency("ew-c", DependencyKind::Blocks, "ew-a"),
        ],
        dependencies_gone: vec![],
        gates: vec![opening, ended],
        gates_gone: vec![],
        runs: vec![run_end(1, None), run_end(2, Some(RunState::Error))],
        runs_gone: vec![],
        notes: vec![note("ew-a", to), note("ew-c", to), note("ew-a", to)],
    }
}

fn of(change: WorkChange, watermark: u64) -> Flush {
    Flush { work: Some(change), ..flush(vec![], watermark) }
}

fn rows_of(change: &WorkChange) -> WorkRows {
    WorkRows {
        applied_seq: change.applied_seq,
        version: change.version,
        items: change.items.clone(),
        dependencies: change.dependencies.clone(),
        gates: change.gates.clone(),
        runs: change.runs.clone(),
    }
}

/// Which items a walk shows, up to so many.
fn walked(rows: &mut impl Projections, order: ItemOrder, limit: usize) -> Vec<String> {
    let mut seen = Vec::new();
    let at = rows.walk_items(&work("local"), order, &mut |row| {
        seen.push(row.id.to_string());
        Ok(seen.len() < limit)
    });
    assert_eq!(at.unwrap(), rows.work_head(&work("local")).unwrap());
    seen
}

pub fn work_rows_come_back_and_change_one_by_one<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    assert_eq!((rows.work(&work("local")).unwrap(), rows.work_head(&work("local")).unwrap()), (None, 0));
    let sent = change_of("local", 0, 3);
    rows.flush(&of(sent.clone(), 0)).unwrap();
    assert_eq!(rows.work(&work("local")).unwrap(), Some(rows_of(&sent)));
    let gone = |n: usize| {
        let DependencyRow { source, target, kind, .. } = sent.dependencies[n].clone();
        DependencyKey { source, target, kind }
    };
    let other = WorkChange {
        items: vec![item("ew-b", 4)],
        items_gone: vec![id("ew-c"), id("ew-never")],
        dependencies: vec![],
        dependencies_gone: vec![gone(0), gone(3)],
        gates: vec![],
        gates_gone: vec![id("ew-g1")],
        runs: vec![run_end(1, Some(RunState::Complete))],
        runs_gone: vec![RunId(2)],
        notes: vec![note("ew-b", 4)],
        ..change_of("local", 3, 4)
    };
    rows.flush(&of(other.clone(), 0)).unwrap();
    let left = WorkRows {
        items: vec![sent.items[0].clone(), other.items[0].clone()],
        dependencies: vec![sent.dependencies[1].clone(), sent.dependencies[2].clone()],
        gates: vec![sent.gates[1].clone()],
        runs: other.runs.clone(),
        ..rows_of(&other)
    };
    let (_, mut again) = open(place);
    assert_eq!(again.work(&work("local")).unwrap(), Some(left));
}

pub fn a_work_flush_from_another_seq_is_refused_whole<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    rows.flush(&of(change_of("local", 0, 3), 1)).unwrap();
    let before = rows.work(&work("local")).unwrap();
    for from in [0, 2, 4] {
        let flush = Flush { runs: vec![change(&stream(1), 0, 1)], ..of(change_of("local", from, 5), 9) };
        let error = rows.flush(&flush).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Conflict, "projection_moved"));
    }
    assert_eq!(rows.load(&stream(1)).unwrap(), None, "nothing of the flush is there");
    assert_eq!((rows.work(&work("local")).unwrap(), rows.watermark().unwrap()), (before, Position(1)));
    assert_eq!(rows.work_notes(&work("local"), "ew-a").unwrap().len(), 2, "no note is there twice");
    let bad = [
        WorkChange { notes: vec![], ..change_of("local", 3, 2) },
        WorkChange { stream: stream(1), ..change_of("local", 3, 4) },
        WorkChange { notes: vec![note("ew-a", 3)], ..change_of("local", 3, 4) },
    ];
    for change in bad {
        let error = rows.flush(&of(change, 9)).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Invalid, "bad_flush"));
    }
}

pub fn work_rows_of_two_tenants_are_apart_and_can_be_forgotten<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    rows.flush(&of(change_of("local", 0, 3), 1)).unwrap();
    rows.flush(&of(change_of("other", 0, 8), 2)).unwrap();
    rows.forget(&work("local")).unwrap();
    assert_eq!(rows.work(&work("local")).unwrap(), None);
    assert_eq!(rows.work_notes(&work("local"), "ew-a").unwrap(), []);
    assert_eq!(rows.work_head(&work("other")).unwrap(), 8);
    rows.flush(&of(change_of("local", 0, 4), 2)).unwrap();
    assert_eq!(rows.work(&work("local")).unwrap(), Some(rows_of(&change_of("local", 0, 4))));
}

pub fn items_are_walked_in_their_order_and_no_further_than_asked<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    assert_eq!(walked(&mut rows, ItemOrder::Ready, 9), Vec::<String>::new());
    let early = ItemRow { created_at: Time(1), ..item("ew-z", 2) };
    let urgent = ItemRow { priority: 1, ..item("ew-y", 2) };
    let mut change = change_of("local", 0, 3);
    // A plan is nothing that somebody begins with: it is not among the tasks, however urgent it is.
    let plan = ItemRow { kind: ItemKind::Plan, ..item("ew-p", 1) };
    change.items.extend([early, urgent, plan]);
    rows.flush(&of(change, 0)).unwrap();
    assert_eq!(walked(&mut rows, ItemOrder::Tasks, 9), ["ew-c", "ew-y", "ew-z", "ew-a"]);
    assert_eq!(walked(&mut rows, ItemOrder::Tasks, 2), ["ew-c", "ew-y"]);
    assert_eq!(walked(&mut rows, ItemOrder::Ready, 9), ["ew-c", "ew-p", "ew-y", "ew-z", "ew-a"]);
    assert_eq!(walked(&mut rows, ItemOrder::Ready, 2), ["ew-c", "ew-p"]);
    assert_eq!(walked(&mut rows, ItemOrder::Blocked, 9), ["ew-b"]);
    let hidden = |row: ItemRow| ItemRow { structurally_ready: false, blocked: true, ..row };
    let mut change = change_of("local", 3, 4);
    change.items = vec![hidden(item("ew-c", 1)), hidden(item("ew-a", 2))];
    rows.flush(&of(change, 0)).unwrap();
    assert_eq!(walked(&mut rows, ItemOrder::Blocked, 9), ["ew-c", "ew-a", "ew-b"]);
    assert_eq!(walked(&mut rows, ItemOrder::Blocked, 1), ["ew-c"]);
    assert_eq!(walked(&mut rows, ItemOrder::Tasks, 9), ["ew-y", "ew-z"]);
    assert_eq!(walked(&mut rows, ItemOrder::Ready, 9), ["ew-p", "ew-y", "ew-z"]);
    assert_eq!(rows.work_due(&work("local")).unwrap(), None, "a change says anew what is to come");
    assert_eq!(walked(&mut rows, ItemOrder::Id, 9), ["ew-a", "ew-b", "ew-c", "ew-p", "ew-y", "ew-z"]);
}

pub fn one_item_is_read_with_what_is_tied_to_it<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let sent = change_of("local", 0, 3);
    rows.flush(&of(sent.clone(), 0)).unwrap();
    let at = rows.work_drawer(&work("local"), &mut |drawer| {
        assert_eq!(drawer.item("ew-a")?.as_ref(), sent.items.first());
        assert_eq!(drawer.dependencies("ew-a")?, sent.dependencies[..3]);
        assert_eq!(drawer.dependents("ew-a")?, sent.dependencies[3..]);
        assert_eq!(drawer.gate("ew-g2")?.as_ref(), sent.gates.get(1));
        assert_eq!(drawer.run(RunId(2))?.as_ref(), sent.runs.get(1));
        assert_eq!((drawer.item("ew-never")?, drawer.gate("ew-a")?, drawer.run(RunId(9))?), (None, None, None));
        assert_eq!(drawer.ids_from("ew-b", 2)?, ["ew-c", "ew-g1"].map(id), "deleted items are left out");
        assert_eq!(drawer.ids_from("ew-h", 3)?, []);
        Ok(())
    });
    assert_eq!((at.unwrap(), rows.work_due(&work("local")).unwrap()), (3, Some(Time(7))));
    let nobody = rows.work_drawer(&work("other"), &mut |_| panic!("nothing is there"));
    assert_eq!((nobody.unwrap(), rows.work_due(&work("other")).unwrap()), (0, None));
    let ids = |rows: &mut P::Projections, prefix: &str, limit| -> Vec<String> {
        rows.work_ids(&work("local"), prefix, limit).unwrap().iter().map(ToString::to_string).collect()
    };
    assert_eq!(ids(&mut rows, "ew-g", 9), ["ew-g1", "ew-g2"]);
    assert_eq!(ids(&mut rows, "ew-", 3), ["ew-a", "ew-b", "ew-c"]);
    assert_eq!(ids(&mut rows, "ew-a", 9), ["ew-a"]);
    assert_eq!(ids(&mut rows, "x", 9), Vec::<String>::new());
}

pub fn the_notes_of_an_item_grow_in_order<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    rows.flush(&of(change_of("local", 0, 3), 0)).unwrap();
    let later = WorkChange { notes: vec![note("ew-c", 4), note("ew-a", 5)], ..change_of("local", 3, 5) };
    rows.flush(&of(later, 0)).unwrap();
    let (_, mut again) = open(place);
    assert_eq!(again.work_notes(&work("local"), "ew-a").unwrap(), [note("ew-a", 3), note("ew-a", 3), note("ew-a", 5)]);
}
