//! `edgewise gate url`: the address that opens a webhook gate, once and without a token.

use super::Context;
use super::address::Wanted;
use super::work::Board;
use crate::args::{GateUrl, gate_of_run};
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use crate::shelves::{named, quoted};
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::work::{GateWait, WorkGate};
use edgewise_server::hook::{Of, RunGate};
use serde_json::json;

pub(super) fn perform(args: &GateUrl, context: &mut Context<'_>) -> Result<Exit> {
    let Found { named, id, route } = found(args, context)?;
    let wanted = Wanted { of: Of::Gate, named: &named, route, expires: args.expires, server: args.server.as_deref() };
    let (url, expires_at) = wanted.make(context)?;
    let facts = json!({ "gate": id, "url": url, "expires_at": expires_at });
    context.printer.one(url.clone(), std::slice::from_ref(&url), &facts)?;
    context.printer.say("whoever has this address can open the gate, once: `curl -X POST URL`");
    Ok(Exit::Ok)
}

/// A gate: what an address calls it, what people do, and where a server makes its address.
struct Found {
    named: String,
    id: String,
    route: String,
}

fn found(args: &GateUrl, context: &mut Context<'_>) -> Result<Found> {
    if let Some((run, task)) = gate_of_run(&args.what, args.task.as_ref())? {
        let mut view = View::open(context.config)?;
        let run = view.find(&run)?;
        let gate = RunGate::of(&view.reader.run(run)?, &task)?;
        let route = format!("{}/{}/url", named("runs", &run.to_string(), "gates"), quoted(&task));
        return Ok(Found { named: gate.to_string(), id: format!("{run}/{task}"), route });
    }
    let board = Board::open(context)?;
    let id = board.find(&args.what.to_string())?;
    let Some(WorkGate { wait: GateWait::Webhook, .. }) = board.work.gate(id.as_str()) else {
        let what = format!("{id} is no webhook gate, so it has no address");
        return Err(Problem::new(Kind::Invalid, "wrong_gate", what).next("`edgewise gate create --webhook` makes one"));
    };
    Ok(Found { named: id.to_string(), id: id.to_string(), route: named("gates", id.as_str(), "url") })
}
