//! Queues, limits, rates, priorities, turns: who may begin, and that nobody is forgotten.

use edgewise_core::id::RunId;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Claim, Command, Grant, SetQueue};
use edgewise_engine::queues::QueueSettings;
use edgewise_engine::retention::Removing;
use edgewise_sim::driver::{LEASE, World, boom, claim_of, finish_of, name};
use edgewise_sim::flows::LIMITED;

const FREE: &str = "{ flow: f, tasks: { a: { action: work } } }";

fn limited(max: u32) -> String {
    LIMITED.replace("max: 1", &format!("max: {max}"))
}

fn paths(world: &World, grants: &[Grant]) -> Vec<String> {
    grants.iter().map(|grant| world.run(grant.lease.run).path(grant.lease.task)).collect()
}

fn done(world: &mut World, grant: &Grant) {
    world.report(grant.lease, Ok(())).unwrap();
}

fn start_all(world: &mut World, count: usize, text: &str) {
    for _ in 0..count {
        world.start(text);
    }
}

/// Claims again and again, finishing one attempt at a time, and gives the order of runs.
fn order(world: &mut World) -> Vec<RunId> {
    let mut runs = Vec::new();
    let mut held = world.claim("w", 1);
    while let Some(grant) = held.pop() {
        runs.push(grant.lease.run);
        done(world, &grant);
        held = world.claim("w", 1);
    }
    runs
}

fn set_queue(queue: &str, to: QueueSettings) -> Command {
    Command::SetQueue(SetQueue { queue: name(queue), change: Some(to.into()), by: name("op"), why: None })
}

#[test]
fn a_full_key_gives_its_slot_to_the_next_in_the_very_commit_that_frees_it() {
    let mut world = World::new();
    let runs: Vec<RunId> = (0..3).map(|_| world.start(LIMITED)).collect();
    let first = world.claim("w", 9);
    assert_eq!(first.len(), 1, "one at a time");
    assert!(world.claim("w", 9).is_empty());
    let commits = world.appends();
    done(&mut world, &first[0]);
    let second = world.take();
    assert_eq!((second.len(), world.appends() - commits), (1, 1));
    world.send(vec![Command::Claim(claim_of("w", &["work"], 9))]);
    done(&mut world, &second[0]);
    let third = world.take();
    done(&mut world, &third[0]);
    runs.iter().for_each(|run| world.is(*run, RunState::Complete));
}

#[test]
fn a_limit_counts_over_flows_and_runs_by_what_its_key_comes_to() {
    let mut world = World::new();
    let text = "{ flow: g, tasks: { a: { action: work, limit: { key: 'KEY', max: 2 } } } }";
    for key in ["\"k\"", "\"k\"", "\"k\" + \"\"", "5", "2 + 3", "\"5\"", "true"] {
        world.start(&text.replace("KEY", key));
    }
    world.start(&limited(2));
    let given = world.claim("w", 99);
    assert_eq!(given.len(), 5, "two of k, two of 5, one of true");
}

#[test]
fn a_key_that_fails_fails_its_task_without_an_attempt() {
    let mut world = World::new();
    for key in ["inputs.x.y", "inputs.x", "[inputs.x]", "\"a\" * 2 == 1"] {
        let text = format!(
            "{{ flow: f, inputs: {{ x: {{ required: false }} }}, tasks: {{ a: {{ action: work, limit: {{ key: '{key}', max: 1 }} }} }} }}"
        );
        if edgewise_core::flow::compile(&text, "f").is_err() {
            continue;
        }
        let run = world.start(&text);
        world.is(run, RunState::Error);
        assert_eq!(world.run(run).tasks[0].attempt, 0, "{key}");
    }
}

#[test]
fn whoever_waits_for_another_key_is_not_kept_waiting() {
    let mut world = World::new();
    start_all(&mut world, 50, LIMITED);
    let free = world.start(FREE);
    let given: Vec<RunId> = world.claim("w", 2).iter().map(|grant| grant.lease.run).collect();
    assert_eq!(given.len(), 2);
    assert!(given.contains(&free));
}

