//! How expressions are written, printed, bound and stored.

use edgewise_core::expr::{Ast, Expr, Fault, Hyphens, Span, parse};
use edgewise_core::template::Root;
use serde_json::json;

fn ast(text: &str) -> Ast {
    parse(text, Hyphens::InNames).unwrap_or_else(|faults| panic!("{text}: {faults:?}"))
}

fn names(text: &str, hyphens: Hyphens) -> Vec<(String, String)> {
    let mut found = Vec::new();
    parse(text, hyphens).unwrap().names(&mut |path, span| {
        found.push((path.join("|"), text[span.from as usize..span.to as usize].to_owned()));
    });
    found
}

/// Tasks have numbers, inputs are one root, anything else is refused.
fn bind(ast: Ast) -> Result<Expr, Vec<Fault>> {
    ast.bind(&mut |path, span| match path {
        ["inputs", ..] => Ok((1, Root::Input)),
        ["tasks", name, "output", ..] => Ok((3, Root::Output { up: 0, node: name.len() as u32 })),
        _ => Err(Fault::new(span, "unknown_reference", "no")),
    })
}

#[test]
fn one_text_stands_for_all_ways_to_write_the_same() {
    for (text, canonical) in [
        ("1+2*3", "1 + 2 * 3"),
        ("(1+2)*3", "(1 + 2) * 3"),
        ("1-(2-3)-4", "1 - (2 - 3) - 4"),
        ("((a))", "a"),
        ("a&&(b||c)&&!d", "a && (b || c) && !d"),
        ("(a && b) && c", "(a && b) && c"),
        ("a ? b : c ? d : e", "a ? b : c ? d : e"),
        ("(a ? b : c) ? d : e", "(a ? b : c) ? d : e"),
        ("a ? (b ? 1 : 2) : 3", "a ? (b ? 1 : 2) : 3"),
        ("- 5", "-5"),
        ("-(5)", "-(5)"),
        ("--5", "--5"),
        ("-(-a)", "--a"),
        ("-(5.size())", "-(5.size())"),
        ("!(!a)", "!!a"),
        ("(-5)[0]", "-5[0]"),
        ("(-a).b", "(-a).b"),
        ("x[ 'k' ]", "x.k"),
        ("x['odd key'].b", "x[\"odd key\"].b"),
        ("x['in']", "x[\"in\"]"),
        ("has(x['a-b'])", "has(x[\"a-b\"])"),
        ("tasks['a-b'].output", "tasks.a-b.output"),
        ("tasks['a.b'].output", "tasks[\"a.b\"].output"),
        ("x.tasks['a-b']", "x.tasks[\"a-b\"]"),
        ("r'\\d' + '''it's''' + \"\"\"a\nb\"\"\"", "\"\\\\d\" + \"it's\" + \"a\\nb\""),
        ("'\\u00e9\\x41\\101\\U0001F600\\a'", "\"éAA😀\\u0007\""),
        ("[1, 2,]", "[1, 2]"),
        ("{'a':1,}", "{\"a\": 1}"),
        ("a . b // the end", "a.b"),
        ("x.map(y,y>1,y*2)", "x.map(y, y > 1, y * 2)"),
        ("x . size ( )", "x.size()"),
        ("1.50 + .5 + 1e2", "1.5 + 0.5 + 100.0"),
        ("0xFF", "255"),
    ] {
        let ast = ast(text);
        assert_eq!(ast.to_string(), canonical, "{text}");
        assert_eq!(parse(canonical, Hyphens::InNames).unwrap(), ast, "{text}");
    }
}

