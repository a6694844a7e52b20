//! What a program can ask of the work graph and of secrets is what YAML can.

use edgewise_core::flow::{self, Found, Resolve, compile_file_with};
use edgewise_core::plan::{Plan, Spec};
use edgewise_core::text;
use serde_json::{Map, Value, json};

fn program(source: &str) -> Plan {
    let laid_out = text::format(source, "p.flow").unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(text::format(&laid_out, "p.flow").unwrap(), laid_out, "what is laid out stays as it is");
    text::compile(&laid_out, "p.flow").unwrap_or_else(|problems| panic!("{problems}")).remove(0).plan
}

fn yaml(source: &str) -> Plan {
    flow::compile(source, "p.yaml").unwrap_or_else(|problems| panic!("{problems}")).plan
}

/// What both front ends make of one task, all of it.
#[track_caller]
fn check(program_text: &str, yaml_text: &str) {
    let specs = |plan: Plan| plan.specs.iter().map(|spec: &Spec| format!("{spec:?}")).collect::<Vec<_>>();
    assert_eq!(specs(program(program_text)), specs(yaml(yaml_text)));
}

#[test]
fn an_item_is_the_same_in_a_program_and_in_yaml() {
    check("flow f():\n    @item(title=\"Review it\")\n", "{ flow: f, tasks: { item: { item: Review it } } }");
    check(
        "flow f():\n    @item(tags=[\"a\"], priority=2, assignee=\"bob\", title=\"T\", acceptance=\"A\", description=\"D\") [retry: 3, timeout: 1h, overall: 2h]\n",
        "{ flow: f, tasks: { item: { item: { title: T, description: D, acceptance: A, priority: 2, assignee: bob, tags: [a] }, \
         retry: 3, timeout: { attempt: 1h, overall: 2h } } } }",
    );
    // What holds for the actions of a flow does not hold for people: an item is made once unless it says more.
    check(
        "flow f() [retry: 5, timeout: 1m, queue: nightly]:\n    @item(title=\"T\")\n",
        "{ flow: f, defaults: { retry: 5, timeout: 1m, queue: nightly }, tasks: { item: { item: T } } }",
    );
}

/// The names of a body's nodes, in their order.
#[track_caller]
fn named(statements: &str, expected: &[&str]) {
    let lines: String = statements.split("; ").map(|line| format!("    {line}\n")).collect();
    let plan = program(&format!("flow f():\n{lines}"));
    let names: Vec<&str> = (0..plan.root().len()).map(|node| plan.root().name(node)).collect();
    assert_eq!(names, expected, "{statements}");
}

#[test]
fn a_number_behind_a_name_never_takes_a_name_that_the_author_wrote() {
    named("@b(); @b(); @c(); @b()", &["b", "b-2", "c", "b-3"]);
    named("@b(); @b(); @b-2()", &["b", "b-3", "b-2"]);
    named("@b-2(); @b(); @b(); @b()", &["b-2", "b", "b-3", "b-4"]);
    named("@b-3(); @b-3(); @b-2(); @b(); @b(); @b()", &["b-3", "b-3-2", "b-2", "b", "b-4", "b-5"]);
    named("@b.2(); @b(); @b()", &["b-2", "b", "b-3"]);
    named("@b-2(); @b-2(); @b-2-2()", &["b-2", "b-2-3", "b-2-2"]);
    named("x = @b(); x = @b(); x, y = @x-2()", &["x", "x-3", "x-2"]);
    named("sleep 1s; sleep 1s; return @sleep-2()", &["sleep", "sleep-3", "sleep-2"]);
    named("x = @b-2(); @b(); @b()", &["x", "b", "b-2"]);
}

