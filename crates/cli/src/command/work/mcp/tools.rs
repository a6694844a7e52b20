//! The tools that an agent is offered: at most eight, all of them in under 2,000 tokens.

use serde_json::{Value, json};

/// All tools, as the protocol lists them.
pub(super) fn all() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let flag = json!({ "type": "boolean" });
    let priority = json!({ "type": "integer", "minimum": 1, "maximum": 5, "description": "1 first" });
    let kinds = json!({ "type": "string", "enum": ["bug", "feature", "task", "chore"] });
    vec![
        tool(
            "ready",
            "Work that nothing is in the way of, most urgent first. claim: take the first one.",
            &[],
            &json!({
                "claim": flag, "limit": { "type": "integer", "minimum": 1 }, "type": kinds, "assignee": text, "unassigned": flag,
                "tags": texts, "plan": { "type": "string", "description": "only below this item" },
            }),
        ),
        tool("show", "All of an item, gate or its dependencies.", &["id"], &json!({ "id": text })),
        tool(
            "add",
            "Make an item. needs: ids it waits for.",
            &["title"],
            &json!({
                "title": text, "description": text, "acceptance": text, "priority": priority, "type": kinds, "assignee": text,
                "tags": texts, "parent": text, "needs": texts,
            }),
        ),
        tool(
            "update",
            "Change an item. null takes assignee or deadline away.",
            &["id"],
            &json!({
                "id": text, "title": text, "description": text, "acceptance": text, "priority": priority, "type": kinds,
                "assignee": text, "tag": texts, "untag": texts, "deadline": { "type": "string", "description": "RFC 3339" },
                "status": { "type": "string", "enum": ["open", "in_progress", "deferred", "backlog", "review"] },
            }),
        ),
        tool(
            "close",
            "Close an item; says who is ready now. claimNext: take the next one too.",
            &["id"],
            &json!({
                "id": text, "how": { "type": "string", "enum": ["done", "failed", "cancelled"] }, "reason": text,
                "claimNext": flag, "force": flag,
            }),
        ),
        tool(
            "dep",
            "id waits for on (an item, gate or run), or another link. remove: not any more.",
            &["id", "on"],
            &json!({
                "id": text, "on": text, "remove": flag,
                "type": { "type": "string", "description": "blocks, parent-child, awaits, relates-to, caused-by, ..." },
                "when": { "type": "string", "enum": ["success", "any", "failure"] },
                "metadata": { "type": "object", "description": "validates: testType, result, details" },
            }),
        ),
        tool(
            "why",
            "Why an item is not ready, or a run or RUN/TASK does not move: every reason, and who or what can help.",
            &["id"],
            &json!({ "id": text }),
        ),
        tool(
            "claim",
            "Have an item for a while, or longer if it is yours. release: give it back.",
            &["id"],
            &json!({
                "id": text, "lease": { "type": "string", "description": "such as 30m" }, "release": flag,
            }),
        ),
    ]
}

fn tool(name: &str, says: &str, required: &[&str], properties: &Value) -> Value {
    json!({
        "name": name, "description": says,
        "inputSchema": { "type": "object", "properties": properties, "required": required, "additionalProperties": false },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_at_most_eight_tools_in_under_two_thousand_tokens() {
        let tools = all();
        assert!(tools.len() <= 8, "{}", tools.len());
        let bytes = json!({ "tools": tools }).to_string().len();
        assert!(bytes / 4 < 2_000, "about {} tokens", bytes / 4);
    }
}
