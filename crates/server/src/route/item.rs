//! Items of the work graph. Whatever is done to one is one operation of the engine: its name, the item, and what the
//! body says; `If-Match` puts an expectation before it, in the same commit.

mod part;

use super::insight::{GraphQuery, drawn};
use crate::app::App;
use crate::auth::{Principal, Role};
use crate::body::Json;
use crate::conditional::{self, Expected};
use crate::idempotency::OwnKey;
use crate::page::{Page, PageQuery, paged};
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use edgewise_client::wire;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::{Direction, Filter, Item, Op, Work};
use edgewise_core::{Error, Result as Done};
use edgewise_engine::facts::{picture::sketch, primer::Primed, record, spelled, work as facts};
use edgewise_engine::work::{ItemView, Look};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Deepest tree that is shown.
const DEPTH: usize = 100;

macro_rules! on_item {
    ($($name:ident $op:literal $form:ident),* $(,)?) => {$(
        pub async fn $name(
            State(app): State<App>,
            Extension(who): Extension<Principal>,
            Path(item): Path<String>,
            expected: Expected,
            OwnKey(key): OwnKey,
            Json(body): Json<wire::$form>,
        ) -> Result<Json<Value>> {
            act(&app, (who, key), (expected, item), $op, &body).await
        }
    )*};
}

on_item!(
    close "close" CloseItem,
    reopen "reopen" ReopenItem,
    delete "delete" ItemAct,
    relocate "move" MoveItem,
    claim "claim" ClaimItem,
    extend "extend" ExtendClaim,
    release "release" ReleaseItem,
    depend "depend" AddDependency,
    undepend "undepend" RemoveDependency,
    approve "approve" ItemAct,
    withdraw "withdraw" ItemAct,
    reject "reject" ItemAct,
    satisfy "satisfy" ItemAct,
);

pub async fn update(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(item): Path<String>,
    expected: Expected,
    OwnKey(key): OwnKey,
    Json(change): Json<wire::ItemChange>,
) -> Result<Json<Value>> {
    act(&app, (who, key), (expected, item), "update", &json!({ "change": change })).await
}

pub async fn add(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    OwnKey(key): OwnKey,
    Json(body): Json<wire::AddItem>,
) -> Result<Json<Value>> {
    last(&app, (who, key), vec![operation("add", fields(&body)?)?]).await
}

pub async fn claim_next(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Json(body): Json<wire::ClaimNextItem>,
) -> Result<Json<Value>> {
    last(&app, (who, None), vec![operation("claim_next", fields(&body)?)?]).await
}

pub async fn make_gate(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    OwnKey(key): OwnKey,
    Json(body): Json<wire::MakeGate>,
) -> Result<Json<Value>> {
    last(&app, (who, key), vec![operation("make_gate", fields(&body)?)?]).await
}

pub async fn batch(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    OwnKey(key): OwnKey,
    Json(asked): Json<wire::BatchItems>,
) -> Result<Json<Value>> {
    let read = |(n, op): (usize, Map<String, Value>)| {
        read(op).map_err(|error| {
            let code = if error.code == "unknown_dependency_type" { error.code } else { "bad_operation" };
            Error::invalid(code, format!("operation {}: {}; nothing was written", n + 1, error.message))
        })
    };
    let ops = asked.ops.into_iter().enumerate().map(read).collect::<Done<Vec<Op>>>()?;
    check_authors(&ops, &who)?;
    let key = asked.key.or(key.filter(|_| can_be_forgotten(&ops)));
    let done = app.engine().work(ops, who.name, key).await?;
    Ok(Json(told(&json!({ "done": done }))))
}

/// One operation on one item, or on one gate.
async fn act(
    app: &App,
    who: (Principal, Option<String>),
    (expected, item): (Expected, String),
    op: &str,
    body: &impl Serialize,
) -> Result<Json<Value>> {
    let mut asked = fields(body)?;
    asked.insert("id".into(), item.clone().into());
    let ops: Vec<Op> = expected.guard(&item).into_iter().chain([operation(op, asked)?]).collect();
    last(app, who, ops).await
}

/// What the last of some operations came to; the key of the request keeps them from being done twice.
async fn last(app: &App, (who, key): (Principal, Option<String>), ops: Vec<Op>) -> Result<Json<Value>> {
    let key = key.filter(|_| can_be_forgotten(&ops));
    let done = app.engine().work(ops, who.name, key).await?;
    Ok(Json(told(&json!(done.last()))))
}