#[test]
fn every_end_of_an_attempt_frees_its_slot() {
    type End = fn(&mut World, &Grant);
    let ends: [(&str, End); 6] = [
        ("success", |world, grant| done(world, grant)),
        ("failure", |world, grant| world.report(grant.lease, Err(boom())).unwrap()),
        ("given back and cancelled", |world, grant| {
            let act = world.act(grant.lease.run);
            world.must(Command::Pause(act));
            world.must(Command::GiveBack(vec![grant.lease]));
        }),
        ("worker lost", |world, _| world.pass(LEASE)),
        ("engine lost", |world, grant| {
            world.crash();
            world.report(grant.lease, Ok(())).unwrap();
        }),
        ("engine and worker lost", |world, _| {
            world.flush();
            world.crash();
            world.pass(Millis(LEASE.0 + 10_000));
        }),
    ];
    for (how, end) in ends {
        let mut world = World::new();
        world.start(LIMITED);
        let first = world.claim_one("w");
        let second = world.start(LIMITED);
        world.send(vec![Command::Claim(claim_of("v", &["work"], 1))]);
        assert!(world.take().is_empty(), "{how}: the key is full");
        end(&mut world, &first);
        if how.starts_with("engine") {
            world.send(vec![Command::Claim(claim_of("v", &["work"], 1))]);
        }
        let next: Vec<RunId> = world.take().iter().map(|grant| grant.lease.run).collect();
        assert_eq!(next, [second], "{how}");
    }
}

#[test]
fn a_revoked_lease_holds_its_slot_until_its_worker_says_that_it_stopped() {
    let mut world = World::new();
    let run = world.start(LIMITED);
    let first = world.claim_one("w");
    world.start(LIMITED);
    world.send(vec![Command::Claim(claim_of("v", &["work"], 1))]);
    let act = world.act(run);
    world.must(Command::Cancel(act));
    assert!(world.take().is_empty(), "the first worker is still at work");
    assert!(world.report(first.lease, Ok(())).is_err(), "too late");
    assert_eq!(world.take().len(), 1, "but now it has stopped");
}

#[test]
fn a_revoked_lease_holds_its_slot_no_longer_than_it_would_have_lived() {
    let mut world = World::new();
    let run = world.start(LIMITED);
    world.claim_one("w");
    world.start(LIMITED);
    world.send(vec![Command::Claim(claim_of("v", &["work"], 1))]);
    let act = world.act(run);
    world.must(Command::Cancel(act));
    world.pass(Millis(LEASE.0 - 1_000));
    assert!(world.take().is_empty());
    world.pass(Millis(1_000));
    assert_eq!(world.take().len(), 1);
}

#[test]
fn an_attempt_that_took_too_long_holds_its_slot_until_its_worker_stops() {
    let mut world = World::new();
    world.start(&LIMITED.replace("retry: 1", "retry: 1, timeout: 5s"));
    let first = world.claim_one("w");
    world.start(LIMITED);
    world.send(vec![Command::Claim(claim_of("v", &["work"], 1))]);
    world.pass(Millis(6_000));
    assert!(world.take().is_empty(), "its worker was told to stop, and has not");
    assert!(world.report(first.lease, Err(boom())).is_err());
    assert_eq!(world.take().len(), 1);
}

#[test]
fn a_cancelled_run_that_was_set_aside_keeps_nobody_waiting() {
    let mut world = World::new();
    world.start(LIMITED);
    let first = world.claim_one("w");
    let (second, third) = (world.start(LIMITED), world.start(LIMITED));
    world.send(vec![Command::Claim(claim_of("v", &["work"], 1))]);
    let act = world.act(second);
    world.must(Command::Cancel(act));
    done(&mut world, &first);
    let next: Vec<RunId> = world.take().iter().map(|grant| grant.lease.run).collect();
    assert_eq!(next, [third]);
}

#[test]
fn two_engines_keep_one_limit() {
    let mut one = World::new();
    let mut other = World::over(&one);
    one.start(LIMITED);
    other.start(LIMITED);
    let first = one.claim_one("w");
    assert!(other.claim("v", 1).is_empty(), "the other engine's lease counts");
    one.now = other.now;
    done(&mut one, &first);
    // The other engine hears of it at its next look.
    let now = other.now;
    other.committer().sweep(now);
    other.step(Vec::new());
    assert_eq!(other.take().len() + one.take().len(), 1);
}

#[test]
fn two_engines_that_grant_at_once_do_not_overrun_a_limit() {
    for _ in 0..20 {
        let mut one = World::new();
        one.start(LIMITED);
        let mut other = World::over(&one);
        other.start(LIMITED);
        // Both wait for work; each hears of the other's run only when it looks.
        let granted = one.claim("w", 2).len() + other.claim("v", 2).len();
        assert_eq!(granted, 1);
    }
}

