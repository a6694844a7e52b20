//! The table of routes: every address, the permission it needs, what it takes and gives.

use crate::app::App;
use crate::auth::Permission::{self, Admin, Approve, Look, Open, Operate, Work};
use crate::guard::{Guarded, guard};
use crate::idempotency::once;
use crate::problem::Problem;
use crate::route::{act, domain, events, flow, meta, run, webhook, work};
use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use edgewise_client::wire;
use edgewise_core::Error;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// The form of a body.
pub type Form = fn(&mut SchemaGenerator) -> Schema;

/// One address.
pub struct Route {
    /// How it is asked.
    pub method: Method,
    /// Where; parts in braces are parameters.
    pub path: &'static str,
    /// Its name, the same in metrics and in the OpenAPI document.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// What somebody must be trusted with.
    pub needs: Permission,
    /// Parameters of its query.
    pub query: &'static [Query],
    /// What it takes.
    pub takes: Option<Form>,
    /// What it gives.
    pub gives: Gives,
    handler: fn() -> MethodRouter<App>,
}

/// One parameter of a query.
pub struct Query {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
}

/// What an address gives.
#[derive(Clone, Copy)]
pub enum Gives {
    /// JSON of a form.
    Form(Form),
    /// JSON of any form.
    Json,
    /// Plain text.
    Text,
    /// A stream of events.
    Stream,
}

fn form<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const AFTER: Query = Query { name: "after", about: "the `next` of the page before" };
const LIMIT: Query = Query { name: "limit", about: "at most so many; 100 if absent" };
const QUERY: Query = Query { name: "q", about: "a search such as `state:failed flow:x label.team=web`" };
const ALL: Query = Query { name: "all", about: "`true` for runs that are parts of others as well" };
const PLACE: Query = Query { name: "after", about: "only events behind this place; from the first one if absent" };
const CONSUMER: Query = Query { name: "consumer", about: "only what this consumer has not acknowledged" };
const WAIT: Query = Query { name: "wait_ms", about: "how long to wait for the end; not at all if absent" };

macro_rules! table {
    ($($method:ident $path:literal $name:ident $needs:ident, $summary:literal, [$($query:ident),*], $takes:expr => $gives:expr, $handler:expr;)*) => {
        /// Every address there is.
        pub fn table() -> Vec<Route> {
            vec![$(Route {
                method: Method::$method,
                path: $path,
                name: stringify!($name),
                summary: $summary,
                needs: $needs,
                query: const { &[$($query),*] },
                takes: $takes,
                gives: $gives,
                handler: || $handler,
            }),*]
        }
    };
}

const ACT: Option<Form> = Some(form::<wire::ActRequest>);
const GATE: Option<Form> = Some(form::<wire::GateRequest>);
const TAKEN: Gives = Gives::Form(form::<wire::ActTaken>);