#[test]
fn a_hyphen_belongs_to_a_name_only_directly_after_tasks_and_inputs() {
    let two = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let found = names("tasks.load-rows.output.a-b", Hyphens::InNames);
    assert_eq!(found, [two("tasks|load-rows|output|a", "tasks.load-rows.output.a"), two("b", "b")]);
    let found = names("tasks.load-rows.output", Hyphens::Refused);
    assert_eq!(found, [two("tasks|load", "tasks.load"), two("rows|output", "rows.output")]);
    assert_eq!(names("inputs.a-1 - 1", Hyphens::InNames), [two("inputs|a-1", "inputs.a-1")]);
    assert_eq!(names("inputs.a - 1", Hyphens::InNames), [two("inputs|a", "inputs.a")]);
    assert_eq!(names("inputs.a -b", Hyphens::InNames).len(), 2);
    assert_eq!(names("x.tasks.a-b", Hyphens::InNames), [two("x|tasks|a", "x.tasks.a"), two("b", "b")]);
}

#[test]
fn free_names_are_found_with_the_keys_selected_from_them() {
    let found = names("tasks.a['b c'].d[0].e + xs.map(x, x.y + z).size() + (has(m.k) ? 1 : 0)", Hyphens::InNames);
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["tasks|a|b c|d", "xs", "z", "m|k"]);
    assert_eq!(found[0].1, "tasks.a['b c'].d");
    assert_eq!(found[3].1, "m.k");
}

#[test]
fn all_names_that_mean_nothing_are_reported() {
    let faults = bind(ast("a + inputs.x + b")).unwrap_err();
    let spans: Vec<Span> = faults.iter().map(|fault| fault.span).collect();
    assert_eq!(spans, [Span { from: 0, to: 1 }, Span { from: 15, to: 16 }]);
    let fault = &bind(ast("has(tasks.a.output)")).unwrap_err()[0];
    assert_eq!(fault.message, "`tasks.a.output` is there by itself, so `has` cannot ask for it");
}

#[test]
fn an_expression_is_stored_as_its_text_and_its_names() {
    let expr = bind(ast("tasks.b-c.output.n+inputs.x>tasks.b-c.output.m")).unwrap();
    let stored = json!({
        "expr": "tasks.b-c.output.n + inputs.x > tasks.b-c.output.m",
        "names": [["tasks.b-c.output", {"output": {"up": 0, "node": 3}}], ["inputs", "input"]]
    });
    assert_eq!(serde_json::to_value(&expr).unwrap(), stored);
    assert_eq!(serde_json::from_value::<Expr>(stored).unwrap(), expr);
    let mut roots = 0;
    expr.roots(&mut |_| roots += 1);
    assert_eq!(roots, 2);
}

#[test]
fn a_damaged_expression_is_an_error_when_it_is_loaded() {
    for (stored, why) in [
        (json!({"expr": "1 +"}), "expected a value"),
        (json!({"expr": "1+1"}), "not written as it would be stored"),
        (json!({"expr": "x"}), "one of its names means nothing"),
        (json!({"expr": "1", "names": [["x", "input"]]}), "not written as it would be stored"),
        (json!({"expr": "nosuch(1)"}), "no function"),
        (json!({"expr": "(".repeat(100_000)}), "deeper"),
        (json!({"expr": "1", "more": 1}), "unknown field"),
        (json!({"text": "1"}), "unknown field"),
    ] {
        let error = serde_json::from_value::<Expr>(stored.clone()).unwrap_err().to_string();
        assert!(error.contains(why), "{stored}: {error}");
    }
}

#[test]
fn a_literal_is_any_value_and_comes_back_as_it_was() {
    for value in
        [json!(null), json!(u64::MAX), json!(-3), json!(1.0), json!("a\"\n"), json!([1, {"k k": [true]}]), json!({})]
    {
        let expr = Expr::literal(value.clone());
        assert_eq!(expr.as_literal(), Some(&value));
        let loaded: Expr = serde_json::from_str(&serde_json::to_string(&expr).unwrap()).unwrap();
        assert_eq!(loaded.as_literal(), Some(&value), "{expr}");
    }
    assert_eq!(bind(ast("[1, 2]")).unwrap().as_literal(), Some(&json!([1, 2])));
    assert_eq!(bind(ast("inputs.x")).unwrap().as_literal(), None);
}

