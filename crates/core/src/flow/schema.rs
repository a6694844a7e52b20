//! The schema of flow files, for editors: JSON Schema, draft 2020-12.
//!
//! Each level of a flow is one definition, and its keys are those that the reader of flows knows: a test holds the
//! two beside each other. A schema can only say what a value looks like; what it means `edgewise check` says.

mod cases;

pub use cases::case_schema;

use super::after::ENDS;
use super::declare::INPUT;
use super::gates::{APPROVAL, ESCALATE, EXTERNAL, GATE};
use super::http::HTTP;
use super::item::ITEM;
use super::on::{ON, SCHEDULE, WEBHOOK};
use super::policy::{BACKOFF, KINDS, RETRY, TIMEOUT};
use super::publish::{EMIT, PUBLISH};
use super::read::Keys;
use super::share::LIMIT;
use super::task::TASK;
use super::{DEFAULTS, FLOW};
use crate::input::InputType;
use crate::limits;
use crate::plan::{Condition, Delivery, Identity, Method};
use crate::schedule::Overlap;
use serde_json::{Map, Value, json};

/// A level of a flow: its name in the schema, the keys that are known there, and what each of them looks like.
type Level = (&'static str, &'static Keys, fn() -> Vec<(&'static str, Value)>);

const LEVELS: [Level; 19] = [
    ("flow", &FLOW, flow),
    ("defaults", &DEFAULTS, defaults),
    ("input", &INPUT, input),
    ("task", &TASK, task),
    ("retry", &RETRY, retry),
    ("backoff", &BACKOFF, backoff),
    ("timeout", &TIMEOUT, timeout),
    ("http", &HTTP, http),
    ("item", &ITEM, item),
    ("limit", &LIMIT, limit),
    ("publish", &PUBLISH, publish),
    ("emit", &EMIT, emit),
    ("gate", &GATE, gate),
    ("approval", &APPROVAL, approval),
    ("escalate", &ESCALATE, escalate),
    ("external", &EXTERNAL, external),
    ("on", &ON, on),
    ("schedule", &SCHEDULE, schedule),
    ("webhook", &WEBHOOK, webhook),
];

/// The schema of a flow written as YAML.
pub fn schema() -> Value {
    let mut schema = document(&LEVELS, "flow", "A flow of Edgewise");
    schema["description"] = json!("A graph of tasks. `edgewise check FILE` says all that is wrong with one.");
    schema["$defs"]["flow"]["required"] = json!(["flow", "tasks"]);
    schema
}

/// A schema of these levels, of which `root` is the outermost.
fn document(levels: &[Level], root: &str, title: &str) -> Value {
    let mut defs = Map::new();
    for (name, _, shapes) in levels {
        let properties: Map<String, Value> = shapes().into_iter().map(|(key, shape)| (key.to_owned(), shape)).collect();
        let level = json!({ "type": "object", "additionalProperties": false, "properties": properties });
        defs.insert((*name).to_owned(), level);
    }
    defs.insert("name".into(), name());
    defs.insert("duration".into(), duration());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "$ref": format!("#/$defs/{root}"),
        "$defs": defs,
    })
}

fn name() -> Value {
    let pattern = "^[A-Za-z0-9_./-]+$";
    json!({ "type": "string", "minLength": 1, "maxLength": limits::NAME_BYTES, "pattern": pattern })
}

fn duration() -> Value {
    let pattern = "^([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$";
    json!({ "type": "string", "minLength": 2, "pattern": pattern, "examples": ["250ms", "30s", "1h30m", "2d"] })
}

fn of(level: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{level}") })
}

/// A definition, with what it is for here.
fn about(words: &str, mut shape: Value) -> Value {
    shape["description"] = json!(words);
    shape
}

fn text(words: &str) -> Value {
    json!({ "type": "string", "description": words })
}

fn any(words: &str) -> Value {
    json!({ "description": words })
}

fn either(words: &str, shapes: &[Value]) -> Value {
    json!({ "description": words, "anyOf": shapes })
}

fn map_of(words: &str, shape: &Value) -> Value {
    json!({ "description": words, "type": "object", "additionalProperties": shape })
}

fn word_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn names(words: &str) -> Value {
    json!({ "description": words, "type": "array", "items": { "type": "string" } })
}

/// What becomes a text: numbers stay as they are written.
fn scalar() -> Value {
    json!({ "type": ["string", "number", "boolean", "null"] })
}

