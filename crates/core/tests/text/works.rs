//! What a program can ask of the work graph and of secrets is what YAML can.

use edgewise_core::flow;
use edgewise_core::plan::{Plan, Spec};
use edgewise_core::text;

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
