//! What a file may cost: depth and number are limited, and no text exhausts the stack or the patience.

use super::said;
use edgewise_core::text::{compile, format, parse};

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
fn lists_in_the_text_are_limited_by_number() {
    let names = |count: usize| (0..count).map(|n| format!("a{n}")).collect::<Vec<_>>().join(", ");
    let named = |count: usize| (0..count).map(|n| format!("a{n}=1")).collect::<Vec<_>>().join(", ");
    let all = |count: usize| {
        let (names, named) = (names(count), named(count));
        format!("flow f({names}):\n    {names} = []\n    @a({named})\n    g({named})\nfn g({names}):\n    pass\n")
    };
    assert_eq!(said(&all(256)), Vec::<String>::new());
    let found = said(&all(257));
    assert_eq!(found.iter().filter(|line| line.contains("too_many: there are 257 ")).count(), 5, "{found:?}");
}

/// What compiling says first, if it says anything.
fn refused(text: &str) -> Option<String> {
    let problems = compile(text, "a.flow").err()?;
    let first = &problems.list[0];
    Some(format!("{}: {} -- {}", first.code, first.message, first.help.as_deref().unwrap_or_default()))
}

#[test]
fn functions_that_many_flows_call_are_limited_by_their_statements() {
    let text = |flows: usize| {
        let body = "    if x:\n        x = 1\n".repeat(500);
        let flows: String = (0..flows).map(|n| format!("flow f{n}():\n    g(1)\n")).collect();
        format!("fn g(x):\n{body}{flows}")
    };
    assert_eq!(refused(&text(201)), None, "the first one is not counted");
    let said = refused(&text(202)).unwrap();
    assert!(said.contains("too_large: what several flows call comes to more than 200000 statements"), "{said}");
}

#[test]
fn defaults_that_calls_leave_to_a_function_are_limited_by_number() {
    let text = |calls: usize| {
        let parameters: Vec<String> = (0..250).map(|n| format!("a{n}=1")).collect();
        format!("fn g({}):\n    pass\nflow f():\n{}", parameters.join(", "), "    g()\n".repeat(calls))
    };
    assert_eq!(refused(&text(800)), None);
    let said = refused(&text(801)).unwrap();
    assert!(said.contains("too_large: the defaults of functions are used more than 200000 times"), "{said}");
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

/// Texts of about so many bytes that are hard on somebody.
fn hard(size: usize) -> Vec<String> {
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
            texts.push(format!("{start}{}", piece.repeat(size / piece.len())));
        }
    }
    let steps: String = (0..size / 700).map(|n| format!("{}if a:\n", " ".repeat(n))).collect();
    texts.push(format!("flow f(a):\n {}", steps.replace("\nif", "\n if")));
    let chain = (0..size / 25).map(|n| format!("fn f{n}():\n f{}()\n", n + 1));
    texts.push(format!("flow f():\n    f0()\n{}", chain.collect::<String>()));
    texts.push(format!("flow f(a):\n    x = [{}]\n", "a, ".repeat(size / 3)));
    texts.push(format!("flow f(a):\n    x = {}[a]\n", "[a] + ".repeat(size / 6)));
    texts.push(format!("flow f(a):\n    x = [\n{}]\n", "a, # b\n".repeat(size / 7)));
    texts.push(format!("flow f(a):\n    @a() {}\n", "[A -> retry: 3]".repeat(size / 15)));
    let arguments: String = (0..size / 8).map(|n| format!("a{n}=a,")).collect();
    texts.push(format!("flow f(a):\n    @a({arguments})\n"));
    texts
}

#[test]
fn no_text_exhausts_a_small_stack() {
    let size = if cfg!(debug_assertions) { 32 << 10 } else { 1 << 20 };
    let small_stack = std::thread::Builder::new().stack_size(512 << 10);
    let worker = small_stack.spawn(move || {
        for text in hard(size) {
            let _ = parse(&text, "a.flow");
            let _ = format(&text, "a.flow");
        }
    });
    worker.unwrap().join().unwrap();
}
