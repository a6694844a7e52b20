//! Rehearsals: flows performed in virtual time, and what their judge makes of it.

use edgewise_core::flow::{Compiled, Found, Resolve, compile_file, compile_file_with, read_cases};
use edgewise_core::rehearsal::{judge, perform};

/// What is told of the cases of a file: a line for each miss, or `ok`.
fn told(flow: &str, cases: &str) -> Vec<String> {
    told_of(&compile_file(flow, "flow").unwrap_or_else(|problems| panic!("{problems}")), cases)
}

fn told_of(flows: &[Compiled], cases: &str) -> Vec<String> {
    let cases = read_cases(cases, "test.yaml", flows).unwrap_or_else(|problems| panic!("{problems}"));
    let mut lines = Vec::new();
    for case in &cases {
        let misses = judge(case, &perform(case));
        lines.extend(misses.iter().map(|m| format!("{}: expected {}, found {}", m.what, m.expected, m.found)));
        if misses.is_empty() {
            lines.push("ok".to_owned());
        }
    }
    lines
}

/// A single case, indented as a block, and what is told of it.
fn check(flow: &str, case: &str, expected: &[&str]) {
    let cases = format!("cases:\n  it:\n{}", indented(case, 4));
    assert_eq!(told(flow, &cases), expected, "{cases}");
}

fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{:by$}{line}\n", "")).collect()
}

/// The codes of everything that is wrong with a case file.
fn refused(flow: &str, cases: &str) -> Vec<(u32, &'static str)> {
    let flows = compile_file(flow, "flow").unwrap();
    let problems = read_cases(cases, "test.yaml", &flows).expect_err("something is wrong with it");
    problems.list.iter().map(|problem| (problem.line, problem.code)).collect()
}

const RETRY: &str = "flow: f\ntasks:\n  get: { action: web.get, retry: { max_attempts: 3, backoff: { kind: exponential, base: 1s, cap: 1m } } }\n";

#[test]
fn attempts_wait_as_the_flow_says_and_no_time_passes() {
    let answers =
        "stubs:\n  web.get:\n    - fails: Busy\n    - fails: { type: Busy, retry_after: 30s }\n    - returns: 7\n";
    check(
        RETRY,
        &format!("{answers}expect: {{ output: {{ get: 7 }}, elapsed: 31s, tasks: {{ get: {{ attempts: 3 }} }} }}"),
        &["ok"],
    );
    check(RETRY, &format!("{answers}expect: {{ elapsed: 3s }}"), &["elapsed: expected 3s, found 31s"]);
    check(RETRY, &format!("{answers}expect: {{ within: 30s }}"), &["elapsed: expected at most 30s, found 31s"]);
    let never =
        "stubs: { get: { fails: { type: Broken, retryable: false } } }\nexpect: { failure: Broken, elapsed: 0s }";
    check(RETRY, never, &["ok"]);
}

#[test]
fn what_no_stub_answers_ends_the_case_with_what_to_add() {
    let found = told(RETRY, "cases: { it: }");
    assert!(found[0].contains("`get` asked for the action `web.get`") && found[0].contains("'web.get'"), "{found:?}");
    let found = told(RETRY, "cases: { it: { stubs: { get: [{ fails: Busy }] } } }");
    assert!(found[0].contains("the stub `get` has 1 answers, but `get` asked once more"), "{found:?}");
}

const ROWS: &str = "flow f(xs: list):\n    rows = spread xs:x -> @load(x=x) [retry: 2, backoff: 1s, kind: fixed] [tolerate: 1]\n    return rows\n";

