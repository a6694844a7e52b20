//! Flows that start other flows: found, compiled first, pinned by their plans, and held to what they declare.

use edgewise_core::flow::{Compiled, Found, Problems, Resolve, compile_file_with};
use edgewise_core::plan::{Plan, Work};
use std::collections::BTreeMap;

/// Files by their names.
struct Files(BTreeMap<&'static str, &'static str>);

impl Resolve for Files {
    fn find(&mut self, name: &str, _: &str) -> Result<Option<Found>, String> {
        let file = |ending: &str| {
            let file = format!("{name}.{ending}");
            self.0.get(file.as_str()).map(|text| Found::File { text: (*text).to_owned(), file })
        };
        Ok(file("yaml").or_else(|| file("flow")))
    }

    fn known(&mut self, _: &str) -> Vec<String> {
        self.0.keys().filter_map(|file| file.split_once('.')).map(|(name, _)| name.to_owned()).collect()
    }
}

const INNER: &str = "
flow: inner
inputs:
  version: { type: string }
  dry: { type: boolean, default: false }
tasks:
  a: { run: 'true' }
";

fn compile(text: &str, file: &str, others: &[(&'static str, &'static str)]) -> Result<Vec<Compiled>, Problems> {
    compile_file_with(text, file, &mut Files(others.iter().copied().collect()))
}

fn good(text: &str, file: &str, others: &[(&'static str, &'static str)]) -> Compiled {
    compile(text, file, others).unwrap_or_else(|problems| panic!("{problems}")).remove(0)
}

/// The problems as `line:column code: message -- help`.
#[track_caller]
fn check(text: &str, file: &str, others: &[(&'static str, &'static str)], expected: &[&str]) {
    let problems = compile(text, file, others).expect_err("problems");
    let said = problems.list.iter().map(|p| {
        let help = p.help.as_ref().map(|help| format!(" -- {help}")).unwrap_or_default();
        format!("{}:{} {}: {}{help}", p.line, p.column, p.code, p.message)
    });
    assert_eq!(said.collect::<Vec<_>>(), expected);
}

fn children_of(plan: &Plan) -> Vec<String> {
    plan.children().into_values().map(ToString::to_string).collect()
}

#[test]
fn a_flow_beside_a_graph_is_pinned_to_its_plan() {
    let one = "flow: outer\ntasks:\n  s: { flow: inner, with: { version: '1' }, retry: 2, timeout: 1h }\n";
    let compiled = good(one, "outer.yaml", &[("inner.yaml", INNER)]);
    assert_eq!(children_of(&compiled.plan), ["inner"]);
    assert_eq!(compiled.children.len(), 1);
    let Work::SubRun(sub) = &compiled.plan.specs[0].work else { panic!("no sub-run") };
    assert_eq!(sub.plan, compiled.children[0].encode().0);
    assert_eq!(compiled.plan.specs[0].retry.max_attempts, 2);
    let again = Plan::decode(&compiled.plan.encode().1).unwrap();
    assert_eq!(again, compiled.plan);
}

#[test]
fn a_sub_run_is_tried_once_whatever_the_defaults_say() {
    let one = "flow: o\ndefaults: { retry: 5, timeout: 1m }\ntasks: { s: { flow: inner, with: { version: '1' } } }\n";
    let spec = good(one, "o.yaml", &[("inner.yaml", INNER)]).plan.specs[0].clone();
    assert_eq!((spec.retry.max_attempts, spec.timeouts.attempt), (1, None));
    let program = "flow o() [retry: 5, timeout: 1m]:\n    flow inner(version=\"1\")\n";
    let spec = good(program, "o.flow", &[("inner.yaml", INNER)]).plan.specs[0].clone();
    assert_eq!((spec.retry.max_attempts, spec.timeouts.attempt), (1, None));
}

