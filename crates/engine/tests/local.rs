//! The engine with its threads, and workers within its process.
//!
//! Nothing here sleeps, and the clock ticks when it is looked at. What must happen is waited for; only a
//! hang meets the limit.

use edgewise_core::event::Failure;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_engine::command::{Answer, Claim, Command, Start};
use edgewise_engine::engine::Clock;
use edgewise_engine::entropy::Entropy;
use edgewise_engine::handler::{Handlers, Task};
use edgewise_engine::reader::Reader;
use edgewise_engine::worker::{Worker, Working};
use edgewise_engine::{Engine, Home, Parts};
use edgewise_store::faulty::{Fault, Faults, FaultyLedger, Op};
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use edgewise_store::{Ledger, Projections, sqlite};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, mpsc};

/// Long enough for any machine; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, future).await.unwrap_or_else(|_| panic!("hangs: {what}"))
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn home() -> Home {
    Home { tenant: name("local"), workspace: name("default") }
}

/// A clock that ticks when it is looked at.
fn ticking() -> Clock {
    let at = AtomicU64::new(1_000_000_000);
    Arc::new(move || Time(at.fetch_add(1, Ordering::Relaxed)))
}

/// A store in memory that outlives its engines.
#[derive(Clone, Default)]
struct Place {
    ledger: MemoryLedger,
    rows: MemoryProjections,
    faults: Faults,
}

impl Place {
    fn engine(&self) -> Engine {
        let ledger = FaultyLedger::new(self.ledger.clone(), self.faults.clone());
        start(Box::new(ledger), Box::new(self.rows.clone()), Box::new(self.rows.clone()))
    }

    fn run(&self, run: RunId) -> Run {
        Reader::over(Box::new(self.ledger.clone()), Box::new(self.rows.clone()), home()).run(run).unwrap()
    }

    fn task(&self, run: RunId, path: &str) -> (TaskState, u16, Option<Failure>) {
        let run = self.run(run);
        let task = run.find(path).unwrap();
        let entry = run.task(task).unwrap();
        (entry.state, entry.attempt, run.failure_of(task).cloned())
    }
}

fn start(ledger: Box<dyn Ledger>, reader: Box<dyn Projections>, writer: Box<dyn Projections>) -> Engine {
    let entropy = Entropy::from_system().unwrap();
    Engine::start(Parts { ledger, reader, writer, home: home(), clock: ticking(), entropy, queues: Default::default() })
        .unwrap()
}

fn flow(text: &str) -> Start {
    let mut flows = edgewise_core::flow::compile_file(text, "test").unwrap_or_else(|p| panic!("{p:?}"));
    let plan = flows.remove(0).plan;
    let input = serde_json::value::RawValue::from_string("{}".into()).unwrap();
    Start { plan: Arc::new(plan), children: Vec::new(), input, by: name("tester"), key: None, labels: BTreeMap::new() }
}

fn one(action: &str) -> Start {
    flow(&format!("{{ flow: one, tasks: {{ a: {{ action: {action}, retry: 2 }} }} }}"))
}

fn spread(items: usize, action: &str) -> Start {
    let items = (0..items).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    flow(&format!(
        "{{ flow: many, tasks: {{ a: {{ action: noop }}, each: {{ after: a, each: [{items}], action: {action} }} }} }}"
    ))
}

fn chain(tasks: usize) -> Start {
    let mut text = String::from("flow: chain\ntasks:\n  t0: { action: noop }\n");
    for n in 1..tasks {
        text += &format!("  t{n}: {{ after: t{}, action: noop }}\n", n - 1);
    }
    flow(&text)
}

async fn noop(_: Task) -> Result<Value, Failure> {
    Ok(Value::Null)
}

fn work(engine: &Engine, slots: u32, handlers: Handlers) -> Working {
    Worker { handlers: handlers.on(name("noop"), noop), commands: None, http: None, secrets: Default::default(), slots }
        .start(engine)
}

async fn run(engine: &Engine, start: Start) -> RunId {
    within("start", engine.start_run(start)).await.unwrap().0
}

async fn end(engine: &Engine, run: RunId) -> RunState {
    within("the run's end", engine.wait(run)).await.unwrap()
}

#[tokio::test]
async fn a_panic_is_a_permanent_failure_and_the_worker_goes_on() {
    let place = Place::default();
    let engine = place.engine();
    let handlers = Handlers::default()
        .on(name("async"), |_| async { panic!("no {}", 1) })
        .on(name("early"), |_| -> std::future::Ready<_> { panic!("before the first await") })
        .on_blocking(name("blocking"), |_| panic!("on its thread"));
    let _worker = work(&engine, 1, handlers);
    for action in ["async", "early", "blocking"] {
        let id = run(&engine, one(action)).await;
        assert_eq!(end(&engine, id).await, RunState::Error);
        let (state, attempt, failure) = place.task(id, "a");
        assert_eq!((state, attempt, failure.unwrap().kind.as_str()), (TaskState::Error, 1, "panic"), "{action}");
    }
    let id = run(&engine, one("noop")).await;
    assert_eq!(end(&engine, id).await, RunState::Complete);
}

