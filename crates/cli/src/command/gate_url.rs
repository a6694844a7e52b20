//! `edgewise gate url`: the address that opens a webhook gate, once and without a token.

use super::Context;
use super::schedule::record;
use super::work::Board;
use crate::args::{GateUrl, gate_of_run};
use crate::clock::rfc3339;
use crate::exit::Exit;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::view::{View, home};
use edgewise_core::Kind;
use edgewise_core::control::SettingChanged;
use edgewise_core::name::Name;
use edgewise_core::work::{GateWait, WorkGate};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::folder::Ask;
use edgewise_server::hook::{Of, RunGate, SETTING, Secret};
use serde_json::json;

pub(super) fn perform(args: &GateUrl, context: &mut Context<'_>) -> Result<Exit> {
    let (named, id) = named(args, context)?;
    let expires = wall_clock().plus(args.expires);
    let path = secret(context)?.path(&home()?, (Of::Gate, &named), expires);
    let url = format!("{}{path}", args.server.trim_end_matches('/'));
    let facts = json!({ "gate": id, "url": url, "expires_at": rfc3339(expires) });
    context.printer.one(url.clone(), std::slice::from_ref(&url), &facts)?;
    context.printer.say("whoever has this address can open the gate, once: `curl -X POST URL`");
    Ok(Exit::Ok)
}

/// What an address calls the gate, and what people do.
fn named(args: &GateUrl, context: &mut Context<'_>) -> Result<(String, String)> {
    if let Some((run, task)) = gate_of_run(&args.what, args.task.as_ref())? {
        let mut view = View::open(context.config)?;
        let run = view.find(&run)?;
        let gate = RunGate::of(&view.reader.run(run)?, &task)?;
        return Ok((gate.to_string(), format!("{run}/{task}")));
    }
    let board = Board::open(context)?;
    let id = board.find(&args.what.to_string())?;
    let Some(WorkGate { wait: GateWait::Webhook, .. }) = board.work.gate(id.as_str()) else {
        let what = format!("{id} is no webhook gate, so it has no address");
        return Err(Problem::new(Kind::Invalid, "wrong_gate", what).next("`edgewise gate create --webhook` makes one"));
    };
    Ok((id.to_string(), id.to_string()))
}

/// The workspace's secret; the first address makes it.
pub(super) fn secret(context: &Context<'_>) -> Result<Secret> {
    if let Some(secret) = Secret::of(&View::open(context.config)?.reader.control()?.settings)? {
        return Ok(secret);
    }
    let (key, by) = (Name::parse(SETTING)?, context.config.who.value.clone());
    let change = SettingChanged { key, value: Some(Secret::fresh()?.into()), by };
    record(&Place::of(context.config), Ask::ChangeSetting(change))?;
    // Somebody else may have been first: what is kept counts.
    let kept = Secret::of(&View::open(context.config)?.reader.control()?.settings)?;
    kept.ok_or_else(|| Problem::new(Kind::Bug, "no_secret", "a secret that was just kept is not there"))
}
