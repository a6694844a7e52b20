//! No text and no value makes an expression take long, much or deep.

use crate::ground::{Named, eval};
use edgewise_core::expr::{Expr, Hyphens, parse};
use edgewise_core::limits;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// On a stack much smaller than any that expressions are evaluated on.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1024 << 10).spawn(work).unwrap().join().unwrap();
}

/// Names values that are too large to be given away again and again.
fn exhausts(text: &str, names: &Value) {
    let named = Named::new(names.as_object().cloned().unwrap_or_default());
    let failure = named.bind(text).unwrap().eval(&&named).expect_err(text);
    assert_eq!(failure.kind, "BudgetExhausted", "{text}");
    assert!(failure.message.contains("allowed"), "{}", failure.message);
}

#[test]
fn a_megabyte_of_anything_nested_is_refused_at_once() {
    on_a_small_stack(|| {
        for part in ["(", "[", "{\"a\":", "!", "-", "- ", "a?b:", "a?", "1+(", "f(", "a[", "x.map(x,", "1||1&&1==1+1*("]
        {
            let fault = &parse(&part.repeat((1 << 20) / part.len()), Hyphens::Refused).unwrap_err()[0];
            assert!(["too_deep", "bad_expression", "bad_call"].contains(&fault.code), "{part}: {fault:?}");
        }
        for part in ["1+", "a.", "a||", "a,", "a[0]+", "'a'+", "a==", " "] {
            let fault = &parse(&part.repeat((1 << 20) / part.len()), Hyphens::Refused).unwrap_err()[0];
            assert!(["too_deep", "too_large", "bad_expression"].contains(&fault.code), "{part}: {fault:?}");
        }
    });
}

#[test]
fn an_expression_as_deep_as_allowed_does_everything_on_a_small_stack() {
    on_a_small_stack(|| {
        let deep = limits::EXPR_DEPTH as usize - 2;
        for (open, middle, close) in [
            ("(", "1", ")"),
            ("[", "1", "]"),
            ("!", "true", ""),
            ("{\"a\": ", "1", "}"),
            ("true ? 1 : ", "1", ""),
            ("1 + ", "1", ""),
            ("1 + (", "1", ")"),
            ("size([", "1", "])"),
            ("[1].map(x, ", "1", ")"),
        ] {
            let fits = (1..=deep).rev().find_map(|n| {
                let text = format!("{}{middle}{}", open.repeat(n), close.repeat(n));
                parse(&text, Hyphens::Refused).ok()
            });
            let ast = fits.unwrap();
            assert_eq!(parse(&ast.to_string(), Hyphens::Refused).unwrap(), ast);
            let expr: Expr = ast.clone().bind(&mut |_, _| unreachable!()).unwrap();
            let named = Named::new(Map::new());
            let _ = expr.eval(&&named);
            assert_eq!(ast.clone(), ast);
        }
    });
}

#[test]
fn long_rows_are_not_deep() {
    let row = |sign: &str| vec!["true"; 5_000].join(sign);
    for text in [row(" && "), row("||"), format!("size([{}]) == 5000", row(","))] {
        assert_eq!(eval(&text, &json!({})).unwrap(), json!(true));
    }
}

#[test]
fn too_many_steps_are_a_failure_that_nothing_absorbs() {
    exhausts("range(1000000).all(x, range(1000000).all(y, true))", &json!({}));
    exhausts("range(10000).exists(x, range(10000).exists(y, 1 / 0 == x)) || true", &json!({}));
    exhausts("range(100000000) == [] && false", &json!({}));
}

#[test]
fn too_many_bytes_are_a_failure() {
    let big = json!({"t": "x".repeat(1 << 20), "l": vec![0; 100_000]});
    for text in [
        "range(1000).map(x, t)",
        "range(1000).map(x, t + t).size()",
        "range(1000).map(x, l).size()",
        "t.replace('x', t).size()",
        "t.split('').map(c, t).size()",
        "range(1000).map(x, t.upperAscii()).size()",
        "range(1000).map(x, json(l)).size()",
        "zip(l, range(100000).map(x, t))",
    ] {
        exhausts(text, &big);
    }
}

#[test]
fn comparing_and_searching_large_values_costs_steps() {
    let big = json!({"a": vec![0; 100_000], "t": "x".repeat(1 << 20)});
    for text in ["range(1000).all(x, a == a)", "range(1000).exists(x, 1 in a)", "range(10000).all(x, !t.contains('y'))"]
    {
        exhausts(text, &big);
    }
}

