//! Figures that are counted and not timed: appends, events, rows, reads. They hold on any machine.

use edgewise_core::plan::Plan;
use edgewise_core::state::RunState;
use edgewise_core::time::Millis;
use edgewise_engine::command::{Command, Finish, Grant};
use edgewise_engine::metrics::Counts;
use edgewise_sim::driver::{World, claim_of, finish_of, start_of};
use edgewise_sim::flows::flow;
use edgewise_store::faulty::Op;
use std::fmt::Write;
use std::sync::Arc;

/// So many tasks, each after the one before.
fn chain(tasks: usize) -> Arc<Plan> {
    let mut text = String::from("flow: chain\ntasks:\n  t0: { action: work }\n");
    for n in 1..tasks {
        writeln!(text, "  t{n}: {{ after: t{}, action: work }}", n - 1).unwrap();
    }
    flow(&text)
}

/// So many tasks that need nothing.
fn wide(tasks: usize, action: &str) -> Arc<Plan> {
    let items = (0..tasks).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    flow(&format!("{{ flow: wide, tasks: {{ each: {{ each: [{items}], action: {action} }} }} }}"))
}

fn since(before: Counts, after: Counts) -> (u64, u64, u64) {
    (after.commits - before.commits, after.events - before.events, after.task_rows - before.task_rows)
}

#[test]
fn each_step_of_a_chain_is_one_append_of_two_events() {
    let mut w = World::unwatched();
    w.start_plan(&chain(100));
    let mut grant = w.claim_one("w");
    let before = w.committer().counts();
    for _ in 1..100 {
        w.send(vec![finish_of(grant.lease, Ok(())), Command::Claim(claim_of("w", &["work"], 1))]);
        grant = w.take().remove(0);
    }
    let (commits, events, _) = since(before, w.committer().counts());
    assert_eq!((commits, events), (99, 198));
}

/// 1,000 runs of 10 tasks: 256 workers with one slot each, whatever was finished reported in one go.
fn a_thousand_runs(w: &mut World) -> Counts {
    let plan = chain(10);
    let starts = (0..1_000).map(|_| Command::Start(start_of(&plan))).collect();
    w.send(starts);
    let before = w.committer().counts();
    let mut at_work: Vec<Grant> = Vec::new();
    w.send((0..256).map(|_| Command::Claim(claim_of("w", &["work"], 1))).collect());
    loop {
        at_work.extend(w.take());
        if at_work.is_empty() {
            return before;
        }
        let done: Arc<[Finish]> = at_work.drain(..).map(|g| Finish { lease: g.lease, outcome: Ok(None) }).collect();
        let mut commands: Vec<Command> = done.iter().map(|_| Command::Claim(claim_of("w", &["work"], 1))).collect();
        commands.push(Command::Complete(done));
        w.send(commands);
        w.now = w.now.plus(Millis(5));
        w.flush_if_due();
    }
}

#[test]
fn ten_thousand_tasks_with_256_claimers_take_few_commits_and_few_rows() {
    let mut w = World::unwatched();
    let before = a_thousand_runs(&mut w);
    w.flush();
    let (commits, events, rows) = since(before, w.committer().counts());
    assert_eq!(events, 20_000, "a pulled task costs two events");
    assert!(events / commits >= 100, "{events} events in {commits} commits");
    assert!(rows <= 15_000, "{rows} task rows for 10,000 tasks");
    assert_eq!(w.committer().counts().loads, 0, "nothing is read back");
}

/// What one step costs: finish a task and claim the next, with all operations on the stores.
fn cost_of_a_step(backlog: usize, width: usize) -> (u64, u64, Counts) {
    let mut w = World::unwatched();
    if backlog > 0 {
        w.start_plan(&wide(backlog, "other"));
    }
    w.start_plan(&wide(width, "work"));
    w.settle();
    let mut grant = w.claim_one("w");
    w.flush();
    w.step(Vec::new());
    let (operations, writes, before) = (w.faults.total(), w.faults.writes(), w.committer().counts());
    for _ in 0..20 {
        w.send(vec![finish_of(grant.lease, Ok(())), Command::Claim(claim_of("w", &["work"], 1))]);
        grant = w.take().remove(0);
        w.flush();
    }
    let after = w.committer().counts();
    let counts = Counts {
        commits: after.commits - before.commits,
        events: after.events - before.events,
        bytes: 0,
        leases: after.leases - before.leases,
        flushes: after.flushes - before.flushes,
        task_rows: after.task_rows - before.task_rows,
        loads: after.loads - before.loads,
        looks: after.looks - before.looks,
    };
    (w.faults.total() - operations, w.faults.writes() - writes, counts)
}

#[test]
fn the_work_of_a_commit_does_not_grow_with_the_run_or_the_backlog() {
    let small = cost_of_a_step(0, 100);
    assert_eq!((small.2.commits, small.2.events, small.2.loads), (20, 40, 0));
    assert_eq!(cost_of_a_step(0, 5_000), small, "a run fifty times as large");
    assert_eq!(cost_of_a_step(100_000, 100), small, "a hundred thousand other tasks waiting");
}

#[test]
fn an_idle_engine_appends_flushes_and_reads_nothing() {
    let mut w = World::unwatched();
    let run = w.start_plan(&chain(3));
    w.send(vec![Command::Claim(claim_of("w", &["nothing"], 1)), Command::Wait(run)]);
    w.pass(Millis(1_000));
    let operations = w.faults.total();
    for _ in 0..100 {
        w.pass(Millis(3_600_000));
    }
    assert_eq!(w.faults.total(), operations);
    assert!(w.wake.is_none(), "and is not even woken");
}

#[test]
fn a_short_run_is_written_once() {
    let mut w = World::unwatched();
    let run = w.start_plan(&chain(10));
    for _ in 0..10 {
        let lease = w.claim_one("w").lease;
        w.report(lease, Ok(())).unwrap();
    }
    w.flush();
    assert_eq!(w.reader().run(run).unwrap().state, RunState::Complete);
    assert_eq!(w.committer().counts().task_rows, 10);
    assert_eq!(w.faults.count(Op::Flush), 1);
}

#[test]
fn starting_many_runs_of_one_plan_stores_it_once_and_appends_once() {
    let mut w = World::unwatched();
    let plan = chain(10);
    w.send((0..1_000).map(|_| Command::Start(start_of(&plan))).collect());
    let counts = w.committer().counts();
    assert_eq!((counts.commits, counts.events), (1, 2_000));
}
