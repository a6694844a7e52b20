//! What a file may cost: depth is limited, and no text takes long or exhausts the stack.

use super::said;
use edgewise_core::text::{format, parse};
use std::time::Instant;

#[test]
fn nesting_is_limited_by_name() {
    let deep = |levels: usize| {
        let mut text = String::from("flow f(a):\n");
        for level in 1..=levels {
            text += &format!("{}if a:\n", " ".repeat(level));
        }
        text + &" ".repeat(levels + 1) + "pass\n"
    };
    assert_eq!(said(&deep(63)), Vec::<String>::new());
    let found = said(&deep(64));
    assert!(found.len() == 1 && found[0].contains("too_deep: blocks are nested deeper than 64 levels"), "{found:?}");
    let found = said(&deep(1_000));
    assert!(found.len() == 1 && found[0].starts_with("66:"), "{found:?}");
    let brackets = |levels: usize| format!("flow f(a):\n    x = {}1{}\n", "[".repeat(levels), "]".repeat(levels));
    let found = said(&brackets(65));
    assert!(found.len() == 1 && found[0].contains("too_deep: brackets are nested deeper than 64 levels"), "{found:?}");
    assert!(format(&brackets(60), "a.flow").is_ok());
}

#[test]
fn a_file_over_the_limit_is_refused_by_its_size() {
    let found = said(&" ".repeat((64 << 20) + 1));
    assert!(found[0].contains("too_large: the file has 67108865 bytes, at most 67108864 are allowed"), "{found:?}");
}

#[test]
fn of_very_many_problems_the_first_are_shown_and_the_rest_are_counted() {
    let text = format!("flow f():\n{}", "    x = a and b\n".repeat(5_000));
    let problems = parse(&text, "a.flow").unwrap_err();
    assert_eq!((problems.list.len(), problems.more), (100, 4_900));
}

/// Texts of one megabyte that are hard on somebody.
fn hard() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for piece in [
        "(",
        ")",
        "[{",
        "\"",
        "'''",
        "\\",
        "\\\"\"\"",
        "#",
        "\n",
        "\t\n",
        " ",
        "é",
        "@",
        "a",
        "a ",
        "a.",
        "1",
        "-",
        "!",
        "x\n",
        "if a:\n",
        "(\n",
        "(a\nif",
        "a = (\n",
        "x=1\n ",
        "flow f():\n",
        "flow f():\n pass\n",
        "fn f():\n f()\n",
        "r\"",
        ";",
        "a, ",
        "[a->",
        "?:",
        "else:\n",
        "@a(\n#\n",
        "x = a < b < c\n",
        "\r",
    ] {
        for start in ["", "flow f(a):\n    ", "flow f(a):\n    x = ", "flow f(a):\n    @a(", "flow f(a):\n    @a() ["] {
            texts.push((
                format!("{start:?} then {piece:?}"),
                format!("{start}{}", piece.repeat((1 << 20) / piece.len())),
            ));
        }
    }
    let steps: String = (0..1_400).map(|n| format!("{}if a:\n", " ".repeat(n))).collect();
    texts.push(("steps".into(), format!("flow f(a):\n {}", steps.replace("\nif", "\n if"))));
    let mut chain = String::from("flow f():\n    f0()\n");
    for n in 0..40_000 {
        chain += &format!("fn f{n}():\n f{}()\n", n + 1);
    }
    texts.push(("chain".into(), chain));
    texts.push(("elements".into(), format!("flow f(a):\n    x = [{}]\n", "a, ".repeat(300_000))));
    texts.push(("groups".into(), format!("flow f(a):\n    x = {}[a]\n", "[a] + ".repeat(150_000))));
    texts.push(("comments".into(), format!("flow f(a):\n    x = [\n{}]\n", "a, # b\n".repeat(120_000))));
    texts.push((
        "arguments".into(),
        format!("flow f(a):\n    @a({})\n", (0..90_000).map(|n| format!("a{n}=a,")).collect::<String>()),
    ));
    texts.push((
        "targets".into(),
        format!("flow f(a):\n    {} = a\n", (0..90_000).map(|n| format!("a{n}")).collect::<Vec<_>>().join(", ")),
    ));
    texts.push((
        "parameters".into(),
        format!("flow f({}):\n    pass\n", (0..90_000).map(|n| format!("a{n}")).collect::<Vec<_>>().join(", ")),
    ));
    texts.push(("policies".into(), format!("flow f(a):\n    @a() {}\n", "[A -> retry: 3]".repeat(60_000))));
    texts
}

#[test]
fn no_megabyte_takes_long_or_exhausts_the_stack() {
    // Slow builds of ours are several times slower than what users run; the bound only tells linear from worse.
    let bound = if cfg!(debug_assertions) { 5_000 } else { 4000 };
    let small_stack = std::thread::Builder::new().stack_size(512 << 10);
    let worker = small_stack.spawn(move || {
        let mut slowest = (0, String::new());
        for (name, text) in hard() {
            let start = Instant::now();
            let _ = parse(&text, "a.flow");
            let read = start.elapsed().as_millis();
            let _ = format(&text, "a.flow");
            let both = start.elapsed().as_millis();
            if read > 60 || both > 200 {
                println!("{name}: {read} {both}");
            }
            assert!(both < bound, "{name}: {read} ms to read, {both} ms with formatting");
            slowest = slowest.max((read, name));
        }
        slowest
    });
    let (time, name) = worker.unwrap().join().unwrap();
    println!("slowest of all: {time} ms for {name}");
}

#[test]
fn ten_thousand_statements_are_read_at_once() {
    let body = "    listed = @catalog.list(sources=a, limit=1 + 2) [retry: 3, backoff: 5s]\n    if size(listed) > 0:\n        total = listed.map(x, x.n)\n";
    let text = format!("flow f(a):\n{}", body.repeat(3_334));
    let start = Instant::now();
    assert!(parse(&text, "a.flow").is_ok());
    let time = start.elapsed().as_millis();
    println!("10,000 statements: {time} ms");
    assert!(time < if cfg!(debug_assertions) { 2_000 } else { 200 }, "{time} ms");
}
