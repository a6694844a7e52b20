//! Plans by chance: graphs with accepts, joins, retries, timeouts, gates, spreads within spreads, every `on_failure`.

mod chosen;
mod outside;

pub use chosen::{as_chosen, has_conditions, has_programs};
pub use outside::{SHARED, has_events, has_shared_gates, has_work};

use crate::dice::Dice;
use edgewise_core::expr::Expr;
use edgewise_core::gate::{Escalation, Gate, OnDeadline, Wait};
use edgewise_core::name::Name;
use edgewise_core::plan::{
    Accepts, Command, Items, Join, Limit, OnFailure, Plan, PlanDraft, RegionDraft, Resolution, Share, Spec, Spread,
    SubRun, Timeouts, Work,
};
use edgewise_core::rate::Rate;
use edgewise_core::retry::{Backoff, Retry};
use edgewise_core::template::{Root, Template};
use edgewise_core::time::{Millis, Time};
use serde_json::json;
use std::sync::Arc;

/// Who may be asked to approve.
pub const PEOPLE: [&str; 3] = ["ann", "bob", "cyd"];

/// A queue that some tasks wait in, and how many slots it has at every engine of a storm with shares.
pub const SLOW: &str = "slow";
/// See [`SLOW`].
pub const SLOW_SLOTS: u32 = 2;

/// A plan out of the dice. The instant is about when it will run.
pub fn random_plan(dice: &mut Dice, now: Time) -> Arc<Plan> {
    let kinds = [OnFailure::Continue, OnFailure::Continue, OnFailure::FailFast, OnFailure::Hold];
    let mut draft = PlanDraft { on_failure: *dice.pick(&kinds), ..PlanDraft::default() };
    draft.regions.push(RegionDraft::default());
    let nodes = 1 + dice.below(6) as u32;
    fill(dice, &mut draft, 0, nodes, 0, now);
    let flow = Name::parse("chance").unwrap_or_else(|_| unreachable!("a good name"));
    match draft.build(flow) {
        Ok(plan) => Arc::new(plan),
        Err(problems) => panic!("the dice made a plan with problems: {problems:?}"),
    }
}

/// Whether the storm of a seed has queues, limits and priorities: about one in three. Engines that must count what all
/// others have granted look at the whole ledger at every step, which hides what comes of old news: the other storms are
/// for that. None of those has them that are kept for what they once found without.
pub fn has_shares(seed: u64) -> bool {
    matches!(seed % 19, 3..=7 | 16)
}

/// The plan as the storm of a seed plays it: without queues, limits and priorities if it has none, with items and events
/// if it has them.
pub fn as_shared(seed: u64, mut plan: Arc<Plan>) -> Arc<Plan> {
    if !has_shares(seed) {
        Arc::make_mut(&mut plan).specs.iter_mut().for_each(|spec| spec.share = Share::default());
    }
    outside::as_joined(seed, plan)
}

/// Whether gates of the storm of a seed that would ask people wait for something outside: one in twelve, and none of
/// those that are kept for what they once found.
pub fn has_outside(seed: u64) -> bool {
    matches!(seed % 23, 5 | 14)
}

/// The plan as the storm of a seed plays it: with gates that something outside opens, if it has such.
pub fn as_called(seed: u64, mut plan: Arc<Plan>) -> Arc<Plan> {
    if !has_outside(seed) {
        return plan;
    }
    for spec in &mut Arc::make_mut(&mut plan).specs {
        let Work::Gate(gate) = &mut spec.work else { continue };
        let Wait::Approval { count, .. } = &gate.wait else { continue };
        let system = Name::parse("elsewhere").unwrap_or_else(|_| unreachable!("a good name"));
        let external = || Wait::External { system, id: Template::Value(json!("thing")) };
        gate.wait = if *count == 1 { Wait::Webhook } else { external() };
        gate.escalate.clear();
    }
    plan
}

/// Whether people of the storm of a seed let runs begin by themselves: one in seven with runs within runs, some without.
pub fn has_schedules(seed: u64) -> bool {
    has_children(seed) || matches!(seed % 19, 7 | 9)
}

