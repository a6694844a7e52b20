//! `edgewise webhook`: which addresses are told of domain events.

use super::Context;
use super::domain::shelf;
use crate::args::{WebhookAdd, WebhookCommand, WebhookReplay};
use crate::clock::rfc3339;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use edgewise_core::name::Name;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::entropy::Entropy;
use edgewise_engine::webhook::{DeadLetter, Hooks, Shown};
use serde_json::json;

const HOOKS: [&str; 6] = ["id", "namespace", "url", "names", "place", "dead"];
const DEAD: [&str; 4] = ["place", "event", "id", "why"];

pub(super) fn perform(command: &WebhookCommand, context: &mut Context<'_>) -> Result<Exit> {
    match command {
        WebhookCommand::Add(args) => add(args, context),
        WebhookCommand::List => list(context),
        WebhookCommand::Remove { id } => remove(id, context),
        WebhookCommand::Dead { id } => dead(id, context),
        WebhookCommand::Replay(args) => replay(args, context),
    }
}

fn add(args: &WebhookAdd, context: &mut Context<'_>) -> Result<Exit> {
    let hooks = Hooks::new(shelf(context, true)?);
    let of = (args.namespace.clone(), args.url.clone());
    let (hook, secret) = hooks.add(of, args.names.clone(), &mut Entropy::from_system()?, wall_clock())?;
    let lines = [format!("{}  {}", hook.id, secret.text())];
    context.printer.one(hook.id.clone(), &lines, &json!({ "id": hook.id, "secret": secret.text() }))?;
    context.printer.say("keep the secret safe: it is not shown again, and messages are signed with it");
    Ok(Exit::Ok)
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let all = Hooks::new(shelf(context, false)?).list()?;
    if all.is_empty() && context.printer.for_people() {
        context.printer.say("there are no webhooks; `edgewise webhook add NAMESPACE URL` makes one");
        return Ok(Exit::Ok);
    }
    let row = |hook: &Shown| {
        let names = hook.names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ");
        let off = hook.off.as_ref().map_or(String::new(), |why| format!(" (off: {why})"));
        let cells = vec![
            Cell::new(hook.id.as_str(), Ink::Bold),
            Cell::from(hook.namespace.as_str()),
            Cell::from(format!("{}{off}", hook.url)),
            Cell::from(if names.is_empty() { "all".to_owned() } else { names }),
            Cell::from(hook.place.to_string()),
            Cell::from(hook.dead.to_string()),
        ];
        let facts = json!({ "id": hook.id, "namespace": hook.namespace, "url": hook.url, "names": hook.names,
            "off": hook.off, "place": hook.place, "dead": hook.dead, "made_at": rfc3339(hook.at) });
        Row::new(hook.id.clone(), cells, &facts)
    };
    let rows = all.iter().map(row).collect::<Result<Vec<_>>>()?;
    context.printer.rows(&HOOKS, &rows)?;
    Ok(Exit::Ok)
}

fn remove(id: &str, context: &mut Context<'_>) -> Result<Exit> {
    Hooks::new(shelf(context, true)?).remove(id)?;
    context.printer.one(id, &[format!("{id} is told nothing any more")], &json!({ "id": id, "removed": true }))?;
    Ok(Exit::Ok)
}

fn dead(id: &str, context: &mut Context<'_>) -> Result<Exit> {
    let letters = Hooks::new(shelf(context, false)?).dead(id)?;
    let row = |letter: &DeadLetter| {
        let cells = vec![
            Cell::new(letter.place.to_string(), Ink::Dim),
            Cell::new(letter.name.as_str(), Ink::Bold),
            Cell::from(letter.id.as_str()),
            Cell::new(letter.why.as_str(), Ink::Bad),
        ];
        let facts = json!({ "place": letter.place, "id": letter.id, "name": letter.name, "why": letter.why,
            "at": rfc3339(letter.at) });
        Row::new(letter.place.to_string(), cells, &facts)
    };
    let rows = letters.iter().map(row).collect::<Result<Vec<_>>>()?;
    context.printer.rows(&DEAD, &rows)?;
    Ok(Exit::Ok)
}

fn replay(args: &WebhookReplay, context: &mut Context<'_>) -> Result<Exit> {
    let hooks = Hooks::new(shelf(context, true)?);
    let events = hooks.replay(&args.id, args.from.zip(args.to), wall_clock())?;
    let line = format!("{events} events are sent again to {}", args.id);
    context.printer.one(args.id.clone(), &[line], &json!({ "id": args.id, "events": events }))?;
    Ok(Exit::Ok)
}