#[test]
fn a_stub_is_for_one_task_for_all_of_a_kind_or_for_an_action() {
    let input = "input: { xs: [1, 2, 3] }\n";
    let each = "stubs: { 'rows[*]': [{ fails: Net }, { returns: '${{ [with.x, attempt] }}' }] }\n";
    check(ROWS, &format!("{input}{each}expect: {{ output: [[1, 2], [2, 2], [3, 2]], elapsed: 1s }}"), &["ok"]);
    let first = "stubs: { load: { returns: 0 }, 'rows[1]': { returns: 1 } }\n";
    check(ROWS, &format!("{input}{first}expect: {{ output: [0, 1, 0] }}"), &["ok"]);
    let turns = "stubs: { load: [{ returns: a }, { returns: b }, { returns: c }] }\n";
    check(ROWS, &format!("{input}{turns}expect: {{ output: [a, b, d] }}"), &["output[2]: expected \"d\", found \"c\""]);
}

#[test]
fn what_a_case_says_itself_goes_before_what_all_share() {
    let cases = "stubs: { 'rows[0]': { returns: shared } }\ncases:\n  it:\n    input: { xs: [1] }\n    stubs: { load: { returns: own } }\n    expect: { output: [own] }\n";
    assert_eq!(told(ROWS, cases), ["ok"]);
}

#[test]
fn an_attempt_that_takes_longer_than_its_timeout_ends_as_one() {
    let flow = "flow: f\ntasks:\n  a: { action: slow, timeout: 1m, retry: 1 }\n";
    check(flow, "stubs: { slow: { takes: 2m } }\nexpect: { failure: timeout, elapsed: 1m }", &["ok"]);
    check(flow, "stubs: { slow: { takes: 1m } }\nexpect: { elapsed: 1m }", &["ok"]);
}

const GATE: &str = "flow: f\ntasks:\n  ok: { gate: { approval: { from: [lead, boss], count: 2 }, deadline: 2d } }\n";

#[test]
fn people_answer_when_the_case_says_so() {
    check(GATE, "gates: { ok: [lead, boss] }\nexpect: { elapsed: 0s }", &["ok"]);
    check(GATE, "gates: { ok: { approve: [lead, boss], after: 3h } }\nexpect: { elapsed: 3h }", &["ok"]);
    check(GATE, "gates: { ok: { reject: boss, after: 1h } }\nexpect: { state: failed, elapsed: 1h }", &["ok"]);
    check(GATE, "gates: { ok: lead }\nexpect: { state: failed, elapsed: 2d }", &["ok"]);
    let more = "flow: f\ntasks:\n  ok: { gate: { approval: { from: [lead] }, escalate: { after: 1h, to: [boss] }, deadline: 2d } }\n";
    check(more, "gates: { ok: { approve: boss, after: 1h } }\nexpect: { elapsed: 1h }", &["ok"]);
    check(more, "gates: { ok: { approve: boss, after: 59m } }\nexpect: { state: failed, elapsed: 2d }", &["ok"]);
}

#[test]
fn what_comes_from_outside_comes_when_the_case_says_so_and_is_the_output() {
    let flow = "flow: f\ntasks:\n  came: { gate: { webhook: {}, deadline: 2d } }\noutput: '${{ tasks.came.output }}'\n";
    check(flow, "gates: { came: { sends: { n: 7 }, after: 3h } }\nexpect: { output: { n: 7 }, elapsed: 3h }", &["ok"]);
    check(flow, "gates: { came: { reject: ann } }\nexpect: { state: failed }", &["ok"]);
    check(flow, "expect: { state: failed, elapsed: 2d }", &["ok"]);
    let other = "flow: f\ntasks:\n  w: { gate: { external: { system: jira, id: A-1 } } }\n";
    check(other, "gates: { w: { sends: } }", &["ok"]);
    let shared = "flow: f\ntasks:\n  w: { gate: { shared: ew-g1, deadline: 2d } }\noutput: '${{ tasks.w.output }}'\n";
    check(shared, "gates: { w: { sends: { n: 7 }, after: 3h } }\nexpect: { output: { n: 7 }, elapsed: 3h }", &["ok"]);
    check(shared, "gates: { w: lead }", &["ok"]);
    check(shared, "gates: { w: { reject: ann } }\nexpect: { state: failed, elapsed: 0s }", &["ok"]);
    check(shared, "expect: { state: failed, elapsed: 2d }", &["ok"]);
    check(other, "{}", &["state: expected succeeded, found waiting (w: gate, opens when jira says so of A-1)"]);
}