/// Whether the storm of a seed has runs within runs: one in seven, and none of those that are kept for what they once
/// found, so that their dice fall as they did.
pub fn has_children(seed: u64) -> bool {
    seed % 7 == 3
}

/// The same plan with some of its actions done by runs of others, and the plans of these. With dice of its own.
pub fn with_children(seed: u64, plan: &Arc<Plan>, now: Time) -> (Arc<Plan>, Vec<Arc<Plan>>) {
    let mut dice = Dice::new(seed.rotate_left(17) ^ 0x5b);
    let leaf = as_shared(seed, random_plan(&mut dice, now));
    let middle = as_shared(seed, random_plan(&mut dice, now));
    let middle = started(&mut dice, &middle, std::slice::from_ref(&leaf));
    let plan = started(&mut dice, plan, &[Arc::clone(&middle), Arc::clone(&leaf)]);
    (plan, vec![middle, leaf])
}

/// Some actions of a plan become runs of others.
fn started(dice: &mut Dice, plan: &Plan, others: &[Arc<Plan>]) -> Arc<Plan> {
    let mut plan = plan.clone();
    let mut any = false;
    for spec in plan.specs.iter_mut().filter(|spec| matches!(spec.work, Work::Action { .. })) {
        if !any || dice.one_in(2) {
            let other = dice.pick(others);
            let sub = SubRun { flow: other.flow.clone(), plan: other.encode().0, with: Template::default() };
            spec.work = Work::SubRun(sub);
            any = true;
        }
    }
    Arc::new(plan)
}

fn fill(dice: &mut Dice, draft: &mut PlanDraft, region: usize, nodes: u32, depth: u32, now: Time) {
    for node in 0..nodes {
        let ups: Vec<u32> = (0..node).filter(|_| dice.one_in(2)).collect();
        let work = work(dice, draft, depth, node, now);
        let share = share(dice, &work);
        let spec = Spec { when: None, work, retry: retry(dice), timeouts: timeouts(dice), share, publish: Vec::new() };
        draft.specs.push(spec);
        let join = match dice.below(6) {
            0 => Join::Any,
            1 if !ups.is_empty() => Join::Count(1 + dice.below(ups.len() as u64) as u32),
            _ => Join::All,
        };
        let spec = draft.specs.len() as u32 - 1;
        draft.regions[region].node(&format!("n{node}"), spec, join);
        for up in ups {
            let accepts = accepts(dice);
            draft.regions[region].edge(up, node, accepts);
            if (up + node) % 3 == 0 {
                // Said twice it is still one edge.
                draft.regions[region].edge(up, node, accepts);
            }
        }
    }
}

fn accepts(dice: &mut Dice) -> Accepts {
    match dice.below(8) {
        0 => Accepts::of(Resolution::Failed),
        1 => Accepts::DONE,
        2 => Accepts::of(Resolution::Skipped).or(Accepts::SUCCESS),
        3 => Accepts::of(Resolution::Cancelled).or(Accepts::of(Resolution::Failed)),
        _ => Accepts::SUCCESS,
    }
}

fn work(dice: &mut Dice, draft: &mut PlanDraft, depth: u32, node: u32, now: Time) -> Work {
    let action = |text: &str| Name::parse(text).unwrap_or_else(|_| unreachable!("a good name"));
    match dice.below(9) {
        0 => gate(dice, now),
        1 | 2 if depth < 2 => spread(dice, draft, depth, node, now),
        3 if node > 0 => {
            let root = Root::Output { up: 0, node: dice.below(u64::from(node)) as u32 };
            Work::Action { action: action("work"), with: Template::Expr(Expr::root("tasks.up.output", root, &[])) }
        }
        4 => Work::Action { action: action("rare"), with: Template::default() },
        5 => Work::Command(Command { script: "true".into(), ..Command::default() }),
        _ => Work::Action { action: action("work"), with: Template::default() },
    }
}

