//! Tasks that decide for themselves whether they are wanted, and storms that play programs.
//!
//! By dice of their own, so that the storms without them stay what they were.

use crate::dice::Dice;
use edgewise_core::expr::{self, Expr, Hyphens};
use edgewise_core::plan::Plan;
use edgewise_core::template::Root;
use serde_json::Value;
use std::sync::Arc;

/// Whether tasks of the storm of a seed have a `when`: one in seven, and none of those that are kept for what they once
/// found without.
pub fn has_conditions(seed: u64) -> bool {
    matches!(seed % 37, 6 | 8 | 24 | 25 | 36)
}

/// Whether the storm of a seed plays programs: one in six, and none of those that are kept for what they once found
/// without.
pub fn has_programs(seed: u64) -> bool {
    matches!(seed % 43, 2 | 13 | 21 | 23 | 24 | 25 | 36)
}

/// The plan as the storm of a seed plays it: some of its tasks have a `when`, if it has such.
pub fn as_chosen(seed: u64, mut plan: Arc<Plan>) -> Arc<Plan> {
    if !has_conditions(seed) {
        return plan;
    }
    let mut dice = Dice::new(seed.rotate_left(41) ^ plan.specs.len() as u64);
    let plan_mut = Arc::make_mut(&mut plan);
    let regions = plan_mut.regions.clone();
    for region in &regions {
        for node in 0..region.len() {
            if dice.one_in(3) {
                let when = condition(&mut dice, node);
                plan_mut.specs[region.spec(node) as usize].when = Some(when);
            }
        }
    }
    plan
}

/// What is so as a rule, what is not, what depends on the input or on a task before, and what is neither true nor false.
fn condition(dice: &mut Dice, node: u32) -> Expr {
    let before = Root::Output { up: 0, node: dice.below(u64::from(node.max(1))) as u32 };
    match dice.below(9) {
        0 | 1 => Expr::literal(Value::Bool(true)),
        2 | 3 => Expr::literal(Value::Bool(false)),
        4 => bound("x.list != []", &Root::Input),
        5 => bound("size(x.list) > 1", &Root::Input),
        6 if node > 0 => bound("x == []", &before),
        7 if node > 0 => Expr::root("tasks.up.output", before, &[]),
        _ if node > 0 => bound("x != []", &before),
        _ => bound("x.list == []", &Root::Input),
    }
}

/// An expression over one value.
fn bound(text: &str, root: &Root) -> Expr {
    let parsed = expr::parse(text, Hyphens::Refused).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    parsed.bind(&mut |_, _| Ok((1, root.clone()))).unwrap_or_else(|faults| panic!("{text}: {faults:?}"))
}
