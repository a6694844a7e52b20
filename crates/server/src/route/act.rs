//! What people do to runs, tasks and gates.

use super::find;
use crate::app::App;
use crate::auth::Principal;
use crate::body::Json;
use crate::params::Path;
use crate::problem::Result;
use axum::extract::{Extension, State};
use edgewise_client::wire::{ActRequest, ActTaken, GateRequest, RerunRequest, SatisfyRequest, SupplyRequest};
use edgewise_core::Error;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_engine::command::{Answer, Command, GateAct, Rerun, RerunOf, RunAct, Satisfy, Supply, TaskAct};
use serde_json::value::RawValue;

macro_rules! on_run {
    ($($name:ident $command:ident),*) => {$(
        pub async fn $name(
            State(app): State<App>,
            Extension(who): Extension<Principal>,
            Path(run): Path<String>,
            Json(asked): Json<ActRequest>,
        ) -> Result<Json<ActTaken>> {
            let act = whole_run(&app, who, run, asked).await?;
            perform(&app, Command::$command(act)).await
        }
    )*};
}

macro_rules! on_run_or_task {
    ($($name:ident $whole:ident $one:ident),*) => {$(
        pub async fn $name(
            State(app): State<App>,
            Extension(who): Extension<Principal>,
            Path(run): Path<String>,
            Json(asked): Json<ActRequest>,
        ) -> Result<Json<ActTaken>> {
            let run = find(&app, run).await?;
            let command = match &asked.task {
                Some(_) => Command::$one(one_task(run, who.name, asked)?),
                None => Command::$whole(RunAct { run, by: who.name, why: asked.why }),
            };
            perform(&app, command).await
        }
    )*};
}

macro_rules! on_task {
    ($($name:ident $command:ident),*) => {$(
        pub async fn $name(
            State(app): State<App>,
            Extension(who): Extension<Principal>,
            Path(run): Path<String>,
            Json(asked): Json<ActRequest>,
        ) -> Result<Json<ActTaken>> {
            let run = find(&app, run).await?;
            let act = one_task(run, who.name, asked)?;
            perform(&app, Command::$command(act)).await
        }
    )*};
}

macro_rules! on_gate {
    ($($name:ident $command:ident),*) => {$(
        pub async fn $name(
            State(app): State<App>,
            Extension(who): Extension<Principal>,
            Path(run): Path<String>,
            Json(GateRequest { task, comment }): Json<GateRequest>,
        ) -> Result<Json<ActTaken>> {
            let run = find(&app, run).await?;
            perform(&app, Command::$command(GateAct { run, task, by: who.name, comment })).await
        }
    )*};
}

on_run!(pause Pause, resume Resume, give_up GiveUp, freeze Freeze, unfreeze Unfreeze);
on_run_or_task!(cancel Cancel CancelTask, resolve ResolveRun Resolve);
on_task!(reset Reset, skip Skip);
on_gate!(approve Approve, withdraw Withdraw, reject Reject);

pub async fn rerun(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(run): Path<String>,
    Json(asked): Json<RerunRequest>,
) -> Result<Json<ActTaken>> {
    let run = find(&app, run).await?;
    let from = match (asked.task, asked.failed) {
        (Some(_), true) => {
            let message = "`task` and `failed` say different things: send one of them";
            return Err(Error::invalid("bad_body", message).into());
        }
        (Some(task), false) => RerunOf::Task(task),
        (None, true) => RerunOf::Failure,
        (None, false) => RerunOf::Start,
    };
    perform(&app, Command::Rerun(Rerun { run, from, by: who.name, why: asked.why })).await
}

pub async fn complete(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(run): Path<String>,
    Json(asked): Json<SupplyRequest>,
) -> Result<Json<ActTaken>> {
    let run = find(&app, run).await?;
    let output = RawValue::from_string(asked.output.to_string())
        .map_err(|error| Error::bug("unprintable", "the output has no JSON form").with_source(error))?;
    let act = TaskAct { run, task: asked.task, by: who.name, why: asked.why };
    perform(&app, Command::Supply(Supply { act, output })).await
}

/// What a gate waits for outside is so.
pub async fn satisfy(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(run): Path<String>,
    Json(asked): Json<SatisfyRequest>,
) -> Result<Json<ActTaken>> {
    let run = find(&app, run).await?;
    let output = asked.output.as_ref().map_or(Ok(None), super::hook::raw)?;
    let act = GateAct { run, task: asked.task, by: who.name, comment: asked.comment };
    perform(&app, Command::Satisfy(Satisfy { act, generation: None, delivery: None, output })).await
}

async fn whole_run(app: &App, who: Principal, run: String, asked: ActRequest) -> Result<RunAct> {
    if asked.task.is_some() {
        return Err(Error::invalid("bad_body", "this is done to whole runs: leave `task` out").into());
    }
    let run = find(app, run).await?;
    Ok(RunAct { run, by: who.name, why: asked.why })
}

fn one_task(run: RunId, by: Name, asked: ActRequest) -> Result<TaskAct> {
    let missing = || Error::invalid("bad_body", "`task` is missing: send the path of the task that is meant");
    Ok(TaskAct { run, task: asked.task.ok_or_else(missing)?, by, why: asked.why })
}

async fn perform(app: &App, command: Command) -> Result<Json<ActTaken>> {
    let taken = match app.engine().ask(command).await? {
        Answer::Done => ActTaken { already: false, reopened: None },
        Answer::Already => ActTaken { already: true, reopened: None },
        Answer::Reopened(tasks) => ActTaken { already: tasks == 0, reopened: Some(tasks) },
        other => return Err(Error::bug("unexpected_answer", format!("the engine answered {other:?}")).into()),
    };
    Ok(Json(taken))
}
