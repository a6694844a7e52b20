//! A graph that is brought in is the graph that was written out, with who closed, approved and has what.

use super::ground::{Engine, NOW, World, act, add, all, ask, claim, close, depend, ready, reopen};
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::state::RunState;
use edgewise_core::work::{
    Change, Close, CloseOp, DependencyKind, GateWait, Item, ItemId, Op, Phase, RunEndRow, RunEnded, RunGateEnd,
    RunGateEnded, Status, Target, Work, WorkRows, scratch,
};
use edgewise_engine::command::{Answer, Command};
use edgewise_engine::work::Import;

pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// One operation of anything; many are refused, which is no matter.
pub fn step(dice: &mut Dice, n: u64) -> Op {
    let id = |dice: &mut Dice| format!("ew-{}", dice.below(12));
    let (one, other, gate) = (id(dice), id(dice), format!("gate-{}", dice.below(3)));
    let how = [Close::Done, Close::Failed, Close::Cancelled][dice.below(3) as usize];
    match dice.below(14) {
        0 | 1 => match add(&format!("ew-{}", n % 12)) {
            Op::Add(mut add) => {
                add.auto_complete = dice.below(3) == 0;
                add.priority = Some(1 + dice.below(5) as u8);
                add.details.description = format!("{n} of them");
                Op::Add(add)
            }
            other => other,
        },
        2 | 3 => depend(&one, &other, DependencyKind::Blocks),
        4 | 5 => depend(&one, &other, DependencyKind::ParentChild),
        6 => depend(&one, &gate, DependencyKind::Awaits),
        7 => depend(&one, &RunId(u128::from(dice.below(2)) + 1).to_string(), DependencyKind::Awaits),
        8 => Op::Close(CloseOp { id: one, how, force: dice.below(2) == 0, ..CloseOp::default() }),
        9 => Op::Reopen(reopen(&one)),
        10 => claim(&one),
        11 => {
            let wait = match dice.below(2) {
                0 => GateWait::Webhook,
                _ => GateWait::Approval { required_approvers: vec![], approval_count: Some(2) },
            };
            Op::MakeGate { wait, title: None, id: Some(ItemId::parse(&gate).unwrap()), name: None, approvals: vec![] }
        }
        12 => [Op::Approve(act(&gate)), Op::Approve(act(&gate)), Op::Satisfy(act(&gate)), Op::Reject(act(&gate))]
            [dice.below(4) as usize]
            .clone(),
        _ => {
            let change = Change { status: Some(Status::Deferred), ..Change::default() };
            Op::Update { id: one, change: Box::new(change) }
        }
    }
}

/// What is written out of a graph: no token, no row's last change.
fn whole(work: &Work) -> Import {
    let plain = |item: &Item| {
        let mut item = Item { updated_at: item.created_at, ..item.clone() };
        item.claim.iter_mut().for_each(|claim| claim.token = TokenHash(0));
        item
    };
    let WorkRows { runs, .. } = work.rows();
    let gates = |row: &RunEndRow| {
        let run = row.run;
        let ended = row.gates.iter().map(|(task, end)| RunGateEnded { run, task: task.to_string(), end: Some(*end) });
        ended.collect::<Vec<_>>()
    };
    let run_gates = runs.iter().flat_map(gates).collect();
    Import {
        items: work.items().filter(|item| item.status != Status::Tombstone).map(plain).collect(),
        gates: work.gates().cloned().collect(),
        runs: runs.into_iter().map(|row| RunEnded { run: row.run, state: row.state }).collect(),
        run_gates,
        dependencies: work.dependencies().cloned().collect(),
    }
}

fn import(engine: &mut Engine, whole: Import) -> edgewise_core::Result<()> {
    ask(engine, Command::Import(whole)).map(|answer| assert!(matches!(answer, Answer::Worked(_))))
}

