//! `edgewise serve` and `edgewise dev`: the folder's engine with a door for HTTP.

use super::Context;
use super::engine::become_engine;
use crate::args::{Addresses, Serve};
use crate::descriptors;
use crate::exit::Exit;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::signals::Signals;
use crate::view::folder_reader;
use edgewise_core::Kind;
use edgewise_core::rate::Rate;
use edgewise_engine::Home;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::publish::Losses;
use edgewise_engine::webhook::{Delivering, Hooks};
use edgewise_server::auth::Tokens;
use edgewise_server::{App, Listen, Outside, Parts, Pushing, Served, Serving, Tls, Workspaces, limits, serve_as};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long requests under way may take when the server is told to stop.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is said at most that listeners lose events.
const WARN_EVERY: Duration = Duration::from_secs(10);

pub(super) fn perform(args: &Serve, context: &mut Context<'_>) -> Result<Exit> {
    descriptors::raise();
    let place = Place::of(context.config);
    let local = args.addr.are_local();
    let trusted = local && !args.require_tokens;
    if !local {
        is_encrypted(args)?;
    }
    let listen = listen(args, local)?;
    if let Some(dir) = &args.workspaces {
        return many(args, dir, &place, listen, context);
    }
    if !trusted {
        there_are_tokens(&place, args)?;
    }
    runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let listener = bind(&args.addr).await?;
        let options = place.server(args.work);
        let open = tokio::select! {
            open = become_engine(&place, &options) => open?,
            () = signals.next() => return Ok(Exit::Ok),
        };
        let parts = Parts {
            engine: open.engine.clone(),
            home: Home::local(),
            dir: place.folder.dir().to_owned(),
            clock: Arc::new(wall_clock),
            trust_loopback: trusted,
        };
        let app = App::new(parts);
        app.set_queues(options.queues.clone());
        app.lend(place.lending());
        if let Some(collector) = &args.otlp {
            app.export(collector).await?;
        }
        let means = place.http().means(open.engine.listeners().watch_queues());
        let delivering = Delivering::start(Hooks::new(app.shelf().await?), means);
        let pushing = Pushing::start(&app, place.http()).await?;
        let serving = start(listener, Served::One(app), listen)?;
        say(serving.address, args, trusted, context)?;
        let engine = open.engine.clone();
        until_stopped(&mut signals, async || engine.listeners().counts().1, context).await;
        tokio::join!(serving.stop(PATIENCE), pushing.stop(limits::PUSH_STOPS));
        delivering.stop();
        open.close().await?;
        Ok(Exit::Ok)
    })
}

/// Many workspaces: their engines work here, and tasks are done by workers that connect.
fn many(args: &Serve, dir: &Path, place: &Place, listen: Listen, context: &mut Context<'_>) -> Result<Exit> {
    runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let listener = bind(&args.addr).await?;
        let keep_events = context.config.keep_events.value;
        let outside = Outside { collector: args.otlp.clone(), http: place.http(), keep_events };
        let workspaces = Workspaces::open(dir, place.server(false), outside).await?;
        let serving = start(listener, Served::Many(workspaces.clone()), listen)?;
        say(serving.address, args, false, context)?;
        let running = workspaces.running().await;
        if running.is_empty() {
            context.printer.say("there are no workspaces yet: `edgewise token create NAME --role admin --workspace TENANT/WORKSPACE` makes one");
        }
        until_stopped(&mut signals, async || workspaces.dropped().await, context).await;
        serving.stop(PATIENCE).await;
        workspaces.close().await?;
        Ok(Exit::Ok)
    })
}

/// Waits for the signal to stop, and says now and then what listeners have lost meanwhile.
async fn until_stopped(signals: &mut Signals, dropped: impl AsyncFn() -> u64, context: &mut Context<'_>) {
    let mut losses = Losses::default();
    loop {
        tokio::select! {
            () = signals.next() => return,
            () = tokio::time::sleep(WARN_EVERY) => {}
        }
        if let Some(warning) = losses.look(dropped().await) {
            context.printer.say(&warning);
        }
    }
}