#[test]
fn a_limited_task_begins_though_another_engine_took_the_ledgers_last_record_away() {
    let mut one = World::new();
    let waiting = one.start(LIMITED);
    let mut other = World::over(&one);
    let last = one.start(FREE);
    let act = one.act(last);
    one.must(Command::Cancel(act));
    one.flush();
    one.witness.rests = true;
    one.must(Command::Remove(Removing { runs: vec![last], keep_keys: Millis(0) }));
    assert_eq!(other.claim_one("w").lease.run, waiting);
}

#[test]
fn a_queue_lets_as_many_begin_as_it_has_slots() {
    let mut world = World::new();
    let set = QueueSettings { slots: Some(2), ..QueueSettings::default() };
    world.must(set_queue("night", set));
    start_all(&mut world, 4, "{ flow: f, tasks: { a: { action: work, queue: night } } }");
    world.start(FREE);
    let given = world.claim("w", 9);
    assert_eq!(given.len(), 3, "two of the queue, and what is not in it");
    world.send(vec![Command::Claim(claim_of("v", &["work"], 9))]);
    let of_queue: Vec<&Grant> =
        given.iter().filter(|g| world.run(g.lease.run).plan.specs[0].share.queue.is_some()).collect();
    let lease = of_queue[0].lease;
    world.report(lease, Ok(())).unwrap();
    assert_eq!(world.take().len(), 1);
}

#[test]
fn a_paused_queue_lets_nothing_begin_until_it_goes_on() {
    let mut world = World::new();
    let set = |paused| set_queue("default", QueueSettings { paused, ..Default::default() });
    world.must(set(true));
    world.start(FREE);
    assert!(world.claim("w", 1).is_empty());
    assert!(!world.more, "and nobody spins because of it");
    world.must(set(false));
    assert_eq!(world.take().len(), 1);
}

#[test]
fn a_claim_that_names_queues_takes_from_no_other() {
    let mut world = World::new();
    world.start(FREE);
    let night = world.start("{ flow: f, tasks: { a: { action: work, queue: night } } }");
    let claim = Claim { queues: Some([name("night")].into()), ..claim_of("w", &["work"], 9) };
    world.send(vec![Command::Claim(claim)]);
    let given: Vec<RunId> = world.take().iter().map(|grant| grant.lease.run).collect();
    assert_eq!(given, [night]);
}

#[test]
fn a_rate_spaces_attempts_out_and_wakes_by_itself() {
    let mut world = World::new();
    let text = "{ flow: f, tasks: { a: { action: work, limit: { key: '\"k\"', rate: 2/s } } } }";
    start_all(&mut world, 5, text);
    world.send(vec![Command::Claim(claim_of("w", &["work"], 1))]);
    let begun = world.now;
    let mut instants = Vec::new();
    for _ in 0..30 {
        for grant in world.take() {
            instants.push(world.now.since(begun).0);
            done(&mut world, &grant);
            world.send(vec![Command::Claim(claim_of("w", &["work"], 1))]);
        }
        world.pass(Millis(100));
    }
    assert_eq!(instants, [0, 500, 1_000, 1_500, 2_000]);
}

#[test]
fn a_rate_is_kept_over_a_restart_as_far_as_attempts_are_known() {
    let mut world = World::new();
    let text = "{ flow: f, tasks: { a: { action: work, limit: { key: '\"k\"', rate: 1/m } } } }";
    world.start(text);
    world.start(text);
    let first = world.claim_one("w");
    world.flush();
    world.crash();
    assert!(world.claim("w", 1).is_empty(), "the attempt before the restart is known by its lease");
    done(&mut world, &first);
    world.pass(Millis(59_000));
    assert!(world.take().is_empty());
    world.pass(Millis(1_000));
    assert_eq!(world.take().len(), 1);
}

#[test]
fn a_queue_with_a_rate_opens_by_itself() {
    let mut world = World::new();
    let set = QueueSettings { rate: edgewise_core::rate::Rate::parse("1/s").ok(), ..QueueSettings::default() };
    world.must(set_queue("default", set));
    start_all(&mut world, 2, FREE);
    assert_eq!(world.claim("w", 1).len(), 1);
    assert!(world.claim("v", 1).is_empty());
    world.pass(Millis(999));
    assert!(world.take().is_empty());
    world.pass(Millis(1));
    assert_eq!(world.take().len(), 1);
}