#[test]
fn what_is_brought_in_is_what_was_written_out() {
    let (mut claims, mut approvals, mut closed) = (0, 0, 0);
    for seed in 0..25 {
        let mut dice = Dice(seed);
        let (here, mut there) = (World::default(), World::default());
        let (mut engine, mut other) = (here.engine(1), there.engine(2));
        for n in 0..90 {
            let op = step(&mut dice, n);
            let _ = all(&mut engine, ["ann", "bob"][dice.below(2) as usize], vec![op]);
        }
        let written = whole(&here.work());
        import(&mut other, written.clone()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let brought = there.work();
        assert_eq!(whole(&brought), written, "seed {seed}");
        assert_eq!(scratch::disagreements(&brought), Vec::<String>::new(), "seed {seed}");
        assert_eq!(ready(&brought, NOW), ready(&here.work(), NOW), "seed {seed}");
        there.flush(&mut other);
        assert_eq!(there.findings(), [], "seed {seed}");
        claims += written.items.iter().filter(|item| item.claim.is_some()).count();
        closed += written.items.iter().filter(|item| item.closed.is_some()).count();
        approvals += written.gates.iter().map(|gate| gate.approvals.len()).sum::<usize>();
    }
    assert!(claims > 5 && approvals > 5 && closed > 20, "{claims}, {approvals}, {closed}");
}

#[test]
fn a_claim_that_was_brought_in_is_its_claimants_without_a_token() {
    let (here, there) = (World::default(), World::default());
    let (mut engine, mut other) = (here.engine(1), there.engine(2));
    let done = all(&mut engine, "ann", vec![add("ew-a"), claim("ew-a")]).unwrap();
    import(&mut other, whole(&here.work())).unwrap();
    assert_eq!(all(&mut other, "bob", vec![claim("ew-a")]).unwrap_err().code, "item_claimed");
    assert_eq!(all(&mut other, "bob", vec![close("ew-a")]).unwrap_err().code, "item_claimed");
    let stale = Op::Close(CloseOp { id: "ew-a".into(), token: done[1].token, ..CloseOp::default() });
    assert_eq!(all(&mut other, "ann", vec![stale]).unwrap_err().code, "stale_token");
    all(&mut other, "ann", vec![close("ew-a")]).unwrap();
}

#[test]
fn how_a_run_ended_elsewhere_is_known_here() {
    let (here, there) = (World::default(), World::default());
    let (mut engine, mut other) = (here.engine(1), there.engine(2));
    let run = RunId(7);
    all(&mut engine, "ann", vec![add("ew-a"), depend("ew-a", &run.to_string(), DependencyKind::Awaits)]).unwrap();
    let mut written = whole(&here.work());
    written.runs.push(RunEnded { run, state: Some(RunState::Complete) });
    let gate = depend("ew-a", &format!("{run}/ok"), DependencyKind::Awaits);
    assert_eq!(all(&mut engine, "ann", vec![gate]).unwrap_err().code, "run_not_found");
    let mut asks = written.dependencies[0].clone();
    asks.target = Target::gate_of(run, "ok").unwrap();
    written.dependencies.push(asks);
    written.run_gates.push(RunGateEnded { run, task: "ok".into(), end: Some(RunGateEnd::Open) });
    import(&mut other, written).unwrap();
    assert_eq!(ready(&here.work(), NOW), Vec::<String>::new());
    assert_eq!(ready(&there.work(), NOW), ["ew-a"]);
}

#[test]
fn a_graph_that_could_not_be_is_refused_and_leaves_nothing() {
    let here = World::default();
    let mut engine = here.engine(1);
    let approval = GateWait::Approval { required_approvers: vec![super::ground::name("ann")], approval_count: None };
    let gate = Op::MakeGate {
        wait: approval,
        title: None,
        id: Some(ItemId::parse("gate-1").unwrap()),
        name: None,
        approvals: vec![],
    };
    let ops = vec![add("ew-a"), add("ew-b"), gate, depend("ew-a", "ew-b", DependencyKind::Blocks), close("ew-b")];
    all(&mut engine, "ann", ops).unwrap();
    all(&mut engine, "ann", vec![Op::Approve(act("gate-1"))]).unwrap();
    let good = whole(&here.work());
    let check = |code: &str, spoil: &dyn Fn(&mut Import)| {
        let there = World::default();
        let mut bad = good.clone();
        spoil(&mut bad);
        let refused = import(&mut there.engine(2), bad).unwrap_err();
        assert_eq!(refused.code, code, "{refused}");
        assert!(there.work().is_empty() && there.work().seq == 0, "{code}");
    };
    check("bad_gate", &|bad| bad.gates[0].approvals.clear());
    check("bad_gate", &|bad| bad.gates[0].ended = None);
    check("bad_gate", &|bad| bad.gates[0].approvals[0].by = super::ground::name("eve"));
    check("bad_item", &|bad| bad.items[1].closed = None);
    check("bad_item", &|bad| bad.items[0].status = Status::Tombstone);
    check("bad_phase", &|bad| bad.items[0].phase = Some(Phase::Completed));
    check("id_taken", &|bad| bad.items.push(bad.items[0].clone()));
    check("not_ended", &|bad| bad.runs.push(RunEnded { run: RunId(7), state: Some(RunState::Pending) }));
    check("cycle_detected", &|bad| {
        let mut back = bad.dependencies[0].clone();
        (back.source, back.target) = (back.target.id().unwrap(), back.source.into());
        bad.dependencies.push(back);
    });
}