/// Whether it does no harm that what operations came to is forgotten at a restart, and only said to be so already. The
/// token of a claim would be lost with it: a claim is made again instead, and the first one ends with its lease.
pub(super) fn can_be_forgotten(ops: &[Op]) -> bool {
    !ops.iter().any(|op| matches!(op, Op::Claim { .. } | Op::ClaimNext { .. } | Op::Extend { .. }))
}

/// Who made an item or approved a gate elsewhere is believed of those who bring items in for everybody.
pub(super) fn check_authors(ops: &[Op], who: &Principal) -> Done<()> {
    let other = |op: &Op| match op {
        Op::Add(add) => add.created_by.as_ref().is_some_and(|by| *by != who.name),
        Op::MakeGate { approvals, .. } => !approvals.is_empty(),
        _ => false,
    };
    if who.role == Role::Admin || !ops.iter().any(other) {
        return Ok(());
    }
    let message = format!(
        "`createdBy` or `approvals` speaks for somebody else than {}: only an admin brings in what others did",
        who.name
    );
    Err(Error::denied("not_yourself", message))
}

fn fields(body: &impl Serialize) -> Done<Map<String, Value>> {
    facts::object(body)
}

fn operation(op: &str, mut asked: Map<String, Value>) -> Done<Op> {
    asked.insert("op".into(), op.into());
    read(asked)
}

/// An operation as programs write it.
fn read(asked: Map<String, Value>) -> Done<Op> {
    let mut value = Value::Object(asked);
    spelled::counted(&mut value)?;
    Op::read(value).map_err(|error| match error.code {
        "bad_operation" => {
            Error::invalid("bad_body", format!("the body is not what this address takes: {}", error.message))
        }
        _ => error,
    })
}

fn told(value: &Value) -> Value {
    let mut value = value.clone();
    spelled::spelled(&mut value);
    value
}

/// Looks at the work graph as it is after everything that was asked before.
pub(super) async fn look<T: Send + 'static>(
    app: &App,
    look: impl FnOnce(&Work, Time) -> Done<T> + Send + 'static,
) -> Result<T> {
    Ok(app.engine().with_work(look).await??)
}

/// What a list of items is asked with.
type Asked = Query<BTreeMap<String, String>>;

pub async fn list(State(app): State<App>, Query(asked): Asked) -> Result<Json<Value>> {
    listed(&app, asked, |work, _, filter| work.list(filter)).await
}

pub async fn blocked(State(app): State<App>, Query(asked): Asked) -> Result<Json<Value>> {
    listed(&app, asked, Work::blocked).await
}

pub async fn ready(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Query(asked): Asked,
) -> Result<Json<Value>> {
    listed(&app, asked, move |work, now, filter| work.ready(now, filter, Some(&who.name))).await
}

async fn listed<F>(app: &App, mut asked: BTreeMap<String, String>, which: F) -> Result<Json<Value>>
where
    F: for<'w> FnOnce(&'w Work, Time, &Filter) -> Done<Vec<&'w Item>> + Send + 'static,
{
    let page = Page::taken(&mut asked)?;
    let filter = filter(asked)?;
    let shown = look(app, move |work, now| {
        let (items, next) = part::part(&page, work, filter.sort, which(work, now, &filter)?)?;
        let items = items.into_iter().map(|item| facts::item(&ItemView::of(work, now, item)));
        Ok(wire::Items { items: items.collect::<Done<_>>()?, next })
    });
    Ok(Json(json!(shown.await?)))
}

/// A filter out of a query: lists have commas between their words.
fn filter(asked: BTreeMap<String, String>) -> Done<Filter> {
    let mut fields = Map::new();
    for (key, text) in asked {
        let words = text.split(',').map(str::trim);
        let value = match key.as_str() {
            "kinds" | "status" | "type" | "tags" | "anyTags" | "noTags" => words.map(Value::from).collect(),
            "priority" => words.map(|word| word.parse::<u8>().map_or(word.into(), Value::from)).collect(),
            "unassigned" | "ephemeral" => text.parse::<bool>().map_or(text.into(), Value::from),
            _ => text.into(),
        };
        fields.insert(key, value);
    }
    let mut value = Value::Object(fields);
    spelled::counted(&mut value)?;
    serde_json::from_value(value)
        .map_err(|error| Error::invalid("bad_parameter", format!("the query cannot be read: {error}")))
}

pub async fn show(State(app): State<App>, Path(item): Path<String>, headers: HeaderMap) -> Result<Response> {
    let (version, shown) = look(&app, move |work, now| {
        let id = work.resolve(&item)?;
        let Some(item) = work.item(id.as_str()) else {
            let message = format!("{id} is a gate, not an item: GET /api/v1/gates/{id} shows it");
            return Err(Error::not_found("item_not_found", message));
        };
        Ok((ItemView::whole(work, now, item).version(), facts::whole(work, now, item)?))
    })
    .await?;
    Ok(conditional::answer(&headers, &version, shown)?)
}

