//! Every statement, and the tree it becomes.

use super::{ETL, dump, tree};
use edgewise_core::text::parse;
use edgewise_core::text::tree::{StatementKind, Value, Work};

/// The tree of a flow's body; `\n` in it starts a line that is indented as written.
fn check(body: &str, expected: &str) {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
    let text = format!("flow f(xs, a, b):\n{}\n\nfn helper(x, y=2):\n    return x\n", lines.join("\n"));
    let parsed = parse(&text, "a.flow").unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    assert_eq!(dump::block(&parsed.program.flows[0].body), format!("{{ {expected} }}"), "{body}");
}

#[test]
fn every_statement_has_its_tree() {
    for (body, expected) in [
        ("pass", "pass"),
        ("x = 1 + 2 * a", "x = ‹1 + 2 * a›"),
        ("x, y = [1, 2]", "x, y = ‹[1, 2]›"),
        ("x = 1\nx += a - b", "x = ‹1›; x = ‹x + (a - b)›"),
        ("x = 1\nx -= a ? 1 : 2", "x = ‹1›; x = ‹x - (a ? 1 : 2)›"),
        ("@ci.test()", "do @ci.test()"),
        ("@ci/build-all(v=-1, w={\"k\": [a]},)", "do @ci/build-all(v=‹-1›, w=‹{\"k\": [a]}›)"),
        ("x = @a(v=a == b)", "x = @a(v=‹a == b›)"),
        ("helper(1)", "do helper(‹1›)"),
        ("x = helper(1, y=a)", "x = helper(‹1›, y=‹a›)"),
        ("return helper(x=1)", "return helper(x=‹1›)"),
        ("x = size(xs)", "x = ‹size(xs)›"),
        ("x = xs.map(y, y.n)", "x = ‹xs.map(y, y.n)›"),
        ("x = (a)[0]", "x = ‹a[0]›"),
        ("return", "return nothing"),
        ("return a", "return ‹a›"),
        ("sleep 1h30m", "sleep for 1h30m"),
        ("sleep 90", "sleep ‹90›"),
        ("sleep a.seconds * 2", "sleep ‹a.seconds * 2›"),
        ("raise TooMany(\"more than \" + string(a))", "raise TooMany(‹\"more than \" + string(a)›)"),
        ("raise aws.Throttled", "raise aws.Throttled()"),
        ("if a:\n    pass", "if ‹a› { pass }"),
        (
            "if a ? b : xs:\n    pass\nelif b:\n    pass\nelse:\n    return",
            "if ‹a ? b : xs› { pass } if ‹b› { pass } else { return nothing }",
        ),
        (
            "for x in xs:\n    if x in [1]:\n        continue\n    break",
            "for x in ‹xs› { if ‹x in [1]› { continue }; break }",
        ),
        ("while true:\n    break", "while ‹true› { break }"),
        (
            "try:\n    @a()\nexcept A, b.B as e:\n    raise\nexcept:\n    pass",
            "try { do @a() } except [A, b.B] as e { raise } except [] { pass }",
        ),
        ("x = (a +  # why\n     b)", "x = ‹a + b›"),
        ("x = \"a#b\" + 'c'", "x = ‹\"a#b\" + \"c\"›"),
        ("x = \"\"\"a\n# no comment\n\"b\" \"\"\"", "x = ‹\"a\\n    # no comment\\n    \\\"b\\\" \"›"),
        ("x = r\"\\d\"", "x = ‹\"\\\\d\"›"),
    ] {
        check(body, expected);
    }
}

#[test]
fn work_that_forks_has_its_tree() {
    for (body, expected) in [
        ("spread xs:x -> @a(v=x)", "do spread ‹xs› as x -> @a(v=‹x›)"),
        (
            "y = spread a ? xs : []:x -> helper(x) [tolerate: 2]",
            "y = spread ‹a ? xs : []› as x -> helper(‹x›) tolerate=2 fail_fast=false",
        ),
        (
            "y = spread xs.map(x, {\"k\": x}):x -> @a() [retry: 2] [tolerate: 1, fail_fast]",
            "y = spread ‹xs.map(x, {\"k\": x})› as x -> @a() retry=2 tolerate=1 fail_fast=true",
        ),
        ("parallel:\n    @a()\n    helper(1)", "do parallel { @a(); helper(‹1›) }"),
        (
            "x, y = parallel [fail_fast]:\n    @a() [timeout: 1m]\n    @b()\nreturn x",
            "x, y = parallel { @a() timeout=1m; @b() } tolerate=0 fail_fast=true; return ‹x›",
        ),
        ("x = parallel:\n    @a()\n    @b()", "x = parallel { @a(); @b() }"),
        ("return parallel:\n    @a()", "return parallel { @a() }"),
    ] {
        check(body, expected);
    }
}

