use super::{Again, Ends, Fact};
use crate::flows::flow;
use edgewise_core::plan::Resolution;
use edgewise_core::plan::Resolution::{Cancelled, Failed, Skipped, Success};

/// Facts such as `a ok`, `a ok 3` (a list of three), `a failed`, `a skip` or `cancel`, and acts such as `a again`, in order; then how all tasks ended, as
/// the first letters of their resolutions in the order of their paths, `-` for one that has not, and the run.
#[track_caller]
fn check(text: &str, facts: &str, tasks: &str, run: impl Into<Option<Resolution>>) {
    let plan = flow(text);
    let mut ends = Ends::new(&plan);
    ends.accept(Fact::Begun(Some(2)));
    for fact in facts.split(", ").filter(|fact| !fact.is_empty()) {
        let fact = match *fact.split(' ').collect::<Vec<_>>() {
            ["cancel"] => Fact::Cancelled,
            ["give_up"] => Fact::GivenUp,
            ["resolve"] => Fact::Resolved,
            [path, "skip"] => Fact::Ended(path, Skipped, None),
            [path, "cancel"] => Fact::Ended(path, Cancelled, None),
            [path, "failed"] => Fact::Ended(path, Failed, None),
            [path, "ok"] => Fact::Ended(path, Success, None),
            [path, "ok" | "supply", items] => Fact::Ended(path, Success, items.parse().ok()),
            ref act => {
                let again = match *act {
                    ["again"] => Again::Failure,
                    [path, "again"] => Again::Task(path),
                    [path, "reset"] => Again::Reset(path),
                    [path, "deal"] => Again::Resolved(path),
                    _ => panic!("{fact}"),
                };
                assert!(ends.open_again(again).is_some(), "{fact}");
                continue;
            }
        };
        ends.accept(fact);
    }
    let letter = |end: &Option<Resolution>| match end {
        None => '-',
        Some(Success) => 'S',
        Some(Failed) => 'F',
        Some(Skipped) => 'K',
        Some(Cancelled) => 'C',
    };
    let found: String = ends.of_tasks().values().map(letter).collect();
    assert_eq!((found.as_str(), ends.of_the_run()), (tasks, run.into()), "{facts}: {:?}", ends.of_tasks());
}

const ROW: &str = "{ flow: f, tasks: { a: { action: x }, b: { after: a, action: x }, c: { after: b, action: x } } }";

#[test]
fn what_is_behind_a_failure_is_skipped_hop_by_hop() {
    check(ROW, "", "---", Success);
    check(ROW, "a ok", "S--", Success);
    check(ROW, "a ok, b ok, c ok", "SSS", Success);
    check(ROW, "a failed", "FKK", Failed);
    check(ROW, "a ok, b failed", "SFK", Failed);
}

#[test]
fn a_cancel_takes_what_has_not_ended_and_leaves_what_has() {
    check(ROW, "a ok, cancel", "SCC", Cancelled);
    check(ROW, "a failed, cancel", "FKK", Cancelled);
    check(ROW, "cancel", "CCC", Cancelled);
}

#[test]
fn a_failure_is_dealt_with_by_who_wants_it_and_not_by_who_only_looks() {
    let flow = "{ flow: f, tasks: { a: { action: x }, b: { after: { a: failed }, action: x } } }";
    check(flow, "a failed, b ok", "FS", Success);
    check(flow, "a failed, b failed", "FF", Failed);
    check(flow, "a ok", "SK", Success);
    let observed = "{ flow: f, tasks: { a: { action: x }, b: { after: { a: done }, action: x } } }";
    check(observed, "a failed, b ok", "FS", Failed);
}

#[test]
fn a_join_of_a_number_goes_on_at_that_many_and_is_skipped_when_they_cannot_come() {
    let flow = |join: &str| {
        let up = "a: { action: x }, b: { action: x }, c: { action: x }";
        format!("{{ flow: f, tasks: {{ {up}, d: {{ after: [a, b, c], join: {join}, action: x }} }} }}")
    };
    check(&flow("any"), "a failed, b ok, c failed, d ok", "FSFS", Success);
    check(&flow("any"), "a failed, b failed, c failed", "FFFK", Failed);
    check(&flow("2"), "a failed, b ok", "FS--", Failed);
    check(&flow("2"), "a failed, b ok, c ok, d ok", "FSSS", Success);
    check(&flow("2"), "a failed, b failed", "FF-K", Failed);
}

#[test]
fn the_first_failure_ends_the_rest_or_is_held() {
    let flow = |rule: &str| {
        let tasks = "a: { action: x }, b: { after: a, action: x }, c: { after: b, action: x }, d: { action: x }";
        format!("{{ flow: f, on_failure: {rule}, tasks: {{ {tasks} }} }}")
    };
    check(&flow("fail_fast"), "a failed", "FKCC", Failed);
    check(&flow("fail_fast"), "d ok, a failed", "FKCS", Failed);
    check(&flow("hold"), "a failed", "F---", Failed);
    check(&flow("hold"), "a failed, d ok, cancel", "FCCS", Cancelled);
    check(&flow("continue"), "a failed", "FKK-", Failed);
}