#[tokio::test]
async fn whoever_watches_a_long_loop_holds_no_more_of_it_than_its_engine() {
    let place = Place::default();
    let engine = place.engine();
    let id = run(&engine, flow("flow long():\n    for n in range(200):\n        @noop()\n")).await;
    let mut reader = Reader::over(Box::new(place.ledger.clone()), Box::new(MemoryProjections::default()), home());
    let mut seen = reader.run(id).unwrap();
    let _worker = work(&engine, 1, Handlers::default());
    assert_eq!(end(&engine, id).await, RunState::Complete);
    assert!(reader.catch_up(&mut seen).unwrap());
    assert_eq!((seen.state, seen.total()), (RunState::Complete, 201));
    assert!(seen.present().count() <= 3, "{} tasks are held", seen.present().count());
}

#[tokio::test]
async fn blocking_handlers_run_beside_each_other_and_their_outputs_arrive() {
    let place = Place::default();
    let engine = place.engine();
    let barrier = Arc::new(Barrier::new(4));
    let meet = move |task: Task| {
        barrier.wait();
        Ok(json!({ "path": task.path }))
    };
    let _worker = work(&engine, 4, Handlers::default().on_blocking(name("meet"), meet));
    let id = run(&engine, spread(4, "meet")).await;
    assert_eq!(end(&engine, id).await, RunState::Complete);
    let all = place.run(id);
    assert_eq!(*all.output(all.find("each[2]").unwrap()), json!({ "path": "each[2]" }));
}

#[tokio::test]
async fn every_slot_is_used_however_few_tasks_were_ready_at_first() {
    let place = Place::default();
    let engine = place.engine();
    let (arrived, open) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let (a, o) = (Arc::clone(&arrived), Arc::clone(&open));
    let handlers = Handlers::default().on(name("meet"), move |_| {
        let (arrived, open) = (Arc::clone(&a), Arc::clone(&o));
        async move {
            let opened = open.notified();
            arrived.add_permits(1);
            opened.await;
            Ok(Value::Null)
        }
    });
    let _worker = work(&engine, 8, handlers);
    // The first task takes one of eight slots; the other seven must not be forgotten over it.
    let first = run(&engine, one("meet")).await;
    within("the first", arrived.acquire()).await.unwrap().forget();
    let second = run(&engine, spread(7, "meet")).await;
    within("eight at once", arrived.acquire_many(7)).await.unwrap().forget();
    open.notify_waiters();
    assert_eq!(end(&engine, first).await, RunState::Complete);
    assert_eq!(end(&engine, second).await, RunState::Complete);
}

#[tokio::test]
async fn an_action_that_no_worker_knows_stays_ready() {
    let place = Place::default();
    let engine = place.engine();
    let _worker = work(&engine, 4, Handlers::default());
    let id = run(&engine, flow("{ flow: f, tasks: { a: { action: unheard }, b: { action: noop } } }")).await;
    let other = run(&engine, one("noop")).await;
    end(&engine, other).await;
    engine.stop().unwrap();
    assert_eq!(place.task(id, "a").0, TaskState::Enqueued);
    assert_eq!(place.task(id, "b").0, TaskState::Complete);
}

/// Says so when it is dropped.
struct Bell(mpsc::UnboundedSender<&'static str>);

impl Drop for Bell {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

#[tokio::test]
async fn a_cancel_stops_a_handler_where_it_awaits() {
    let place = Place::default();
    let engine = place.engine();
    let (tell, mut told) = mpsc::unbounded_channel();
    let handlers = Handlers::default().on(name("forever"), move |_| {
        let bell = Bell(tell.clone());
        async move {
            let _ = bell.0.send("began");
            let _bell = bell;
            std::future::pending().await
        }
    });
    let _worker = work(&engine, 1, handlers);
    let id = run(&engine, one("forever")).await;
    assert_eq!(within("its begin", told.recv()).await, Some("began"));
    engine.cancel(id, name("op"), None).await.unwrap();
    assert_eq!(within("its end", told.recv()).await, Some("dropped"));
    assert_eq!(end(&engine, id).await, RunState::Cancelled);
    let after = run(&engine, one("noop")).await;
    assert_eq!(end(&engine, after).await, RunState::Complete, "its slot is free again");
}

#[tokio::test]
async fn a_cancel_that_comes_right_behind_the_grant_is_not_lost() {
    let place = Place::default();
    let engine = place.engine();
    let handlers = Handlers::default().on(name("forever"), |_| std::future::pending());
    let mut worker = work(&engine, 1, handlers);
    within("its claim", worker.claimed()).await;
    let asking = engine.clone();
    // While this thread waits, the worker hears nothing: then it finds the grant and its end at once.
    let asked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let id = run(&asking, one("forever")).await;
            asking.cancel(id, name("op"), None).await.unwrap();
        });
    });
    asked.join().unwrap();
    let after = run(&engine, one("noop")).await;
    assert_eq!(end(&engine, after).await, RunState::Complete, "its slot is free again");
}

