//! How soon somebody in this process hears a fast domain event: from the moment in which its commit was durable.

use super::{Bench, at, failed};
use edgewise_client::{Client, wire};
use edgewise_core::{Error, Result};
use edgewise_engine::publish::{Heard, Listener};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Events heard one after the other while nothing else happens.
const ALONE: usize = 1_000;
/// How often one is made beside the load.
const EVERY: Duration = Duration::from_millis(2);
/// A flow that is over when its event was told.
const EMITS: &str = "flow: tells\ntasks: { one: { emit: { name: told, delivery: fast } } }\n";

/// Half of the events, and 99 of 100, were heard within so many milliseconds.
pub(super) async fn alone(bench: &Bench, quick: bool) -> Result<(f64, f64)> {
    let events = if quick { ALONE / 10 } else { ALONE };
    let heard = hear(bench.engine.listeners().listen(), events);
    for _ in 0..events {
        emit(&bench.client).await?;
    }
    figures(heard).await
}

/// The same while runs of the load go on at so many each second.
pub(super) async fn beside(bench: &Bench, per_second: f64, long: Duration) -> Result<(f64, f64)> {
    let events = (long.as_millis() / EVERY.as_millis()) as usize;
    let heard = hear(bench.engine.listeners().listen(), events);
    let client = bench.client.clone();
    let emitting = tokio::spawn(async move {
        let mut tick = tokio::time::interval(EVERY);
        for _ in 0..events {
            tick.tick().await;
            emit(&client).await?;
        }
        Ok::<_, Error>(())
    });
    bench.half(per_second, long).await?;
    emitting.await.map_err(|e| Error::bug("bench_panic", e.to_string()))??;
    figures(heard).await
}

async fn emit(client: &Client) -> Result<()> {
    let asked = wire::Start { source: Some(EMITS.into()), ..Default::default() };
    client.start(&asked).await.map(drop).map_err(failed)
}

fn hear(mut listener: Listener, events: usize) -> JoinHandle<Vec<f64>> {
    tokio::spawn(async move {
        let mut times = Vec::with_capacity(events);
        while times.len() < events {
            let Some(heard) = listener.next().await else { break };
            let now = Instant::now();
            if let Heard::Event(told) = heard
                && let Some(durable) = told.durable
            {
                times.push(now.saturating_duration_since(durable).as_secs_f64() * 1e3);
            }
        }
        times
    })
}

async fn figures(heard: JoinHandle<Vec<f64>>) -> Result<(f64, f64)> {
    let hang = |_| Error::bug("bench_unheard", "fast events were not heard");
    let heard = tokio::time::timeout(super::LONG, heard).await.map_err(hang)?;
    let mut times = heard.map_err(|e| Error::bug("bench_panic", e.to_string()))?;
    Ok((at(&mut times, 0.5), at(&mut times, 0.99)))
}