#[test]
fn a_spread_is_of_as_many_as_its_list_and_ends_with_them() {
    let flow = |more: &str| {
        let each = format!("each: {{ after: a, each: tasks.a.output, action: x{more} }}");
        format!("{{ flow: f, tasks: {{ a: {{ action: x }}, {each} }} }}")
    };
    check(&flow(""), "a ok", "SF", Failed);
    check(&flow(""), "a ok 0", "SS", Success);
    check(&flow(""), "a ok 2", "S---", Success);
    check(&flow(""), "a ok 2, each[1] ok, each[0] ok", "SSSS", Success);
    check(&flow(""), "a ok 2, each[1] failed, each[0] ok", "SFSF", Failed);
    check(&flow(", tolerate: 1"), "a ok 2, each[1] failed, each[0] ok", "SSSF", Success);
    check(&flow(", fail_fast: true"), "a ok 3, each[1] failed", "SFCFC", Failed);
    check(&flow(""), "a ok 2, each[1] ok, cancel", "SCCS", Cancelled);
    check(&flow(""), "a failed", "FK", Failed);
}

#[test]
fn what_an_operator_says_of_a_task_travels_as_if_it_had_ended_so() {
    check(ROW, "a skip", "KKK", Success);
    check(ROW, "a ok, b cancel", "SCC", Cancelled);
    check(ROW, "b supply 2, a failed, c ok", "FSS", Failed);
    let any = "{ flow: f, tasks: { a: { action: x }, b: { action: x }, c: { after: [a, b], join: any, action: x } } }";
    check(any, "a cancel, b failed", "CFK", Failed);
    check(any, "b failed, a cancel", "CFC", Failed);
    let each =
        "{ flow: f, tasks: { e: { each: [1, 2], action: x }, z: { after: e, each: tasks.e.output, action: x } } }";
    check(each, "e[0] ok, e skip", "KSCK", Success);
    check(each, "e supply 1, z[0] ok", "SCCSS", Success);
    check(each, "e supply none", "SCCF", Failed);
}

#[test]
fn failures_that_are_held_travel_when_somebody_gives_up_and_a_run_that_is_dealt_with_is_neither() {
    let tasks = "a: { action: x }, b: { after: a, action: x }, c: { action: x }, d: { after: c, action: x }";
    let held = format!("{{ flow: f, on_failure: hold, tasks: {{ {tasks} }} }}");
    check(&held, "a failed, give_up", "FK--", Failed);
    check(&held, "a failed, give_up, c failed", "FKFK", Failed);
    check(&held, "c failed, a failed, resolve", "FCFC", None);
    check(ROW, "a ok, resolve", "SCC", None);
    check(ROW, "a failed, resolve", "FKK", None);
}

#[test]
fn who_is_not_wanted_is_skipped_and_answers_no_failure() {
    let when = |when: &str| {
        let tasks =
            format!("a: {{ action: x }}, b: {{ after: a, when: {when}, action: x }}, c: {{ after: b, action: x }}");
        format!("{{ flow: f, tasks: {{ {tasks} }} }}")
    };
    check(&when("true"), "a ok, b ok", "SS-", Success);
    check(&when("false"), "a ok", "SKK", Success);
    check(&when("'tasks.a.output == []'"), "a ok 0", "S--", Success);
    check(&when("'tasks.a.output == []'"), "a ok 2", "SKK", Success);
    check(&when("tasks.a.output"), "a ok 2", "SFK", Failed);
    let mend = |when: &str| {
        let mend = format!("b: {{ after: {{ a: failed }}, when: {when}, action: x }}");
        format!("{{ flow: f, tasks: {{ a: {{ action: x }}, {mend} }} }}")
    };
    check(&mend("true"), "a failed, b ok", "FS", Success);
    check(&mend("false"), "a failed", "FK", Failed);
}

#[test]
fn what_is_done_again_takes_along_what_follows_and_keeps_the_rest() {
    check(ROW, "a ok, b ok, c ok, b again", "S--", Success);
    check(ROW, "a ok, b failed, again", "S--", Success);
    check(ROW, "a ok, cancel, again", "S--", Success);
    check(ROW, "a ok, b ok, c cancel, again, c ok", "SSS", Success);
    let two = "{ flow: f, tasks: { a: { action: x }, b: { after: a, action: x }, c: { action: x } } }";
    check(two, "c failed, a ok, b ok, again", "SS-", Success);
    check(two, "c failed, a ok, b ok, a again", "--F", Failed);
    let mended =
        "{ flow: f, tasks: { a: { action: x }, b: { after: { a: failed }, action: x }, c: { after: b, action: x } } }";
    check(mended, "a failed, b ok, c failed, again", "FS-", Success);
    check(mended, "a failed, b ok, c ok, a again, a ok", "SKK", Success);
}

#[test]
fn a_task_that_is_reset_takes_along_what_was_left_out_because_of_it() {
    check(ROW, "a failed, a reset", "---", Success);
    check(ROW, "a failed, a deal, a ok", "S--", Success);
    let side = "{ flow: f, tasks: { a: { action: x }, b: { action: x }, c: { after: [a, b], action: x } } }";
    check(side, "a failed, b failed, b reset, b ok", "FSK", Failed);
    check(side, "a failed, b failed, a reset, a ok", "SFK", Failed);
    let any = "{ flow: f, tasks: { a: { action: x }, b: { action: x }, c: { after: [a, b], join: any, action: x } } }";
    check(any, "a failed, b failed, a reset, a ok", "SF-", Success);
    let fast = "{ flow: f, on_failure: fail_fast, tasks: { a: { action: x }, b: { action: x } } }";
    check(fast, "a failed, a reset", "--", Success);
    let mended = "{ flow: f, tasks: { a: { action: x }, b: { after: { a: failed }, action: x } } }";
    check(mended, "a failed, b failed, b deal, b ok", "FS", Success);
}
