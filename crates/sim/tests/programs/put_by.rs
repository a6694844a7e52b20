//! What rests in items of a spread is only in the rows: whoever opens it again, or asks about it, does not notice.

use super::released::program;
use edgewise_core::state::{RunState, TaskState};
use edgewise_engine::command::{Answer, Command, LeaseRef, Rerun, RerunOf, TaskAct};
use edgewise_sim::driver::{World, boom, claim_of, finish_of, name};
use edgewise_store::faulty::{Fault, Op};

const ITEMS: &str = "
flow t():
    xs = spread [1, 2]:x -> steps(x)
    return xs

fn steps(x):
    @work(v=x) [retry: 1]
    @work(v=x) [retry: 1]
";

/// A spread whose first item has ended well and was put by, and the leases of its two steps.
fn first_put_by() -> (World, Vec<LeaseRef>) {
    let mut w = World::new();
    w.start_plan(&program(ITEMS));
    w.settle();
    let mut leases = Vec::new();
    for _ in 0..2 {
        let lease = w.claim_one("w").lease;
        w.report(lease, Ok(())).unwrap();
        leases.push(lease);
    }
    w.flush();
    (w, leases)
}

fn rerun_of(leases: &[LeaseRef], path: &str) -> Command {
    Command::Rerun(Rerun { run: leases[0].run, from: RerunOf::Task(path.into()), by: name("op"), why: None })
}

/// Does what is there to do; gives how many attempts it took.
fn finish(w: &mut World) -> u32 {
    let mut attempts = 0;
    w.send(vec![Command::Claim(claim_of("w", &["work"], 8))]);
    while let grants @ [_, ..] = &w.take()[..] {
        for grant in grants {
            w.report(grant.lease, Ok(())).unwrap();
            attempts += 1;
        }
        w.flush();
        w.send(vec![Command::Claim(claim_of("w", &["work"], 8))]);
    }
    attempts
}

#[test]
fn a_repeated_report_about_a_step_that_was_put_by_gets_the_first_answer() {
    let (mut w, leases) = first_put_by();
    w.report(leases[0], Ok(())).unwrap();
    w.report(leases[1], Ok(())).unwrap();
    assert_eq!(w.faults.count(Op::Task), 2, "both were put by, so their rows were asked");
    assert_eq!(w.report(leases[1], Err(boom())).unwrap_err().code, "attempt_over");
    assert_eq!(finish(&mut w), 2, "the other item");
    w.is(leases[0].run, RunState::Complete);
}

#[test]
fn a_step_that_was_put_by_is_done_again_with_what_follows_it() {
    for (path, attempts) in [("xs[0]().work", 4), ("xs[0]().work-2", 3), ("xs[0]", 4)] {
        let (mut w, leases) = first_put_by();
        assert!(matches!(w.must(rerun_of(&leases, path)), Answer::Reopened(_)), "{path}");
        assert_eq!(finish(&mut w), attempts, "{path}, and the other item");
        w.is(leases[0].run, RunState::Complete);
    }
}

#[test]
fn it_is_opened_in_the_commit_of_something_else_too() {
    let (mut w, leases) = first_put_by();
    let other = w.claim_one("w").lease;
    let numbers = w.send(vec![finish_of(other, Ok(())), rerun_of(&leases, "xs[0]().work-2")]);
    assert!(numbers.iter().all(|number| matches!(w.answers.get(number), Some(Ok(_)))), "both count");
    assert_eq!(finish(&mut w), 2, "the second step of each");
    w.is(leases[0].run, RunState::Complete);
}

#[test]
fn a_whole_run_is_done_again_with_what_was_put_by() {
    let (mut w, leases) = first_put_by();
    let run = leases[0].run;
    let again = Command::Rerun(Rerun { run, from: RerunOf::Start, by: name("op"), why: None });
    let numbers = w.send(vec![Command::Cancel(w.act(run)), again]);
    assert!(numbers.iter().all(|number| matches!(w.answers.get(number), Some(Ok(_)))), "both count");
    assert_eq!(finish(&mut w), 4);
    w.is(leases[0].run, RunState::Complete);
    assert_eq!(w.run(leases[0].run).counts[TaskState::Complete as usize], 7, "nothing counts twice");
}

#[test]
fn what_cannot_be_loaded_now_is_to_be_asked_again() {
    let (mut w, leases) = first_put_by();
    w.faults.fail_next(Op::Load, Fault::Refused);
    w.faults.fail_after(Op::Load, 1, Fault::Refused);
    assert_eq!(w.must_fail(rerun_of(&leases, "xs[0]().work")).kind, edgewise_core::Kind::Unavailable);
    assert!(matches!(w.must(rerun_of(&leases, "xs[0]().work")), Answer::Reopened(_)));
    assert_eq!(finish(&mut w), 4);
}

#[test]
fn an_act_on_a_step_that_was_put_by_is_refused_as_if_it_were_there() {
    let (mut w, leases) = first_put_by();
    let act = |task: &str| TaskAct { run: leases[0].run, task: task.into(), by: name("op"), why: None };
    assert_eq!(w.must_fail(Command::Skip(act("xs[0]().work"))).code, "task_done");
    assert_eq!(w.must_fail(Command::Skip(act("xs[0]().nothing"))).code, "task_not_found");
    assert_eq!(w.must_fail(Command::Resolve(act("xs[0]"))).code, "task_done");
}
