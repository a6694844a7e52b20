//! `edgewise serve` and `edgewise dev`: the folder's engine with a door for HTTP.

use super::Context;
use super::engine::become_engine;
use crate::exit::Exit;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::signals::Signals;
use crate::view::reader;
use edgewise_core::Kind;
use edgewise_engine::Home;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::webhook::{Delivering, Hooks};
use edgewise_server::auth::Tokens;
use edgewise_server::{App, Parts, serve};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long requests under way may take when the server is told to stop.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn perform(address: SocketAddr, work: bool, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    let trust = address.ip().is_loopback();
    if !trust {
        there_are_tokens(&place, address)?;
    }
    runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Problem::new(Kind::Unavailable, "no_address", format!("{address} cannot be listened at"))
                .why(error.to_string())
                .next("name another with --addr, or stop whoever listens there")
        })?;
        let options = place.server(work);
        let open = tokio::select! {
            open = become_engine(&place, &options) => open?,
            () = signals.next() => return Ok(Exit::Ok),
        };
        let parts = Parts {
            engine: open.engine.clone(),
            home: Home::local(),
            dir: place.folder.dir().to_owned(),
            clock: Arc::new(wall_clock),
            trust_loopback: trust,
        };
        let app = App::new(parts);
        let means = place.http().means(open.engine.listeners().watch_queues());
        let delivering = Delivering::start(Hooks::new(app.shelf().await?), means);
        let serving = serve(listener, &app).map_err(|error| {
            Problem::new(Kind::Unavailable, "no_address", "the address is not known").why(error.to_string())
        })?;
        say(serving.address, work, trust, context)?;
        signals.next().await;
        serving.stop(PATIENCE).await;
        delivering.stop();
        open.close().await?;
        Ok(Exit::Ok)
    })
}

fn say(address: SocketAddr, work: bool, trust: bool, context: &mut Context<'_>) -> Result<()> {
    let url = format!("http://{address}");
    let lines = [
        format!("listening at {url}"),
        format!("  the API          {url}/api/openapi.json"),
        format!("  who may use it   {}", if trust { "every program of this machine" } else { "whoever has a token" }),
        format!(
            "  tasks are done   {}",
            if work { "here, and by workers that connect" } else { "by workers that connect" }
        ),
        "Ctrl-C stops it".to_owned(),
    ];
    context.printer.one(url.clone(), &lines, &json!({ "listening": url, "work": work, "tokens": !trust }))?;
    context.printer.flush()
}

/// Nobody outside is let in without a token, so without tokens nobody could use it: better said now.
fn there_are_tokens(place: &Place, address: SocketAddr) -> Result<()> {
    let settings = match place.there_are_runs() {
        Ok(()) => reader(place.folder.dir(), Home::local())?.control()?.settings,
        Err(_) => Default::default(),
    };
    if !Tokens::of(&settings).is_empty() {
        return Ok(());
    }
    let what = format!("{address} can be reached from other machines, and nobody has a token yet");
    Err(Problem::new(Kind::Denied, "no_tokens", what)
        .why("a server that others reach lets nobody in without one")
        .next("make one with `edgewise token create NAME --role admin`, or serve this machine alone with --addr 127.0.0.1:7420"))
}