fn flow() -> Vec<(&'static str, Value)> {
    vec![
        ("flow", about("What the flow is called", of("name"))),
        ("description", text("For people")),
        ("namespace", about("Where its runs belong; the flow's name if absent", of("name"))),
        ("labels", map_of("Labels of every run, to search by", &json!({ "type": "string" }))),
        ("identity", {
            let words: Vec<&str> = Identity::ALL.iter().map(|(word, _)| *word).collect();
            about("When two starts are the same run: never, or with the same plan and input", word_of(&words))
        }),
        ("inputs", map_of("What a run must or may be given", &of("input"))),
        ("secrets", names("What scripts, actions and requests are given without anybody seeing it, by name")),
        ("let", json!({ "type": "object", "description": "Named values; each may use those above it" })),
        ("defaults", about("What holds for every task that does not say otherwise", of("defaults"))),
        ("tasks", {
            let mut tasks = map_of("The tasks by their names", &of("task"));
            tasks["minProperties"] = json!(1);
            tasks
        }),
        ("on_failure", {
            let words = "What a failure does to the rest: go on, cancel it, or hold until somebody decides";
            about(words, word_of(&["continue", "fail_fast", "hold"]))
        }),
        ("on", about("What begins it by itself, once it is registered", of("on"))),
        ("output", any("The output of the run, with `${{ … }}`; the outputs of its last tasks if absent")),
        ("queue", about("Where its tasks wait for workers", of("name"))),
        ("priority", priority()),
        ("publish", published("What the outside world is told when a run ends")),
    ]
}

/// Domain events, by their names or with all that can be said of them.
fn published(words: &str) -> Value {
    json!({ "description": words, "type": "array", "items": { "anyOf": [of("name"), of("publish")] } })
}

fn delivery() -> Value {
    let words: Vec<&str> = Delivery::ALL.iter().map(|(word, _)| *word).collect();
    about("How it travels: to whoever listens now, through a queue, or both", word_of(&words))
}

fn publish() -> Vec<(&'static str, Value)> {
    let words: Vec<&str> = Condition::ALL.iter().map(|(word, _)| *word).collect();
    vec![
        ("name", about("What consumers see as its type", of("name"))),
        ("condition", about("When it is told; on success if absent", word_of(&words))),
        ("delivery", delivery()),
        ("payload", any("What is told, with `${{ … }}`; the output if absent")),
    ]
}

fn emit() -> Vec<(&'static str, Value)> {
    vec![
        ("name", about("What consumers see as its type", of("name"))),
        ("delivery", delivery()),
        ("payload", any("What is told, with `${{ … }}`; also the task's output")),
    ]
}

fn defaults() -> Vec<(&'static str, Value)> {
    vec![
        ("retry", attempts("How attempts follow each other")),
        ("timeout", bounds("How long an attempt may take, or several bounds")),
        ("env", map_of("Variables of every command", &scalar())),
        ("queue", about("Where tasks wait for workers", of("name"))),
        ("priority", priority()),
        ("limit", about("What is not done too much of at once", of("limit"))),
    ]
}

fn input() -> Vec<(&'static str, Value)> {
    let types: Vec<&str> = InputType::ALL.iter().map(|(word, _)| *word).collect();
    vec![
        ("type", about("What may be given", word_of(&types))),
        ("required", json!({ "type": "boolean", "description": "Whether a run cannot start without it" })),
        ("default", any("What it is if nobody gives it")),
        ("pattern", text("What a text that is given must fit: a regular expression as RE2 reads it")),
        ("description", text("For people")),
    ]
}

