//! What each tool does: the same operations and the same looks as the commands.

use crate::args::Meant;
use crate::command::Context;
use crate::command::work::board::{self, Board};
use crate::command::work::{act, facts, last, spelled, unknown, why as reasons};
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::id::Token;
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_core::work::part::Extent;
use edgewise_core::work::{
    Add, Change, Close, CloseOp, Depend, DependencyKind, Done, Filter, ItemId, Op, TaskType, When,
};
use edgewise_engine::work::{GateView, ItemView};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How long a claim lasts without a heartbeat, unless the agent says.
const LEASE: Millis = Millis(30 * 60_000);
/// Most items that are listed unless the agent says.
const LIMIT: usize = 10;

type Tokens = BTreeMap<ItemId, Token>;

/// Does what a tool is for.
pub(super) fn call(name: &str, mut arguments: Value, tokens: &mut Tokens, context: &mut Context<'_>) -> Result<Value> {
    spelled::counted(&mut arguments)?;
    last::typed_in(&context.config.dir.value, &mut arguments)?;
    match name {
        "ready" => ready(read(arguments)?, tokens, context),
        "show" => show(&read::<One>(arguments)?.id, context),
        "add" => one(&Op::Add(Box::new(read::<Add>(arguments)?)), context),
        "update" => update(arguments, context),
        "close" => close(read(arguments)?, tokens, context),
        "dep" => {
            DependencyKind::check_in(&arguments)?;
            dep(read(arguments)?, context)
        }
        "why" => why(&read::<One>(arguments)?.id, context),
        "claim" => claim(&read(arguments)?, tokens, context),
        other => Err(Problem::new(Kind::NotFound, "no_such_tool", format!("there is no tool {other:?}"))),
    }
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T> {
    serde_json::from_value(arguments).map_err(|error| {
        Problem::new(Kind::Invalid, "bad_arguments", error.to_string()).next("look at the tool's schema")
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    id: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Ready {
    claim: bool,
    limit: Option<usize>,
    #[serde(rename = "type")]
    task_type: Option<TaskType>,
    assignee: Option<Name>,
    unassigned: bool,
    tags: BTreeSet<Name>,
    plan: Option<String>,
}

fn ready(asked: Ready, tokens: &mut Tokens, context: &mut Context<'_>) -> Result<Value> {
    let filter = Filter {
        limit: Some(asked.limit.unwrap_or(LIMIT)),
        task_type: asked.task_type.into_iter().collect(),
        assignee: asked.assignee,
        unassigned: asked.unassigned,
        tags: asked.tags,
        plan: asked.plan,
        ..Filter::default()
    };
    if asked.claim {
        return taken(&Op::ClaimNext { filter: Box::new(filter), lease: LEASE }, tokens, context);
    }
    let (views, _) = board::ready(&filter, context)?;
    let items: Vec<Value> = views.iter().map(brief).collect::<Result<_>>()?;
    Ok(json!({ "ready": items }))
}

/// An item without what an agent does not need to choose one.
fn brief(view: &ItemView) -> Result<Value> {
    const KEPT: [&str; 9] =
        ["id", "title", "priority", "effectivePriority", "type", "assignee", "tags", "deadline", "parent"];
    let mut value = facts::item(view)?;
    if let Some(object) = value.as_object_mut() {
        object.retain(|key, _| KEPT.contains(&key.as_str()));
    }
    Ok(value)
}

fn show(id: &str, context: &Context<'_>) -> Result<Value> {
    let (board, id) = Board::about(id, Extent::Bonds, context)?;
    let Some(item) = board.work.item(id.as_str()) else {
        return match board.work.gate(id.as_str()) {
            Some(gate) => Ok(facts::gate(&GateView::of(&board.work, gate))?),
            None => Err(Problem::new(Kind::NotFound, "item_not_found", format!("there is no {id}"))),
        };
    };
    let mut value = facts::item(&board.view(item))?;
    let (needs, needed, children) =
        (board.needs(id.as_str()), board.needed_by(id.as_str()), board.children(id.as_str()));
    let mut bonds = json!({ "dependencies": needs, "dependents": needed, "children": children });
    spelled::spelled(&mut bonds);
    if let (Some(object), Value::Object(bonds)) = (value.as_object_mut(), bonds) {
        object.extend(bonds);
    }
    Ok(value)
}

fn why(id: &str, context: &Context<'_>) -> Result<Value> {
    match board::found(&Meant::parse(id)?, None, board::Asks::Reasons, context)? {
        board::Found::Item(board, id) => reasons::told(&board, &id, context),
        board::Found::Run(run, task) => crate::command::why::told(&run, task, context),
    }
}

/// One operation, and what came of it.
fn one(op: &Op, context: &mut Context<'_>) -> Result<Value> {
    let done = act::act(std::slice::from_ref(op), None, context)?;
    let warnings = unknown::warnings(std::slice::from_ref(op), &done, context).concat();
    done.first().map_or_else(|| Ok(json!({})), |done| act::value(op, done, &warnings))
}

fn update(mut arguments: Value, context: &mut Context<'_>) -> Result<Value> {
    let id = arguments.as_object_mut().and_then(|object| object.remove("id"));
    let Some(Value::String(id)) = id else {
        return Err(
            Problem::new(Kind::Invalid, "bad_arguments", "`id` says which item").next("look at the tool's schema")
        );
    };
    let change: Change = read(arguments)?;
    one(&Op::Update { id, change: Box::new(change) }, context)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CloseCall {
    id: String,
    #[serde(default)]
    how: Close,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    force: bool,
    #[serde(default)]
    claim_next: bool,
}

fn close(asked: CloseCall, tokens: &mut Tokens, context: &mut Context<'_>) -> Result<Value> {
    let board = Board::open(context)?;
    let id = board.find(&asked.id)?;
    let token = tokens.get(&id).copied();
    let mut ops =
        vec![Op::Close(CloseOp { id: id.to_string(), how: asked.how, force: asked.force, token, why: asked.reason })];
    if asked.claim_next {
        ops.push(Op::ClaimNext { filter: Box::default(), lease: LEASE });
    }
    let done = act::act(&ops, None, context)?;
    tokens.remove(&id);
    let mut told = json!({ "closed": said(&ops, &done, 0)? });
    if asked.claim_next {
        told["next"] = remember(&ops[1], done.get(1), tokens, context)?;
    }
    Ok(told)
}

fn said(ops: &[Op], done: &[Done], n: usize) -> Result<Value> {
    match (ops.get(n), done.get(n)) {
        (Some(op), Some(done)) => act::value(op, done, &[]),
        _ => Ok(Value::Null),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DepCall {
    id: String,
    on: String,
    #[serde(default, rename = "type")]
    kind: Option<DependencyKind>,
    #[serde(default)]
    when: When,
    #[serde(default)]
    metadata: Option<Value>,
    #[serde(default)]
    remove: bool,
}

fn dep(asked: DepCall, context: &mut Context<'_>) -> Result<Value> {
    let op = match asked.remove {
        true => Op::Undepend { id: asked.id, on: Some(asked.on), kind: asked.kind },
        false => Op::Depend(Box::new(Depend {
            id: asked.id,
            on: Some(asked.on),
            kind: asked.kind,
            when: asked.when,
            gate: None,
            metadata: asked.metadata,
        })),
    };
    one(&op, context)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimCall {
    id: String,
    #[serde(default)]
    lease: Option<Millis>,
    #[serde(default)]
    release: bool,
}

fn claim(asked: &ClaimCall, tokens: &mut Tokens, context: &mut Context<'_>) -> Result<Value> {
    let board = Board::open(context)?;
    let id = board.find(&asked.id)?;
    let lease = asked.lease.unwrap_or(LEASE);
    match (asked.release, tokens.get(&id).copied()) {
        (true, token) => {
            let told = one(&Op::Release { id: id.to_string(), token }, context)?;
            tokens.remove(&id);
            Ok(told)
        }
        (false, Some(token)) => one(&Op::Extend { id: id.to_string(), token, lease }, context),
        (false, None) => taken(&Op::Claim { id: id.to_string(), lease }, tokens, context),
    }
}

fn taken(op: &Op, tokens: &mut Tokens, context: &mut Context<'_>) -> Result<Value> {
    let done = act::act(std::slice::from_ref(op), None, context)?;
    remember(op, done.first(), tokens, context)
}

/// The item that was taken, with all that is to be done. Its token stays here.
fn remember(op: &Op, done: Option<&Done>, tokens: &mut Tokens, context: &Context<'_>) -> Result<Value> {
    let Some((id, done)) = done.and_then(|done| Some((done.id.clone()?, done))) else {
        return Ok(json!({ "says": "nothing is ready" }));
    };
    tokens.extend(done.token.map(|token| (id.clone(), token)));
    let mut value = act::value(op, done, &[])?;
    value["item"] = show(id.as_str(), context)?;
    if let Some(object) = value.as_object_mut() {
        object.remove("token");
    }
    Ok(value)
}