#[test]
fn higher_priorities_go_first_whoever_came_first() {
    let mut world = World::new();
    let of = |priority: i32| format!("{{ flow: f, tasks: {{ a: {{ action: work, priority: {priority} }} }} }}");
    let (low, middle, high) = (world.start(&of(-5)), world.start(&of(0)), world.start(&of(5)));
    assert_eq!(order(&mut world), [high, middle, low]);
}

#[test]
fn runs_take_turns() {
    let mut world = World::new();
    let tasks = (0..4).map(|n| format!("t{n}: {{ action: work }}")).collect::<Vec<_>>().join(", ");
    let large = world.start(&format!("{{ flow: f, tasks: {{ {tasks} }} }}"));
    let (second, third) = (world.start(FREE), world.start(FREE));
    assert_eq!(order(&mut world), [large, second, third, large, large, large]);
}

#[test]
fn a_spread_keeps_its_limit_item_by_item() {
    let mut world = World::new();
    let run = world
        .start("{ flow: f, tasks: { a: { each: [1, 2, 3, 4], action: work, limit: { key: 'item % 2', max: 1 } } } }");
    let given = world.claim("w", 9);
    assert_eq!(paths(&world, &given), ["a[0]", "a[1]"]);
    given.iter().for_each(|grant| done(&mut world, grant));
    let given = world.claim("w", 9);
    assert_eq!(paths(&world, &given), ["a[2]", "a[3]"]);
    given.iter().for_each(|grant| done(&mut world, grant));
    world.is(run, RunState::Complete);
}

#[test]
fn what_was_set_aside_is_found_again_after_a_crash() {
    for flushed in [false, true] {
        let mut world = World::new();
        start_all(&mut world, 3, LIMITED);
        let first = world.claim_one("w");
        world.send(vec![Command::Claim(claim_of("w", &["work"], 9))]);
        if flushed {
            world.flush();
        }
        world.crash();
        assert!(world.claim("w", 9).is_empty(), "the lease of before the crash holds the key");
        done(&mut world, &first);
        for _ in 0..2 {
            let next = world.take();
            assert_eq!(next.len(), 1, "flushed: {flushed}");
            done(&mut world, &next[0]);
            world.send(vec![Command::Claim(claim_of("w", &["work"], 9))]);
        }
    }
}

#[test]
fn a_commit_that_failed_leaves_nobody_set_aside_because_of_it() {
    use edgewise_store::faulty::{Fault, Op};
    let mut world = World::new();
    start_all(&mut world, 2, LIMITED);
    let next = world.faults.count(Op::Append) + 1;
    world.faults = world.faults.clone().fail_nth_of(Op::Append, next, Fault::Refused);
    world.send(vec![Command::Claim(claim_of("w", &["work"], 1))]);
    assert!(world.take().is_empty());
    world.pass(Millis(2_000));
    let given = world.take();
    assert_eq!(given.len(), 1);
    done(&mut world, &given[0]);
    let given = world.claim("w", 1);
    assert_eq!(given.len(), 1);
    assert_eq!(world.task(given[0].lease.run, "a"), TaskState::InProgress);
}

#[test]
fn a_task_that_waits_for_a_full_key_is_looked_at_once() {
    const WAITING: u64 = 500;
    let mut world = World::unwatched();
    let items = format!(
        "{{ flow: f, tasks: {{ a: {{ each: 'range({WAITING})', action: work, limit: {{ key: '\"k\"', max: 1 }} }} }} }}"
    );
    world.start(&items);
    let holder = world.claim_one("w");
    world.send(vec![Command::Claim(claim_of("v", &["work"], 1))]);
    assert_eq!(world.committer().counts().looks, WAITING, "each was looked at once, and set aside");
    for n in 1..=100 {
        world.start(FREE);
        let grants = world.take();
        assert_eq!(grants.len(), 1);
        assert_eq!(world.committer().counts().looks, WAITING + n, "what is set aside costs others nothing");
        let bundle = vec![finish_of(grants[0].lease, Ok(())), Command::Claim(claim_of("v", &["work"], 1))];
        world.send(bundle);
    }
    let looks = world.committer().counts().looks;
    done(&mut world, &holder);
    assert_eq!((world.take().len(), world.committer().counts().looks), (1, looks + 1), "one leaves, one is looked at");
}
