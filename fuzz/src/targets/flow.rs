//! Flow files: any text is either a plan or a list of problems, each with its place.

use super::plan::begin;
use super::{Target, words};
use edgewise_core::flow::{Problems, compile};
use std::collections::BTreeSet;

pub const TARGET: Target = Target {
    name: "flow",
    words: &[
        "flow:",
        "tasks:",
        "inputs:",
        "defaults:",
        "output:",
        "on_failure:",
        "description:",
        "run:",
        "after:",
        "each:",
        "gate:",
        "approval:",
        "timer:",
        "external:",
        "from:",
        "count:",
        "retry:",
        "max_attempts:",
        "backoff:",
        "kind:",
        "base:",
        "timeout:",
        "env:",
        "action:",
        "with:",
        "join:",
        "when:",
        "if:",
        "as:",
        "type:",
        "list",
        "any",
        "all",
        "deadline:",
        "webhook:",
        "tolerate:",
        "jitter:",
        "namespace: n",
        "labels: { a: b }",
        "identity: strict",
        "secrets: [K]",
        "${{ secrets.K }}",
        "let:",
        "queue: q",
        "priority: 3",
        "on: { schedule: [{ cron: '0 7 * * *' }] }",
        "on: { webhook: {} }",
        "every: 15m",
        "overlap: queue",
        "catch_up: 2",
        "publish: [a.done]",
        "condition: failure",
        "delivery: broadcast",
        "payload:",
        "emit: told",
        "http: 'https://example.org'",
        "method: POST",
        "url:",
        "headers:",
        "json:",
        "body:",
        "item:",
        "title: T",
        "flow: child",
        "limit: { key: '\"k\"', max: 2 }",
        "rate: 10/s",
        "pattern: '^a+$'",
        "fail_fast: true",
        "escalate: [{ after: 1h, to: [boss] }]",
        "evidence: [a]",
        "on_deadline: open",
        "until: 2027-01-01T00:00:00Z",
        "system: jira",
        "id: A-1",
        "never: [A]",
        "on: [A]",
        "factor: 2",
        "cap: 1m",
        "heartbeat: 10s",
        "overall: 1h",
        "retryable: false",
        "default:",
        "required: false",
        "hold",
        "fixed",
        "exponential",
        "1h30m",
        "-1s",
        "99999999d",
        "${{",
        "}}",
        "${{ inputs.a }}",
        "${{ tasks.a.output }}",
        "${{ item }}",
        "inputs.",
        "tasks.",
        ".output",
        "item",
        "? ",
        "- ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "|\n",
        ">-\n",
        "&a ",
        "*a",
        "!!str ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "'",
        "\"",
        "\n  ",
        "\n    ",
        "\t",
        "~",
        "null",
        "true",
        "no",
        "0o7",
        "<<:",
        "\u{feff}",
        "\u{2028}",
        "\r",
        "# ",
        "\\x41",
    ],
    defined: Vec::new,
    attempt,
};

fn attempt(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else { return "no text".to_owned() };
    match compile(text, "fuzz.yaml") {
        Ok(compiled) => {
            let mark = told(&compiled.warnings);
            let run = begin(compiled.plan);
            format!("fine {:?} {} {mark}", run.state, run.total().min(9))
        }
        Err(problems) => {
            assert!(!problems.list.is_empty(), "refused without a word");
            told(&problems)
        }
    }
}

/// Each problem has a code, a message, and a place that is in the file.
pub fn told(problems: &Problems) -> String {
    assert!(problems.is_empty() || !problems.to_string().is_empty());
    let mut codes = BTreeSet::new();
    for problem in &problems.list {
        assert!(!problem.code.is_empty() && !problem.message.is_empty() && problem.line > 0 && problem.column > 0);
        codes.insert(format!("{} {}", problem.code, words(&problem.message).chars().take(30).collect::<String>()));
    }
    codes.into_iter().take(4).collect::<Vec<_>>().join(", ")
}
