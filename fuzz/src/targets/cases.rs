//! Case files: any text is either a list of cases or a list of problems, and every case comes to an end.

use super::{Target, words};
use edgewise_core::flow::{Compiled, compile_file, read_cases};
use edgewise_core::rehearsal::{judge, perform};
use std::sync::LazyLock;

/// What the cases are about: an action, a spread, an approval, a handler.
const FLOW: &str = "flow etl(limit: int = 3):
    listed = @catalog.list()
    try:
        rows = spread listed:src -> @load(source=src) [retry: 2, backoff: 1s] [timeout: 1m]
    except Net:
        @page()
    for n in range(limit):
        wait approval(from=[lead, boss], count=1, deadline=1h)
    return rows
";

static FLOWS: LazyLock<Vec<Compiled>> = LazyLock::new(|| compile_file(FLOW, "etl.flow").expect("it compiles"));

pub const TARGET: Target = Target {
    name: "cases",
    words: &[
        "cases:",
        "stubs:",
        "gates:",
        "expect:",
        "input:",
        "flow: etl",
        "at:",
        "returns:",
        "fails:",
        "takes: 2m",
        "type:",
        "message:",
        "is:",
        "retryable: false",
        "retry_after: 5s",
        "approve:",
        "reject:",
        "after:",
        "state: failed",
        "output:",
        "failure:",
        "tasks:",
        "effects:",
        "elapsed: 1h",
        "within: 1h",
        "catalog.list",
        "load",
        "try.rows[*]",
        "try.rows[0]",
        "try!1.page",
        "for#*.approval",
        "for#0.approval",
        "limit: 1",
        "lead",
        "'${{ with.source }}'",
        "${{ [attempt] }}",
        "*",
        "[9999999999]",
        ": ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "\n  ",
        "\n    ",
    ],
    defined: Vec::new,
    attempt,
};

fn attempt(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else { return "no text".to_owned() };
    match read_cases(text, "etl.test.yaml", &FLOWS) {
        Ok(cases) => {
            let told = cases.iter().take(4).map(|case| {
                let performance = perform(case);
                let misses = judge(case, &performance);
                let what = misses.first().map_or("ok".to_owned(), |miss| words(&miss.found));
                format!("{:?} {} {what}", performance.run.state, performance.effects.len().min(9))
            });
            told.collect::<Vec<_>>().join(", ")
        }
        Err(problems) => {
            assert!(!problems.list.is_empty(), "refused without a word");
            assert!(
                problems.list.iter().all(|p| !p.code.is_empty() && !p.message.is_empty() && p.line > 0 && p.column > 0)
            );
            let codes = problems.list.iter().take(4).map(|p| format!("{} {}", p.code, words(&p.message)));
            codes.collect::<Vec<_>>().join(", ")
        }
    }
}