fn task() -> Vec<(&'static str, Value)> {
    let expression = |words: &str| either(words, &[json!({ "type": "string" }), json!({ "type": "boolean" })]);
    let each = [json!({ "type": "string" }), json!({ "type": "array" })];
    vec![
        ("after", after()),
        ("join", either("How many of the tasks it waits for are enough", &[word_of(&["all", "any"]), whole(1, None)])),
        ("when", expression("An expression without `${{ }}`: the task is skipped if it is false")),
        ("each", either("One task for each item: a list, or an expression that comes to one", &each)),
        ("as", text("What the item is called; `item` if absent")),
        ("tolerate", about("How many items may fail", whole(0, None))),
        ("fail_fast", json!({ "type": "boolean", "description": "Whether a failure too many stops the other items" })),
        ("run", text("A script for `sh`; it is given values with `env`")),
        ("env", map_of("Variables of the script, with `${{ … }}`", &scalar())),
        ("output", about("How what the script prints is read", word_of(&["text", "json", "lines"]))),
        ("action", about("What a worker does", of("name"))),
        ("with", any("What the worker or the flow is given, with `${{ … }}`")),
        ("flow", about("A flow that is run as a run of its own", of("name"))),
        ("http", either("A request over HTTP; its response is the output", &[json!({ "type": "string" }), of("http")])),
        ("gate", about("A wait for time or for people", of("gate"))),
        ("item", either("Work of a person or an agent, who closes it", &[json!({ "type": "string" }), of("item")])),
        ("emit", either("A domain event that is told when the flow comes here", &[of("name"), of("emit")])),
        ("publish", published("What the outside world is told when the task, or an attempt of it, ends")),
        ("retry", attempts("How attempts follow each other")),
        ("timeout", bounds("How long an attempt may take, or several bounds")),
        ("queue", about("Where it waits for a worker", of("name"))),
        ("priority", priority()),
        ("limit", about("What is not done too much of at once", of("limit"))),
    ]
}

fn priority() -> Value {
    let (low, high) = (limits::PRIORITY.start(), limits::PRIORITY.end());
    json!({ "type": "integer", "minimum": low, "maximum": high, "description": "Higher goes first; 0 if absent" })
}

fn limit() -> Vec<(&'static str, Value)> {
    let key = [json!({ "type": "string" }), json!({ "type": "number" }), json!({ "type": "boolean" })];
    let rate = json!({ "type": "string", "pattern": "^[0-9]+/[0-9a-z]+$", "examples": ["10/s", "600/m", "3/10m"] });
    vec![
        ("key", either("An expression without `${{ }}`: attempts with the same key are limited together", &key)),
        ("max", about("Most attempts with the key at work at once", whole(1, Some(limits::SLOTS.into())))),
        ("rate", about("How often an attempt with the key may begin", rate)),
    ]
}

fn after() -> Value {
    let ends: Vec<&str> = ENDS.iter().map(|(word, _)| *word).collect();
    let some = json!({ "type": "array", "minItems": 1, "items": word_of(&ends) });
    let ends = either("Which of its ends are accepted", &[word_of(&ends), some]);
    let shapes = [of("name"), names("Tasks that must succeed"), map_of("Tasks, and how they must end", &ends)];
    either("Which tasks come first", &shapes)
}

fn attempts(words: &str) -> Value {
    either(words, &[whole(1, Some(limits::MAX_ATTEMPTS.into())), of("retry")])
}

fn bounds(words: &str) -> Value {
    either(words, &[of("duration"), of("timeout")])
}

fn whole(least: u64, most: Option<u64>) -> Value {
    let mut shape = json!({ "type": "integer", "minimum": least });
    if let Some(most) = most {
        shape["maximum"] = json!(most);
    }
    shape
}

fn retry() -> Vec<(&'static str, Value)> {
    vec![
        ("max_attempts", about("Attempts, the first included", whole(1, Some(limits::MAX_ATTEMPTS.into())))),
        ("retryable", json!({ "type": "boolean", "description": "Whether there may be more than one attempt" })),
        ("backoff", about("How the wait between attempts grows", of("backoff"))),
        ("jitter", about("The share of a wait that is left to chance, in percent", whole(0, Some(100)))),
        ("on", names("Only failures of these types are retried")),
        ("never", names("Failures of these types are never retried")),
    ]
}

fn backoff() -> Vec<(&'static str, Value)> {
    let kinds: Vec<&str> = KINDS.iter().map(|(word, _)| *word).collect();
    vec![
        ("kind", about("How waits grow", word_of(&kinds))),
        ("base", about("The first wait", of("duration"))),
        ("factor", json!({ "type": "number", "minimum": 1, "maximum": 1000, "description": "How much waits grow" })),
        ("cap", about("The longest wait", of("duration"))),
    ]
}

fn timeout() -> Vec<(&'static str, Value)> {
    vec![
        ("attempt", about("For one attempt", of("duration"))),
        ("overall", about("With all attempts and waits", of("duration"))),
        ("queue", about("Until a worker takes it", of("duration"))),
        ("heartbeat", about("Between two signs of life", of("duration"))),
    ]
}