#[tokio::test]
async fn a_blocking_handler_can_see_that_it_is_cancelled() {
    let place = Place::default();
    let engine = place.engine();
    let (tell, mut told) = mpsc::unbounded_channel();
    let handlers = Handlers::default().on_blocking(name("spin"), move |task: Task| {
        let _ = tell.send(());
        while !task.is_cancelled() {
            std::thread::yield_now();
        }
        Ok(Value::Null)
    });
    let _worker = work(&engine, 1, handlers);
    let id = run(&engine, one("spin")).await;
    within("its begin", told.recv()).await;
    engine.cancel(id, name("op"), None).await.unwrap();
    let after = run(&engine, one("noop")).await;
    assert_eq!(end(&engine, after).await, RunState::Complete);
}

#[tokio::test]
async fn a_worker_that_left_is_given_nothing_more() {
    let place = Place::default();
    let engine = place.engine();
    let first = work(&engine, 4, Handlers::default());
    let id = run(&engine, one("noop")).await;
    end(&engine, id).await;
    within("its leave", first.stop(Duration::ZERO)).await;
    let id = run(&engine, one("noop")).await;
    let _second = work(&engine, 4, Handlers::default());
    assert_eq!(end(&engine, id).await, RunState::Complete);
    assert_eq!(place.task(id, "a").1, 1, "and no attempt was spent on the one who left");
}

#[tokio::test]
async fn a_claim_whose_caller_left_is_given_nothing() {
    let place = Place::default();
    let engine = place.engine();
    let claim = Claim { worker: "w".into(), actions: Arc::from([name("noop")]), queues: None, max: 1, lease: None };
    let asking = tokio::spawn({
        let engine = engine.clone();
        async move { engine.ask(Command::Claim(claim)).await }
    });
    // A run that ends says that the claim before it was taken in.
    let warm = run(&engine, flow("{ flow: f, tasks: { a: { gate: { timer: 1ms } } } }")).await;
    end(&engine, warm).await;
    asking.abort();
    let _ = asking.await;
    let id = run(&engine, one("noop")).await;
    let _worker = work(&engine, 1, Handlers::default());
    assert_eq!(end(&engine, id).await, RunState::Complete);
}

#[tokio::test]
async fn what_does_not_stop_in_time_ends_as_worker_lost_and_somebody_else_goes_on() {
    let place = Place::default();
    let engine = place.engine();
    let (tell, mut told) = mpsc::unbounded_channel();
    let stubborn = Handlers::default().on(name("work"), move |_| {
        let _ = tell.send(());
        std::future::pending()
    });
    let first = work(&engine, 1, stubborn);
    let text =
        "{ flow: f, tasks: { a: { action: work, retry: { max_attempts: 2, backoff: { kind: fixed, base: 1ms } } } } }";
    let id = run(&engine, flow(text)).await;
    within("its begin", told.recv()).await;
    within("its leave", first.stop(Duration::ZERO)).await;
    assert_eq!(place.task(id, "a").2.unwrap().kind, "worker_lost");
    let _second = work(&engine, 1, Handlers::default().on(name("work"), noop));
    assert_eq!(end(&engine, id).await, RunState::Complete);
}

#[tokio::test]
async fn a_stopped_engine_loses_nothing() {
    let place = Place::default();
    let mut runs = Vec::new();
    for life in 0..4 {
        let engine = place.engine();
        let worker = work(&engine, 16, Handlers::default());
        for _ in 0..25 {
            runs.push(run(&engine, chain(5)).await);
        }
        // The last engine may finish; the others are stopped wherever they are.
        if life == 3 {
            for id in &runs {
                assert_eq!(end(&engine, *id).await, RunState::Complete);
            }
        }
        within("the worker's leave", worker.stop(Duration::ZERO)).await;
        engine.stop().unwrap();
        assert_eq!(engine.start_run(chain(1)).await.unwrap_err().code, "engine_stopped");
    }
    assert_eq!(runs.len(), 100);
    let tail = place.ledger.clone().tail().unwrap();
    assert_eq!(place.rows.clone().watermark().unwrap(), tail, "the rows are up to date");
}

