//! What loops have given back: reports, heartbeats and acts about it are answered as if it were still there.

use edgewise_core::Kind;
use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::plan::Plan;
use edgewise_core::state::RunState;
use edgewise_engine::command::{Answer, Beat, Command, LeaseRef};
use edgewise_sim::driver::{World, boom};
use edgewise_store::faulty::{Fault, Op};
use std::sync::Arc;

pub fn program(text: &str) -> Arc<Plan> {
    let compiled = edgewise_core::text::compile(text, "test.flow").unwrap_or_else(|problems| panic!("{problems}"));
    Arc::new(compiled.into_iter().next().expect("a flow").plan)
}

/// A loop in its third round, the first two given back; the first of them failed and was caught.
fn third_round() -> (World, Vec<LeaseRef>) {
    let text = "
flow t():
    for x in [1, 2, 3]:
        try:
            @work(v=x) [retry: 1]
        except:
            pass
";
    let mut w = World::new();
    w.start_plan(&program(text));
    let mut leases = Vec::new();
    for outcome in [Err(boom()), Ok(())] {
        let lease = w.claim_one("w").lease;
        w.report(lease, outcome).unwrap();
        leases.push(lease);
    }
    w.flush();
    leases.push(w.claim_one("w").lease);
    (w, leases)
}

#[test]
fn a_repeated_report_about_a_past_iteration_gets_the_first_answer() {
    for crash in [false, true] {
        let (mut w, leases) = third_round();
        if crash {
            w.crash();
        }
        w.report(leases[0], Err(boom())).unwrap();
        w.report(leases[1], Ok(())).unwrap();
        assert_eq!(w.faults.count(Op::Task), 2, "both were given back, so their rows were asked");
        let other = Failure::new("other", "it broke in another way");
        for (lease, outcome) in [(leases[0], Ok(())), (leases[0], Err(other)), (leases[1], Err(boom()))] {
            assert_eq!(w.report(lease, outcome).unwrap_err().code, "attempt_over");
        }
        let stranger = LeaseRef { token: edgewise_core::id::Token(1), ..leases[1] };
        assert_eq!(w.report(stranger, Ok(())).unwrap_err().code, "attempt_over");
        let nobody = LeaseRef { task: TaskIx(99), ..leases[1] };
        assert_eq!(w.report(nobody, Ok(())).unwrap_err().code, "task_not_found");
        let run = leases[2].run;
        w.report(leases[2], Ok(())).unwrap();
        w.is(run, RunState::Complete);
    }
}

#[test]
fn a_report_that_cannot_be_looked_up_now_is_to_be_said_again() {
    let (mut w, leases) = third_round();
    w.faults.fail_next(Op::Task, Fault::Refused);
    let finish = edgewise_sim::driver::finish_of(leases[1], Ok(()));
    assert_eq!(w.must_fail(finish).kind, Kind::Unavailable);
    w.report(leases[1], Ok(())).unwrap();
}

#[test]
fn heartbeats_and_give_backs_of_a_past_iteration_change_nothing() {
    let (mut w, leases) = third_round();
    assert_eq!(w.beat(leases[0]), Beat::Cancel);
    assert!(matches!(w.must(Command::GiveBack(vec![leases[0], leases[1]])), Answer::Done));
    w.report(leases[2], Ok(())).unwrap();
    w.is(leases[2].run, RunState::Complete);
}
