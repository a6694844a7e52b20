//! The table of routes: every address, the permission it needs, what it takes and gives.

use crate::app::App;
use crate::auth::Permission::{self, Admin, Approve, Look, Open, Operate, Work};
use crate::guard::{Guarded, guard};
use crate::idempotency::once;
use crate::problem::Problem;
use crate::route::{
    act, ask, audit, begin, domain, events, flow, gate, hook, import, insight, item, meta, operate, run, schedule,
    webhook, work, worker,
};
use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, patch, post};
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
    /// A picture, as JSON of its own form or drawn.
    Picture,
    /// A stream of events.
    Stream,
}

fn form<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const AFTER: Query = Query { name: "after", about: "the `next` of the page before" };
const LIMIT: Query = Query { name: "limit", about: "at most so many; 100 if absent" };
const TASKS: Query = Query { name: "limit", about: "at most so many tasks; all of them if absent" };
const QUERY: Query = Query { name: "q", about: "a search such as `state:failed flow:x label.team=web`" };
const ALL: Query = Query { name: "all", about: "`true` for runs that are parts of others as well" };
const PLACE: Query = Query { name: "after", about: "only events behind this place; from the first one if absent" };
const CONSUMER: Query = Query { name: "consumer", about: "only what this consumer has not acknowledged" };
const WAIT: Query = Query { name: "wait_ms", about: "how long to wait for the end; not at all if absent" };

const SINCE: Query = Query { name: "since", about: "nothing before this instant, RFC 3339" };
const KINDS: Query = Query { name: "kinds", about: "of these kinds, with commas between them; tasks if absent" };
const STATUS: Query = Query { name: "status", about: "in one of these, with commas; not closed if absent" };
const PRIORITY: Query = Query { name: "priority", about: "of one of these priorities, with commas" };
const ASSIGNEE: Query = Query { name: "assignee", about: "whose it is to do" };
const UNASSIGNED: Query = Query { name: "unassigned", about: "`true` for what is nobody's to do" };
const OWNER: Query = Query { name: "owner", about: "who answers for it" };
const TYPE: Query = Query { name: "type", about: "of one of these types, with commas" };
const TAGS: Query = Query { name: "tags", about: "with all of these tags, with commas" };
const ANY_TAGS: Query = Query { name: "anyTags", about: "with at least one of these tags" };
const NO_TAGS: Query = Query { name: "noTags", about: "with none of these tags" };
const DUE: Query = Query { name: "dueBefore", about: "due before this instant" };
const PARENT: Query = Query { name: "parent", about: "directly below this item" };
const PLAN: Query = Query { name: "plan", about: "somewhere below this item" };
const TEXT: Query = Query { name: "text", about: "with this text in title, description or id" };
const EPHEMERAL: Query = Query { name: "ephemeral", about: "`true` for what is in ephemeral instances as well" };
const SORT: Query = Query { name: "sort", about: "`effective`, `priority`, `unblocks`, `deadline` or `oldest`" };

const FORM: Query = Query { name: "form", about: "`json` (if absent), `svg`, `dot` or `mermaid`" };
const AT: Query = Query { name: "at", about: "as it was: the seq of an event, or an instant (RFC 3339)" };
const FLOW: Query = Query { name: "flow", about: "only of this flow" };
const TASK: Query = Query { name: "task", about: "only of the task of this path" };
const WHY_TASK: Query = Query { name: "task", about: "why the task of this path is where it is; the run if absent" };
const DEPTH: Query = Query { name: "depth", about: "so many levels; 100 if absent, and at most" };
const DIRECTION: Query = Query {
    name: "direction",
    about: "`down` to what it waits for, `up` to what waits for it, or `both`, as if absent",
};
const ATTEMPT: Query = Query { name: "attempt", about: "of this attempt instead of the last" };
const ENDED: Query = Query { name: "all", about: "`true` for those of items that are open or rejected as well" };
const EVIDENCE: Query =
    Query { name: "tasks", about: "whose outputs are shown, with commas; those just before the gate if absent" };
const EVENT_TYPES: Query = Query { name: "type", about: "only events of these types, with commas" };
const EVENT_RUN: Query = Query { name: "run", about: "only of this run" };

