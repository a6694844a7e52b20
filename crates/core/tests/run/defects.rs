//! Defects seen in comparable systems, each as a test that it is not ours.

use crate::driver::{DUPLICATE, Driver, STALE, Sketch, Watch, action, graph, name, plan, refused, spread};
use crate::programs::{Performance, stub};
use crate::storm::weather;
use edgewise_core::event::{AttemptRef, Event, Failure, TaskAct, TaskHeartbeat, TaskIx, TimerFired};
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::name::Name;
use edgewise_core::plan::{Accepts, Join, OnFailure, Resolution, Spec};
use edgewise_core::retry::{Backoff, Retry};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use serde_json::value::RawValue;

const OK: Accepts = Accepts::SUCCESS;
const ALL: Join = Join::All;

fn one() -> Driver {
    Driver::planned(graph(&[("a", ALL)], &[], OnFailure::Continue))
}

// Event-sourced orchestration.

#[test]
fn a_finish_from_a_clock_that_is_behind_is_folded_in_the_order_of_the_ledger() {
    let mut d = one();
    d.lease(TaskIx(0));
    d.now = Time(10);
    let report = d.report(TaskIx(0), None, None);
    assert_eq!(d.say(Event::TaskFinished(report)), Verdict::Applied);
    d.is(RunState::Complete);
    assert!(d.ledger.windows(2).all(|w| w[0].stamp.id < w[1].stamp.id), "ids never go back, whatever the clock does");
    assert_eq!(d.run.tasks[0].version, d.run.last, "its row has the newest version and wins every merge");
}

#[test]
fn a_fact_before_its_plan_is_told_so_and_counts_when_it_is_offered_again() {
    let mut d = Driver::triggered(graph(&[("a", ALL)], &[], OnFailure::Continue));
    let act = Event::TaskSkipRequested(TaskAct { task: TaskIx(0), generation: 1, by: name("op"), why: None });
    assert_eq!(d.say(act.clone()), Verdict::Ignored(Ignored::Unknown));
    d.plan_it();
    assert_eq!(d.say(act), Verdict::Applied);
}

#[test]
fn cancel_then_plan_stays_cancelled() {
    let mut d = Driver::triggered(graph(&[("a", ALL)], &[], OnFailure::Continue));
    d.cancel();
    d.plan_it();
    d.is(RunState::Cancelled);
    assert_eq!(d.state("a"), TaskState::Cancelled);
}

#[test]
fn a_cancelled_run_does_not_go_on_retrying() {
    let mut d = Driver::planned(plan(&[("a", action(9), ALL)], &[], OnFailure::Continue));
    d.fail("a");
    let (timer, due) = d.run.timers.iter().map(|(k, v)| (*k, *v)).next().unwrap();
    d.cancel();
    d.now = due;
    assert_eq!(d.say(Event::TimerFired(TimerFired { timer, due })), STALE);
    assert_eq!(d.lease(TaskIx(0)), STALE);
    assert!(d.run.timers.is_empty() && d.run.outbox_row(TaskIx(0)).is_none());
}

#[test]
fn an_upstream_named_twice_is_one_edge() {
    let mut d = Driver::planned(graph(&[("a", ALL), ("b", ALL)], &[(0, 1, OK), (0, 1, OK)], OnFailure::Continue));
    assert_eq!(d.run.edges.len(), 1);
    d.ok("a");
    d.ok("b");
    d.is(RunState::Complete);
}

#[test]
fn a_lease_that_came_back_cannot_be_had_again() {
    let mut d = Driver::planned(graph(&[("a", Join::All)], &[], OnFailure::Continue));
    let task = TaskIx(0);
    for _ in 0..2 {
        assert_eq!(d.lease(task), Verdict::Applied);
        let lease = d.lease_of("a");
        assert_eq!(lease.attempt, 1, "an undelivered grant does not spend an attempt");
        assert_eq!(d.say(Event::DispatchReturned(lease)), Verdict::Applied);
        assert_eq!(d.say(Event::DispatchReturned(lease)), STALE);
    }
    let leases: Vec<Event> = d.ledger.iter().map(|e| e.event.clone()).collect();
    for old in leases.into_iter().filter(|e| matches!(e, Event::DispatchEnqueued(_))) {
        assert!(matches!(d.say(old), Verdict::Ignored(_)));
        assert_eq!(d.state("a"), TaskState::Enqueued);
    }
    d.ok("a");
    d.close();
}

#[test]
fn one_upstream_failed_and_one_cancelled_comes_out_by_the_order_of_the_ledger() {
    let nodes = [("a", ALL), ("b", ALL), ("c", ALL)];
    for (first_fails, expected) in [(true, TaskState::Skipped), (false, TaskState::Cancelled)] {
        let mut d = Driver::planned(graph(&nodes, &[(0, 2, OK), (1, 2, OK)], OnFailure::Continue));
        if first_fails {
            d.fail("a");
        }
        d.cancel_task("b");
        if !first_fails {
            d.fail("a");
        }
        assert_eq!(d.state("c"), expected);
        assert_eq!(d.stream().refold(u64::MAX), d.run);
    }
}

