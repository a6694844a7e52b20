//! The attempts of a task, side by side, as the ledger has them.

use crate::driver::{Driver, action, plan};
use edgewise_core::attempts::{self, Ending};
use edgewise_core::event::{DispatchEnqueued, Event, Failure};
use edgewise_core::id::Token;
use edgewise_core::plan::{Join, OnFailure, Plan};
use edgewise_core::time::Millis;

fn one_task() -> Plan {
    plan(&[("a", action(5), Join::All)], &[], OnFailure::Continue)
}

fn begin(d: &mut Driver, worker: &str) {
    let task = d.ix("a");
    let entry = d.run.tasks[task.0 as usize];
    let token = Token(d.ledger.len() as u128).hash();
    let lease = DispatchEnqueued {
        task,
        generation: entry.generation,
        attempt: entry.attempt + 1,
        token,
        worker: worker.into(),
        lease: None,
    };
    d.say(Event::DispatchEnqueued(lease));
}

fn end(d: &mut Driver, seconds: u64, failure: Option<Failure>) {
    d.now = d.now.plus(Millis(seconds * 1_000));
    let report = d.report(d.ix("a"), failure, None);
    d.say(Event::TaskFinished(report));
}

/// `generation.attempt worker waited took ending [differs]`, spans in seconds.
fn check(d: &Driver, expected: &[&str]) {
    let told: Vec<String> = attempts::of(&d.stream(), d.ix("a"))
        .iter()
        .map(|a| {
            let took = a.took().map_or("?".into(), |span| (span.0 / 1_000).to_string());
            let ending = match &a.ending {
                Ending::Failed { failure } => failure.kind.clone(),
                Ending::Stopped { by } => format!("stopped by {by}"),
                other => format!("{other:?}"),
            };
            let waited = a.waited.0 / 1_000;
            format!("{}.{} {} {waited} {took} {ending} {:?}", a.generation, a.attempt, a.worker, a.differs)
        })
        .collect();
    assert_eq!(told, expected);
}

#[test]
fn each_attempt_is_compared_with_the_one_before() {
    let mut d = Driver::planned(one_task());
    d.now = d.now.plus(Millis(3_000));
    begin(&mut d, "w1");
    end(&mut d, 4, Some(Failure::new("boom", "one")));
    d.fire_next();
    begin(&mut d, "w1");
    end(&mut d, 4, Some(Failure::new("boom", "one")));
    d.fire_next();
    begin(&mut d, "w2");
    end(&mut d, 4, Some(Failure::new("boom", "two")));
    d.fire_next();
    begin(&mut d, "w2");
    end(&mut d, 9, Some(Failure::new("timeout", "")));
    d.fire_next();
    begin(&mut d, "w2");
    let so_far = [
        "1.1 w1 3 4 boom []",
        "1.2 w1 1 4 boom []",
        "1.3 w2 2 4 boom [Worker, Message]",
        "1.4 w2 4 9 timeout [Ending, Longer]",
    ];
    check(&d, &[&so_far[..], &["1.5 w2 8 ? AtWork []"]].concat());
    end(&mut d, 1, None);
    check(&d, &[&so_far[..], &["1.5 w2 8 1 Succeeded [Ending, Shorter]"]].concat());
}

#[test]
fn what_came_back_was_stopped_or_is_of_another_generation_is_told() {
    let mut d = Driver::planned(one_task());
    begin(&mut d, "w1");
    let lease = d.lease_of("a");
    d.say(Event::DispatchReturned(lease));
    begin(&mut d, "w1");
    end(&mut d, 0, Some(Failure::permanent("boom", "")));
    d.reset("a");
    begin(&mut d, "w1");
    d.cancel();
    let told = ["1.1 w1 0 0 Returned []", "1.1 w1 0 0 boom [Ending]"];
    check(&d, &[&told[..], &["2.1 w1 0 0 stopped by RunCancelRequested [Ending]"]].concat());
}
