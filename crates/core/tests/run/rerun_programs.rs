//! Rerun of programs: a chain stands again where it stood, with the variables it had there.

use crate::driver::{Driver, Watch, refused};
use crate::programs::{Performance, ended};
use edgewise_core::event::{Event, Failure, RerunFrom, TaskAct, TaskIx};
use edgewise_core::fold::Verdict;
use edgewise_core::state::RunState;
use serde_json::{Value, json};

/// A program of which `flaky` fails the first time, or for as long as it is told.
struct Played {
    performance: Performance,
    healed: bool,
}

impl Played {
    fn new(body: &str) -> Self {
        let text =
            format!("flow test(xs=[1, 2, 3], n=0):\n{}", body.replace("\n        ", "\n").trim_start_matches('\n'));
        Self { performance: Performance::new(&text, &json!({"xs": [1, 2, 3], "n": 5}), Watch::All), healed: false }
    }

    fn d(&mut self) -> &mut Driver {
        &mut self.performance.driver
    }

    /// Plays on to the end; gives what was done since.
    fn play(&mut self) -> Vec<String> {
        let healed = self.healed;
        let mut stub = |action: &str, with: &Value| match action {
            "flaky" if !healed && with["v"] != json!("fine") => Err(Failure::permanent("Flaky", "not yet")),
            _ => Ok(with["v"].clone()),
        };
        self.performance.play(&mut stub);
        self.performance.driver.close();
        std::mem::take(&mut self.performance.effects)
    }

    fn end(&self) -> Result<Value, String> {
        ended(&self.performance.driver.run)
    }
}

/// Fails, is rerun from there, and then does these things and comes to this.
fn check(body: &str, effects: &[&str], end: Value) {
    let mut played = Played::new(body);
    played.play();
    played.d().is(RunState::Error);
    played.healed = true;
    assert_eq!(played.d().rerun(RerunFrom::Failure), Verdict::Applied, "{body}");
    assert_eq!(played.play(), effects, "effects of\n{body}");
    assert_eq!(played.end(), Ok(end), "end of\n{body}");
}

#[test]
fn a_failed_program_goes_on_where_it_failed_with_its_variables() {
    check(
        "
            a = @echo(v=n)
            b = a + 1
            c = @flaky(v=b)
            d = @echo(v=c + 1)
            return [a, b, c, d]",
        &["flaky(6)", "echo(7)"],
        json!([5, 6, 6, 7]),
    );
}

#[test]
fn a_failed_round_of_a_loop_is_done_again_with_what_the_rounds_before_it_came_to() {
    check(
        "
            total = 0
            for x in xs:
                total = total + x
                if x == 2:
                    @flaky(v=total)
                total = total + 100
                @echo(v=total)
            return total",
        &["flaky(103)", "echo(203)", "echo(306)"],
        json!(306),
    );
    check(
        "
            i = 0
            while i < 3:
                i = i + 1
                if i == 3:
                    y = @flaky(v=i)
            return i",
        &["flaky(3)"],
        json!(3),
    );
}

#[test]
fn what_failed_in_a_branch_a_call_and_a_try_is_opened_inside_of_them() {
    check(
        "
            if n > 1:
                a = @echo(v=1)
                try:
                    b = @flaky(v=a + 1)
                except Other:
                    b = 0
                c = b
            return [a, b, c]",
        &["flaky(2)"],
        json!([1, 2, 2]),
    );
}