table! {
    GET "/healthz" healthz Open, "Whether the process is there.", [], None => Gives::Text, get(meta::healthz);
    GET "/readyz" readyz Open, "Whether what is asked can be made durable now.", [], None => Gives::Text, get(meta::readyz);
    GET "/metrics" metrics Look, "What is counted, as Prometheus text.", [], None => Gives::Text, get(meta::metrics);
    GET "/api/openapi.json" openapi Open, "This document.", [], None => Gives::Json, get(meta::openapi);
    GET "/api/v1/flows" list_flows Look, "The flows that are registered.", [], None => Gives::Form(form::<wire::Flows>), get(flow::list);
    POST "/api/v1/runs" start_run Operate, "Starts a run of a registered flow, or of a flow whose text comes along.", [], Some(form::<wire::Start>) => Gives::Form(form::<wire::Started>), post(run::start);
    GET "/api/v1/runs" list_runs Look, "Runs, the newest first.", [QUERY, ALL, AFTER, LIMIT], None => Gives::Form(form::<wire::Runs>), get(run::list);
    GET "/api/v1/runs/{run}" show_run Look, "A run with all its tasks, in the form of `edgewise show --json`.", [], None => Gives::Json, get(run::show);
    GET "/api/v1/runs/{run}/end" wait_run Look, "How a run ended, as soon as it has.", [WAIT], None => Gives::Form(form::<wire::Ended>), get(run::end);
    GET "/api/v1/runs/{run}/why" why_run Look, "Why a run does not go on, in the form of `edgewise why --json`.", [], None => Gives::Json, get(run::why);
    GET "/api/v1/runs/{run}/events" run_events Look, "The events of a run as they are committed; `Last-Event-ID` goes on behind one.", [], None => Gives::Stream, get(events::of_run);
    POST "/api/v1/runs/{run}/cancel" cancel_run Operate, "Nothing of the run, or of one task, may start any more.", [], ACT => TAKEN, post(act::cancel);
    POST "/api/v1/runs/{run}/pause" pause_run Operate, "No new leases for now.", [], ACT => TAKEN, post(act::pause);
    POST "/api/v1/runs/{run}/resume" resume_run Operate, "Leases again.", [], ACT => TAKEN, post(act::resume);
    POST "/api/v1/runs/{run}/rerun" rerun_run Operate, "Has finished work done again.", [], Some(form::<wire::RerunRequest>) => TAKEN, post(act::rerun);
    POST "/api/v1/runs/{run}/reset" reset_task Operate, "Gives a failed task new attempts.", [], ACT => TAKEN, post(act::reset);
    POST "/api/v1/runs/{run}/skip" skip_task Operate, "Leaves a task out.", [], ACT => TAKEN, post(act::skip);
    POST "/api/v1/runs/{run}/resolve" resolve Operate, "Declares a run, or one task, dealt with.", [], ACT => TAKEN, post(act::resolve);
    POST "/api/v1/runs/{run}/complete" complete_task Operate, "Supplies a task's output.", [], Some(form::<wire::SupplyRequest>) => TAKEN, post(act::complete);
    POST "/api/v1/runs/{run}/give-up" give_up_run Operate, "Lets the failures stand that a run holds.", [], ACT => TAKEN, post(act::give_up);
    POST "/api/v1/runs/{run}/freeze" freeze_run Admin, "Lets nothing but reads work on a run.", [], ACT => TAKEN, post(act::freeze);
    POST "/api/v1/runs/{run}/unfreeze" unfreeze_run Admin, "Lets a frozen run go on.", [], ACT => TAKEN, post(act::unfreeze);
    POST "/api/v1/runs/{run}/approve" approve_gate Approve, "Says yes to a gate.", [], GATE => TAKEN, post(act::approve);
    POST "/api/v1/runs/{run}/withdraw" withdraw_gate Approve, "Takes a yes back.", [], GATE => TAKEN, post(act::withdraw);
    POST "/api/v1/runs/{run}/reject" reject_gate Approve, "Says no to a gate.", [], GATE => TAKEN, post(act::reject);
    GET "/api/v1/domain" list_namespaces Look, "The queues of domain events.", [], None => Gives::Form(form::<wire::Namespaces>), get(domain::namespaces);
    GET "/api/v1/domain/{namespace}" read_domain Look, "Domain events of a namespace, in order.", [PLACE, CONSUMER, LIMIT], None => Gives::Form(form::<wire::DomainEvents>), get(domain::read);
    GET "/api/v1/domain/{namespace}/events" domain_events Look, "Domain events as they happen; `Last-Event-ID` goes on behind a durable one.", [], None => Gives::Stream, get(domain::stream);
    POST "/api/v1/domain/{namespace}/ack" ack_domain Operate, "A consumer has dealt with everything up to a place.", [], Some(form::<wire::Acknowledge>) => Gives::Form(form::<wire::Acknowledged>), post(domain::acknowledge);
    GET "/api/v1/webhooks" list_webhooks Look, "All webhooks, without their secrets.", [], None => Gives::Form(form::<wire::Webhooks>), get(webhook::list);
    POST "/api/v1/webhooks" add_webhook Admin, "Makes a webhook; its secret is given once.", [], Some(form::<wire::WebhookRequest>) => Gives::Form(form::<wire::WebhookMade>), post(webhook::add);
    POST "/api/v1/webhooks/{webhook}/remove" remove_webhook Admin, "Takes a webhook away.", [], None => TAKEN, post(webhook::remove);
    GET "/api/v1/webhooks/{webhook}/dead" dead_webhook Look, "What a webhook could not be told.", [], None => Gives::Form(form::<wire::DeadLetters>), get(webhook::dead);
    POST "/api/v1/webhooks/{webhook}/replay" replay_webhook Operate, "Has events sent again.", [], Some(form::<wire::ReplayRequest>) => Gives::Form(form::<wire::Replayed>), post(webhook::replay);
    POST "/api/v1/work/claim" claim_work Work, "Leases of tasks, as soon as there are some.", [], Some(form::<wire::Claim>) => Gives::Form(form::<wire::Leases>), post(work::claim);
    POST "/api/v1/work/heartbeat" heartbeat_work Work, "Says that attempts are still at work.", [], Some(form::<wire::Heartbeat>) => Gives::Form(form::<wire::Beats>), post(work::heartbeat);
    POST "/api/v1/work/complete" complete_work Work, "Reports how attempts ended.", [], Some(form::<wire::Complete>) => Gives::Form(form::<wire::Completed>), post(work::complete);
    POST "/api/v1/work/release" release_work Work, "Gives leases back whose work never began.", [], Some(form::<wire::Release>) => TAKEN, post(work::release);
}

/// The router of the table: each route behind its guard.
pub fn router(app: &App) -> Router {
    let mut router = Router::new();
    for route in table() {
        let guarded = Guarded { app: app.clone(), route: route.name, needs: route.needs };
        let mut handler = (route.handler)();
        if route.method == Method::POST {
            handler = handler.layer(from_fn_with_state(app.clone(), once));
        }
        router = router.route(route.path, handler.layer(from_fn_with_state(guarded, guard)));
    }
    router.fallback(nowhere).method_not_allowed_fallback(otherwise).with_state(app.clone())
}

async fn nowhere(request: Request) -> impl IntoResponse {
    let message = format!("there is nothing at {}; /api/openapi.json lists all addresses", request.uri().path());
    Problem(Error::not_found("no_route", message))
}

async fn otherwise(request: Request) -> impl IntoResponse {
    let message = format!("{} is not asked with {}; see /api/openapi.json", request.uri().path(), request.method());
    Problem(Error::invalid("bad_method", message))
}