fn item() -> Vec<(&'static str, Value)> {
    vec![
        ("title", text("What is to be done, in one line, with `${{ … }}`")),
        ("description", text("What there is to say about it, with `${{ … }}`")),
        ("acceptance", text("When it counts as done, with `${{ … }}`")),
        ("priority", either("1 first, 5 last; 3 if absent", &[whole(1, Some(5)), json!({ "type": "string" })])),
        ("assignee", text("Who does it, with `${{ … }}`")),
        ("tags", names("To find it by")),
    ]
}

fn http() -> Vec<(&'static str, Value)> {
    let methods: Vec<&str> = Method::ALL.iter().map(|(word, _)| *word).collect();
    vec![
        ("method", about("GET if absent, POST if there is something to send", word_of(&methods))),
        ("url", text("Where it goes, with `${{ … }}`")),
        ("headers", map_of("Headers, with `${{ … }}`", &scalar())),
        ("json", any("What is sent, as JSON, with `${{ … }}`")),
        ("body", text("What is sent, as it is, with `${{ … }}`")),
    ]
}

fn gate() -> Vec<(&'static str, Value)> {
    vec![
        ("timer", about("Opens after this long", of("duration"))),
        ("until", text("Opens at this instant, such as 2027-01-31T12:00:00Z")),
        ("approval", about("Opens when enough people approve", of("approval"))),
        ("webhook", {
            let nothing = json!({ "type": "object", "additionalProperties": false });
            either("Opens when its address is called: `{}`", &[nothing, json!({ "type": "null" })])
        }),
        ("external", about("Opens when another system says so", of("external"))),
        ("shared", text("Opens with this gate of the work graph, such as `ew-g1`")),
        ("deadline", about("How long it may stay closed", of("duration"))),
        ("on_deadline", about("What happens then", word_of(&["reject", "open"]))),
        ("escalate", {
            let several = json!({ "type": "array", "items": of("escalate") });
            either("Who else may approve when it stays closed", &[of("escalate"), several])
        }),
        ("evidence", names("The tasks whose outputs are shown to whoever decides; those just before it if absent")),
    ]
}

fn escalate() -> Vec<(&'static str, Value)> {
    vec![
        ("after", about("How long after the gate was reached", of("duration"))),
        ("to", names("Who may approve as well from then on")),
    ]
}

fn approval() -> Vec<(&'static str, Value)> {
    vec![
        ("from", names("Who may approve; anybody if absent")),
        ("count", about("How many of them it takes", whole(1, Some(limits::APPROVERS as u64)))),
    ]
}

fn external() -> Vec<(&'static str, Value)> {
    let id = [json!({ "type": "string" }), json!({ "type": "number" })];
    vec![("system", about("Which system", of("name"))), ("id", either("What it is called there, with `${{ … }}`", &id))]
}

fn on() -> Vec<(&'static str, Value)> {
    let words = "When it begins by itself";
    let whole = [of("webhook"), json!({ "type": "null" })];
    vec![
        ("schedule", json!({ "description": words, "type": "array", "items": of("schedule") })),
        ("webhook", either("A call of its address begins it: `{}`", &whole)),
    ]
}

fn webhook() -> Vec<(&'static str, Value)> {
    vec![("into", about("The input that gets the body whole; its keys are the inputs if absent", of("name")))]
}

fn schedule() -> Vec<(&'static str, Value)> {
    let overlaps: Vec<&str> = Overlap::ALL.iter().map(|(word, _)| *word).collect();
    let made_up = [word_of(&["none", "last", "all"]), whole(0, Some(limits::CAUGHT_UP.into()))];
    vec![
        ("name", about("What it is called, after the flow's name", of("name"))),
        ("cron", text("Minute, hour, day of the month, month, day of the week; seconds first if there are six fields")),
        ("zone", text("The time zone of `cron`, such as Europe/Berlin; UTC if absent")),
        ("every", about("How often", of("duration"))),
        ("from", text("The instant that `every` is counted from")),
        ("at", text("One instant, such as 2027-01-31T12:00:00Z")),
        ("jitter", about("Begins up to so much later", of("duration"))),
        ("overlap", about("What a tick does while the run before it is at work", word_of(&overlaps))),
        ("catch_up", either("How many missed ticks are made up for", &made_up)),
        ("with", json!({ "type": "object", "description": "The inputs of its runs" })),
    ]
}

#[cfg(test)]
mod tests;
