//! Plans: the stored form. Damage is refused, and what is not refused can be begun.

use super::{Target, refusal};
use edgewise_core::event::{Event, PlanCreated, RULES, RunTriggered};
use edgewise_core::fold::{Changes, Stamp, fold};
use edgewise_core::id::{EventId, RunId};
use edgewise_core::invariant::check_state;
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use serde_json::value::RawValue;
use std::sync::Arc;

pub const TARGET: Target = Target {
    name: "plan",
    words: &[
        "\"v\":1",
        "\"flow\":",
        "\"specs\":",
        "\"regions\":",
        "\"names\":",
        "\"needs\":",
        "\"joins\":",
        "\"accepts\":",
        "\"inputs\":",
        "\"output\":",
        "\"on_failure\":",
        "\"work\":",
        "\"action\":",
        "\"gate\":",
        "\"spread\":",
        "\"wait\":",
        "\"approval\":",
        "\"from\":",
        "\"count\":",
        "\"timer\":",
        "\"retry\":",
        "\"timeouts\":",
        "\"region\":",
        "\"items\":",
        "\"literal\":",
        "\"tolerate\":",
        "\"any\"",
        "\"all\"",
        "[]",
        "{}",
        "null",
        "[[]]",
        "[[0,0]]",
        ",",
        "\"\"",
        "\"a\"",
        "\"max_attempts\":",
        "\"base\":",
        "\"cap\":",
        "\"factor_milli\":",
        "\"jitter_percent\":",
        "true",
        "\"script\":",
        "\"do\":",
        "\"let\":",
        "\"return\":",
        "\"break\"",
        "\"continue\"",
        "\"raise\":",
        "\"raise_again\"",
        "\"node\":",
        "\"to\":",
        "\"value\":",
        "\"expr\":",
        "\"var\":",
        "\"branch\":",
        "\"arms\":",
        "\"for\":",
        "\"while\":",
        "\"try\":",
        "\"handlers\":",
        "\"call\":",
        "\"parallel\":",
        "\"sleep\":",
        "\"emit\":",
        "\"item\":",
        "\"http\":",
        "\"sub_run\":",
        "\"share\":",
        "\"limit\":",
        "\"publish\":",
        "\"typed\":",
        "\"escalate\":",
        "\"evidence\":",
        "\"webhook\"",
        "\"external\":",
    ],
    defined: Vec::new,
    attempt,
};

fn attempt(input: &[u8]) -> String {
    match Plan::decode(input) {
        Ok(plan) => {
            let (nodes, regions) = (plan.regions[0].len().min(8), plan.regions.len().min(4));
            let state = begin(plan).state;
            format!("fine {regions} {nodes} {state:?}")
        }
        Err(error) => refusal(error.code, &error.message),
    }
}

/// A plan reads back as it was written, and a run of it begins.
pub fn begin(plan: Plan) -> Run {
    let (hash, bytes) = plan.encode();
    let again = Plan::decode(&bytes).unwrap_or_else(|error| panic!("what was written does not read back: {error}"));
    assert_eq!(again, plan);
    assert_eq!(again.encode(), (hash, bytes), "one plan, one text");
    let name = |text: &str| Name::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let triggered = RunTriggered {
        flow: name("fuzz"),
        plan: hash,
        rules: RULES,
        input: RawValue::from_string("{}".into()).unwrap_or_else(|error| panic!("{error}")),
        by: name("fuzz"),
        key: None,
        labels: Default::default(),
    };
    let mut run = Run::new(RunId(7), hash, Arc::new(plan));
    let events = [Event::RunTriggered(triggered), Event::PlanCreated(PlanCreated { plan: hash })];
    for (n, event) in (1..).zip(&events) {
        let stamp = Stamp { id: EventId(n), at: Time(1_000_000) };
        fold(&mut run, stamp, event, &mut Changes::default());
        check_state(&run).unwrap_or_else(|violation| panic!("{violation}"));
    }
    run
}
