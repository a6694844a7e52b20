//! Flows as authors write them: what they become, and what is said when they are wrong.

use edgewise_core::expr::Expr;
use edgewise_core::flow::{Compiled, Found, Level, Problems, Resolve, compile, compile_file_with};
use edgewise_core::plan::{Accepts, Items, Join, Plan, Resolution, Work};
use edgewise_core::template::{Root, Template};
use serde_json::json;

fn good(text: &str) -> Compiled {
    compile(text, "flow.yaml").unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

fn tasks(body: &str) -> Plan {
    good(&format!("flow: f\ninputs: {{ n: {{}} }}\ntasks:\n{body}")).plan
}

/// The problems of a flow, one line each; warnings say so.
fn said(problems: &Problems) -> Vec<String> {
    let line = |p: &edgewise_core::flow::Problem| {
        let level = if p.level == Level::Warning { " warning" } else { "" };
        let help = p.help.as_ref().map_or(String::new(), |help| format!(" -- {help}"));
        format!("{}:{}{level} {}: {}{help}", p.line, p.column, p.code, p.message)
    };
    problems.list.iter().map(line).collect()
}

fn problems(text: &str) -> Vec<String> {
    said(&compile(text, "flow.yaml").map_or_else(|problems| problems, |compiled| compiled.warnings))
}

/// Writes a golden file anew if `UPDATE_GOLDEN` is set; what changed is for a person to look at.
fn update(file: &str, text: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn what_takes_the_place_of_named_values_is_limited_by_number() {
    let flow = |uses: usize| {
        let value = vec!["1"; 5_000].join(", ");
        let tasks: String = (0..uses).map(|n| format!("  t{n}: {{ action: a, with: '${{{{ big }}}}' }}\n")).collect();
        format!("flow: f\nlet:\n  big: [{value}]\ntasks:\n{tasks}")
    };
    assert!(compile(&flow(51), "f.yaml").is_ok());
    let problems = compile(&flow(60), "f.yaml").unwrap_err().to_string();
    assert!(problems.contains("error[too_large]: named values have come to more than 250000 parts"), "{problems}");
}

#[test]
fn every_problem_is_said_at_its_place_with_what_to_do_about_it() {
    let cases = include_str!("golden/problems.txt");
    let mut count = 0;
    let mut wrong = Vec::new();
    let mut found = cases.split("\n%% ").next().unwrap().to_owned();
    for case in cases.trim_end().split("\n%% ").skip(1) {
        let (sentence, rest) = case.split_once('\n').unwrap();
        let (expected, flow): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.starts_with("=> "));
        let expected: Vec<&str> = expected.iter().map(|line| &line[3..]).collect();
        let (flow, said) = (flow.join("\n"), problems(&flow.join("\n")));
        found += &format!("\n%% {sentence}{}{flow}", if flow.is_empty() { "" } else { "\n" });
        said.iter().for_each(|line| found += &format!("\n=> {line}"));
        if said != expected {
            wrong.push(format!("{sentence}:\n{flow}\nexpected {expected:#?}, found {said:#?}"));
        }
        count += 1;
    }
    update("problems.txt", &(found + "\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count > 60, "only {count} cases were read");
}

#[test]
fn problems_print_the_way_a_compiler_does() {
    let text = "flow: f\ntasks:\n  a: { run: x }\n  b: { run: x, aftr: a }\n";
    let printed = compile(text, "dir/\u{1b}f.yaml").unwrap_err().to_string();
    assert_eq!(
        printed,
        "error[unknown_key]: a task has no key `aftr`
 --> dir/\\u{1b}f.yaml:4:16
  |
4 |   b: { run: x, aftr: a }
  |                ^^^^
  = help: did you mean `after`?
"
    );
}

#[test]
fn of_very_many_problems_the_first_are_shown_and_the_rest_are_counted() {
    let mut text = String::from("flow: f\ntasks:\n");
    for n in 0..5_000 {
        text += &format!("  t{n}: {{ run: x, after: u{n} }}\n");
    }
    let problems = compile(&text, "f").unwrap_err();
    assert_eq!((problems.list.len(), problems.more), (100, 4_900));
    assert!(problems.to_string().ends_with("… and 4900 more problems\n"));
}

#[test]
fn a_file_over_a_limit_is_refused_by_the_name_of_the_limit() {
    let deep = format!("flow: f\ntasks: {{ a: {{ action: x, with: {}1{} }} }}\n", "[".repeat(62), "]".repeat(62));
    assert!(problems(&deep)[0].contains("too_deep: the file is nested deeper than 64 levels"));
    let block = "- ".repeat(100_000);
    assert!(problems(&block)[0].contains("too_deep"));
    let large = " ".repeat((64 << 20) + 1);
    assert!(problems(&large)[0].contains("too_large: the file has 67108865 bytes, at most 67108864 are allowed"));
}

#[test]
fn edges_come_from_after_then_from_references_and_what_after_says_wins() {
    let plan = tasks(concat!(
        "  a: { run: x }\n  b: { run: x }\n",
        "  c: { run: x, after: { b: failed }, env: { A: '${{ tasks.a.output }}', B: '${{ tasks.b.output }}' } }\n",
        "  d: { run: x, after: [a, b, a], join: 1 }\n",
        "  e: { run: x, after: { a: [ok, skipped], b: done }, join: any }\n",
    ));
    let root = plan.root();
    let needs = |node| root.needs(node).map(|(_, e)| (e.up, e.accepts)).collect::<Vec<_>>();
    assert_eq!(needs(2), [(1, Accepts::of(Resolution::Failed)), (0, Accepts::SUCCESS)]);
    assert_eq!(needs(3), [(0, Accepts::SUCCESS), (1, Accepts::SUCCESS)]);
    assert_eq!(needs(4), [(0, Accepts::SUCCESS.or(Accepts::of(Resolution::Skipped))), (1, Accepts::DONE)]);
    assert_eq!([2, 3, 4].map(|n| root.join(n)), [Join::All, Join::Count(1), Join::Any]);
}

#[test]
fn a_spread_is_a_node_with_a_region_of_its_own() {
    let plan = tasks(concat!(
        "  a: { run: x, output: json }\n",
        "  b: { each: tasks.a.output.rows, as: row, tolerate: 2, fail_fast: true, retry: 7, action: t,\n",
        "       with: ['${{ row.id }}', '${{ tasks.a.output }}', '${{ inputs.n }}'] }\n",
    ));
    let Work::Spread(spread) = &plan.spec(0, 1).work else { panic!("{:?}", plan.spec(0, 1)) };
    let output = |up| Root::Output { up, node: 0 };
    assert_eq!((spread.region, spread.tolerate, spread.fail_fast), (1, 2, true));
    assert_eq!(spread.items, Items::Expr(Expr::root("tasks.a.output", output(0), &["rows"])));
    assert_eq!(plan.root().in_degree(1), 1, "the list is waited for");
    assert_eq!((plan.regions[1].len(), plan.regions[1].name(0)), (1, "b"));
    let Work::Action { with, .. } = &plan.spec(1, 0).work else { panic!("{:?}", plan.spec(1, 0)) };
    let reference = |written, root, keys: &[&str]| Template::Expr(Expr::root(written, root, keys));
    let expected = vec![
        reference("row", Root::Item { up: 0 }, &["id"]),
        reference("tasks.a.output", output(1), &[]),
        reference("inputs", Root::Input, &["n"]),
    ];
    assert_eq!(with, &Template::List(expected));
    assert_eq!((plan.spec(1, 0).retry.max_attempts, plan.spec(0, 1).retry.max_attempts), (7, 3));
}

#[test]
fn an_expression_implies_an_edge_from_every_task_it_names() {
    let plan = good(concat!(
        "flow: f\ninputs: { n: {} }\n",
        "let:\n  rows: ${{ tasks.a.output.rows }}\n  label: 'n=${{ inputs.n }} of ${{ rows.size() }}'\n",
        "tasks:\n  a: { run: x }\n  b: { run: x }\n",
        "  c: { each: 'rows.filter(r, r.ok)', run: x, env: { L: '${{ label }}', B: '${{ tasks.b.output + 1 }}' } }\n",
        "  d: { run: x, env: { N: '${{ 1 + 2 }}' } }\n",
    ));
    let plan = plan.plan;
    let needs = |node| plan.root().needs(node).map(|(_, e)| e.up).collect::<Vec<_>>();
    assert_eq!((needs(2), needs(3)), (vec![0, 1], vec![]));
    let Work::Spread(spread) = &plan.spec(0, 2).work else { panic!("{:?}", plan.spec(0, 2)) };
    let Items::Expr(items) = &spread.items else { panic!("{:?}", spread.items) };
    assert_eq!(items.text(), "tasks.a.output.rows.filter(r, r.ok)");
    let Work::Command(command) = &plan.spec(1, 0).work else { panic!("{:?}", plan.spec(1, 0)) };
    let Template::Expr(label) = &command.env[0].1 else { panic!("{:?}", command.env) };
    assert_eq!(label.text(), "[\"n=\", string(inputs.n), \" of \", string(tasks.a.output.rows.size())].join()");
    let Work::Command(command) = &plan.spec(0, 3).work else { panic!("{:?}", plan.spec(0, 3)) };
    assert_eq!(command.env[0].1, Template::Value(json!(3)), "what names nothing is computed once");
    assert_eq!(Plan::decode(&plan.encode().1).unwrap(), plan);
}

#[test]
fn named_values_cannot_multiply_a_flow_beyond_all_bounds() {
    let mut text = String::from("flow: f\ninputs: { n: {} }\nlet:\n  v0: ['${{ inputs.n }}']\n");
    (1..40).for_each(|n| text += &format!("  v{n}: ['${{{{ v{0} + v{0} + v{0} }}}}']\n", n - 1));
    text += "tasks:\n  a: { action: t, with: '${{ v39 }}' }\n";
    let said = problems(&text);
    assert!(said.iter().any(|line| line.contains("too_large")), "{said:#?}");
}

#[test]
fn a_byte_order_mark_and_other_line_ends_change_nothing() {
    let text = "flow: f\ntasks:\n  a:\n    run: |\n      one\n      two\n";
    let plain = good(text).plan;
    assert_eq!(good(&text.replace('\n', "\r\n")).plan, plain);
    assert_eq!(good(&format!("\u{feff}{text}")).plan, plain);
    let wrong = "flow: f\ntasks:\n  a: { run: x }\n  b: { run: x, aftr: a }\n";
    let said = ["4:16 unknown_key: a task has no key `aftr` -- did you mean `after`?"];
    for ends in ["\n", "\r\n", "\r"] {
        assert_eq!(problems(&wrong.replace('\n', ends)), said);
        assert_eq!(problems(&format!("\u{feff}{}", wrong.replace('\n', ends))), said);
    }
}

#[test]
fn values_keep_their_types_and_variables_their_spelling() {
    let plan = tasks("  a: { action: t, with: { n: 1.10, b: yes, on: off, i: 9223372036854775807 } }\n");
    let Work::Action { with, .. } = &plan.spec(0, 0).work else { panic!() };
    assert_eq!(with, &Template::Value(json!({"n": 1.1, "b": "yes", "on": "off", "i": i64::MAX})));
    let plan = tasks("  a: { run: x, env: { A: 1.10, B: true, C: , D: 007 } }\n");
    let Work::Command(command) = &plan.spec(0, 0).work else { panic!() };
    let texts: Vec<_> = command.env.iter().map(|(_, t)| t.clone()).collect();
    assert_eq!(texts, ["1.10", "true", "", "007"].map(|t| Template::Value(json!(t))));
}

#[test]
fn what_a_task_says_is_laid_over_the_defaults_key_by_key() {
    let defaults = "defaults: { retry: { max_attempts: 9, jitter: 1 }, timeout: { queue: 1h }, env: { A: a, B: b } }";
    let plan = good(&format!(
        "flow: f\n{defaults}\ntasks:\n  a: {{ run: x, retry: 2, timeout: 5s, env: {{ A: own }} }}\n  g: {{ gate: {{ timer: 1s }} }}\n"
    ))
    .plan;
    let spec = plan.spec(0, 0);
    assert_eq!((spec.retry.max_attempts, spec.retry.jitter_percent), (2, 1));
    assert_eq!(spec.timeouts.attempt.map(|m| m.0), Some(5_000));
    assert_eq!(spec.timeouts.queue.map(|m| m.0), Some(3_600_000));
    let Work::Command(command) = &spec.work else { panic!() };
    let env: Vec<_> = command.env.iter().map(|(k, t)| (k.as_str(), t.clone())).collect();
    assert_eq!(env, [("B", Template::Value(json!("b"))), ("A", Template::Value(json!("own")))]);
    assert_eq!(plan.spec(0, 1).retry, Default::default(), "a gate has no attempts");
}

#[test]
fn work_and_size_grow_with_the_flow_and_not_with_its_square() {
    let chain = |tasks: usize| {
        let mut text = String::from("flow: big\ntasks:\n  t0: { run: x }\n");
        for n in 1..tasks {
            let (up, kind) = (n - 1, n % 10);
            text +=
                &format!("  t{n}: {{ run: echo {kind}, after: t{up}, env: {{ A: '${{{{ tasks.t0.output }}}}' }} }}\n");
        }
        good(&text).plan
    };
    let (small, large) = (chain(1_000), chain(10_000));
    assert_eq!((small.specs.len(), large.specs.len()), (11, 11), "tasks that do the same share a spec");
    assert_eq!(large.root().len(), 10_000);
    assert_eq!(large.root().edge_count(), 2 * 9_999 - 1, "one edge each from after and from the reference");
    assert!(large.encode().1.len() < small.encode().1.len() * 12);
    // A join over everything before it, and names far from any other: quadratic work would not end here.
    let mut text = String::from("flow: wide\ntasks:\n");
    (0..20_000).for_each(|n| text += &format!("  t{n}: {{ run: x }}\n"));
    let all: Vec<String> = (0..20_000).map(|n| format!("t{n}")).collect();
    text += &format!("  last: {{ run: x, after: [{}] }}\n", all.join(", "));
    assert_eq!(good(&text).plan.root().in_degree(20_000), 20_000);
}

#[test]
fn a_plan_is_stored_the_same_way_by_every_release() {
    let compiled = good(include_str!("golden/everything.yaml"));
    assert!(compiled.warnings.is_empty(), "{}", compiled.warnings);
    assert_eq!(compiled.inputs().len(), 4);
    let (hash, bytes) = compiled.plan.encode();
    let golden = include_str!("golden/everything.json");
    update("everything.json", &format!("{}\n", String::from_utf8_lossy(&bytes)));
    assert_eq!(String::from_utf8_lossy(&bytes), golden.trim_end());
    let decoded = Plan::decode(&bytes).unwrap();
    assert_eq!(decoded, compiled.plan);
    assert_eq!(decoded.encode().0, hash);
}

/// The one flow beside those of the golden files.
struct Child;

impl Resolve for Child {
    fn find(&mut self, name: &str, _: &str) -> Result<Option<Found>, String> {
        let text = "flow: child\ninputs: { v: {} }\ntasks: { a: { action: x } }\n".to_owned();
        Ok((name == "child").then(|| Found::File { text, file: "child.yaml".into() }))
    }
}

/// The bytes that plans are stored as, and what is registered beside them, one on each line.
#[track_caller]
fn is_stored_as(text: &str, file: &str, golden: &str) {
    let compiled = compile_file_with(text, file, &mut Child).unwrap_or_else(|problems| panic!("{problems}"));
    let mut lines = Vec::new();
    for one in &compiled {
        assert!(one.warnings.is_empty(), "{}", one.warnings);
        let (hash, bytes) = one.plan.encode();
        let decoded = Plan::decode(&bytes).unwrap();
        assert_eq!((&decoded, decoded.encode().0), (&one.plan, hash));
        lines.push(String::from_utf8(bytes).unwrap());
        lines.extend(one.schedules.iter().map(|(name, one)| format!("{name} {}", serde_json::to_string(one).unwrap())));
        lines.extend(one.hook.iter().map(|hook| serde_json::to_string(hook).unwrap()));
    }
    update(&golden_of(file), &(lines.join("\n") + "\n"));
    assert_eq!(lines, golden.lines().collect::<Vec<_>>(), "{file} would be stored differently now");
}

fn golden_of(file: &str) -> String {
    format!("{}.json", file.strip_suffix(".yaml").unwrap_or(file))
}

#[test]
fn what_came_after_the_first_form_is_stored_the_same_way_too() {
    let text = include_str!("golden/everything-else.yaml");
    is_stored_as(text, "everything-else.yaml", include_str!("golden/everything-else.json"));
}

#[test]
fn a_program_is_stored_the_same_way_by_every_release() {
    let text = include_str!("golden/everything.flow");
    is_stored_as(text, "everything.flow", include_str!("golden/everything.flow.json"));
}

/// So that a further kind of work, gate or statement finds its way into the golden files.
#[test]
fn the_golden_plans_have_every_kind_of_work_gate_and_statement_in_them() {
    let all = concat!(
        include_str!("golden/everything.json"),
        include_str!("golden/everything-else.json"),
        include_str!("golden/everything.flow.json"),
    );
    let works = ["action", "command", "http", "gate", "sub_run", "item", "sleep", "emit", "spread", "parallel"];
    let composites = ["branch", "for", "while", "try", "call"];
    let gates = ["after", "until", "approval", "external", "shared", "escalate", "evidence", "deadline", "on_deadline"];
    let rules = ["typed", "limit", "rate", "queue", "priority", "publish", "secret", "pattern", "labels", "identity"];
    let begun = ["cron", "every", "at", "jitter", "overlap", "catch_up", "into"];
    for key in works.iter().chain(&composites).chain(&gates).chain(&rules).chain(&begun) {
        assert!(all.contains(&format!("\"{key}\":")), "no golden plan has {key:?} in it");
    }
    let statements = ["do", "let", "return", "raise"];
    for key in statements {
        assert!(all.contains(&format!("{{\"{key}\":")), "no golden plan has the statement {key:?} in it");
    }
    for word in [
        "\"break\"",
        "\"continue\"",
        "\"raise_again\"",
        "\"webhook\"",
        "\"strict\"",
        "\"broadcast\"",
        "\"retryable_failure\"",
        "\"script\":",
    ] {
        assert!(all.contains(word), "no golden plan has {word} in it");
    }
}

#[test]
fn the_schedules_of_a_flow_are_named_after_it() {
    let text = "flow: report\non:\n  schedule:\n    - cron: '0 7 * * 1-5'\n      zone: Europe/Berlin\n      overlap: queue\n      catch_up: last\n      with: { depth: 2 }\n    - { every: 15m, jitter: 30s }\n    - { name: once, at: 2027-01-31T12:00:00Z, catch_up: 24 }\ntasks: { a: { action: x } }\n";
    let compiled = good(text);
    let names: Vec<&str> = compiled.schedules.keys().map(edgewise_core::name::Name::as_str).collect();
    assert_eq!(names, ["report", "report/2", "report/once"]);
    let first = compiled.schedules.values().next().unwrap();
    assert_eq!((first.when.words().as_str(), first.catch_up), ("0 7 * * 1-5 (Europe/Berlin)", 1));
    assert_eq!(first.input["depth"], json!(2));
    assert!(compiled.schedules.values().all(|schedule| schedule.declared));
    assert_eq!(compiled.plan, good("flow: report\ntasks: { a: { action: x } }\n").plan, "the plan is the same without");
}

#[test]
fn what_is_wrong_with_a_schedule_is_said() {
    for (schedule, said) in [
        ("{ cron: '0 25 * * *' }", "an hour is a number from 0 to 23"),
        ("{ cron: '0 7 * * *', zone: Europe/Belrin }", "did you mean `Europe/Berlin`?"),
        ("{ every: 15 }", "`15m`"),
        ("{ every: 10ms }", "at most once a second"),
        ("{ every: 1h, cron: '0 7 * * *' }", "one of `cron`, `every` or `at`"),
        ("{ every: 1h, zone: UTC }", "no meaning without `cron`"),
        ("{ every: 1h, overlap: sikp }", "`skip`"),
        ("{ every: 1h, catch_up: sometimes }", "a whole number from 0 to 1000"),
        ("{ at: tomorrow }", "is not an instant"),
        ("{ every: 1h, evry: 1h }", "`every`"),
    ] {
        let text = format!("flow: f\non: {{ schedule: [{schedule}] }}\ntasks: {{ a: {{ action: x }} }}\n");
        let problems = edgewise_core::flow::compile(&text, "f.yaml").unwrap_err().to_string();
        assert!(problems.contains(said), "{schedule}: {problems}");
    }
}

#[test]
fn a_gate_asks_more_people_after_a_while() {
    let text = |escalate: &str| {
        format!(
            "flow: f\ntasks:\n  g: {{ gate: {{ approval: {{ from: [lead], count: 2 }}, escalate: {escalate} }} }}\n"
        )
    };
    assert!(edgewise_core::flow::compile(&text("{ after: 1d, to: [boss] }"), "f.yaml").is_ok());
    assert!(
        edgewise_core::flow::compile(&text("[{ after: 1d, to: [boss] }, { after: 2d, to: [owner] }]"), "f.yaml")
            .is_ok()
    );
    for (escalate, said) in [
        ("{ after: 1d, to: [lead] }", "named twice"),
        ("{ after: 1d }", "needs `after` and `to`"),
        ("{ to: [boss] }", "needs `after` and `to`"),
        ("[{ after: 2d, to: [boss] }, { after: 1d, to: [owner] }]", "later than the one before"),
        ("[]", "only 1 may approve"),
    ] {
        let problems = edgewise_core::flow::compile(&text(escalate), "f.yaml").unwrap_err().to_string();
        assert!(problems.contains(said), "{escalate}: {problems}");
    }
    let open = "flow: f\ntasks:\n  g: { gate: { approval: {}, escalate: { after: 1d, to: [boss] } } }\n";
    assert!(edgewise_core::flow::compile(open, "f.yaml").unwrap_err().to_string().contains("names people with `from`"));
}
