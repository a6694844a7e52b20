//! A schedule as programs see it, and the ticks that come.

use super::rfc3339;
use edgewise_core::Result;
use edgewise_core::control::Scheduled;
use edgewise_core::name::Name;
use edgewise_core::schedule::Rhythm;
use edgewise_core::time::Time;
use serde_json::{Value, json};

/// The ticks that come; those that were missed are not among them.
pub fn coming(known: &Scheduled, now: Time) -> Result<impl Iterator<Item = Time> + use<>> {
    let rhythm = Rhythm::read(&known.schedule.when)?;
    let mut last = known.after.max(now);
    Ok(std::iter::from_fn(move || {
        last = rhythm.next(last)?;
        Some(last)
    }))
}

/// All of a schedule.
pub fn schedule(name: &Name, known: &Scheduled, now: Time) -> Value {
    let next = coming(known, now).into_iter().flatten().next().filter(|_| !known.schedule.paused);
    json!({
        "schedule": name, "flow": known.schedule.flow, "rules": known.schedule, "by": known.by, "why": known.why,
        "set_at": rfc3339(known.set_at), "decided_until": rfc3339(known.after), "next": next.and_then(rfc3339),
        "waiting": known.queue, "running": known.running, "last": known.last, "started": known.started,
        "skipped": known.skipped, "paused": known.schedule.paused,
    })
}
