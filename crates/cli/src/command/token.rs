//! `edgewise token`: who may use the server. A token is shown once; the ledger keeps its hash.

use super::Context;
use super::schedule::record;
use crate::args::{Token as TokenArgs, TokenCommand, TokenCreate};
use crate::clock::{Clock, rfc3339};
use crate::config::{Config, Origin, Setting};
use crate::exit::Exit;
use crate::output::Row;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::control::{Setting as Known, SettingChanged};
use edgewise_core::id::Token;
use edgewise_core::name::Name;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::entropy::Entropy;
use edgewise_engine::folder::Ask;
use edgewise_server::auth::{Kept, PREFIX, UNREADABLE};
use edgewise_server::workspaces::is_name;
use serde_json::json;
use std::path::Path;

const HEADER: [&str; 5] = ["name", "role", "expires", "made", "by"];

pub(super) fn perform(args: &TokenArgs, context: &mut Context<'_>) -> Result<Exit> {
    let config = match (&args.workspaces, &args.workspace) {
        (Some(dir), Some(workspace)) => within(dir, workspace, context.config)?,
        _ => context.config.clone(),
    };
    let context = &mut Context { config: &config, cwd: context.cwd, printer: &mut *context.printer };
    match &args.command {
        TokenCommand::Create(args) => create(args, context),
        TokenCommand::List => list(context),
        TokenCommand::Revoke { name } => revoke(name, context),
    }
}

/// The settings for one workspace of many: its folder is the data folder.
fn within(dir: &Path, workspace: &str, config: &Config) -> Result<Config> {
    if !workspace.split_once('/').is_some_and(|(tenant, name)| is_name(tenant) && is_name(name)) {
        let what = format!("{workspace:?} is no workspace");
        return Err(Problem::new(Kind::Invalid, "bad_name", what)
            .next("write TENANT/WORKSPACE, each of small letters, digits, `-` and `_`"));
    }
    let dir = Setting { value: dir.join(workspace), origin: Origin::Flag("--workspace") };
    let mut config = config.clone();
    config.dir = dir;
    Ok(config)
}

fn create(args: &TokenCreate, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    if known(&place, context)?.iter().any(|(name, ..)| *name == args.name) {
        let what = format!("{} has a token already", args.name);
        return Err(Problem::new(Kind::Conflict, "token_exists", what)
            .next(format!("revoke it first with `edgewise token revoke {}`, or choose another name", args.name)));
    }
    let secret = Token(Entropy::from_system()?.bits());
    let expires = args.expires.map(|span| wall_clock().plus(span));
    let (kept, text) = Kept::new(&args.name, secret, args.role.into(), expires);
    let value = serde_json::to_value(&kept)
        .map_err(|error| Problem::new(Kind::Bug, "unprintable", "a token has no JSON form").why(error.to_string()))?;
    set(&place, &args.name, Some(value), context)?;
    let lines = [text.clone()];
    let facts = json!({ "name": args.name, "role": kept.role, "token": text, "expires_at": expires.and_then(rfc3339) });
    context.printer.one(text.clone(), &lines, &facts)?;
    context.printer.say("keep it safe: it is not shown again. Send it as `Authorization: Bearer TOKEN`");
    Ok(Exit::Ok)
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let clock = Clock::local(wall_clock());
    let row = |(name, kept, setting): (Name, Option<Kept>, Known)| {
        let role = kept.as_ref().map_or_else(|| UNREADABLE.into(), |kept| format!("{:?}", kept.role).to_lowercase());
        let expires = kept.as_ref().and_then(|kept| kept.expires);
        let never = if kept.is_some() { "never" } else { "-" };
        let cells = vec![
            Cell::new(name.as_str(), Ink::Bold),
            Cell::from(role.clone()),
            Cell::from(expires.map_or_else(|| never.into(), |at| clock.short(at))),
            Cell::from(clock.short(setting.at)),
            Cell::new(setting.by.as_str(), Ink::Dim),
        ];
        let facts = json!({ "name": name, "role": role, "expires_at": expires.and_then(rfc3339),
            "made_at": rfc3339(setting.at), "by": setting.by });
        Row::new(name.to_string(), cells, &facts)
    };
    let rows = known(&Place::of(context.config), context)?.into_iter().map(row).collect::<Result<Vec<_>>>()?;
    if rows.is_empty() && context.printer.for_people() {
        context.printer.say("nobody has a token; `edgewise token create NAME --role ROLE` makes one");
        return Ok(Exit::Ok);
    }
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}

fn revoke(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    if !known(&place, context)?.iter().any(|(known, ..)| known == name) {
        let what = format!("{name} has no token");
        return Err(Problem::new(Kind::NotFound, "token_not_found", what).next("`edgewise token list` lists them"));
    }
    set(&place, name, None, context)?;
    let line = format!("the token of {name} is not good any more");
    context.printer.one(name.to_string(), &[line], &json!({ "name": name, "revoked": true }))?;
    Ok(Exit::Ok)
}

/// The tokens there are; none where nothing was ever run.
fn known(place: &Place, context: &Context<'_>) -> Result<Vec<(Name, Option<Kept>, Known)>> {
    if place.there_are_runs().is_err() {
        return Ok(Vec::new());
    }
    let settings = View::open(context.config)?.reader.control()?.settings;
    let tokens = settings.into_iter().filter_map(|(key, setting)| {
        let name = Name::parse(key.strip_prefix(PREFIX)?).ok()?;
        Some((name, serde_json::from_value(setting.value.clone()).ok(), setting))
    });
    Ok(tokens.collect())
}

fn set(place: &Place, name: &Name, value: Option<serde_json::Value>, context: &Context<'_>) -> Result<()> {
    let key = Name::parse(&format!("{PREFIX}{name}"))?;
    let by = context.config.who.value.clone();
    record(place, Ask::ChangeSetting(SettingChanged { key, value, by, why: None })).map(|_| ())
}