#[test]
fn failed_items_of_a_spread_and_the_failed_arm_of_a_parallel_are_opened_alone() {
    check(
        "
            ys = spread [1, \"fine\", 3]:x -> @flaky(v=x)
            return ys",
        &["flaky(1)", "flaky(3)"],
        json!([1, "fine", 3]),
    );
    check(
        "
            a, b = parallel:
                @echo(v=1)
                @flaky(v=2)
            return [a, b]",
        &["flaky(2)"],
        json!([1, 2]),
    );
}

#[test]
fn what_failed_in_a_handler_is_opened_there_and_what_it_deals_with_stays() {
    check(
        "
            a = 1
            try:
                a = 2
                raise Bad(\"it is\")
            except Bad as e:
                @flaky(v=e.message)
                a = a + 10
            return a",
        &["flaky(\"it is\")"],
        json!(12),
    );
}

#[test]
fn a_handler_that_raises_what_it_was_given_has_its_try_done_again() {
    check(
        "
            try:
                a = @echo(v=1)
                b = @flaky(v=a)
            except Flaky:
                @echo(v=\"seen\")
                raise
            return b",
        &["echo(1)", "flaky(1)"],
        json!(1),
    );
}

#[test]
fn a_program_that_failed_by_itself_says_so() {
    let mut played = Played::new("    a = @echo(v=1)\n    raise Bad(\"no\")\n");
    played.play();
    let why = "the program failed by itself, not at one of its tasks: rerun it whole, or from one of them";
    assert_eq!(played.d().rerun(RerunFrom::Failure), refused(why));
    assert_eq!(played.d().rerun_task("a"), Verdict::Applied);
    assert_eq!(played.play(), ["echo(1)"]);
    played.d().is(RunState::Error);
}

#[test]
fn a_task_is_opened_with_all_that_follows_it_up_to_the_root() {
    let mut played = Played::new(
        "
            a = @echo(v=1)
            if true:
                b = @one(v=a + 1)
                c = @two(v=b + 1)
            d = @three(v=c + 1)
            return [a, b, c, d]",
    );
    assert_eq!(played.play(), ["echo(1)", "one(2)", "two(3)", "three(4)"]);
    assert_eq!(played.d().rerun_task("if[0].c"), Verdict::Applied);
    played.d().is(RunState::EnqueuingTasks);
    assert_eq!(played.play(), ["two(3)", "three(4)"]);
    assert_eq!(played.end(), Ok(json!([1, 2, 3, 4])));
}

#[test]
fn a_whole_program_starts_with_what_it_was_given() {
    let mut played = Played::new(
        "
            n = n + 1
            ys = spread xs:x -> @echo(v=x + n)
            for y in ys:
                n = n + @echo(v=y)
            return [n, ys]"
            .replace("n = n + @echo(v=y)", "z = @echo(v=y)\n                n = n + z")
            .as_str(),
    );
    let first = played.play();
    let end = played.end();
    assert_eq!(played.d().rerun(RerunFrom::Start), Verdict::Applied);
    assert_eq!(played.play(), first);
    assert_eq!(played.end(), end);
}

#[test]
fn a_program_that_never_came_to_a_task_starts_with_its_first_statement() {
    let mut played = Played::new(
        "
            b = xs[9]
            @echo(v=b)",
    );
    played.play();
    let end = played.end();
    assert!(end.is_err());
    assert_eq!(played.d().rerun(RerunFrom::Start), Verdict::Applied);
    assert!(played.play().is_empty());
    assert_eq!(played.end(), end);
}

#[test]
fn inside_of_a_round_that_is_over_it_is_refused_and_the_loop_is_named() {
    let mut played = Played::new(
        "
            for x in xs:
                @echo(v=x)
            return 1",
    );
    played.play();
    let paths: Vec<String> = (0..3).map(|n| format!("for#{n}.echo")).collect();
    assert_eq!(played.d().rerun_task(&paths[2]), Verdict::Applied, "the last round is still held");
    assert_eq!(played.play(), ["echo(3)"]);
    assert_eq!(played.d().rerun_task("for"), Verdict::Applied);
    assert_eq!(played.play(), ["echo(1)", "echo(2)", "echo(3)"]);
}

#[test]
fn inside_of_a_body_whose_handler_ran_it_is_refused_and_the_try_is_named() {
    let mut played = Played::new(
        "
            try:
                @flaky(v=1)
            except Flaky:
                @echo(v=2)
            return 3",
    );
    assert_eq!(played.play(), ["flaky(1)", "echo(2)"]);
    assert_eq!(played.d().rerun_task("try.flaky"), refused("a handler has dealt with it: rerun the try"));
    assert_eq!(played.d().rerun_task("try!1.echo"), Verdict::Applied);
    assert_eq!(played.play(), ["echo(2)"]);
    played.healed = true;
    assert_eq!(played.d().rerun_task("try"), Verdict::Applied);
    assert_eq!(played.play(), ["flaky(1)"]);
    assert_eq!(played.end(), Ok(json!(3)));
}

#[test]
fn inside_of_a_spread_that_ended_well_it_is_refused_and_the_spread_is_named() {
    let mut played = Played::new("    ys = spread xs:x -> @echo(v=x)\n    return ys\n");
    played.play();
    let item = TaskIx(1);
    let verdict = played.d().rerun(RerunFrom::Task { task: item, generation: 1 });
    assert_eq!(verdict, refused("its spread ended well and has given it back: rerun the spread"));
    assert_eq!(played.d().rerun_task("ys"), Verdict::Applied);
    assert_eq!(played.play(), ["echo(1)", "echo(2)", "echo(3)"]);
}

#[test]
fn what_the_program_did_not_come_to_is_refused() {
    let mut played = Played::new("    @flaky(v=1)\n    @echo(v=2)\n");
    played.play();
    let why = "the program did not come to it: rerun what it stopped at, or the whole run";
    assert_eq!(played.d().rerun_task("echo"), refused(why));
}

#[test]
fn a_program_that_was_cancelled_goes_on_where_it_stood() {
    let mut played = Played::new(
        "
            a = @echo(v=n)
            b = a * 2
            ys = spread xs:x -> @echo(v=x + b)
            return [b, ys]",
    );
    let mut stub = |_: &str, with: &Value| Ok(with["v"].clone());
    for _ in 0..2 {
        played.performance.step(&mut stub);
    }
    played.d().cancel();
    played.d().is(RunState::Cancelled);
    played.performance.effects.clear();
    assert_eq!(played.d().rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(played.play(), ["echo(12)", "echo(13)"], "the first item is done and stays so");
    assert_eq!(played.end(), Ok(json!([10, [11, 12, 13]])));
}

#[test]
fn a_failed_task_of_a_failed_program_is_reset_resolved_or_completed_and_the_program_goes_on() {
    let body = "
            a = 1
            b = @flaky(v=a)
            return [a, b]";
    type Act = fn(&mut Driver) -> Verdict;
    let acts: [(Act, Value, &[&str]); 3] = [
        (|d| d.reset("b"), json!([1, 1]), &["flaky(1)"]),
        (|d| d.resolve("b"), json!([1, null]), &[]),
        (|d| d.complete("b", "7"), json!([1, 7]), &[]),
    ];
    for (act, end, effects) in acts {
        let mut played = Played::new(body);
        played.play();
        played.d().is(RunState::Error);
        played.healed = true;
        assert_eq!(act(played.d()), Verdict::Applied);
        assert_eq!(played.play(), effects);
        assert_eq!(played.end(), Ok(end));
    }
}

#[test]
fn an_act_inside_of_composites_that_failed_with_it_opens_them_too() {
    let body = "
            total = 0
            for x in xs:
                ys = spread [x, \"fine\"]:y -> @flaky(v=y)
                total = total + 1
            return [total, ys]";
    let mut played = Played::new(body);
    played.play();
    played.healed = true;
    assert_eq!(played.d().complete("for#0.ys[0]", "9"), Verdict::Applied);
    assert_eq!(played.play(), ["flaky(2)", "flaky(\"fine\")", "flaky(3)", "flaky(\"fine\")"]);
    assert_eq!(played.end(), Ok(json!([3, [3, "fine"]])));
}

#[test]
fn an_act_on_what_a_program_went_on_from_is_refused() {
    let mut played = Played::new(
        "
            try:
                @flaky(v=1)
            except Flaky:
                pass
            ys = spread [1, \"fine\"]:y -> @flaky(v=y) [tolerate: 1]
            return ys",
    );
    played.play();
    assert_eq!(played.d().reset("try.flaky"), refused("a handler has dealt with it: rerun the try"));
    let run = &played.performance.driver.run;
    let item = run.present().find(|t| t.0 > 2 && run.failure_of(*t).is_some());
    let item = item.expect("an item failed and was borne");
    let act = TaskAct { task: item, generation: 1, by: crate::driver::name("op"), why: None };
    let given_back = refused("its spread ended well and has given it back: rerun the spread");
    assert_eq!(played.d().say(Event::TaskResetForRetry(act)), given_back);
}

#[test]
fn an_act_inside_of_what_was_dealt_with_by_hand_is_refused() {
    let mut played = Played::new("    ys = spread xs:x -> @echo(v=x)\n    return ys\n");
    assert_eq!(played.d().complete("ys", "[7]"), Verdict::Applied);
    assert_eq!(played.end(), Ok(json!([7])));
    assert_eq!(played.d().complete("ys[0]", "1"), refused("the program has gone on from it: rerun it instead"));
    assert_eq!(played.d().rerun_task("ys"), Verdict::Applied);
    assert_eq!(played.play(), ["echo(1)", "echo(2)", "echo(3)"]);
}

#[test]
fn a_composite_is_reset_through_what_failed_in_it() {
    let mut played = Played::new("\n            if true:\n                @flaky(v=1)");
    played.play();
    let why = "it is reset through the task in it that failed, or rerun as a whole";
    assert_eq!(played.d().reset("if"), refused(why));
    played.healed = true;
    assert_eq!(played.d().rerun_task("if"), Verdict::Applied);
    assert_eq!(played.play(), ["flaky(1)"]);
}