/// One statement, and the task that is the same.
#[test]
fn every_kind_of_work_is_the_same_in_a_program_and_in_yaml() {
    for (statement, task) in [
        ("x = @ci.test(a=1, b=\"two\")", "{ action: ci.test, with: { a: 1, b: two } }"),
        ("x = @run(script=\"make\")", "{ run: make }"),
        ("x = @run(script=\"make\", output=\"json\", A=\"b\")", "{ run: make, output: json, env: { A: b } }"),
        ("x = @run(script=\"make\", output=\"lines\")", "{ run: make, output: lines }"),
        ("x = @http(url=\"https://a.b\")", "{ http: 'https://a.b' }"),
        ("x = @http(method=\"DELETE\", url=\"https://a.b\")", "{ http: { method: DELETE, url: 'https://a.b' } }"),
        (
            "x = @http(url=\"https://a.b\", json={\"k\": 1}, headers={\"X-A\": \"b\"}, method=\"PUT\")",
            "{ http: { method: PUT, url: 'https://a.b', headers: { X-A: b }, json: { k: 1 } } }",
        ),
        ("x = @http(url=\"https://a.b\", body=\"text\")", "{ http: { url: 'https://a.b', body: text } }"),
        ("@emit(name=\"told\")", "{ emit: told }"),
        (
            "@emit(name=\"told\", delivery=\"fast\", payload={\"v\": 1})",
            "{ emit: { name: told, delivery: fast, payload: { v: 1 } } }",
        ),
        ("x = flow inner(version=\"1\", dry=true)", "{ flow: inner, with: { version: '1', dry: true } }"),
        (
            "x = flow inner(version=\"1\") [retry: 2, timeout: 1h]",
            "{ flow: inner, with: { version: '1' }, retry: 2, timeout: 1h }",
        ),
        ("sleep 1h30m", "{ gate: { timer: 90m } }"),
        ("wait until \"2027-01-31T12:00:00Z\"", "{ gate: { until: '2027-01-31T12:00:00Z' } }"),
        ("wait approval()", "{ gate: { approval: {} } }"),
        (
            "wait approval(from=[lead, \"team/b\"], count=2, deadline=2d, on_deadline=open)",
            "{ gate: { approval: { from: [lead, team/b], count: 2 }, deadline: 2d, on_deadline: open } }",
        ),
        (
            "wait approval(from=[lead], count=2, escalate={4h: [boss], 1d: [\"team/b\", owner]})",
            "{ gate: { approval: { from: [lead], count: 2 }, escalate: [{ after: 4h, to: [boss] }, { after: 1d, to: [team/b, owner] }] } }",
        ),
        ("wait webhook()", "{ gate: { webhook: {} } }"),
        (
            "x = wait webhook(deadline=1h, on_deadline=reject)",
            "{ gate: { webhook: {}, deadline: 1h, on_deadline: reject } }",
        ),
        ("x = wait external(system=jira, id=\"ABC-1\")", "{ gate: { external: { system: jira, id: ABC-1 } } }"),
        ("x = wait shared(\"ew-g1\")", "{ gate: { shared: ew-g1 } }"),
    ] {
        of_one_task(statement, task);
    }
}

/// Parameters, and the inputs that are the same.
#[test]
fn what_a_run_must_be_given_is_the_same_in_a_program_and_in_yaml() {
    for (parameter, input) in [
        ("v", "{}"),
        ("v: string", "{ type: string }"),
        ("v: int = 3", "{ type: integer, default: 3 }"),
        ("v: list = [1, \"a\"]", "{ type: list, default: [1, a] }"),
        ("v: string(pattern=r\"^\\d+$\")", "{ type: string, pattern: '^\\d+$' }"),
        ("v: string(pattern=\"^a+$\") = \"aa\"", "{ type: string, pattern: '^a+$', default: aa }"),
    ] {
        let program = program(&format!("flow f({parameter}):\n    pass\n"));
        let yaml = yaml(&format!("flow: f\ninputs: {{ v: {input} }}\ntasks: {{ a: {{ run: x }} }}\n"));
        assert_eq!(program.inputs, yaml.inputs, "{parameter}");
    }
}

