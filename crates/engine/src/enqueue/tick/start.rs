//! The run of a tick: the flow's newest plan, the schedule's input, and when it was scheduled for.

use super::SCHEDULER;
use crate::command::{Answer, Start};
use crate::desk::Desk;
use crate::request::{run_of_key, start_stored};
use edgewise_core::control::{Outcome, Skip};
use edgewise_core::name::Name;
use edgewise_core::schedule::Schedule;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result, input};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The input that is given the tick's instant, where a flow declares it.
const SCHEDULED_AT: &str = "scheduled_at";

pub(super) fn start(desk: &mut Desk, name: &Name, schedule: &Schedule, due: Time) -> Result<Outcome> {
    let Some(flow) = desk.control.state.flows.get(&schedule.flow) else {
        let message = format!("no flow is registered as {}", schedule.flow);
        return Err(Error::not_found("flow_not_found", message));
    };
    let hash = flow.plan;
    let plan = match desk.ticks.plans.get(&hash) {
        Some(plan) => Arc::clone(plan),
        None => {
            let plan = desk.plan_of(hash)?;
            desk.ticks.keep(hash, &plan);
            plan
        }
    };
    let mut given = schedule.input.clone();
    if plan.inputs.iter().any(|declared| declared.name.as_str() == SCHEDULED_AT) {
        given.entry(SCHEDULED_AT).or_insert_with(|| Value::from(due.to_string()));
    }
    let text = input::complete(&plan.inputs, &given)?;
    let input = RawValue::from_string(text)
        .map_err(|error| Error::bug("unprintable", "the input has no JSON form").with_source(error))?;
    let mut labels = BTreeMap::from([("schedule".to_owned(), name.to_string())]);
    if let Some(backfill) = &schedule.backfill {
        labels =
            BTreeMap::from([("schedule".to_owned(), backfill.of.to_string()), ("backfill".into(), name.to_string())]);
    }
    let (by, key) = (Name::parse(SCHEDULER)?, schedule.key(name, due));
    let start = Start { plan, input, by, key: Some(key.clone()), labels, children: Vec::new() };
    Ok(match start_stored(desk, &start, hash) {
        Ok(Answer::Started { run, new: true }) => Outcome::Started(run),
        Ok(Answer::Started { run, .. }) => Outcome::Skipped(Skip::Already(run)),
        Ok(other) => return Err(Error::bug("unexpected_answer", format!("a start came to {other:?}"))),
        // A tick that had a run gets none, also if its flow or input was another one then.
        Err(error) if error.code == "key_taken" => match run_of_key(desk, key)? {
            Some(run) => Outcome::Skipped(Skip::Already(run)),
            None => return Err(error),
        },
        Err(error) => return Err(error),
    })
}