#[test]
fn a_run_that_waits_for_ever_is_said_to() {
    let flow = "flow: f\ntasks:\n  ok: { gate: { approval: { count: 1 } } }\n";
    check(flow, "expect: { state: waiting, tasks: { ok: waiting } }", &["ok"]);
    check(flow, "{}", &["state: expected succeeded, found waiting (ok: gate, waits for anybody)"]);
}

#[test]
fn the_order_of_effects_is_told_at_the_first_that_differs() {
    let input = "input: { xs: [1, 2] }\nstubs: { load: {} }\n";
    check(ROWS, &format!("{input}expect: {{ effects: [load, load] }}"), &["ok"]);
    check(ROWS, &format!("{input}expect: {{ effects: ['rows[0]', load: {{ x: 2 }}] }}"), &["ok"]);
    let wrong = format!("{input}expect: {{ effects: [load, load: {{ x: 3 }}] }}");
    check(ROWS, &wrong, &["effects[1].load.x: expected 3, found 2"]);
    let short = format!("{input}expect: {{ effects: ['rows[0]'] }}");
    check(ROWS, &short, &["effects[1]: expected nothing more, found load (rows[1]) {\"x\":2}"]);
}

#[test]
fn rounds_of_a_loop_are_known_after_it() {
    let flow = "flow f():\n    i = 0\n    while i < 3:\n        i = @next(i=i)\n        sleep 1h\n    if i > 5:\n        @never()\n    return i\n";
    let case = "stubs: { next: { returns: '${{ with.i + 1 }}' } }\nexpect: { output: 3, elapsed: 3h, tasks: { 'while#0.i': succeeded, 'if[0].never': skipped } }";
    check(flow, case, &["ok"]);
    let endless = "flow f():\n    while true:\n        sleep 1h\n";
    let found = told(endless, "cases: { it: }");
    assert!(found[0].contains("does it end?"), "{found:?}");
}

#[test]
fn a_failure_is_expected_by_its_type_or_a_wider_one_and_its_message() {
    let flow = "flow f():\n    try:\n        @work()\n    except Net:\n        raise Broken(\"no net\")\n";
    let stub = "stubs: { work: { fails: { type: Dns, is: [Net], retryable: false } } }\n";
    check(flow, &format!("{stub}expect: {{ failure: {{ type: Broken, message: no net }} }}"), &["ok"]);
    check(
        flow,
        &format!("{stub}expect: {{ tasks: {{ try.work: {{ state: failed, failure: Net }} }}, failure: Broken }}"),
        &["ok"],
    );
    check(
        flow,
        &format!("{stub}expect: {{ failure: Net }}"),
        &["failure.type: expected Net, found Broken: no net, caused by Dns: it was told to fail"],
    );
}

#[test]
fn a_case_that_names_nothing_is_refused_with_its_line() {
    let cases = "cases:\n  it:\n    stubs: { lod: {} }\n    gates: { rows: [lead] }\n    expect:\n      tasks: { row: failed }\n      effects: [lode]\n      stat: failed\n";
    let expected = [
        (2, "bad_input"),
        (3, "unknown_stub"),
        (4, "unknown_task"),
        (6, "unknown_task"),
        (7, "unknown_task"),
        (8, "unknown_key"),
    ];
    assert_eq!(refused(ROWS, cases), expected);
    assert_eq!(refused(ROWS, "cases: {}"), [(1, "no_cases")]);
    assert_eq!(
        refused(ROWS, "stubs: { load: { returns: 1, fails: x } }\ncases: { a: { input: { xs: [] } } }"),
        [(1, "misplaced_key")]
    );
    let two = "flow a():\n    pass\n\nflow b():\n    pass\n";
    assert_eq!(refused(two, "cases:\n  it:\n"), [(2, "which_flow")]);
    assert_eq!(refused(two, "flow: c\ncases:\n  it:\n"), [(1, "flow_not_found")]);
}

