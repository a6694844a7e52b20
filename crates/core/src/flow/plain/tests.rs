//! The plain reader against the library.

use super::*;
use crate::flow::problem::Sink;
use crate::flow::source::Source;
use crate::flow::tree::read_any;
use proptest::prelude::*;

/// Where the plain reader reads a text, the library reads the same, without a word of complaint.
fn check(text: &str) -> bool {
    let Some(plain) = read(text) else { return false };
    let source = Source::new(text);
    let mut sink = Sink::new(&source);
    assert_eq!(Some(plain), read_any(text, &mut sink), "{text:?}");
    assert!(!sink.has_errors(), "{text:?}");
    true
}

#[test]
fn what_flows_are_written_in_is_plain() {
    for text in [
        "flow: f\ntasks:\n  a:\n    run: echo hello  # says so\n    after: [b, 'c d', \"e\"]\n",
        "a: 1\n",
        "a: 1",
        "\n# a comment\na: {b: [1, 2, {c: -3.5}], d: []}   \n\n",
        "a:\n  - b\n  - 'c'\n  - d: 1\n    e: 2\n  - [1]\nf: g\n",
        "{a: 1, b: {c: x y}}\n",
        "a: {\n  b: 1,\n  c: 'x'}\n",
        "a: http://x/y?z\nb: -1\nc: 10:30\nä: 1\n",
        "{\"a\":1,\"b\":[true,null,{\"c\":\"d\"}],'e': 'f'}",
        "a: b ö c # d\nb: 'ö': 1\n",
        "  a: 1\n  b: 2\n",
    ] {
        let plain = check(text);
        assert_eq!(plain, !text.contains('ä') && !text.contains("'ö'"), "{text:?}");
    }
}

#[test]
fn what_is_not_plain_is_left_to_the_library() {
    for text in [
        "",
        "a",
        "a: |\n  b\n",
        "a: >\n  b\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !t 1\n",
        "a:\n",
        "a: b\n  c\n",
        "a: b: c\n",
        "a: 1\na: 2\n",
        "--- \na: 1\n",
        "a: 1\n---\nb: 1\n",
        "a: 1\n...\n",
        "a: \"b\\n\"\n",
        "a: 'b''c'\n",
        "a: 'b\n  c'\n",
        "a:\tb\n",
        "a: [b\n",
        "a: [b: c]\n",
        "a: [\n b\n c]\n",
        "a: {b}\n",
        "a: [,]\n",
        "a: {b:1}\n",
        "a: b\r\n",
        "? a\n: b\n",
        "a: [1] 2\n",
        "a: 'b' c\n",
        "a: [b]: c\n",
        "a: - b\n",
        "a: [\nb]\n",
        "a: [b #c\n ]\n",
        "\u{feff}a: 1\n",
        "a: 'b'#c\n",
        "a: 'b' # c\n",
        "... 'a': 'b'",
        "# b\rc\na: 1\n",
        "a: 1 # \0\n",
        "%YAML 1.2\n---\na: 1\n",
        "a:\n  b: 1\n c: 2\n",
        "a:\n- b\n",
        "- a\n - b\n",
        "a: [b]#c\n",
    ] {
        assert!(read(text).is_none(), "{text:?}");
    }
}

#[test]
fn nesting_is_left_to_the_library_before_it_is_too_deep() {
    for text in [format!("a: {}1{}\n", "[".repeat(1_000_000), "]".repeat(1_000_000)), "a:\n".to_owned()] {
        assert!(read(&text).is_none());
    }
    let deep: String = (0..2_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert!(read(&deep).is_none());
}

fn pieces() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a", "b: ", "c:", "- ", "-", "[", "]", "{", "}", ",", ", ", ": ", ":", " ", "  ", "\n", "\n", "\n  ", "\n    ",
        "'x'", "\"y\"", "#", " # z", "1", "-2", "0.5", "~", "é", "…", "\t", "\r", "|", ">", "&d", "*d", "!e", "---",
        "...", "\\", "''", "\n- ", "\n  - ", "k: [", "{k: ", "{'k':", "?", "%", "@", "a b", "x:y", "a#b", "\"\"",
        "\n\n",
    ]);
    prop::collection::vec(word, 1..24).prop_map(|pieces| pieces.concat())
}

/// Texts that are mostly right.
fn document() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(vec!["a", "1", "'x y'", "\"é\"", "-5", "a b", "x.y", "true", "~", "a:b", "é"]);
    let flow = scalar.clone().prop_map(str::to_owned).prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("[{}]", list.join(", "))),
            prop::collection::vec(inner, 0..4).prop_map(|list| {
                let entry = |(n, value): (usize, String)| format!("k{n}: {value}");
                format!("{{{}}}", list.into_iter().enumerate().map(entry).collect::<Vec<_>>().join(","))
            }),
        ]
    });
    let line = (0usize..4, prop::bool::ANY, prop::option::of(flow), 0usize..6).prop_map(|(indent, item, value, n)| {
        let lead = format!("{}{}", "  ".repeat(indent), if item { "- " } else { "" });
        match value {
            Some(value) if item && n % 2 == 0 => format!("{lead}{value}\n"),
            Some(value) => format!("{lead}key{n}: {value}\n"),
            None => format!("{lead}key{n}:\n"),
        }
    });
    prop::collection::vec(line, 1..8).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_is_read_as_plain_is_what_the_library_reads(text in prop_oneof![pieces(), document()]) {
        check(&text);
    }
}