#[test]
fn policies_are_keyed_and_read() {
    for (brackets, expected) in [
        ("[retry: 3]", " retry=3"),
        ("[retry: 3, backoff: 5s] [timeout: 2m]", " retry=3 backoff=5s timeout=2m"),
        (
            "[backoff: 1s, kind: linear, factor: 1.5, cap: 1m, jitter: 0]",
            " backoff=1s kind=linear factor=1500 cap=1m jitter=0",
        ),
        (
            "[timeout: 2m, overall: 1h, queue_timeout: 10m, heartbeat: 30s]",
            " timeout=2m overall=1h queue_timeout=10m heartbeat=30s",
        ),
        (
            "[NetworkError, aws.Throttled -> retry: 5, backoff: 30s] [retry: 1]",
            " retry=1 on NetworkError, aws.Throttled: retry=5 backoff=30s",
        ),
        ("[queue: nightly, priority: -5]", " queue=nightly priority=-5"),
        (
            "[limit: \"registry\", max: 4] [queue: \"a/b\"] [rate: \"10/s\"]",
            " queue=a/b limit=‹\"registry\"› max=4 rate=10/s",
        ),
        ("[limit: x ? 1 : 2, rate: 600/m]", " limit=‹x ? 1 : 2› rate=600/m"),
    ] {
        check(&format!("@a() {brackets}"), &format!("do @a(){expected}"));
    }
}

#[test]
fn gates_are_the_gates_of_yaml() {
    for (body, expected) in [
        ("wait approval()", r#"{"wait":{"approval":{"from":[],"count":1}}}"#),
        (
            "wait approval(from=[lead, \"team/quality\"])",
            r#"{"wait":{"approval":{"from":["lead","team/quality"],"count":2}}}"#,
        ),
        (
            "wait approval(from=['a', b, c], count=2, deadline=2d, on_deadline=open)",
            r#"{"wait":{"approval":{"from":["a","b","c"],"count":2}},"deadline":172800000,"on_deadline":"open"}"#,
        ),
        ("wait until \"1970-01-01T00:00:01Z\"", r#"{"wait":{"until":1000}}"#),
        ("wait webhook()", r#"{"wait":"webhook"}"#),
        ("wait webhook(deadline=2d)", r#"{"wait":"webhook","deadline":172800000}"#),
        (
            "wait external(system=\"jira\", id=a.ticket)",
            r#"{"wait":{"external":{"system":"jira","id":{"value":null}}}} id=‹a.ticket›"#,
        ),
    ] {
        check(body, &format!("wait {expected}"));
    }
}

#[test]
fn headers_have_parameters_types_defaults_and_policies() {
    let text = "flow night/load-all(sources: list, limit: int = 10, note=null) [retry: 2] [timeout: 1m]:\n    pass\n\nfn f(a, b=[1]):\n    pass\n";
    let expected = "flow night/load-all(sources: list, limit: integer = ‹10›, note: any = ‹null›) retry=2 timeout=1m { pass }\nfn f(a: any, b: any = ‹[1]›) { pass }";
    assert_eq!(tree(text), expected);
}

#[test]
fn a_whole_program_is_read() {
    let expected = "flow etl(sources: any, limit: any) { \
        listed = @catalog.list(sources=‹sources›) retry=3 backoff=5s timeout=2m; \
        rows = spread ‹listed› as src -> @load(source=‹src›) on NetworkError: retry=5 backoff=30s; \
        good = ‹rows.filter(r, r.ok)›; \
        if ‹size(good) == 0› { return ‹{\"loaded\": 0}› } if ‹size(good) > limit› { sleep for 1h } else { pass }; \
        left, right = parallel { @publish(rows=‹good›); @index(rows=‹good›) }; \
        total = ‹0›; \
        for r in ‹good› { total = ‹total + r.count›; if ‹total > limit› { break } }; \
        try { do @notify(total=‹total›) } except [SmtpError] as e { do @page(reason=‹e.message›) }; \
        return ‹{\"loaded\": total, \"published\": left}› }\n\
        fn helper(x: any) { return @double(v=‹x›) }";
    assert_eq!(tree(ETL), expected);
}

#[test]
fn layout_makes_no_difference() {
    let plain = tree(ETL);
    for (from, to) in [("\n", "\r\n"), ("\n", "\r"), ("    ", "  "), ("\n", "  \n\n"), (" # comments", "# comments")] {
        assert_eq!(tree(&ETL.replace(from, to)), plain, "{from:?} {to:?}");
    }
    let broken = ETL
        .replace("(sources=sources)", "(\n# a\nsources=sources,  # b\n\n)")
        .replace("{\"loaded\": total, ", "{\"loaded\":\ntotal,\n");
    assert_eq!(tree(&broken), plain);
    assert_eq!(tree(&format!("\u{feff}{ETL}")), plain);
}

#[test]
fn places_are_those_of_the_text() {
    let text = "flow f(a):\n    é = 1\n".replace('é', "e");
    let text = format!("# ü\n{text}    total = a\n    total += a.b(\n        # x\n        1)\n");
    let problems = parse(&text, "a.flow").unwrap_err();
    assert_eq!((problems.list[0].line, problems.list[0].code), (5, "unknown_function"), "{problems}");
    let text = "flow f(a):\n    total = a\n    total += a.count\n    x = @load(v=a)\n";
    let program = parse(text, "a.flow").unwrap().program;
    let StatementKind::Assign { value: Value::Expr(sum), .. } = &program.flows[0].body[1].kind else { panic!() };
    let mut found = Vec::new();
    sum.ast.names(&mut |names, span| {
        let from = (sum.at.start + span.from) as usize;
        found.push((names.join("."), text[from..].chars().take((span.to - span.from) as usize).collect::<String>()));
    });
    let expected = [("total", "total"), ("a.count", "a.count")];
    assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    let StatementKind::Assign { value: Value::Work(Work::Call(_)), targets } = &program.flows[0].body[2].kind else {
        panic!()
    };
    assert_eq!(&text[targets[0].at.range()], "x");
    assert_eq!(&text[program.flows[0].body[2].at.range()], "x = @load(v=a)");
}