const WHEN: &str = "flow: f\ninputs: { env: { type: string }, xs: { type: list, default: [1, 2] } }\ntasks:\n  build: { action: build }\n  deploy: { after: build, when: inputs.env == \"prod\", each: inputs.xs, as: x, action: deploy, with: { x: '${{ x }}' } }\n  tell: { after: { deploy: [ok, skipped] }, action: tell }\n  quiet: { after: deploy, action: quiet }\n";

#[test]
fn a_task_whose_condition_is_false_is_skipped_before_its_items_are_asked_for() {
    let stubs = "stubs: { build: {}, deploy: {}, tell: {}, quiet: {} }\n";
    let skipped = "tasks: { deploy: skipped, quiet: skipped, tell: succeeded }, effects: [build, tell]";
    check(WHEN, &format!("input: {{ env: test }}\n{stubs}expect: {{ {skipped} }}"), &["ok"]);
    let done = "tasks: { deploy: succeeded, quiet: succeeded, 'deploy[1]': succeeded }";
    check(WHEN, &format!("input: {{ env: prod }}\n{stubs}expect: {{ {done} }}"), &["ok"]);
}

#[test]
fn a_condition_waits_for_the_outputs_it_names_and_one_that_cannot_be_computed_fails_its_task() {
    let flow = "flow: f\ntasks:\n  late: { after: look, action: a }\n  look: { action: look }\n  act: { when: tasks.look.output.ok, action: b }\n";
    let stubs = |ok: &str| format!("stubs: {{ a: {{}}, b: {{}}, look: {{ returns: {{ ok: {ok} }}, takes: 1h }} }}\n");
    check(flow, &format!("{}expect: {{ effects: [look, a, b], elapsed: 1h }}", stubs("true")), &["ok"]);
    check(flow, &format!("{}expect: {{ effects: [look, a], tasks: {{ act: skipped }} }}", stubs("false")), &["ok"]);
    let failed = "expect: { failure: TypeMismatch, tasks: { act: { state: failed, attempts: 0 } } }";
    check(flow, &format!("{}{failed}", stubs("1")), &["ok"]);
}

/// The two flows that the language was thought out with, as they were written then, and the flow that one starts.
struct Beside;

impl Resolve for Beside {
    fn find(&mut self, name: &str, _: &str) -> Result<Option<Found>, String> {
        let text = include_str!("design/publish.yaml").to_owned();
        Ok((name == "publish").then(|| Found::File { text, file: "publish.yaml".into() }))
    }
}

#[test]
fn the_flows_of_the_design_are_compiled_and_performed() {
    for (file, text, cases, count) in [
        ("release.yaml", include_str!("design/release.yaml"), include_str!("design/release.test.yaml"), 5),
        ("etl.flow", include_str!("design/etl.flow"), include_str!("design/etl.test.yaml"), 6),
    ] {
        let flows = compile_file_with(text, file, &mut Beside).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(told_of(&flows, cases), vec!["ok"; count], "{file}");
    }
}

#[test]
fn what_a_run_is_given_must_fit_its_pattern() {
    let flow =
        "flow: f\ninputs: { version: { type: string, pattern: '^\\d+\\.\\d+$' } }\ntasks: { a: { action: x } }\n";
    let cases = "cases: { it: { input: { version: one } } }\n";
    let flows = compile_file(flow, "f.yaml").unwrap();
    let said = read_cases(cases, "test.yaml", &flows).expect_err("it does not fit").to_string();
    assert!(said.contains("version") && said.contains("\\d"), "{said}");
}