#[test]
fn a_pattern_that_is_none_and_a_default_that_does_not_fit_are_refused() {
    for (parameter, says) in [
        ("v: string(pattern=\"(\")", "1:26 bad_pattern: `(` is no pattern"),
        ("v: string(pattern=1)", "1:26 bad_pattern: a pattern is a text, not `1`"),
        ("v: string(pattern=\"^a$\") = \"b\"", "1:8 bad_default: input `v` expects a text that fits `^a$`, found `b`"),
    ] {
        let problems = text::compile(&format!("flow f({parameter}):\n    pass\n"), "p.flow").unwrap_err();
        let first = &problems.list[0];
        let said = format!("{}:{} {}: {}", first.line, first.column, first.code, first.message);
        assert!(said.starts_with(says), "{said}");
    }
}

/// Brackets, and the keys that are the same.
#[test]
fn every_policy_is_the_same_in_a_program_and_in_yaml() {
    for (brackets, keys) in [
        ("[retry: 5]", "retry: 5"),
        (
            "[retry: 5, backoff: 2s, kind: fixed, jitter: 0]",
            "retry: { max_attempts: 5, backoff: { kind: fixed, base: 2s }, jitter: 0 }",
        ),
        (
            "[retry: 5, backoff: 2s] [factor: 3, cap: 1m]",
            "retry: { max_attempts: 5, backoff: { base: 2s, factor: 3, cap: 1m } }",
        ),
        ("[timeout: 2m]", "timeout: 2m"),
        (
            "[timeout: 2m, overall: 1h, queue_timeout: 10m, heartbeat: 30s]",
            "timeout: { attempt: 2m, overall: 1h, queue: 10m, heartbeat: 30s }",
        ),
        ("[queue: nightly, priority: 5]", "queue: nightly, priority: 5"),
        ("[limit: \"registry\", max: 4]", "limit: { key: '\"registry\"', max: 4 }"),
        ("[limit: \"registry\", max: 4, rate: \"10/s\"]", "limit: { key: '\"registry\"', max: 4, rate: 10/s }"),
        ("[publish: \"loaded\"]", "publish: [loaded]"),
        (
            "[publish: [\"a\", {\"name\": \"b\", \"condition\": \"failure\", \"delivery\": \"broadcast\", \"payload\": {\"x\": 1}}]]",
            "publish: [a, { name: b, condition: failure, delivery: broadcast, payload: { x: 1 } }]",
        ),
    ] {
        of_one_task(&format!("@act(a=1) {brackets}"), &format!("{{ action: act, with: {{ a: 1 }}, {keys} }}"));
    }
}