/// Which items.
const ITEMS: [Query; 18] = [
    KINDS, STATUS, PRIORITY, ASSIGNEE, UNASSIGNED, OWNER, TYPE, TAGS, ANY_TAGS, NO_TAGS, DUE, PARENT, PLAN, TEXT,
    EPHEMERAL, SORT, AFTER, LIMIT,
];

macro_rules! table {
    ($($method:ident $path:literal $name:ident $needs:ident, $summary:literal, $query:expr, $takes:expr => $gives:expr, $handler:expr;)*) => {
        /// Every address there is.
        pub fn table() -> Vec<Route> {
            vec![$(Route {
                method: Method::$method,
                path: $path,
                name: stringify!($name),
                summary: $summary,
                needs: $needs,
                query: const { &$query },
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
const SCHEDULED: Gives = Gives::Form(form::<wire::ScheduleTaken>);
const FLOW_TEXT: Option<Form> = Some(form::<wire::FlowText>);
const ITEM_ACT: Option<Form> = Some(form::<wire::ItemAct>);
const DONE: Gives = Gives::Form(form::<wire::ItemDone>);
const ITEM_PAGE: Gives = Gives::Form(form::<wire::Items>);

table! {
    GET "/healthz" healthz Open, "Whether the process is there.", [], None => Gives::Text, get(meta::healthz);
    GET "/readyz" readyz Open, "Whether what is asked can be made durable now.", [], None => Gives::Text, get(meta::readyz);
    GET "/metrics" metrics Look, "What is counted, as Prometheus text.", [], None => Gives::Text, get(meta::metrics);
    GET "/api/openapi.json" openapi Open, "This document.", [], None => Gives::Form(form::<serde_json::Map<String, serde_json::Value>>), get(meta::openapi);
    GET "/api/v1/flows" list_flows Look, "The flows that are registered.", [AFTER, LIMIT], None => Gives::Form(form::<wire::Flows>), get(flow::list);
    POST "/api/v1/flows" register_flows Operate, "Puts the flows of a text under their names, with the schedules that stand in it.", [], FLOW_TEXT => Gives::Form(form::<wire::Registered>), post(flow::register);
    POST "/api/v1/flows/check" check_flow Look, "Checks the text of a flow without running it, in the form of `edgewise check --json`.", [], FLOW_TEXT => Gives::Form(form::<wire::FlowChecked>), post(flow::check);
    POST "/api/v1/flows/plan" plan_flow Look, "The plan that the text of a flow is compiled to.", [], FLOW_TEXT => Gives::Form(form::<wire::FlowPlan>), post(flow::plan);
    GET "/api/v1/flows/schema" flow_schema Open, "The schema of flow files, for editors.", [], None => Gives::Form(form::<serde_json::Map<String, serde_json::Value>>), get(flow::schema_of_flows);
    GET "/api/v1/flows/{flow}" show_flow Look, "The plan that new runs of a flow get.", [], None => Gives::Form(form::<wire::FlowPlan>), get(flow::show);
    POST "/api/v1/flows/{flow}/url" flow_url Operate, "The address of a flow with `on: webhook`: whoever knows it can begin runs of it.", [], Some(form::<wire::HookRequest>) => Gives::Form(form::<wire::FlowHook>), post(begin::address);
    POST "/api/v1/starts/{hook}" start_by_hook Open, "Begins a run of the flow whose address this is; the body is its input. A second call with the same `webhook-id` begins nothing.", [], Some(form::<serde_json::Value>) => Gives::Form(form::<wire::Started>), post(begin::deliver);
    GET "/api/v1/flows/{flow}/graph" flow_graph Look, "A flow, drawn.", [FORM], None => Gives::Picture, get(flow::graph);
    GET "/api/v1/schedules" list_schedules Look, "When flows begin by themselves.", [FLOW, AFTER, LIMIT], None => Gives::Form(form::<wire::Schedules>), get(schedule::list);
    POST "/api/v1/schedules" set_schedule Operate, "Makes or changes a schedule; it counts from now on.", [], Some(form::<wire::SetSchedule>) => SCHEDULED, post(schedule::set);
    GET "/api/v1/schedules/{schedule}" show_schedule Look, "A schedule, in the form of `edgewise schedule show --json`.", [], None => Gives::Form(form::<wire::ScheduleShown>), get(schedule::show);
    GET "/api/v1/schedules/{schedule}/next" next_ticks Look, "The instants at which a schedule ticks next.", [LIMIT], None => Gives::Form(form::<wire::Ticks>), get(schedule::next);
    POST "/api/v1/schedules/{schedule}/pause" pause_schedule Operate, "Lets a schedule rest.", [], ITEM_ACT => SCHEDULED, post(schedule::pause);
    POST "/api/v1/schedules/{schedule}/resume" resume_schedule Operate, "Lets a schedule go on, from now on.", [], ITEM_ACT => SCHEDULED, post(schedule::resume);
    POST "/api/v1/schedules/{schedule}/remove" remove_schedule Operate, "Takes a schedule away; its runs go on.", [], ITEM_ACT => SCHEDULED, post(schedule::remove);
    POST "/api/v1/schedules/{schedule}/backfill" backfill_schedule Operate, "Runs a schedule for ticks that have passed.", [], Some(form::<wire::BackfillSchedule>) => SCHEDULED, post(schedule::backfill);
    GET "/api/v1/queues" list_queues Look, "Queues and limits: what is used, what waits, and who holds what.", [], None => Gives::Form(form::<wire::QueuesShown>), get(operate::queues);
    POST "/api/v1/queues/{queue}" set_queue Operate, "Says what a queue is from now on: slots, a rate, a pause.", [], Some(form::<wire::SetQueue>) => TAKEN, post(operate::set_queue);
    POST "/api/v1/queues/{queue}/pause" pause_queue Operate, "Lets nothing of a queue begin for now; what is at work goes on.", [], ITEM_ACT => TAKEN, post(operate::pause_queue);
    POST "/api/v1/queues/{queue}/resume" resume_queue Operate, "Lets a queue go on.", [], ITEM_ACT => TAKEN, post(operate::resume_queue);
    POST "/api/v1/queues/{queue}/unset" unset_queue Operate, "Takes back what was said of a queue: it is again as the file of whoever runs the engine says.", [], ITEM_ACT => TAKEN, post(operate::unset_queue);
    GET "/api/v1/tokens" list_tokens Admin, "Who may use the server, without their secrets.", [AFTER, LIMIT], None => Gives::Form(form::<wire::TokenList>), get(operate::tokens);
    POST "/api/v1/tokens" create_token Admin, "Makes a token; its text is shown once and cannot be shown again.", [], Some(form::<wire::CreateToken>) => Gives::Form(form::<wire::TokenListed>), post(operate::create_token);
    POST "/api/v1/tokens/{token}/revoke" revoke_token Admin, "Takes a token away: whoever has it is refused from then on.", [], None => TAKEN, post(operate::revoke_token);
    POST "/api/v1/runs" start_run Operate, "Starts a run of a registered flow, or of a flow whose text comes along.", [], Some(form::<wire::Start>) => Gives::Form(form::<wire::Started>), post(run::start);
    GET "/api/v1/runs" list_runs Look, "Runs, the newest first.", [QUERY, ALL, AFTER, LIMIT], None => Gives::Form(form::<wire::Runs>), get(run::list);
    GET "/api/v1/runs/{run}" show_run Look, "A run with all its tasks, in the form of `edgewise show --json`; a page of its tasks with `limit` or `after`.", [AT, AFTER, TASKS], None => Gives::Form(form::<wire::RunShown>), get(run::show);
    GET "/api/v1/runs/{run}/end" wait_run Look, "How a run ended, as soon as it has.", [WAIT], None => Gives::Form(form::<wire::Ended>), get(run::end);
    GET "/api/v1/runs/{run}/why" why_run Look, "Why a run does not go on, or a task of it, in the form of `edgewise why --json`.", [WHY_TASK], None => Gives::Form(form::<wire::RunWhy>), get(run::why);
    GET "/api/v1/runs/{run}/events" run_events Look, "The events of a run as they are committed; `Last-Event-ID` goes on behind one.", [], None => Gives::Stream, get(events::of_run);
    GET "/api/v1/runs/{run}/tasks/{task}" show_task Look, "A task with all its attempts, in the form of `edgewise show RUN TASK --json`.", [], None => Gives::Form(form::<wire::TaskShown>), get(insight::task);
    GET "/api/v1/runs/{run}/gates/{task}" show_run_gate Look, "A gate of a run, with what somebody must know to decide: inputs, outputs, what was said.", [EVIDENCE], None => Gives::Form(form::<wire::RunGateShown>), get(gate::of_run);
    GET "/api/v1/runs/{run}/history" run_history Look, "Every transition of a run and of its tasks, and what people did.", [TASK, AFTER, LIMIT], None => Gives::Form(form::<wire::RunHistory>), get(insight::history);
    GET "/api/v1/runs/{run}/timing" run_timing Look, "Where the time of a run went, and which tasks decided when it ended.", [], None => Gives::Form(form::<wire::RunTiming>), get(insight::timing);
    POST "/api/v1/runs/{run}/what-if" what_if Look, "What would happen if something did; nothing is written.", [], Some(form::<wire::WhatIf>) => Gives::Form(form::<wire::Foretold>), post(insight::what_if);
    GET "/api/v1/runs/{run}/graph" run_graph Look, "A run, drawn.", [FORM, AT], None => Gives::Picture, get(insight::graph);
    GET "/api/v1/runs/{run}/logs" run_logs Look, "The attempts that have a log; with a task, what it wrote.", [TASK, ATTEMPT, AFTER], None => Gives::Form(form::<wire::RunLogs>), get(insight::logs);
    POST "/api/v1/runs/retain" retain_runs Admin, "Takes runs away that are long over, some at a time.", [], Some(form::<wire::Retain>) => Gives::Form(form::<wire::Retained>), post(operate::retain);
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
    POST "/api/v1/runs/{run}/satisfy" satisfy_run_gate Approve, "Opens a gate of a run that waits for a webhook or another system.", [], Some(form::<wire::SatisfyRequest>) => TAKEN, post(act::satisfy);
    POST "/api/v1/runs/{run}/gates/{task}/url" run_gate_url Operate, "The address of a webhook gate of a run: good for the generation it has now, once.", [], Some(form::<wire::HookRequest>) => Gives::Form(form::<wire::Hook>), post(hook::address_of_run);
    GET "/api/v1/audit" list_audit Admin, "Who did what: the newest lines of the trail, the oldest of them first; `after` gives those before a page.", [SINCE, AFTER, LIMIT], None => Gives::Form(form::<wire::Audit>), get(audit::list);
    GET "/api/v1/items" list_items Look, "Items of the work graph.", ITEMS, None => ITEM_PAGE, get(item::list);
    POST "/api/v1/items" add_item Operate, "Makes an item.", [], Some(form::<wire::AddItem>) => DONE, post(item::add);
    GET "/api/v1/items/ready" ready_items Look, "What somebody can begin with, the most urgent first.", ITEMS, None => ITEM_PAGE, get(item::ready);
    GET "/api/v1/items/blocked" blocked_items Look, "What something is in the way of, with all of it.", ITEMS, None => ITEM_PAGE, get(item::blocked);
    GET "/api/v1/items/graph" items_graph Look, "All items that are not over, drawn.", [FORM], None => Gives::Picture, get(item::graph);
    GET "/api/v1/items/stats" item_stats Look, "How many items stand where.", [], None => Gives::Form(form::<wire::ItemStats>), get(item::stats);
    GET "/api/v1/items/cycles" item_cycles Look, "Cycles among dependencies; there are none unless something is broken.", [], None => Gives::Form(form::<wire::ItemCycles>), get(item::cycles);
    GET "/api/v1/items/export" export_items Look, "All items, gates and dependencies, one JSON line each, as `edgewise import` takes them.", [], None => Gives::Text, get(item::export);
    POST "/api/v1/items/import" import_items Operate, "Brings items in from elsewhere, all of them or none: Beads, Quarry, issues of GitHub; what was exported, and what others did, only for an admin.", [], Some(form::<wire::ImportItems>) => Gives::Form(form::<wire::Imported>), post(import::import);
    POST "/api/v1/items/batch" batch_items Operate, "Several operations as one: all of them, or none.", [], Some(form::<wire::BatchItems>) => Gives::Form(form::<wire::BatchDone>), post(item::batch);
    POST "/api/v1/items/claim-next" claim_next_item Operate, "The first ready item of those that fit is the caller's for a while.", [], Some(form::<wire::ClaimNextItem>) => DONE, post(item::claim_next);
    GET "/api/v1/items/{item}" show_item Look, "An item with what it is bound to; its `ETag` is what `If-Match` takes.", [], None => Gives::Form(form::<wire::ItemShown>), get(item::show);
    PATCH "/api/v1/items/{item}" update_item Operate, "Changes an item.", [], Some(form::<wire::ItemChange>) => DONE, patch(item::update);
    GET "/api/v1/items/{item}/why" why_item Look, "All that is in the way of an item, down to who or what can help.", [], None => Gives::Form(form::<wire::ItemReason>), get(item::why);
    GET "/api/v1/items/{item}/tree" item_tree Look, "What an item waits for, and what waits for it.", [DEPTH, DIRECTION], None => Gives::Form(form::<wire::ItemTree>), get(item::tree);
    GET "/api/v1/items/{item}/graph" item_graph Look, "An item with all that it waits for and that waits for it, drawn.", [FORM], None => Gives::Picture, get(item::graph_of);
    GET "/api/v1/items/{item}/thread" item_thread Look, "A message and what it was answered.", [AFTER, LIMIT], None => ITEM_PAGE, get(item::thread);
    GET "/api/v1/items/{item}/history" item_history Look, "Everything that happened to an item or a gate.", [AFTER, LIMIT], None => Gives::Form(form::<wire::ItemHistory>), get(item::history);
    POST "/api/v1/items/{item}/close" close_item Operate, "Closes an item.", [], Some(form::<wire::CloseItem>) => DONE, post(item::close);
    POST "/api/v1/items/{item}/reopen" reopen_item Operate, "Opens a closed item again.", [], Some(form::<wire::ReopenItem>) => DONE, post(item::reopen);
    POST "/api/v1/items/{item}/delete" delete_item Operate, "Deletes an item: a tombstone and its history stay.", [], ITEM_ACT => DONE, post(item::delete);
    POST "/api/v1/items/{item}/move" move_item Operate, "Gives an item another parent, or none.", [], Some(form::<wire::MoveItem>) => DONE, post(item::relocate);
    POST "/api/v1/items/{item}/claim" claim_item Operate, "An item is the caller's for a while.", [], Some(form::<wire::ClaimItem>) => DONE, post(item::claim);
    POST "/api/v1/items/{item}/extend" extend_item Operate, "A claim lasts longer.", [], Some(form::<wire::ExtendClaim>) => DONE, post(item::extend);
    POST "/api/v1/items/{item}/release" release_item Operate, "Gives a claim back.", [], Some(form::<wire::ReleaseItem>) => DONE, post(item::release);
    POST "/api/v1/items/{item}/depend" add_dependency Operate, "An item waits for something, or has to do with it; a cycle is refused with its path.", [], Some(form::<wire::AddDependency>) => DONE, post(item::depend);
    POST "/api/v1/items/{item}/undepend" remove_dependency Operate, "Takes dependencies away.", [], Some(form::<wire::RemoveDependency>) => DONE, post(item::undepend);
    GET "/api/v1/gates" list_gates Look, "The gates that wait, of runs and of items.", [ENDED, AFTER, LIMIT], None => Gives::Form(form::<wire::Gates>), get(gate::list);
    POST "/api/v1/gates" make_gate Operate, "Makes a gate for items to wait for.", [], Some(form::<wire::MakeGate>) => DONE, post(item::make_gate);
    POST "/api/v1/gates/external" report_external Approve, "Another system says that something is so: the gates that wait for it open.", [], Some(form::<wire::ExternalReport>) => Gives::Form(form::<wire::Opened>), post(hook::report);
    GET "/api/v1/gates/{gate}" show_gate Look, "A gate of items, with who said what and what came from outside.", [], None => Gives::Form(form::<wire::GateShown>), get(gate::show);
    POST "/api/v1/gates/{gate}/approve" approve_item_gate Approve, "Says yes to a gate of items.", [], ITEM_ACT => DONE, post(item::approve);
    POST "/api/v1/gates/{gate}/withdraw" withdraw_item_gate Approve, "Takes a yes back.", [], ITEM_ACT => DONE, post(item::withdraw);
    POST "/api/v1/gates/{gate}/reject" reject_item_gate Approve, "Says no to a gate of items.", [], ITEM_ACT => DONE, post(item::reject);
    POST "/api/v1/gates/{gate}/satisfy" satisfy_gate Approve, "Opens a gate that waits for another system or a webhook.", [], ITEM_ACT => DONE, post(item::satisfy);
    POST "/api/v1/gates/{gate}/url" gate_url Operate, "The address of a webhook gate: whoever knows it can open the gate, once.", [], Some(form::<wire::HookRequest>) => Gives::Form(form::<wire::Hook>), post(hook::address);
    POST "/api/v1/hooks/{hook}" deliver_hook Open, "Opens the webhook gate whose address this is; the body is kept with it, and is the output of a gate of a run.", [], Some(form::<serde_json::Value>) => Gives::Form(form::<wire::Opened>), post(hook::deliver);
    GET "/api/v1/events" workspace_events Look, "The events of the whole workspace as they are committed; `Last-Event-ID` goes on behind one.", [EVENT_TYPES, EVENT_RUN], None => Gives::Stream, get(events::of_workspace);
    GET "/api/v1/prime" prime Look, "What an agent must know to work here.", [], None => Gives::Form(form::<wire::Primer>), get(item::prime);
    POST "/api/v1/ask" ask Look, "What the command line asks of the engine; each thing that is asked needs a permission of its own.", [], Some(form::<serde_json::Map<String, serde_json::Value>>) => Gives::Json, post(ask::ask);
    POST "/api/v1/look" look Look, "What the command line reads off the store.", [], Some(form::<serde_json::Map<String, serde_json::Value>>) => Gives::Json, post(ask::look);
    GET "/api/v1/domain" list_namespaces Look, "The queues of domain events.", [], None => Gives::Form(form::<wire::Namespaces>), get(domain::namespaces);
    GET "/api/v1/domain/{namespace}" read_domain Look, "Domain events of a namespace, in order.", [PLACE, CONSUMER, LIMIT], None => Gives::Form(form::<wire::DomainEvents>), get(domain::read);
    GET "/api/v1/domain/{namespace}/events" domain_events Look, "Domain events as they happen; `Last-Event-ID` goes on behind a durable one.", [], None => Gives::Stream, get(domain::stream);
    POST "/api/v1/domain/{namespace}/ack" ack_domain Operate, "A consumer has dealt with everything up to a place.", [], Some(form::<wire::Acknowledge>) => Gives::Form(form::<wire::Acknowledged>), post(domain::acknowledge);
    POST "/api/v1/domain/{namespace}/forget" forget_consumer Operate, "Forgets a consumer that is gone: the queue waits for it no more.", [], Some(form::<wire::ForgetConsumer>) => TAKEN, post(domain::forget);
    GET "/api/v1/webhooks" list_webhooks Look, "All webhooks, without their secrets.", [AFTER, LIMIT], None => Gives::Form(form::<wire::Webhooks>), get(webhook::list);
    POST "/api/v1/webhooks" add_webhook Admin, "Makes a webhook; its secret is given once.", [], Some(form::<wire::WebhookRequest>) => Gives::Form(form::<wire::WebhookMade>), post(webhook::add);
    POST "/api/v1/webhooks/{webhook}/remove" remove_webhook Admin, "Takes a webhook away.", [], None => TAKEN, post(webhook::remove);
    POST "/api/v1/webhooks/{webhook}/rotate" rotate_webhook Admin, "Gives a webhook another secret; messages are signed with the one before too, for a day.", [], None => Gives::Form(form::<wire::WebhookMade>), post(webhook::rotate);
    GET "/api/v1/webhooks/{webhook}/dead" dead_webhook Look, "What a webhook could not be told.", [PLACE, LIMIT], None => Gives::Form(form::<wire::DeadLetters>), get(webhook::dead);
    POST "/api/v1/webhooks/{webhook}/replay" replay_webhook Operate, "Has events sent again.", [], Some(form::<wire::ReplayRequest>) => Gives::Form(form::<wire::Replayed>), post(webhook::replay);
    POST "/api/v1/work/claim" claim_work Work, "Leases of tasks, as soon as there are some.", [], Some(form::<wire::Claim>) => Gives::Form(form::<wire::Leases>), post(work::claim);
    POST "/api/v1/work/heartbeat" heartbeat_work Work, "Says that attempts are still at work.", [], Some(form::<wire::Heartbeat>) => Gives::Form(form::<wire::Beats>), post(work::heartbeat);
    POST "/api/v1/work/complete" complete_work Work, "Reports how attempts ended.", [], Some(form::<wire::Complete>) => Gives::Form(form::<wire::Completed>), post(work::complete);
    POST "/api/v1/work/release" release_work Work, "Gives leases back whose work never began.", [], Some(form::<wire::Release>) => TAKEN, post(work::release);
    GET "/api/v1/workers" list_workers Look, "All push workers, without their secrets, and how they are reached.", [], None => Gives::Form(form::<wire::Workers>), get(worker::list);
    POST "/api/v1/workers" add_worker Admin, "Makes a push worker, which is called with its tasks; its secret is given once.", [], Some(form::<wire::AddWorker>) => Gives::Form(form::<wire::WorkerSecret>), post(worker::add);
    GET "/api/v1/workers/{worker}" show_worker Look, "A push worker, and how it is reached.", [], None => Gives::Form(form::<wire::WorkerListed>), get(worker::show);
    POST "/api/v1/workers/{worker}/pause" pause_worker Admin, "Gives a push worker nothing for now; what it has goes on.", [], None => TAKEN, post(worker::pause);
    POST "/api/v1/workers/{worker}/resume" resume_worker Admin, "Gives a push worker tasks again.", [], None => TAKEN, post(worker::resume);
    POST "/api/v1/workers/{worker}/rotate" rotate_worker Admin, "Gives a push worker another secret; calls are signed with the one before too, for a day.", [], None => Gives::Form(form::<wire::WorkerSecret>), post(worker::rotate);
    POST "/api/v1/workers/{worker}/remove" remove_worker Admin, "Takes a push worker away; what it has goes on.", [], None => TAKEN, post(worker::remove);
}

/// Whether the same `Idempotency-Key` gets the first answer again. Where anybody may come, nobody's answers are kept,
/// and nothing is read before the proof in the address was looked at; `webhook-id` names a call there.
pub fn is_repeatable(route: &Route) -> bool {
    route.method == Method::POST && route.needs != Open
}

/// The router of the table: each route behind its guard.
pub fn router(app: &App) -> Router {
    let mut router = Router::new();
    for route in table() {
        // Who may only look changes nothing; what `ask` needs depends on what is asked.
        let changes = route.method != Method::GET && (route.needs != Look || route.name == "ask");
        let guarded = Guarded { app: app.clone(), route: route.name, needs: route.needs, changes };
        let mut handler = (route.handler)();
        if is_repeatable(&route) {
            handler = handler.layer(from_fn_with_state(app.clone(), once));
        }
        router = router.route(route.path, handler.layer(from_fn_with_state(guarded, guard)));
    }
    router.fallback(nowhere).method_not_allowed_fallback(otherwise).with_state(app.clone())
}

/// Answers where no address is.
pub(crate) async fn nowhere(request: Request) -> impl IntoResponse {
    let message = format!("there is nothing at {}; /api/openapi.json lists all addresses", request.uri().path());
    Problem(Error::not_found("no_route", message))
}

async fn otherwise(request: Request) -> impl IntoResponse {
    let message = format!("{} is not asked with {}; see /api/openapi.json", request.uri().path(), request.method());
    Problem(Error::invalid("bad_method", message))
}