#[test]
fn a_run_cancel_leaves_no_edge_open_and_no_task_without_an_end() {
    let nodes = [("a", ALL), ("b", ALL), ("c", ALL), ("d", ALL)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, OK), (1, 2, OK), (3, 2, OK)], OnFailure::Hold));
    d.fail("d");
    d.lease(TaskIx(0));
    d.cancel();
    assert!(d.run.edges.iter().all(|e| Resolution::from_byte(*e).is_some()));
    assert!(d.run.tasks.iter().all(|t| t.completed_at.known().is_some()));
    assert_eq!(d.run.completed_at, d.now);
}

#[test]
fn a_timer_that_fired_is_not_processed_again() {
    let mut d = Driver::planned(plan(&[("a", action(3), ALL)], &[], OnFailure::Continue));
    d.fail("a");
    let (timer, due) = d.run.timers.iter().map(|(k, v)| (*k, *v)).next().unwrap();
    let other = TimerFired { timer, due: Time(due.0 - 1) };
    d.now = due;
    assert_eq!(d.say(Event::TimerFired(other)), STALE, "a firing for an instant that was not set");
    assert_eq!(d.fire_next(), Verdict::Applied);
    let again = d.ledger.last().unwrap().event.clone();
    for _ in 0..3 {
        assert_eq!(d.say(again.clone()), STALE);
    }
    d.fail("a");
    assert_eq!(d.say(again), STALE, "the next wait has a key of its own");
}

#[test]
fn names_with_separators_are_printed_and_found_again_and_colons_are_no_names() {
    assert!(Name::parse("a:b").is_err());
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "team/all.of-them", spread(inner, 2), &[]);
    sketch.node(inner, "x.y", action(1), &[]);
    sketch.node(inner, "x/y", action(1), &[]);
    let d = Driver::planned(sketch.build());
    for task in (0..d.run.total()).map(TaskIx) {
        assert_eq!(d.run.find(&d.run.path(task)), Some(task), "{}", d.run.path(task));
    }
}

#[test]
fn a_heartbeat_costs_the_same_in_a_large_run() {
    // Looking at every task for each heartbeat would take 10^9 steps.
    const N: u32 = 50_000;
    let mut sketch = Sketch::new(OnFailure::Continue);
    for n in 0..N {
        sketch.node(0, &format!("n{n}"), action(1), &[]);
    }
    let mut d = Driver::triggered_watching(sketch.build(), Watch::Nothing);
    d.plan_it();
    for n in 0..20_000 {
        let task = TaskIx(n);
        d.lease(task);
        let entry = d.run.tasks[n as usize];
        let attempt = AttemptRef { task, generation: 1, attempt: 1, token: entry.token };
        let progress = RawValue::from_string("1".into()).unwrap();
        assert_eq!(d.say(Event::TaskHeartbeat(TaskHeartbeat { attempt, progress })), Verdict::Applied);
    }
}

#[test]
fn a_completion_that_is_sent_again_is_answered_as_the_first_time() {
    let mut d = one();
    d.ok_with("a", "[1]");
    let sent = d.ledger.last().unwrap().event.clone();
    assert_eq!(d.say(sent), DUPLICATE);
}

