//! Crash at every write boundary: for each scenario and each store operation, the operation fails before or
//! after it happened, or the engine dies around it; the run comes to the same end as without any fault.

use crate::scenario::{End, Life, SCENARIOS, Scenario};
use edgewise_store::faulty::{Fault, Faults};

/// The end without any fault, and how many operations it takes.
fn undisturbed(scenario: &Scenario) -> (End, u64) {
    let (end, world) = Life::new(scenario, Faults::none()).live();
    assert_eq!(end.0, scenario.end);
    (end, world.faults.total())
}

fn disturbed(scenario: &Scenario, faults: &[Fault]) {
    let (expected, operations) = undisturbed(scenario);
    assert!(operations > 20, "the scenario touches the store {operations} times");
    for n in 1..=operations {
        for fault in faults {
            let (end, _) = Life::new(scenario, Faults::none().fail_nth(n, *fault)).live();
            assert_eq!(end, expected, "operation {n} of {operations} failed as {fault:?}");
        }
    }
}

const BEFORE: [Fault; 3] = [Fault::Refused, Fault::AnswerLost { landed: false }, Fault::SyncFailed { landed: false }];
const AFTER: [Fault; 2] = [Fault::AnswerLost { landed: true }, Fault::SyncFailed { landed: true }];

#[test]
fn a_chain_with_a_retry_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[0], &BEFORE);
    disturbed(&SCENARIOS[0], &AFTER);
}

#[test]
fn a_diamond_with_a_handled_failure_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[1], &BEFORE);
    disturbed(&SCENARIOS[1], &AFTER);
}

#[test]
fn a_spread_that_bears_a_failure_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[2], &BEFORE);
    disturbed(&SCENARIOS[2], &AFTER);
}

#[test]
fn a_gate_with_a_deadline_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[3], &BEFORE);
    disturbed(&SCENARIOS[3], &AFTER);
}

#[test]
fn runs_within_runs_end_the_same_whatever_fails() {
    disturbed(&SCENARIOS[4], &BEFORE);
    disturbed(&SCENARIOS[4], &AFTER);
}

#[test]
fn runs_within_runs_go_on_from_their_failure_whatever_fails() {
    disturbed(&SCENARIOS[5], &BEFORE);
    disturbed(&SCENARIOS[5], &AFTER);
}

#[test]
fn a_run_that_is_frozen_and_let_go_on_ends_the_same_whatever_fails() {
    disturbed(&SCENARIOS[6], &BEFORE);
    disturbed(&SCENARIOS[6], &AFTER);
}

#[test]
fn a_program_ends_the_same_whatever_fails() {
    // It touches the store several times as often as the others, so one fault of each kind is enough.
    disturbed(&SCENARIOS[7], &[Fault::AnswerLost { landed: false }, Fault::SyncFailed { landed: true }]);
}

#[test]
fn an_engine_that_dies_between_a_commit_and_its_answer_changes_no_end() {
    for scenario in &SCENARIOS {
        let (expected, world) = Life::new(scenario, Faults::none()).live();
        assert!(world.steps > 20, "the scenario takes {} steps", world.steps);
        for n in 2..=world.steps {
            let mut life = Life::new(scenario, Faults::none());
            life.world.dies_after = n;
            assert_eq!(life.live().0, expected, "died after step {n} of {}", world.steps);
        }
    }
}

/// An answer and its neighbour: the append's result is lost, and then it cannot be read back either.
#[test]
fn a_result_in_doubt_that_stays_in_doubt_for_a_while_changes_no_end() {
    for scenario in &SCENARIOS {
        let (expected, operations) = undisturbed(scenario);
        for n in 1..=operations {
            for landed in [false, true] {
                let faults = Faults::none().fail_nth(n, Fault::AnswerLost { landed }).fail_nth(n + 1, Fault::Refused);
                let (end, _) = Life::new(scenario, faults).live();
                assert_eq!(end, expected, "operations {n} and {} of {operations} failed, landed: {landed}", n + 1);
            }
        }
    }
}
