//! Whatever the compiler accepts can be stored and read again, however deep it is nested.

use edgewise_core::flow::{Alone, Compiled, Found, Problems, Resolve, compile_file_with};
use edgewise_core::plan::Plan;

/// Every place where a value with expressions in it may stand; `V` is the value.
const PLACES: &[(&str, &str)] = &[
    ("with of an action", "  a: { after: b, action: x, with: V }"),
    ("with of an action of a spread", "  a: { after: b, each: [1], action: x, with: V }"),
    ("with of a flow", "  a: { after: b, flow: child, with: { v: V } }"),
    ("json of a request", "  a: { after: b, http: { method: PUT, url: 'https://a.b', json: V } }"),
    ("tags of an item", "  a: { after: b, item: { title: T, tags: V } }"),
    ("payload of emit", "  a: { after: b, emit: { name: told, payload: V } }"),
    ("payload of a task", "  a: { after: b, action: x, publish: [{ name: told, payload: V }] }"),
    ("payload of the flow", "publish: [{ name: told, payload: V }]"),
    ("output", "output: V"),
];

/// From the one with the shortest stored form to the one with the deepest.
const LEAVES: &[&str] =
    &["'${{ inputs.v }}'", "'${{ tasks.b.output }}'", "'a ${{ tasks.b.output }}'", "'${{ [[[[[[[[1]]]]]]]] }}'", "1"];

/// So deep anything fits anywhere.
const SURE: usize = 32;

struct Child;

impl Resolve for Child {
    fn find(&mut self, name: &str, _: &str) -> Result<Option<Found>, String> {
        let text = "flow: child\ninputs: { v: {} }\ntasks: { a: { action: x } }\n".to_owned();
        Ok((name == "child").then(|| Found::File { text, file: "child.yaml".into() }))
    }
}

fn compile(place: &str, value: &str) -> Result<Compiled, Problems> {
    let text = format!("flow: f\ninputs: {{ v: {{}} }}\ntasks:\n  b: {{ action: x }}\n{}\n", place.replace('V', value));
    compile_file_with(&text, "f.yaml", &mut Child).map(|mut flows| flows.remove(0))
}

fn maps(depth: usize, leaf: &str) -> String {
    format!("{}{leaf}{}", "{ a: ".repeat(depth), " }".repeat(depth))
}

fn lists(depth: usize, leaf: &str) -> String {
    format!("{}{leaf}{}", "[ ".repeat(depth), " ]".repeat(depth))
}

fn both(depth: usize, leaf: &str) -> String {
    maps(depth / 2, &lists(depth - depth / 2, leaf))
}

/// How deep a value can be before it is refused; all that is not refused is read again as it was.
fn deepest(name: &str, place: &str, value: &dyn Fn(usize) -> String) -> usize {
    let mut accepted = SURE;
    for depth in SURE + 1..=64 {
        match compile(place, &value(depth)) {
            Ok(compiled) => {
                let (hash, bytes) = compiled.plan.encode();
                let again = Plan::decode(&bytes).unwrap_or_else(|error| panic!("{name}, {depth} levels: {error:?}"));
                assert_eq!((&again, again.encode().0), (&compiled.plan, hash), "{name}, {depth} levels");
                assert_eq!(accepted, depth - 1, "{name}: {depth} levels fit, one less does not");
                accepted = depth;
            }
            Err(problems) => {
                let all = problems.list.iter().all(|p| p.code == "too_deep" && p.line > 3);
                assert!(all && problems.list.len() == 1, "{name}, {depth} levels: {problems}");
            }
        }
    }
    accepted
}

#[test]
fn what_is_compiled_can_be_read_again_in_every_place_at_every_depth() {
    for (name, place) in PLACES {
        for leaf in LEAVES {
            // Deeper than anybody writes.
            assert!(deepest(name, place, &|depth| maps(depth, leaf)) >= 36, "{name}: {leaf} in maps");
            assert!(deepest(name, place, &|depth| lists(depth, leaf)) >= 54, "{name}: {leaf} in lists");
            assert!(deepest(name, place, &|depth| both(depth, leaf)) >= 44, "{name}: {leaf} in both");
        }
    }
}

#[test]
fn what_is_too_deep_to_be_stored_is_refused_with_what_to_write_instead() {
    // One more of either is a plan that cannot be read.
    assert_eq!(deepest("maps", PLACES[0].1, &|depth| maps(depth, LEAVES[0])), 39);
    assert_eq!(deepest("lists", PLACES[0].1, &|depth| lists(depth, LEAVES[0])), 59);
    let problems = compile(PLACES[0].1, &maps(40, LEAVES[0])).unwrap_err();
    let found = &problems.list[0];
    assert_eq!((found.line, found.code), (5, "too_deep"));
    assert!(found.message.contains("can be read again"), "{}", found.message);
    assert!(found.help.as_ref().unwrap().contains("as one expression"), "{:?}", found.help);
    let inner = format!("${{{{ {}inputs.v{} }}}}", "{\"a\": ".repeat(30), "}".repeat(30));
    let plan = compile(PLACES[0].1, &maps(30, &format!("'{inner}'"))).unwrap().plan;
    assert_eq!(Plan::decode(&plan.encode().1).unwrap(), plan);
}

#[test]
fn a_constant_within_deep_lists_counts_with_them() {
    let constant = format!("'${{{{ {}1{} }}}}'", "[".repeat(64), "]".repeat(64));
    let fits = deepest("constant", PLACES[0].1, &|depth| lists(depth, &constant));
    assert!((50..=57).contains(&fits), "{fits}");
}

#[test]
fn programs_are_read_again_however_deep_their_values_are() {
    for depth in 1..=60 {
        let value = format!("{}v{}", "[".repeat(depth), "]".repeat(depth));
        let literal = value.replace('v', "1");
        let text = format!(
            "flow f(v, d={literal}):\n    @a(x={value}, y={literal})\n    @emit(name=\"t\", payload={value})\n"
        );
        let compiled = compile_file_with(&text, "f.flow", &mut Alone).unwrap_or_else(|problems| panic!("{problems}"));
        let plan = &compiled[0].plan;
        assert_eq!(&Plan::decode(&plan.encode().1).unwrap(), plan, "{depth} levels");
    }
}
