//! Programs: what their statements come to, told by the effects they have and the value they end with.

use crate::driver::{Driver, Watch, name};
use edgewise_core::event::{Event, Failure, RULES, RunTriggered, TaskIx};
use edgewise_core::fold::Verdict;
use edgewise_core::id::RunId;
use edgewise_core::plan::{Plan, Work};
use edgewise_core::run::{End, Run};
use edgewise_core::sketch::Sketch;
use edgewise_core::state::{Phase, RunState, TaskState};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

pub fn compiled(text: &str) -> Plan {
    let plans = edgewise_core::text::compile(text, "test.flow").unwrap_or_else(|problems| panic!("{problems}"));
    plans.into_iter().next().expect("a flow").plan
}

/// A program at work: its effects in order.
pub struct Performance {
    pub driver: Driver,
    pub effects: Vec<String>,
}

impl Performance {
    pub fn new(text: &str, input: &Value, watch: Watch) -> Self {
        Self::of(compiled(text), input, watch)
    }

    /// Also of a graph.
    pub fn of(plan: Plan, input: &Value, watch: Watch) -> Self {
        let (hash, _) = plan.encode();
        let mut driver = Driver::triggered_watching(plan, watch);
        driver.run = Run::new(RunId(7), hash, Arc::clone(&driver.run.plan));
        driver.ledger.clear();
        let triggered = RunTriggered {
            flow: name("test"),
            plan: hash,
            rules: RULES,
            input: RawValue::from_string(input.to_string()).unwrap(),
            by: name("tester"),
            key: None,
            labels: Default::default(),
        };
        assert_eq!(driver.say(Event::RunTriggered(triggered)), Verdict::Applied);
        assert_eq!(driver.plan_it(), Verdict::Applied);
        Self { driver, effects: Vec::new() }
    }

    /// One act: a ready task is done as `stub` says, a timer fires, or the fold goes on. False if none can be.
    pub fn step(&mut self, stub: &mut dyn FnMut(&str, &Value) -> Result<Value, Failure>) -> bool {
        let d = &mut self.driver;
        if d.run.is_advancing() {
            assert_eq!(d.advance(), Verdict::Applied);
            return true;
        }
        let ready = d.run.present().find(|t| d.run.tasks[t.0 as usize].state == TaskState::Enqueued);
        let Some(task) = ready else {
            return !d.run.timers.is_empty() && d.fire_next() == Verdict::Applied;
        };
        let (action, with) = given(&d.run, task);
        self.effects.push(format!("{action}{}", words(&with)));
        let outcome = stub(&action, &with);
        d.lease(task);
        let (error, output) = match outcome {
            Ok(output) => (None, Some(output.to_string())),
            Err(failure) => (Some(failure), None),
        };
        let report = d.report(task, error, output.as_deref());
        assert_eq!(d.say(Event::TaskFinished(report)), Verdict::Applied);
        true
    }

    pub fn play(&mut self, stub: &mut dyn FnMut(&str, &Value) -> Result<Value, Failure>) {
        while self.step(stub) {}
    }
}

fn given(run: &Run, task: TaskIx) -> (String, Value) {
    let Work::Action { action, with } = &run.spec_of(task).work else { panic!("no action") };
    let with = run.evaluate(task, with).unwrap_or_else(|failure| panic!("{failure:?}")).into_owned();
    (action.to_string(), with)
}

/// `(1, 2)` of a map of arguments.
fn words(with: &Value) -> String {
    let values: Vec<String> = with.as_object().into_iter().flatten().map(|(_, v)| v.to_string()).collect();
    format!("({})", values.join(", "))
}

/// `echo` gives its argument back, `fail` fails as told.
pub fn stub(action: &str, with: &Value) -> Result<Value, Failure> {
    match action {
        "fail" => {
            let text = |key: &str| with[key].as_str().unwrap_or("boom").to_owned();
            let is = with["is"].as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect();
            Err(Failure { is, ..Failure::permanent(text("type"), text("message")) })
        }
        _ => Ok(with["v"].clone()),
    }
}

/// What a program comes to: its effects and how it ended.
pub fn perform(text: &str, input: &Value) -> (Vec<String>, Result<Value, String>) {
    let mut performance = Performance::new(text, input, Watch::All);
    performance.play(&mut stub);
    performance.driver.close();
    (performance.effects, ended(&performance.driver.run))
}