/// A queue with slots, a priority, a limit: by dice of its own, so that older seeds still make the same graphs.
fn share(dice: &Dice, work: &Work) -> Share {
    let mut dice = Dice::new(dice.clone().draw());
    if !matches!(work, Work::Action { .. } | Work::Command(_)) || dice.one_in(2) {
        return Share::default();
    }
    let queue = dice.one_in(3).then(|| Name::parse(SLOW).unwrap_or_else(|_| unreachable!("a good name")));
    let priority = if dice.one_in(3) { dice.below(5) as i16 - 2 } else { 0 };
    let limit = dice.one_in(2).then(|| {
        let max = 1 + dice.below(2) as u32;
        let rate = dice.one_in(8).then_some(Rate { count: 20, per: Millis(1_000) });
        // The same key always has the same bounds.
        let key = format!("{max} {}", rate.map_or(String::new(), |rate| rate.to_string()));
        Limit { key: Expr::literal(key.into()), max: Some(max), rate }
    });
    Share { queue, priority, limit }
}

fn retry(dice: &mut Dice) -> Retry {
    Retry {
        max_attempts: 1 + dice.below(4) as u16,
        retryable: !dice.one_in(6),
        kind: *dice.pick(&[Backoff::Fixed, Backoff::Linear, Backoff::Exponential]),
        base: Millis(dice.below(4) * 700),
        jitter_percent: dice.below(2) as u8 * 50,
        on: if dice.one_in(8) { vec!["boom".into(), "worker_lost".into()] } else { Vec::new() },
        never: if dice.one_in(8) { vec!["bang".into()] } else { Vec::new() },
        ..Retry::default()
    }
}

fn timeouts(dice: &mut Dice) -> Timeouts {
    let mut span = |n| dice.one_in(n).then(|| Millis(1_000 + dice.below(40_000)));
    Timeouts { attempt: span(6), overall: span(8), queue: span(8), heartbeat: span(8) }
}

fn gate(dice: &mut Dice, now: Time) -> Work {
    let person = |p: &&str| Name::parse(p).unwrap_or_else(|_| unreachable!("a good name"));
    let wait = match dice.below(4) {
        0 => Wait::After(Millis(dice.below(8_000))),
        1 => Wait::Until(Time(now.0 + dice.below(60_000))),
        _ => {
            let from = if dice.one_in(2) { Vec::new() } else { PEOPLE[..2].iter().map(person).collect() };
            Wait::Approval { from, count: 1 + dice.below(2) as u32 }
        }
    };
    let deadline = dice.one_in(2).then(|| Millis(500 + dice.below(60_000)));
    let on_deadline = if dice.one_in(2) { OnDeadline::Open } else { OnDeadline::Reject };
    // Drawn from what is drawn already, so that seeds that found something still find it.
    let late =
        deadline.filter(|span| span.0 % 3 == 0 && matches!(&wait, Wait::Approval { from, .. } if !from.is_empty()));
    let step = |after: u64, to: &[&str]| Escalation { after: Millis(after), to: to.iter().map(person).collect() };
    let first = late.map(|span| step(span.0 / 2, &PEOPLE[2..]));
    let second = late.filter(|span| span.0 % 2 == 0).map(|span| step(span.0 / 2 + span.0 / 4, &["dot"]));
    let escalate = first.into_iter().chain(second).collect();
    Work::Gate(Gate { deadline, on_deadline, escalate, ..Gate::new(wait) })
}

fn spread(dice: &mut Dice, draft: &mut PlanDraft, depth: u32, node: u32, now: Time) -> Work {
    let region = draft.regions.len();
    draft.regions.push(RegionDraft::default());
    let nodes = 1 + dice.below(3) as u32;
    fill(dice, draft, region, nodes, depth + 1, now);
    let items = match dice.below(5) {
        0 if node > 0 => {
            let root = Root::Output { up: 0, node: dice.below(u64::from(node)) as u32 };
            Items::Expr(Expr::root("tasks.up.output", root, &[]))
        }
        1 => Items::Expr(Expr::root("inputs", Root::Input, &["list"])),
        _ => Items::Literal((0..dice.below(4)).map(|n| json!(n)).collect()),
    };
    Work::Spread(Spread { region: region as u32, items, tolerate: dice.below(2) as u32, fail_fast: dice.one_in(2) })
}