/// While a task works its store begins to fail so often; its report meets that.
async fn reported_in_spite_of(fault: Fault, times: u64) {
    let place = Place::default();
    let engine = place.engine();
    let (disk, plan) = (place.faults.clone(), Arc::new(AtomicU64::new(0)));
    let handlers = Handlers::default().on(name("fill"), move |_| {
        if plan.fetch_add(1, Ordering::Relaxed) == 0 {
            (0..times).for_each(|good| disk.fail_after(Op::Append, good, fault));
        }
        noop_now()
    });
    let _worker = work(&engine, 1, handlers);
    let id = run(&engine, one("fill")).await;
    assert_eq!(end(&engine, id).await, RunState::Complete, "{fault:?}");
    assert_eq!(place.task(id, "a").1, 1, "done once: {fault:?}");
    assert_eq!(place.faults.take_fired().values().sum::<u64>(), times, "{fault:?}");
}

#[tokio::test]
async fn a_store_that_fails_delays_reports_and_loses_none() {
    reported_in_spite_of(Fault::DiskFull, 2).await;
    // So often a commit is decided anew before it is refused, and once more.
    reported_in_spite_of(Fault::Conflict, 6).await;
    reported_in_spite_of(Fault::Damaged, 2).await;
}

#[tokio::test]
async fn a_worker_that_ends_reports_what_it_has_done_in_spite_of_a_store_that_fails() {
    let place = Place::default();
    let engine = place.engine();
    let (began, mut beginning) = mpsc::unbounded_channel();
    let go = Arc::new(Semaphore::new(0));
    let wait = Arc::clone(&go);
    let handlers = Handlers::default().on(name("slow"), move |_| {
        let (began, wait) = (began.clone(), Arc::clone(&wait));
        async move {
            began.send(()).unwrap();
            wait.acquire().await.unwrap().forget();
            Ok(Value::Null)
        }
    });
    let worker = work(&engine, 1, handlers);
    let id = run(&engine, one("slow")).await;
    within("the task", beginning.recv()).await.unwrap();
    worker.wind_down(HANG);
    (0..2).for_each(|good| place.faults.fail_after(Op::Append, good, Fault::DiskFull));
    go.add_permits(1);
    assert_eq!(end(&engine, id).await, RunState::Complete);
}

fn noop_now() -> std::future::Ready<Result<Value, Failure>> {
    std::future::ready(Ok(Value::Null))
}

#[tokio::test]
async fn more_claims_than_the_channel_holds_wait_their_turn_and_all_are_served() {
    const MANY: usize = 10_500;
    let place = Place::default();
    let engine = place.engine();
    let claim = || Claim { worker: "w".into(), actions: Arc::from([name("work")]), queues: None, max: 1, lease: None };
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..MANY {
        let (engine, claim) = (engine.clone(), claim());
        asking.spawn(async move { engine.ask(Command::Claim(claim)).await });
    }
    let _worker = work(&engine, 1, Handlers::default());
    run(&engine, spread(MANY, "work")).await;
    let mut granted = 0;
    while let Some(answer) = within("all claims", asking.join_next()).await {
        let Answer::Granted { grants, .. } = answer.unwrap().unwrap() else { panic!("a claim is granted") };
        granted += grants.len();
    }
    assert_eq!(granted, MANY);
    engine.stop().unwrap();
}

#[tokio::test]
async fn on_sqlite_a_chain_costs_one_append_a_step_and_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let open = || {
        let stores = sqlite::open(dir.path()).unwrap();
        let reader = sqlite::open_reader(dir.path()).unwrap();
        start(Box::new(stores.ledger), Box::new(reader.projections), Box::new(stores.projections))
    };
    let engine = open();
    let worker = work(&engine, 1, Handlers::default());
    // The worker's claim is there once it was served, and from then on waits in every commit.
    let warm = run(&engine, one("noop")).await;
    end(&engine, warm).await;
    let before = engine.counts().await.unwrap();
    let id = run(&engine, chain(20)).await;
    assert_eq!(end(&engine, id).await, RunState::Complete);
    let after = engine.counts().await.unwrap();
    assert_eq!(after.commits - before.commits, 21, "one to start it, one for each task");
    assert_eq!(after.events - before.events, 42);
    within("its leave", worker.stop(Duration::ZERO)).await;
    engine.stop().unwrap();
    drop(engine);
    let engine = open();
    assert_eq!(end(&engine, id).await, RunState::Complete);
    engine.stop().unwrap();
}