pub fn ended(run: &Run) -> Result<Value, String> {
    match (&run.end, run.state) {
        (Some(End::Returned(value)), RunState::Complete) => Ok((**value).clone()),
        (Some(End::Failed(failure)), RunState::Error) => Err(format!("{}: {}", failure.kind, failure.message)),
        other => panic!("{other:?}"),
    }
}

fn check(body: &str, input: &Value, effects: &[&str], end: Result<Value, &str>) {
    let text = format!("flow test(xs=[], n=0):\n{}", body.replace("\n        ", "\n").trim_start_matches('\n'));
    let (found, ended) = perform(&text, input);
    assert_eq!(found, effects, "effects of\n{text}");
    assert_eq!(ended, end.map_err(str::to_owned), "end of\n{text}");
}

#[test]
fn statements_run_one_after_the_other_and_what_is_inline_costs_nothing() {
    check(
        "
            a = 2
            b = a * 21
            c = @echo(v=b)
            return {\"c\": c, \"n\": n}",
        &json!({"n": 1}),
        &["echo(42)"],
        Ok(json!({"c": 42, "n": 1})),
    );
    check("    pass", &json!({}), &[], Ok(json!(null)));
}

#[test]
fn a_branch_takes_the_first_arm_that_holds_or_none() {
    let body = "
            x = \"none\"
            if n > 10:
                x = @echo(v=\"large\")
            elif n > 5:
                x = @echo(v=\"middle\")
            if n == 100:
                return \"early\"
            return x";
    check(body, &json!({"n": 20}), &["echo(\"large\")"], Ok(json!("large")));
    check(body, &json!({"n": 7}), &["echo(\"middle\")"], Ok(json!("middle")));
    check(body, &json!({"n": 1}), &[], Ok(json!("none")));
    check(body, &json!({"n": 100}), &["echo(\"large\")"], Ok(json!("early")));
}

#[test]
fn a_loop_goes_over_its_list_once_evaluated_and_hands_its_variables_on() {
    let body = "
            total = 0
            for x in xs:
                if x == 3:
                    continue
                if x == 5:
                    break
                y = @echo(v=x)
                total = total + y
                xs = []
            return [total, x]";
    check(body, &json!({"xs": [1, 2, 3, 4, 5, 6]}), &["echo(1)", "echo(2)", "echo(4)"], Ok(json!([7, 5])));
    check("\n            for x in xs:\n                @echo(v=x)", &json!({"xs": []}), &[], Ok(json!(null)));
    check(
        "\n            for x in n:\n                pass",
        &json!({"n": 1}),
        &[],
        Err("TypeMismatch: a list is needed to go over, but `n` is a number"),
    );
}

#[test]
fn a_while_asks_before_each_round() {
    let body = "
            i = 0
            while i < n:
                i = i + 1
                @echo(v=i)
                if i == 4:
                    return \"four\"
            return i";
    check(body, &json!({"n": 2}), &["echo(1)", "echo(2)"], Ok(json!(2)));
    check(body, &json!({"n": 9}), &["echo(1)", "echo(2)", "echo(3)", "echo(4)"], Ok(json!("four")));
}

#[test]
fn the_first_handler_that_fits_runs_and_only_that() {
    let body = "
            x = 1
            try:
                x = 2
                @fail(type=\"Disk\", is=[\"Storage\"])
                x = 3
            except Net:
                @echo(v=\"net\")
            except Storage as e:
                @echo(v=e.type)
            except:
                @echo(v=\"any\")
            return x";
    check(body, &json!({}), &["fail([\"Storage\"], \"Disk\")", "echo(\"Disk\")"], Ok(json!(2)));
}

#[test]
fn the_inner_try_is_asked_first_and_what_nobody_wants_goes_on() {
    let body = "
            try:
                try:
                    @fail(type=\"A\")
                except B:
                    @echo(v=\"inner\")
            except A as e:
                @echo(v=\"outer\")
                raise C(\"after \" + e.type)";
    check(body, &json!({}), &["fail(\"A\")", "echo(\"outer\")"], Err("C: after A"));
    let again = "
            try:
                @fail(type=\"A\", message=\"m\")
            except:
                raise";
    check(again, &json!({}), &["fail(\"m\", \"A\")"], Err("A: m"));
}

#[test]
fn an_expression_that_fails_can_be_caught() {
    let body = "
            try:
                x = 1 / n
            except EvalError as e:
                return e.type
            return x";
    check(body, &json!({"n": 0}), &[], Ok(json!("DivisionByZero")));
    check("    return 1 / n", &json!({"n": 0}), &[], Err("DivisionByZero: `1 / n` divides by zero"));
}

#[test]
fn what_is_done_at_once_ends_in_the_order_of_its_arms() {
    let body = "
            a, b = parallel:
                @echo(v=1)
                twice(2)
            cs = spread xs:x -> @echo(v=x + n)
            ds = spread xs:x -> twice(x)
            return [a, b, cs, ds]
        
        fn twice(x):
            y = @echo(v=x * 2)
            return y";
    let effects = ["echo(1)", "echo(4)", "echo(11)", "echo(12)", "echo(2)", "echo(4)"];
    check(body, &json!({"xs": [1, 2], "n": 10}), &effects, Ok(json!([1, 4, [11, 12], [2, 4]])));
    check("    return spread xs:x -> @echo(v=x)", &json!({"xs": []}), &[], Ok(json!([])));
}

#[test]
fn a_spread_fails_with_the_one_failure_or_with_all_of_them() {
    let body = "
            try:
                spread xs:x -> @fail(type=x)
            except SpreadFailed as e:
                return [e.type, size(e.errors)]
            except A as e:
                return e.type";
    check(body, &json!({"xs": ["A"]}), &["fail(\"A\")"], Ok(json!("A")));
    check(body, &json!({"xs": ["A", "B"]}), &["fail(\"A\")", "fail(\"B\")"], Ok(json!(["SpreadFailed", 2])));
    let tolerant = "
            rs = spread xs:x -> @fail(type=x) [tolerate: 2]
            return rs.map(r, r.error.type)";
    check(tolerant, &json!({"xs": ["A", "B"]}), &["fail(\"A\")", "fail(\"B\")"], Ok(json!(["A", "B"])));
}

#[test]
fn a_map_that_looks_like_an_error_is_a_map() {
    let body = "
            x = @echo(v={\"type\": \"A\", \"message\": \"m\"})
            return x";
    check(body, &json!({}), &["echo({\"message\":\"m\",\"type\":\"A\"})"], Ok(json!({"type": "A", "message": "m"})));
}

#[test]
fn a_function_sees_only_what_it_is_given() {
    let body = "
            x = 1
            y = f(5)
            f(6, k=x)
            return [x, y]
        
        fn f(a, k=2):
            x = a + k
            if x > 100:
                return 0
            z = @echo(v=x)
            return z";
    check(body, &json!({}), &["echo(7)", "echo(7)"], Ok(json!([1, 7])));
}

#[test]
fn sleeping_is_a_timer_and_approvals_are_gates() {
    let body = "
            sleep 1h
            sleep n
            sleep \"5s\"
            @echo(v=1)";
    check(body, &json!({"n": 3}), &["echo(1)"], Ok(json!(null)));
    check(
        "    sleep n",
        &json!({"n": -3}),
        &[],
        Err("TypeMismatch: `sleep` takes seconds or a duration such as \"5m\", at most 3660d of them, but `n` is -3"),
    );
    let mut p =
        Performance::new("flow t():\n    wait approval(from=[\"ada\"])\n    @echo(v=1)\n", &json!({}), Watch::All);
    p.play(&mut stub);
    assert_eq!(p.driver.run.state, RunState::WaitingForDependencies);
    assert_eq!(p.driver.approve("approval", "ada"), Verdict::Applied);
    p.play(&mut stub);
    assert_eq!((p.effects.len(), p.driver.run.state), (1, RunState::Complete));
}

#[test]
fn inline_work_is_bounded_and_goes_on_in_a_later_commit() {
    let body = "
            total = 0
            i = 0
            while i < n:
                i = i + 1
                if i % 2 == 0:
                    continue
                total = total + i
            @echo(v=total)
            return total";
    let text = format!("flow test(n=0):\n{}", body.replace("\n        ", "\n").trim_start_matches('\n'));
    let mut p = Performance::new(&text, &json!({"n": 4_000}), Watch::All);
    assert!(p.driver.run.is_advancing(), "ten thousand statements are not run in one event");
    p.play(&mut stub);
    assert_eq!(ended(&p.driver.run), Ok(json!(4_000_000)));
    assert_eq!(p.effects, ["echo(4000000)"]);
}

#[test]
fn a_cancel_stops_a_program_wherever_it_stands() {
    for (steps, text) in [
        (1, "flow t():\n    for x in [1, 2]:\n        @echo(v=x)\n"),
        (0, "flow t():\n    spread [1, 2]:x -> @echo(v=x)\n"),
        (1, "flow t():\n    try:\n        @fail()\n    except:\n        @echo()\n"),
        (0, "flow t():\n    while true:\n        pass\n"),
        (0, "flow t():\n    sleep 1h\n"),
    ] {
        let mut p = Performance::new(text, &json!({}), Watch::All);
        for _ in 0..steps {
            assert!(p.step(&mut stub));
        }
        assert_eq!(p.driver.cancel(), Verdict::Applied);
        assert_eq!(p.driver.run.state, RunState::Cancelled);
        p.driver.close();
    }
}

#[test]
fn paths_say_where_in_a_program_a_task_is() {
    let text = "
flow t():
    for x in [1, 2]:
        try:
            @a()
            @fail()
        except:
            rows = spread [1]:y -> g(y)
    if true:
        @b()

fn g(y):
    @c(v=y)
";
    let mut p = Performance::new(text, &json!({}), Watch::All);
    let mut paths = Vec::new();
    loop {
        let run = &p.driver.run;
        let ready = run.present().find(|t| run.tasks[t.0 as usize].state == TaskState::Enqueued);
        let Some(task) = ready else { break };
        paths.push(run.path(task));
        assert_eq!(run.find(&run.path(task)), Some(task));
        p.step(&mut stub);
    }
    let round = |n| [format!("for#{n}.try.a"), format!("for#{n}.try.fail"), format!("for#{n}.try!1.rows[0]().c")];
    let expected: Vec<String> = round(0).into_iter().chain(round(1)).chain(["if[0].b".to_owned()]).collect();
    assert_eq!(paths, expected);
}

#[test]
fn an_expression_that_takes_long_costs_more_of_an_event_than_a_short_one() {
    let text = "
flow t():
    for i in range(100):
        x = range(900).map(a, a * 2).size() + range(900).map(a, a * 2).size()
    return x
";
    let made = |text: &str| Performance::new(text, &json!({}), Watch::Nothing).driver.run.composites[&TaskIx(0)].made();
    let long = text.replace("range(100)", "range(3000)");
    assert_eq!(made(text), 100, "a hundred of them are well within an event");
    assert_eq!(made(&long.replace("900", "9")), 3_000, "and so are thousands of short ones");
    assert!((100..2_500).contains(&made(&long)), "{} rounds of three statements fit into one event", made(&long));
}

#[test]
fn a_spread_that_ended_well_gives_its_items_back_and_one_that_failed_keeps_them() {
    let text = "
flow t(n=0):
    ys = spread range(n):x -> @echo(v=x)
    @echo(v=size(ys))
    try:
        spread [1, 2]:x -> @fail()
    except:
        sleep 1h
    return ys[n - 1]
";
    let mut p = Performance::new(text, &json!({"n": 600}), Watch::Nothing);
    (0..600).for_each(|_| assert!(p.step(&mut stub)));
    let over = std::mem::take(&mut p.driver.run.over);
    assert_eq!(over.len(), 600);
    p.driver.run.release(over);
    assert!(p.driver.run.tasks.held() < 400, "{} tasks are held", p.driver.run.tasks.held());
    p.driver.watch = Watch::All;
    (0..3).for_each(|_| assert!(p.step(&mut stub)));
    assert!(p.driver.run.over.is_empty());
    assert!(p.driver.run.find("try.spread[1]").is_some(), "what failed can still be looked at");
    p.play(&mut stub);
    assert_eq!(ended(&p.driver.run), Ok(json!(599)));
}

#[test]
fn the_box_of_an_arm_is_as_what_is_in_it() {
    let text = "
flow t():
    try:
        @fail()
    except:
        @echo()
    if false:
        @echo()
";
    let mut p = Performance::new(text, &json!({}), Watch::All);
    p.play(&mut stub);
    let drawn = Sketch::of_run(&p.driver.run);
    let phase = |id: &str| drawn.nodes().iter().find(|node| node.id == id).and_then(|node| node.now).unwrap().phase;
    assert_eq!(["try[0]", "try[1]", "if[0]"].map(phase), [Phase::Failed, Phase::Succeeded, Phase::Skipped]);
}