/// A flow with one statement, and a flow with one task; what either is called does not matter.
#[track_caller]
fn of_one_task(statement: &str, task: &str) {
    let program = format!("flow f():\n    {statement}\n");
    let laid_out = text::format(&program, "p.flow").unwrap_or_else(|problems| panic!("{statement}: {problems}"));
    let yaml = format!("flow: f\ntasks:\n  a: {task}\n");
    let specs = |text: &str, file: &str| {
        let compiled = compile_file_with(text, file, &mut Inner).unwrap_or_else(|p| panic!("{statement}: {p}"));
        compiled[0].plan.specs.iter().map(|spec| joined(serde_json::to_value(spec).unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(specs(&laid_out, "p.flow"), specs(&yaml, "p.yaml"), "{statement}");
}

/// A map of values is a value: which of both is stored depends on who wrote it, and makes no difference.
fn joined(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    if let (1, Some(Value::Array(entries))) = (fields.len(), fields.get("map")) {
        let values: Option<Map<String, Value>> =
            entries.iter().map(|entry| Some((entry[0].as_str()?.to_owned(), entry[1].get("value")?.clone()))).collect();
        if let Some(values) = values {
            return json!({ "value": values });
        }
    }
    fields.into_iter().map(|(key, value)| (key, joined(value))).collect()
}

struct Inner;

impl Resolve for Inner {
    fn find(&mut self, name: &str, _: &str) -> Result<Option<Found>, String> {
        let text =
            "{ flow: inner, inputs: { version: {}, dry: { default: false } }, tasks: { a: { run: x } } }".to_owned();
        Ok((name == "inner").then(|| Found::File { text, file: "inner.yaml".into() }))
    }
}

#[test]
fn a_secret_is_the_same_in_a_program_and_in_yaml() {
    check(
        "flow f() [secrets: [\"TOKEN\"]]:\n    @run(script=\"deploy\", KEY=secrets.TOKEN)\n",
        "{ flow: f, secrets: [TOKEN], tasks: { run: { run: deploy, env: { KEY: '${{ secrets.TOKEN }}' } } } }",
    );
    check(
        "flow f() [secrets: [\"A\", \"B\"]]:\n    @call(one=secrets.A, two=secrets.B)\n",
        "{ flow: f, secrets: [A, B], tasks: { call: { action: call, with: { one: '${{ secrets.A }}', two: '${{ secrets.B }}' } } } }",
    );
    for value in ["{\"key\": [secrets.A]}", "\"Bearer \" + secrets.A", "{\"a\": {\"b\": name + secrets.A + \"!\"}}"] {
        let source =
            format!("flow f(name) [secrets: [\"A\"]]:\n    @http(url=\"https://example.org\", json={value})\n");
        assert!(format!("{:?}", program(&source).specs).contains("Secret"), "{value}");
    }
}

#[test]
fn a_function_sees_the_secrets_of_the_flow_that_calls_it_and_a_variable_hides_them() {
    let source = "flow f() [secrets: [\"A\"]]:\n    send()\n\nfn send():\n    @call(key=secrets.A)\n";
    assert!(format!("{:?}", program(source).specs).contains("Secret"));
    let own = "flow f():\n    secrets = {\"A\": 1}\n    @call(key=secrets.A)\n";
    assert!(!format!("{:?}", program(own).specs).contains("Secret"));
}

#[test]
fn what_is_wrong_with_items_and_secrets_is_said_at_its_place() {
    let check = |body: &str, expected: &[&str]| {
        let source = format!("flow f() [secrets: [\"TOKEN\"]]:\n{body}\n");
        let problems = text::compile(&source, "p.flow").unwrap_err();
        let said: Vec<String> =
            problems.list.iter().map(|p| format!("{}:{} {}: {}", p.line, p.column, p.code, p.message)).collect();
        assert_eq!(said, expected, "{source}");
    };
    check("    @item(priority=2)", &["2:5 missing_argument: `@item` is not given `title`"]);
    check("    @item(titel=\"x\")", &["2:11 unknown_key: `@item` has no argument `titel`"]);
    check("    @item(title=\"x\", priority=9)", &["2:31 bad_value: the priority of an item is 1 to 5, not 9"]);
    check(
        "    @item(title=\"x\") [queue: q]",
        &["2:5 misplaced_key: `queue` has no meaning behind an item: no worker is given it"],
    );
    check("    @call(key=secrets.TOKEM)", &["2:15 unknown_secret: there is no secret `TOKEM`"]);
    let computed = "2:15 secret_computed: a secret is handed over as it is: nothing can be computed from it";
    for value in [
        "size(secrets.TOKEN)",
        "secrets.TOKEN.x",
        "{secrets.TOKEN: 1}",
        "secrets.TOKEN == \"a\"",
        "[1].map(i, secrets.TOKEN)",
    ] {
        check(&format!("    @call(key={value})"), &[computed]);
    }
    check("    @call(key=secrets)", &["2:15 bad_reference: which secret is meant?"]);
    let kept = "bad_reference: a secret cannot be named here, because what stands here is kept";
    check(
        "    @call(key=secrets.TOKEN)\n    x = secrets.TOKEN\n    @item(title=secrets.TOKEN)\n    @http(url=secrets.TOKEN)\n    @emit(name=\"told\", payload=secrets.TOKEN)\n    return x",
        &[&format!("3:9 {kept}"), &format!("4:17 {kept}"), &format!("5:15 {kept}"), &format!("6:32 {kept}")],
    );
    for (declared, code) in [
        ("\"A\"", "bad_value"),
        ("[\"a-b\"]", "bad_name"),
        ("[\"A\", \"A\"]", "duplicate_name"),
        ("[x]", "not_constant"),
    ] {
        let problems = text::compile(&format!("flow f() [secrets: {declared}]:\n    pass\n"), "p.flow").unwrap_err();
        assert_eq!(problems.list.iter().map(|p| p.code).collect::<Vec<_>>(), [code], "{declared}");
    }
}