/// Listens at the first address that can be listened at.
async fn bind(address: &Addresses) -> Result<TcpListener> {
    TcpListener::bind(address.all.as_slice()).await.map_err(|error| {
        Problem::new(Kind::Unavailable, "no_address", format!("{address} cannot be listened at"))
            .why(error.to_string())
            .next("name another with --addr, or stop whoever listens there")
    })
}

fn start(listener: TcpListener, served: Served, listen: Listen) -> Result<Serving> {
    serve_as(listener, served, listen).map_err(|error| {
        Problem::new(Kind::Unavailable, "no_address", "the address is not known").why(error.to_string())
    })
}

/// How to listen. On this machine's own address nobody is bounded unless it is said.
fn listen(args: &Serve, local: bool) -> Result<Listen> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls::open(certificate, key, Arc::new(wall_clock))?),
        _ => None,
    };
    let usual = |rate: &str| if local { Ok(None) } else { Rate::parse(rate).map(Some) };
    let token_rate = args.token_rate.map_or_else(|| usual(limits::TOKEN_RATE), |rate| Ok(Some(rate)))?;
    let address_rate = args.address_rate.map_or_else(|| usual(limits::ADDRESS_RATE), |rate| Ok(Some(rate)))?;
    Ok(Listen { tls, token_rate, address_rate, ..Listen::default() })
}

fn say(address: SocketAddr, args: &Serve, trust: bool, context: &mut Context<'_>) -> Result<()> {
    let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{address}");
    let tasks = if args.work { "here, and by workers that connect" } else { "by workers that connect" };
    let mut lines = vec![
        format!("listening at {url}"),
        format!("  the API          {url}/api/openapi.json"),
        format!("  who may use it   {}", if trust { "every program of this machine" } else { "whoever has a token" }),
        format!("  tasks are done   {tasks}"),
    ];
    if let Some(dir) = &args.workspaces {
        lines.push(format!("  workspaces       those in {}, each at {url}/t/TENANT/WORKSPACE", dir.display()));
    }
    lines.push("Ctrl-C stops it".to_owned());
    context.printer.one(url.clone(), &lines, &json!({ "listening": url, "work": args.work, "tokens": !trust }))?;
    context.printer.flush()
}

/// Tokens that others could read on their way would be good for whoever reads them.
fn is_encrypted(args: &Serve) -> Result<()> {
    if args.tls_cert.is_some() || args.insecure_http {
        return Ok(());
    }
    let what = format!("{} can be reached from other machines, and nothing would be encrypted", args.addr);
    Err(Problem::new(Kind::Denied, "no_tls", what)
        .why("tokens and everything else could be read on their way")
        .next("name a certificate with --tls-cert and --tls-key, or say --insecure-http if something before this server speaks TLS"))
}

/// Nobody outside is let in without a token, so without tokens nobody could use it: better said now.
fn there_are_tokens(place: &Place, args: &Serve) -> Result<()> {
    let settings = match place.there_are_runs() {
        Ok(()) => folder_reader(place.folder.dir(), Home::local())?.control()?.settings,
        Err(_) => Default::default(),
    };
    if !Tokens::of(&settings).is_empty() {
        return Ok(());
    }
    let (why, what) = match args.require_tokens {
        true => {
            ("nobody would be let in", "--require-tokens lets nobody in without a token, and nobody has one yet".into())
        }
        false => {
            let what = format!("{} can be reached from other machines, and nobody has a token yet", args.addr);
            ("a server that others reach lets nobody in without one", what)
        }
    };
    Err(Problem::new(Kind::Denied, "no_tokens", what)
        .why(why)
        .next("make one with `edgewise token create NAME --role admin`, or serve this machine alone with --addr 127.0.0.1:7420"))
}
