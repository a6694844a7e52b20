//! What the checks are made of: small streams, batches and rows with every field set.

use super::Place;
use crate::ledger::{Append, Appended, Guard, KeyClaim, Ledger, Position, Stream};
use crate::projections::{Flush, RunChange};
use edgewise_core::event::{Record, TaskIx, TimerKey, TimerKind};
use edgewise_core::id::{EventId, PlanHash, RunId, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::plan::{Accepts, Join, Plan, PlanDraft, RegionDraft, Spec, Work};
use edgewise_core::rate::Rate;
use edgewise_core::rows::{GivenRow, KeyLimit, LeaseRow, Marks, OutboxRow, RunRow, TaskRow, TimerRow, Turn};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::template::Template;
use edgewise_core::time::{Millis, Time};

/// Opens a place; not being able to is a failure of the check.
pub fn open<P: Place>(place: &P) -> (P::Ledger, P::Projections) {
    let stores = place.open().expect("the place opens");
    (stores.ledger, stores.projections)
}

pub fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

pub fn stream_in(tenant: &str, workspace: &str, run: u128) -> Stream {
    Stream { tenant: name(tenant), workspace: name(workspace), run: RunId(run) }
}

pub fn stream(run: u128) -> Stream {
    stream_in("local", "default", run)
}

pub fn guard(stream: &Stream, seq: u64) -> Guard {
    Guard { stream: stream.clone(), seq }
}

pub fn claim(stream: &Stream, key: &str, body: u64) -> KeyClaim {
    KeyClaim { stream: stream.clone(), key: key.into(), body }
}

/// An id that follows from where the event is.
pub fn id(stream: &Stream, seq: u64) -> EventId {
    EventId(stream.run.0 << 40 | u128::from(seq))
}

/// A batch with one record of `count` events for each stream, after its seq.
pub fn batch(parts: &[(&Stream, u64, u32)]) -> Append {
    let mut batch = Append { at: Time(1_000), ..Append::default() };
    for (stream, seq, count) in parts {
        let text = format!("{{\"after\":{seq},\"count\":{count}}}");
        add(&mut batch, stream, *seq, *count, text.into_bytes());
    }
    batch
}

/// Adds a record and its guard to a batch.
pub fn add(batch: &mut Append, stream: &Stream, seq: u64, count: u32, bytes: Vec<u8>) {
    let record = Record::new(&stream.label(), seq + 1, count, bytes);
    batch.guards.push(guard(stream, seq));
    batch.records.push((stream.clone(), record, id(stream, seq + u64::from(count))));
}

/// Appends what must succeed, and gives its position.
pub fn done(ledger: &mut impl Ledger, batch: &Append) -> Position {
    match ledger.append(batch).expect("the append is answered") {
        Appended::Done(position) => position,
        other => panic!("the append should have succeeded, it said {other:?}"),
    }
}

/// A plan of two tasks, `build` and `test`, the second after the first.
pub fn plan(flow: &str) -> Plan {
    let work = Work::Action { action: name("echo"), with: Template::Value(serde_json::Value::Null) };
    let mut root = RegionDraft::default();
    let build = root.node("build", 0, Join::All);
    let test = root.node("test", 0, Join::All);
    root.edge(build, test, Accepts::SUCCESS);
    let specs = vec![Spec {
        when: None,
        work,
        retry: Default::default(),
        timeouts: Default::default(),
        share: Default::default(),
        publish: Vec::new(),
    }];
    PlanDraft { specs, regions: vec![root], ..PlanDraft::default() }.build(name(flow)).expect("a plan")
}

/// A run's row with every field set.
pub fn run_row(stream: &Stream, seq: u64) -> RunRow {
    RunRow {
        id: stream.run,
        flow: name("deploy"),
        plan: PlanHash(77),
        state: RunState::TasksInProcess,
        paused: true,
        counts: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, u32::MAX],
        triggered_at: Time(1_000),
        started_at: Time(2_001),
        completed_at: Time::NEVER,
        applied_seq: seq,
        version: EventId(u128::MAX - u128::from(seq)),
        marks: marks(),
        body: "{\"scopes\":[\"ä\"]}".into(),
    }
}