pub async fn why(State(app): State<App>, Path(item): Path<String>) -> Result<Json<Value>> {
    let (reason, now) = look(&app, move |work, now| Ok((work.why(work.resolve(&item)?.as_str(), now), now))).await?;
    let set = app.queues();
    let reason = app.readers().look(move |reader| reader.follow(reason, &set, now)).await?;
    Ok(Json(told(&json!(reason))))
}

/// How much of a tree is wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeQuery {
    depth: Option<usize>,
    direction: Option<Way>,
}

/// Which way a tree goes.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Way {
    Down,
    Up,
    Both,
}

pub async fn tree(
    State(app): State<App>,
    Path(item): Path<String>,
    Query(asked): Query<TreeQuery>,
) -> Result<Json<Value>> {
    let (depth, way) = (asked.depth.unwrap_or(DEPTH).min(DEPTH), asked.direction.unwrap_or(Way::Both));
    let drawn = look(&app, move |work, _| {
        let id = work.resolve(&item)?;
        let mut both = Map::new();
        for (name, one, direction) in
            [("dependencies", Way::Down, Direction::Dependencies), ("dependents", Way::Up, Direction::Dependents)]
        {
            if way == Way::Both || way == one {
                both.insert(name.into(), json!(work.tree(id.as_str(), direction, depth)));
            }
        }
        Ok(Value::Object(both))
    });
    Ok(Json(drawn.await?))
}

/// All items that are not over, drawn.
pub async fn graph(State(app): State<App>, Query(asked): Query<GraphQuery>) -> Result<Response> {
    has_no_past(&asked)?;
    Ok(drawn(&look(&app, move |work, now| Ok(sketch(work, now, None).0)).await?, &asked))
}

/// An item with all that it waits for and that waits for it, drawn.
pub async fn graph_of(
    State(app): State<App>,
    Path(item): Path<String>,
    Query(asked): Query<GraphQuery>,
) -> Result<Response> {
    has_no_past(&asked)?;
    let sketch = look(&app, move |work, now| Ok(sketch(work, now, Some(&work.resolve(&item)?)).0));
    Ok(drawn(&sketch.await?, &asked))
}

fn has_no_past(asked: &GraphQuery) -> Done<()> {
    let message = "`at` looks back into a run: the history of an item tells what happened to it";
    if asked.at.is_some() { Err(Error::invalid("item_has_no_past", message)) } else { Ok(()) }
}

pub async fn thread(
    State(app): State<App>,
    Path(item): Path<String>,
    Query(asked): Query<PageQuery>,
) -> Result<Json<Value>> {
    let page = asked.page()?;
    let thread = look(&app, move |work, now| {
        let (items, next) = part::oldest(&page, work.thread(work.resolve(&item)?.as_str()))?;
        let items = items.into_iter().map(|item| facts::item(&ItemView::of(work, now, item)));
        Ok(wire::Items { items: items.collect::<Done<_>>()?, next })
    });
    Ok(Json(json!(thread.await?)))
}

pub async fn history(
    State(app): State<App>,
    Path(item): Path<String>,
    Query(asked): Query<PageQuery>,
) -> Result<Json<Value>> {
    let mut shown = told(&app.engine().look(Look::History { id: item }).await?);
    let page = asked.page()?;
    // Nothing of it ever goes: a place in it stays what it is.
    paged(&mut shown, "history", |all| {
        let (part, next) = page.of(all.into_iter().enumerate().collect(), |(place, _)| *place)?;
        Ok((part.into_iter().map(|(_, note)| note).collect(), next))
    })?;
    Ok(Json(shown))
}

pub async fn cycles(State(app): State<App>) -> Result<Json<Value>> {
    Ok(Json(app.engine().look(Look::Cycles).await?))
}

pub async fn stats(State(app): State<App>) -> Result<Json<Value>> {
    Ok(Json(look(&app, |work, now| Ok(json!(work.stats(now)))).await?))
}

pub async fn prime(State(app): State<App>, Extension(who): Extension<Principal>) -> Result<Json<Value>> {
    let who: Name = who.name;
    Ok(Json(look(&app, move |work, now| Ok(json!(Primed::of(work, now, who)))).await?))
}

/// One JSON line for each item, gate and dependency.
pub async fn export(State(app): State<App>) -> Result<Response> {
    let lines = look(&app, |work, _| record::lines(work)).await?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