#[test]
fn an_output_that_looks_like_an_error_is_an_output() {
    let mut d = one();
    d.ok_with("a", r#"{"type":"boom","message":"it broke","error":{"type":"x","message":"y"}}"#);
    d.is(RunState::Complete);
}

// State-machine orchestration.

#[test]
fn of_two_claimers_one_wins() {
    let mut d = one();
    let first = d.clone().lease(TaskIx(0));
    let mut claims = Vec::new();
    for _ in 0..2 {
        let entry = d.run.tasks[0];
        let token = edgewise_core::id::Token(claims.len() as u128 + 1).hash();
        let claim = edgewise_core::event::DispatchEnqueued {
            task: TaskIx(0),
            generation: entry.generation,
            attempt: 1,
            token,
            worker: "w".into(),
            lease: None,
        };
        claims.push(d.say(Event::DispatchEnqueued(claim)));
    }
    assert_eq!((first, claims), (Verdict::Applied, vec![Verdict::Applied, STALE]));
}

#[test]
fn a_lost_worker_ends_its_attempt_and_not_its_task() {
    let mut d = Driver::planned(plan(&[("a", action(2), ALL)], &[], OnFailure::Continue));
    d.lease(TaskIx(0));
    let lost = d.report(TaskIx(0), Some(Failure::new("worker_lost", "no heartbeat in time")), None);
    let late = d.report(TaskIx(0), None, None);
    assert_eq!(d.say(Event::TaskFinished(lost)), Verdict::Applied);
    assert_eq!(d.state("a"), TaskState::WaitingForRetry);
    assert_eq!(d.say(Event::TaskFinished(late)), STALE, "it comes back and is told");
    d.fire_next();
    d.ok("a");
    d.is(RunState::Complete);
}

#[test]
fn what_is_ready_is_in_the_state_and_not_in_a_message() {
    let d = one();
    let loaded = crate::load::reload(&d.run);
    assert_eq!(loaded.outbox_row(TaskIx(0)).map(|row| (row.attempt, row.action.to_string())), Some((1, "noop".into())));
}

#[test]
fn no_run_rests_in_a_state_that_is_only_passed() {
    for seed in 0..150 {
        let d = weather(seed, 40);
        let rests = d.stream().walk(|run, entry, _, _| match run.state {
            RunState::Initializing | RunState::EvaluatingResults => Err(entry.seq),
            _ => Ok(()),
        });
        assert_eq!(rests, Ok(()), "weather({seed}, 40)");
    }
}

#[test]
fn a_manual_fix_moves_what_was_blocked_in_the_same_event() {
    let mut d = Driver::planned(graph(&[("a", ALL), ("b", ALL)], &[(0, 1, OK)], OnFailure::Hold));
    d.fail("a");
    d.is(RunState::BlockedByFailures);
    d.resolve("a");
    assert_eq!(d.state("b"), TaskState::Enqueued);
    d.is(RunState::EnqueuingTasks);
}

#[test]
fn complete_is_not_overwritten_by_an_operator() {
    let mut d = one();
    d.ok_with("a", "1");
    assert_eq!(d.resolve("a"), refused("the task is complete"));
    assert_eq!(*d.run.output(TaskIx(0)), 1);
}

#[test]
fn a_failure_does_not_stop_independent_branches() {
    let mut d = Driver::planned(graph(&[("a", ALL), ("b", ALL), ("c", ALL)], &[(1, 2, OK)], OnFailure::Continue));
    d.fail("a");
    d.ok("b");
    d.ok("c");
    d.is(RunState::Error);
}

#[test]
fn a_cancelled_task_does_not_keep_its_run_from_ending() {
    let mut d = Driver::planned(graph(&[("a", ALL), ("b", ALL)], &[], OnFailure::Continue));
    d.cancel_task("a");
    d.ok("b");
    d.is(RunState::Cancelled);
}

#[test]
fn backoff_and_hints_are_honoured_and_capped_in_one_place() {
    let waits = |kind, hint: Option<u64>| {
        let retry = Retry { kind, max_attempts: 5, jitter_percent: 0, cap: Millis(6_000), ..Retry::default() };
        let mut d = Driver::planned(plan(&[("a", Spec { retry, ..action(1) }, ALL)], &[], OnFailure::Continue));
        let mut waits = Vec::new();
        for _ in 0..4 {
            d.lease(TaskIx(0));
            let failure = Failure { retry_after: hint.map(Millis), ..Failure::new("boom", "it broke") };
            let report = d.report(TaskIx(0), Some(failure), None);
            d.say(Event::TaskFinished(report));
            waits.push(d.run.timers.values().next().unwrap().since(d.now).0);
            d.fire_next();
        }
        waits
    };
    assert_eq!(waits(Backoff::Fixed, None), [1_000; 4]);
    assert_eq!(waits(Backoff::Linear, None), [1_000, 2_000, 3_000, 4_000]);
    assert_eq!(waits(Backoff::Exponential, None), [1_000, 2_000, 4_000, 6_000]);
    assert_eq!(waits(Backoff::Exponential, Some(2_500)), [2_500; 4]);
    assert_eq!(waits(Backoff::Fixed, Some(3_600_000)), [6_000; 4]);
}

#[test]
fn a_worker_that_says_retryable_does_not_keep_a_task_alive_that_is_not() {
    let retry = Retry { retryable: false, max_attempts: 5, ..Retry::default() };
    let mut d = Driver::planned(plan(&[("a", Spec { retry, ..action(1) }, ALL)], &[], OnFailure::Continue));
    d.fail("a");
    assert_eq!(d.state("a"), TaskState::Error);
    d.is(RunState::Error);
}

#[test]
fn a_long_ladder_costs_its_edges_and_not_its_paths() {
    // 2,000 rungs of two tasks that need both of the rung before: 2^2000 paths, 8,000 edges.
    let mut sketch = Sketch::new(OnFailure::Continue);
    let mut rung = Vec::new();
    for n in 0..2_000 {
        let next = ["l", "r"].map(|side| sketch.node(0, &format!("{side}{n}"), action(1), &rung));
        rung = next.to_vec();
    }
    let mut d = Driver::triggered_watching(sketch.build(), Watch::Nothing);
    d.plan_it();
    for n in 0..4_000 {
        let task = TaskIx(n);
        assert_eq!(d.lease(task), Verdict::Applied);
        let report = d.report(task, None, None);
        d.say(Event::TaskFinished(report));
        assert!(d.changes.moves.len() <= 4, "a completion moves what it decides and nothing else");
    }
    d.is(RunState::Complete);
}

#[test]
fn a_healthy_long_task_is_killed_by_nobody() {
    let mut d = one();
    d.lease(TaskIx(0));
    assert!(d.run.timers.is_empty(), "no timer of the run looks at it; its lease does");
    d.now = Time(d.now.0 + 10 * 366 * 86_400_000);
    let progress = RawValue::from_string("0.1".into()).unwrap();
    let beat = TaskHeartbeat { attempt: d.lease_of("a"), progress };
    assert_eq!(d.say(Event::TaskHeartbeat(beat)), Verdict::Applied);
    assert_eq!(d.state("a"), TaskState::InProgress);
}

/// What a program comes to, and what it did.
fn comes_to(text: &str, effects: &[&str], end: Result<serde_json::Value, &str>) {
    let (found, ended) = crate::programs::perform(text, &serde_json::json!({}));
    assert_eq!(
        (found, ended),
        (effects.iter().map(|e| (*e).to_owned()).collect(), end.map_err(str::to_owned)),
        "{text}"
    );
}

#[test]
fn a_second_iteration_is_a_scope_of_its_own_and_nothing_is_reset() {
    let text = "
flow t():
    for x in [1, 2, 3]:
        @echo(v=x)
        @echo(v=x * 10)
";
    let effects = ["echo(1)", "echo(10)", "echo(2)", "echo(20)", "echo(3)", "echo(30)"];
    comes_to(text, &effects, Ok(serde_json::json!(null)));
    let mut p = Performance::new(text, &serde_json::json!({}), Watch::All);
    p.play(&mut stub);
    let states = |path: &str| p.driver.state(path);
    assert_eq!(states("for#2.echo"), TaskState::Complete);
    assert_eq!(p.driver.run.counts[TaskState::Complete as usize], 7, "each iteration has tasks of its own");
    assert!(p.driver.run.present().all(|t| p.driver.run.tasks[t.0 as usize].generation == 1));
}

#[test]
fn what_follows_a_branch_runs_whichever_arm_was_taken_or_none() {
    for (n, effects) in [(1, vec!["echo(1)", "echo(9)"]), (2, vec!["echo(2)", "echo(9)"]), (3, vec!["echo(9)"])] {
        let text = format!(
            "
flow t():
    n = {n}
    if n == 1:
        @echo(v=1)
    elif n == 2:
        @echo(v=2)
    @echo(v=9)
"
        );
        comes_to(&text, &effects, Ok(serde_json::json!(null)));
    }
}

#[test]
fn an_empty_spread_ends_at_once_with_an_empty_list() {
    comes_to(
        "flow t():\n    xs = spread []:x -> @echo(v=x)\n    return @echo(v=size(xs))\n",
        &["echo(0)"],
        Ok(serde_json::json!(0)),
    );
}

#[test]
fn one_handler_runs_and_the_inner_one_is_asked_first() {
    let text = "
flow t():
    try:
        try:
            @fail(type=\"Disk\", is=[\"Storage\"])
        except Storage:
            @echo(v=\"inner\")
        except Disk:
            @echo(v=\"inner too\")
    except Disk:
        @echo(v=\"outer\")
";
    comes_to(text, &["fail([\"Storage\"], \"Disk\")", "echo(\"inner\")"], Ok(serde_json::json!(null)));
}

#[test]
fn a_while_loop_writes_as_much_in_its_last_round_as_in_its_first() {
    let text = "
flow t():
    i = 0
    while i < 200:
        i = i + 1
        x = @echo(v=i)
";
    let mut p = Performance::new(text, &serde_json::json!({}), Watch::Nothing);
    let mut sizes = Vec::new();
    while p.step(&mut stub) {
        let run = &mut p.driver.run;
        let moved = p.driver.changes.moves.iter().map(|m| m.task).chain(p.driver.changes.touched.iter().copied());
        let bytes = |task| {
            let row = run.task_row(task);
            row.body.map_or(0, |body| body.len()) + row.output.map_or(0, |output| output.len())
        };
        sizes.push(moved.map(bytes).sum::<usize>() + run.row().map_or(0, |row| row.body.len()));
        let over = std::mem::take(&mut run.over);
        run.release(over);
    }
    let (first, last) = (sizes[2], sizes[sizes.len() - 2]);
    assert!(last <= first + 40, "{first} bytes of rows in the third round, {last} in the last but one");
}
