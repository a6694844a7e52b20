//! `edgewise webhook`: which addresses are told of domain events.

use super::Context;
use crate::args::{WebhookAdd, WebhookCommand, WebhookReplay};
use crate::exit::Exit;
use crate::output::Row;
use crate::place::Place;
use crate::problem::Result;
use crate::shelves::Shelves;
use crate::style::Ink;
use crate::table::Cell;
use edgewise_client::wire::{DeadLetterListed, Replayed, WebhookListed, WebhookMade};
use serde_json::json;

const HOOKS: [&str; 6] = ["id", "namespace", "url", "names", "place", "dead"];
const DEAD: [&str; 4] = ["place", "event", "id", "why"];

pub(super) fn perform(command: &WebhookCommand, context: &mut Context<'_>) -> Result<Exit> {
    match command {
        WebhookCommand::Add(args) => add(args, context),
        WebhookCommand::List => list(context),
        WebhookCommand::Remove { id } => remove(id, context),
        WebhookCommand::Rotate { id } => told(&shelves(context, true)?.rotate_hook(id)?, context),
        WebhookCommand::Dead { id } => dead(id, context),
        WebhookCommand::Replay(args) => replay(args, context),
    }
}

fn shelves(context: &Context<'_>, writes: bool) -> Result<Shelves> {
    Shelves::of(&Place::of(context.config), writes)
}

fn add(args: &WebhookAdd, context: &mut Context<'_>) -> Result<Exit> {
    told(&shelves(context, true)?.add_hook(&args.namespace, &args.url, &args.names)?, context)
}

/// Shows a secret, once.
fn told(made: &WebhookMade, context: &mut Context<'_>) -> Result<Exit> {
    let lines = [format!("{}  {}", made.id, made.secret)];
    context.printer.one(made.id.clone(), &lines, &json!({ "id": made.id, "secret": made.secret }))?;
    context.printer.say("keep the secret safe: it is not shown again, and messages are signed with it");
    Ok(Exit::Ok)
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let all = shelves(context, false)?.hooks()?;
    if all.is_empty() && context.printer.for_people() {
        context.printer.say("there are no webhooks; `edgewise webhook add NAMESPACE URL` makes one");
        return Ok(Exit::Ok);
    }
    let row = |hook: &WebhookListed| {
        let names = hook.names.join(", ");
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
            "off": hook.off, "place": hook.place, "dead": hook.dead, "made_at": hook.made_at });
        Row::new(hook.id.clone(), cells, &facts)
    };
    let rows = all.iter().map(row).collect::<Result<Vec<_>>>()?;
    context.printer.rows(&HOOKS, &rows)?;
    Ok(Exit::Ok)
}

fn remove(id: &str, context: &mut Context<'_>) -> Result<Exit> {
    shelves(context, true)?.remove_hook(id)?;
    context.printer.one(id, &[format!("{id} is told nothing any more")], &json!({ "id": id, "removed": true }))?;
    Ok(Exit::Ok)
}

fn dead(id: &str, context: &mut Context<'_>) -> Result<Exit> {
    let letters = shelves(context, false)?.dead(id)?;
    let row = |letter: &DeadLetterListed| {
        let cells = vec![
            Cell::new(letter.place.to_string(), Ink::Dim),
            Cell::new(letter.name.as_str(), Ink::Bold),
            Cell::from(letter.id.as_str()),
            Cell::new(letter.why.as_str(), Ink::Bad),
        ];
        let facts = json!({ "place": letter.place, "id": letter.id, "name": letter.name, "why": letter.why,
            "at": letter.at });
        Row::new(letter.place.to_string(), cells, &facts)
    };
    let rows = letters.iter().map(row).collect::<Result<Vec<_>>>()?;
    context.printer.rows(&DEAD, &rows)?;
    Ok(Exit::Ok)
}

fn replay(args: &WebhookReplay, context: &mut Context<'_>) -> Result<Exit> {
    let Replayed { events, next } = shelves(context, true)?.replay(&args.id, args.from.zip(args.to))?;
    let line = format!("{events} events are sent again to {}", args.id);
    let mut facts = json!({ "id": args.id, "events": events });
    if let Some(next) = next {
        facts["next"] = next.into();
    }
    context.printer.one(args.id.clone(), &[line], &facts)?;
    if let Some(next) = next {
        let range = args.to.map_or(String::new(), |to| format!(" --from {next} --to {to}"));
        context.printer.say(&format!(
            "that was not all, {next} is the next: when these were sent, `edgewise webhook replay {}{range}` goes on",
            args.id
        ));
    }
    Ok(Exit::Ok)
}
