//! `edgewise audit`: who did what at the server.

use super::Context;
use crate::args::Audit;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::output::Row;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::shelves::trail;
use crate::style::Ink;
use crate::table::Cell;
use edgewise_client::wire::AuditLine;
use edgewise_core::Kind;
use edgewise_core::time::Time;
use edgewise_engine::engine::wall_clock;
use serde_json::json;

const HEADER: [&str; 6] = ["when", "who", "from", "what", "answer", "times"];

pub(super) fn perform(args: &Audit, context: &mut Context<'_>) -> Result<Exit> {
    let since = match args.since {
        None => Time(0),
        Some(at) => at.instant(wall_clock()).ok_or_else(|| {
            Problem::new(Kind::Invalid, "bad_time", "the trail has no seq")
                .next("say how long ago, such as --since 1h, or an instant")
        })?,
    };
    let place = Place::of(context.config);
    let lines = trail(&place, since, args.limit)?;
    if lines.is_empty() && context.printer.for_people() {
        context.printer.say("nobody has asked the server for anything");
        return Ok(Exit::Ok);
    }
    let clock = Clock::local(wall_clock());
    let rows = lines.iter().map(|line| row(line, &clock)).collect::<Result<Vec<_>>>()?;
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}

fn row(line: &AuditLine, clock: &Clock) -> Result<Row> {
    let AuditLine { at, who, role, peer, route, path, made, status, code, times } = line;
    let what = match (path, made) {
        (_, Some(made)) => format!("{route} {made}"),
        (Some(path), None) => format!("{route} {path}"),
        (None, None) => route.clone(),
    };
    let answer = code.as_ref().map_or_else(|| status.to_string(), |code| format!("{status} {code}"));
    let cells = vec![
        Cell::from(Time::parse(at).map_or_else(|_| at.clone(), |at| clock.short(at))),
        Cell::new(who.as_deref().unwrap_or("-"), Ink::Bold),
        Cell::from(peer.clone()),
        Cell::from(what),
        Cell::from(answer),
        Cell::from(times.to_string()),
    ];
    let facts = json!({ "at": at, "who": who, "role": role, "peer": peer, "route": route, "path": path,
        "made": made, "status": status, "code": code, "times": times });
    Row::new(route.clone(), cells, &facts)
}
