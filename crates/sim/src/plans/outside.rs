//! What a plan has to do with the world around it: items that people close, and events that are told.
//!
//! By dice of their own, so that the storms without them stay what they were.

use crate::dice::Dice;
use crate::driver::name;
use edgewise_core::gate::Wait;
use edgewise_core::plan::{Condition, Delivery, ItemTask, Plan, Publish, Tells, Work};
use edgewise_core::template::Template;
use std::sync::Arc;

/// Whether people and agents of the storm of a seed have a work graph: one in five, and none of those that are kept for
/// what they once found without.
pub fn has_work(seed: u64) -> bool {
    matches!(seed % 29, 4 | 5 | 12 | 13 | 18 | 20)
}

/// Whether the flows of the storm of a seed tell the outside world something: one in five, and none of those that are
/// kept for what they once found without.
pub fn has_events(seed: u64) -> bool {
    matches!(seed % 23, 3 | 5 | 12 | 15 | 18)
}

/// The gate of the work graph that tasks and items of a storm share.
pub const SHARED: &str = "ew-shared";

/// Whether runs and items of the storm of a seed wait for gates of each other: some of those with a work graph, and none
/// that are kept for what they once found without.
pub fn has_shared_gates(seed: u64) -> bool {
    has_work(seed) && (seed / 29 % 9 == 4 || matches!(seed % 31, 5..=7 | 12 | 22))
}

/// The plan as the storm of a seed plays it: with items, shared gates and events if it has them.
pub fn as_joined(seed: u64, mut plan: Arc<Plan>) -> Arc<Plan> {
    let mut dice = Dice::new(seed.rotate_left(29) ^ plan.specs.len() as u64);
    if has_work(seed) {
        make_items(&mut dice, Arc::make_mut(&mut plan));
    }
    if has_shared_gates(seed) {
        share_gates(Arc::make_mut(&mut plan));
    }
    if has_events(seed) {
        tell(&mut dice, Arc::make_mut(&mut plan));
    }
    plan
}

/// Some actions are done by items.
fn make_items(dice: &mut Dice, plan: &mut Plan) {
    for spec in plan.specs.iter_mut().filter(|spec| matches!(spec.work, Work::Action { .. })) {
        if dice.one_in(3) {
            let title = Template::Value("review".into());
            spec.work = Work::Item(ItemTask { fields: Template::Map(vec![("title".into(), title)]) });
        }
    }
}

/// Gates that would ask people open with the one of the work graph.
fn share_gates(plan: &mut Plan) {
    for spec in &mut plan.specs {
        let Work::Gate(gate) = &mut spec.work else { continue };
        if matches!(gate.wait, Wait::Approval { .. }) {
            gate.wait = Wait::Shared { gate: Template::Value(SHARED.into()) };
            gate.escalate.clear();
            // Flows cannot say either of a gate.
            (spec.retry, spec.timeouts) = Default::default();
        }
    }
}

/// The end of a run is told, and that of some of its tasks or attempts.
fn tell(dice: &mut Dice, plan: &mut Plan) {
    let told = |text: &str, condition, delivery| Publish { name: name(text), condition, delivery, payload: None };
    plan.publish.push(told("run.ended", Condition::Always, Delivery::Durable));
    for spec in &mut plan.specs {
        let condition = dice.pick(&Condition::ALL).1;
        let delivery = dice.pick(&Delivery::ALL).1;
        if dice.one_in(2) {
            spec.publish.push(told("task.ended", condition, delivery));
        }
    }
    plan.tells = Tells::of(&plan.publish, &plan.specs);
}
