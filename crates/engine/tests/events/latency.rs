//! From the commit to whoever listens in the same process. A measurement, run by hand: `--run-ignored all`.

use crate::stage::*;
use edgewise_engine::publish::Heard;
use edgewise_engine::{Engine, Home, Parts};
use std::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures, and a busy machine measures nothing"]
async fn a_fast_event_reaches_a_listener_soon_after_its_commit() {
    let folder = tempfile::tempdir().unwrap();
    let stores = edgewise_store::sqlite::open(folder.path()).unwrap();
    let reader = edgewise_store::sqlite::open_reader(folder.path()).unwrap();
    let domain = edgewise_store::sqlite::open_ledger(folder.path()).unwrap();
    let parts = Parts {
        ledger: Box::new(stores.ledger),
        reader: Box::new(reader.projections),
        writer: Box::new(stores.projections),
        home: Home::local(),
        clock: std::sync::Arc::new(edgewise_engine::engine::wall_clock),
        entropy: edgewise_engine::entropy::Entropy::from_system().unwrap(),
        queues: Default::default(),
    };
    let engine = Engine::start_telling(parts, Default::default(), Some(Box::new(domain))).unwrap();
    let mut listener = engine.listeners().listen();
    let told = tokio::spawn(async move {
        let mut at = Vec::new();
        while at.len() < 2_000 {
            if let Some(Heard::Event(_)) = listener.next().await {
                at.push(Instant::now());
            }
        }
        at
    });
    let mut answered = Vec::new();
    for _ in 0..2_000 {
        run(&engine, flow("flow: f\ntasks: { a: { emit: { name: t, delivery: fast } } }")).await;
        answered.push(Instant::now());
    }
    // The answer of a start is sent right after its commit, and wakes a task just as the event does: the difference is
    // what publishing adds.
    let told = told.await.unwrap();
    let mut spans: Vec<u128> = told
        .iter()
        .zip(&answered)
        .map(|(told, answered)| told.saturating_duration_since(*answered).as_micros())
        .collect();
    spans.sort_unstable();
    println!("p50 {} us, p99 {} us, most {} us", spans[1_000], spans[1_980], spans[1_999]);
    engine.stop().unwrap();
}