#[test]
fn a_pattern_costs_steps_whether_it_can_be_read_or_not() {
    let letters: String = (0..320).map(|n| char::from_u32(0x4e00 + 2 * n).unwrap()).collect();
    let names = json!({"bad": format!("[{letters}]{{9999}}"), "empty": "(){1000}{4}", "wrong": "(".repeat(900)});
    for text in [
        "range(100000).exists(x, 'a'.matches(bad))",
        "range(100000).exists(x, 'a'.matches(bad) || false)",
        "range(100000).exists(x, 'a'.matches(empty) && false)",
        "range(100000).exists(x, 'a'.matches(wrong))",
    ] {
        exhausts(text, &names);
    }
}

#[test]
fn a_value_that_could_not_be_read_again_is_not_made() {
    let text = format!("{}x{}", "[".repeat(limits::DEPTH + 1), "]".repeat(limits::DEPTH + 1));
    let failure = eval(&text, &json!({"x": 1})).unwrap_err();
    assert_eq!(failure.kind, "BudgetExhausted");
    assert!(failure.message.contains("nested deeper than the 64 levels"), "{}", failure.message);
}

#[test]
fn naming_values_in_each_other_is_bounded() {
    let parsed = |text: &str| parse(text, Hyphens::Refused).unwrap();
    let mut wide = parsed("inputs.x");
    let mut deep = parsed("inputs.x");
    let mut refused = (None, None);
    for _ in 0..1_000 {
        if refused.0.is_none() {
            match parsed("[v, v, v, v]").substitute(&mut |_| Some(&wide)) {
                Ok(ast) => wide = ast,
                Err(faults) => refused.0 = Some(faults[0].code),
            }
        }
        if refused.1.is_none() {
            match parsed("-v").substitute(&mut |_| Some(&deep)) {
                Ok(ast) => deep = ast,
                Err(faults) => refused.1 = Some(faults[0].code),
            }
        }
    }
    assert_eq!(refused, (Some("too_large"), Some("too_deep")));
}

#[test]
fn what_is_made_of_named_values_can_always_be_loaded_again() {
    let parsed = |text: &str| parse(text, Hyphens::Refused).unwrap();
    let reload = |ast: edgewise_core::expr::Ast| {
        let expr = ast.bind(&mut |_, _| Ok((1, edgewise_core::template::Root::Input))).unwrap();
        let loaded: Expr = serde_json::from_str(&serde_json::to_string(&expr).unwrap()).unwrap();
        assert_eq!(loaded, expr);
    };
    // Brackets are levels too, when the text is read again.
    let mut ast = parsed("x");
    while let Ok(next) = parsed("1 - v").substitute(&mut |_| Some(&ast)) {
        ast = next;
    }
    reload(ast);
    let mut deep = json!(1);
    (0..limits::DEPTH).for_each(|_| deep = json!([deep]));
    let mut ast = edgewise_core::expr::Ast::literal(deep);
    while let Ok(next) = parsed("[v]").substitute(&mut |_| Some(&ast)) {
        ast = next;
    }
    reload(ast);
    let long = edgewise_core::expr::Ast::literal(json!("x".repeat(limits::EXPR_BYTES * 2)));
    reload(parsed("v + v").substitute(&mut |_| Some(&long)).unwrap());
    let many = format!("[{}]", vec!["v"; 100].join(","));
    assert_eq!(parsed(&many).substitute(&mut |_| Some(&long)).unwrap_err()[0].code, "too_large");
}

#[test]
fn what_is_selected_is_borrowed() {
    let names = json!({"plan": {"targets": vec![1; 100_000]}});
    let named = Named::new(names.as_object().cloned().unwrap());
    for text in [
        "plan.targets",
        "plan['targets']",
        "plan.targets[5]",
        "true ? plan.targets : []",
        "[1, 2, {\"a\": 3}]",
        "max(plan.targets)",
    ] {
        let expr = named.bind(text).unwrap();
        assert!(matches!(expr.eval(&&named), Ok(Cow::Borrowed(_))), "{text}");
    }
    let looked = named.bind("plan.targets.exists(x, plan.targets.size() == 3)").unwrap();
    assert_eq!(looked.eval(&&named).unwrap().as_ref(), &Value::Bool(false));
}

/// Run by hand, in release: `cargo test --release --test expr -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn a_guard_takes_less_than_two_microseconds() {
    let names = json!({"inputs": {"version": "1.2.3"}, "tasks": {"a": {"output": {"rows": [1, 2, 3, 4]}}}});
    let named = Named::new(names.as_object().cloned().unwrap());
    let expr = named.bind("inputs.version != '0.0.0' && tasks.a.output.rows.size() > 3").unwrap();
    const ROUNDS: u32 = 1_000_000;
    let start = std::time::Instant::now();
    for _ in 0..ROUNDS {
        assert_eq!(std::hint::black_box(&expr).eval(&&named).unwrap().as_ref(), &Value::Bool(true));
    }
    println!("{:?} for each", start.elapsed() / ROUNDS);
    assert!(start.elapsed() / ROUNDS < std::time::Duration::from_micros(2));
}
