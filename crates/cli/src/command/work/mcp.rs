//! `edgewise mcp`: the work graph for an agent, by the Model Context Protocol: JSON-RPC, one message a line, on stdin
//! and stdout.
//!
//! Few tools with few words: the list of them is read by every agent before it does anything. A refusal is an answer
//! (`isError`) with the same code and message that a person would see, never a broken session.

mod call;
mod tools;

use crate::args::Mcp;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::id::Token;
use edgewise_core::work::ItemId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufRead;

/// Versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
/// Longest message that is read.
const MESSAGE_BYTES: u64 = 16 << 20;

/// One agent at the other end.
struct Session {
    /// What it has claimed, so that it need not carry tokens around.
    tokens: BTreeMap<ItemId, Token>,
}

pub(crate) fn perform(_: &Mcp, context: &mut Context<'_>) -> Result<Exit> {
    let mut session = Session { tokens: BTreeMap::new() };
    let mut input = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let read = std::io::Read::take(&mut input, MESSAGE_BYTES).read_until(b'\n', &mut line);
        let read = read.map_err(|error| {
            Problem::new(Kind::Unavailable, "no_input", "stdin could not be read").why(error.to_string())
        })?;
        if read == 0 {
            return Ok(Exit::Ok);
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if let Some(answer) = session.answer(&line, context) {
            context.printer.raw(&answer.to_string())?;
            context.printer.flush()?;
        }
    }
}

impl Session {
    /// What is said back; nothing to what is no question.
    fn answer(&mut self, line: &[u8], context: &mut Context<'_>) -> Option<Value> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return Some(failure(&Value::Null, -32700, "this is no JSON"));
        };
        let id = message.get("id").cloned();
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            return id.map(|id| failure(&id, -32600, "a request has a `method`"));
        };
        let id = id?;
        let params = message.get("params").cloned().unwrap_or_default();
        Some(match method {
            "initialize" => success(&id, &hello(&params)),
            "ping" => success(&id, &json!({})),
            "tools/list" => success(&id, &json!({ "tools": tools::all() })),
            "tools/call" => self.tool(&id, &params, context),
            other => failure(&id, -32601, &format!("{other} is not spoken here")),
        })
    }

    fn tool(&mut self, id: &Value, params: &Value, context: &mut Context<'_>) -> Value {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        if !tools::all().iter().any(|tool| tool["name"] == name) {
            return failure(id, -32602, &format!("there is no tool {name:?}"));
        }
        match call::call(name, arguments, &mut self.tokens, context) {
            Ok(value) => success(id, &json!({ "content": [{ "type": "text", "text": value.to_string() }] })),
            Err(problem) => {
                let told = problem.to_json()["error"].to_string();
                success(id, &json!({ "content": [{ "type": "text", "text": told }], "isError": true }))
            }
        }
    }
}

fn hello(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "edgewise", "version": env!("CARGO_PKG_VERSION") },
        "instructions": "A graph of work. ready with claim takes the next item; close it when done. why says what is in the way of one.",
    })
}

fn success(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
