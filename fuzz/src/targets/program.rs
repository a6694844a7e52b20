//! Program text: any text is either plans or a list of problems, each with its place. What compiles can be laid out,
//! and means the same then.

use super::Target;
use super::flow::told;
use super::plan::begin;
use edgewise_core::text::{compile, format};

pub const TARGET: Target = Target {
    name: "program",
    words: &[
        "flow f():\n",
        "flow f(a: string = \"x\", b: list, c=1) [retry: 2]:\n",
        "fn g(a, b=1):\n",
        "    ",
        "\n    ",
        "\n        ",
        "\t",
        "pass",
        "return",
        "break",
        "continue",
        "raise",
        "raise A(\"b\")",
        "if a:",
        "elif b:",
        "else:",
        "for x in xs:",
        "while a < 3:",
        "try:",
        "except A as e:",
        "except:",
        "parallel:",
        "a, b = parallel [fail_fast]:",
        "spread xs:x -> @load(x=x)",
        "spread [1, 2]:x -> g(x)",
        "x = @load(a=1)",
        "x = g(1)",
        "x += 1",
        "a, b = [1, 2]",
        "flow child(v=1)",
        "sleep 5m",
        "sleep x",
        "wait approval(from=[lead], count=1, deadline=2d, on_deadline=open)",
        "wait webhook(deadline=1h)",
        "wait external(system=\"jira\", id=x)",
        "wait until \"2027-01-31T12:00:00Z\"",
        "@run(script=\"true\", output=\"json\", A=x)",
        "@http(url=\"https://example.org\", json={\"a\": 1})",
        "@item(title=\"T\", priority=2, tags=[\"a\"])",
        "@emit(name=\"told\", delivery=\"fast\", payload={})",
        "[retry: 3, backoff: 5s, kind: fixed, factor: 2, cap: 1m, jitter: 0]",
        "[NetworkError, Timeout -> retry: 5]",
        "[timeout: 2m, overall: 1h, queue_timeout: 10m, heartbeat: 30s]",
        "[limit: \"k\", max: 4, rate: \"10/s\"]",
        "[queue: nightly, priority: 5]",
        "[publish: [\"a\", {\"name\": \"b\", \"condition\": \"failure\"}]]",
        "[tolerate: 2, fail_fast]",
        "[namespace: data, labels: {\"a\": \"b\"}, identity: strict, secrets: [\"TOKEN\"]]",
        "secrets.TOKEN",
        "# ",
        "\"\"\"",
        "'''",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "->",
        "==",
        "&&",
        "||",
        "!",
        "@",
        "range(3)",
        "xs.map(x, x)",
        "and",
        "lambda",
        "\\\n",
        "\r\n",
        "\u{feff}",
        "\u{2028}",
    ],
    defined: Vec::new,
    attempt,
};

fn attempt(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else { return "no text".to_owned() };
    match compile(text, "fuzz.flow") {
        Ok(flows) => {
            let laid_out = format(text, "fuzz.flow").unwrap_or_else(|problems| panic!("it compiles, but: {problems}"));
            let again =
                compile(&laid_out, "fuzz.flow").unwrap_or_else(|problems| panic!("laid out, it is: {problems}"));
            let plans =
                |flows: &[edgewise_core::flow::Compiled]| flows.iter().map(|f| f.plan.encode().0).collect::<Vec<_>>();
            assert_eq!(plans(&again), plans(&flows), "laid out, it means something else");
            assert_eq!(format(&laid_out, "fuzz.flow").as_ref(), Ok(&laid_out), "what is laid out does not stay so");
            let marks = flows.into_iter().take(2).map(|one| {
                let run = begin(one.plan);
                format!("{:?} {} {}", run.state, run.total().min(9), told(&one.warnings))
            });
            format!("fine {}", marks.collect::<Vec<_>>().join(", "))
        }
        Err(problems) => {
            assert!(!problems.list.is_empty(), "refused without a word");
            told(&problems)
        }
    }
}