/// Marks with every field set.
pub fn marks() -> Marks {
    Marks {
        namespace: Some(name("ops")),
        by: Some(name("ann")),
        key: Some("order-7 \u{1f980}".into()),
        parent: Some(RunId(99)),
        labels: [("team", "a"), ("tier", "ä \"1\"")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
    }
}

/// A change that writes only the run's row.
pub fn change(stream: &Stream, from: u64, to: u64) -> RunChange {
    RunChange {
        stream: stream.clone(),
        from_seq: from,
        run: run_row(stream, to),
        plan: None,
        tasks: vec![],
        given: vec![],
        given_gone: vec![],
        timers: vec![],
        timers_gone: vec![],
        outbox: vec![],
        outbox_gone: vec![],
        leases: vec![],
        leases_gone: vec![],
    }
}

/// A flush of these changes.
pub fn flush(runs: Vec<RunChange>, watermark: u64) -> Flush {
    Flush { runs, gone: vec![], control: None, work: None, watermark: Position(watermark) }
}

/// A task's row with every field set.
pub fn task_row(task: u32, state: TaskState) -> TaskRow {
    TaskRow {
        task: TaskIx(task),
        scope: 3,
        region: 2,
        node: task % 7,
        path: Some(format!("each[{task}].test")),
        generation: 2,
        state,
        attempt: 10_000,
        token: TokenHash(u64::MAX - 1),
        ready_at: Time(1_500),
        started_at: Time(1_600),
        completed_at: Time(1_700),
        output: Some("{\"sha\":\"ü\"}".into()),
        error: Some("{\"type\":\"exit_1\"}".into()),
        body: Some("{}".into()),
        version: EventId(u128::MAX / 3),
    }
}

/// A task's row with only the fields set that must be.
pub fn bare_task_row(task: u32) -> TaskRow {
    TaskRow {
        scope: 0,
        region: 0,
        path: None,
        generation: 1,
        attempt: 0,
        token: TokenHash(0),
        ready_at: Time::NEVER,
        started_at: Time::NEVER,
        completed_at: Time::NEVER,
        output: None,
        error: None,
        body: None,
        ..task_row(task, TaskState::Enqueued)
    }
}

/// What a composite, or the run itself, began with.
pub fn given_row(task: u32, body: &str) -> GivenRow {
    GivenRow { task: TaskIx(task), body: body.into() }
}

pub fn timer_row(task: u32, kind: TimerKind, due: u64) -> TimerRow {
    TimerRow { key: TimerKey { task: TaskIx(task), kind, generation: 2, attempt: 3 }, due: Time(due) }
}

pub fn outbox_row(task: u32, ready_at: u64) -> OutboxRow {
    // Every second one says all that can be said, the others nothing.
    let limit = KeyLimit { key: "a key, 'quoted'".into(), max: Some(4), rate: Rate::parse("10/s").ok() };
    let full = Turn { queue: Some(name("night")), priority: -7, limit: Some(limit) };
    let turn = if task.is_multiple_of(2) { Turn::default() } else { full };
    OutboxRow { task: TaskIx(task), generation: 2, attempt: 3, action: name("echo"), ready_at: Time(ready_at), turn }
}

pub fn lease_row(task: u32, worker: &str) -> LeaseRow {
    let said = task % 2 == 1;
    let (queue, key) = (said.then(|| name("night")), said.then(|| "a key, 'quoted'".into()));
    let (worker, deadline, span) = (worker.into(), Time(9_000), said.then_some(Millis(2_900)));
    let token = TokenHash(u64::MAX - 2);
    LeaseRow { task: TaskIx(task), generation: 2, attempt: 3, token, worker, deadline, span, queue, key }
}
