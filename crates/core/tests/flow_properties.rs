//! Whatever a file holds, compiling it ends in a plan or in problems that are safe to print.

use edgewise_core::flow::compile;
use edgewise_core::plan::Plan;
use proptest::prelude::*;

const GOOD: &str = include_str!("golden/everything.yaml");

/// Pieces of flows and of YAML, good and bad.
const PIECES: &[&str] = &[
    "flow: f\n",
    "tasks:\n",
    "  a:\n",
    "  a: { run: x }\n",
    "    run: |\n",
    "      echo\n",
    "    after: ",
    "[a, b]",
    "{ a: failed }",
    "${{",
    "}}",
    " tasks.a.output",
    "[0]",
    "[\"k\"]",
    ".",
    "inputs.x",
    "item",
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "? ",
    "\n",
    "  ",
    "\t",
    "'",
    "\"",
    "|\n",
    ">\n",
    "&a ",
    "*a ",
    "!!str ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "#",
    "é",
    "\u{1b}[31m",
    "\u{feff}",
    "\0",
    "\r",
    "\r\n",
    "\u{202e}",
    "    each: ",
    "    retry: ",
    "    timeout: ",
    "5m",
    "999999999999999999999",
    "0x",
    ".inf",
    "~",
    "    gate: { approval: { from: [a], count: 1 } }\n",
    "output: ",
    "inputs: { x: {} }\n",
    "defaults: { env: { A: 1 } }\n",
    "\\",
    "join: 2",
    "as: x",
];

fn check(text: &str) -> Result<(), TestCaseError> {
    match compile(text, "f.yaml") {
        Ok(compiled) => {
            let (hash, bytes) = compiled.plan.encode();
            let decoded = Plan::decode(&bytes).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(decoded.encode().0, hash);
        }
        Err(problems) => {
            prop_assert!(!problems.is_empty());
            let printed = problems.to_string();
            prop_assert!(printed.chars().all(|c| c == '\n' || !c.is_control()), "{printed:?}");
            for p in &problems.list {
                prop_assert!(p.line >= 1 && p.column >= 1 && p.width >= 1, "{p:?}");
                prop_assert!((p.indent as usize) <= p.excerpt.chars().count(), "{p:?}");
                let ours = ["no_spec", "bad_region", "unknown_name", "no_tasks"].contains(&p.code) && p.help.is_none();
                prop_assert!(!ours && !p.message.contains("in this plan"), "a mistake of the compiler: {p:?}");
            }
        }
    }
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() }
}

/// Cuts a text at a share of its length, between two characters.
fn cut(text: &str, share: f64) -> usize {
    let mut at = (text.len() as f64 * share) as usize;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_at_all(chars in prop::collection::vec(any::<char>(), 0..200)) {
        check(&chars.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_pieces_of_flows(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        check(&pieces.concat())?;
    }

    #[test]
    fn a_good_flow_with_some_of_it_replaced(
        edits in prop::collection::vec((0.0..1.0f64, 0usize..12, prop::sample::select(PIECES)), 1..8)
    ) {
        let mut text = GOOD.to_owned();
        for (share, length, piece) in edits {
            let from = cut(&text, share);
            let mut to = (from + length).min(text.len());
            while !text.is_char_boundary(to) {
                to += 1;
            }
            text.replace_range(from..to, piece);
        }
        check(&text)?;
    }

    #[test]
    fn a_good_flow_that_ends_anywhere(share in 0.0..1.0f64) {
        check(&GOOD[..cut(GOOD, share)])?;
    }

    #[test]
    fn a_good_flow_with_two_lines_swapped(a in 0usize..60, b in 0usize..60) {
        let mut lines: Vec<&str> = GOOD.lines().collect();
        let n = lines.len();
        lines.swap(a % n, b % n);
        check(&lines.join("\n"))?;
    }
}