#[test]
fn a_program_starts_flows_of_its_file_and_others() {
    let text = "\
flow outer(vs):
    a = flow part(v=vs[0]) [retry: 2]
    b = spread vs:v -> flow part(v=v)
    c, d = parallel:
        flow inner(version=\"1\")
        flow part(v=a)
    return [a, b, c, d, helper(vs)]

flow part(v):
    return @work(v=v)
";
    let text = text.replace(", helper(vs)", "");
    let all = compile(&text, "x.flow", &[("inner.yaml", INNER)]).unwrap_or_else(|p| panic!("{p}"));
    let names: Vec<&str> = all.iter().map(|one| one.plan.flow.as_str()).collect();
    assert_eq!(names, ["outer", "part"], "in the order of the file");
    let mut children = children_of(&all[0].plan);
    children.sort();
    assert_eq!(children, ["inner", "part"]);
    assert_eq!(all[0].children.len(), 2);
    assert!(all[1].children.is_empty());
}

#[test]
fn all_plans_of_a_nest_come_along_each_once() {
    let middle = "flow: middle\ntasks: { x: { flow: inner, with: { version: '1' } } }\n";
    let outer = "flow: outer\ntasks: { m: { flow: middle }, i: { flow: inner, with: { version: '2' } } }\n";
    let compiled = good(outer, "outer.yaml", &[("middle.yaml", middle), ("inner.yaml", INNER)]);
    let mut flows: Vec<&str> = compiled.children.iter().map(|plan| plan.flow.as_str()).collect();
    flows.sort_unstable();
    assert_eq!(flows, ["inner", "middle"]);
}

#[test]
fn what_a_flow_is_given_is_held_to_what_it_declares() {
    let others = [("inner.yaml", INNER)];
    let yaml = "flow: o\ntasks:\n  a: { flow: inner }\n  b: { flow: inner, with: { vresion: x, dry: 3 } }\n  c: { flow: iner }\n";
    check(
        yaml,
        "o.yaml",
        &others,
        &[
            "3:14 missing_input: the flow is not given `version` -- add what is missing",
            "4:14 missing_input: the flow is not given `version` -- add what is missing",
            "4:29 unknown_input: the flow has no input `vresion` -- did you mean `version`?",
            "4:41 wrong_type: input `dry` expects boolean, found `3`",
            "5:14 flow_not_found: there is no flow `iner` -- did you mean `inner`?",
        ],
    );
    let program = "flow o(x):\n    flow inner(vresion=x, dry=3)\n    flow iner()\n    flow inner(x)\n    flow\n";
    check(
        program,
        "o.flow",
        &others,
        &[
            "2:10 missing_input: the flow is not given `version` -- add what is missing",
            "2:16 unknown_input: the flow has no input `vresion` -- did you mean `version`?",
            "2:27 wrong_type: input `dry` expects boolean, found `3`",
            "3:10 flow_not_found: there is no flow `iner` -- did you mean `inner`?",
            "4:16 positional_argument: the arguments of an action or a flow have names -- name it: `flow inner(x=x)`",
            "5:5 bad_call: a flow is started with parentheses -- write `flow name(key=value)`",
        ],
    );
}

#[test]
fn flows_that_start_each_other_in_a_circle_are_refused_where_they_do() {
    let b = "flow: b\ntasks:\n  x: { flow: a }\n";
    let a = "flow: a\ntasks:\n  x: { flow: b }\n";
    let circle = "these flows start each other in a circle: a.yaml -> b.yaml -> a.yaml";
    check(
        a,
        "a.yaml",
        &[("b.yaml", b), ("a.yaml", a)],
        &[&format!("3:14 invalid_child: the flow `b` in b.yaml has errors -- b.yaml:3:14: {circle}")],
    );
    let program = "flow a():\n    flow b()\n\nflow b():\n    flow a()\n";
    let help = "repeat within one flow instead, with `while` or `for`";
    check(
        program,
        "a.flow",
        &[],
        &[&format!("5:10 cycle: these flows start each other in a circle: a -> b -> a -- {help}")],
    );
}

#[test]
fn flows_are_nested_only_so_deep() {
    let mut text = String::new();
    for n in 0..18 {
        text += &format!("flow f{n}():\n    flow f{}()\n\n", n + 1);
    }
    text += "flow f18():\n    pass\n";
    let problems = compile(&text, "deep.flow", &[]).expect_err("problems");
    assert!(problems.list.iter().any(|p| p.code == "too_deep"), "{problems}");
}

#[test]
fn the_start_of_a_flow_is_laid_out_like_a_call() {
    let text = "flow o():\n    flow   a-b.c( x = 1 ,y=2 )[retry:2]\n    z = flow  a( )\n";
    let laid_out = edgewise_core::text::format(text, "o.flow").unwrap();
    assert_eq!(laid_out, "flow o():\n    flow a-b.c(x=1, y=2) [retry: 2]\n    z = flow a()\n");
}

#[test]
fn what_speaks_of_workers_is_refused_beside_a_flow() {
    let others = [("inner.yaml", "flow: inner\ntasks: { a: { run: 'true' } }")];
    let graph = "flow: outer\ntasks:\n  s: { flow: inner, timeout: { overall: 1h, queue: 1m, heartbeat: 5s } }\n";
    let expected = [
        "3:45 misplaced_key: `queue` has no meaning beside `flow`: no worker is given a run -- put `timeout: { queue: … }` \
         at the tasks of that flow",
        "3:56 misplaced_key: `heartbeat` has no meaning beside `flow`: no worker is given a run -- put `timeout: { \
         heartbeat: … }` at the tasks of that flow",
    ];
    check(graph, "outer.yaml", &others, &expected);
    for (key, value) in [("queue_timeout", "1m"), ("heartbeat", "5s"), ("queue", "q"), ("priority", "1")] {
        let program = format!("flow outer():\n    flow inner() [{key}: {value}]\n");
        let expected = format!(
            "2:10 misplaced_key: `{key}` has no meaning behind a flow: no worker is given a run -- put `{key}` behind the \
             actions in flow inner"
        );
        check(&program, "outer.flow", &others, &[&expected]);
    }
}