#[test]
fn a_named_value_stands_in_place_of_its_name() {
    let base = ast("tasks.a.output.n + 1");
    let put = |text: &str| ast(text).substitute(&mut |name| (name == "base").then_some(&base));
    assert_eq!(put("base * 2").unwrap().to_string(), "(tasks.a.output.n + 1) * 2");
    assert_eq!(put("base.x + y").unwrap().to_string(), "(tasks.a.output.n + 1).x + y");
    assert_eq!(put("xs.map(base, base)").unwrap().to_string(), "xs.map(base, base)");
    let faults = put("xs.map(tasks, base)").unwrap_err();
    assert_eq!(faults[0].message, "`base` uses `tasks`, which means something else here");
}

#[test]
fn what_is_wrong_is_said_where_it_stands() {
    for (text, from, message, help) in [
        ("", 0, "expected a value, but the expression ends", ""),
        ("1 +", 3, "expected a value, but the expression ends", ""),
        ("1 2", 2, "expected an operator or the end, but there is `2`", ""),
        ("a = 1", 2, "`=` means nothing here", "write `==`"),
        ("a & b", 2, "`&` means nothing here", "write `&&`"),
        ("(1", 2, "expected `)`, but the expression ends", ""),
        ("'abc", 0, "the text that starts here is not closed with `'`", "close it in the same line"),
        ("'\\q'", 1, "`\\q` is no escape", "r\"…\""),
        ("x # y", 2, "`#` cannot stand in an expression", ""),
        ("1abc", 0, "`1abc` is no number", ""),
        ("9223372036854775808", 0, "`9223372036854775808` is no integer of 64 bits", "double"),
        ("1e999", 0, "`1e999` is too large for a number", ""),
        ("x.in", 2, "`in` cannot follow a dot", "[\"in\"]"),
        ("if + 1", 0, "`if` cannot be a name", "another"),
        ("lenght(x)", 0, "there is no function `lenght`", ""),
        ("sizee(x)", 0, "there is no function `sizee`", "did you mean `size`?"),
        ("xs.sum()", 3, "`sum` is not written after a value", "sum(list)"),
        ("startsWith(x, 'a')", 0, "`startsWith` is written after a value", "text.startsWith(prefix)"),
        ("size(a, b)", 0, "`size` has 2 arguments here, which it cannot have", "size(x)"),
        ("map(xs, x)", 0, "`map` is written after a list", "list.map(x, …)"),
        ("xs.map(1, x)", 7, "expected the name of a variable, but there is `1`", "stands for each item"),
        ("xs.all(i, v, v)", 14, "`all` has too many arguments", "enumerate"),
        ("has(x)", 4, "`has` asks whether a key is there", "has(x.key)"),
        ("1u", 0, "`1u` is unsigned, but all integers are signed", "write `1`"),
        ("b'x'", 0, "there are no bytes, only texts", "write `'x'`"),
        ("{1: 2}", 1, "`1` cannot be a key: keys are texts", "\"1\""),
        ("x.?y", 2, "there are no optional values", "has(x.key)"),
        ("a.B{c: 1}", 0, "there are no messages such as `a.B`", "write a map"),
        ("x.matches('(a')", 10, "`(a` is no pattern: unclosed group", "RE2"),
        ("timestamp('x')", 0, "`timestamp` is not supported", "text"),
        ("duration('1s')", 0, "`duration` is not supported", "seconds"),
        ("type(x)", 0, "`type` is not supported", "has(x.key)"),
        ("dyn(x)", 0, "`dyn` is not supported", "leave `dyn` out"),
        (".x", 0, "a name cannot start with a dot", "leave the dot out"),
    ] {
        let fault = &parse(text, Hyphens::Refused).unwrap_err()[0];
        assert_eq!((fault.span.from, fault.message.as_str()), (from, message), "{text}");
        assert!(fault.help.as_deref().unwrap_or_default().contains(help), "{text}: {:?}", fault.help);
    }
}

#[test]
fn refusals_are_collected() {
    let faults = parse("1u + nosuch(b'x') + dyn(2)", Hyphens::Refused).unwrap_err();
    assert_eq!(faults.len(), 4, "{faults:?}");
}
