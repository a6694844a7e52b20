//! History: every transition of a run and of its tasks, and everything that people did or were asked.

use super::rfc3339;
use edgewise_core::event::TaskIx;
use edgewise_core::history::{Act, Stream, Transition};
use edgewise_core::id::EventId;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// One transition, of the run itself if there is no task; or an act that moved nothing, which goes from nowhere to nowhere.
#[derive(Debug, Serialize)]
pub struct Moved {
    /// The path of the task.
    pub task: Option<String>,
    /// From where.
    pub from: Option<String>,
    /// To where.
    pub to: Option<String>,
    /// By what.
    pub by: String,
    /// What a person said.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
    /// Who is asked from now on, because they did not answer who were asked before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Name>,
    /// The event's id.
    pub event: EventId,
    /// The event's place in the stream.
    pub seq: u64,
    /// When.
    pub time: Option<String>,
    /// Who wrote it.
    pub source: Arc<str>,
    /// Whether nothing came after it.
    pub most_recent: bool,
    /// The same instant, for whoever prints it otherwise.
    #[serde(skip)]
    pub at: Time,
    /// Within one event: tasks by number, the run behind them.
    #[serde(skip)]
    place: u32,
}

/// Who did it, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Said {
    /// Who.
    pub who: Name,
    /// Why, if they said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// All of it in the order of the ledger, or what happened to one task.
pub fn transitions(run: &Run, stream: &Stream<'_>, only: Option<TaskIx>) -> Vec<Moved> {
    let history = stream.history();
    let mut all = Vec::new();
    for (task, steps) in history.tasks.iter().filter(|(task, _)| only.is_none_or(|only| only == **task)) {
        let path = run.path(*task);
        all.extend(steps.iter().map(|step| moved(Some(path.clone()), task.0, step, snake(&step.by))));
    }
    if only.is_none() {
        all.extend(history.run.iter().map(|step| moved(None, u32::MAX, step, step.by.to_string())));
    }
    let mut by_seq: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (n, step) in all.iter().enumerate() {
        by_seq.entry(step.seq).or_default().push(n);
    }
    for act in history.acts.iter().filter(|act| only.is_none() || act.task == only) {
        let said = act.by.clone().map(|who| Said { who, why: act.why.clone() });
        match by_seq.get(&act.seq) {
            // Said once, of what they meant; what followed from it follows.
            Some(steps) => {
                let meant = act.task.map_or(u32::MAX, |task| task.0);
                let first = steps.iter().find(|n| all[**n].place == meant).or(steps.first());
                all[*first.unwrap_or(&0)].said = said;
            }
            None => all.push(alone(run, act, said)),
        }
    }
    all.sort_by_key(|step| (step.seq, step.place));
    all
}

/// An act that moved nothing.
fn alone(run: &Run, act: &Act, said: Option<Said>) -> Moved {
    Moved {
        task: act.task.map(|task| run.path(task)),
        from: None,
        to: None,
        by: act.kind.to_string(),
        said,
        asked: act.asked.clone(),
        event: act.event,
        seq: act.seq,
        time: rfc3339(act.at),
        source: Arc::clone(&act.source),
        most_recent: false,
        at: act.at,
        place: act.task.map_or(u32::MAX, |task| task.0),
    }
}

fn moved<S: Debug, B>(task: Option<String>, place: u32, step: &Transition<S, B>, by: String) -> Moved {
    Moved {
        task,
        from: Some(format!("{:?}", step.from)),
        to: Some(format!("{:?}", step.to)),
        by,
        said: None,
        asked: Vec::new(),
        event: step.event,
        seq: step.seq,
        time: rfc3339(step.at),
        source: Arc::clone(&step.source),
        most_recent: step.most_recent,
        at: step.at,
        place,
    }
}

/// `DecidedAgainst` as `decided_against`.
fn snake(word: &impl Debug) -> String {
    let mut out = String::new();
    for c in format!("{word:?}").chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
