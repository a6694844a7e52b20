//! Whatever a text holds: what is read is read right, what is laid out says the same, and nothing is passed over.

use super::generate::Generator;
use super::{ETL, dump, tree};
use edgewise_core::text::{format, parse};
use proptest::prelude::*;

/// Pieces of programs, good and bad.
const PIECES: &[&str] = &[
    "flow f(a):\n",
    "fn g(x):\n",
    "    ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "if a:\n",
    "elif a:\n",
    "else:\n",
    "for x in a:\n",
    "while a:\n",
    "try:\n",
    "except A as e:\n",
    "except:\n",
    "parallel:\n",
    "a, b = ",
    "spread a:x -> ",
    "@load(v=1)",
    "@",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "->",
    "=",
    "==",
    "+=",
    "?",
    ".",
    "-",
    "!",
    "&&",
    "//",
    "#",
    "\\",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "r\"",
    "f\"",
    "é",
    "\u{202e}",
    "\u{1b}[31m",
    "\0",
    "\u{feff}",
    "5s",
    "1.5e",
    "0x",
    "retry: 3",
    "[retry: 3]",
    "[A -> retry: 3]",
    "sleep 1h",
    "wait approval(",
    "wait until \"",
    "return",
    "raise",
    "break",
    "pass",
    "g(a)",
    "size(a)",
    "and",
    "import x",
    "lambda",
    "x",
    ";",
];

fn check(text: &str) -> Result<(), TestCaseError> {
    match parse(text, "a.flow") {
        Ok(parsed) => {
            let laid = format(text, "a.flow").map_err(|p| TestCaseError::fail(p.to_string()))?;
            let again = parse(&laid, "a.flow").map_err(|p| TestCaseError::fail(format!("{laid}\n{p}")))?;
            prop_assert_eq!(dump::program(&again.program), dump::program(&parsed.program));
            prop_assert_eq!(format(&laid, "a.flow").ok(), Some(laid));
        }
        Err(problems) => {
            prop_assert!(!problems.list.is_empty());
            let printed = problems.to_string();
            let obeyed = printed.contains(['\u{1b}', '\0', '\u{202e}']);
            prop_assert!(!obeyed, "{printed:?}");
            prop_assert!(problems.list.iter().all(|p| p.line >= 1 && p.column >= 1 && !p.message.is_empty()));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn a_generated_program_becomes_its_tree_in_any_layout(seed in any::<u64>()) {
        let (text, expected) = Generator::program(seed);
        match parse(&text, "a.flow") {
            Ok(parsed) => prop_assert_eq!(dump::program(&parsed.program), expected),
            Err(problems) => return Err(TestCaseError::fail(format!("{text}\n{problems}"))),
        }
        check(&text)?;
    }

    #[test]
    fn any_mixture_ends_in_a_tree_or_in_problems(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        check(&pieces.concat())?;
    }

    #[test]
    fn a_damaged_program_ends_in_a_tree_or_in_problems(
        at in any::<prop::sample::Index>(),
        length in 0..40usize,
        piece in prop::sample::select(PIECES),
        seed in any::<u64>(),
    ) {
        for text in [ETL.to_owned(), Generator::program(seed).0] {
            let at = at.index(text.len());
            let from = (0..=at).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0);
            let to = (at + length..=text.len()).find(|n| text.is_char_boundary(*n)).unwrap_or(text.len());
            check(&format!("{}{piece}{}", &text[..from], &text[to..]))?;
        }
    }
}

#[test]
fn every_beginning_of_a_program_ends_in_a_tree_or_in_problems() {
    for end in 0..=ETL.len() {
        check(&ETL[..end]).unwrap_or_else(|error| panic!("{end}: {error}"));
    }
    assert!(!tree(ETL).is_empty());
}
